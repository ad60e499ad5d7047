"""The best threshold: from which number on a label is yes, with the fewest people on the wrong side.

Proof: threshold.proof.md
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpselect.engines.protocol import Counts
from dpselect.exact.numbers import Number
from dpselect.problems.bounded_counts import BoundedCounts, ByAmount, ByList, column_name
from dpselect.problems.candidates import Grid, grid, listed
from dpselect.problems.grid_ranks import points_not_above
from dpselect.problems.grid_steps import GridSteps, grid_steps
from dpselect.problems.problem import Problem
from dpselect.problems.scoring import Between
from dpselect.selection.runs import Runs


@dataclass(frozen=True)
class RightSide:
    """How many people are on the right side of c: below it without yes, or from it on with yes."""

    grid: Grid

    def _steps(self, counts: Counts) -> GridSteps:
        """Count those with yes at first; where c passes a person, one with yes is lost and another won."""
        values, labels = counts.keys
        kept, places = points_not_above(self.grid, values)
        people, is_yes = counts.sizes[kept], labels[kept] == 0
        won = np.where(is_yes, -people, people)
        return grid_steps(self.grid, int(people[is_yes].sum()), [(places, won)])

    def __call__(self, counts: Counts) -> Between:
        """Score places one by one."""
        return self._steps(counts).between

    def runs(self, counts: Counts) -> tuple[Runs, ...]:
        """Score the stretches."""
        return self._steps(counts).runs()


def threshold(
    *, value: str, label: str, yes: Any, between: tuple[Number, Number], step: Number | None = None
) -> Problem:
    """Ask for the number c that best splits people by a label: below c without ``yes``, from c on with it.

    The score of c is the people below c whose label is not ``yes``, plus the people from c on whose label is.
    Any other label is no; without a label, or without a value, a person does not count. The answer is one of
    the numbers lo, lo + step, ... between two bounds; without a step as in ``quantile``.

    >>> passed = threshold(value="hours", label="result", yes="passed", between=(0, 40))
    >>> passed.count, passed.d_range("add_remove"), passed.d_range("change_one")
    (41, Fraction(1, 1), Fraction(2, 1))
    """
    column_name(value, "value")
    column_name(label, "label")
    answer, points = listed([yes], "yes"), grid(between, step)
    question = BoundedCounts((ByAmount(value), ByList(label, answer, others=True)), distinct=True, most=1)
    written = ", ".join(answer.canonical())
    ranges = (Fraction(1), Fraction(2))
    return Problem(
        "threshold",
        points,
        Fraction(1),
        ranges,
        question,
        RightSide(points),
        (("value", repr(value)), ("label", repr(label)), ("yes", repr(written))),
        measured_in="people",
        beside_a_constant=ranges,
    )
