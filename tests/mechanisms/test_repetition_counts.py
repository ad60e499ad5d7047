"""The random counts have exactly their laws, and means that are never below the truth.

What is under test: dpselect.exact.unimodal and dpselect.mechanisms.repetition_counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import pytest

from dpselect.errors import InvalidParameter
from dpselect.exact.enclosures import Ball, Enclosure, enclose
from dpselect.exact.randomness import system
from dpselect.exact.unimodal import outward, single_peaked
from dpselect.mechanisms import geometric, logarithmic, poisson, truncated_negative_binomial
from dpselect.mechanisms.repetition_counts import Count, Poisson, TruncatedNegativeBinomial
from tests.exact.laws import NEVER, Rejected, Walk, check
from tests.privacy.bad_inputs import HOUSE_SENTENCE, NEGATIVE, NOT_FINITE, NOT_NUMBERS, cases


def ball(x: Fraction) -> Ball:
    return Ball(x.numerator) / x.denominator


def probability(count: Count) -> Callable[[int], Enclosure]:
    """P(k) by its definition, not by the recursion that draws it."""

    def mass(k: int) -> Enclosure:
        if isinstance(count, Poisson):
            mean = count.mean
            return enclose(lambda: ball(mean**k / math.factorial(k)) * (-ball(mean)).exp(), precision=128)
        if k < 1:
            return NEVER
        gamma, shape = count.gamma, count.shape
        if shape == 0:
            return enclose(lambda: ball((1 - gamma) ** k / k) / -ball(gamma).log(), precision=128)
        rising = math.prod((shape + i for i in range(k)), start=Fraction(1)) / math.factorial(k)
        return enclose(
            lambda: ball(rising * (1 - gamma) ** k) / ((-ball(shape) * ball(gamma).log()).exp() - 1),
            precision=128,
        )

    return mass


COUNTS: dict[str, tuple[Count, int]] = {
    "geometric-1/2": (geometric("1/2"), 24),
    "geometric-2/3": (geometric("2/3"), 22),
    "geometric-1/10": (geometric("1/10"), 20),
    "logarithmic-1/5": (logarithmic("1/5"), 18),
    "logarithmic-6/7": (logarithmic("6/7"), 22),
    "shape -1/2": (truncated_negative_binomial("-1/2", "1/4"), 18),
    "shape -9/10": (truncated_negative_binomial("-9/10", "1/20"), 14),
    "shape 3": (truncated_negative_binomial(3, "1/3"), 16),
    "shape 5/2 with a peak beyond 1": (truncated_negative_binomial("5/2", "1/4"), 16),
    "poisson-1/3": (poisson("1/3"), 22),
    "poisson-1": (poisson(1), 20),
    "poisson-7/2": (poisson("7/2"), 18),
}


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize(("count", "depth"), COUNTS.values(), ids=COUNTS)
def test_a_count_follows_its_law(count: Count, depth: int) -> None:
    open_at_most = Fraction(256, 2**depth)
    check(count.draw, probability(count), range(6), Walk(depth, open_at_most))


@pytest.mark.parametrize("width", [2, 3, 5])
def test_a_count_follows_its_law_in_words_of_any_width(width: int) -> None:
    for count in (geometric("4/5"), poisson("6/5")):
        check(count.draw, probability(count), range(4), Walk(15, Fraction(1, 2**10), width))


@dataclass(frozen=True)
class TooHeavyBelow(Poisson):
    """The steps down from the mode forget their last factor."""

    def ratio(self, k: int) -> tuple[int, int]:
        top, bottom = super().ratio(k)
        return (top, bottom) if k >= self.mode else (top, bottom + 1)


@dataclass(frozen=True)
class OffByOne(TruncatedNegativeBinomial):
    """The ratios are those of the value before."""

    def ratio(self, k: int) -> tuple[int, int]:
        return super().ratio(k - 1)


@dataclass(frozen=True)
class MassInFloats(Poisson):
    """The mass at the mode is a float, and taken for exact."""

    def mass_at_mode(self, precision: int) -> Enclosure:
        del precision
        mass = Fraction(math.exp(-self.mean) * float(self.mean) ** self.mode) * (1 + Fraction(1, 10**4))
        return Enclosure(mass, mass)


@pytest.mark.parametrize(
    ("mutant", "honest"),
    [
        (TooHeavyBelow(Fraction(7, 2)), poisson("7/2")),
        (OffByOne(Fraction(3), Fraction(1, 3)), truncated_negative_binomial(3, "1/3")),
        (MassInFloats(Fraction(1, 3)), poisson("1/3")),
    ],
    ids=["ratio-down", "ratio-up", "mass"],
)
def test_the_check_rejects_a_law_that_is_slightly_wrong(mutant: Count, honest: Count) -> None:
    with pytest.raises(Rejected):
        check(mutant.draw, probability(honest), range(6), Walk(16, Fraction(1, 2**8)))


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("count", [count for count, _ in COUNTS.values()], ids=list(COUNTS))
def test_the_mean_is_an_upper_bound_and_close(count: Count) -> None:
    seen = [(k, probability(count)(k)) for k in range(200)]
    least, most = (sum(k * mass[end] for k, mass in seen) for end in (0, 1))
    rest = 1 - sum(mass.low for _, mass in seen)
    assert least <= count.mean
    assert float(count.mean) == pytest.approx(float(most), rel=1e-6)
    assert rest < Fraction(1, 10**4)


def test_means_have_the_figures_of_their_formulas() -> None:
    assert geometric(0.01).mean == 100
    assert poisson("7/2").mean == Fraction(7, 2)
    assert float(logarithmic("1/10").mean) == pytest.approx(9 / math.log(10))
    assert truncated_negative_binomial(2, "1/4").mean >= Fraction(32, 5)
    assert float(truncated_negative_binomial(2, "1/4").mean) == pytest.approx(6.4)


def test_the_family_has_its_members_in_common() -> None:
    assert geometric("1/3") == truncated_negative_binomial(1, "1/3")
    assert logarithmic(0.3) == truncated_negative_binomial(0, "3/10")
    assert geometric("1/3") != geometric("1/4")
    assert hash(poisson(2)) == hash(poisson("2"))


@pytest.mark.parametrize("count", [geometric("1/2"), poisson(1)], ids=str)
def test_a_count_is_frozen(count: Any) -> None:
    with pytest.raises(AttributeError):
        count.gamma = Fraction(1)


def test_large_counts_lie_near_their_means() -> None:
    for _ in range(5):
        assert abs(poisson(10**6).draw(system()) - 10**6) <= 9 * 10**3
        assert abs(truncated_negative_binomial(10**4, "1/2").draw(system()) - 10**4) <= 9 * 10**3
        assert single_peaked(geometric("1/1000"), system()) <= 50 * 1000


@pytest.mark.parametrize("maker", [geometric, logarithmic])
@pytest.mark.parametrize("gamma", **cases({"0": 0, "1": 1, "3/2": "3/2"}, NEGATIVE, NOT_FINITE, NOT_NUMBERS))
def test_a_gamma_outside_the_open_unit_interval_is_refused(maker: Callable[[Any], Count], gamma: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        maker(gamma)
    assert HOUSE_SENTENCE.fullmatch(str(caught.value))


@pytest.mark.parametrize("shape", **cases({"-1": -1, "-2": -2}, NOT_FINITE, NOT_NUMBERS))
def test_a_shape_not_above_minus_one_is_refused(shape: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        truncated_negative_binomial(shape, "1/2")
    assert HOUSE_SENTENCE.fullmatch(str(caught.value))


@pytest.mark.parametrize("mean", **cases({"0": 0}, NEGATIVE, NOT_FINITE, NOT_NUMBERS))
def test_a_mean_that_is_not_positive_is_refused(mean: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        poisson(mean)
    assert HOUSE_SENTENCE.fullmatch(str(caught.value))


@pytest.mark.parametrize("count", [geometric("1/2"), poisson(1)], ids=str)
def test_what_is_no_source_of_randomness_is_refused(count: Any) -> None:
    with pytest.raises(InvalidParameter, match="randomness must be"):
        count.draw(None)


@dataclass(frozen=True)
class FromOneSide:
    """P(1) = 2/3, known as loosely as is allowed, from below or from above."""

    low: int
    high: int

    least: ClassVar = 1
    mode: ClassVar = 1

    def mass_at_mode(self, precision: int) -> Enclosure:
        error = Fraction(1, 2**precision)
        return Enclosure(Fraction(2, 3) * (1 - self.low * error), Fraction(2, 3) * (1 + self.high * error))

    def ratio(self, k: int) -> tuple[int, int]:
        del k
        return 1, 3


@pytest.mark.parametrize("law", [FromOneSide(1, 0), FromOneSide(0, 1)])
def test_the_sum_at_the_mode_is_bounded_from_both_sides(law: FromOneSide) -> None:
    for bits in range(1, 200):
        _, low, high = next(outward(law, bits))
        assert low <= Fraction(2, 3) * 2**bits <= high
