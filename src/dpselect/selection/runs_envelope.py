"""An envelope over runs: for each run a whole number of units, at least its mass and hardly more.

The mass of a run is that of all its points: with x the gap of its best point from the best of all, in scales,
and d the fall from one point to the next, in scales, weight * exp(-x) * (1 + exp(-d) + exp(-2 d) + ...).
Floats estimate it to a relative 2**-38. A *proposal* is one of all units, drawn uniformly: one of the levels
0, 1, ... of a run. It is *accepted* if level + U < mass, in units, for a uniform number U. So each run is
proposed and accepted with a probability proportional to its mass, exactly.

Proof: runs_envelope.proof.md
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from dpselect.exact.enclosures import Ball, Enclosure, enclose
from dpselect.exact.randomness import Randomness
from dpselect.exact.samplers import bernoulli_enclosed, draw_below
from dpselect.selection.runs import Runs, WholeNumbers, best_score
from dpselect.selection.scores import Floats, Indices

TOTAL_BITS = 61
"""Bits: all masses together are at most 2**61 units, before each is rounded up."""

SPARE_BITS_OF_A_WORD = 3
"""Bits that all units leave free in a word, so that a uniform word is rarely rejected."""

ROOM = 2.0**-31
"""Relative: the units of a run exceed its estimated mass by this, and by one."""

DOUBT = 2.0**-32
"""Relative: a level that is nearer to the estimated mass is compared exactly."""

FARTHEST = 500.0
"""Scales: a run that is farther behind has the mass of less than a unit; floats are not asked for less."""

CUT_OFF_EXPONENT = 1000
"""Exponents of 2: larger numbers are cut down to 2**1000 before they become floats."""

SHORTEN_BELOW_EXPONENT = -600
"""Exponents of 2: a smaller unit of Python's integers is taken together with as many of their last bits."""

WORD = 2**64
"""Numbers that a word of 64 bits can hold."""


class RunsEnvelope:
    """Proposals among runs, and which of them are accepted."""

    def __init__(self, groups: Sequence[Runs], scale: Fraction, width: int = 64) -> None:
        """Give every run its units, for random words of this width."""
        self._groups, self._scale = groups, scale
        present = [runs.has_points() for runs in groups]
        tops = [runs.top(some) for runs, some in zip(groups, present, strict=True)]
        self._best = best_score(groups, tops)
        self._heaviest = max(runs.weight for runs in groups)
        masses = list(map(self._float_masses, groups, tops))
        n_runs = sum(map(len, masses))
        unit_bits = min(TOTAL_BITS, max(width - SPARE_BITS_OF_A_WORD, n_runs.bit_length() + 2))
        self._shift = unit_bits - math.frexp(sum(float(mass.sum()) for mass in masses))[1]
        self.estimates = [np.ldexp(mass, self._shift, out=mass) for mass in masses]
        """For each group, the estimated masses of its runs, in units."""
        self.cumulative_units = list(map(units_of, self.estimates, present))
        """For each group, the units of its runs up to each of them."""
        self._up_to = list(accumulate(int(units[-1]) if len(units) else 0 for units in self.cumulative_units))

    def _float_masses(self, runs: Runs, top: int | None) -> Floats:
        """Estimate the masses of runs, to a relative 2**-38; beyond FARTHEST they are less than a unit."""
        behind = Fraction(0) if top is None else self._best - runs.offset - runs.unit * top
        gaps = gap_floats(runs.scores, top or 0, runs.unit / self._scale)
        gaps += to_float(behind / self._scale)
        np.negative(np.minimum(gaps, FARTHEST, out=gaps), out=gaps)
        masses: Floats = np.exp(gaps, out=gaps)
        masses *= point_sums(runs, self._scale)
        masses *= to_float(runs.weight / self._heaviest)
        return masses

    @property
    def total_units(self) -> int:
        """The units of all runs."""
        return self._up_to[-1]

    def one_accepted(self, randomness: Randomness) -> tuple[int, int] | None:
        """Make one proposal; give its group and run if it is accepted."""
        group, run, level = self.propose(randomness)
        return (group, run) if self.is_accepted(group, run, level, randomness) else None

    def propose(self, randomness: Randomness) -> tuple[int, int, int]:
        """Draw one of all units; give its group, its run, and how many units of the run are before it."""
        at = draw_below(self.total_units, randomness)
        group = bisect_right(self._up_to, at)
        at -= self._up_to[group - 1] if group else 0
        cumulative = self.cumulative_units[group]
        run = int(cumulative.searchsorted(at, "right"))
        return group, run, at - (int(cumulative[run - 1]) if run else 0)

    def is_accepted(self, group: int, run: int, level: int, randomness: Randomness) -> bool:
        """Decide level + U < mass, in units: by the estimate if it is clear, exactly otherwise."""
        estimate = float(self.estimates[group][run])
        if level + 1 <= estimate * (1 - DOUBT):
            return True
        if level >= estimate * (1 + DOUBT) + 1:
            return False
        return bernoulli_enclosed(partial(self.exact_margin, group, run, level), randomness)

    def exact_margin(self, group: int, run: int, level: int, precision: int) -> Enclosure:
        """Enclose the mass of a run less a level, in units."""
        runs = self._groups[group]
        behind = (self._best - runs.score(run)) / self._scale
        count, decay = runs.count(run), runs.drop(run) / self._scale
        unit = runs.weight / self._heaviest * Fraction(2) ** self._shift
        most = unit * (1 + 1 / decay if count is None else count)
        bits = precision + math.ceil(most).bit_length()
        if behind > bits:
            return Enclosure(Fraction(-level), Fraction(1, 2**precision) - level)
        low, high = enclose(partial(_sum_of_points, count), behind, decay, precision=bits)
        return Enclosure(unit * low - level, unit * high - level)


def _sum_of_points(count: int | None, behind: Ball, decay: Ball) -> Ball:
    """Give exp(-x) * (1 + exp(-d) + exp(-2 d) + ...), of all points of a run."""
    if count is None:
        return -(-behind).exp() / (-decay).expm1()
    if decay == 0:
        return count * (-behind).exp()
    return (-behind).exp() * (-count * decay).expm1() / (-decay).expm1()


def units_of(estimates: Floats, has_points: NDArray[np.bool_]) -> Indices:
    """Round estimated masses up to units, none for a run without points, and add them up."""
    units: Indices = (estimates * (1 + ROOM)).astype(np.int64)
    units += 1
    units *= has_points
    return np.add.accumulate(units, out=units)


def gap_floats(scores: WholeNumbers, top: int, unit: Fraction) -> Floats:
    """Give (top - score) * unit as floats, where no score is above the top."""
    if scores.dtype != object:
        gaps: Floats = (np.uint64(top % WORD) - scores.view(np.uint64)).astype(np.float64)
        gaps *= to_float(unit)
        return gaps
    return multiples(top - scores, unit)


def point_sums(runs: Runs, scale: Fraction) -> Floats | float:
    """Give 1 + exp(-d) + exp(-2 d) + ... over the points of each run as floats."""
    counts: Floats | float = math.inf
    if isinstance(runs.counts, np.ndarray):
        counts = multiples(runs.counts, Fraction(1))
    elif runs.counts is not None:
        counts = float(runs.counts)
    if isinstance(runs.falls, int):
        return counts
    decays = multiples(runs.falls, runs.fall / scale)
    sums = np.expm1(-np.minimum(counts * decays, FARTHEST)) / np.expm1(-np.minimum(decays, FARTHEST))
    return np.where(decays > 0, sums, counts)


def multiples(whole_numbers: WholeNumbers, unit: Fraction) -> Floats:
    """Give multiples of a unit as floats; what is below zero as zero."""
    if whole_numbers.dtype != object:
        return whole_numbers.astype(np.float64) * to_float(unit)
    dropped = max(0, SHORTEN_BELOW_EXPONENT + unit.denominator.bit_length() - unit.numerator.bit_length())
    shortened = whole_numbers >> dropped if dropped else whole_numbers
    cut_off = np.minimum(np.maximum(shortened, 0), 2**CUT_OFF_EXPONENT)
    floats: Floats = cut_off.astype(np.float64) * to_float(unit * 2**dropped)
    return floats


def to_float(x: Fraction) -> float:
    """Round a number that is not negative, cut off at 2**1000."""
    return float(min(x, Fraction(2**CUT_OFF_EXPONENT)))
