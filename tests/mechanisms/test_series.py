"""Series of the real libraries are read as they are; a null among integers is a null, not a float."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dpselect.errors import OutsideDomain
from dpselect.privacy import atom_domain, vector_domain
from dpselect.privacy.domains import NOT_A_SCORE
from tests.mechanisms.makers import exponential_top, gumbel_top

SERIES: dict[str, Callable[[list[Any]], Any]] = {
    "pandas": pd.Series,
    "pandas nullable": lambda values: pd.Series(values, dtype="Int64"),
    "pandas arrow": lambda values: pd.Series(values, dtype="int64[pyarrow]"),
    "polars": pl.Series,
    "arrow": pa.array,
    "arrow chunked": lambda values: pa.chunked_array([values[:1], values[1:]]),
}


@pytest.mark.parametrize("make", SERIES.values(), ids=SERIES)
def test_the_best_of_a_series_is_the_best_of_its_list(make: Callable[[list[Any]], Any]) -> None:
    scores = make([5, 2**60, 2**60 - 1, 7])
    assert gumbel_top(2, 0)(scores) == exponential_top(2, 0)(scores) == [1, 2]
    assert vector_domain(atom_domain(int), size=4).read(scores).dtype == np.int64  # type: ignore[union-attr]


@pytest.mark.parametrize("make", list(SERIES.values())[1:], ids=list(SERIES)[1:])
@pytest.mark.parametrize("kind", [int, float])
def test_a_null_among_integers_gets_the_constant_sentence(
    make: Callable[[list[Any]], Any], kind: type[int | float]
) -> None:
    with pytest.raises(OutsideDomain) as refused:
        vector_domain(atom_domain(kind)).read(make([5, None, 7]))
    assert str(refused.value) == NOT_A_SCORE
