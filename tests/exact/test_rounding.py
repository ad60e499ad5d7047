"""What is shown or turned into a float is rounded outward, and no further than it must be."""

from __future__ import annotations

import decimal
import math
import re
from contextvars import copy_context
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import Number
from dpselect.exact.rounding import (
    exact_decimal,
    exact_text,
    figure,
    from_exact_text,
    keep_fractions,
    number_column,
    readable_number,
    rounded,
    rounded_down,
    rounded_up,
    short_decimal,
    to_float_down,
    to_float_up,
    written_bound,
    written_number,
)

LARGEST = math.ldexp(1 - 2.0**-53, 1024)
SMALLEST = math.ldexp(1.0, -1074)

fractions = st.fractions() | st.builds(
    lambda top, bottom, power: Fraction(top, bottom) * Fraction(2) ** power,
    st.integers(),
    st.integers(min_value=1),
    st.integers(-1200, 1200),
)


def kind(value: object) -> str:
    """Name a test after the type of its value."""
    return type(value).__name__


@given(fractions, st.integers(0, 30))
def test_rounded_up_is_the_least_decimal_that_is_not_below(x: Fraction, digits: int) -> None:
    text = rounded_up(x, digits)
    assert x <= Fraction(text) < x + Fraction(1, 10**digits)
    assert re.fullmatch(rf"-?[0-9]+(\.[0-9]{{{digits}}})?", text)
    assert ("." in text) == (digits > 0)
    assert not (text.startswith("-") and Fraction(text) == 0)


@given(fractions, st.integers(0, 30))
def test_rounded_down_is_the_greatest_decimal_that_is_not_above(x: Fraction, digits: int) -> None:
    text = rounded_down(x, digits)
    assert x - Fraction(1, 10**digits) < Fraction(text) <= x
    assert re.fullmatch(rf"-?[0-9]+(\.[0-9]{{{digits}}})?", text)
    assert not (text.startswith("-") and Fraction(text) == 0)
    assert Fraction(rounded_up(-x, digits)) == -Fraction(text)


@pytest.mark.parametrize(
    ("x", "digits", "text"),
    [
        (0, 0, "0"),
        (0, 3, "0.000"),
        ("1/3", 2, "0.34"),
        (Fraction(-1, 3), 2, "-0.33"),
        (Fraction(-1, 300), 2, "0.00"),
        (0.1, 1, "0.1"),
        (0.1, 20, "0.10000000000000000000"),
        (Fraction(0.1), 17, "0.10000000000000001"),
        (Fraction(999, 1000), 2, "1.00"),
        (math.inf, 2, "inf"),
        (np.float64("inf"), 0, "inf"),
        (10**5000, 2, "1" + "0" * 5000 + ".00"),
        (-(10**5000), 0, "-1" + "0" * 5000),
        (Fraction(10**5000, 3), 1, "3" * 5000 + ".4"),
        (1, 1000, "1." + "0" * 1000),
    ],
    ids=kind,
)
def test_rounded_up_writes_every_size(x: Number, digits: int, text: str) -> None:
    assert rounded_up(x, digits) == text


def test_the_decimal_context_of_the_caller_changes_no_digit() -> None:
    with decimal.localcontext(decimal.Context(prec=1, Emin=-1, Emax=1, traps=[decimal.Inexact])):
        assert rounded_up(Fraction(10**30, 3), 2) == "3" * 30 + ".34"
        assert rounded_up(10**5000, 0) == "1" + "0" * 5000


@pytest.mark.parametrize("digits", [-1, 1001, 2.0, True, "2", None])
def test_rounded_up_wants_a_sane_number_of_digits(digits: object) -> None:
    with pytest.raises(InvalidParameter, match=r"^digits must be a whole number from 0 to 1000; got "):
        rounded_up(1, cast("int", digits))


@pytest.mark.parametrize("x", [math.nan, -math.inf, None, "much", True, [1]], ids=kind)
def test_rounded_up_wants_a_number(x: object) -> None:
    with pytest.raises(InvalidParameter, match=r"^x must be a finite number; got "):
        rounded_up(cast("Number", x), 2)


# Not rounding at all.


@given(fractions)
def test_the_exact_text_of_a_fraction_is_what_python_prints(x: Fraction) -> None:
    assert exact_text(x) == str(x)


def test_the_exact_text_of_a_fraction_may_be_longer_than_python_would_print() -> None:
    assert exact_text(Fraction(-(10**5000) - 1, 10**5000)) == f"-1{'0' * 4999}1/1{'0' * 5000}"


# Rounding to floats.


@given(fractions)
def test_to_float_up_is_the_smallest_float_not_below(x: Fraction) -> None:
    up = to_float_up(x)
    assert up >= x
    assert math.nextafter(up, -math.inf) < x


@given(fractions)
def test_to_float_down_is_the_largest_float_not_above(x: Fraction) -> None:
    down = to_float_down(x)
    assert down <= x
    assert math.nextafter(down, math.inf) > x


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_that_is_a_float_stays_itself(x: float) -> None:
    assert to_float_up(Fraction(x)) == to_float_down(Fraction(x)) == x


@pytest.mark.parametrize(
    ("x", "down", "up"),
    [
        (math.inf, math.inf, math.inf),
        (-math.inf, -math.inf, -math.inf),
        (10**400, LARGEST, math.inf),
        (-(10**400), -math.inf, -LARGEST),
        (10**5000, LARGEST, math.inf),
        (Fraction(LARGEST), LARGEST, LARGEST),
        (Fraction(LARGEST) + 1, LARGEST, math.inf),
        (-Fraction(LARGEST) - 1, -math.inf, -LARGEST),
        (Fraction(1, 10**5000), 0.0, SMALLEST),
        (Fraction(-1, 10**5000), -SMALLEST, 0.0),
        (0, 0.0, 0.0),
        ("1/10", math.nextafter(0.1, 0), 0.1),
        (0.1, math.nextafter(0.1, 0), 0.1),  # 0.1 means one tenth, and the float is a little more
        (Decimal("0.3"), 0.3, math.nextafter(0.3, 1)),
    ],
    ids=kind,
)
def test_floats_are_outward_at_every_size(x: Number, down: float, up: float) -> None:
    assert (to_float_down(x), to_float_up(x)) == (down, up)


@pytest.mark.parametrize("x", [math.nan, None, "much", True, [1], Decimal("Infinity")], ids=kind)
def test_only_numbers_become_floats(x: object) -> None:
    for to_float in (to_float_up, to_float_down):
        with pytest.raises(InvalidParameter, match=r"^x must be a finite number; got "):
            to_float(cast("Number", x))


@given(st.fractions())
def test_an_exact_text_is_read_back(x: Fraction) -> None:
    assert from_exact_text(exact_text(x)) == x


@pytest.mark.parametrize(
    "text", ["", "2/4", "1/0", "1/01", "01", "+1", "-0", "0/1", "1.5", "1e3", "inf", "1\n", "\u0663", 1, None]
)
def test_what_exact_text_never_writes_is_refused(text: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"^text must be a number as exact_text\(\) writes it\.$"):
        from_exact_text(text)


@given(st.integers(), st.integers(min_value=1))
def test_rounded_is_the_nearest_float(top: int, bottom: int) -> None:
    assert rounded(top, bottom) == top / bottom == -rounded(-top, bottom)


def test_rounded_keeps_the_sign_beyond_all_floats() -> None:
    assert (rounded(10**400, 1), rounded(-(10**400), 1)) == (math.inf, -math.inf)
    assert (rounded(10**800, 10**400 - 1), rounded(-(10**800), 10**400 - 1)) == (math.inf, -math.inf)


@given(fractions, st.sampled_from(["up", "down"]))
def test_a_number_for_people_is_exact_or_says_which_way_it_is_rounded(
    x: Fraction, way: Literal["up", "down"]
) -> None:
    text, rounding = written_number(x, rounded=way)
    shown = Fraction(text)
    assert rounding == ("" if shown == x else f"rounded {way}")
    assert shown >= x if way == "up" else shown <= x
    assert abs(shown - x) <= abs(x) / 1000
    assert readable_number(x, rounded=way) == (f"{text} ({rounding})" if rounding else text)


@given(st.integers(-(10**20), 10**20), st.integers(0, 12), st.sampled_from(["up", "down"]))
def test_a_short_decimal_is_shown_to_people_exactly(
    units: int, places: int, way: Literal["up", "down"]
) -> None:
    x = Fraction(units, 10**places)
    if Fraction(1, 10**6) <= abs(x) < 10**15:
        text = readable_number(x, rounded=way)
        assert Fraction(text) == x
        assert "e" not in text
        assert not ("." in text and text.endswith(("0", ".")))


@pytest.mark.parametrize(
    ("x", "up", "down"),
    [
        ("1/4", "0.25", "0.25"),
        ("1261/10000", "0.1261", "0.1261"),
        ("0", "0", "0"),
        ("-1/3", "-0.3333 (rounded up)", "-0.3334 (rounded down)"),
        ("4/3", "1.334 (rounded up)", "1.333 (rounded down)"),
        ("400/3", "133.34 (rounded up)", "133.33 (rounded down)"),
        ("1e-6", "0.000001", "0.000001"),
        ("1e-7", "1e-7", "1e-7"),
        ("1.02e-9", "1.02e-9", "1.02e-9"),
        ("9.9999e-8", "1e-7 (rounded up)", "9.999e-8 (rounded down)"),
        ("-9.9999e-8", "-9.999e-8 (rounded up)", "-1e-7 (rounded down)"),
        ("999999999999999", "999999999999999", "999999999999999"),
        ("1e15", "1e15", "1e15"),
        ("1e5000", "1e5000", "1e5000"),
    ],
)
def test_numbers_are_written_as_people_write_them(x: str, up: str, down: str) -> None:
    assert readable_number(Fraction(x)) == up
    assert readable_number(Fraction(x), rounded="down") == down


def test_a_bound_for_people_has_the_digits_of_a_figure() -> None:
    third = Fraction(1, 3)
    assert [str(written_bound(each)) for each in (Fraction(11), third, 28 * third, third / 10**9)] == [
        "11",
        "0.3334 (rounded up)",
        "9.34 (rounded up)",
        "3.334e-10 (rounded up)",
    ]
    assert str(written_bound(10**20 * third)) == "3.334e19 (rounded up)"


def test_a_column_says_once_that_it_is_rounded() -> None:
    quarter, third = Fraction(1, 4), Fraction(1, 3)
    assert number_column("rho", [quarter, third]) == ("rho, rounded up", ["0.25", "0.3334"])
    assert number_column("rho", [quarter, math.inf]) == ("rho", ["0.25", "inf"])
    assert number_column("rho", []) == ("rho", [])


def test_fractions_are_kept_where_they_are_asked_for_and_nowhere_else() -> None:
    third = Fraction(1, 3)

    def kept() -> list[str]:
        keep_fractions()
        return [readable_number(third), str(written_bound(28 * third)), readable_number(math.inf)]

    assert copy_context().run(kept) == ["1/3", "28/3", "inf"]
    assert readable_number(third) == "0.3334 (rounded up)"


def test_infinity_is_readable() -> None:
    assert readable_number(math.inf) == readable_number(math.inf, rounded="down") == "inf"


@given(st.fractions(min_value=0))
def test_a_figure_is_not_below_its_number_and_four_digits_of_it_count(x: Fraction) -> None:
    above = Fraction(figure(x))
    assert x <= above < x + max(Fraction(1, 1000) * x, Fraction(1, 100)) or x == above
    if Fraction(1, 10**30) < x < 1:
        assert above <= x * (1 + Fraction(1, 1000))


def test_figures_beyond_forty_places_are_rounded_up_there() -> None:
    assert figure(Fraction(1, 10**60)) == f"0.{'0' * 39}1"
    assert (figure(Fraction(0)), figure(Fraction(5, 4))) == ("0.00", "1.25")


def test_an_exact_decimal_is_the_number_in_full_or_refused() -> None:
    for text in ("0", "-0.5", "12", "100", "0.001", "-3.0625", f"0.{'0' * 398}1", f"{'9' * 400}.5"):
        assert exact_decimal(Fraction(text)) == text
    assert exact_decimal(Fraction("1e-400") / 10**400) == f"0.{'0' * 799}1"
    with pytest.raises(InvalidParameter, match="decimal form"):
        exact_decimal(Fraction(1, 3))


def test_a_short_decimal_is_exact_or_a_fraction() -> None:
    assert [
        short_decimal(Fraction(x)) for x in ("0.99", "2/3", "0.5", "0.000000000001", "1/10000000000000")
    ] == [
        "0.99",
        "2/3",
        "0.5",
        "0.000000000001",
        "1/10000000000000",
    ]
