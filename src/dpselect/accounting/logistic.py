"""The logistic pair: the worst neighbours of a winner with its gap, drawn with Gumbel noise.

Two logistic laws a distance of eta apart. No event changes its log-odds by more than eta between them, and
for every amount of error one event does by just that.

Proof: logistic.proof.md
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpselect.accounting.closed_forms import BoundedRangeProfile
from dpselect.exact.enclosures import Ball, enclose


@dataclass(frozen=True)
class LogisticRenyi:
    """The Rényi divergence of the logistic pair."""

    eta: Fraction

    def __call__(self, alpha: Fraction) -> Fraction:
        """Bound the divergence of order alpha."""

        def divergence(eta: Ball, a: Ball) -> Ball:
            ratio = ((1 - 2 * a) * eta).expm1() / ((2 * a - 1) * (-eta).expm1())
            return eta + ratio.log() / (a - 1)

        return min(self.eta, enclose(divergence, self.eta, alpha).high) if self.eta else Fraction(0)


@dataclass(frozen=True)
class LogisticProfile:
    """The privacy profile of one logistic pair: the numbers of bounded range.

    It is a class of its own because two of them do not compose as two of bounded range do.
    """

    eta: Fraction

    def __call__(self, epsilon: Fraction) -> Fraction:
        """Bound delta."""
        return BoundedRangeProfile(self.eta)(epsilon)

    def epsilon(self, delta: Fraction) -> Fraction:
        """Bound epsilon: the inverse."""
        return BoundedRangeProfile(self.eta).epsilon(delta)


def logistic_rho(eta: Fraction) -> Fraction:
    """Bound rho of the logistic pair: eta * coth(eta / 2) - 2, at most eta**2 / 6."""

    def slope(e: Ball) -> Ball:
        return e * (1 + (-e).exp()) / -(-e).expm1() - 2

    return min(eta**2 / 6, enclose(slope, eta).high) if eta else Fraction(0)
