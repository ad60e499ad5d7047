"""What counts as an integer, as a real number, and as not a number, whatever type it comes in."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from dpselect.exact.numbers import is_nan, is_real, is_whole

INTEGERS = [0, -3, 10**400, np.int8(3), np.uint64(2**64 - 1)]
NANS = [math.nan, np.float64("nan"), np.float32("nan"), np.float16("nan"), np.longdouble("nan")]
DECIMAL_NANS = [Decimal("NaN"), Decimal("-NaN"), Decimal("sNaN"), Decimal("NaN123")]
REALS = [
    0.5,
    math.inf,
    np.float32(0.5),
    np.longdouble(0.5),
    Decimal("1e-9"),
    Decimal("-Infinity"),
    Fraction(1, 3),
]
OTHERS = [
    *[True, False, np.True_, None, "1", b"1", 1j, np.complex64(1), [1], (1,), np.array(1), np.array([1])],
    *[
        np.timedelta64(1, "s"),
        np.timedelta64("NaT", "s"),
        np.datetime64(1, "s"),
        np.datetime64("NaT", "s"),
        object(),
        int,
    ],
]


def test_integers_are_those_of_python_and_numpy() -> None:
    assert all(map(is_whole, INTEGERS))
    assert not any(map(is_whole, [*REALS, *NANS, *DECIMAL_NANS, *OTHERS]))


def test_real_numbers_are_integers_fractions_decimals_and_floats() -> None:
    """By their type: a NaN is a float that is none, and is for the caller to refuse."""
    assert all(map(is_real, [*INTEGERS, *REALS, *NANS, *DECIMAL_NANS]))
    assert not any(map(is_real, OTHERS))


@pytest.mark.parametrize("value", [*NANS, *DECIMAL_NANS], ids=type)
def test_a_nan_is_known_in_every_type(value: object) -> None:
    assert is_nan(value) is True


@pytest.mark.parametrize("value", [*INTEGERS, *REALS, *OTHERS], ids=type)
def test_nothing_else_is_a_nan(value: object) -> None:
    assert is_nan(value) is False
