"""The envelope: a whole number above the weight of every candidate, in units so small that it is close.

A candidate that lies g behind the base has weight exp(-g / scale). Its share of the envelope, a number of
units, is computed in floats, but so that it certainly covers the weight of everybody in its place. A proposal
is one of all units, drawn uniformly: it falls to a candidate, at an offset in the candidate's share.

Proof: envelope.proof.md
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from dpselect.exact.enclosures import Ball, Enclosure, enclose, exp
from dpselect.exact.numbers import LARGEST, to_float_down
from dpselect.exact.randomness import Randomness
from dpselect.exact.samplers import bernoulli_enclosed, draw_below
from dpselect.exact.vector_samplers import SLACK, draws_below
from dpselect.selection.scores import Field, Floats, Indices, Lead

OCTAVE = 16
"""So many rungs up, a share is twice as large."""

TOP_ROOM = 2.0**-10
"""The top is this much too high: room for the roundings of rungs."""

FINEST = 48
"""The weight 1 is at most 2**FINEST units: a float holds any share."""

SPARE = 14
"""All units together take so many bits less than a word, and a word is rarely thrown away."""

FEW = 32
"""So many places are not worth arrays."""

MANY = 8192
"""So many rungs are raised to the ladder before they are looked up: clipping them one by one takes longer."""

SORTED_FROM, WORD = 256, 64
"""So many units are sorted before they are looked up, if a word holds a unit and its number among them."""


@lru_cache
def rough(ratio: tuple[int, int]) -> float:
    """Give a scale as a float, or NaN if that loses too much."""
    scale = Fraction(*ratio)
    return float(scale) if 2.0**-1000 <= scale <= 2.0**1000 else math.nan


class Grain(NamedTuple):
    """How finely an envelope is drawn."""

    unit: int
    """How many units the weight 1 is."""
    whole: float
    """How many units a column has, whose best has the weight 1: exactly, as a float."""
    slope: float
    """OCTAVE * log2(e) / scale, rounded down: how many rungs down a gap is, ..."""
    top: float
    """... from this one, slightly above that of the base, ..."""
    farthest: float
    """... up to this gap, beyond which shares shrink no more."""
    shares: list[int]
    """The units of a column, by the rung that its best stands on."""
    table: Indices
    """The same as an array."""
    enough: float
    """So much room, in units of a column, and a proposal surely falls below the weight."""
    too_little: float
    """So little, and it surely does not."""
    minus_scale: float
    """Minus the scale, or NaN if floats cannot say."""


@lru_cache
def grain(ratio: tuple[int, int], bits: int, rows: int, width: int) -> Grain:
    """Choose units for a scale and fewer than 2**bits candidates: all fit into a word, if it is wide."""
    exact = enclose(lambda s: OCTAVE / (s * Ball(2).log()), Fraction(*ratio))
    slope = min(LARGEST, to_float_down(exact.low))
    finest = min(FINEST, max(width - SPARE - bits, min(bits, 62 - bits)))
    farthest = min(LARGEST, OCTAVE * finest / slope) if slope else LARGEST
    whole = float(rows << finest)
    error = whole * SLACK
    shares = [rows * share for share in ladder(finest)]
    return Grain(
        unit=1 << finest,
        whole=whole,
        slope=slope,
        top=len(shares) - 1 + TOP_ROOM,
        farthest=farthest,
        shares=shares,
        table=np.array(shares),
        enough=rows - 1 + error,
        too_little=-rows - error,
        minus_scale=-rough(ratio),
    )


@lru_cache
def ladder(finest: int) -> list[int]:
    """Give 2**(rung / OCTAVE), rounded up, for all rungs up to 2**finest, and that for one rung more."""
    shares = []
    for rung in range(OCTAVE * finest + 1):
        share = int(2.0 ** (rung / OCTAVE))
        while share**OCTAVE < 1 << rung:
            share += 1
        shares.append(share)
    return [*shares, 1 << finest]


def searched_in_order(ends: Indices, at: Indices, bits: int) -> Indices:
    """Look units up, the smallest first: the way from one to the next is short then.

    Each carries its number in so many bits, so that all can be put back; ``argsort`` takes longer.
    """
    numbered = at << bits
    numbered |= np.arange(len(at))
    numbered.sort()
    order = numbered & ((1 << bits) - 1)
    numbered >>= bits
    places = np.empty_like(order)
    places[order] = ends.searchsorted(numbered, "right")
    return places


def weights(gaps: list[float], scale: Fraction) -> list[float]:
    """Estimate exp(-g / scale); NaN if a float cannot say."""
    spread = rough(scale.as_integer_ratio())
    return [math.exp(gap / -spread) for gap in gaps]


class Envelope:
    """Proposals from a field, relative to a base score, and those of them that fall below the weights."""

    def __init__(self, field: Field, lead: Lead, scale: Fraction, width: int = 64) -> None:
        """Give every candidate its share, for random words of this width."""
        self.field = field
        self.lead = lead
        self.scale = scale
        self._columns, self._rows = columns, rows = field.columns, field.depth
        slots = columns * rows or field.size
        self._grain = chosen = grain(scale.as_integer_ratio(), slots.bit_length(), rows, width)
        self._ends: list[int] | Indices
        """How many units the places up to each have."""
        if field.size <= FEW and not columns and not len(lead.closed):
            _, _, slope, top, farthest, shares, *_ = chosen
            few_units = [
                shares[int(top - slope * (gap if gap < farthest else farthest))]  # noqa: FURB136 - faster
                for gap in field.few_gaps(lead)
            ]
            self._ends = list(accumulate(few_units))
            self._units = self._ends[-1]
        else:
            rungs = field.place_rungs(lead, chosen.slope, chosen.top)
            if len(rungs) > MANY:
                np.maximum(rungs, 0.0, out=rungs)
            below: Indices = rungs.astype(np.int64)
            del rungs
            units = chosen.table.take(below, mode="clip")
            del below
            if lead.alone is not None:
                units[columns:] //= rows
            units[lead.closed] = 0
            self._ends = np.add.accumulate(units, out=units)
            self._units = units.item(-1)

    @property
    def unit(self) -> int:
        """How many units the weight 1 is."""
        return self._grain.unit

    @property
    def rate(self) -> Fraction:
        """The sum of all shares, in weights."""
        return Fraction(self._units, self.unit)

    @property
    def float_rate(self) -> float:
        """The rate, rounded."""
        return self._units / self.unit

    def propose(self, count: int, randomness: Randomness) -> tuple[Indices, Indices]:
        """Draw units independently.

        Give whose they are, and how many units of the place are left, in units of a column: the unit is
        number ceil(left / rows) of a share. A candidate that there is not may be proposed too.
        """
        at = draws_below(self._units, count, randomness).view(np.int64)
        ends = np.asarray(self._ends)
        bits = count.bit_length()
        is_sorted = count >= SORTED_FROM and self._units.bit_length() + bits < WORD
        places = searched_in_order(ends, at, bits) if is_sorted else ends.searchsorted(at, "right")
        left = ends.take(places)
        left -= at
        columns = self._columns
        if not columns:
            return places, left
        candidates = left & (self._rows - 1)
        candidates *= columns
        candidates += places
        if self.lead.alone is not None:
            (alone,) = (places >= columns).nonzero()
            candidates[alone] = self.lead.alone.candidates[places[alone] - columns]
            left[alone] *= self._rows
        return candidates, left

    def propose_one(self, randomness: Randomness) -> tuple[int, int]:
        """Draw one unit as ``propose`` does, of a field without columns."""
        at = draw_below(self._units, randomness)
        ends = self._ends
        if isinstance(ends, list):
            place = bisect_right(ends, at)
            return place, ends[place] - at
        place = int(ends.searchsorted(at, "right"))
        return place, ends.item(place) - at

    def point(self, randomness: Randomness) -> int | None:
        """Make one proposal, in a field without columns; give its candidate if it falls below the weight."""
        candidate, left = self.propose_one(randomness)
        room = self._grain.whole * math.exp(self.log_weight(candidate)) - left
        return candidate if self._is_point(candidate, left, room, randomness) else None

    def points(self, proposals: int, randomness: Randomness) -> Iterator[tuple[int, int]]:
        """Make so many proposals; yield the candidates of those below their weights, and which they are."""
        candidates, left, rooms = self._with_room(proposals, randomness)
        outside = (rooms <= self._grain.too_little).tobytes()
        i = outside.find(0)
        while i >= 0:
            candidate = candidates.item(i)
            if candidate < self.field.size and self._is_point(
                candidate, left.item(i), rooms.item(i), randomness
            ):
                yield candidate, i + 1
            i = outside.find(0, i + 1)

    def all_points(self, proposals: int, randomness: Randomness) -> tuple[Indices, Indices]:
        """Give the same as arrays."""
        candidates, left, rooms = self._with_room(proposals, randomness)
        (kept,) = ((candidates < self.field.size) & ~(rooms <= self._grain.too_little)).nonzero()
        if not np.minimum.reduce(rooms.take(kept), initial=math.inf) >= self._grain.enough:
            kept = kept[
                [
                    self._is_point(candidates.item(i), left.item(i), rooms.item(i), randomness)
                    for i in kept.tolist()
                ]
            ]
        return candidates.take(kept), kept + 1

    def _with_room(self, proposals: int, randomness: Randomness) -> tuple[Indices, Indices, Floats]:
        """Make proposals; give also how much room, roughly, the weights leave above them."""
        candidates, left = self.propose(proposals, randomness)
        rooms = np.exp(self.log_weights(candidates))
        rooms *= self._grain.whole
        rooms -= left
        return candidates, left, rooms

    def _is_point(self, candidate: int, left: int, room: float, randomness: Randomness) -> bool:
        """Decide below + U < w, in units, for a uniform number U; the room is known roughly."""
        if room >= self._grain.enough:
            return True
        if room <= self._grain.too_little:
            return False
        below = (left - 1) // self._rows
        return bernoulli_enclosed(partial(self._room, candidate, below), randomness)

    def _room(self, candidate: int, below: int, precision: int) -> Enclosure:
        """Enclose w - below, in units."""
        behind, unit = self.exactly_behind(candidate), self.unit
        if behind is None:
            return Enclosure(Fraction(-below), Fraction(-below))
        if behind > precision + unit.bit_length():
            return Enclosure(Fraction(-below), Fraction(1, 2**precision) - below)
        low, high = exp(-behind, precision + unit.bit_length())
        return Enclosure(unit * low - below, unit * high - below)

    def log_weights(self, candidates: Indices) -> Floats:
        """Estimate -g / scale of candidates."""
        return self.field.gaps(candidates, self.lead.base) / self._grain.minus_scale

    def log_weight(self, candidate: int) -> float:
        """Estimate -g / scale of one candidate."""
        return self.field.rough_gap(candidate, self.lead.base) / self._grain.minus_scale

    def exactly_behind(self, candidate: int) -> Fraction | None:
        """Give g / scale; None for weight zero: whoever may not win."""
        gap = self.field.gap(candidate, self.lead.base)
        return None if gap is None else gap / self.scale
