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
from dpselect.privacy.domains import NOT_A_SCORE, NOT_A_VECTOR
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


@pytest.mark.parametrize("kind", [int, float])
def test_the_missing_value_of_pandas_is_a_null_wherever_it_stands(kind: type[int | float]) -> None:
    for scores in ([5, pd.NA], (pd.NA,), pd.Series([5, pd.NA], dtype=object)):
        with pytest.raises(OutsideDomain) as refused:
            vector_domain(atom_domain(kind)).read(scores)
        assert str(refused.value) == NOT_A_SCORE


def test_integers_too_wide_for_an_array_are_read_exactly() -> None:
    scores = pl.Series([2**100, 2**100 + 1, 7], dtype=pl.Int128)
    assert gumbel_top(2, 0)(scores) == [1, 0]
    with pytest.raises(OutsideDomain) as refused:
        gumbel_top(2, 0)(pl.Series([2**100, None], dtype=pl.Int128))
    assert str(refused.value) == NOT_A_SCORE


class Unreadable:
    """It says that it holds integers, and gives none."""

    dtype = "int128"

    def __array__(self) -> None:
        raise ValueError


def test_what_cannot_be_converted_is_no_vector() -> None:
    with pytest.raises(OutsideDomain) as refused:
        gumbel_top(2, 0)(Unreadable())
    assert str(refused.value) == NOT_A_VECTOR
