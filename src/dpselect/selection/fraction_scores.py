"""The field of fractions: for scores that no array holds exactly.

Proof: fraction_scores.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpselect.exact.numbers import LARGEST, rounded
from dpselect.selection.scores import NOBODY, Base, Field, Floats, Indices, Lead, Optimize

SMALLEST = 2.0**-1000
"""A smaller float may be off by more than a relative 2**-52."""


class RationalField(Field):
    """Scores as fractions, None for a candidate that may not win: slower, and exact for any number."""

    def __init__(self, values: Sequence[Fraction | None], optimize: Optimize) -> None:
        """Keep the scores."""
        self.size = len(values)
        self._largest = optimize == "max"
        self._values = values

    def leaders(self, k: int) -> Lead | None:
        """Sort those that may win, or just find the best of them."""
        scores = [value for value in self._values if value is not None]
        if len(scores) < k:
            return None
        if k == 1:
            return Lead(max(scores) if self._largest else min(scores), NOBODY, NOBODY)
        may_win = [i for i, value in enumerate(self._values) if value is not None]
        may_win.sort(key=self.score, reverse=True)
        stars = np.array(may_win[: k - 1])
        return Lead(self._values[may_win[k - 1]], stars, stars)

    def place_rungs(self, lead: Lead, slope: float, top: float) -> Floats:
        """Multiply gaps."""
        return top - slope * np.minimum(self.few_gaps(lead), LARGEST)

    def few_gaps(self, lead: Lead) -> list[float]:
        """Round every gap; where floats are coarse, down."""
        gaps = [self._rounded_gap(value, lead.base) for value in self._values]
        return [math.nextafter(gap, 0.0) if gap < SMALLEST else gap for gap in gaps]

    def gaps(self, candidates: Indices, base: Base) -> Floats:
        """Round every gap."""
        return np.array([self.rough_gap(i, base) for i in candidates.tolist()])

    def rough_gap(self, candidate: int, base: Base) -> float:
        """Round the gap, unless it is so small that a float loses too much of it."""
        value = self._values[candidate]
        gap = self._rounded_gap(value, base)
        return math.nan if gap < SMALLEST and value != base else gap

    def _rounded_gap(self, value: Fraction | None, base: Fraction) -> float:
        if value is None:
            return math.inf
        (top, bottom), (base_top, base_bottom) = value.as_integer_ratio(), base.as_integer_ratio()
        return rounded(abs(base_top * bottom - top * base_bottom), base_bottom * bottom)

    def gap(self, candidate: int, base: Base) -> Fraction | None:
        """Subtract."""
        value = self._values[candidate]
        return None if value is None else abs(base - value)

    def are_level(self, candidates: Indices, base: Base) -> NDArray[np.bool_]:
        """Compare."""
        return np.array([self.is_level(i, base) for i in candidates.tolist()], dtype=bool)

    def is_level(self, candidate: int, base: Base) -> bool:
        """Compare."""
        return bool(self._values[candidate] == base)

    def ties(self, base: Base) -> Indices:
        """Compare."""
        return np.array([i for i, value in enumerate(self._values) if value == base], dtype=np.int64)

    def eligible(self) -> int:
        """Count what is not None."""
        return self.size - list(self._values).count(None)

    def turned(self, base: Base) -> Fraction:
        """Turn a fraction."""
        return Fraction(base if self._largest else -base)

    def score(self, candidate: int) -> Fraction:
        """Read one score."""
        return self.turned(self._values[candidate])

    def float_scores(self, candidates: Indices) -> Floats:
        """Round."""
        scores = [self.score(i).as_integer_ratio() for i in candidates.tolist()]
        sizes = np.array([rounded(abs(top), bottom) for top, bottom in scores])
        return np.where([top < 0 for top, _ in scores], -sizes, sizes)
