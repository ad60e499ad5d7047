"""Closed forms: the exact curves of the worst neighbours that a kind of guarantee allows, rounded outward.

A mechanism has bounded range eta if, for any two neighbours, all its privacy losses lie in one window of
length eta. It is dominated by Laplace noise if no test tells neighbours apart better than it tells apart the
Laplace mechanism at a distance of ``shift``. Among all mechanisms of pure privacy, randomized response is the
worst.

Proof: closed_forms.proof.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dpselect.exact.enclosures import Ball, enclose, expm1
from dpselect.privacy.amounts import Amount

FINE = 96
"""The precision of a delta in bits: finer than that of an epsilon, so that delta(epsilon(d)) <= d."""


@dataclass(frozen=True)
class RandomizedResponseRenyi:
    """The Rényi divergence of pure privacy, attained by randomized response."""

    epsilon: Fraction

    def __call__(self, alpha: Fraction) -> Fraction:
        """Bound the divergence of order alpha."""

        def divergence(e: Ball, a: Ball) -> Ball:
            return e + ((1 + ((1 - 2 * a) * e).exp()) / (1 + (-e).exp())).log() / (a - 1)

        return (
            min(self.epsilon, enclose(divergence, self.epsilon, alpha).high) if self.epsilon else Fraction(0)
        )


@dataclass(frozen=True)
class RandomizedResponseProfile:
    """The privacy profile of (epsilon, delta): randomized response that tells the truth with a probability.

    Without truth it is that of pure privacy.
    """

    pure: Fraction
    truth: Fraction = Fraction(0)

    def __call__(self, epsilon: Fraction) -> Fraction:
        """Bound delta."""
        if epsilon >= self.pure or self.truth == 1:
            return self.truth
        return enclose(
            lambda p, e, t: (1 - (e - p).exp() + t * ((-p).exp() + (e - p).exp())) / (1 + (-p).exp()),
            self.pure,
            epsilon,
            self.truth,
            precision=FINE,
        ).high

    def epsilon(self, delta: Fraction) -> Amount:
        """Bound epsilon: the inverse."""
        if delta < self.truth:
            return math.inf
        if delta == 1 or delta >= self(Fraction(0)):
            return Fraction(0)
        if delta == self.truth:
            return self.pure
        found = enclose(
            lambda p, odds: p + (odds * (1 + (-p).exp()) - (-p).exp()).log(),
            self.pure,
            (1 - delta) / (1 - self.truth),
        )
        return max(Fraction(0), min(self.pure, found.high))


def randomized_response_rho(epsilon: Fraction) -> Fraction:
    """Bound rho of pure privacy: epsilon * tanh(epsilon / 2)."""
    return enclose(lambda e: e * (e / 2).tanh(), epsilon).high if epsilon else Fraction(0)


@dataclass(frozen=True)
class BoundedRangeRenyi:
    """The Rényi divergence of bounded range eta, attained by the exponential mechanism on two candidates."""

    eta: Fraction

    def __call__(self, alpha: Fraction) -> Fraction:
        """Bound the divergence of order alpha."""

        def divergence(eta: Ball, a: Ball) -> Ball:
            above, below = 1 - (-a * eta).exp(), 1 - ((1 - a) * eta).exp()
            shift = eta + ((a - 1) * above / (a * below)).log()
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
            lambda eta, e: (1 - ((e - eta) / 2).exp()) ** 2 / (1 - (-eta).exp()),
            self.eta,
            epsilon,
            precision=FINE,
        ).high

    def epsilon(self, delta: Fraction) -> Fraction:
        """Bound epsilon: the inverse."""
        if delta == 1:
            return Fraction(0)
        if delta == 0 or self.eta == 0:
            return self.eta
        found = enclose(lambda eta, d: eta + 2 * (1 - (d * (1 - (-eta).exp())).sqrt()).log(), self.eta, delta)
        return max(Fraction(0), found.high)


def bounded_range_rho(eta: Fraction) -> Fraction:
    """Bound rho of bounded range: r - 1 - ln(r) with r = eta / (exp(eta) - 1), at most eta**2 / 8."""

    def divergence(e: Ball) -> Ball:
        below = -(-e).expm1()
        return e * (-e).exp() / below - 1 + e + (below / e).log()

    return min(eta**2 / 8, enclose(divergence, eta).high) if eta else Fraction(0)


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
        return -expm1((epsilon - self.shift) / 2, FINE).low

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
