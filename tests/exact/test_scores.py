"""A score is the exact number that it is."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from dpselect.exact.numbers import score


def kind(value: object) -> str:
    """Name a test after the type of its value."""
    return type(value).__name__


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (0.1, Fraction(3602879701896397, 2**55)),
        (-0.0, Fraction(0)),
        (1e308, Fraction(int(1e308))),
        (5e-324, Fraction(1, 2**1074)),
        (np.float32(0.1), Fraction(13421773, 2**27)),
        (np.longdouble(0.5), Fraction(1, 2)),
        (7, Fraction(7)),
        (10**400, Fraction(10**400)),
        (np.int64(-7), Fraction(-7)),
        (np.uint64(2**64 - 1), Fraction(2**64 - 1)),
        (Fraction(1, 3), Fraction(1, 3)),
        (Decimal("0.1"), Fraction(1, 10)),
        (Decimal("1e400"), Fraction(10**400)),
        (Decimal("-1e-400"), Fraction(-1, 10**400)),
    ],
    ids=kind,
)
def test_a_score_is_the_exact_number_that_it_is(value: object, number: Fraction) -> None:
    read = score(value)
    assert read == number
    assert type(read) is Fraction


@pytest.mark.parametrize(
    "value",
    [
        *[
            math.nan,
            math.inf,
            -math.inf,
            np.float32("nan"),
            np.longdouble("inf"),
            Decimal("NaN"),
            Decimal("sNaN"),
        ],
        *[Decimal("Infinity"), True, np.True_, None, "1", 1j, b"1", [1], np.array(1), np.timedelta64(1, "s")],
    ],
    ids=kind,
)
def test_what_is_no_finite_number_is_no_score(value: object) -> None:
    """D9: nothing is raised here, so that the caller can let go of the value first."""
    assert score(value) is None


@pytest.mark.parametrize(
    "value", [Decimal("sNaN"), np.timedelta64(5, "s"), np.timedelta64("NaT", "s")], ids=["sNaN", "5s", "NaT"]
)
def test_a10_neither_a_signalling_nan_nor_a_span_of_time_is_a_score(value: object) -> None:
    assert score(value) is None


def test_a_score_beyond_every_float_is_read_all_the_same() -> None:
    assert score(Decimal("-1e400")) == -(10**400)
    exponent = int(np.finfo(np.longdouble).maxexp) - 1
    assert score(np.ldexp(np.longdouble(1), exponent)) == 2**exponent
