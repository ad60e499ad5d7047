"""Pricing a digital good: which price earns most, if all who are willing to pay it buy.

Reference: Adam Smith's lecture on selection problems (docs/sources.md), example 1.2.
Proof:     pricing.proof.md
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpselect.engines.protocol import Counts
from dpselect.errors import InvalidParameter, shown
from dpselect.exact.numbers import Number
from dpselect.problems.bounded_counts import BoundedCounts, ByAmount, column_name
from dpselect.problems.candidates import Grid, Numbers, numbers_or_grid
from dpselect.problems.grid_ranks import points_not_above
from dpselect.problems.problem import Problem
from dpselect.problems.ranks import denominator, distribution
from dpselect.problems.scoring import Between, WholeScores, in_64_bits
from dpselect.selection.runs import Runs

CENT = Fraction(1, 100)
"""The unit of revenue, in the currency of the prices, where all of them are whole cents."""


@dataclass(frozen=True)
class Revenue:
    """A price times the people whose value is not below it, in multiples of the unit."""

    prices: Numbers | Grid
    unit: Fraction

    def __call__(self, counts: Counts) -> Between:
        """Multiply in 64 bits if the highest price is small enough for that, otherwise without bounds."""
        (values,) = counts.keys
        willing = distribution(self.prices, values, counts.sizes)
        narrow = in_64_bits(self.prices.ends[1] / self.unit, willing.people)

        def between(start: int, stop: int) -> WholeScores:
            buyers = willing.people - willing.below(start, stop)
            points = self._points(start, stop)
            if narrow:
                return buyers * np.array(points, dtype=np.int64)
            return [price * people for price, people in zip(points, buyers.tolist(), strict=True)]

        return between

    def _points(self, start: int, stop: int) -> list[int]:
        """Give some prices in units, of which each is a multiple."""
        if isinstance(self.prices, Grid):
            return [int(price / self.unit) for price in self.prices.exact(start, stop)]
        units = 1 / (self.unit * self.prices.denominator)
        return [top * units.numerator for top in self.prices.numerators[start:stop]]

    def runs(self, counts: Counts) -> tuple[Runs, ...]:
        """Score the stretches of a grid between the values of people: from the highest price down, evenly."""
        (values,) = counts.keys
        if not isinstance(self.prices, Grid):
            raise InvalidParameter("listed prices have no runs.")
        grid = self.prices
        kept, places = points_not_above(grid, values)
        order = np.argsort(places, kind="stable")
        ends, sizes = places[order], counts.sizes[kept][order]
        people = int(sizes.sum())
        buyers = people - np.concatenate([[0], np.cumsum(sizes[:-1], dtype=np.int64)])[: len(ends)]
        if not in_64_bits(grid.ends[1] / self.unit, people):
            ends, buyers = ends.astype(object), buyers.astype(object)
        starts = np.concatenate([np.zeros(1, dtype=ends.dtype), ends[:-1]])[: len(ends)]
        lowest, step = int(grid.first / self.unit), int(grid.step / self.unit)
        last = int(ends[-1]) if len(ends) else 0
        rest = np.array([grid.length - last], dtype=object)
        return (
            Runs(
                starts=ends - 1,
                counts=ends - starts,
                scores=buyers * (lowest + step * (ends - 1)),
                falls=buyers,
                fall=Fraction(step),
                step=-1,
            ),
            Runs(starts=np.array([last], dtype=object), counts=rest, scores=np.array([0], dtype=object)),
        )


def pricing(
    *,
    value: str,
    prices: object = None,
    between: tuple[Number, Number] | None = None,
    step: Number | None = None,
) -> Problem:
    """Ask which price earns most: the price times the people who would pay it.

    Prices are exact: 0.99 is 99 cents. The unit is one cent, or finer if a price is. They are listed, or are
    the numbers lo, lo + step, ... between two bounds: however many.

    >>> song = pricing(value="offer", prices=[0.99, 1.99])
    >>> song.unit, song.d_range("add_remove"), song.d_range("change_one")
    (Fraction(1, 100), Fraction(1, 1), Fraction(199, 100))
    """
    column_name(value, "value")
    offered = numbers_or_grid("pricing", prices, between, step, "prices")
    lowest, highest = offered.ends
    if not lowest >= 0:
        least = lowest if isinstance(offered, Grid) else offered.labels[offered.values.index(lowest)]
        raise InvalidParameter(f"prices must be zero or positive; got {shown(least)}.")
    bottom = denominator(offered)
    unit = CENT if CENT.denominator % bottom == 0 else Fraction(1, bottom)
    second = _second(offered)
    ranges = (max(highest - lowest, second), highest)
    question = BoundedCounts((ByAmount(value),), distinct=True, most=1)
    facts = (("value", repr(value)),)
    return Problem(
        "pricing",
        offered,
        unit,
        ranges,
        question,
        Revenue(offered, unit),
        facts,
        ranges[1],
        measured_in="revenue",
        totals=(_sum(offered),) * 2,
        beside_a_constant=(ranges[1], ranges[1]),
    )


def _second(prices: Numbers | Grid) -> Fraction:
    """Give the highest price but one; zero if there is one price."""
    if isinstance(prices, Grid):
        return prices.ends[1] - prices.step if prices.length > 1 else Fraction(0)
    highest = prices.ends[1]
    return max((price for price in prices.values if price != highest), default=Fraction(0))


def _sum(prices: Numbers | Grid) -> Fraction:
    if isinstance(prices, Grid):
        return prices.length * sum(prices.ends, Fraction(0)) / 2
    return sum(prices.values, Fraction(0))
