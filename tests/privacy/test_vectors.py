"""Reading vectors: what is one, and how its numbers are kept."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpselect.privacy.vectors import as_vector, exact_values


class OwnList(list[object]):
    """A list that may be longer than its values say."""


@pytest.mark.parametrize("values", [[], [1, 2], (1.5, "x"), OwnList([1])], ids=repr)
def test_lists_and_tuples_are_taken_as_they_are(values: Any) -> None:
    assert as_vector(values) is values


def test_an_array_of_numbers_is_taken_as_it_is() -> None:
    array = np.array([1.0, 2.0])
    assert as_vector(array) is array


@pytest.mark.parametrize(
    "values", ["12", b"12", None, 3, {1: 2}, {1}, np.zeros((2, 2)), np.float64(1)], ids=repr
)
def test_nothing_else_is_a_vector(values: object) -> None:
    assert as_vector(values) is None


def test_an_iterator_is_no_vector() -> None:
    assert as_vector(iter([1])) is None


def test_objects_and_masked_values_become_lists() -> None:
    assert as_vector(np.array([1, None, 2**70], dtype=object)) == [1, None, 2**70]
    assert as_vector(np.ma.array([1, 2], mask=[False, True])) == [1, None]


def test_a_series_of_integers_keeps_its_integers_and_its_nulls() -> None:
    assert as_vector(pd.Series([1, None], dtype="Int64")) == [1, None]
    plain = as_vector(pd.Series([1, 2]))
    assert isinstance(plain, np.ndarray)
    assert plain.tolist() == [1, 2]


def test_plain_numbers_of_one_type_become_an_array_where_nothing_is_lost() -> None:
    for values, dtype in (([1, 2], np.int64), ([0.1, 2.0], np.float64), ((3,), np.int64)):
        array = exact_values(values)
        assert isinstance(array, np.ndarray)
        assert array.dtype == dtype
        assert array.tolist() == list(values)


def test_all_other_numbers_are_read_exactly_one_by_one() -> None:
    assert exact_values([2**70, 1]) == [2**70, 1]
    assert exact_values([1, 0.5]) == [1, Fraction(1, 2)]
    assert exact_values([Decimal("0.1"), float("-inf")]) == [Fraction(1, 10), None]
    assert exact_values(OwnList([1, 2])) == [Fraction(1), Fraction(2)]
    assert exact_values(np.array([0.5], dtype=np.longdouble)) == [Fraction(1, 2)]
