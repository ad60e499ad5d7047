"""From counts to exact whole-number scores: what a scoring is, and when its numbers fit 64 bits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dpselect.engines.protocol import Counts
from dpselect.selection.runs import Runs

LARGEST_FACTOR, MOST_PEOPLE = 2**28, 2**34
"""A factor times people, of no more than these, is at most 2**62."""


class Unbounded(list[int]):
    """Whole numbers that public numbers do not keep within 64 bits: read one by one, whatever they are."""


WholeScores: TypeAlias = NDArray[np.int64] | list[int]
"""Exact whole numbers: an array, or a list where public numbers are so large that 64 bits might not do."""

Between: TypeAlias = Callable[[int, int], WholeScores]
"""Gives the scores of the candidates from one place to another, in multiples of the unit."""


class Scoring(Protocol):
    """Turns counts into scores: a small frozen callable, as everything that a problem is made of."""

    def __call__(self, counts: Counts, /) -> Between:
        """Read the counts once, and give what scores any stretch of the candidates."""


@runtime_checkable
class RunScoring(Protocol):
    """Turns counts into the scores of a grid, too: as runs, at a cost that does not depend on its points."""

    def runs(self, counts: Counts, /) -> tuple[Runs, ...]:
        """Read the counts once, and give the places of the grid in runs with scores."""


def in_64_bits(factor: Fraction | int, people: int) -> bool:
    """Say whether scores, a public factor times people, are computed in 64 bits or without bounds.

    The factor alone decides, because the two take different times and the caller chooses the factor. The
    number of people that would decide otherwise takes minutes to count; then scores must still be exact.
    """
    return factor <= LARGEST_FACTOR and people <= MOST_PEOPLE


def added_up(candidates: int, factor: Fraction | int, counts: Counts, points: Sequence[int]) -> Between:
    """Add up, for each candidate, the points of each group, none above the factor, times its people."""
    narrow = in_64_bits(factor, int(counts.sizes.sum()))
    kind = np.int64 if narrow else object
    scores = np.zeros(candidates, dtype=kind)
    np.add.at(scores, counts.keys[0], np.array(points, dtype=kind) * counts.sizes.astype(kind))
    return lambda start, stop: scores[start:stop] if narrow else scores[start:stop].tolist()
