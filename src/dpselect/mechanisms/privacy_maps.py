"""Privacy maps of the selection mechanisms: from the distance of neighbours to a bound on their outputs.

With d the range distance, eta = d / scale, and m the number of draws that can differ (k, or one less than
the number of candidates), a bound is m times that of a single draw, but for range divergence, which does not
add.

Proof: privacy_maps.proof.md
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction

from dpselect.accounting.closed_forms import (
    BoundedRangeProfile,
    BoundedRangeRenyi,
    LaplaceProfile,
    LaplaceRenyi,
    bounded_range_rho,
    laplace_rho,
)
from dpselect.accounting.renyi_orders import RenyiProfile
from dpselect.privacy.amounts import Amount
from dpselect.privacy.curves import Formula, RenyiCurve
from dpselect.privacy.losses import ApproxZCDP
from dpselect.privacy.measures import (
    Approximate,
    ApproximateConcentrated,
    Distance,
    MaxDivergence,
    Measure,
    RangeDivergence,
    RenyiDivergence,
    ZeroConcentratedDivergence,
)
from dpselect.privacy.metrics import ScoreMetric
from dpselect.privacy.profiles import PrivacyProfile


def no_bound(point: Fraction) -> float:
    """Give the curve of scores without noise."""
    del point
    return math.inf


@dataclass(frozen=True)
class SelectionMap(ABC):
    """The map of ``draws`` selections from scores with noise of one scale."""

    metric: ScoreMetric
    measure: Measure
    scale: Fraction
    draws: int

    @abstractmethod
    def rho(self, eta: Fraction) -> Fraction:
        """Bound rho of a single draw."""

    @abstractmethod
    def renyi(self, eta: Fraction) -> Formula:
        """Bound the Rényi divergence of a single draw, for each order."""

    @abstractmethod
    def profile(self, eta: Fraction) -> Formula:
        """Bound delta of a single draw, for each epsilon."""

    def __call__(self, d_in: Fraction) -> Distance:
        """Bound the output distance of neighbours at a distance of d_in."""
        distance = self.metric.range_distance(d_in)
        draws = self.draws if distance else 0
        if draws and not self.scale:
            return self._infinite()
        eta = distance / self.scale if draws else Fraction(0)
        match self.measure:
            case MaxDivergence():
                return draws * eta
            case RangeDivergence():
                return max(0, 2 * draws - 1) * eta
            case ZeroConcentratedDivergence() | ApproximateConcentrated():
                return self._of_rho(draws * self.rho(eta))
            case RenyiDivergence():
                return RenyiCurve(self.renyi(eta)) * draws
            case Approximate():
                several = RenyiProfile(self.renyi(eta), draws, draws * eta)
                return PrivacyProfile(several) if draws > 1 else PrivacyProfile(self.profile(eta)) * draws

    def _infinite(self) -> Distance:
        match self.measure:
            case RenyiDivergence():
                return RenyiCurve(no_bound)
            case Approximate():
                return PrivacyProfile(no_bound)
            case _:
                return self._of_rho(math.inf)

    def _of_rho(self, bound: Amount) -> Distance:
        """Give a bound on rho as a distance: no selection needs a delta beside it."""
        return ApproxZCDP(bound, 0) if isinstance(self.measure, ApproximateConcentrated) else bound


@dataclass(frozen=True)
class GumbelMap(SelectionMap):
    """A draw with Gumbel noise has bounded range eta."""

    def rho(self, eta: Fraction) -> Fraction:
        """Give the sharp constant of bounded range."""
        return bounded_range_rho(eta)

    def renyi(self, eta: Fraction) -> Formula:
        """Give the curve of bounded range."""
        return BoundedRangeRenyi(eta)

    def profile(self, eta: Fraction) -> Formula:
        """Give the profile of bounded range."""
        return BoundedRangeProfile(eta)


@dataclass(frozen=True)
class ExponentialMap(SelectionMap):
    """A draw with exponential noise is dominated by the Laplace mechanism with shift eta."""

    def rho(self, eta: Fraction) -> Fraction:
        """Give the rho of the Laplace mechanism."""
        return laplace_rho(eta)

    def renyi(self, eta: Fraction) -> Formula:
        """Give the curve of the Laplace mechanism."""
        return LaplaceRenyi(eta)

    def profile(self, eta: Fraction) -> Formula:
        """Give the profile of the Laplace mechanism."""
        return LaplaceProfile(eta)
