"""The times of a Poisson process: -ln(U_1 ... U_i) / rate for i = 1, 2, ..., with independent uniform U_i.

Times are given as floats with bounds on their errors; more bits of the U_i are drawn only where a comparison
needs them.

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


class PoissonTimes:
    """The times of proposals 1, 2, ..., which come at a given rate."""

    def __init__(self, rate: Fraction, randomness: Randomness) -> None:
        """Start at time zero."""
        self.made = 0
        """How many times have been drawn."""
        self._rate = rate
        self._float_rate = float(rate)
        self._randomness = randomness
        self._word_step = 2.0**-randomness.width
        self._first_words: list[Iterable[int]] = []
        self._uniforms: dict[int, Uniform] = {}
        self._log_sum = 0.0
        self._log_error = 0.0

    def draw(self, count: int) -> NDArray[np.float64]:
        """Draw the next times; give them as floats."""
        words = self._randomness.words(count)
        self._first_words.append(words)
        sums = self._log_sum - np.log((words + 0.5) * self._word_step).cumsum()
        self._log_error += _width(words.item(words.argmin())) * count
        self._log_sum = sums.item(-1)
        self.made += count
        times: NDArray[np.float64] = sums / self._float_rate
        return times

    def error(self, proposal_number: Any, time: Time) -> Time:
        """Bound the error of a float time, or of each in an array."""
        added_up: Time = (proposal_number + 32) * (time + 4 / self._float_rate) * 2.0**-51
        return self._log_error / self._float_rate + added_up

    def bounds(self, proposal_number: int, precision: int) -> tuple[Fraction, Bound]:
        """Bound a time by the bits drawn so far; the logarithm is computed to a relative 2**-precision."""
        numbers = [self._uniform(i) for i in range(proposal_number)]
        bits = sum(number.bits for number in numbers)
        lows, highs = [n.numerator for n in numbers], [n.numerator + 1 for n in numbers]
        earliest = -log_product(highs, bits, precision).high / self._rate
        return earliest, -log_product(lows, bits, precision).low / self._rate if all(lows) else math.inf

    def refine(self, proposal_number: int) -> None:
        """Draw one more word of the U_i, up to this proposal, that is known least exactly."""
        min(
            (self._uniform(i) for i in range(proposal_number)),
            key=lambda number: number.lower() / number.upper(),
        ).refine()

    def time(self, proposal_number: int, precision: int) -> Enclosure:
        """Enclose a time to 2**-precision, drawing the bits that this needs."""
        parts = math.ceil(proposal_number * 2 ** (precision + 1) / self._rate)
        for i in range(proposal_number):
            self._uniform(i).narrow(parts)
        earliest, latest = self.bounds(proposal_number, precision + 16)
        return Enclosure(earliest, Fraction(latest))

    def _uniform(self, i: int) -> Uniform:
        if i not in self._uniforms:
            if len(self._first_words) > 1:
                self._first_words = [list(chain.from_iterable(self._first_words))]
            self._uniforms[i] = Uniform.begun(int(self._first_words[0][i]), self._randomness)  # type: ignore[index]
        return self._uniforms[i]


def _width(word: int) -> float:
    """Bound the error of -ln(U) if only the first word of U is known."""
    return 1 / (word + 0.5) if word else math.inf
