"""Scores as fractions, for numbers that no NumPy type holds exactly, such as 1/3 or 10**400.

Slower than an array, and exact for any number. Every candidate is a cell; there are no blocks.

Proof: fraction_scores.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpselect.exact.rounding import LARGEST_FLOAT, rounded
from dpselect.selection.scores import NO_CANDIDATES, Floats, Indices, Optimize, Score, ScoreVector, Threshold

SMALLEST_FLOAT_GAP = 2.0**-1000
"""Below this, a rounded gap may be off by more than a relative 2**-52."""


class FractionScores(ScoreVector):
    """Scores as fractions, None for an ineligible candidate."""

    def __init__(self, values: Sequence[Fraction | None], optimize: Optimize) -> None:
        """Keep the list."""
        self.n = len(values)
        self._maximizes = optimize == "max"
        self._values = values

    def find_threshold(self, k: int) -> Threshold | None:
        """Sort the eligible candidates, or find the best of them if k is 1."""
        scores = [value for value in self._values if value is not None]
        if len(scores) < k:
            return None
        if k == 1:
            return Threshold(max(scores) if self._maximizes else min(scores), NO_CANDIDATES, NO_CANDIDATES)
        eligible = [i for i, value in enumerate(self._values) if value is not None]
        eligible.sort(key=self.score, reverse=True)
        individual = np.array(eligible[: k - 1])
        return Threshold(self._values[eligible[k - 1]], individual, individual)

    def cell_exponents(self, threshold: Threshold, slope: float, top: float) -> Floats:
        """Multiply the float gaps."""
        return top - slope * np.minimum(self.all_float_gaps(threshold), LARGEST_FLOAT)

    def all_float_gaps(self, threshold: Threshold) -> list[float]:
        """Round every gap to nearest, but down where floats are coarse."""
        float_gaps = [self._rounded_gap(value, threshold.kth_best) for value in self._values]
        return [math.nextafter(gap, 0.0) if gap < SMALLEST_FLOAT_GAP else gap for gap in float_gaps]

    def float_gaps(self, candidates: Indices, kth_best: Score) -> Floats:
        """Round the gaps of some candidates."""
        return np.array([self.float_gap(i, kth_best) for i in candidates.tolist()])

    def float_gap(self, candidate: int, kth_best: Score) -> float:
        """Round the gap; NaN if it is so small that floats are coarse, and not zero."""
        value = self._values[candidate]
        gap = self._rounded_gap(value, kth_best)
        return math.nan if gap < SMALLEST_FLOAT_GAP and value != kth_best else gap

    def _rounded_gap(self, value: Fraction | None, kth_best: Fraction) -> float:
        if value is None:
            return math.inf
        (top, bottom), (best_top, best_bottom) = value.as_integer_ratio(), kth_best.as_integer_ratio()
        return rounded(abs(best_top * bottom - top * best_bottom), best_bottom * bottom)

    def gap(self, candidate: int, kth_best: Score) -> Fraction | None:
        """Subtract fractions."""
        value = self._values[candidate]
        return None if value is None else abs(kth_best - value)

    def are_tied(self, candidates: Indices, kth_best: Score) -> NDArray[np.bool_]:
        """Compare some scores."""
        return np.array([self.is_tied(i, kth_best) for i in candidates.tolist()], dtype=bool)

    def is_tied(self, candidate: int, kth_best: Score) -> bool:
        """Compare one score."""
        return bool(self._values[candidate] == kth_best)

    def ties(self, kth_best: Score) -> Indices:
        """Compare all scores."""
        return np.array([i for i, value in enumerate(self._values) if value == kth_best], dtype=np.int64)

    def count_eligible(self) -> int:
        """Count what is not None."""
        return self.n - list(self._values).count(None)

    def eligible(self) -> Indices:
        """List what is not None."""
        return np.array([i for i, value in enumerate(self._values) if value is not None], dtype=np.int64)

    def oriented(self, kth_best: Score) -> Fraction:
        """Multiply by -1 if the least score wins."""
        return Fraction(kth_best if self._maximizes else -kth_best)

    def score(self, candidate: int) -> Fraction:
        """Read one score."""
        return self.oriented(self._values[candidate])

    def float_scores(self, candidates: Indices) -> Floats:
        """Round each score to nearest."""
        scores = [self.score(i).as_integer_ratio() for i in candidates.tolist()]
        sizes = np.array([rounded(abs(top), bottom) for top, bottom in scores])
        return np.where([top < 0 for top, _ in scores], -sizes, sizes)
