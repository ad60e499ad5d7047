"""dpselect.accounting.renyi_orders: from Rényi divergences to (epsilon, delta), true and nearly least."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

import mpmath  # type: ignore[import-untyped] # it comes without types
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpselect.accounting.closed_forms import BoundedRangeRenyi, LaplaceRenyi, RandomizedResponseRenyi
from dpselect.accounting.renyi_orders import (
    FARTHEST_PLACE,
    ORDERS,
    PLACES_PER_DOUBLING,
    ConcentratedRenyi,
    RenyiProfile,
    least_over_orders,
    order,
    profile_of,
)
from dpselect.privacy import RenyiCurve
from tests.accounting.extremal_pairs import gaussian_delta

MILLIONTH = Fraction(1, 10**6)


def number(x: Fraction) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator


def least_epsilon(rho: Fraction, delta: Fraction) -> mpmath.mpf:
    """The conversion of Canonne, Kamath & Steinke 2020 at the best real order, by another search."""
    r, d = number(rho), number(delta)

    def slope(s: mpmath.mpf) -> mpmath.mpf:
        """The derivative in s = alpha - 1 of rho alpha + ln(1 - 1/alpha) - ln(delta alpha) / (alpha - 1)."""
        a = 1 + s
        return r + 1 / s - 1 / a - 1 / (a * s) + mpmath.log(d * a) / s**2

    low, high = mpmath.mpf("1e-30"), mpmath.mpf("1e30")
    for _ in range(300):
        middle = mpmath.sqrt(low * high)
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    a = 1 + low
    return r * a + mpmath.log(1 - 1 / a) - mpmath.log(d * a) / (a - 1)


@pytest.mark.parametrize("delta", ["1e-3", "1e-6", "1e-30", "1e-300"])
@pytest.mark.parametrize("rho", ["1e-9", "1e-4", "1/8", "1/2", "50", "1e6"])
def test_the_search_over_orders_ends_within_a_millionth_of_the_best_real_order(rho: str, delta: str) -> None:
    bound = RenyiProfile(ConcentratedRenyi(Fraction(rho)), 1, math.inf).epsilon(Fraction(delta))
    with mpmath.workdps(60):
        best = max(mpmath.mpf(0), least_epsilon(Fraction(rho), Fraction(delta)))
        assert best <= number(Fraction(bound)) <= best * (1 + mpmath.mpf("1e-6"))


@pytest.mark.parametrize("rho", [Fraction(1, 1000), Fraction(1, 8), Fraction(2)], ids=str)
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(5)], ids=str)
def test_gaussian_noise_never_costs_more_than_the_profile_of_its_rho(
    rho: Fraction, epsilon: Fraction
) -> None:
    assert gaussian_delta(rho, epsilon).high <= RenyiProfile(ConcentratedRenyi(rho), 1, math.inf)(epsilon)


@settings(max_examples=30)
@given(
    st.fractions(min_value=Fraction(1, 1000), max_value=10, max_denominator=1000),
    st.fractions(min_value=Fraction(1, 10**6), max_value=Fraction(99, 100), max_denominator=10**6),
)
def test_delta_and_epsilon_are_inverse_to_each_other(rho: Fraction, delta: Fraction) -> None:
    profile = RenyiProfile(ConcentratedRenyi(rho), 1, math.inf)
    epsilon = Fraction(profile.epsilon(delta))
    assert profile(epsilon + MILLIONTH) <= delta
    if epsilon > MILLIONTH:
        assert profile(epsilon - MILLIONTH) >= delta


@pytest.mark.parametrize(("delta", "alpha"), [(Fraction(1, 4), 2), (Fraction(4, 27), 3)])
def test_a_conversion_that_adds_nothing_at_an_order_is_no_obstacle(delta: Fraction, alpha: int) -> None:
    """(1 - 1/alpha)^(alpha - 1) = delta alpha: there the terms cancel, and no enclosure of zero is narrow."""
    profile = RenyiProfile(ConcentratedRenyi(Fraction(1, 100)), 1, math.inf)
    assert profile.epsilon(delta) <= Fraction(alpha, 100)


@dataclasses.dataclass(frozen=True)
class OneOrder:
    """A curve that knows one order only."""

    alpha: Fraction

    def __call__(self, alpha: Fraction) -> float | Fraction:
        return Fraction(1) if alpha == self.alpha else math.inf


@pytest.mark.parametrize("alpha", [2, 3, 5, 9, 17, 33, 65, 129, 2049])
@pytest.mark.parametrize("delta", ["0.9", "0.3", "1e-6"])
def test_each_logarithm_is_rounded_outward(alpha: int, delta: str) -> None:
    profile, wanted = RenyiProfile(OneOrder(Fraction(alpha)), 1, math.inf), Fraction(delta)
    with mpmath.workdps(90):
        a, d = mpmath.mpf(alpha), number(wanted)
        exact = 1 + mpmath.log(1 - 1 / a) - mpmath.log(d * a) / (a - 1)
        bound = number(Fraction(profile.epsilon(wanted)))
        assert max(mpmath.mpf(0), exact) <= bound <= max(mpmath.mpf(0), exact + mpmath.mpf("1e-18"))


@pytest.mark.parametrize("alpha", [Fraction(n, 8) for n in (9, 16, 24, 320)], ids=str)
@pytest.mark.parametrize("delta", ["1e-6", "1e-40", "1e-300"])
def test_a_table_is_read_at_its_own_order_and_rounded_up(alpha: Fraction, delta: str) -> None:
    """The conversion of Canonne, Kamath & Steinke 2020 at a single order, to ninety digits."""
    profile = profile_of(RenyiCurve({alpha: 1}))
    with mpmath.workdps(90):
        a, d = number(alpha), number(Fraction(delta))
        exact = 1 + mpmath.log(1 - 1 / a) - mpmath.log(d * a) / (a - 1)
        bound = number(Fraction(profile.epsilon(Fraction(delta))))
        assert exact <= bound <= exact * (1 + mpmath.mpf("1e-15"))
        epsilon = Fraction(int(exact * 1000), 1000)
        exact = mpmath.exp((a - 1) * (1 - number(epsilon) + mpmath.log(1 - 1 / a)) - mpmath.log(a))
        assert exact <= number(profile(epsilon)) <= exact * (1 + mpmath.mpf("1e-12"))


def test_a_curve_that_is_infinite_everywhere_promises_nothing() -> None:
    nothing = profile_of(RenyiCurve({}))
    assert nothing.epsilon(MILLIONTH) == nothing.epsilon(Fraction(0)) == math.inf
    assert nothing(Fraction(5)) == 1


def test_a_curve_that_is_infinite_from_some_order_on_is_used_below_it() -> None:
    curve = RenyiCurve({3: 1})
    assert 1 < profile_of(curve).epsilon(MILLIONTH) < 8
    assert profile_of(curve)(Fraction(8)) < MILLIONTH


def test_a_curve_of_closed_forms_never_costs_more_than_their_pure_prices() -> None:
    one = Fraction(1)
    curve = (
        RenyiCurve(BoundedRangeRenyi(one)) * 2
        + RenyiCurve(LaplaceRenyi(one))
        + RenyiCurve(RandomizedResponseRenyi(one))
    )
    assert profile_of(curve).epsilon(Fraction(0)) == 4
    assert profile_of(curve)(Fraction(4)) == 0
    assert profile_of(curve + RenyiCurve(ConcentratedRenyi(one))).epsilon(Fraction(0)) == math.inf


def test_the_first_orders_are_public_and_rise_from_close_to_one() -> None:
    assert list(ORDERS) == sorted(set(ORDERS))
    assert ORDERS[0] == 1 + Fraction(1, 32)
    assert ORDERS[-1] == 2049
    assert order(FARTHEST_PLACE) == 1 + 2**64
    assert order(PLACES_PER_DOUBLING // 2) ** 2 == pytest.approx(float(1 + 2**0.5) ** 2)


@pytest.mark.parametrize("best", [Fraction(1001, 1000), Fraction(17, 3), Fraction(10**9)], ids=str)
def test_the_search_finds_the_bottom_of_a_valley_wherever_it_is(best: Fraction) -> None:
    found = least_over_orders(lambda alpha: abs(alpha - best) / (best - 1))
    assert found <= Fraction(1, 1000)
