"""Numbers between bounds: evenly spaced candidates that are never written out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import count
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from dpselect.engines.schema import nearest_double
from dpselect.errors import InvalidParameter, shown
from dpselect.exact.numbers import Number, positive, rational
from dpselect.exact.rounding import exact_text
from dpselect.selection.runs import MOST_POINTS

USUAL_POINTS = 2**20
"""The most numbers of a grid for which no step is given."""
SAFE = 2**53
"""Whole numbers up to here are doubles, so that a quotient of two is correctly rounded."""


@dataclass(frozen=True)
class Grid(Sequence[Any]):
    """Evenly spaced numbers between two bounds: never written out, so there may be a billion."""

    first: Fraction
    step: Fraction
    length: int

    def __len__(self) -> int:
        return self.length

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The least and the largest of them."""
        return self.first, self.first + self.step * (self.length - 1)

    @overload
    def __getitem__(self, place: int) -> int | Decimal | Fraction: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Any]: ...
    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(self.length))]
        within = place + self.length if place < 0 else place
        if not 0 <= within < self.length:
            raise IndexError
        return written(self.first + self.step * within)

    def exact(self, start: int, stop: int) -> Sequence[Fraction]:
        """Give the values of some places."""
        return [self.first + self.step * place for place in range(start, stop)]

    def doubles(self, start: int, stop: int) -> NDArray[np.float64]:
        """Give the nearest doubles of some places: by one correctly rounded division, where that is exact."""
        tops, bottom = self.numerators(start, stop)
        if tops is None or bottom > SAFE or max(abs(int(tops[0])), abs(int(tops[-1]))) > SAFE:
            return np.array([nearest_double(value) for value in self.exact(start, stop)], dtype=np.float64)
        return tops.astype(np.float64) / float(bottom)

    def numerators(self, start: int, stop: int) -> tuple[NDArray[np.int64] | None, int]:
        """Give the values over one denominator, None if they do not fit 64 bits."""
        bottom = int(np.lcm.reduce([self.first.denominator, self.step.denominator], dtype=object))
        first, step = int(self.first * bottom), int(self.step * bottom)
        if stop <= start or max(abs(first + step * start), abs(first + step * stop)) >= 2**62:
            return None, bottom
        return first + step * np.arange(start, stop, dtype=np.int64), bottom

    def canonical(self) -> Iterator[str]:
        """Give what the digest is made of."""
        yield f"grid {exact_text(self.first)} {exact_text(self.step)} {self.length}"


def written(value: Fraction) -> int | Decimal | Fraction:
    """Give a number in the plainest form that is exact: whole, decimal, or a fraction.

    >>> written(Fraction(3)), written(Fraction(1, 4)), written(Fraction(1, 3))
    (3, Decimal('0.25'), Fraction(1, 3))
    """
    if value.denominator == 1:
        return value.numerator
    bottom = value.denominator
    for prime in (2, 5):
        while bottom % prime == 0:
            bottom //= prime
    if bottom != 1:
        return value
    places = value.denominator.bit_length()
    digits = f"{value.numerator * 10**places // value.denominator}"
    return Decimal(f"{digits}e-{places}").normalize() if len(digits) <= 28 else value


def grid(between: object, step: Number | None = None) -> Grid:
    """Read the numbers lo, lo + step, ... up to hi.

    Without a step it is 1 where the bounds are whole and that leaves at most 2**20 numbers; otherwise the
    least of 1, 2 and 5 times a power of ten that does.

    >>> grid((0, 500_000)).step, grid((0, 2_000_000)).step, grid((0, "0.5")).step
    (Fraction(1, 1), Fraction(2, 1), Fraction(1, 2000000))
    """
    if not isinstance(between, tuple | list) or len(between) != 2:
        raise InvalidParameter.must_be("between", "a pair (lo, hi)", got=between)
    low, high = (rational(end, "between") for end in between)
    if not low <= high:
        raise InvalidParameter(f"between must be (lo, hi) with lo <= hi; got {shown(low)} and {shown(high)}.")
    width = usual_step(low, high) if step is None else positive(step, "step")
    count = int((high - low) / width) + 1
    if count > MOST_POINTS:
        raise InvalidParameter(
            f"between and step must leave at most 2^{MOST_POINTS.bit_length() - 1} numbers; they leave more. "
            "Give a larger step."
        )
    return Grid(low, width, count)


def usual_step(low: Fraction, high: Fraction) -> Fraction:
    """Give the step of a grid for which none is given."""
    spread = high - low
    if low.denominator == high.denominator == 1 and spread < USUAL_POINTS:
        return Fraction(1)
    digits = len(str(spread.numerator)) - len(str(spread.denominator * USUAL_POINTS)) - 1
    steps = (mantissa * Fraction(10) ** exponent for exponent in count(digits) for mantissa in (1, 2, 5))
    return next(step for step in steps if int(spread / step) < USUAL_POINTS)
