"""The envelope: for each candidate a whole number of units, at least its weight and little more.

A candidate with gap g has the weight w = exp(-g / scale), and 2**f units are the weight 1. If its cell has
the exponent j, with w 2**f <= 2**(j / 16), the candidate gets ceil(2**(j / 16)) units. Exponents are computed
in floats, with room for their errors, and looked up in a table of powers. A *proposal* is one of all units,
drawn uniformly: unit m of a candidate. It is *accepted* if m - 1 + U < w 2**f for a uniform number U. So each
candidate is proposed and accepted with a probability proportional to its weight, exactly.

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
from dpselect.exact.randomness import Randomness
from dpselect.exact.rounding import LARGEST_FLOAT, to_float_down
from dpselect.exact.samplers import bernoulli_enclosed, draw_below
from dpselect.exact.vector_samplers import SLACK, draws_below
from dpselect.selection.scores import Floats, Indices, ScoreVector, Threshold

STEPS_PER_DOUBLING = 16
"""Exponents: this many more, and a candidate has twice as many units."""

EXPONENT_ROOM = 2.0**-10
"""In exponents: all of them are this much too high, more than their rounding errors."""

MOST_UNIT_BITS = 48
"""Bits: the weight 1 is at most 2**48 units, so that a float holds any number of units."""

SPARE_WORD_BITS = 14
"""Bits that all units together leave free in a word: then a uniform word is rarely rejected."""

LISTS_UP_TO = 32
"""Candidates: up to this number, lists are faster than arrays."""

CLIP_ABOVE, IN_PLACE_ABOVE, AT_A_TIME = 8192, 65536, 4096
"""Numbers of cells. Above the first, negative exponents are raised to 0 all at once. Above the second, units
are written over exponents, to save memory: as many at a time as the third says."""

SORT_FROM, WORD_BITS = 256, 64
"""This many proposals, or more, are sorted before the look-up, if unit and number fit a word of 64 bits."""


@lru_cache
def float_scale(ratio: tuple[int, int]) -> float:
    """Round a scale to a float; NaN outside 2**-1000 ... 2**1000, where floats lose too much."""
    scale = Fraction(*ratio)
    return float(scale) if 2.0**-1000 <= scale <= 2.0**1000 else math.nan


class Resolution(NamedTuple):
    """How many units the weight 1 is, and the float bounds that follow from it."""

    units_of_one: int
    """Units of the weight 1: 2**f."""
    units_of_full_block: float
    """Units of a block whose best candidate has the weight 1; as a float, which is exact."""
    slope: float
    """16 * log2(e) / scale, rounded down: the exponent of a gap g is top - slope * g, ..."""
    top: float
    """... with this for the gap 0, ..."""
    gap_limit: float
    """... up to this gap; a candidate with a larger one gets one unit."""
    units_at: list[int]
    """Units of a block, by the exponent of its best candidate."""
    units_table: Indices
    """The same as an array."""
    accept_above: float
    """A proposal with at least this margin, in units of a block, is certainly accepted."""
    reject_below: float
    """A proposal with at most this margin is certainly rejected."""
    minus_scale: float
    """Minus the scale as a float, or NaN."""

    def cell_units(self, exponents: Floats) -> Indices:
        """Look units up; exponents below 0 count as 0. Of many, parts are written over their exponents."""
        if len(exponents) > CLIP_ABOVE:
            np.maximum(exponents, 0.0, out=exponents)
        if len(exponents) <= IN_PLACE_ABOVE:
            return self.units_table.take(exponents.astype(np.int64), mode="clip")
        units = exponents.view(np.int64)
        for start in range(0, len(units), AT_A_TIME):
            part = slice(start, start + AT_A_TIME)
            units[part] = self.units_table.take(exponents[part].astype(np.int64), mode="clip")
        return units


@lru_cache
def resolution(ratio: tuple[int, int], bits: int, rows: int, width: int) -> Resolution:
    """Choose f for a scale and fewer than 2**bits candidates, so that all units fit a wide word."""
    exact = enclose(lambda s: STEPS_PER_DOUBLING / (s * Ball(2).log()), Fraction(*ratio))
    slope = min(LARGEST_FLOAT, to_float_down(exact.low))
    unit_bits = min(MOST_UNIT_BITS, max(width - SPARE_WORD_BITS - bits, min(bits, 62 - bits)))
    gap_limit = min(LARGEST_FLOAT, STEPS_PER_DOUBLING * unit_bits / slope) if slope else LARGEST_FLOAT
    units_of_full_block = float(rows << unit_bits)
    error = units_of_full_block * SLACK
    units_at = [rows * power for power in power_table(unit_bits)]
    return Resolution(
        units_of_one=1 << unit_bits,
        units_of_full_block=units_of_full_block,
        slope=slope,
        top=len(units_at) - 1 + EXPONENT_ROOM,
        gap_limit=gap_limit,
        units_at=units_at,
        units_table=np.array(units_at),
        accept_above=rows - 1 + error,
        reject_below=-rows - error,
        minus_scale=-float_scale(ratio),
    )


@lru_cache
def power_table(unit_bits: int) -> list[int]:
    """Give 2**(j / 16), rounded up, for j = 0 ... 16 f, and 2**f once more for j = 16 f + 1."""
    units_at = []
    for exponent in range(STEPS_PER_DOUBLING * unit_bits + 1):
        power = int(2.0 ** (exponent / STEPS_PER_DOUBLING))
        while power**STEPS_PER_DOUBLING < 1 << exponent:
            power += 1
        units_at.append(power)
    return [*units_at, 1 << unit_bits]


def find_cells_in_order(cumulative: Indices, at: Indices, bits: int) -> Indices:
    """Find the cells of units, the smallest unit first, which is faster in a long table.

    Each unit carries its place in the order in its lowest ``bits`` bits; ``argsort`` would take longer.
    """
    numbered = at << bits
    numbered |= np.arange(len(at))
    numbered.sort()
    order = numbered & ((1 << bits) - 1)
    numbered >>= bits
    cells = np.empty_like(order)
    cells[order] = cumulative.searchsorted(numbered, "right")
    return cells


def float_weights(float_gaps: list[float], scale: Fraction) -> list[float]:
    """Estimate the weights exp(-g / scale); NaN where floats lose too much."""
    as_float = float_scale(scale.as_integer_ratio())
    return [math.exp(gap / -as_float) for gap in float_gaps]


class Envelope:
    """Proposals among the candidates that are not individual, and which of them are accepted."""

    def __init__(self, vector: ScoreVector, threshold: Threshold, scale: Fraction, width: int = 64) -> None:
        """Give every candidate its units, for random words of this width."""
        self.vector = vector
        self.threshold = threshold
        self.scale = scale
        self._blocks, self._rows = blocks, rows = vector.blocks, vector.block_size
        slots = blocks * rows or vector.n
        self._resolution = chosen = resolution(scale.as_integer_ratio(), slots.bit_length(), rows, width)
        self._cumulative_units: list[int] | Indices
        """For each cell, the units of all cells up to it."""
        if vector.n <= LISTS_UP_TO and not blocks and not len(threshold.empty_cells):
            _, _, slope, top, gap_limit, units_at, *_ = chosen
            cell_units = [
                units_at[int(top - slope * (gap if gap < gap_limit else gap_limit))]  # noqa: FURB136 - faster
                for gap in vector.all_float_gaps(threshold)
            ]
            self._cumulative_units = list(accumulate(cell_units))
            self._total_units = self._cumulative_units[-1]
        else:
            exponents = vector.cell_exponents(threshold, chosen.slope, chosen.top)
            units = chosen.cell_units(exponents)
            if threshold.extracted is not None:
                units[blocks:] //= rows
            units[threshold.empty_cells] = 0
            self._cumulative_units = np.add.accumulate(units, out=units)
            self._total_units = units.item(-1)

    @property
    def units_of_one(self) -> int:
        """Units of the weight 1."""
        return self._resolution.units_of_one

    @property
    def rate(self) -> Fraction:
        """All units, as a weight: the rate of proposals."""
        return Fraction(self._total_units, self.units_of_one)

    @property
    def float_rate(self) -> float:
        """The rate, rounded."""
        return self._total_units / self.units_of_one

    def propose(self, count: int, randomness: Randomness) -> tuple[Indices, Indices]:
        """Draw units independently and uniformly; give their candidates and remainders.

        A remainder counts the units of the cell from the drawn one on, in units of a block: the unit has
        number ceil(remainder / rows) among those of its candidate. Indices of n or more stand for no
        candidate.
        """
        at = draws_below(self._total_units, count, randomness).view(np.int64)
        cumulative = np.asarray(self._cumulative_units)
        bits = count.bit_length()
        is_sorted = count >= SORT_FROM and self._total_units.bit_length() + bits < WORD_BITS
        cells = (
            find_cells_in_order(cumulative, at, bits) if is_sorted else cumulative.searchsorted(at, "right")
        )
        remainder = cumulative.take(cells)
        remainder -= at
        blocks = self._blocks
        if not blocks:
            return cells, remainder
        candidates = remainder & (self._rows - 1)
        candidates *= blocks
        candidates += cells
        if self.threshold.extracted is not None:
            (extracted,) = (cells >= blocks).nonzero()
            candidates[extracted] = self.threshold.extracted.at(cells[extracted] - blocks)
            remainder[extracted] *= self._rows
        return candidates, remainder

    def propose_one(self, randomness: Randomness) -> tuple[int, int]:
        """Draw one unit as ``propose`` does, where there are no blocks."""
        at = draw_below(self._total_units, randomness)
        cumulative = self._cumulative_units
        if isinstance(cumulative, list):
            cell = bisect_right(cumulative, at)
            return cell, cumulative[cell] - at
        cell = int(cumulative.searchsorted(at, "right"))
        return cell, cumulative.item(cell) - at

    def one_accepted(self, randomness: Randomness) -> int | None:
        """Make one proposal, where there are no blocks; give its candidate if it is accepted."""
        candidate, remainder = self.propose_one(randomness)
        margin = self._resolution.units_of_full_block * math.exp(self.log_weight(candidate)) - remainder
        return candidate if self._is_accepted(candidate, remainder, margin, randomness) else None

    def each_accepted(self, proposals: int, randomness: Randomness) -> Iterator[tuple[int, int]]:
        """Make proposals; yield the accepted candidates, each with the number of its proposal, from 1 on."""
        candidates, remainder, margins = self._with_margins(proposals, randomness)
        outside = (margins <= self._resolution.reject_below).tobytes()
        i = outside.find(0)
        while i >= 0:
            candidate = candidates.item(i)
            if candidate < self.vector.n and self._is_accepted(
                candidate, remainder.item(i), margins.item(i), randomness
            ):
                yield candidate, i + 1
            i = outside.find(0, i + 1)

    def all_accepted(self, proposals: int, randomness: Randomness) -> tuple[Indices, Indices]:
        """Give as arrays what ``each_accepted`` yields."""
        candidates, remainder, margins = self._with_margins(proposals, randomness)
        (kept,) = ((candidates < self.vector.n) & ~(margins <= self._resolution.reject_below)).nonzero()
        if not np.minimum.reduce(margins.take(kept), initial=math.inf) >= self._resolution.accept_above:
            kept = kept[
                [
                    self._is_accepted(candidates.item(i), remainder.item(i), margins.item(i), randomness)
                    for i in kept.tolist()
                ]
            ]
        return candidates.take(kept), kept + 1

    def _with_margins(self, proposals: int, randomness: Randomness) -> tuple[Indices, Indices, Floats]:
        """Make proposals; give also their float margins: weight, in units of a block, less remainder."""
        candidates, remainder = self.propose(proposals, randomness)
        margins = np.exp(self.log_weights(candidates))
        margins *= self._resolution.units_of_full_block
        margins -= remainder
        return candidates, remainder, margins

    def _is_accepted(self, candidate: int, remainder: int, margin: float, randomness: Randomness) -> bool:
        """Decide m - 1 + U < w, in units: by the float margin if it is clear, exactly otherwise."""
        if margin >= self._resolution.accept_above:
            return True
        if margin <= self._resolution.reject_below:
            return False
        below = (remainder - 1) // self._rows
        return bernoulli_enclosed(partial(self._exact_margin, candidate, below), randomness)

    def _exact_margin(self, candidate: int, below: int, precision: int) -> Enclosure:
        """Enclose w - below, in units, where below is m - 1."""
        gap_in_scales, units_of_one = self.exact_gap_in_scales(candidate), self.units_of_one
        if gap_in_scales is None:
            return Enclosure(Fraction(-below), Fraction(-below))
        if gap_in_scales > precision + units_of_one.bit_length():
            return Enclosure(Fraction(-below), Fraction(1, 2**precision) - below)
        low, high = exp(-gap_in_scales, precision + units_of_one.bit_length())
        return Enclosure(units_of_one * low - below, units_of_one * high - below)

    def log_weights(self, candidates: Indices) -> Floats:
        """Estimate ln(w) = -g / scale of some candidates."""
        return self.vector.float_gaps(candidates, self.threshold.kth_best) / self._resolution.minus_scale

    def log_weight(self, candidate: int) -> float:
        """Estimate ln(w) = -g / scale of one candidate."""
        return self.vector.float_gap(candidate, self.threshold.kth_best) / self._resolution.minus_scale

    def exact_gap_in_scales(self, candidate: int) -> Fraction | None:
        """Give g / scale exactly; None for an ineligible candidate, whose weight is zero."""
        gap = self.vector.gap(candidate, self.threshold.kth_best)
        return None if gap is None else gap / self.scale
