"""Conversions between losses, dpselect.accounting.convert: upper bounds, or a refusal."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpselect
from dpselect.accounting import BoundedRange, LaplaceDominated, convert
from dpselect.accounting.closed_forms import (
    BoundedRangeProfile,
    BoundedRangeRenyi,
    LaplaceProfile,
    LaplaceRenyi,
    RandomizedResponseRenyi,
    bounded_range_rho,
    laplace_rho,
)
from dpselect.errors import InvalidParameter
from dpselect.mechanisms import make_permute_and_flip, make_report_noisy_max
from dpselect.privacy import (
    ZCDP,
    ApproxDP,
    PrivacyProfile,
    PureDP,
    RenyiDP,
    approximate,
    atom_domain,
    linf_distance,
    max_divergence,
    range_divergence,
    renyi_divergence,
    vector_domain,
    zero_concentrated_divergence,
)
from tests.accounting.extremal_pairs import (
    Pair,
    delta,
    gaussian_delta,
    kullback_leibler,
    laplace_cells,
    randomized_response,
    renyi,
    window,
)

KINDS: list[Any] = [PureDP, ZCDP, RenyiDP, PrivacyProfile, ApproxDP]
SLACK = Fraction(1, 2**40)
TENTH = Fraction(1, 10)

prices = st.fractions(min_value=Fraction(1, 50), max_value=10, max_denominator=50)
orders = st.fractions(min_value=Fraction(51, 50), max_value=60, max_denominator=50)
parts = st.fractions(min_value=Fraction(1, 20), max_value=Fraction(19, 20), max_denominator=20)


# Every conversion is an upper bound on the exact divergences of the worst pairs.


def worst_pair(guarantee: Any, place: Fraction) -> Pair:
    match guarantee:
        case PureDP(epsilon=Fraction() as most):
            return randomized_response(most)
        case BoundedRange(eta=Fraction() as most):
            return window(most, most * place)
        case LaplaceDominated(shift=Fraction() as most):
            return laplace_cells(most, 12)
    raise AssertionError


@settings(max_examples=60)
@given(st.sampled_from([PureDP, BoundedRange, LaplaceDominated]), prices, parts, orders)
def test_a_guarantee_of_one_number_bounds_its_worst_pairs_in_every_kind(
    kind: Any,
    price: Fraction,
    place: Fraction,
    alpha: Fraction,
) -> None:
    guarantee = kind(price)
    pair = worst_pair(guarantee, place)
    rho = convert(guarantee, ZCDP).rho
    assert kullback_leibler(pair).high <= rho
    assert renyi(pair, alpha).high <= alpha * Fraction(rho)
    assert renyi(pair, alpha).high <= convert(guarantee, RenyiDP).curve(alpha)
    epsilon = price * place / 2
    exact = delta(pair, epsilon).high
    assert exact <= convert(guarantee, PrivacyProfile).delta(epsilon)
    assert exact <= convert(guarantee, ApproxDP, epsilon=epsilon).delta
    promised = convert(guarantee, ApproxDP, delta="1/1000")
    assert delta(pair, Fraction(promised.epsilon) + SLACK).high <= promised.delta
    assert convert(guarantee, PureDP) == PureDP(price)


@settings(max_examples=20)
@given(prices, parts, orders)
def test_conversions_in_two_steps_are_upper_bounds_too(
    price: Fraction, place: Fraction, alpha: Fraction
) -> None:
    pair = randomized_response(price)
    concentrated = convert(PureDP(price), ZCDP)
    curve = convert(concentrated, RenyiDP)
    assert renyi(pair, alpha).high <= curve.curve(alpha) == alpha * Fraction(concentrated.rho)
    exact = delta(pair, price * place).high
    for loss in (concentrated, curve, convert(PureDP(price), RenyiDP)):
        assert exact <= convert(loss, PrivacyProfile).delta(price * place)


@settings(max_examples=40)
@given(prices, st.fractions(min_value=0, max_value=12, max_denominator=10))
def test_a_rho_bounds_gaussian_noise(rho: Fraction, epsilon: Fraction) -> None:
    exact = gaussian_delta(rho, epsilon).high
    assert exact <= convert(ZCDP(rho), ApproxDP, epsilon=epsilon).delta
    assert exact <= convert(convert(ZCDP(rho), RenyiDP), ApproxDP, epsilon=epsilon).delta


@settings(max_examples=40)
@given(prices, parts, parts)
def test_a_pair_bounds_randomized_response_that_tells_the_truth(
    price: Fraction, truth: Fraction, place: Fraction
) -> None:
    exact = delta(randomized_response(price, truth), price * place).high
    assert exact <= convert(ApproxDP(price, truth), PrivacyProfile).delta(price * place)
    assert exact <= convert(ApproxDP(price, truth), ApproxDP, epsilon=price * place).delta


# What is said in words.


def test_pure_to_zero_concentrated_is_epsilon_times_its_half_tanh() -> None:
    for epsilon in (Fraction(1, 100), Fraction(1), Fraction(20)):
        rho = convert(PureDP(epsilon), ZCDP).rho
        assert float(rho) == pytest.approx(float(epsilon) * math.tanh(epsilon / 2), rel=1e-15)
        assert rho < epsilon**2 / 2


def test_a_single_point_is_read_off_the_profile() -> None:
    loss = ZCDP("1/8")
    profile = convert(loss, PrivacyProfile)
    at_delta = convert(loss, ApproxDP, delta="1e-6")
    assert at_delta == ApproxDP(profile.epsilon("1e-6"), "1e-6")
    assert convert(loss, ApproxDP, epsilon=2) == ApproxDP(2, profile.delta(2))
    assert convert(PureDP(2), ApproxDP) == ApproxDP(2, 0)
    assert convert(ApproxDP(2, TENTH), ApproxDP) == ApproxDP(2, TENTH)
    assert convert(profile, ApproxDP, delta="1e-6") == at_delta


def test_the_conversion_of_a_rho_is_not_the_loose_one() -> None:
    """Bun & Steinke 2016: rho + 2 sqrt(rho ln(1/delta)) is 2.7533 here."""
    loose = 0.125 + 2 * math.sqrt(0.125 * math.log(1e6))
    assert convert(ZCDP("1/8"), ApproxDP, delta="1e-6").epsilon < loose - 0.3


@pytest.mark.parametrize("kind", KINDS[:4], ids=lambda kind: kind.__name__)
def test_a_loss_converts_to_its_own_kind_unchanged(kind: Any) -> None:
    loss = convert(PureDP(1), kind)
    assert convert(loss, kind) is loss


@pytest.mark.parametrize("source", [PureDP, BoundedRange, LaplaceDominated, ZCDP], ids=lambda s: s.__name__)
def test_zero_stays_zero_and_infinity_promises_nothing(source: Any) -> None:
    for kind in KINDS[2:4] if source is ZCDP else KINDS[:4]:
        nothing, everything = convert(source(0), kind), convert(source(math.inf), kind)
        assert shown(nothing) == 0
        assert shown(everything) in (1, math.inf)


def shown(loss: Any) -> Any:
    match loss:
        case PureDP(epsilon=number) | ZCDP(rho=number):
            return number
        case RenyiDP(curve=curve):
            return curve(2)
    assert loss.delta(0) in (0, 1)
    return loss.epsilon("1e-6")


def test_an_infinite_epsilon_of_a_pair_promises_nothing() -> None:
    assert convert(ApproxDP(math.inf, 0), PrivacyProfile).delta(100) == 1


# The prices of the mechanisms are conversions of what they guarantee.

SCORES = vector_domain(atom_domain(int))
METRIC = linf_distance(monotonic=True)


def test_bounded_range_of_a_noisy_max_converts_to_its_other_prices() -> None:
    def price(measure: Any) -> Any:
        return make_report_noisy_max(SCORES, METRIC, measure, 3).map(2)

    guarantee = BoundedRange(price(range_divergence()))
    assert convert(guarantee, RenyiDP).curve == price(renyi_divergence())
    assert convert(guarantee, PrivacyProfile) == price(approximate(max_divergence()))
    assert convert(guarantee, ZCDP).rho <= price(zero_concentrated_divergence())
    assert convert(guarantee, RenyiDP) == RenyiDP(BoundedRangeRenyi(Fraction(2, 3)))
    assert convert(guarantee, PrivacyProfile) == PrivacyProfile(BoundedRangeProfile(Fraction(2, 3)))
    assert convert(guarantee, ZCDP).rho == bounded_range_rho(Fraction(2, 3))


def test_permute_and_flip_converts_to_the_profile_of_laplace_noise() -> None:
    def price(measure: Any) -> Any:
        return make_permute_and_flip(SCORES, METRIC, 3, privacy_measure=measure).map(2)

    guarantee = LaplaceDominated(price(max_divergence()))
    assert convert(guarantee, PrivacyProfile) == price(approximate(max_divergence()))
    assert convert(guarantee, PrivacyProfile) == PrivacyProfile(LaplaceProfile(Fraction(2, 3)))
    assert convert(guarantee, RenyiDP).curve == price(renyi_divergence())
    assert convert(guarantee, RenyiDP) == RenyiDP(LaplaceRenyi(Fraction(2, 3)))
    assert (
        convert(guarantee, ZCDP).rho == price(zero_concentrated_divergence()) == laplace_rho(Fraction(2, 3))
    )


# Refused, never free.

REFUSED = [
    (ZCDP(1), PureDP),
    (RenyiDP({2: 1}), PureDP),
    (RenyiDP(RandomizedResponseRenyi(Fraction(1))), ZCDP),
    (ApproxDP(1, 0), PureDP),
    (ApproxDP(1, TENTH), ZCDP),
    (ApproxDP(1, TENTH), RenyiDP),
    (PrivacyProfile({1: 0}), PureDP),
    (PrivacyProfile({1: 0}), ZCDP),
    (PrivacyProfile({1: 0}), RenyiDP),
]


@pytest.mark.parametrize(("loss", "to"), REFUSED)
def test_a_pair_of_kinds_of_which_nothing_is_proved_is_refused(loss: Any, to: Any) -> None:
    with pytest.raises(
        InvalidParameter, match=r"^an? \w+ must be converted to .*ApproxDP; got \w+\. Nothing is"
    ):
        convert(loss, to)


@pytest.mark.parametrize("loss", [1, "1", None, Fraction(1), RenyiDP({2: 1}).curve, PureDP, [PureDP(1)]])
def test_what_is_no_guarantee_is_refused(loss: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"^loss must be a privacy loss, .*; got .*\. See m\.price"):
        convert(loss, ZCDP)


@pytest.mark.parametrize("to", ["ZCDP", BoundedRange, int, None, ZCDP(1), []])
def test_what_is_no_kind_of_loss_is_refused(to: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"^to must be PureDP or ZCDP or .*; got .*\.$"):
        convert(PureDP(1), to)


def test_a_point_is_asked_for_exactly_where_there_is_one() -> None:
    with pytest.raises(InvalidParameter, match=r"got neither\. Say delta="):
        convert(ZCDP(1), ApproxDP)
    with pytest.raises(InvalidParameter, match="got both"):
        convert(ZCDP(1), ApproxDP, delta="1e-6", epsilon=1)
    with pytest.raises(InvalidParameter, match="must be left out for ZCDP"):
        convert(PureDP(1), ZCDP, delta="1e-6")
    with pytest.raises(InvalidParameter, match="must be left out for PrivacyProfile"):
        convert(PureDP(1), PrivacyProfile, epsilon=1)
    with pytest.raises(InvalidParameter, match="delta must be a probability"):
        convert(ZCDP(1), ApproxDP, delta=2)


@pytest.mark.parametrize("kind", [BoundedRange, LaplaceDominated])
@pytest.mark.parametrize("bad", [-1, math.nan, "x", None, True])
def test_a_guarantee_of_a_bad_number_is_refused(kind: Any, bad: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"^(eta|shift) must be "):
        kind(bad)


def test_the_functions_are_found_at_the_top_and_in_their_package() -> None:
    assert dpselect.convert is convert
    assert dpselect.compose is dpselect.accounting.compose
    assert callable(dpselect.calibrate)
