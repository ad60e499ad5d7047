"""The clock of a race: the times of a Poisson process, drawn as finely as somebody asks.

Proof: clock.proof.md
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpselect.exact.enclosures import Enclosure, log_product
from dpselect.exact.psrn import Bound, Uniform
from dpselect.exact.randomness import Randomness

ROW = 64
"""Floats are added up in rows of this length, rows in whole numbers: so errors stay those of one row."""


class Clock:
    """Ticks at a given rate: the time of tick i is -ln(U_1 ... U_i) / rate."""

    def __init__(self, rate: Fraction, randomness: Randomness) -> None:
        """Start at time zero."""
        self._rate = rate
        self._float_rate = float(rate)
        self._randomness = randomness
        self._words: list[int] = []
        self._numbers: dict[int, Uniform] = {}
        self._sum = 0
        self._unknown = 0.0

    @property
    def ticks(self) -> int:
        """How often it has ticked."""
        return len(self._words)

    def tick(self, count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Tick on; give the times as floats, and by how much each may be wrong."""
        words = self._randomness.words(count)
        self._words.extend(words.tolist())
        middles = words.astype(np.float64) + 0.5
        rows = np.zeros(count + -count % ROW)
        rows[:count] = -np.log(middles * 2.0**-self._randomness.width)
        in_row = rows.reshape(-1, ROW).cumsum(axis=1)
        before = self._whole_rows(in_row[:, -1])
        in_row, sums = in_row.ravel()[:count], (in_row + before[:, None]).ravel()[:count]
        unknown = self._unknown + np.where(words == 0, math.inf, 1 / middles).cumsum()
        self._unknown = float(unknown[-1]) * (1 + 2.0**-20)
        rounded = np.arange(self.ticks - count + 1, self.ticks + 1) * 2.0**-51
        errors = unknown * (1 + 2.0**-20) + sums * 2.0**-49 + in_row * 2.0**-47 + rounded
        return sums / self._float_rate, errors / self._float_rate

    def tick_once(self) -> tuple[float, float]:
        """Tick once, as ``tick`` ticks many times."""
        word = self._randomness.word()
        self._words.append(word)
        middle = word + 0.5
        gap = -math.log(middle * 2.0**-self._randomness.width)
        self._sum += int(math.ldexp(gap, 80))
        self._unknown += 1 / middle if word else math.inf
        total = math.ldexp(float(self._sum), -80)
        error = self._unknown * (1 + 2.0**-20) + total * 2.0**-47 + self.ticks * 2.0**-51
        return total / self._float_rate, error / self._float_rate

    def _whole_rows(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add up the rows before each, in whole multiples of 2**-80, so that nothing is lost."""
        sums = [self._sum]
        for row in rows.tolist():
            sums.append(sums[-1] + int(math.ldexp(row, 80)))
        self._sum = sums.pop()
        return np.array([math.ldexp(float(total), -80) for total in sums])

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
            self._numbers[i] = Uniform.begun(self._words[i], self._randomness)
        return self._numbers[i]
