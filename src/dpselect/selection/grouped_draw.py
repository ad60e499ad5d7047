"""Draw for each of many groups: the draw of one group, made for every group with randomness of its own.

One winner of a group with exponential or Gumbel noise takes some microseconds, so a loop is fast enough.
Several winners, and Laplace noise, take ten times as long, because arrays are short. There many groups are
drawn together: every candidate gets a noisy score, and floats find the best of each group where they can.
Sizes and kinds decide which of the two is done, never values.

>>> import numpy as np
>>> from fractions import Fraction
>>> from dpselect.exact.randomness import system
>>> draw = GroupedDraw(TopKDraw(Fraction(1, 1000), 2, "max", "gumbel"))
>>> draw(np.array([[0, 5, 9], [7, 0, 3]]), system())
[[2, 1], [0, 2]]

Proof: grouped_draw.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpselect.exact.float_errors import ignore_float_errors
from dpselect.exact.randomness import Randomness
from dpselect.selection.array_scores import ArrayScores
from dpselect.selection.draw import TopKDraw
from dpselect.selection.noise import NOISES
from dpselect.selection.resolution import float_scale
from dpselect.selection.scores import Floats, Indices
from dpselect.selection.top_k import (
    NEAREST_END,
    NOISE_SLACK,
    SCORE_SLACK,
    STEEPEST_QUANTILE,
    individual_scores,
)

TOGETHER_UP_TO = 4096
"""Candidates: of groups with more, a loop is faster, because it draws noise for few of them."""

MOST_WINNERS = 64
"""Winners of a group: each takes another look at all noisy scores."""

CELLS_AT_A_TIME = 1 << 14
"""Noisy scores that are drawn together: their arrays fit the processor's cache."""


@dataclass(frozen=True)
class GroupedDraw:
    """What ``draw`` gives of one group, for each group, independently."""

    draw: Callable[[Any, Randomness], Any]
    cells_at_a_time: int = CELLS_AT_A_TIME

    def __call__(self, groups: Iterable[Any], randomness: Randomness) -> list[Any]:
        """Give what is drawn of each group, in order; of an iterator a few groups are held at a time."""
        drawn: list[Any] = []
        so_far: Hashable = None
        for some in self._at_a_time(groups):
            randomness.mark(so_far)
            if isinstance(self.draw, TopKDraw) and _is_drawn_together(self.draw, some[0]):
                found = draw_together(self.draw, np.stack(some), randomness)
            else:
                found = [self.draw(scores, randomness) for scores in some]
            drawn += found
            so_far = (so_far, *(tuple(one) if isinstance(one, list) else one for one in found))
        return drawn

    def _at_a_time(self, groups: Iterable[Any]) -> Iterator[list[Any]]:
        """Give groups that are drawn together, which have as many scores of the same type; or one alone."""
        some: list[Any] = []
        for scores in groups:
            if some and not (
                _is_drawn_together(self.draw, scores)
                and _is_drawn_together(self.draw, some[0])
                and (scores.dtype, len(scores)) == (some[0].dtype, len(some[0]))
                and (len(some) + 1) * len(scores) <= self.cells_at_a_time
            ):
                yield some
                some = []
            some.append(scores)
        if some:
            yield some


def _is_drawn_together(draw: object, scores: object) -> bool:
    """Say whether a loop over groups with such scores would be slow, and is not needed."""
    if not isinstance(draw, TopKDraw) or not draw.scale or (draw.k == 1 and draw.noise != "laplace"):
        return False
    if not isinstance(scores, np.ndarray) or scores.ndim != 1 or scores.dtype.kind not in "iu":
        return False
    return draw.k <= min(len(scores), MOST_WINNERS) and len(scores) <= TOGETHER_UP_TO


@ignore_float_errors
def draw_together(draw: TopKDraw, table: NDArray[Any], randomness: Randomness) -> list[list[int]]:
    """Draw the k best of each row of a table of whole scores, with a noisy score for every candidate.

    Floats order the k best of a row and tell them from the others if they are further apart than floats may
    be wrong. Otherwise the noisy scores of the row are compared exactly.
    """
    words = randomness.words(table.size).reshape(table.shape)
    step, scale = 2.0**-randomness.width, float_scale(draw.scale.as_integer_ratio())
    uniform = words.astype(np.float64) * step
    scores = table.astype(np.float64)
    room = 4 * (SCORE_SLACK * np.abs(scores).max(axis=1) + NOISE_SLACK * scale)
    room += 2 * scale * step * STEEPEST_QUANTILE
    noisy = NOISES[draw.noise].quantiles(uniform)
    noisy *= scale
    noisy += scores if draw.optimize == "max" else -scores
    winners, heights = _best_of_each(noisy, draw.k)
    nearest_end = np.minimum(uniform.min(axis=1), 1 - step - uniform.max(axis=1))
    certain = (nearest_end >= NEAREST_END) & (-np.diff(heights) > room[:, None]).all(axis=1)
    drawn: list[list[int]] = winners.tolist()
    for group in (~certain).nonzero()[0].tolist():
        drawn[group] = draw_exactly(draw, table[group], words[group], randomness)
    return drawn


def _best_of_each(noisy: Floats, k: int) -> tuple[Indices, Floats]:
    """Find the k best of each row, in order, and the heights of the k + 1 best; write over them."""
    rows = np.arange(len(noisy))
    winners, heights = [], []
    for _ in range(k + 1):
        best = noisy.argmax(axis=1)
        winners.append(best)
        heights.append(noisy[rows, best])
        noisy[rows, best] = -math.inf
    return np.stack(winners[:k], axis=1), np.stack(heights, axis=1)


def draw_exactly(
    draw: TopKDraw, scores: NDArray[Any], words: NDArray[np.uint64], randomness: Randomness
) -> list[int]:
    """Draw the k best of one group from the noisy scores that begin with these words."""
    vector, candidates = ArrayScores(scores, draw.optimize), np.arange(len(scores))
    noisy = individual_scores(vector, candidates, draw.scale, NOISES[draw.noise], (words, randomness))
    return [one.candidate for one in noisy.may_be_best(draw.k).in_order()[: draw.k]]
