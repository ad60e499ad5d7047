"""Scores on a grid that change by whole numbers of people at some of its places, and nowhere else.

Proof: grid_steps.proof.md
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpselect.problems.candidates import Grid
from dpselect.problems.grid_ranks import constant_runs
from dpselect.problems.scoring import WholeScores
from dpselect.selection.runs import Runs, WholeNumbers


@dataclass(frozen=True, repr=False)
class GridSteps:
    """Where scores change, ascending from place 0 on, and the score from each place on."""

    grid: Grid
    places: WholeNumbers
    scores: NDArray[np.int64]

    def __repr__(self) -> str:
        return "<private scores on a grid>"

    def runs(self) -> tuple[Runs, ...]:
        """Give the stretches between the changes as runs."""
        return constant_runs(self.grid, self.places, self.scores, Fraction(1))

    def between(self, start: int, stop: int) -> WholeScores:
        """Score some places one by one."""
        changes = np.searchsorted(self.places, np.arange(start, stop), side="right")
        return self.scores[changes - 1]


def grid_steps(grid: Grid, first: int, changes: list[tuple[WholeNumbers, NDArray[Any]]]) -> GridSteps:
    """Begin with a score at place 0, and change it at places by numbers of people."""
    places = np.concatenate([each for each, _ in changes])
    amounts = np.concatenate([each for _, each in changes])
    order = np.argsort(places, kind="stable")
    start = np.zeros(1, dtype=places.dtype)
    sums = np.concatenate([[0], np.cumsum(amounts[order], dtype=np.int64)])
    return GridSteps(grid, np.concatenate([start, places[order]]), first + sums)
