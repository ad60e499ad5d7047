"""How many values lie below and above each of many public numbers, exactly.

Values that are whole, decimal or text are placed on the grid of the public numbers' common denominator;
floats are compared with the nearest floats.

Proof: ranks.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import rational
from dpselect.problems.candidates import Grid, Numbers

Places: TypeAlias = NDArray[Any]
PLAIN_DIGITS = 19
"""Text of fewer characters, digits alone, is read at once as the whole number that it is."""
LARGEST_POSITION = 2**61
"""Whole numbers below it can be doubled, and one added, within 64 bits."""
EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
"""Where a product of decimals is never rounded."""


@dataclass(frozen=True, repr=False)
class Distribution:
    """Values in order, and how many people there are up to each of them."""

    numbers: Numbers | Grid
    values: NDArray[Any]
    up_to: NDArray[np.int64]

    def __repr__(self) -> str:
        return "<a distribution of private values>"

    @property
    def people(self) -> int:
        """How many there are in all."""
        return int(self.up_to[-1])

    def below(self, start: int, stop: int) -> NDArray[np.int64]:
        """Count the values below each of the numbers."""
        return self.up_to[np.searchsorted(self.values, self._thresholds(start, stop), side="left")]

    def above(self, start: int, stop: int) -> NDArray[np.int64]:
        """Count the values above each of the numbers."""
        not_above = np.searchsorted(self.values, self._thresholds(start, stop), side="right")
        return self.people - self.up_to[not_above]

    def _thresholds(self, start: int, stop: int) -> NDArray[Any]:
        if self.values.dtype.kind == "f":
            with np.errstate(all="ignore"):
                return self.numbers.doubles(start, stop).astype(self.values.dtype)
        return placed(self.numbers, start, stop)


def distribution(numbers: Numbers | Grid, values: NDArray[Any], sizes: NDArray[np.int64]) -> Distribution:
    """Sort values as an engine gave them, and add their sizes up."""
    if values.dtype.kind == "f":
        where = values
    else:
        kept, places = _positions(numbers, values)
        where, sizes = places, sizes[kept]
    order = np.argsort(where, kind="stable")
    return Distribution(numbers, where[order], np.concatenate([[0], np.cumsum(sizes[order], dtype=np.int64)]))


def placed(numbers: Numbers | Grid, start: int, stop: int) -> NDArray[Any]:
    """Give the position of each public number: twice its numerator over the common denominator."""
    bottom = denominator(numbers)
    if isinstance(numbers, Grid):
        tops, _ = numbers.numerators(start, stop)
        if tops is not None and _fits(numbers, bottom):
            return 2 * tops
        positions = [2 * int(value * bottom) for value in numbers.exact(start, stop)]
    else:
        positions = [2 * top for top in numbers.numerators[start:stop]]
    return _whole_numbers(positions, numbers, bottom)


def denominator(numbers: Numbers | Grid) -> int:
    """Give the common denominator of the public numbers."""
    if isinstance(numbers, Grid):
        return math.lcm(numbers.first.denominator, numbers.step.denominator)
    return numbers.denominator


def _ends(numbers: Numbers | Grid, bottom: int) -> tuple[int, int]:
    low, high = numbers.ends
    return int(low * bottom), int(high * bottom)


def _fits(numbers: Numbers | Grid, bottom: int) -> bool:
    return max(map(abs, _ends(numbers, bottom))) < LARGEST_POSITION


def _whole_numbers(positions: list[int], numbers: Numbers | Grid, bottom: int) -> NDArray[Any]:
    """Put positions into 64 bits where all possible ones fit."""
    if _fits(numbers, bottom):
        return np.array(positions, dtype=np.int64)
    wide = np.empty(len(positions), dtype=object)
    wide[:] = positions
    return wide


def _positions(numbers: Numbers | Grid, values: NDArray[Any]) -> tuple[list[int] | slice, NDArray[Any]]:
    """Place every value that is a number: at an even position where a number could be, odd in between."""
    bottom = denominator(numbers)
    low, high = _ends(numbers, bottom)
    ends = low // bottom - 1, high // bottom + 2
    if values.dtype.kind == "i" and 2 * bottom * max(map(abs, ends)) < LARGEST_POSITION:
        return slice(None), np.clip(np.clip(values, *ends) * (2 * bottom), 2 * low - 1, 2 * high + 1)
    found = [
        (index, min(max(position, 2 * low - 1), 2 * high + 1))
        for index, position in enumerate(_raw_positions(values, bottom, low, high))
        if position is not None
    ]
    return [index for index, _ in found], _whole_numbers([place for _, place in found], numbers, bottom)


def _raw_positions(values: NDArray[Any], bottom: int, low: int, high: int) -> Iterator[int | None]:
    digits = digits_of(Fraction(low, bottom), Fraction(high, bottom))
    for value in values.tolist():
        found = multiplied(value, bottom, digits)
        if found is None:
            yield None
        elif isinstance(found, float):
            yield 2 * high + 1 if found > 0 else 2 * low - 1
        else:
            whole, is_between = found
            yield 2 * whole + is_between


def digits_of(low: Fraction, high: Fraction) -> int:
    """Give a number of digits that no number between two public ones has before its point."""
    return int(max(abs(low), abs(high))).bit_length() + 1


def multiplied(value: Any, times: int, digits: int) -> tuple[int, bool] | float | None:
    """Multiply a value by a public number: give the whole number below, and whether something is left.

    An infinite float stands for what is infinite, or is a decimal with more digits before its point; None for
    no number. A decimal may have 100,000 digits, so that a fraction of it would take a second to make.
    """
    if isinstance(value, Decimal) and value.is_finite():
        if value and value.adjusted() > digits:
            return math.copysign(math.inf, value)
        product = EXACT.multiply(value, times)
        below = product.to_integral_value(ROUND_FLOOR, EXACT)
        return int(below), below != product
    if isinstance(value, str) and len(value) < PLAIN_DIGITS and value.isascii() and value.isdigit():
        return int(value) * times, False
    exact = exact_value(value)
    if exact is None or isinstance(exact, float):
        return exact
    whole, rest = divmod(exact.numerator * times, exact.denominator)
    return whole, rest != 0


def exact_value(value: Any) -> Fraction | float | None:
    """Read a value as an engine gave it: a fraction, an infinite float, or None if it is no number."""
    if isinstance(value, str):
        try:
            return rational(value, "value")
        except InvalidParameter:
            return None
    if isinstance(value, float | np.floating | Decimal) and not math.isfinite(value):
        return None if math.isnan(value) else math.copysign(math.inf, value)
    return Fraction(*value.as_integer_ratio())
