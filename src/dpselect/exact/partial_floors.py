"""Whole numbers of partially sampled ones: how many steps of a grid lie between two of them, exactly.

Bits are drawn until the answer is certain; no float is near.

Proof: partial_floors.proof.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Protocol

from dpselect.exact.partial_numbers import Bound


class Refinable(Protocol):
    """A number between two bounds, which come closer with every word that is drawn."""

    def interval(self) -> tuple[Bound, Bound]:
        """Give both bounds."""

    def refine(self) -> None:
        """Draw one more word."""


def floor_of_difference(greater: Refinable, smaller: Refinable, grid: Fraction) -> int:
    """Give floor((greater - smaller) / grid), drawing bits of whichever number is less certain.

    Ends with probability one: the difference is a multiple of the grid with probability zero, or is known.
    """
    while True:
        low, high = greater.interval()
        lower, higher = smaller.interval()
        if math.inf not in (-low, high, -lower, higher):
            least = math.floor(Fraction(low - higher) / grid)
            if least >= math.ceil(Fraction(high - lower) / grid) - 1:
                return least
        (greater if _width(low, high) >= _width(lower, higher) else smaller).refine()


def _width(low: Bound, high: Bound) -> Bound:
    return math.inf if math.inf in (-low, high) else high - low
