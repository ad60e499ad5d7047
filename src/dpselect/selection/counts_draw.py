"""Draw the k best of n whole scores with their noisy counts: order and counts come from the same whole noise.

>>> import numpy as np
>>> from dpselect.exact.randomness import system
>>> draw = TopKWithCountsDraw(Fraction(1, 1000), 2, "max")
>>> draw(np.array([250, 9050, 5000]), system())
[(1, 9050), (2, 5000)]

Proof: counts_draw.proof.md
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from dpselect.exact.partial_floors import floor_of_difference
from dpselect.exact.partial_numbers import Known
from dpselect.exact.randomness import Randomness
from dpselect.selection.discrete_laplace import WholeLaplaceNoise
from dpselect.selection.draw import ChunkedDraw, ReadScores, TooFewCandidates
from dpselect.selection.gaps_draw import NoRunnerUp
from dpselect.selection.scores import Optimize

WithCounts: TypeAlias = list[tuple[int, int]] | list[tuple[int, int, Fraction]]
"""The winners, the best first, each with its noisy count, and with its gap if gaps are asked for."""


@dataclass(frozen=True)
class TopKWithCountsDraw:
    """The k best noisy counts; with a grid, also the gaps between them and to the runner-up's."""

    scale: Fraction
    k: int
    optimize: Optimize
    grid: Fraction | None = None

    def __call__(self, scores: ReadScores, randomness: Randomness) -> WithCounts:
        """Give the indices of the winners, the best first, each with its noisy count."""
        return self.over([scores], randomness)

    def over(self, chunks: Iterable[ReadScores], randomness: Randomness) -> WithCounts:
        """Draw from chunks as from their concatenation; only the best noisy counts so far are kept."""
        noise = WholeLaplaceNoise(self.scale)
        wanted = self.k + (self.grid is not None)
        draw = ChunkedDraw(self.scale, wanted, self.optimize, noise)
        try:
            best = draw(chunks, randomness)
        except TooFewCandidates:
            best = []
        if not best:
            raise TooFewCandidates if self.grid is None else NoRunnerUp
        counts = [floor_of_difference(one.number, Known(Fraction(0)), Fraction(1)) for one in best]
        sign = 1 if self.optimize == "max" else -1
        shown = [(one.candidate, sign * count) for one, count in zip(best, counts, strict=True)]
        if self.grid is None:
            return shown
        gaps = [self.grid * ((ours - theirs) // self.grid) for ours, theirs in pairwise(counts)]
        return [(*winner, gap) for winner, gap in zip(shown, gaps, strict=False)]
