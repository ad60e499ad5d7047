"""Enclosures contain the number, are as narrow as they say, and compare only what is certain.

The numbers come from two evaluations that share nothing with FLINT.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import cast

import flint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect.errors import InvalidParameter
from dpselect.exact import enclosures
from dpselect.exact.enclosures import MOST_BITS, Ball, Enclosure, compare, enclose, exp, log_product
from tests.exact.other_evaluations import SERIES, by_mpmath, exp_by_series

Function = Callable[..., Enclosure]

FUNCTIONS: dict[str, Function] = {
    "exp": enclosures.exp,
    "expm1": enclosures.expm1,
    "log": enclosures.log,
    "log1p": enclosures.log1p,
    "sqrt": enclosures.sqrt,
    "tanh": enclosures.tanh,
}
LEAST = {"log": Fraction(1, 10**400), "log1p": Fraction(-1) + Fraction(1, 10**400), "sqrt": Fraction(0)}

POINTS = [
    *[Fraction(n, d) for d in (1, 3, 7, 10, 12) for n in (-30, -8, -5, -1, 0, 1, 2, 5, 9, 30)],
    *[sign * Fraction(10) ** power for sign in (-1, 1) for power in (-400, -20, -3, 3, 5)],
    Fraction(0.1),
    Fraction("3.141592653589793238462643383279502884"),
]


def points_of(name: str) -> list[Fraction]:
    return [x for x in POINTS if x >= LEAST.get(name, x)]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("precision", [1, 53, 64, 200, 700])
def test_the_value_by_mpmath_is_contained(name: str, precision: int) -> None:
    for x in points_of(name):
        low, high = FUNCTIONS[name](x, precision)
        lower, higher = by_mpmath(name, x)
        assert low <= higher, x
        assert lower <= high, x
        assert high - low <= abs(lower) / 2 ** (precision - 1), x


@pytest.mark.parametrize("name", SERIES)
def test_the_value_by_a_series_of_rationals_is_contained(name: str) -> None:
    for n in (-9, -6, -4, -1, 1, 3, 4, 7, 10, 13, 24):
        x = Fraction(n, 12)
        if x < LEAST.get(name, x):
            continue
        lower, higher = SERIES[name](x)
        assert higher - lower < Fraction(1, 2**400), "the series must be finer than what it judges"
        for precision in (1, 64, 300):
            low, high = FUNCTIONS[name](x, precision)
            assert low <= lower <= higher <= high, (x, precision)


@given(st.fractions(min_value=0), st.integers(1, 300))
def test_the_ends_of_a_square_root_square_to_either_side(x: Fraction, precision: int) -> None:
    low, high = enclosures.sqrt(x, precision)
    assert low >= 0
    assert low**2 <= x <= high**2


@given(st.lists(st.integers(1, 10**30), max_size=8), st.integers(0, 300))
def test_the_logarithm_of_a_product_is_that_of_its_value(factors: list[int], bits: int) -> None:
    low, high = enclosures.log_product(factors, bits, 100)
    lower, higher = enclosures.log(Fraction(math.prod(factors), 2**bits), 200)
    assert low <= higher
    assert lower <= high
    assert (high - low) * 2**100 <= min(abs(low), abs(high))


def test_the_logarithm_of_a_product_of_powers_of_two_is_exact_at_one() -> None:
    assert enclosures.log_product([2, 8, 1, 4], 6) == enclosures.log(1)
    assert enclosures.log_product([], 0) == enclosures.log(1)
    low, high = enclosures.log_product([2, 8], 7)
    assert (-high / 3, -low / 3) == pytest.approx((math.log(2), math.log(2)), rel=1e-15)


# Width.


@given(
    st.sampled_from(sorted(FUNCTIONS)),
    st.fractions(min_value=-1000, max_value=1000),
    st.sampled_from([1, 2, 3, 10, 53, 64, 100, 333, 1000, 5000]),
)
def test_the_relative_width_is_at_most_what_was_asked_for(name: str, x: Fraction, precision: int) -> None:
    x = abs(x) if name == "sqrt" else x - math.floor(x) + 1 if name in LEAST else x
    low, high = FUNCTIONS[name](x, precision)
    assert low <= high
    assert (high - low) * 2**precision <= min(abs(low), abs(high))


def test_the_relative_width_is_kept_where_a_formula_cancels() -> None:
    """exp(x) - 1 - x = x**2 / 2 + ...: of the bits of exp(x), twice as many cancel as x has zeros."""
    for zeros in range(1, 60):
        x = Fraction(1, 2**zeros)
        low, high = enclose(lambda ball: ball.exp() - 1 - ball, x, precision=64)
        assert x * x / 2 < high
        assert low < x * x
        assert (high - low) * 2**64 <= low


def test_64_bits_are_given_when_nothing_is_asked_for() -> None:
    for name, function in FUNCTIONS.items():
        assert function(Fraction(1, 3)) == function(Fraction(1, 3), 64), name


@pytest.mark.parametrize(
    ("name", "x", "value"),
    [
        *[("exp", 0, 1), ("expm1", 0, 0), ("log", 1, 0), ("log1p", 0, 0), ("sqrt", 0, 0), ("tanh", 0, 0)],
        *[("sqrt", 4, 2), ("sqrt", "9/4", Fraction(3, 2)), ("sqrt", 2**4000, 2**2000)],
    ],
)
def test_what_is_rational_is_exact(name: str, x: int | str, value: int | Fraction) -> None:
    assert FUNCTIONS[name](x) == (value, value)


def test_numbers_are_read_as_parameters() -> None:
    assert enclosures.exp(0.1) == enclosures.exp("1/10") == enclosures.exp(Fraction(1, 10))


# The ends of the world.


def test_an_exponential_too_small_to_write_down_is_between_zero_and_something_tiny() -> None:
    tiny = Enclosure(Fraction(0), Fraction(1, 2**MOST_BITS))
    for x in (-(10**400), -MOST_BITS - 1, -MOST_BITS, -726820):  # ln(2) * MOST_BITS is 726817.5
        assert enclosures.exp(x) == tiny
    low, high = enclosures.exp(-726810)
    assert tiny.high < low < high


def test_a_tiny_negative_number_is_between_something_tiny_and_zero() -> None:
    assert enclose(lambda x: -x.exp(), Fraction(-800000)) == Enclosure(
        -Fraction(1, 2**MOST_BITS), Fraction(0)
    )


@pytest.mark.parametrize("name", ["exp", "expm1"])
@pytest.mark.parametrize("x", [10**6, 10**9, 10**400], ids=["1e6", "1e9", "1e400"])
def test_an_exponential_too_large_to_write_down_is_refused(name: str, x: int) -> None:
    with pytest.raises(InvalidParameter, match=rf"^the result must stay within ±2\*\*{MOST_BITS}\.$"):
        FUNCTIONS[name](x)


def test_far_out_arguments_have_their_limits_as_values() -> None:
    for function, x, limit in [
        (enclosures.expm1, -(10**400), -1),
        (enclosures.tanh, 10**400, 1),
        (enclosures.tanh, -(10**400), -1),
    ]:
        low, high = function(x)
        assert low <= limit <= high
        assert high - low <= Fraction(1, 2**64)


@pytest.mark.parametrize("name", ["expm1", "log1p", "tanh"])
def test_near_zero_nothing_cancels(name: str) -> None:
    """All three are x + O(x**2)."""
    for x in (Fraction(1, 10**400), Fraction(-1, 10**400), Fraction(1, 2**9000)):
        low, high = FUNCTIONS[name](x, 64)
        assert abs(low / x - 1) < Fraction(1, 2**63)
        assert abs(high / x - 1) < Fraction(1, 2**63)


# Refusals.


@pytest.mark.parametrize(
    ("name", "x"), [("log", 0), ("log", -1), ("log1p", -1), ("log1p", "-3/2"), ("sqrt", "-1e-400")]
)
def test_what_lies_outside_a_function_is_refused(name: str, x: int | str) -> None:
    with pytest.raises(InvalidParameter, match=r"^x must be (a|zero or a) positive number; got "):
        FUNCTIONS[name](x)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("x", [math.nan, math.inf, None, True, "e", b"1", [1], 1j], ids=str)
def test_what_is_no_number_is_refused(name: str, x: object) -> None:
    with pytest.raises(InvalidParameter, match=r"^x must be a finite number; got "):
        FUNCTIONS[name](x)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("precision", [0, -1, 64.0, True, "64", None, MOST_BITS + 1], ids=str)
def test_a_precision_is_a_count_of_bits(name: str, precision: object) -> None:
    with pytest.raises(InvalidParameter, match=r"^precision must be a whole number from 1 to 1048576; got "):
        FUNCTIONS[name](Fraction(1, 2), precision)


def test_a_formula_without_a_finite_value_is_refused() -> None:
    with pytest.raises(InvalidParameter, match=r"^the formula must have a finite value"):
        enclose(lambda x: 1 / (x - x), Fraction(1))


def test_an_error_in_a_formula_is_let_through_and_changes_nothing() -> None:
    before = flint.ctx.prec
    with pytest.raises(ZeroDivisionError):
        enclose(lambda x: x * (1 // 0), Fraction(1), precision=1000)
    assert flint.ctx.prec == before
    assert enclosures.exp(0).low == 1


# Comparison.


def test_a_comparison_refines_until_it_is_certain() -> None:
    """The first 250 digits of e lie below e, and one more in the last place lies above."""
    asked: list[int] = []

    def e(precision: int) -> Enclosure:
        asked.append(precision)
        return enclosures.exp(1, precision)

    lower, _ = exp_by_series(Fraction(1))
    cut = Fraction(math.floor(lower * 10**250), 10**250)
    assert compare(e, cut) == 1
    assert compare(cut, e) == -1
    assert compare(e, cut + Fraction(1, 10**250)) == -1
    assert compare(cut + Fraction(1, 10**250), e) == 1
    assert asked[0] == 64
    assert max(asked) >= 830, "250 digits are 830 bits"


def test_two_irrational_numbers_are_compared() -> None:
    """sqrt 2 = 1.414..., ln 4 = 1.386...; the roots of 2 and 2 + 1e-300 part after a thousand bits."""
    assert compare(lambda p: enclosures.sqrt(2, p), lambda p: enclosures.log(4, p)) == 1
    assert compare(lambda p: enclosures.log(4, p), lambda p: enclosures.sqrt(2, p)) == -1
    close = Fraction(2) + Fraction(1, 10**300)
    assert compare(lambda p: enclosures.sqrt(close, p), lambda p: enclosures.sqrt(2, p)) == 1


@given(st.fractions(), st.fractions())
def test_rational_numbers_are_compared_as_python_does(left: Fraction, right: Fraction) -> None:
    assert compare(left, right) == (left > right) - (left < right)
    assert compare(left, lambda _: Enclosure(right, right)) == (left > right) - (left < right)
    assert compare(left, left) == 0


def test_equal_numbers_that_are_never_known_exactly_are_refused() -> None:
    with pytest.raises(
        InvalidParameter, match=r"^the two numbers must differ; they agree to 1048576 bits\.$"
    ):
        compare(lambda _: Enclosure(Fraction(0), Fraction(1)), Fraction(1, 2))


@pytest.mark.parametrize("number", [math.nan, None, "e", True], ids=str)
def test_only_numbers_are_compared(number: object) -> None:
    with pytest.raises(InvalidParameter, match=r"^number must be a finite number; got "):
        compare(cast("Fraction", number), Fraction(1))
    with pytest.raises(InvalidParameter, match=r"^number must be a finite number; got "):
        compare(Fraction(1), cast("Fraction", number))


def test_a_formula_must_be_a_function_of_numbers() -> None:
    with pytest.raises(InvalidParameter, match=r"^formula must be "):
        enclose(3, Fraction(1))  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match=r"^an argument must be "):
        enclose(lambda x: x, "one")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match=r"^precision must be "):
        exp(-(10**400), "x")  # type: ignore[arg-type]


def test_the_factors_of_a_product_must_be_positive() -> None:
    with pytest.raises(InvalidParameter, match="positive"):
        log_product([0], 1)


def test_a_formula_that_changes_the_precision_is_still_enclosed_narrowly() -> None:
    def careless(x: Ball) -> Ball:
        result = x.exp()
        flint.ctx.prec = 2
        return result

    low, high = enclose(careless, Fraction(1))
    assert high - low <= low / 2**64
