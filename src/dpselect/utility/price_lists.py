"""Accuracy of pricing where the number of people is bounded: it does not grow with the length of the list.

A price a little below the best one earns almost as much. So a finer list of prices has more good prices too,
not only more bad ones, and the loss stays bounded.

Reference: the utility theorem of McSherry & Talwar 2007, for any base measure.
Proof:     price_lists.proof.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Literal, TypeAlias

from dpselect.exact.bisection import bisect, least_whole
from dpselect.exact.enclosures import Ball, Enclosure, compare, enclose
from dpselect.problems.candidates import Grid, Numbers
from dpselect.utility.worst_case import BITS, distance

Losing: TypeAlias = Literal["more than", "at least"]
"""Which draws fail at a loss: those that lose more, or those that lose at least as much."""

STEPS = 32
"""Halvings: a figure is at most a relative 2**-32 above the least one that the bound allows."""


@dataclass(frozen=True)
class EvenPrices:
    """The prices first, first + step, ...; as many as ``count``."""

    first: Fraction
    step: Fraction
    count: int

    def worst(self, loss: Fraction, per_price: Fraction, people: int, losing: Losing) -> Ball | None:
        """Give the largest ratio of bad prices to the weight of good ones; None if no draw can fail."""
        best = _places(loss / people - self.first, self.step, losing)
        if best >= self.count:
            return None
        good = min(_places(loss / people, self.step, losing), best + 1)
        if good == self.count:
            return Ball(0)
        gap = _ball(self.step * per_price)
        return (self.count - good) * (-gap).expm1() / (-good * gap).expm1()


def _ball(number: Fraction) -> Ball:
    return Ball(number.numerator) / number.denominator


def _places(distance: Fraction, step: Fraction, losing: Losing) -> int:
    """Count the places 0, 1, ... that are not further than a distance; or that are nearer."""
    places = distance / step
    return max(0, math.floor(places) + 1 if losing == "more than" else math.ceil(places))


@dataclass(frozen=True)
class UnevenPrices:
    """Prices in ascending order."""

    values: tuple[Fraction, ...]

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.values)

    def worst(self, loss: Fraction, per_price: Fraction, people: int, losing: Losing) -> Ball | None:
        """Give the largest ratio of bad prices to the weight of good ones; None if no draw can fail."""
        most: Ball | None = None
        weight, first = Ball(0), 0
        for place, price in enumerate(self.values):
            if place:
                weight *= (-_ball((price - self.values[place - 1]) * per_price)).exp()
            weight += 1
            while not _keeps((price - self.values[first]) * people, loss, losing):
                weight -= (-_ball((price - self.values[first]) * per_price)).exp()
                first += 1
            if not _keeps(price * people, loss, losing):
                ratio = (len(self.values) - (place - first + 1)) / weight
                most = ratio if most is None else most.max(ratio)
        return most


def _keeps(lost: Fraction, loss: Fraction, losing: Losing) -> bool:
    """Say whether losing this is no failure."""
    return lost <= loss if losing == "more than" else lost < loss


PriceList: TypeAlias = EvenPrices | UnevenPrices


def price_list(offered: Numbers | Grid) -> PriceList:
    """Sort prices, and see whether they are evenly spaced."""
    if isinstance(offered, Grid):
        return EvenPrices(offered.first, offered.step, offered.length)
    prices = sorted(offered.values)
    steps = {high - low for low, high in pairwise(prices)}
    if len(steps) <= 1:
        return EvenPrices(prices[0], steps.pop() if steps else Fraction(1), len(prices))
    return UnevenPrices(tuple(prices))


def revenue_failure(  # noqa: PLR0913 - each is part of the claim
    prices: PriceList,
    people: int,
    scale: Fraction,
    loss: Fraction,
    losing: Losing = "more than",
    *,
    precision: int = BITS,
) -> Enclosure:
    """Enclose a bound on the probability that the price drawn loses more than ``loss``, on every data set.

    Precondition
        0 < loss, 0 < scale; there are at most ``people`` people   claimed by the caller

    >>> even = EvenPrices(Fraction(1, 100), Fraction(1, 100), 199)
    >>> round(float(revenue_failure(even, 50, Fraction(398, 100), Fraction(20)).high), 4)
    0.1097
    """

    def failure(t: Ball) -> Ball:
        worst = prices.worst(loss, people / scale, people, losing)
        bad = Ball(0) if worst is None else worst * (-t).exp()
        return bad / (1 + bad)

    return enclose(failure, loss / scale, precision=precision)


@lru_cache(maxsize=64)
def revenue_within(prices: PriceList, people: int, scale: Fraction, beta: Fraction) -> Fraction:
    """Give a loss that a draw exceeds with probability at most beta, on every data set of no more people.

    Postcondition
        It holds for Gumbel noise and for exponential noise, and is never above the figure for any scores.

    >>> from dpselect.exact.rounding import rounded_up
    >>> even = EvenPrices(Fraction(1, 100), Fraction(1, 100), 199)
    >>> rounded_up(revenue_within(even, 50, Fraction(398, 100), Fraction(1, 100)), 2)
    '29.46'
    """
    farthest = scale * distance("gumbel", prices.count, 1, beta)
    if not farthest or not people:
        return Fraction(0)

    def holds(loss: Fraction) -> bool:
        return compare(lambda bits: revenue_failure(prices, people, scale, loss, precision=bits), beta) < 0

    return bisect(holds, fails=Fraction(0), holds=farthest, bits=STEPS).holds


@lru_cache(maxsize=64)
def revenue_lead(prices: PriceList, people: int, scale: Fraction, beta: Fraction, unit: Fraction) -> Fraction:
    """Give a multiple of the unit that is lost, or more than it, with probability at most beta.

    Postcondition
        If the best price earns this much more than every other, it is drawn with probability 1 - beta.
    """
    farthest = math.ceil(scale * distance("gumbel", prices.count, 1, beta) / unit)
    if not farthest or not people:
        return Fraction(0)

    def bound(units: int, bits: int) -> Enclosure:
        return revenue_failure(prices, people, scale, units * unit, "at least", precision=bits)

    def holds(units: int) -> bool:
        return compare(lambda bits: bound(units, bits), beta) < 0

    return least_whole(holds, fails=0, holds=farthest) * unit
