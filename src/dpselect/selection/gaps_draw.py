"""Draw the k best of n noisy scores with the gaps between them, in steps of a grid, rounded down.

``TopKWithGapsDraw`` draws all noise once: the gap of a winner is that to the next winner, of the last winner
to the runner-up. ``PeeledWithGapsDraw`` draws Gumbel noise afresh for every winner: each gap is to the
runner-up of its round. No gap is ever a float.

>>> import numpy as np
>>> from dpselect.exact.randomness import system
>>> draw = TopKWithGapsDraw(Fraction(1, 1000), 1, Fraction(100), "max", "gumbel")
>>> draw(np.array([250, 9050, 5000]), system())
[(1, Fraction(4000, 1))]

Proof: gaps_draw.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from dpselect.exact.partial_floors import floor_of_difference
from dpselect.exact.randomness import Randomness
from dpselect.selection.draw import (
    FEW_CANDIDATES,
    ReadScores,
    TooFewCandidates,
    TopKDraw,
    eligible,
    enough,
    vector_of,
    without,
)
from dpselect.selection.noise import NOISES, NoiseName
from dpselect.selection.noisy_scores import NoisyScore
from dpselect.selection.scores import Indices, IneligibleWins, Optimize
from dpselect.selection.top_k import individual_top_k, top_k_noisy_scores

WithGaps: TypeAlias = list[tuple[int, Fraction]]
"""The winners, the best first, each with a gap."""


class NoRunnerUp(TooFewCandidates):
    """No more than k candidates are eligible."""


@dataclass(frozen=True)
class TopKWithGapsDraw:
    """The k best noisy scores and the gaps to the next ones, where all noise is drawn once."""

    scale: Fraction
    k: int
    grid: Fraction
    optimize: Optimize
    noise: NoiseName

    def __call__(self, scores: ReadScores, randomness: Randomness) -> WithGaps:
        """Give the indices of the winners, the best first, each with its gap."""
        try:
            return self._with_gaps(self._best(scores, randomness))
        except TooFewCandidates:
            pass
        raise NoRunnerUp

    def over(self, chunks: Iterable[ReadScores], randomness: Randomness) -> WithGaps:
        """Draw from chunks as from their concatenation; only the best noisy scores so far are kept."""
        draw = TopKDraw(self.scale, self.k + 1, self.optimize, self.noise)
        try:
            return self._with_gaps(draw.noisy_scores_over(chunks, randomness))
        except TooFewCandidates:
            pass
        raise NoRunnerUp

    def _best(self, scores: ReadScores, randomness: Randomness) -> list[NoisyScore]:
        """Draw one more than the winners, in order."""
        try:
            vector = vector_of(scores, self.optimize, self.k + 1, self.noise)
        except IneligibleWins:
            remaining, indices = eligible(scores)
            drawn = self._best(remaining, randomness)
            for noisy_score in drawn:
                noisy_score.candidate = indices.item(noisy_score.candidate)
            return drawn
        draw = individual_top_k if vector.n <= FEW_CANDIDATES else top_k_noisy_scores
        return enough(draw(vector, self.k + 1, self.scale, NOISES[self.noise], randomness))

    def _with_gaps(self, best: list[NoisyScore]) -> WithGaps:
        """Measure the gaps between neighbours in the list."""
        return [
            (ours.candidate, self.grid * floor_of_difference(ours.number, next_one.number, self.grid))
            for ours, next_one in pairwise(best)
        ]


@dataclass(frozen=True)
class PeeledWithGapsDraw:
    """The winner and its lead over the runner-up, k times among those left, each with fresh Gumbel noise."""

    scale: Fraction
    k: int
    grid: Fraction
    optimize: Optimize

    def __call__(self, scores: ReadScores, randomness: Randomness) -> WithGaps:
        """Give the indices of the winners in the order of the rounds, each with its gap."""
        one = TopKWithGapsDraw(self.scale, 1, self.grid, self.optimize, "gumbel")
        remaining: Indices = np.arange(len(scores))
        won: WithGaps = []
        if not self._has_a_runner_up(scores):
            raise NoRunnerUp
        for _ in range(self.k):
            randomness.mark(tuple(won))
            ((drawn, gap),) = one(scores, randomness)
            won.append((int(remaining[drawn]), gap))
            remaining = np.delete(remaining, drawn)
            scores = without(scores, drawn)
        return won

    def _has_a_runner_up(self, scores: ReadScores) -> bool:
        if len(scores) <= self.k:
            return False
        try:
            return vector_of(scores, self.optimize, self.k + 1).count_eligible() > self.k
        except IneligibleWins:
            return len(eligible(scores)[1]) > self.k

    def over(self, chunks: Iterable[ReadScores], randomness: Randomness) -> WithGaps:
        """Draw from the concatenation of chunks: rounds do not merge, so all scores are kept."""
        return self(concatenated(list(chunks)), randomness)


def concatenated(chunks: list[ReadScores]) -> ReadScores:
    """Join chunks: arrays of one type as they are, others as exact fractions."""
    arrays = [chunk for chunk in chunks if isinstance(chunk, np.ndarray)]
    if len(arrays) == len(chunks) and len({array.dtype for array in arrays}) == 1:
        return np.concatenate(arrays)
    return [score for chunk in chunks for score in _fractions(chunk)]


def _fractions(chunk: ReadScores) -> list[Fraction | None]:
    if isinstance(chunk, list):
        return chunk
    return [None if value == -math.inf else Fraction(value) for value in chunk.tolist()]
