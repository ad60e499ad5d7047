"""Scores in a NumPy array: one pass finds the best of each block, then only the best blocks are read again.

The array is seen, without a copy, as a table with ``blocks`` columns and ``block_size`` rows; a block is a
column. The maximum down each column costs about as much as ``values.max()``.

Proof: array_scores.proof.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dpselect.selection.scores import (
    NO_CANDIDATES,
    Extracted,
    Floats,
    Indices,
    IneligibleWins,
    NotAScore,
    Optimize,
    Score,
    ScoreVector,
    Threshold,
)

NO_BLOCKS_UP_TO = 4096
"""Candidates: shorter vectors are read candidate by candidate."""

MANY_WINNERS = 32
"""Winners: from here on blocks are small, because the candidates of 2 k blocks are extracted."""

BLOCK_SIZE, BLOCK_SIZE_FOR_MANY, LARGE_BLOCK_SIZE = 64, 32, 256
"""Candidates in a block; large blocks for long vectors."""

DOUBLE_BYTES = 8
"""Bytes of a double or of a 64-bit integer; narrower numbers are widened before arithmetic."""

LARGEST_SCALED_SCORE = 2.0**36
"""If |T| * slope is less, scores are multiplied as they are; if it is more, gaps are: rounding T would cost
too many bits of an exponent."""

GROUP_SIZE, FEWEST_GROUPS = 8, 64
"""Values in a group, and groups, from which on the best groups are found first, and then the best values."""

BLOCKS_PER_WINNER = 2
"""Blocks to extract for each winner: candidates in the other blocks are then rarely proposed."""

LARGE_BLOCKS_ABOVE = 2_000_000
"""Candidates: for longer vectors the best scores of small blocks would not fit the processor's cache."""


class ArrayScores(ScoreVector):
    """Scores in a NumPy array of integers or of floats up to 64 bits, of any stride, read in place."""

    def __init__(self, values: NDArray[Any], optimize: Optimize, block_size: int = 1) -> None:
        """Find the best score of each block, and the best of all.

        Raises NotAScore for NaN and plus infinity, IneligibleWins for minus infinity where the least score
        wins.
        """
        self.n = len(values)
        self._values = self._block_best = values
        self._maximizes = optimize == "max"
        self._better_of = np.maximum if self._maximizes else np.minimum
        self._floats = values.dtype.kind == "f"
        if block_size > 1:
            self.blocks = -(-self.n // block_size)
            self.block_size = block_size
            self._block_best = self._best_of_each_block()
        best = self._block_best
        self._best_of_all = best.item(best.argmax() if self._maximizes else best.argmin())
        if self._floats:
            largest = self._best_of_all if self._maximizes else values.max()
            if not largest < math.inf:
                raise NotAScore
            if not self._maximizes and self._best_of_all == -math.inf:
                raise IneligibleWins

    def _best_of_each_block(self) -> NDArray[Any]:
        """Read every score once; the last row may be short."""
        full_rows, short_row = self._as_rows()
        best: NDArray[Any] = self._better_of.reduce(full_rows)
        short = len(short_row)
        if short:
            self._better_of(best[:short], short_row, out=best[:short])
        return best

    def _as_rows(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """View the full rows as a table, and the last row apart if it is short."""
        rows, short = divmod(self.n, self.blocks)
        full = self.n - short
        return self._values[:full].reshape(rows, self.blocks), self._values[full:]

    def find_threshold(self, k: int) -> Threshold | None:
        """Find the k best among the candidates of the best blocks."""
        if k == 1:
            return (
                None
                if self._best_of_all == -math.inf
                else Threshold(self._best_of_all, NO_CANDIDATES, NO_CANDIDATES)
            )
        threshold = self._without_blocks(k) if 2 * k >= self.blocks else self._extract(k)
        return None if threshold.kth_best == -math.inf else threshold

    def _without_blocks(self, k: int) -> Threshold:
        """Search all candidates: with at most 2 k blocks, blocks would not help."""
        self.blocks, self.block_size, self._block_best = 0, 1, self._values
        kth_best, individual = self._find_best(self._values, k)
        return Threshold(kth_best, individual, individual)

    def _extract(self, k: int) -> Threshold:
        """Extract the best blocks: the k best candidates are among theirs."""
        _, blocks = self._find_best(
            self._block_best, min(BLOCKS_PER_WINNER * k, max(k, self.blocks // 64)) + 1
        )
        blocks.sort()
        scores = self._block_members(blocks).reshape(-1)
        short = self.n % self.blocks
        if short:
            scores = scores[: len(scores) - len(blocks) + int(blocks.searchsorted(short))]
        kth_best, individual = self._find_best(scores, k)
        extracted = Extracted(blocks, self.blocks, scores)
        empty_cells = np.append(blocks, individual + self.blocks)
        return Threshold(kth_best, extracted.at(individual), empty_cells, extracted)

    def _block_members(self, blocks: Indices) -> NDArray[Any]:
        """Give the scores in some blocks, row by row; any number where a short last row has no candidate."""
        full_rows, short_row = self._as_rows()
        if self._values.flags.c_contiguous:
            table = full_rows.take(blocks, axis=1, mode="clip")
        else:
            table = np.ascontiguousarray(full_rows[:, blocks])
        return np.vstack((table, short_row.take(blocks, mode="clip"))) if len(short_row) else table

    def _find_best(self, values: NDArray[Any], k: int) -> tuple[Score, Indices]:
        """Find the k-th best value and the positions of k - 1 that are no worse.

        Of many values the k best groups are found first. The number of values read does not depend on the
        values.
        """
        groups = len(values) // GROUP_SIZE
        if groups < max(2 * k, FEWEST_GROUPS):
            return self._find_best_by_sorting(values, k)
        in_groups = values[: groups * GROUP_SIZE].reshape(GROUP_SIZE, groups)
        _, best = self._find_best(self._better_of.reduce(in_groups), k + 1)
        considered = (best + groups * np.arange(GROUP_SIZE)[:, None]).reshape(-1)
        considered = np.append(considered, np.arange(groups * GROUP_SIZE, len(values)))
        kth_best, positions = self._find_best_by_sorting(values[considered], k)
        return kth_best, considered.take(positions)

    def _find_best_by_sorting(self, values: NDArray[Any], k: int) -> tuple[Score, Indices]:
        """Find the same by sorting; ``np.partition`` takes twenty times as long on ties."""
        kth_best = np.sort(values).item(-k if self._maximizes else k - 1)
        above = np.flatnonzero(values > kth_best if self._maximizes else values < kth_best)
        return kth_best, np.append(above, np.flatnonzero(values == kth_best)[: k - 1 - len(above)])

    def _gaps_of(self, values: NDArray[Any], kth_best: Score) -> Floats:
        """Subtract: floats in double precision, integers exactly modulo 2**64 and then rounded."""
        widened = self._widened(values)
        float_gaps: NDArray[Any] = kth_best - widened if self._maximizes else widened - kth_best
        return float_gaps if self._floats else float_gaps.view(np.uint64).astype(np.float64)

    def _widened(self, values: NDArray[Any]) -> NDArray[Any]:
        return (
            values
            if values.itemsize == DOUBLE_BYTES
            else values.astype(np.float64 if self._floats else np.int64)
        )

    def cell_exponents(self, threshold: Threshold, slope: float, top: float) -> Floats:
        """Use the best score of each block, and the scores of extracted candidates."""
        best, kth_best = self._block_best, threshold.kth_best
        if threshold.extracted is None:
            return self._exponents(best, kth_best, slope, top)
        exponents = np.empty(len(best) + len(threshold.extracted.scores))
        self._exponents(best, kth_best, slope, top, exponents[: len(best)])
        self._exponents(threshold.extracted.scores, kth_best, slope, top, exponents[len(best) :])
        return exponents

    def _exponents(
        self, values: NDArray[Any], kth_best: Score, slope: float, top: float, out: Floats | None = None
    ) -> Floats:
        """Multiply scores, or gaps if the threshold is large (LARGEST_SCALED_SCORE)."""
        if abs(kth_best) * slope < LARGEST_SCALED_SCORE:
            numbers, zero, factor = self._widened(values), kth_best, slope if self._maximizes else -slope
        else:
            numbers, zero, factor = self._gaps_of(values, kth_best), 0, -slope
        exponents: Floats = np.multiply(numbers, factor, out=out)
        exponents += top - zero * factor
        return exponents

    def all_float_gaps(self, threshold: Threshold) -> list[float]:
        """Subtract: floats in Python, which is fastest for few and does not warn; integers in NumPy."""
        kth_best = threshold.kth_best
        if not self._floats:
            return cast("list[float]", self._gaps_of(self._values, kth_best).tolist())
        values = self._values.tolist()
        return (
            [kth_best - value for value in values]
            if self._maximizes
            else [value - kth_best for value in values]
        )

    def float_gaps(self, candidates: Indices, kth_best: Score) -> Floats:
        """Look up and subtract."""
        return self._gaps_of(self._look_up(candidates), kth_best)

    def _look_up(self, candidates: Indices) -> NDArray[Any]:
        """Look scores up; ``take`` is faster, but would copy a whole array that is not contiguous."""
        if self._values.flags.c_contiguous:
            return self._values.take(candidates, mode="clip")
        return self._values[np.minimum(candidates, self.n - 1)]

    def float_gap(self, candidate: int, kth_best: Score) -> float:
        """Subtract Python numbers: integers exactly, then rounded once."""
        return float(abs(kth_best - self._values.item(candidate)))

    def gap(self, candidate: int, kth_best: Score) -> Fraction | None:
        """Subtract fractions."""
        value = self._values.item(candidate)
        return None if value == -math.inf else abs(Fraction(kth_best) - Fraction(value))

    def are_tied(self, candidates: Indices, kth_best: Score) -> NDArray[np.bool_]:
        """Compare scores of the array's own type."""
        tied: NDArray[np.bool_] = self._values[candidates] == kth_best
        return tied

    def is_tied(self, candidate: int, kth_best: Score) -> bool:
        """Compare one score."""
        return bool(self._values.item(candidate) == kth_best)

    def ties(self, kth_best: Score) -> Indices:
        """Compare all scores."""
        return np.flatnonzero(self._values == kth_best)

    def count_eligible(self) -> int:
        """Count scores above minus infinity; an integer always is."""
        return int(np.count_nonzero(self._values > -math.inf)) if self._floats else self.n

    def eligible(self) -> Indices:
        """Compare with minus infinity."""
        return np.flatnonzero(self._values > -math.inf)

    def oriented(self, kth_best: Score) -> Fraction:
        """Turn a Python number into a fraction."""
        return Fraction(kth_best if self._maximizes else -kth_best)

    def score(self, candidate: int) -> Fraction:
        """Read one score."""
        return self.oriented(self._values.item(candidate))

    def float_scores(self, candidates: Indices) -> Floats:
        """Round to doubles, then orient: unsigned integers have no negatives."""
        return self._values[candidates].astype(np.float64) * (1 if self._maximizes else -1)


def block_size_for(n: int, k: int) -> int:
    """Choose the size of blocks: larger ones are fewer, but more of the proposals from them are rejected."""
    if n <= NO_BLOCKS_UP_TO:
        return 1
    if n > LARGE_BLOCKS_ABOVE:
        return LARGE_BLOCK_SIZE
    return BLOCK_SIZE if k < MANY_WINNERS else BLOCK_SIZE_FOR_MANY
