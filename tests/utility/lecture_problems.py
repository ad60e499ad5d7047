"""The lecture's two problems, as far as accuracy asks: outputs, unit, sensitivities.

UNTIL THE PROBLEMS ARE MERGED these are stand-ins, with the figures of the table of sensitivities. Then the
bodies of the two functions become one line each: ``approval_voting(candidate="name", candidates=...)`` and
``pricing(value="wtp", prices=...)``, imported from dpselect.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpselect.privacy.neighbours import Neighbours


@dataclass(frozen=True)
class StandIn:
    """What a selection problem tells about itself."""

    outputs: tuple[object, ...]
    unit: Fraction
    add_remove: Fraction
    change_one: Fraction

    def d_range(self, neighbours: Neighbours) -> Fraction:
        return self.add_remove if neighbours == "add_remove" else self.change_one


@dataclass(frozen=True)
class WithSingleScores(StandIn):
    """A problem that also says how far a single score moves."""

    single: Fraction

    def d_linf(self, neighbours: Neighbours) -> Fraction:
        del neighbours
        return self.single


def approval_voting(n: int) -> StandIn:
    """Give n names, one vote per person and name."""
    return StandIn(tuple(range(n)), Fraction(1), Fraction(1), Fraction(2))


def pricing() -> WithSingleScores:
    """Give the prices $0.01 to $1.99; the score is a price times people, monotone under change_one too."""
    prices = tuple(Fraction(cents, 100) for cents in range(1, 200))
    top = prices[-1]
    apart = max(prices[-2], top - prices[0])
    return WithSingleScores(prices, Fraction(1, 100), apart, top, top)
