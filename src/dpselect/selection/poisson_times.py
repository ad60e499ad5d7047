"""The clock of a race: the times of a Poisson process, drawn as finely as somebody asks.

Proof: poisson_times.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpselect.exact.enclosures import Enclosure, log_product
from dpselect.exact.partial_numbers import Bound, Uniform
from dpselect.exact.randomness import Randomness

Time = TypeVar("Time", float, NDArray[np.float64])


class Clock:
    """Ticks at a given rate: the time of tick i is -ln(U_1 ... U_i) / rate."""

    def __init__(self, rate: Fraction, randomness: Randomness) -> None:
        """Start at time zero."""
        self.ticks = 0
        """How often it has ticked."""
        self._rate = rate
        self._float_rate = float(rate)
        self._randomness = randomness
        self._unit = 2.0**-randomness.width
        self._drawn: list[Iterable[int]] = []
        self._numbers: dict[int, Uniform] = {}
        self._sum = 0.0
        self._unknown = 0.0

    def tick(self, count: int) -> NDArray[np.float64]:
        """Tick on; give the times as floats."""
        words = self._randomness.words(count)
        self._drawn.append(words)
        sums = self._sum - np.log((words + 0.5) * self._unit).cumsum()
        self._unknown += _width(words.item(words.argmin())) * count
        self._sum = sums.item(-1)
        self.ticks += count
        times: NDArray[np.float64] = sums / self._float_rate
        return times

    def error(self, tick: Any, time: Time) -> Time:
        """Bound by how much the time of a tick is wrong, or that of each tick of an array."""
        added_up: Time = (tick + 32) * (time + 4 / self._float_rate) * 2.0**-51
        return self._unknown / self._float_rate + added_up

    def known(self, tick: int, precision: int) -> tuple[Fraction, Bound]:
        """Bound the time of a tick by the bits drawn so far, to a relative 2**-precision."""
        numbers = [self._number(i) for i in range(tick)]
        bits = sum(number.bits for number in numbers)
        lows, highs = [n.numerator for n in numbers], [n.numerator + 1 for n in numbers]
        earliest = -log_product(highs, bits, precision).high / self._rate
        return earliest, -log_product(lows, bits, precision).low / self._rate if all(lows) else math.inf

    def refine(self, tick: int) -> None:
        """Draw one more word, of the gap before the tick that is known worst."""
        min(
            (self._number(i) for i in range(tick)), key=lambda number: number.lower() / number.upper()
        ).refine()

    def time(self, tick: int, precision: int) -> Enclosure:
        """Enclose the time of a tick to 2**-precision, drawing the bits that this takes."""
        parts = math.ceil(tick * 2 ** (precision + 1) / self._rate)
        for i in range(tick):
            self._number(i).narrow(parts)
        earliest, latest = self.known(tick, precision + 16)
        return Enclosure(earliest, Fraction(latest))

    def _number(self, i: int) -> Uniform:
        if i not in self._numbers:
            if len(self._drawn) > 1:
                self._drawn = [list(chain.from_iterable(self._drawn))]
            self._numbers[i] = Uniform.begun(int(self._drawn[0][i]), self._randomness)  # type: ignore[index]
        return self._numbers[i]


def _width(word: int) -> float:
    """Bound the width of -ln(U), of which one word is known."""
    return 1 / (word + 0.5) if word else math.inf
