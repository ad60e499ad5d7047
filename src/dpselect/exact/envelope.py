"""The envelope: a whole number above the weight of every candidate, in units so small that it is close.

A candidate that lies g behind the base has weight exp(-g / scale). Its share of the envelope, a number of
units, is computed in floats, but so that it certainly covers the weight of everybody in its place. A proposal
is one of all units, drawn uniformly: it falls to a candidate, at an offset in the candidate's share.

Proof: envelope.proof.md
"""

from __future__ import annotations

import math
from bisect import bisect_left
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from dpselect.exact.batches import draws_below
from dpselect.exact.enclosures import Ball, enclose
from dpselect.exact.field import Field, Floats, Indices, Lead
from dpselect.exact.numbers import to_float_down
from dpselect.exact.randomness import Randomness
from dpselect.exact.samplers import draw_below

ROOM = Fraction(2**48 - 1, 2**48)
"""The slope is taken this much too small: room for the roundings of the exponent."""

FINEST = 48
"""The weight 1 is at most 2**FINEST units: a float holds any share."""

SPARE = 14
"""All units together take so many bits less than a word, and a word is rarely thrown away."""

FEW = 32
"""So many places are not worth arrays."""

LARGEST = np.finfo(np.float64).max.item()


@lru_cache
def rough(scale: Fraction) -> float:
    """Give the scale as a float, or NaN if that loses too much."""
    return float(scale) if 2.0**-1000 <= scale <= 2.0**1000 else math.nan


class Grain(NamedTuple):
    """How finely an envelope is drawn."""

    finest: int
    """The weight 1 is 2**finest units."""
    slope: float
    """Slightly less than log2(e) / scale: how fast exponents grow with the gap, ..."""
    farthest: float
    """... up to this gap, from which on a share is a single unit."""
    scale: float
    """The scale, rounded."""


@lru_cache
def grain(scale: Fraction, bits: int, width: int) -> Grain:
    """Choose units for fewer than 2**bits candidates: all together still fit into a word, if it is wide."""
    slope = min(LARGEST, to_float_down(enclose(lambda s: 1 / (s * Ball(2).log()), scale).low * ROOM))
    finest = min(FINEST, max(width - SPARE - bits, min(bits, 62 - bits)))
    return Grain(finest, slope, min(LARGEST, finest / slope) if slope else LARGEST, rough(scale))


def weights(gaps: list[float], scale: Fraction) -> list[float]:
    """Estimate exp(-g / scale); NaN if a float cannot say."""
    spread = rough(scale)
    return [math.exp(gap / -spread) for gap in gaps]


class Envelope:
    """Proposals from a field, relative to a base score."""

    def __init__(self, field: Field, lead: Lead, scale: Fraction, width: int = 64) -> None:
        """Give every candidate its share, for random words of this width."""
        self.field = field
        self.lead = lead
        self.scale = scale
        finest, slope, farthest, self._float_scale = grain(scale, field.size.bit_length(), width)
        self.unit = unit = 1 << finest
        """How many units the weight 1 is."""
        self._last: list[int] | Indices
        """The last unit of each place."""
        if field.size <= FEW and not field.columns and not len(lead.closed):
            shares = [unit >> int(min(gap, farthest) * slope) for gap in field.few_gaps(lead)]
            self._last = list(accumulate(shares, initial=-1))[1:]
            self._total = self._last[-1] + 1
        else:
            gaps = field.place_gaps(lead)
            np.minimum(gaps, farthest, out=gaps)
            gaps *= slope
            self._shares: Indices = gaps.astype(np.int64)
            del gaps
            np.right_shift(unit, self._shares, out=self._shares)
            self._last = self._units(self._shares)
            self._last[0] -= 1
            self._last.cumsum(out=self._last)
            self._total = self._last.item(-1) + 1

    def _units(self, shares: Indices) -> Indices:
        """Give the units of each place: a share for each of its candidates, none if it is closed."""
        field, closed = self.field, self.lead.closed
        if not field.columns and not len(closed):
            return shares
        units = shares * field.depth
        if self.lead.single is not None:
            units[field.columns :] = shares[field.columns :]
        if field.deep:
            units[field.deep : field.columns] -= shares[field.deep : field.columns]
        if len(closed):
            units[closed] = 0
        return units

    @property
    def rate(self) -> Fraction:
        """The sum of the shares of all candidates that run, in weights."""
        return Fraction(self._total, self.unit)

    @property
    def float_rate(self) -> float:
        """The rate, rounded."""
        return self._total / self.unit

    def propose(self, count: int, randomness: Randomness) -> tuple[Indices, Indices]:
        """Draw candidates independently, in proportion to their shares, each with an offset in its share."""
        at = draws_below(self._total, count, randomness).view(np.int64)
        last = np.asarray(self._last)
        places = last.searchsorted(at)
        from_the_end = last.take(places)
        from_the_end -= at
        columns = self.field.columns
        if not columns:
            return places, from_the_end  # the offsets
        rows, offsets = np.divmod(from_the_end, self._shares.take(places))
        rows *= columns
        rows += places
        if self.lead.single is not None:
            (alone,) = (places >= columns).nonzero()
            rows[alone] = self.lead.single[places[alone] - columns]
        return rows, offsets

    def propose_one(self, randomness: Randomness) -> tuple[int, int]:
        """Draw one candidate, with an offset in its share."""
        at = draw_below(self._total, randomness)
        if isinstance(self._last, list):
            place = bisect_left(self._last, at)
            return place, self._last[place] - at
        place = int(self._last.searchsorted(at))
        from_the_end = self._last.item(place) - at
        columns = self.field.columns
        if not columns:
            return place, from_the_end
        row, offset = divmod(from_the_end, self._shares.item(place))
        if self.lead.single is not None and place >= columns:
            return self.lead.single.item(place - columns), offset
        return place + columns * row, offset

    def log_weights(self, candidates: Indices) -> Floats:
        """Estimate -g / scale of candidates."""
        return self.field.gaps(candidates, self.lead.base) / -self._float_scale

    def log_weight(self, candidate: int) -> float:
        """Estimate -g / scale of one candidate."""
        return self.field.rough_gap(candidate, self.lead.base) / -self._float_scale

    def exactly_behind(self, candidate: int) -> Fraction | None:
        """Give g / scale; None for weight zero: whoever may not win."""
        gap = self.field.gap(candidate, self.lead.base)
        return None if gap is None else gap / self.scale
