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
from functools import partial
from itertools import accumulate

import numpy as np

from dpselect.exact.enclosures import Enclosure, exp
from dpselect.exact.randomness import Randomness
from dpselect.exact.samplers import bernoulli_enclosed, draw_below
from dpselect.exact.vector_samplers import draws_below
from dpselect.selection.resolution import float_scale, resolution
from dpselect.selection.scores import Floats, Indices, ScoreVector, Threshold

LISTS_UP_TO = 32
"""Candidates: up to this number, lists are faster than arrays."""

SORT_FROM, WORD_BITS = 256, 64
"""This many proposals, or more, are sorted before the look-up, if unit and number fit a word of 64 bits."""


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
