"""The logistic pair, against quadrature and against what two of them cost: dpselect.accounting.logistic."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath  # type: ignore[import-untyped] # it comes without types
import numpy as np
import pytest

from dpselect.accounting.bounded_range_composition import BoundedRangeComposition
from dpselect.accounting.closed_forms import bounded_range_rho
from dpselect.accounting.logistic import LogisticProfile, LogisticRenyi, logistic_rho
from dpselect.accounting.renyi_orders import RenyiProfile
from dpselect.privacy.profiles import PrivacyProfile

ETAS = [Fraction(3, 10), Fraction(1), Fraction(3)]
ORDERS = [Fraction(5, 4), Fraction(3, 2), Fraction(2), Fraction(8)]


def divergence(eta: float, alpha: float) -> float:
    """Integrate p**alpha q**(1 - alpha) over both logistic densities."""

    def density(x: mpmath.mpf) -> mpmath.mpf:
        return mpmath.sech(x / 2) ** 2 / 4

    def integrand(x: mpmath.mpf) -> mpmath.mpf:
        return density(x) ** alpha * density(x - eta) ** (1 - alpha)

    with mpmath.workdps(25):
        found = mpmath.quad(integrand, [-60, -10, 0, eta, 10, 60])
        return float(mpmath.log(found) / (alpha - 1))


@pytest.mark.parametrize("eta", ETAS)
@pytest.mark.parametrize("alpha", ORDERS)
def test_the_curve_is_that_of_two_logistic_laws_and_rho_bounds_it(eta: Fraction, alpha: Fraction) -> None:
    found = LogisticRenyi(eta)(alpha)
    assert float(found) == pytest.approx(divergence(float(eta), float(alpha)), rel=1e-9)
    assert found <= alpha * logistic_rho(eta)


@pytest.mark.parametrize("eta", [Fraction(1, 1000), *ETAS, Fraction(40)])
def test_rho_is_the_limit_of_the_curve_and_at_most_a_sixth_of_the_square(eta: Fraction) -> None:
    near = LogisticRenyi(eta)(1 + Fraction(1, 10**9))
    assert float(near) == pytest.approx(float(logistic_rho(eta)), rel=1e-6)
    assert logistic_rho(eta) <= eta**2 / 6
    for place in range(-16, 17, 4):
        alpha = 1 + Fraction(2) ** place
        assert LogisticRenyi(eta)(alpha) <= alpha * logistic_rho(eta) * (1 + Fraction(1, 2**50))
    assert logistic_rho(Fraction(0)) == LogisticRenyi(Fraction(0))(Fraction(2)) == 0


def test_a_gap_costs_more_than_the_winner_alone() -> None:
    """The mutants, eta**2 / 8 and the constant of bounded range, are below the true divergence."""
    assert float(logistic_rho(Fraction(1))) == pytest.approx(0.163953, abs=1e-6)
    assert bounded_range_rho(Fraction(1)) < Fraction(1, 8) < Fraction("0.1639") < logistic_rho(Fraction(1))


@pytest.mark.parametrize("eta", ETAS)
def test_the_profile_of_one_is_the_largest_difference_over_half_lines(eta: Fraction) -> None:
    u = np.linspace(1e-6, 1 - 1e-6, 200_001)
    other = u / (u + (1 - u) * math.exp(eta))
    for epsilon in (Fraction(0), eta / 3, eta / 2):
        largest = (u - math.exp(epsilon) * other).max()
        found = float(LogisticProfile(eta)(epsilon))
        assert largest <= found + 1e-12
        assert found == pytest.approx(largest, abs=1e-6)
    assert LogisticProfile(eta).epsilon(Fraction(0)) == eta


@pytest.mark.parametrize(
    ("epsilon", "least"), [("0.2", 0.2575), ("0.5", 0.1710), ("1", 0.0640), ("1.5", 0.01018)]
)
def test_two_with_gaps_cost_more_than_two_of_bounded_range(epsilon: str, least: float) -> None:
    """Two logistic pairs by a grid; what is printed for two releases must not be below, bounded range is."""
    eta, e = Fraction(1), float(Fraction(epsilon))
    u = (np.arange(2000) + 0.5) / 2000
    loss = 2 * np.log(math.exp(0.5) * (1 - u) + math.exp(-0.5) * u)
    both = np.maximum(1 - np.exp(e - np.add.outer(loss, loss)), 0).mean()
    assert both == pytest.approx(least, rel=0.01)
    for printed in (
        PrivacyProfile(RenyiProfile(LogisticRenyi(eta), 2, 2 * eta)),
        PrivacyProfile(LogisticProfile(eta)) * 2,
    ):
        assert float(printed.delta(epsilon)) >= both
    mutant = PrivacyProfile(BoundedRangeComposition(eta, 2))
    assert float(mutant.delta(epsilon)) < both
