"""The optimal composition of pure privacy, dpselect.accounting.pure_composition: exact, and attained."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath  # type: ignore[import-untyped] # it comes without types
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpselect.accounting.pure_composition import PureCompositionProfile
from tests.accounting.extremal_pairs import adaptive, delta, product, randomized_response, window

NEARLY = 1 + Fraction(1, 2**60)
OFF = Fraction(10**6, 10**6 + 7)
"""Moves an epsilon away from the sums of losses, where a positive part would be exactly zero."""

prices = st.fractions(min_value=Fraction(1, 20), max_value=3, max_denominator=20)
parts = st.fractions(min_value=Fraction(1, 10), max_value=Fraction(9, 10), max_denominator=10)


@settings(max_examples=30)
@given(st.dictionaries(prices, st.integers(1, 3), min_size=1, max_size=2), parts)
def test_it_is_the_exact_profile_of_independent_randomized_responses(
    runs: dict[Fraction, int], part: Fraction
) -> None:
    profile = PureCompositionProfile(tuple(runs.items()))
    pair = product(*(randomized_response(epsilon) for epsilon, n in runs.items() for _ in range(n)))
    epsilon = profile.pure * part * OFF
    exact = delta(pair, epsilon)
    assert exact.high <= profile(epsilon) <= exact.low * NEARLY
    wanted = profile(epsilon)
    found = profile.epsilon(wanted)
    assert delta(pair, found * (2 - OFF)).high <= wanted
    assert found <= epsilon * (1 + Fraction(1, 2**31))


@settings(max_examples=30)
@given(prices, parts, st.lists(parts, min_size=2, max_size=2), parts)
def test_no_adaptive_choice_of_pure_releases_costs_more(
    price: Fraction, first: Fraction, then: list[Fraction], part: Fraction
) -> None:
    pair = adaptive(window(price, price * first), [window(price, price * place) for place in then])
    epsilon = 2 * price * part * OFF
    assert delta(pair, epsilon).high <= PureCompositionProfile(((price, 2),))(epsilon)


@pytest.mark.parametrize(("k", "epsilon"), [(10, "0.3"), (100, "0.1"), (300, "0.05")])
def test_equal_releases_have_the_published_optimum(k: int, epsilon: str) -> None:
    """Kairouz, Oh & Viswanath 2015, Theorem 3.3, at the epsilons (k - 2i) epsilon that it speaks of."""
    one = Fraction(epsilon)
    profile = PureCompositionProfile(((one, k),))
    with mpmath.workdps(50):
        e = mpmath.mpf(epsilon)
        for i in (k // 10, k // 4, k // 3):
            formula = (
                mpmath.fsum(
                    mpmath.binomial(k, j) * (mpmath.exp((k - j) * e) - mpmath.exp((k - 2 * i + j) * e))
                    for j in range(i)
                )
                / (1 + mpmath.exp(e)) ** k
            )
            assert profile((k - 2 * i) * one) == pytest.approx(formula, rel=1e-15)


def test_a_hundred_releases_of_a_tenth_cost_4_7746() -> None:
    """The figure of the optimum for delta 1e-6; pure privacy alone says 10."""
    hundred = PureCompositionProfile(((Fraction(1, 10), 100),))
    assert float(hundred.epsilon(Fraction(1, 10**6))) == pytest.approx(4.7746, abs=1e-4)
    assert hundred.epsilon(Fraction(0)) == hundred.pure == 10
    assert hundred(Fraction(10)) == 0
    assert hundred.terms == 101


def test_one_release_is_randomized_response_and_none_costs_nothing() -> None:
    one = PureCompositionProfile(((Fraction(1), 1),))
    assert float(one(Fraction(0))) == pytest.approx(math.tanh(0.5), rel=1e-15)
    assert one.epsilon(Fraction(1, 2)) == 0
    nothing = PureCompositionProfile(())
    assert nothing(Fraction(0)) == nothing.epsilon(Fraction(0)) == 0
    free = PureCompositionProfile(((Fraction(0), 5),))
    assert free(Fraction(0)) == free.epsilon(Fraction(0)) == 0


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(1, 3)])
def test_a_delta_between_the_bounds_at_zero_and_right_above_it_has_an_epsilon(epsilon: Fraction) -> None:
    both = PureCompositionProfile(((epsilon, 3 if epsilon < 1 else 2),))
    delta = both(Fraction(1, 2**300))
    assert delta <= both(Fraction(0)) <= delta * NEARLY  # upper ends of enclosures
    found = both.epsilon(delta)
    assert found < Fraction(1, 2**200)
    assert both(found) <= delta
