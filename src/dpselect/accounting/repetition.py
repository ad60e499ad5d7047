"""What it costs to run a private program a random number of times and keep one of the results.

Keeping a result y changes its probability from Q(y) to Q(y) times a weight, which depends on how probable
better results are. A neighbour changes Q(y) by one run's price, and the weight by what is bounded here.

Reference: Liu & Talwar 2019; Papernot & Steinke 2022, arXiv 2110.03620.
Proof:     repetition.proof.md
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol

from dpselect.exact.enclosures import Ball, enclose
from dpselect.privacy.amounts import Amount
from dpselect.privacy.curves import RenyiCurve, TabulatedBound
from dpselect.privacy.profiles import PrivacyProfile

EXPONENTS = range(-16, 9)
"""The search for one run's epsilon begins with 2 to these powers."""

MOST_USEFUL = 1000
"""A divergence of one run above 1000 is not used: the delta that it bounds is 1 or nearly so."""

NARROWINGS = 14
"""The search for one run's epsilon shortens its interval by a third, 14 times."""


def log_odds_shift(gamma: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Bound ln of (gamma + (1 - gamma) s') / (gamma + (1 - gamma) s) from above.

    s and s' are the probabilities of any event on neighbours, under an (epsilon, delta)-private program.
    """
    if delta == 0 and 0 in (epsilon, gamma):
        return epsilon

    def middle(g: Ball, e: Ball, d: Ball) -> Ball:
        back = (-e).exp()
        return ((1 + (g + (1 - g) * d) * back) / (g + (1 - (1 - g) * d) * back)).log()

    found = enclose(middle, gamma, epsilon, delta).high
    if delta == 0:
        return min(epsilon, found)
    return max(found, enclose(lambda g, d: (1 + (1 - g) * d / g).log(), gamma, delta).high)


def probability_shift(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Bound how far the probability of any event moves, under an (epsilon, delta)-private program."""
    if epsilon == 0:
        return delta

    def moved(e: Ball, d: Ball) -> Ball:
        return (e / 2).tanh() + 2 * d / (1 + e.exp())

    return min(Fraction(1), enclose(moved, epsilon, delta).high)


class Repetition(Protocol):
    """How often a program is run, as far as its price goes."""

    @property
    def mean(self) -> Fraction:
        """A bound on the expected number of runs."""

    def repetition_cost(self, epsilon: Fraction, delta: Fraction) -> Fraction:
        """Bound what repetition adds to epsilon, if one run is (epsilon, delta)-private."""


@dataclass(frozen=True)
class RepeatedProfile:
    """The profile of repeated runs: delta grows by the mean, epsilon by the least repetition cost."""

    profile: PrivacyProfile
    repetition: Repetition

    def __call__(self, epsilon: Fraction) -> Fraction:
        """Bound delta."""
        left = epsilon - self.repetition_cost
        if left < 0:
            return Fraction(1)
        return min(Fraction(1), self.repetition.mean * self.profile.delta(left))

    def epsilon(self, delta: Fraction) -> Amount:
        """Bound epsilon: the inverse."""
        if delta == 1:
            return Fraction(0)
        one = self.profile.epsilon(min(Fraction(1), delta / self.repetition.mean))
        return self.repetition_cost + one if one < math.inf else math.inf

    @cached_property
    def repetition_cost(self) -> Fraction:
        """Search for the least repetition cost: every epsilon of one run gives a true bound on it."""
        known, best = min((self._repetition_cost(epsilon), epsilon) for epsilon in self._first_guesses())
        low, high = best / 2, 2 * best
        for _ in range(NARROWINGS if best else 0):
            left, right = low + (high - low) / 3, high - (high - low) / 3
            first, second = self._repetition_cost(left), self._repetition_cost(right)
            known = min(known, first, second)
            low, high = (low, right) if first < second else (left, high)
        return known

    def _first_guesses(self) -> Iterator[Fraction]:
        yield Fraction(0)
        yield from (Fraction(2) ** exponent for exponent in EXPONENTS)
        count = sum(n for _, n in self.profile.runs)
        for run, _ in self.profile.runs:
            if isinstance(run, TabulatedBound):
                yield from (count * point for point, _ in run.points)
            elif hasattr(run, "epsilon") and (without_delta := run.epsilon(Fraction(0))) < math.inf:
                yield count * without_delta

    def _repetition_cost(self, epsilon: Fraction) -> Fraction:
        return self.repetition.repetition_cost(epsilon, self.profile.delta(epsilon))


ONE_RUN_ORDERS = tuple(1 + Fraction(round(1024 * 2 ** (step / 16)), 1024) for step in range(-80, 177))
"""The orders at which one run's curve is evaluated: public, fixed, from 1 + 1/32 to 1 + 2048."""


@dataclass(frozen=True)
class RepeatedRenyi(ABC):
    """The Rényi curve of a random number of runs, from that of one run."""

    curve: RenyiCurve
    mean: Fraction

    def __call__(self, alpha: Fraction) -> Amount:
        """Bound the divergence of order alpha, by that of the best order from there on."""
        later = (bound for order, bound in self._known if order >= alpha)
        return min(self._bound(alpha, self.curve(alpha)), min(later, default=math.inf))

    @cached_property
    def _known(self) -> tuple[tuple[Fraction, Amount], ...]:
        return tuple((order, self._bound(order, one)) for order, one in self._of_one_run)

    @cached_property
    def _of_one_run(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """List what is known of one run, at the orders where something is."""
        bounds = ((order, self.curve(order)) for order in ONE_RUN_ORDERS)
        return tuple((order, Fraction(bound)) for order, bound in bounds if bound < math.inf)

    @abstractmethod
    def _bound(self, alpha: Fraction, one: Amount) -> Amount:
        """Bound the divergence of order alpha, if that of one run is this."""


@dataclass(frozen=True)
class NegativeBinomialRenyi(RepeatedRenyi):
    """The Rényi curve of a truncated negative binomial number of runs (Papernot & Steinke, Theorem 2)."""

    shape: Fraction
    gamma: Fraction

    def _bound(self, alpha: Fraction, one: Amount) -> Amount:
        if one in (0, math.inf):
            return one
        extra = enclose(lambda mean, a: mean.log() / (a - 1), self.mean, alpha).high
        return one + self._weight + extra

    @cached_property
    def _weight(self) -> Fraction:
        """Bound ln of the ratio of the weights: the least over the orders, of which 1 costs ln(1/gamma)."""
        log = enclose(lambda gamma: -gamma.log(), self.gamma).high
        bounds = [(1 - 1 / order) * one + log / order for order, one in self._of_one_run]
        return (1 + self.shape) * min([log, *bounds])


class PoissonRenyi(RepeatedRenyi):
    """The Rényi curve of a Poisson number of runs; never above Papernot & Steinke, Theorem 6."""

    def _bound(self, alpha: Fraction, one: Amount) -> Amount:
        if one in (0, math.inf):
            return one

        def divergence(a: Ball, e: Ball, d: Ball, mean: Ball) -> Ball:
            return (mean * (mean * (a - 1) * d).exp() * ((a - 1) * e).expm1()).log1p() / (a - 1)

        return enclose(divergence, alpha, Fraction(one), self._delta(alpha), self.mean).high

    def _delta(self, alpha: Fraction) -> Fraction:
        """Bound delta of one run at epsilon = ln(alpha / (alpha - 1)). Floats choose which order to trust."""
        epsilon = math.log(alpha / (alpha - 1))
        height, known = min(
            ((start - slope * epsilon, known) for start, slope, known in self._lines),
            default=(0.0, None),
        )
        if known is None or height >= 0:
            return Fraction(1)

        def delta(order: Ball, bound: Ball, a: Ball) -> Ball:
            excess = bound - (a / (a - 1)).log() + (1 - 1 / order).log()
            return ((order - 1) * excess - order.log()).exp()

        return min(Fraction(1), enclose(delta, *known, alpha).high)

    @cached_property
    def _lines(self) -> tuple[tuple[float, float, tuple[Fraction, Fraction]], ...]:
        """Say, for each order, roughly how ln(delta) falls with epsilon: where it starts, and how fast."""
        return tuple(
            (
                float((order - 1) * bound) + (order - 1) * math.log(1 - 1 / order) - math.log(order),
                slope,
                known,
            )
            for known in self._of_one_run
            for order, bound in [known]
            for slope in [float(order - 1)]
            if bound < MOST_USEFUL
        )
