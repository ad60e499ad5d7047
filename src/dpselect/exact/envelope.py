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
def _in_floats(scale: Fraction) -> tuple[float, float]:
    """Give a float below log2(e) / scale, and the scale as a float, or NaN if that loses too much."""
    slope = min(LARGEST, to_float_down(enclose(lambda s: 1 / (s * Ball(2).log()), scale).low * ROOM))
    return slope, float(scale) if 2.0**-1000 <= scale <= 2.0**1000 else math.nan


class Envelope:
    """Proposals from a field, relative to a base score."""

    def __init__(self, field: Field, base: Base, scale: Fraction) -> None:
        """Measure how far each block lies behind."""
        self.field = field
        self.base = base
        self.scale = scale
        self._slope, self._float_scale = _in_floats(scale)
        self._gaps = field.block_gaps(base)
        self._cap = min(field.size.bit_length(), 62 - field.size.bit_length())

    @cached_property
    def _exponents(self) -> Indices:
        """The exponent j of each block."""
        farthest = min(LARGEST, self._cap / self._slope) if self._slope else LARGEST
        return np.minimum(np.minimum(self._gaps, farthest) * self._slope, self._cap).astype(np.int64)

    @cached_property
    def _weights(self) -> Indices:
        """The whole-number weight of each block: 2**-j, in units of 2**-cap, for each candidate."""
        return self.field.block_sizes << (self._cap - self._exponents)

    @cached_property
    def _reached(self) -> Indices:
        """The sum of the weights up to each block."""
        return self._weights.cumsum()

    @cached_property
    def rate(self) -> Fraction:
        """The sum of 2**-j over all candidates."""
        return Fraction(int(self._reached[-1]), 2**self._cap)

    def propose(self, count: int, randomness: Randomness) -> tuple[Indices, Indices]:
        """Draw candidates independently, each with probability 2**-j / rate, and give them with their j."""
        at = uniforms_below(int(self._reached[-1]), count, randomness).astype(np.int64)
        blocks = self._reached.searchsorted(at, side="right")
        exponents = self._exponents[blocks]
        ranks = (at - self._reached[blocks] + self._weights[blocks]) >> (self._cap - exponents)
        return self.field.members(blocks, ranks), exponents

    def propose_single(self, randomness: Randomness) -> tuple[int, int, float]:
        """Draw where blocks are single candidates; give one with its j and an estimate of g / scale."""
        at = uniform_below(int(self._reached[-1]), randomness)
        candidate = int(self._reached.searchsorted(at, side="right"))
        gap = float(self._gaps[candidate])
        return candidate, int(self._exponents[candidate]), gap / self._float_scale

    def everybody_behind(self) -> NDArray[np.float64]:
        """Estimate g / scale for a field whose blocks are single candidates."""
        return self._over_scale(self._gaps)

    def behind(self, candidates: Indices) -> NDArray[np.float64]:
        """Estimate g / scale, to a relative 2**-50; infinity for weight zero, NaN if a float cannot say."""
        return self._over_scale(self.field.gaps(candidates, self.base))

    def _over_scale(self, gaps: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(over="ignore"):
            return gaps / self._float_scale

    def exactly_behind(self, candidate: int) -> Fraction | None:
        """Give g / scale; None for weight zero: whoever is ahead of the base, or may not win."""
        gap = self.field.gap(candidate, self.base)
        return None if gap is None else gap / self.scale
