"""The field of a race: candidates with exact scores, seen in places.

A place is a column of candidates, of which only the best score is known, or a single candidate. One pass
finds the best of each column; for several winners the best columns are then closed, and who stood there
stands alone. How many are looked at does not depend on the scores: ties are taken in order. A float says
roughly how far a candidate lies behind a base score, a fraction says it exactly. A score of minus infinity
belongs to a candidate that may not win.

Proof: scores.proof.md
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Optimize: TypeAlias = Literal["max", "min"]
Indices: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Base: TypeAlias = Any
"""A score of the field, in the field's own type, that gaps are measured from."""

NOBODY = np.empty(0, dtype=np.int64)


class NotAScore(ValueError):
    """There is a NaN, a null or plus infinity among the scores."""


class NotAllMayWin(ValueError):
    """There is minus infinity among scores of which the least wins."""


class Alone(NamedTuple):
    """The candidates of some columns, in places of their own after all columns."""

    candidates: Indices
    scores: NDArray[Any]


class Lead(NamedTuple):
    """Where a race for k winners begins: the k-th best score, and who does not run."""

    base: Base
    stars: Indices
    """The k - 1 best candidates; those of them that tie with the base are any."""
    closed: Indices
    """The places that nobody runs in: those of the stars, and columns whose candidates stand alone."""
    alone: Alone | None = None
    """Who stands alone; None without columns, or if nobody does."""


class Field(ABC):
    """What a race needs to know of its candidates."""

    size: int
    columns: int = 0
    depth: int = 1
    """A power of two. Candidate c + r * columns stands in row r < depth of column c, if there are so many;
    the places of single candidates come after the columns."""

    @abstractmethod
    def leaders(self, k: int) -> Lead | None:
        """Find the k-th best score, and k - 1 that are no worse; None if fewer than k may win."""

    @abstractmethod
    def place_rungs(self, lead: Lead, slope: float, top: float) -> Floats:
        """Give the rungs that the best of places stand on: top - slope * gap, for 0 < top < 2**10.

        At most 2**-12 + 2**-50 * slope * gap too low, and no higher than top + 1. Minus infinity below all
        floats; anything for closed places, and for places of those that may not win.
        """

    @abstractmethod
    def few_gaps(self, lead: Lead) -> list[float]:
        """Give how far all candidates, nobody of them ahead, lie behind the base, as Python's floats.

        At most a relative 2**-51 too much, at most that or 2**-1073 too little; infinity beyond all floats.
        """

    @abstractmethod
    def gaps(self, candidates: Indices, base: Base) -> Floats:
        """Give how far candidates lie behind the base, to a relative 2**-51.

        Infinity for those that may not win, and beyond all floats; zero only for those level with the base;
        NaN if a float cannot say. Nobody may be ahead of the base. Anything for a number that is nobody's.
        """

    @abstractmethod
    def rough_gap(self, candidate: int, base: Base) -> float:
        """Give the gap of one candidate, as ``gaps`` does."""

    @abstractmethod
    def gap(self, candidate: int, base: Base) -> Fraction | None:
        """Give exactly how far a candidate lies behind; None if it may not win."""

    @abstractmethod
    def are_level(self, candidates: Indices, base: Base) -> NDArray[np.bool_]:
        """Say whose score is the base, exactly."""

    @abstractmethod
    def is_level(self, candidate: int, base: Base) -> bool:
        """Say whether the score of one candidate is the base, exactly."""

    @abstractmethod
    def ties(self, base: Base) -> Indices:
        """Give the candidates whose score is the base."""

    @abstractmethod
    def eligible(self) -> int:
        """Give the number of candidates that may win."""

    def order(self, k: int) -> list[int] | None:
        """Give the k best without noise, ties by index; None if fewer than k may win."""
        lead = self.leaders(k)
        if lead is None:
            return None
        ahead = [i for i in lead.stars.tolist() if not self.is_level(i, lead.base)]
        ahead.sort(key=lambda i: (-self.score(i), i))
        return [*ahead, *self.ties(lead.base)[: k - len(ahead)].tolist()]

    def exact_scores(self, k: int) -> dict[int, Fraction] | None:
        """Give the scores of all that may win, turned so that more is better; None if fewer than k may."""
        lead = self.leaders(k)
        if lead is None:
            return None
        return {i: self.score(i) for i in range(self.size) if self.gap(i, lead.base) is not None}

    @abstractmethod
    def turned(self, base: Base) -> Fraction:
        """Give a score exactly, turned so that more is better."""

    @abstractmethod
    def score(self, candidate: int) -> Fraction:
        """Give the score of a candidate that may win, turned so that more is better."""

    @abstractmethod
    def float_scores(self, candidates: Indices) -> Floats:
        """Give scores of candidates that may win, turned so that more is better, to a relative 2**-52."""
