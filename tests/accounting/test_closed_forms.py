"""The closed forms of dpselect.accounting.closed_forms: never below an exact divergence, and attained."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpselect.accounting.closed_forms import (
    BoundedRangeProfile,
    BoundedRangeRenyi,
    LaplaceProfile,
    LaplaceRenyi,
    RandomizedResponseProfile,
    RandomizedResponseRenyi,
    bounded_range_rho,
    laplace_rho,
    randomized_response_rho,
)
from tests.accounting.extremal_pairs import (
    delta,
    kullback_leibler,
    laplace_cells,
    randomized_response,
    renyi,
    window,
)

NEARLY = 1 + Fraction(1, 2**60)
PRICES = [Fraction(1, 1000), Fraction(1, 10), Fraction(2, 3), Fraction(1), Fraction(4), Fraction(30)]
ALPHAS = [Fraction(1001, 1000), Fraction(3, 2), Fraction(2), Fraction(10), Fraction(300)]

prices = st.fractions(min_value=Fraction(1, 50), max_value=20, max_denominator=50)
orders = st.fractions(min_value=Fraction(51, 50), max_value=100, max_denominator=50)
parts = st.fractions(min_value=Fraction(1, 20), max_value=Fraction(19, 20), max_denominator=20)
each_price = pytest.mark.parametrize("price", PRICES, ids=str)


# Pure privacy: randomized response.


@each_price
@pytest.mark.parametrize("alpha", ALPHAS, ids=str)
def test_the_curve_of_pure_privacy_is_that_of_randomized_response(price: Fraction, alpha: Fraction) -> None:
    bound, exact = RandomizedResponseRenyi(price)(alpha), renyi(randomized_response(price), alpha)
    assert exact.high <= bound <= exact.low * NEARLY


@settings(max_examples=60)
@given(prices, parts, parts, orders)
def test_no_other_pure_pair_of_two_outcomes_diverges_more(
    price: Fraction, width: Fraction, place: Fraction, alpha: Fraction
) -> None:
    """All losses within [-price, price]: a window of any length, anywhere inside."""
    eta = 2 * price * width
    low, high = max(Fraction(0), eta - price), min(price, eta)
    pair = window(eta, low + (high - low) * place)
    assert renyi(pair, alpha).high <= RandomizedResponseRenyi(price)(alpha)
    assert renyi(pair, alpha).high <= alpha * randomized_response_rho(price)
    between = price * place * Fraction(7, 11)  # not at an end of the window, where a gap is zero
    assert delta(pair, between).high <= RandomizedResponseProfile(price)(between)


@each_price
def test_rho_of_pure_privacy_bounds_every_order_and_is_reached_near_the_first(price: Fraction) -> None:
    rho = randomized_response_rho(price)
    for alpha in ALPHAS:
        assert renyi(randomized_response(price), alpha).high <= alpha * rho
    exact = kullback_leibler(randomized_response(price))
    assert exact.high <= rho <= exact.low * NEARLY
    assert rho <= price**2 / 2


@each_price
@pytest.mark.parametrize("truth", [Fraction(0), Fraction(1, 10**6), Fraction(1, 3)], ids=str)
def test_the_profile_of_a_pair_is_that_of_randomized_response(price: Fraction, truth: Fraction) -> None:
    profile = RandomizedResponseProfile(price, truth)
    for epsilon in (Fraction(0), price / 3, price * 99 / 100):
        exact = delta(randomized_response(price, truth), epsilon)
        assert exact.high <= profile(epsilon) <= exact.low * NEARLY
        assert profile.epsilon(profile(epsilon)) <= epsilon + Fraction(1, 2**40)
    assert profile(price) == profile(price + 1) == truth
    assert profile.epsilon(truth) == price
    assert profile.epsilon(Fraction(1)) == 0


@pytest.mark.parametrize("price", [Fraction(1, 10), Fraction(3), Fraction(7)], ids=str)
@pytest.mark.parametrize("wanted", ["1/1000000", "1/7", "1/3", "9/10", "999/1000"])
def test_the_inverse_of_the_profile_of_a_pair_suffices(price: Fraction, wanted: str) -> None:
    truth = Fraction(1, 10**7)
    epsilon = RandomizedResponseProfile(price, truth).epsilon(Fraction(wanted))
    assert isinstance(epsilon, Fraction)
    assert delta(randomized_response(price, truth), epsilon).high <= Fraction(wanted)


def test_the_edges_of_a_pair() -> None:
    assert RandomizedResponseProfile(Fraction(1), Fraction(1, 2)).epsilon(Fraction(1, 3)) == math.inf
    assert RandomizedResponseProfile(Fraction(1), Fraction(1))(Fraction(0)) == 1
    assert RandomizedResponseProfile(Fraction(1), Fraction(1)).epsilon(Fraction(1)) == 0
    assert RandomizedResponseProfile(Fraction(0), Fraction(1, 2)).epsilon(Fraction(1, 2)) == 0
    assert RandomizedResponseProfile(Fraction(10) ** 30).epsilon(Fraction(1, 2)) <= Fraction(10) ** 30


# Bounded range.


@each_price
def test_rho_of_bounded_range_is_the_largest_kullback_leibler_divergence(price: Fraction) -> None:
    """Its window is the one in which e to the top is (exp(eta) - 1) / eta: there the derivative vanishes."""
    rho = bounded_range_rho(price)
    top = Fraction(math.log(math.expm1(price) / price))
    exact = kullback_leibler(window(price, top))
    assert exact.high <= rho <= exact.low * (1 + Fraction(1, 10**9))
    assert rho <= price**2 / 8


@settings(max_examples=60)
@given(prices, parts, orders)
def test_no_window_diverges_more_than_the_bounds_of_bounded_range(
    eta: Fraction, place: Fraction, alpha: Fraction
) -> None:
    pair = window(eta, eta * place)
    assert renyi(pair, alpha).high <= BoundedRangeRenyi(eta)(alpha) <= eta
    assert renyi(pair, alpha).high <= alpha * bounded_range_rho(eta)
    assert delta(pair, eta * place / 2).high <= BoundedRangeProfile(eta)(eta * place / 2)


@settings(max_examples=60)
@given(prices, orders)
def test_rho_of_bounded_range_bounds_its_own_curve(eta: Fraction, alpha: Fraction) -> None:
    assert BoundedRangeRenyi(eta)(alpha) <= alpha * bounded_range_rho(eta) * NEARLY


@pytest.mark.parametrize(("eta", "figure"), [(1, "0.1233016"), (4, "1.669850"), (8, "4.9229")])
def test_rho_of_bounded_range_has_the_known_figures(eta: int, figure: str) -> None:
    """r - 1 - ln(r) with r = eta / (exp(eta) - 1), evaluated elsewhere to seven digits."""
    assert float(bounded_range_rho(Fraction(eta))) == pytest.approx(float(figure), abs=5e-5)


# Laplace noise.


@pytest.mark.parametrize("shift", PRICES[1:5], ids=str)
def test_laplace_noise_seen_through_cells_never_diverges_more_and_hardly_less(shift: Fraction) -> None:
    pair = laplace_cells(shift, 100)
    for alpha in ALPHAS[1:4]:
        exact, bound = renyi(pair, alpha), LaplaceRenyi(shift)(alpha)
        assert exact.high <= bound <= exact.low * Fraction(1003, 1000)
        assert exact.high <= alpha * laplace_rho(shift)
    exact = kullback_leibler(pair)
    assert exact.high <= laplace_rho(shift) <= exact.low * Fraction(1003, 1000)
    exact = delta(pair, shift / 3)
    assert exact.high <= LaplaceProfile(shift)(shift / 3) <= exact.low * Fraction(1003, 1000)


@pytest.mark.parametrize("form", [BoundedRangeProfile, LaplaceProfile], ids=lambda form: form.__name__)
@pytest.mark.parametrize("price", PRICES, ids=str)
def test_profiles_are_inverted_from_end_to_end(form: Any, price: Fraction) -> None:
    profile = form(price)
    assert profile.epsilon(Fraction(0)) == price
    assert profile.epsilon(Fraction(1)) == 0
    assert profile(price) == form(Fraction(0)).epsilon(Fraction(1, 3)) == 0
    for wanted in (Fraction(1, 10**9), Fraction(1, 7), Fraction(99, 100)):
        assert profile(profile.epsilon(wanted)) <= wanted * NEARLY


# Kinds compared: the more a guarantee says, the less it costs.


@settings(max_examples=60)
@given(prices, orders)
def test_bounded_range_costs_less_than_laplace_and_laplace_less_than_pure(
    price: Fraction, alpha: Fraction
) -> None:
    gumbel, laplace, pure = (
        form(price)(alpha) for form in (BoundedRangeRenyi, LaplaceRenyi, RandomizedResponseRenyi)
    )
    assert gumbel <= laplace * NEARLY <= pure * NEARLY**2
    assert bounded_range_rho(price) < laplace_rho(price) < randomized_response_rho(price)


@pytest.mark.parametrize(
    "form", [BoundedRangeRenyi, LaplaceRenyi, RandomizedResponseRenyi], ids=lambda form: form.__name__
)
def test_curves_hold_at_the_far_ends(form: Any) -> None:
    huge, tiny = Fraction(10) ** 30, Fraction(1, 10**30)
    assert form(huge)(Fraction(2)) <= huge
    assert 0 < form(tiny)(Fraction(2)) < tiny
    assert 0 < form(tiny)(1 + tiny) < tiny
    assert form(Fraction(1))(huge) <= 1
    assert form(Fraction(0))(Fraction(2)) == 0


@pytest.mark.parametrize("rho", [bounded_range_rho, laplace_rho, randomized_response_rho])
def test_rhos_hold_at_the_far_ends(rho: Any) -> None:
    huge, tiny = Fraction(10) ** 30, Fraction(1, 10**30)
    assert rho(Fraction(0)) == 0
    assert 0 < rho(tiny) <= tiny**2 / 2 * NEARLY
    assert huge - 100 <= rho(huge) <= huge * NEARLY
