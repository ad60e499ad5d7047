"""Draw the k best of n noisy scores: the front door of this package, which chooses the fastest algorithm.

Each score s_i gets independent noise Z_i, Gumbel, exponential or Laplace; the winners are the k largest s_i +
scale * Z_i, the best first. Which algorithm runs depends on n, k and the noise, never on the scores; all have
the same law.

>>> import numpy as np
>>> from dpselect.exact.randomness import system
>>> draw = TopKDraw(scale=Fraction(2), k=2, optimize="max", noise="gumbel")
>>> draw(np.array([100.0, 9000.0, 5000.0]), system())
[1, 2]

A score of minus infinity is never drawn. If fewer than k others are left, TooFewCandidates is raised; for NaN
and plus infinity, NotAScore.

Proof: draw.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpselect.exact.randomness import Randomness
from dpselect.selection.array_scores import ArrayScores, block_size_for
from dpselect.selection.fraction_scores import FractionScores
from dpselect.selection.noise import NOISES, NoiseName
from dpselect.selection.noisy_scores import NoisyScore, merged
from dpselect.selection.scores import Indices, IneligibleWins, Optimize, ScoreVector
from dpselect.selection.top_k import AnyNoise, top_k_indices, top_k_noisy_scores
from dpselect.selection.top_k_by_levels import draw_by_levels
from dpselect.selection.winner import winner

ReadScores: TypeAlias = NDArray[Any] | list[Fraction | None]
"""Scores as ``VectorDomain.read`` gives them; None in a list is minus infinity."""

Found = TypeVar("Found")

FEW_CANDIDATES = 16
"""Up to this number of candidates, several winners are drawn with coins alone: by levels, or by peeling."""


class TooFewCandidates(ValueError):
    """Fewer than k candidates are eligible."""


@dataclass(frozen=True)
class TopKDraw:
    """The k best noisy scores, where all noise is drawn once."""

    scale: Fraction
    k: int
    optimize: Optimize
    noise: NoiseName

    def __call__(self, scores: ReadScores, randomness: Randomness) -> list[int]:
        """Give the indices of the winners, the best first."""
        try:
            vector = vector_of(scores, self.optimize, self.k, self.noise)
        except IneligibleWins:
            return draw_from_eligible(self, scores, randomness)
        if not self.scale:
            return enough(vector.order(self.k))
        noise = NOISES[self.noise]
        if self.k == 1 and self.noise != "laplace":
            return [enough(winner(vector, self.scale, noise, randomness))]
        if vector.n > FEW_CANDIDATES or self.noise == "laplace":
            return enough(top_k_indices(vector, self.k, self.scale, noise, randomness))
        if self.noise == "exponential":
            return draw_by_levels(enough(vector.exact_scores(self.k)), self.scale, self.k, randomness)
        enough(vector.find_threshold(self.k))
        return peel(scores, replace(self, k=1), self.k, randomness)

    def over(self, chunks: Iterable[ReadScores], randomness: Randomness) -> list[int]:
        """Draw from chunks as from their concatenation; only the k best noisy scores so far are kept."""
        return [noisy_score.candidate for noisy_score in self.noisy_scores_over(chunks, randomness)]

    def noisy_scores_over(self, chunks: Iterable[ReadScores], randomness: Randomness) -> list[NoisyScore]:
        """Draw the winners from chunks with their noisy scores."""
        return ChunkedDraw(self.scale, self.k, self.optimize, NOISES[self.noise])(chunks, randomness)


@dataclass(frozen=True)
class ChunkedDraw:
    """The k best noisy scores of chunks, as of their concatenation; only the best so far are kept."""

    scale: Fraction
    k: int
    optimize: Optimize
    noise: AnyNoise

    def __call__(self, chunks: Iterable[ReadScores], randomness: Randomness) -> list[NoisyScore]:
        """Give the k best, in order."""
        best: list[NoisyScore] = []
        seen = 0
        for chunk in chunks:
            drawn = self._of_chunk(chunk, randomness)
            for noisy_score in drawn:
                noisy_score.candidate += seen
            best = merged(best, drawn, self.k)
            seen += len(chunk)
        if len(best) < self.k:
            raise TooFewCandidates
        return best

    def _of_chunk(self, scores: ReadScores, randomness: Randomness) -> list[NoisyScore]:
        """Draw the k best of one chunk, or all eligible candidates if they are fewer."""
        if len(scores) == 0:
            return []
        try:
            vector = vector_of(scores, self.optimize, 1)
        except IneligibleWins:
            remaining, indices = eligible(scores)
            drawn = self._of_chunk(remaining, randomness)
            for noisy_score in drawn:
                noisy_score.candidate = indices.item(noisy_score.candidate)
            return drawn
        k = min(self.k, vector.count_eligible())
        return enough(top_k_noisy_scores(vector, k, self.scale, self.noise, randomness)) if k else []


@dataclass(frozen=True)
class PeeledDraw:
    """The winner, then the winner of the others, k times: each round with fresh exponential noise."""

    scale: Fraction
    k: int
    optimize: Optimize

    def __call__(self, scores: ReadScores, randomness: Randomness) -> list[int]:
        """Give the indices of the winners, in the order of the rounds."""
        try:
            enough(vector_of(scores, self.optimize, self.k).find_threshold(self.k))
        except IneligibleWins:
            return draw_from_eligible(self, scores, randomness)
        return peel(scores, TopKDraw(self.scale, 1, self.optimize, "exponential"), self.k, randomness)


def peel(scores: ReadScores, one: TopKDraw, k: int, randomness: Randomness) -> list[int]:
    """Draw one winner, remove it, draw again, k times."""
    remaining = np.arange(len(scores))
    won: list[int] = []
    for _ in range(k):
        randomness.mark(tuple(won))
        (drawn,) = one(scores, randomness)
        won.append(int(remaining[drawn]))
        remaining = np.delete(remaining, drawn)
        scores = without(scores, drawn)
    return won


def without(scores: ReadScores, index: int) -> ReadScores:
    """Leave out one score."""
    if isinstance(scores, np.ndarray):
        return np.delete(scores, index)
    return scores[:index] + scores[index + 1 :]


def vector_of(
    scores: ReadScores, optimize: Optimize, k: int, noise: NoiseName = "exponential"
) -> ScoreVector:
    """Make the score vector; an array is read once, which finds NaN and infinities.

    Of blocks for Laplace noise several times as many are extracted: they are large, and so fewer.
    """
    if len(scores) < k:
        raise TooFewCandidates
    if isinstance(scores, list):
        return FractionScores(scores, optimize)
    return ArrayScores(scores, optimize, block_size_for(len(scores), 1 if noise == "laplace" else k))


def eligible(scores: ReadScores) -> tuple[ReadScores, Indices]:
    """Give the scores above minus infinity, and the indices of their candidates."""
    array = np.asarray(scores)
    indices = np.flatnonzero(array > -math.inf)
    return array[indices], indices


def draw_from_eligible(
    draw: Callable[[ReadScores, Randomness], list[int]], scores: ReadScores, randomness: Randomness
) -> list[int]:
    """Draw from the eligible candidates alone; give their indices among all."""
    remaining, indices = eligible(scores)
    drawn: list[int] = indices[draw(remaining, randomness)].tolist()
    return drawn


def enough(found: Found | None) -> Found:
    """Refuse None, which stands for fewer than k eligible candidates."""
    if found is None:
        raise TooFewCandidates
    return found
