"""Pricing a digital good: which price earns most, if everybody buys who is willing to pay it.

Reference: Smith, lecture on selection problems, example 1.2.
Proof:     pricing.proof.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpselect.engines.protocol import Counts
from dpselect.errors import InvalidParameter, shown
from dpselect.problems.candidates import Numbers, numbers
from dpselect.problems.problem import Between, BoundedCounts, ByAmount, Problem, WholeScores, in_64_bits
from dpselect.problems.ranks import distribution
from dpselect.problems.votes import column_name

CENT = Fraction(1, 100)
"""The unit of revenue, in the currency of the prices, where all of them are whole cents."""


@dataclass(frozen=True)
class Revenue:
    """A price times the people whose value is not below it, in multiples of the unit."""

    prices: Numbers
    unit: Fraction

    def __call__(self, counts: Counts) -> Between:
        """Multiply in 64 bits if the highest price is small enough for that, otherwise without bounds."""
        (values,) = counts.keys
        willing = distribution(self.prices, values, counts.sizes)
        narrow = in_64_bits(self.prices.ends[1] / self.unit, willing.people)

        def between(start: int, stop: int) -> WholeScores:
            buyers = willing.people - willing.below(start, stop)
            points = [int(price / self.unit) for price in self.prices.exact(start, stop)]
            if narrow:
                return buyers * np.array(points, dtype=np.int64)
            return [price * people for price, people in zip(points, buyers.tolist(), strict=True)]

        return between


def pricing(*, value: str, prices: object = None) -> Problem:
    """Ask which price earns most: the price times the people who would pay it.

    Prices are exact: 0.99 is 99 cents. The unit is one cent, or finer if a price is.

    >>> song = pricing(value="offer", prices=[0.99, 1.99])
    >>> song.unit, song.d_range("add_remove"), song.d_range("change_one")
    (Fraction(1, 100), Fraction(1, 1), Fraction(199, 100))
    """
    column_name(value, "value")
    offered = numbers(prices, "prices")
    lowest, highest = offered.ends
    if not lowest >= 0:
        least = offered.labels[offered.values.index(lowest)]
        raise InvalidParameter(f"prices must be zero or positive; got {shown(least)}.")
    bottom = math.lcm(*(price.denominator for price in offered.values))
    unit = CENT if CENT.denominator % bottom == 0 else Fraction(1, bottom)
    others = [price for price in offered.values if price != highest]
    ranges = (max([highest - lowest, *others]), highest)
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
        totals=(sum(offered.values, Fraction(0)),) * 2,
    )
