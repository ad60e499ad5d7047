"""Parameters are read as the number that was meant; everything else is refused in the house's sentence."""

from __future__ import annotations

import decimal
import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import (
    Number,
    ascending_fractions,
    not_negative,
    positive,
    probability,
    rational,
    whole,
)
from tests.costs import bytes_taken

HOUSE_SENTENCE = re.compile(r"(?P<name>\w+) must be [^;]+; got (?P<shown>.+?)\.( [A-Z].*)?", re.DOTALL)
CANARY = 31337


def kind(value: object) -> str:
    """Name a test after the type of its value."""
    return type(value).__name__


def refusal(value: object) -> re.Match[str]:
    """Have the value refused, and give the sentence, which must have the shape of the house."""
    with pytest.raises(InvalidParameter) as caught:
        rational(cast("Number", value), "epsilon")
    assert caught.value.__context__ is None
    sentence = HOUSE_SENTENCE.fullmatch(str(caught.value))
    assert sentence, str(caught.value)
    assert sentence["name"] == "epsilon"
    return sentence


# What is read.


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        (2, Fraction(2)),
        (-(10**500), Fraction(-(10**500))),
        (0.1, Fraction(1, 10)),
        (-0.0, Fraction(0)),
        (1e23, Fraction(10**23)),
        (5e-324, Fraction(5, 10**324)),
        (1.7976931348623157e308, Fraction(17976931348623157 * 10**292)),
        (Fraction(-2, 3), Fraction(-2, 3)),
        (Decimal("0.1"), Fraction(1, 10)),
        (Decimal("-1e-400"), Fraction(-1, 10**400)),
        (Decimal("1e400"), Fraction(10**400)),
        (Decimal(0), Fraction(0)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.float32(3.4028235e38), Fraction(34028235 * 10**31)),
        (np.float16(0.1), Fraction(1, 10)),
        (np.float16(65504), Fraction(65500)),  # the shortest decimal that no other float16 is nearer to
        (np.longdouble("0.1"), Fraction(1, 10)),
        (np.str_("0.1"), Fraction(1, 10)),
    ],
    ids=kind,
)
def test_a_number_of_every_kind_is_read_as_what_was_meant(value: Number, meant: Fraction) -> None:
    read = rational(value, "x")
    assert read == meant
    assert type(read) is Fraction


@pytest.mark.parametrize("kind", np.typecodes["AllInteger"])
def test_every_integer_of_numpy_is_read(kind: str) -> None:
    bounds = np.iinfo(kind)
    for number in (bounds.min, 0, 7, bounds.max):
        assert rational(np.dtype(kind).type(number), "x") == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_parameter_is_its_shortest_decimal(x: float) -> None:
    assert rational(x, "x") == Fraction(repr(x))
    assert float(rational(x, "x")) == x


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_a_short_float_parameter_is_the_shortest_decimal_of_its_kind(x: float) -> None:
    read = rational(np.float32(x), "x")
    assert read == Fraction(str(np.float32(x)))
    assert np.float32(float(read)) == np.float32(x)


@given(st.fractions())
def test_what_a_fraction_prints_is_read_back(x: Fraction) -> None:
    assert rational(f"{x.numerator}/{x.denominator}", "x") == x


@given(st.decimals(allow_nan=False, allow_infinity=False, places=12))
def test_what_a_decimal_prints_is_read_back(x: Decimal) -> None:
    assert rational(str(x), "x") == rational(x, "x") == Fraction(x)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("0.1", Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        ("-2/6", Fraction(-1, 3)),
        ("+1/3", Fraction(1, 3)),
        ("0/7", Fraction(0)),
        ("1e-6", Fraction(1, 10**6)),
        ("1E+6", Fraction(10**6)),
        ("-.5e1", Fraction(-5)),
        ("5.", Fraction(5)),
        ("+007", Fraction(7)),
        ("1e400", Fraction(10**400)),
        ("1e-400", Fraction(1, 10**400)),
        ("0e400", Fraction(0)),
        ("9" * 400, Fraction(10**400 - 1)),
        ("0." + "3" * 399, Fraction((10**399 - 1) // 3, 10**399)),
        ("-" + "9" * 400 + "/" + "9" * 400, Fraction(-1)),
    ],
)
def test_text_of_up_to_400_digits_is_read(text: str, meant: Fraction) -> None:
    assert rational(text, "x") == meant


@pytest.mark.parametrize("traps", [[], [decimal.Inexact, decimal.Rounded, decimal.Clamped]])
def test_the_decimal_context_of_the_caller_changes_nothing(
    traps: list[type[decimal.DecimalException]],
) -> None:
    with decimal.localcontext(decimal.Context(prec=1, Emin=-1, Emax=1, traps=traps)):
        assert rational("123.456", "x") == Fraction(123456, 1000)
        assert rational(Decimal("123.456"), "x") == Fraction(123456, 1000)
        assert rational("1e400", "x") == 10**400


# What is refused.


@pytest.mark.parametrize(
    "text",
    [
        *["", " ", " 1", "1 ", "1\n", "\t1", "1\0", "1 000", "1_000", "1,5", "1.2.3", "0x10", "1f", "one"],
        *[".", "+", "-", "+-1", "--1", "e5", "1e", "1e+", ".e1", "1e5.0", "1e 5", "1e1_0"],
        *["nan", "NaN", "sNaN", "inf", "-inf", "Infinity", "1e999", "1e401", "1e-401", "1e10000000"],
        *[
            "1/0",
            "0/0",
            "-1/0",
            "1/-3",
            "1/+3",
            "1//3",
            "1/3/5",
            "/3",
            "1/",
            "1/ 3",
            "1.5/2",
            "1e2/3",
            "1/3\n",
        ],
        *["\uff11", "\u0663", "1/\u0663", "1e\u0663", "\u00bd", "\u22121", "\u00b2", "1\u00a0", "\ufeff1"],
        *["9" * 401, "0" * 401, "0." + "3" * 400, "-" + "9" * 401, "1/" + "3" * 401, "3" * 401 + "/1"],
    ],
)
def test_text_that_is_no_number_is_refused(text: str) -> None:
    sentence = refusal(text)
    assert 'Write 2, 0.5, "1/3" or "1e-6"' in sentence.string


@pytest.mark.parametrize(
    "value",
    [
        *[True, False, np.True_, None, 1j, np.complex128(1), b"1", bytearray(b"1"), memoryview(b"1")],
        *[math.nan, math.inf, -math.inf, np.float64("nan"), np.float32("inf"), np.float16("-inf")],
        *[np.longdouble("nan"), np.longdouble("inf"), np.longdouble("1e500")],
        *[Decimal("NaN"), Decimal("sNaN"), Decimal("-Infinity"), Decimal("1e401"), Decimal("1e-401")],
        *[Decimal("9" * 401), Decimal("1e10000000"), Decimal("-1e-10000000")],
        *[np.array(1), np.array(0.5), np.array([1]), [1], (1,), {1}, {1: 1}, range(1), object(), int, len],
        *[
            np.timedelta64(1, "s"),
            np.datetime64(1, "s"),
            np.void(b"1"),
            np.bytes_(b"1"),
            Ellipsis,
            NotImplemented,
        ],
    ],
    ids=kind,
)
def test_what_is_no_finite_number_is_refused(value: object) -> None:
    refusal(value)


@pytest.mark.parametrize(
    "bomb",
    ["1e10000000", "-1e-10000000", "1e100000000", "9" * 10**5, "1/" + "9" * 10**5, Decimal("1e10000000")],
    ids=lambda bomb: str(bomb)[:12],
)
def test_a14_a_parser_bomb_is_refused_before_its_number_is_made(bomb: Number) -> None:
    def refused() -> None:
        with pytest.raises(InvalidParameter):
            rational(bomb, "epsilon")

    assert bytes_taken(refused) < 20_000  # the smallest of the numbers would take 41,000


# What a refusal says.


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("0,5", "'0,5'"),
        (math.nan, "nan"),
        (True, "True"),
        (None, "None"),
        (Decimal("1e401"), "1E+401"),
        (Decimal("sNaN"), "sNaN"),
        (b"1", "a bytes"),
        (np.array(1), "a ndarray"),
        (object(), "an object"),
    ],
    ids=kind,
)
def test_a_refusal_shows_a_plain_value(value: object, shown: str) -> None:
    assert refusal(value)["shown"] == shown


@pytest.mark.parametrize(
    "value",
    ["x" * 41, "9" * 10**4, "\n" * 100, "\U0001f600" * 100, Decimal("9" * 401), type("T" * 100, (), {})()],
    ids=["letters", "digits", "newlines", "faces", "decimal", "type"],
)
def test_a_refusal_shows_at_most_40_characters(value: object) -> None:
    assert len(refusal(value)["shown"].removeprefix("a ")) <= 40


@pytest.mark.parametrize(
    "container",
    [[CANARY], (CANARY,), {CANARY}, {CANARY: CANARY}, np.array([CANARY]), np.array(CANARY), range(CANARY)],
    ids=kind,
)
def test_a_refusal_never_opens_a_container(container: object) -> None:
    assert str(CANARY) not in refusal(container).string


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (-1, "-1"),
        (-0.5, "-0.5"),
        ("-1/3", "'-1/3'"),
        (Fraction(-1, 3), "-1/3"),
        (-(10**100), "an integer of 333 bits"),
        (-(10**5000), "an integer of 16610 bits"),
        (Fraction(-1, 10**5000), "a long fraction"),
    ],
    ids=kind,
)
def test_a_long_number_is_shown_by_its_length(value: Number, shown: str) -> None:
    for read in (positive, not_negative):
        with pytest.raises(InvalidParameter) as caught:
            read(value, "scale")
        sentence = HOUSE_SENTENCE.fullmatch(str(caught.value))
        assert sentence
        assert sentence["shown"] == shown


# Bounds.


def test_positive_begins_above_zero() -> None:
    assert positive("1e-400", "x") == Fraction(1, 10**400)
    for value in (0, -0.0, "0/1", -5e-324):
        with pytest.raises(InvalidParameter, match=r"^x must be a positive number; got "):
            positive(value, "x")
    with pytest.raises(InvalidParameter, match=r"^x must be a finite number; got nan"):
        positive(math.nan, "x")


def test_not_negative_begins_at_zero() -> None:
    assert not_negative(-0.0, "x") == 0
    assert not_negative(0.5, "x") == Fraction(1, 2)
    with pytest.raises(InvalidParameter, match=r"^x must be zero or a positive number; got '-1e-400'.$"):
        not_negative("-1e-400", "x")
    with pytest.raises(InvalidParameter, match=r"^x must be a finite number; got nan"):
        not_negative(math.nan, "x")


def test_a_probability_is_between_zero_and_one_inclusive() -> None:
    assert [probability(value, "p") for value in (0, "1e-400", 0.5, 1)] == [0, Fraction(1, 10**400), 0.5, 1]
    for value in ("-1e-400", "1." + "0" * 300 + "1", 2):
        with pytest.raises(InvalidParameter, match=r"^p must be a probability from 0 to 1; got "):
            probability(value, "p")
    with pytest.raises(InvalidParameter, match=r"^p must be a finite number; got nan"):
        probability(math.nan, "p")


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3)])
def test_a_count_is_an_integer_of_python_or_numpy(value: object) -> None:
    for count in (whole(value, "k", least=3), whole(value, "k", least=0, most=3)):
        assert count == 3
        assert type(count) is int


@pytest.mark.parametrize(
    "value",
    [
        *[True, np.True_, 3.0, np.float64(3), Fraction(3), Decimal(3), np.timedelta64(3, "s"), math.nan],
        *["3", b"3", 3j, None, [3], np.array(3)],
    ],
    ids=kind,
)
def test_a_count_is_nothing_else(value: object) -> None:
    with pytest.raises(InvalidParameter, match=r"^k must be a whole number of 0 or more; got .+\.$"):
        whole(value, "k", least=0)


@pytest.mark.parametrize("value", [0, 4, -1, 10**30])
def test_a_count_stays_between_its_bounds(value: int) -> None:
    with pytest.raises(InvalidParameter, match=f"^k must be a whole number from 1 to 3; got {value}.$"):
        whole(value, "k", least=1, most=3)
    assert whole(10**30, "k", least=1) == 10**30


@pytest.mark.parametrize(
    ("least", "most", "bounds"),
    [
        (-(2**200), 2**200, r"-2\*\*200 to 2\*\*200"),
        (1, 2**512, r"1 to 2\*\*512"),
        (0, 10**30, f"0 to {10**30}"),
    ],
)
def test_a_long_bound_is_written_as_a_power(least: int, most: int, bounds: str) -> None:
    with pytest.raises(InvalidParameter, match=f"^size must be a whole number from {bounds}; got 0.5.$"):
        whole(0.5, "size", least=least, most=most)


class NamedShare(Fraction):
    """A rational number of a foreign type."""


def test_a_rational_of_another_type_is_read_as_a_plain_fraction() -> None:
    read = rational(NamedShare(1, 3), "share")
    assert type(read) is Fraction
    assert read == Fraction(1, 3)


@pytest.mark.parametrize(
    "fractions", [[], "1/2", ["1/2", "1/2"], ["1/2", "1/4"], [0, "1/2"], ["1/2", 1], ["x"]]
)
def test_fractions_must_ascend_between_0_and_1(fractions: Any) -> None:
    assert ascending_fractions(("1/3", 0.5), "at") == (Fraction(1, 3), Fraction(1, 2))
    with pytest.raises(InvalidParameter, match="at must"):
        ascending_fractions(fractions, "at")


@pytest.mark.parametrize(
    ("fractions", "got"),
    [(["1/2", "1/4"], "1/4 after 1/2"), ([0, "1/2"], "0"), (["1/2", 1], "1"), ([0.5, 0.5], "1/2 after 1/2")],
)
def test_the_fraction_that_does_not_ascend_is_named(fractions: Any, got: str) -> None:
    with pytest.raises(InvalidParameter, match=f"each fraction once; got {got}.$"):
        ascending_fractions(fractions, "at")
