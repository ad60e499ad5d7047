"""Figures of papers and of another library, each with its source.

The other library is Google's dp-accounting 0.6.0, in floating point: where it computes the same thing, we
agree within its rounding; where it computes an optimum that we only bound, we are never below it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from dp_accounting import (  # type: ignore[import-untyped] # it comes without types
    GaussianDpEvent,
    LaplaceDpEvent,
    NeighboringRelation,
    RandomizedResponseDpEvent,
    SelfComposedDpEvent,
    ZCDpEvent,
)
from dp_accounting.pld import (  # type: ignore[import-untyped] # it comes without types
    common,
    privacy_loss_distribution,
)
from dp_accounting.rdp import RdpAccountant  # type: ignore[import-untyped] # it comes without types

from dpselect.accounting import BoundedRange, LaplaceDominated, compose, convert
from dpselect.accounting.renyi_orders import order
from dpselect.privacy import ZCDP, ApproxDP, PrivacyProfile, PureDP, RenyiDP

ROUNDING = 1e-9
FINE_ORDERS = [float(order(place)) for place in range(-1024, 4097, 4)]


def rdp_epsilon(event: Any, delta: float) -> float:
    """What dp-accounting's RdpAccountant says, with the conversion of Canonne, Kamath & Steinke 2020."""
    return float(RdpAccountant(FINE_ORDERS).compose(event).get_epsilon(delta))


# dp-accounting: the same conversions, in floating point.


@pytest.mark.parametrize("delta", ["1e-3", "1e-6", "1e-9"])
@pytest.mark.parametrize("rho", ["0.01", "0.125", "0.5", "3"])
def test_the_conversion_of_a_rho_agrees_with_dp_accounting(rho: str, delta: str) -> None:
    """ZCDpEvent in RdpAccountant, over more than a thousand orders."""
    ours = convert(ZCDP(rho), ApproxDP, delta=delta).epsilon
    theirs = rdp_epsilon(ZCDpEvent(float(rho)), float(delta))
    assert theirs * (1 - 1e-5) <= ours <= theirs * (1 + 1e-5)


@pytest.mark.parametrize("delta", ["1e-3", "1e-6"])
@pytest.mark.parametrize(("shift", "times"), [("0.1", 100), ("0.5", 20), ("1", 30)])
def test_laplace_noise_many_times_agrees_with_dp_accounting(shift: str, times: int, delta: str) -> None:
    """LaplaceDpEvent in RdpAccountant; the noise multiplier is 1 / shift."""
    ours = compose([LaplaceDominated(shift)] * times, RenyiDP)
    event = SelfComposedDpEvent(LaplaceDpEvent(1 / float(shift)), times)
    theirs = rdp_epsilon(event, float(delta))
    assert convert(ours, ApproxDP, delta=delta).epsilon == pytest.approx(theirs, rel=1e-5)


@pytest.mark.parametrize("alpha", [1.5, 2, 8, 64])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
def test_the_curve_of_pure_privacy_is_dp_accountings_randomized_response(epsilon: str, alpha: float) -> None:
    """RandomizedResponseDpEvent with two answers: a random one with probability 2 / (1 + exp(epsilon))."""
    event = RandomizedResponseDpEvent(2 / (1 + math.exp(float(epsilon))), 2)
    accountant = RdpAccountant([alpha], NeighboringRelation.REPLACE_ONE).compose(event)
    delta = 1e-6
    spread = math.log1p(-1 / alpha) - math.log(delta * alpha) / (alpha - 1)
    theirs = accountant.get_epsilon(delta) - spread
    assert float(convert(PureDP(epsilon), RenyiDP).curve(alpha)) == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize(("epsilon", "delta"), [("0.5", "0"), ("1", "1e-3"), ("2", "0.1")])
def test_the_profile_of_a_pair_is_dp_accountings(epsilon: str, delta: str) -> None:
    """from_privacy_parameters: the worst privacy loss distribution of (epsilon, delta)."""
    parameters = common.DifferentialPrivacyParameters(float(epsilon), float(delta))
    theirs = privacy_loss_distribution.from_privacy_parameters(
        parameters, value_discretization_interval=float(epsilon) / 100
    )
    ours = convert(ApproxDP(epsilon, delta), PrivacyProfile)
    for part in range(5):
        point = Fraction(epsilon) * part / 4
        assert float(ours.delta(point)) == pytest.approx(
            theirs.get_delta_for_epsilon(float(point)), abs=ROUNDING
        )


@pytest.mark.parametrize("shift", ["0.3", "1", "3"])
def test_the_profile_of_laplace_noise_is_dp_accountings(shift: str) -> None:
    """from_laplace_mechanism, whose discretization is pessimistic by its interval at most."""
    theirs = privacy_loss_distribution.from_laplace_mechanism(
        1 / float(shift), value_discretization_interval=1e-4
    )
    ours = convert(LaplaceDominated(shift), PrivacyProfile)
    for part in range(1, 4):
        point = Fraction(shift) * part / 4
        assert float(ours.delta(point)) == pytest.approx(theirs.get_delta_for_epsilon(float(point)), abs=1e-4)


# dp-accounting: optima that our bounds must not undercut.


@pytest.mark.parametrize(("sigma", "times"), [(1.0, 1), (10.0, 100), (4.0, 7)])
def test_a_rho_is_never_below_the_exact_cost_of_gaussian_noise(sigma: float, times: int) -> None:
    """GaussianDpEvent as a privacy loss distribution, in the optimistic estimate: a lower bound."""
    exact = privacy_loss_distribution.from_gaussian_mechanism(
        sigma / math.sqrt(times), pessimistic_estimate=False, value_discretization_interval=1e-3
    )
    rho = ZCDP(Fraction(1) / (2 * Fraction(sigma) ** 2)) * times
    ours = convert(rho, ApproxDP, delta="1e-6").epsilon
    assert exact.get_epsilon_for_delta(1e-6) <= ours <= exact.get_epsilon_for_delta(1e-6) * 1.15
    assert float(ours) == pytest.approx(
        rdp_epsilon(SelfComposedDpEvent(GaussianDpEvent(sigma), times), 1e-6), rel=1e-5
    )


@pytest.mark.parametrize(("shift", "times"), [("0.1", 100), ("0.5", 20)])
def test_laplace_noise_is_never_below_its_numerical_composition(shift: str, times: int) -> None:
    optimistic = privacy_loss_distribution.from_laplace_mechanism(
        1 / float(shift), pessimistic_estimate=False, value_discretization_interval=1e-3
    ).self_compose(times)
    exact = optimistic.get_epsilon_for_delta(1e-6)
    ours = compose([LaplaceDominated(shift)] * times, ApproxDP, delta="1e-6").epsilon
    assert exact <= ours <= exact * 1.15


def test_bounded_range_costs_less_than_dp_accountings_pure_pair_and_laplace() -> None:
    """A hundred draws of the exponential mechanism, eta 0.1: who knows only that epsilon is 0.1 says 4.77."""
    pure = privacy_loss_distribution.from_privacy_parameters(
        common.DifferentialPrivacyParameters(0.1, 0), value_discretization_interval=1e-3
    ).self_compose(100)
    ours = compose([BoundedRange("0.1")] * 100, ApproxDP, delta="1e-6").epsilon
    assert pure.get_epsilon_for_delta(1e-6) == pytest.approx(4.7746, abs=1e-3)
    assert ours < Fraction("2.401")


# Papers.


def test_pure_privacy_of_one_has_the_rho_of_a_known_theorem() -> None:
    """Bun & Steinke 2016, Proposition 1.4, has epsilon^2 / 2; the sharp one is epsilon tanh(epsilon / 2)."""
    rho = convert(PureDP(1), ZCDP).rho
    assert float(rho) == pytest.approx(0.46211715726, abs=1e-11)
    assert rho < Fraction(1, 2)


@pytest.mark.parametrize("alpha", ["1.5", "2", "10"])
def test_laplace_noise_has_the_curve_of_mironov(alpha: str) -> None:
    """Mironov 2017, Proposition 6, at scale 1: ln(a/(2a-1) exp(a-1) + (a-1)/(2a-1) exp(-a)) / (a-1)."""
    a = float(alpha)
    formula = math.log(a / (2 * a - 1) * math.exp(a - 1) + (a - 1) / (2 * a - 1) * math.exp(-a)) / (a - 1)
    assert float(convert(LaplaceDominated(1), RenyiDP).curve(alpha)) == pytest.approx(formula, abs=1e-12)


@pytest.mark.parametrize("alpha", [2, 10, 100])
def test_randomized_response_has_the_curve_of_mironov(alpha: int) -> None:
    """Mironov 2017, Proposition 5: ln(p^a (1-p)^(1-a) + (1-p)^a p^(1-a)) / (a-1), here with p = 3/4."""
    p = 0.75
    formula = math.log(p**alpha * (1 - p) ** (1 - alpha) + (1 - p) ** alpha * p ** (1 - alpha)) / (alpha - 1)
    epsilon = Fraction(math.log(3))
    assert float(convert(PureDP(epsilon), RenyiDP).curve(alpha)) == pytest.approx(formula, rel=1e-12)


def test_the_exponential_mechanism_has_the_rho_of_cesar_and_rogers() -> None:
    """Cesar & Rogers 2021: bounded range eta implies eta^2 / 8; ours is a little less."""
    for eta in (Fraction(1, 10), Fraction(1), Fraction(5)):
        rho = convert(BoundedRange(eta), ZCDP).rho
        assert eta**2 / 8 * Fraction(1, 2) < rho <= eta**2 / 8


def test_advanced_composition_of_bounded_range_is_improved_upon() -> None:
    """Dong, Durfee & Rogers 2020: k KL + eta sqrt(k ln(1/delta) / 2) is 2.7532 here."""
    eta, k = 0.1, 100
    r = eta / math.expm1(eta)
    published = k * (r - 1 - math.log(r)) + eta * math.sqrt(k * math.log(1e6) / 2)
    assert published == pytest.approx(2.7532, abs=1e-3)
    assert compose([BoundedRange("0.1")] * k, ApproxDP, delta="1e-6").epsilon < published
