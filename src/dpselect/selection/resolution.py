"""How finely an envelope is drawn: all of its numbers that do not depend on the scores.

They follow from the scale, the number of candidates, the size of blocks and the width of random words, which
are public. So they are computed once for each of these, and kept.

Proof: resolution.proof.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dpselect.exact.enclosures import Ball, enclose
from dpselect.exact.rounding import LARGEST_FLOAT, to_float_down
from dpselect.exact.vector_samplers import SLACK
from dpselect.selection.scores import Floats, Indices

STEPS_PER_DOUBLING = 16
"""Exponents: this many more, and a candidate has twice as many units."""

EXPONENT_ROOM = 2.0**-10
"""In exponents: all of them are this much too high, more than their rounding errors."""

MOST_UNIT_BITS = 48
"""Bits: the weight 1 is at most 2**48 units, so that a float holds any number of units."""

SPARE_WORD_BITS = 14
"""Bits that all units together leave free in a word: then a uniform word is rarely rejected."""

CLIP_ABOVE, IN_PLACE_ABOVE, AT_A_TIME = 8192, 65536, 4096
"""Numbers of cells. Above the first, negative exponents are raised to 0 all at once. Above the second, units
are written over exponents, to save memory: as many at a time as the third says."""


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
