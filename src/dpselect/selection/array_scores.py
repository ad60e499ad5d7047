"""The field of an array: one pass over the scores, whatever their type, then looks at the few that matter.

Proof: array_scores.proof.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dpselect.selection.scores import (
    NOBODY,
    Alone,
    Base,
    Field,
    Floats,
    Indices,
    Lead,
    NotAllMayWin,
    NotAScore,
    Optimize,
)

SINGLE_UP_TO = 4096
"""So many candidates are not worth columns."""

MANY = 32
"""So many winners want shallow columns."""

DEPTH, DEPTH_FOR_MANY, LARGE_DEPTH = 64, 32, 256
"""The scores are seen as a table of so many rows: the pass down its columns is as fast as a maximum."""

WIDE = 8
"""The bytes of the widest numbers; narrower ones are widened before they are computed with."""

DROWNING = 2.0**36
"""A float up to this has room for a rung, and for the place of that between two rungs."""

GROUP, FEW_GROUPS = 8, 64
"""So many are looked at together, to find the best of very many; fewer groups are not worth it."""

LIKELY = 2
"""So many times as many columns as there are winners are closed: the others are far behind then."""

LARGE_DEPTH_ABOVE = 2_000_000
"""From here on low columns would be so many that they leave the cache."""


class ArrayField(Field):
    """Scores in a NumPy array of integers or of floats up to 64 bits, of any stride, read in place."""

    def __init__(self, values: NDArray[Any], optimize: Optimize, depth: int = 1) -> None:
        """Find the best of each column, and the best of all.

        If the least score wins, minus infinity is refused: whoever has it must be left out.
        """
        self.size = len(values)
        self._values = self._best = values
        self._largest = optimize == "max"
        self._better = np.maximum if self._largest else np.minimum
        self._floats = values.dtype.kind == "f"
        if depth > 1:
            self.columns = -(-self.size // depth)
            self.depth = depth
            self._best = self._pass()
        best = self._best
        self._top = best.item(best.argmax() if self._largest else best.argmin())
        if self._floats:
            largest = self._top if self._largest else values.max()
            if not largest < math.inf:
                raise NotAScore
            if not self._largest and self._top == -math.inf:
                raise NotAllMayWin

    def _pass(self) -> NDArray[Any]:
        """Read every score once: give the best of each column, whose last row may be short."""
        full_rows, short_row = self._rows()
        best: NDArray[Any] = self._better.reduce(full_rows)
        short = len(short_row)
        if short:
            self._better(best[:short], short_row, out=best[:short])
        return best

    def _rows(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """See the full rows as a table, and the last one, if it is short."""
        rows, short = divmod(self.size, self.columns)
        inside = self.size - short
        return self._values[:inside].reshape(rows, self.columns), self._values[inside:]

    def leaders(self, k: int) -> Lead | None:
        """Find the k best among the best of the columns, and those who stand there with them."""
        if k == 1:
            return None if self._top == -math.inf else Lead(self._top, NOBODY, NOBODY)
        lead = self._single(k) if 2 * k >= self.columns else self._alone(k)
        return None if lead.base == -math.inf else lead

    def _single(self, k: int) -> Lead:
        """Give columns up, if there were any; so many winners are not worth them."""
        self.columns, self.depth, self._best = 0, 1, self._values
        base, stars = self._foremost(self._values, k)
        return Lead(base, stars, stars)

    def _alone(self, k: int) -> Lead:
        """Close the best columns: who stands there stands alone, and the k best are among them."""
        _, columns = self._foremost(self._best, min(LIKELY * k, max(k, self.columns // 32)) + 1)
        scores = self._members(columns).reshape(-1)
        candidates = (columns + self.columns * np.arange(len(scores) // len(columns))[:, None]).reshape(-1)
        if self.size % self.columns:
            inside = np.flatnonzero(candidates < self.size)
            candidates, scores = candidates.take(inside), scores.take(inside)
        base, stars = self._foremost(scores, k)
        closed = np.append(columns, stars + self.columns)
        return Lead(base, candidates.take(stars), closed, Alone(candidates, scores))

    def _members(self, columns: Indices) -> NDArray[Any]:
        """Look up who stands in columns, row by row; anything where the last row has nobody."""
        full_rows, short_row = self._rows()
        if self._values.flags.c_contiguous:
            table = full_rows.take(columns, axis=1, mode="clip")
        else:
            table = np.ascontiguousarray(full_rows[:, columns])
        return np.vstack((table, short_row.take(columns, mode="clip"))) if len(short_row) else table

    def _foremost(self, values: NDArray[Any], k: int) -> tuple[Base, Indices]:
        """Find the k-th best, and where k - 1 that are no worse stand: of those that tie, some.

        Of many, the k best groups are found first. How many are looked at does not depend on the values.
        """
        groups = len(values) // GROUP
        if groups < max(2 * k, FEW_GROUPS):
            return self._sorted(values, k)
        in_groups = values[: groups * GROUP].reshape(GROUP, groups)
        _, best = self._foremost(self._better.reduce(in_groups), k + 1)
        among = (best + groups * np.arange(GROUP)[:, None]).reshape(-1)
        among = np.append(among, np.arange(groups * GROUP, len(values)))
        base, places = self._sorted(values[among], k)
        return base, among.take(places)

    def _sorted(self, values: NDArray[Any], k: int) -> tuple[Base, Indices]:
        """Find the same by sorting; ``np.partition`` would take twenty times as long on ties."""
        base = np.sort(values).item(-k if self._largest else k - 1)
        ahead = np.flatnonzero(values > base if self._largest else values < base)
        return base, np.append(ahead, np.flatnonzero(values == base)[: k - 1 - len(ahead)])

    def _behind(self, values: NDArray[Any], base: Base) -> Floats:
        """Subtract in double precision: integers first exactly (modulo 2**64)."""
        wide = self._wide(values)
        gaps: NDArray[Any] = base - wide if self._largest else wide - base
        return gaps if self._floats else gaps.view(np.uint64).astype(np.float64)

    def _wide(self, values: NDArray[Any]) -> NDArray[Any]:
        return values if values.itemsize == WIDE else values.astype(np.float64 if self._floats else np.int64)

    def place_rungs(self, lead: Lead, slope: float, top: float) -> Floats:
        """Look at the best of each column, and at those that stand alone."""
        best, base = self._best, lead.base
        if lead.alone is None:
            return self._rungs(best, base, slope, top)
        rungs = np.empty(len(best) + len(lead.alone.scores))
        self._rungs(best, base, slope, top, rungs[: len(best)])
        self._rungs(lead.alone.scores, base, slope, top, rungs[len(best) :])
        return rungs

    def _rungs(
        self, values: NDArray[Any], base: Base, slope: float, top: float, out: Floats | None = None
    ) -> Floats:
        """Multiply scores; gaps, if the base is so large that the rungs would drown in it."""
        if abs(base) * slope < DROWNING:
            numbers, zero, factor = self._wide(values), base, slope if self._largest else -slope
        else:
            numbers, zero, factor = self._behind(values, base), 0, -slope
        rungs: Floats = np.multiply(numbers, factor, out=out)
        rungs += top - zero * factor
        return rungs

    def few_gaps(self, lead: Lead) -> list[float]:
        """Subtract: floats as Python does, without a warning; of integers Python computes 0 the fastest."""
        base = lead.base
        if not self._floats:
            return cast("list[float]", self._behind(self._values, base).tolist())
        values = self._values.tolist()
        return [base - value for value in values] if self._largest else [value - base for value in values]

    def gaps(self, candidates: Indices, base: Base) -> Floats:
        """Subtract."""
        return self._behind(self._at(candidates), base)

    def _at(self, candidates: Indices) -> NDArray[Any]:
        """Look scores up; ``take`` is faster, but would copy what is not contiguous."""
        if self._values.flags.c_contiguous:
            return self._values.take(candidates, mode="clip")
        return self._values[np.minimum(candidates, self.size - 1)]

    def rough_gap(self, candidate: int, base: Base) -> float:
        """Subtract as Python does: integers exactly, then in double precision."""
        return float(abs(base - self._values.item(candidate)))

    def gap(self, candidate: int, base: Base) -> Fraction | None:
        """Subtract, exactly."""
        value = self._values.item(candidate)
        return None if value == -math.inf else abs(Fraction(base) - Fraction(value))

    def are_level(self, candidates: Indices, base: Base) -> NDArray[np.bool_]:
        """Compare."""
        level: NDArray[np.bool_] = self._values[candidates] == base
        return level

    def is_level(self, candidate: int, base: Base) -> bool:
        """Compare."""
        return bool(self._values.item(candidate) == base)

    def ties(self, base: Base) -> Indices:
        """Compare."""
        return np.flatnonzero(self._values == base)

    def eligible(self) -> int:
        """Count what is not minus infinity."""
        return int(np.count_nonzero(self._values > -math.inf)) if self._floats else self.size

    def turned(self, base: Base) -> Fraction:
        """Read a number."""
        return Fraction(base if self._largest else -base)

    def score(self, candidate: int) -> Fraction:
        """Read one score."""
        return self.turned(self._values.item(candidate))

    def float_scores(self, candidates: Indices) -> Floats:
        """Round to doubles."""
        return self._values[candidates].astype(np.float64) * (1 if self._largest else -1)


def depth_for(size: int, k: int) -> int:
    """Choose how deep columns are: deeper ones are fewer, but more of the proposals from them fail."""
    if size <= SINGLE_UP_TO:
        return 1
    if size > LARGE_DEPTH_ABOVE:
        return LARGE_DEPTH
    return DEPTH if k < MANY else DEPTH_FOR_MANY
