"""From Rényi divergences to (epsilon, delta): every order gives a true bound, and we search for the least.

The search may miss the least bound; the figure is a true bound all the same, rounded up.

Reference: Canonne, Kamath & Steinke 2020, Proposition 12.
Proof:     renyi_orders.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from dpselect.accounting.closed_forms import BoundedRangeRenyi, LaplaceRenyi, RandomizedResponseRenyi
from dpselect.exact.enclosures import exp, log
from dpselect.privacy.amounts import Amount, times, total
from dpselect.privacy.curves import RenyiCurve, TabulatedBound

PLACES_PER_DOUBLING = 512
"""Orders are tried at 1 + 2**(place / PLACES_PER_DOUBLING), for whole places."""

PLACES = range(-5 * PLACES_PER_DOUBLING, 11 * PLACES_PER_DOUBLING + 1, PLACES_PER_DOUBLING // 2)
"""Where the search begins: from 1 + 1/32 to 1 + 2048, two places to a doubling."""

FARTHEST_PLACE = 64 * PLACES_PER_DOUBLING
"""No order beyond 1 + 2**64, or below 1 + 2**-64, is tried."""


@lru_cache(maxsize=4096)
def order(place: int) -> Fraction:
    """Give the order at a place: 1 + 2**(place / PLACES_PER_DOUBLING), with twenty bits after the one.

    >>> order(0), order(PLACES_PER_DOUBLING), order(-PLACES_PER_DOUBLING)
    (Fraction(2, 1), Fraction(3, 1), Fraction(3, 2))
    """
    doublings, rest = divmod(place, PLACES_PER_DOUBLING)
    return 1 + Fraction(round(2 ** (20 + rest / PLACES_PER_DOUBLING))) * Fraction(2) ** (doublings - 20)


ORDERS = tuple(order(place) for place in PLACES)
"""The orders that are tried first: public, fixed, 1 + 2**(j/2) for j from -10 to 22."""


def least_over_orders(bound: Callable[[Fraction], Amount], also: Iterable[Fraction] = ()) -> Amount:
    """Search for the least bound: first everywhere, then beyond the ends, then ever closer to the best.

    >>> float(least_over_orders(lambda alpha: abs(alpha - 9)))
    0.0
    """
    tried = {place: bound(order(place)) for place in PLACES}

    def best() -> int:
        return min(tried, key=lambda place: tried[place])

    for end, step in ((min(PLACES), -PLACES.step), (max(PLACES), PLACES.step)):
        place = end
        while best() == place and abs(place) < FARTHEST_PLACE:
            place += step
            tried[place] = bound(order(place))
    for near, step in ((PLACES.step, 16), (16, 1)):
        middle = best()
        for place in range(middle - near, middle + near + 1, step):
            if place not in tried:
                tried[place] = bound(order(place))
    return min([tried[best()], *map(bound, also)])


@lru_cache(maxsize=4096)
def _logs(alpha: Fraction) -> tuple[Fraction, Fraction]:
    """Give an upper bound on ln(1 - 1/alpha) and a lower one on ln(alpha)."""
    return log(1 - 1 / alpha).high, log(alpha).low


@dataclass(frozen=True)
class ConcentratedRenyi:
    """The Rényi divergence of zero-concentrated privacy: rho times the order."""

    rho: Fraction

    def __call__(self, alpha: Fraction) -> Fraction:
        """Bound the divergence of order alpha."""
        return self.rho * alpha


@dataclass(frozen=True)
class RenyiProfile:
    """The profile of ``runs`` runs with a Rényi curve.

    At the pure price of all runs together delta is zero, so epsilon never exceeds that.
    """

    curve: Callable[[Fraction], Amount]
    runs: int
    pure: Amount

    def __call__(self, epsilon: Fraction) -> Fraction:
        """Bound delta: the least over the orders."""
        if epsilon >= self.pure:
            return Fraction(0)
        found = least_over_orders(lambda alpha: self._log_delta(alpha, epsilon), self._known_orders())
        return exp(found).high if found < 0 else Fraction(1)

    def _log_delta(self, alpha: Fraction, epsilon: Fraction) -> Amount:
        divergence = times(self.runs, self.curve(alpha))
        if divergence == math.inf:
            return math.inf
        above, below = _logs(alpha)
        return (alpha - 1) * (Fraction(divergence) - epsilon + above) - below

    def epsilon(self, delta: Fraction) -> Amount:
        """Bound epsilon: the least over the orders."""
        if delta == 0:
            return self.pure
        log_delta = log(delta).low
        found = least_over_orders(lambda alpha: self._epsilon(alpha, log_delta), self._known_orders())
        return max(Fraction(0), min(self.pure, found))

    def _epsilon(self, alpha: Fraction, log_delta: Fraction) -> Amount:
        divergence = times(self.runs, self.curve(alpha))
        if divergence == math.inf:
            return math.inf
        above, below = _logs(alpha)
        return divergence + above - (log_delta + below) / (alpha - 1)

    def _known_orders(self) -> list[Fraction]:
        """List the orders of tables, which state no bound at other orders."""
        runs = self.curve.runs if isinstance(self.curve, RenyiCurve) else frozenset()
        return [known for run, _ in runs if isinstance(run, TabulatedBound) for known, _ in run.points]


def profile_of(curve: RenyiCurve) -> RenyiProfile:
    """Turn a curve into a profile; where each of its runs has a pure price, delta is zero from there on."""
    return RenyiProfile(curve, 1, total(times(n, _largest(run)) for run, n in curve.runs))


def _largest(run: object) -> Amount:
    """Give the largest divergence of a run, at any order, where it is known."""
    match run:
        case RandomizedResponseRenyi(epsilon=most) | BoundedRangeRenyi(eta=most) | LaplaceRenyi(shift=most):
            return most
        case ConcentratedRenyi(rho=0):
            return Fraction(0)
        case _:
            return math.inf
