"""The scores of n candidates, as a selection needs them.

Noise is drawn relative to the k-th best score, the *threshold* T. A candidate with score s_i <= T has the
*gap* g_i = T - s_i >= 0 and, at noise of a given scale, the *weight* w_i = exp(-g_i / scale). The k - 1 best
candidates besides are *individual*: each of them gets noise of its own.

Long vectors are read in *blocks*, of which only the best score is kept. A *cell* is a block, or a single
candidate. For k > 1 the candidates of the best blocks are *extracted* into cells of their own. How many
candidates are read depends on n and k, never on the scores. A candidate whose score is minus infinity is
*ineligible*: it cannot win. If the least score wins, scores are *oriented*, that is, multiplied by -1.

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
Score: TypeAlias = Any
"""A score in the type of its vector: a Python number, or a fraction."""

NO_CANDIDATES = np.empty(0, dtype=np.int64)


class NotAScore(ValueError):
    """The scores hold NaN, a null or plus infinity."""


class IneligibleWins(ValueError):
    """The least score wins, and a candidate has minus infinity: it is ineligible and would be the best."""


class Extracted(NamedTuple):
    """The candidates of the best blocks, in cells of their own, which come after the cells of all blocks.

    They are listed row by row, and in the order of the blocks within a row.
    """

    extracted_blocks: Indices
    """The blocks, in ascending order: so those that a short last row lacks come last."""
    blocks: int
    """The number of all blocks."""
    scores: NDArray[Any]

    def at(self, places: Indices) -> Indices:
        """Give the candidates at some places of the list."""
        rows, columns = np.divmod(places, len(self.extracted_blocks))
        candidates: Indices = self.extracted_blocks.take(columns)
        candidates += rows * self.blocks
        return candidates

    @property
    def candidates(self) -> Indices:
        """The whole list."""
        return self.at(np.arange(len(self.scores)))


class Threshold(NamedTuple):
    """The k-th best score, and where the other candidates are found."""

    kth_best: Score
    """T."""
    individual: Indices
    """The k - 1 best candidates; any of those that tie with the k-th best."""
    empty_cells: Indices
    """The cells that hold no candidate any more: of individual candidates, and of blocks that were
    extracted."""
    extracted: Extracted | None = None
    """None if there are no blocks, or if no block was extracted."""


class ScoreVector(ABC):
    """n scores: the k-th best of them, and the gaps below it, in floats and exactly."""

    n: int
    """The number of candidates."""
    blocks: int = 0
    """The number of blocks; 0 if every candidate is a cell."""
    block_size: int = 1
    """The number of candidates in a block, a power of two. Candidate b + r * blocks is in row r of block b;
    the last row may be shorter than the number of blocks."""

    @abstractmethod
    def find_threshold(self, k: int) -> Threshold | None:
        """Find the k-th best score and k - 1 others no worse; None if fewer than k are eligible."""

    @abstractmethod
    def cell_exponents(self, threshold: Threshold, slope: float, top: float) -> Floats:
        """Give top - slope * gap for the best candidate of each cell, where 0 < top < 2**10.

        The error is at most 2**-12 + 2**-50 * slope * gap downwards; no result exceeds top + 1. A result
        below all floats is minus infinity. Results for empty cells and for ineligible candidates have no
        meaning.
        """

    @abstractmethod
    def all_float_gaps(self, threshold: Threshold) -> list[float]:
        """Give the gaps of all candidates as a list of floats; no candidate may be better than the threshold.

        The error is at most a relative 2**-51 upwards, and the larger of that and 2**-1073 downwards; a gap
        beyond all floats is infinity.
        """

    @abstractmethod
    def float_gaps(self, candidates: Indices, kth_best: Score) -> Floats:
        """Give the gaps of some candidates, to a relative 2**-51; none may be better than the threshold.

        Infinity for ineligible candidates and for gaps beyond all floats; zero only for ties with the
        threshold; NaN where floats are too coarse. Indices of n or more are allowed: their results have no
        meaning.
        """

    @abstractmethod
    def float_gap(self, candidate: int, kth_best: Score) -> float:
        """Give the gap of one candidate, as ``float_gaps`` does."""

    @abstractmethod
    def gap(self, candidate: int, kth_best: Score) -> Fraction | None:
        """Give the gap exactly; None if the candidate is ineligible."""

    @abstractmethod
    def are_tied(self, candidates: Indices, kth_best: Score) -> NDArray[np.bool_]:
        """Say which candidates tie with the threshold, exactly."""

    @abstractmethod
    def is_tied(self, candidate: int, kth_best: Score) -> bool:
        """Say whether one candidate ties with the threshold, exactly."""

    @abstractmethod
    def ties(self, kth_best: Score) -> Indices:
        """List all candidates that tie with the threshold."""

    @abstractmethod
    def count_eligible(self) -> int:
        """Count the candidates whose score is not minus infinity."""

    @abstractmethod
    def eligible(self) -> Indices:
        """List the candidates whose score is not minus infinity."""

    def order(self, k: int) -> list[int] | None:
        """Give the k best without noise, ties by index; None if fewer than k are eligible."""
        threshold = self.find_threshold(k)
        if threshold is None:
            return None
        above = [i for i in threshold.individual.tolist() if not self.is_tied(i, threshold.kth_best)]
        above.sort(key=lambda i: (-self.score(i), i))
        return [*above, *self.ties(threshold.kth_best)[: k - len(above)].tolist()]

    def exact_scores(self, k: int) -> dict[int, Fraction] | None:
        """Give the oriented scores of all eligible candidates; None if they are fewer than k."""
        threshold = self.find_threshold(k)
        if threshold is None:
            return None
        return {i: self.score(i) for i in range(self.n) if self.gap(i, threshold.kth_best) is not None}

    @abstractmethod
    def oriented(self, kth_best: Score) -> Fraction:
        """Give a score exactly, times -1 if the least score wins: more is better."""

    @abstractmethod
    def score(self, candidate: int) -> Fraction:
        """Give the oriented score of an eligible candidate."""

    @abstractmethod
    def float_scores(self, candidates: Indices) -> Floats:
        """Give the oriented scores of eligible candidates, to a relative 2**-52."""
