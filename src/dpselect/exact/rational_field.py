"""The field of fractions: for scores that no array holds exactly.

Proof: rational_field.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpselect.exact.field import Base, Field, Floats, Indices, Lead, Optimize
from dpselect.exact.numbers import to_float_down

SMALLEST = Fraction(1, 2**1000)
"""Smaller gaps may be too small to be rounded by a relative 2**-52."""


class RationalField(Field):
    """Scores as fractions, None for a candidate that may not win: slower, and exact for any number."""

    def __init__(self, values: Sequence[Fraction | None], optimize: Optimize) -> None:
        """Keep the scores, turned so that the largest is the best."""
        self.size = len(values)
        self._sign = 1 if optimize == "max" else -1
        self._values = values

    def leaders(self, k: int) -> Lead | None:
        """Sort those that may win."""
        scores = sorted((self._sign * value for value in self._values if value is not None), reverse=True)
        if len(scores) < k:
            return None
        base = self._sign * scores[k - 1]
        found = [i for i, x in enumerate(self._values) if x is not None and self._sign * (x - base) > 0]
        ahead = np.array(found, dtype=np.int64)
        return Lead(base, ahead, ahead)

    def place_gaps(self, lead: Lead) -> Floats:
        """Round every gap down."""
        exact = (self.gap(i, lead.base) for i in range(self.size))
        gaps = np.array([math.inf if gap is None else to_float_down(gap) for gap in exact])
        gaps[lead.closed] = 0.0
        return gaps

    def gaps(self, candidates: Indices, base: Base) -> Floats:
        """Round every gap down."""
        return np.array([self.rough_gap(i, base) for i in candidates.tolist()])

    def rough_gap(self, candidate: int, base: Base) -> float:
        """Round the gap down, unless it is so small that a float loses too much of it."""
        gap = self.gap(candidate, base)
        if gap is None:
            return math.inf
        return math.nan if 0 < gap < SMALLEST else to_float_down(gap)

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
        return Fraction(self._sign * base)

    def score(self, candidate: int) -> Fraction:
        """Read one score."""
        return self.turned(self._values[candidate])

    def float_scores(self, candidates: Indices) -> Floats:
        """Round down."""
        return np.array([to_float_down(self.score(i)) for i in candidates.tolist()])
