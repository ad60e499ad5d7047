"""Many discrete Laplace numbers at once: floats decide the clear ones, exact arithmetic the others.

Proof: discrete_laplaces.proof.md
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpselect.exact.enclosures import Ball, enclose
from dpselect.exact.float_errors import ignore_float_errors
from dpselect.exact.partial_numbers import SPARE_BITS, Uniform
from dpselect.exact.randomness import Randomness

FLOAT_ERROR = 2.0**-40
"""Bounds the error of a quantile in floats, relative to itself plus the scale."""

SMALLEST_SCALE, LARGEST_SCALE = Fraction(1, 2**500), Fraction(2**500)
"""Beyond these no float decides."""


@ignore_float_errors
def discrete_laplaces(scale: Fraction, count: int, randomness: Randomness) -> list[int]:
    """Draw integers z, independently, each with probability proportional to exp(-|z| / scale)."""
    words, signs = randomness.words(count), randomness.words(count)
    sizes = _floors_in_floats(words, scale, 2.0**-randomness.width)
    drawn = sizes.tolist()
    for i in np.isnan(sizes).nonzero()[0].tolist():
        drawn[i] = _floor_exactly(Uniform.begun(words.item(i), randomness), scale)
    return [-int(size) if sign & 1 else int(size) for size, sign in zip(drawn, signs.tolist(), strict=True)]


def _floors_in_floats(words: NDArray[np.uint64], scale: Fraction, step: float) -> NDArray[np.float64]:
    """Give floor(quantile) where both ends of a word agree on it, with room for errors; NaN elsewhere."""
    if not SMALLEST_SCALE <= scale <= LARGEST_SCALE:
        return np.full(len(words), math.nan)
    spread, below = float(scale), words * step
    half = (1 + math.exp(-1 / spread)) / 2
    highest, lowest = (-spread * np.log(u * half) for u in (below, below + step))
    least = np.floor(lowest - FLOAT_ERROR * (spread + lowest))
    most = np.floor(highest + FLOAT_ERROR * (spread + highest))
    return np.where((least == most) & (most < 2.0**50), least, math.nan)


def _floor_exactly(number: Uniform, scale: Fraction) -> int:
    """Give floor(-scale * ln(U (1 + exp(-1 / scale)) / 2)), drawing bits of U until it is certain."""

    def quantile(u: Ball, s: Ball) -> Ball:
        return -s * (u * (1 + (-1 / s).exp()) / 2).log()

    while True:
        if number.lower() > 0:
            bits = number.bits + SPARE_BITS
            least = math.floor(enclose(quantile, number.upper(), scale, precision=bits).low)
            if least == math.floor(enclose(quantile, number.lower(), scale, precision=bits).high):
                return least
        number.refine()
