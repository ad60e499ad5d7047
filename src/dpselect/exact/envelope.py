"""The dyadic envelope: a power of two above the weight of every candidate, drawn from with whole numbers.

A candidate that lies g behind the base has weight exp(-g / scale). The exponent j of its place is computed
in floats, but so that weight <= 2**-j is certain; it is proposed with probability proportional to 2**-j.

Proof: envelope.proof.md
"""

from __future__ import annotations

import math
from bisect import bisect_right
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

import numpy as np

from dpselect.exact.batches import uniforms_below
from dpselect.exact.enclosures import Ball, enclose
from dpselect.exact.field import Field, Floats, Indices, Lead
from dpselect.exact.numbers import to_float_down
from dpselect.exact.randomness import Randomness
from dpselect.exact.samplers import uniform_below

ROOM = Fraction(2**48 - 1, 2**48)
"""The slope is taken this much too small: room for the roundings of the exponent."""

FEW = 32
"""So many places are not worth arrays."""

LARGEST = np.finfo(np.float64).max.item()


@lru_cache
def _in_floats(scale: Fraction) -> tuple[float, float]:
    """Give a float below log2(e) / scale, and the scale as a float, or NaN if that loses too much."""
    slope = min(LARGEST, to_float_down(enclose(lambda s: 1 / (s * Ball(2).log()), scale).low * ROOM))
    return slope, float(scale) if 2.0**-1000 <= scale <= 2.0**1000 else math.nan


@lru_cache
def _powers(cap: int) -> Indices:
    """Give 2**-j in units of 2**-cap, for j from 0 to cap."""
    return np.left_shift(1, np.arange(cap, -1, -1))


def log_weights(gaps: Floats, scale: Fraction) -> Floats:
    """Estimate -g / scale, to a relative 2**-50; -infinity for weight zero, NaN if a float cannot say."""
    return gaps / -_in_floats(scale)[1]


class Envelope:
    """Proposals from a field, relative to a base score."""

    def __init__(self, field: Field, lead: Lead, scale: Fraction) -> None:
        """Give each place a whole-number weight: 2**-j for each of its candidates, in units of 2**-cap."""
        self.field = field
        self.lead = lead
        self.scale = scale
        slope, self._float_scale = _in_floats(scale)
        self._cap = cap = min(field.size.bit_length(), 62 - field.size.bit_length())
        farthest = min(LARGEST, cap / slope) if slope else LARGEST
        gaps = field.place_gaps(lead)
        self._exponents: list[int] | Indices
        self._reached: list[int] | Indices
        if len(gaps) <= FEW and not len(lead.closed):
            self._exponents = [int(min(gap, farthest) * slope) for gap in gaps.tolist()]
            self._reached = list(accumulate([1 << (cap - j) for j in self._exponents]))
        else:
            np.minimum(gaps, farthest, out=gaps)
            gaps *= slope
            self._exponents = gaps.astype(np.int64)
            weights = _powers(cap).take(self._exponents)
            if field.columns:
                weights[: field.columns] *= field.depth
            if len(lead.closed):
                weights[lead.closed] = 0
            self._reached = weights.cumsum()
        self._total = int(self._reached[-1])

    @property
    def rate(self) -> Fraction:
        """The sum of 2**-j over all candidates that run."""
        return Fraction(self._total, 2**self._cap)

    def propose(self, count: int, randomness: Randomness) -> tuple[Indices, Indices]:
        """Draw candidates independently, each with probability 2**-j / rate, and give them with their j."""
        at = uniforms_below(self._total, count, randomness).view(np.int64)
        reached = np.asarray(self._reached)
        places = reached.searchsorted(at, side="right")
        exponents = np.asarray(self._exponents).take(places)
        if self.lead.single is None:
            return places, exponents
        ranks = (reached.take(places) - 1 - at) >> (self._cap - exponents)
        columns = self.field.columns
        candidates = places + columns * ranks
        (alone,) = (places >= columns).nonzero()
        candidates[alone] = self.lead.single[places[alone] - columns]
        return candidates, exponents

    def propose_one(self, randomness: Randomness) -> tuple[int, int]:
        """Draw one candidate, and give it with its j."""
        at = uniform_below(self._total, randomness)
        if isinstance(self._reached, list):
            place = bisect_right(self._reached, at)
        else:
            place = int(self._reached.searchsorted(at, side="right"))
        exponent = int(self._exponents[place])
        if self.lead.single is None:
            return place, exponent
        columns = self.field.columns
        if place >= columns:
            return self.lead.single.item(place - columns), exponent
        return place + columns * ((int(self._reached[place]) - 1 - at) >> (self._cap - exponent)), exponent

    def log_weights(self, candidates: Indices) -> Floats:
        """Estimate -g / scale of candidates."""
        return log_weights(self.field.gaps(candidates, self.lead.base), self.scale)

    def log_weight(self, candidate: int) -> float:
        """Estimate -g / scale of one candidate."""
        return self.field.rough_gap(candidate, self.lead.base) / -self._float_scale

    def exactly_behind(self, candidate: int) -> Fraction | None:
        """Give g / scale; None for weight zero: whoever may not win."""
        gap = self.field.gap(candidate, self.lead.base)
        return None if gap is None else gap / self.scale
