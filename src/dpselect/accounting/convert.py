"""Closed forms that turn one guarantee into another. Every figure is an upper bound, rounded outward.

A mechanism has bounded range eta if, for any two neighbours, all its privacy losses lie in one window of
length eta. It is dominated by Laplace noise if no test tells neighbours apart better than it tells apart the
Laplace mechanism at a distance of ``shift``.

Proof: convert.proof.md
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from dpselect.exact.enclosures import Ball, enclose, expm1
from dpselect.privacy.amounts import Amount

ORDERS = tuple(1 + Fraction(round(1024 * 2 ** (step / 16)), 1024) for step in range(-80, 177))
"""The orders that a Rényi curve is converted at: public, fixed, from 1 + 1/32 to 1 + 2048."""


@dataclass(frozen=True)
class BoundedRangeRenyi:
    """The Rényi divergence of bounded range eta, attained by the exponential mechanism on two candidates."""

    eta: Fraction

    def __call__(self, alpha: Fraction) -> Fraction:
        """Bound the divergence of order alpha."""

        def divergence(eta: Ball, a: Ball) -> Ball:
            above, below = 1 - (-a * eta).exp(), (-eta).exp() - (-a * eta).exp()
            shift = ((a - 1) * above / (a * below)).log()
            return shift + (above / (a * (1 - (-eta).exp()))).log() / (a - 1)

        return min(self.eta, enclose(divergence, self.eta, alpha).high) if self.eta else Fraction(0)


@dataclass(frozen=True)
class BoundedRangeProfile:
    """The privacy profile of bounded range eta, attained by the exponential mechanism on two candidates."""

    eta: Fraction

    def __call__(self, epsilon: Fraction) -> Fraction:
        """Bound delta."""
        if epsilon >= self.eta:
            return Fraction(0)
        return enclose(
            lambda eta, e: (1 - ((e - eta) / 2).exp()) ** 2 / (1 - (-eta).exp()), self.eta, epsilon
        ).high

    def epsilon(self, delta: Fraction) -> Fraction:
        """Bound epsilon: the inverse."""
        if delta == 0 or self.eta == 0:
            return self.eta
        found = enclose(lambda eta, d: eta + 2 * (1 - (d * (1 - (-eta).exp())).sqrt()).log(), self.eta, delta)
        return max(Fraction(0), found.high)


@dataclass(frozen=True)
class LaplaceRenyi:
    """The Rényi divergence of the Laplace mechanism (Mironov 2017, Proposition 6)."""

    shift: Fraction

    def __call__(self, alpha: Fraction) -> Fraction:
        """Bound the divergence of order alpha."""

        def divergence(e: Ball, a: Ball) -> Ball:
            return e + ((a + (a - 1) * ((1 - 2 * a) * e).exp()) / (2 * a - 1)).log() / (a - 1)

        return min(self.shift, enclose(divergence, self.shift, alpha).high) if self.shift else Fraction(0)


@dataclass(frozen=True)
class LaplaceProfile:
    """The privacy profile of the Laplace mechanism."""

    shift: Fraction

    def __call__(self, epsilon: Fraction) -> Fraction:
        """Bound delta."""
        if epsilon >= self.shift:
            return Fraction(0)
        return -expm1((epsilon - self.shift) / 2).low

    def epsilon(self, delta: Fraction) -> Fraction:
        """Bound epsilon: the inverse."""
        if delta == 1:
            return Fraction(0)
        if delta == 0:
            return self.shift
        return max(Fraction(0), enclose(lambda e, d: e + 2 * (1 - d).log(), self.shift, delta).high)


def laplace_rho(shift: Fraction) -> Fraction:
    """Bound rho of the Laplace mechanism: shift - 1 + exp(-shift)."""
    return enclose(lambda e: e + (-e).expm1(), shift).high if shift else Fraction(0)


@dataclass(frozen=True)
class RenyiProfile:
    """The profile of ``runs`` runs with a Rényi curve, by Canonne, Kamath & Steinke 2020, Proposition 12.

    At the pure price of all runs together delta is zero, so epsilon never exceeds that.
    """

    curve: Callable[[Fraction], Amount]
    runs: int
    pure: Fraction

    def __call__(self, epsilon: Fraction) -> Fraction:
        """Bound delta: the least over the orders."""
        if epsilon >= self.pure:
            return Fraction(0)
        return min(Fraction(1), *(self._delta(alpha, epsilon) for alpha in ORDERS))

    def _delta(self, alpha: Fraction, epsilon: Fraction) -> Fraction:
        excess = self.runs * Fraction(self.curve(alpha)) - epsilon
        if (alpha - 1) * excess > 1000:
            return Fraction(1)
        return enclose(
            lambda a, x: ((a - 1) * (x + (1 - 1 / a).log()) - a.log()).exp(), alpha, excess, precision=32
        ).high

    def epsilon(self, delta: Fraction) -> Fraction:
        """Bound epsilon: the least over the orders."""
        if delta == 0:
            return self.pure
        return max(Fraction(0), min(self.pure, *(self._epsilon(alpha, delta) for alpha in ORDERS)))

    def _epsilon(self, alpha: Fraction, delta: Fraction) -> Fraction:
        spread = enclose(lambda a, d: (1 - 1 / a).log() - (d * a).log() / (a - 1), alpha, delta)
        return self.runs * Fraction(self.curve(alpha)) + spread.high
