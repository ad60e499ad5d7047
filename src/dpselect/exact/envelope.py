"""The dyadic envelope: a power of two above the weight of every candidate, drawn from with whole numbers.

A candidate that lies g behind the base has weight exp(-g / scale). The exponent j of its block is computed
in floats, but so that weight <= 2**-j is certain; it is proposed with probability proportional to 2**-j.

Proof: envelope.proof.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from dpselect.exact.batches import uniforms_below
from dpselect.exact.enclosures import Ball, enclose
from dpselect.exact.field import Base, Field, Indices
from dpselect.exact.numbers import to_float_down
from dpselect.exact.randomness import Randomness
from dpselect.exact.samplers import uniform_below

ROOM = Fraction(2**48 - 1, 2**48)
"""The slope is taken this much too small: room for the roundings of the exponent."""

LARGEST = np.finfo(np.float64).max.item()


@lru_cache
def _slope(scale: Fraction) -> float:
    """Give a float below log2(e) / scale."""
    return min(LARGEST, to_float_down(enclose(lambda s: 1 / (s * Ball(2).log()), scale).low * ROOM))


@lru_cache
def _nearest_float(scale: Fraction) -> float:
    """Give the scale as a float, or NaN where a quotient by it may lose more than roundings."""
    return float(scale) if 2.0**-1000 <= scale <= 2.0**1000 else math.nan


class Envelope:
    """Proposals from a field, relative to a base score."""

    def __init__(self, field: Field, base: Base, scale: Fraction) -> None:
        """Give each block its exponent and its whole-number weight."""
        self.field = field
        self.base = base
        self.scale = scale
        self._cap = min(field.size.bit_length(), 62 - field.size.bit_length())
        self._gaps = field.block_gaps(base)
        slope, cap = _slope(scale), self._cap
        farthest = min(LARGEST, cap / slope) if slope else LARGEST
        self._exponents = np.minimum(np.minimum(self._gaps, farthest) * slope, cap).astype(np.int64)
        self._shifts = cap - self._exponents
        self._weights = field.block_sizes << self._shifts
        self._reached = self._weights.cumsum()
        self.total = int(self._reached[-1])

    @cached_property
    def rate(self) -> Fraction:
        """The sum of 2**-j over all candidates."""
        return Fraction(self.total, 2**self._cap)

    def propose(self, count: int, randomness: Randomness) -> tuple[Indices, Indices]:
        """Draw candidates independently, each with probability 2**-j / rate, and give them with their j."""
        at = uniforms_below(self.total, count, randomness).astype(np.int64)
        blocks = self._reached.searchsorted(at, side="right")
        ranks = (at - self._reached[blocks] + self._weights[blocks]) >> self._shifts[blocks]
        return self.field.members(blocks, ranks), self._exponents[blocks]

    def propose_single(self, randomness: Randomness) -> tuple[int, int, float]:
        """Draw where blocks are single candidates; give one with its j and an estimate of g / scale."""
        at = uniform_below(self.total, randomness)
        candidate = int(self._reached.searchsorted(at, side="right"))
        return (
            candidate,
            int(self._exponents[candidate]),
            float(self._gaps[candidate]) / _nearest_float(self.scale),
        )

    def everybody_behind(self) -> NDArray[np.float64]:
        """Estimate g / scale for a field whose blocks are single candidates."""
        return self._gaps / _nearest_float(self.scale)

    def behind(self, candidates: Indices) -> NDArray[np.float64]:
        """Estimate g / scale, to a relative 2**-50; infinity for weight zero, NaN if a float cannot say."""
        return self.field.gaps(candidates, self.base) / _nearest_float(self.scale)

    def exactly_behind(self, candidate: int) -> Fraction | None:
        """Give g / scale; None for weight zero: whoever is ahead of the base, or may not win."""
        gap = self.field.gap(candidate, self.base)
        return None if gap is None else gap / self.scale
