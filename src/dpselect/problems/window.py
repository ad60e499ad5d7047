"""The busiest window: from which number on a window of fixed width holds most people.

Proof: window.proof.md
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpselect.engines.protocol import Counts
from dpselect.exact.numbers import Number, positive
from dpselect.exact.rounding import exact_text
from dpselect.problems.bounded_counts import BoundedCounts, ByAmount, column_name
from dpselect.problems.candidates import Grid, grid
from dpselect.problems.grid_ranks import points_not_above
from dpselect.problems.grid_steps import GridSteps, grid_steps
from dpselect.problems.problem import Problem
from dpselect.problems.scoring import Between
from dpselect.selection.runs import Runs


@dataclass(frozen=True)
class PeopleInWindow:
    """How many people have a value from c on, and below c + width."""

    grid: Grid
    width: Fraction

    def _steps(self, counts: Counts) -> GridSteps:
        """Count a person from the first c above value - width on, until the first c above the value."""
        (values,) = counts.keys
        ends = Grid(self.grid.first + self.width, self.grid.step, self.grid.length)
        kept, left = points_not_above(ends, values)
        _, right = points_not_above(self.grid, values)
        people = counts.sizes[kept]
        return grid_steps(self.grid, 0, [(left, people), (right, -people)])

    def __call__(self, counts: Counts) -> Between:
        """Score places one by one."""
        return self._steps(counts).between

    def runs(self, counts: Counts) -> tuple[Runs, ...]:
        """Score the stretches."""
        return self._steps(counts).runs()


def window(
    *, value: str, width: Number, between: tuple[Number, Number], step: Number | None = None
) -> Problem:
    """Ask where a window of a fixed width begins that holds most people: those with c <= value < c + width.

    The answer is c, one of the numbers lo, lo + step, ... between two bounds; without a step as in
    ``quantile``.

    >>> busiest = window(value="hour", width=2, between=(0, 22))
    >>> busiest.count, busiest.d_range("add_remove"), busiest.d_range("change_one")
    (23, Fraction(1, 1), Fraction(2, 1))
    """
    column_name(value, "value")
    wide, points = positive(width, "width"), grid(between, step)
    ranges = (Fraction(1), Fraction(2))
    return Problem(
        "window",
        points,
        Fraction(1),
        ranges,
        BoundedCounts((ByAmount(value),), distinct=True, most=1),
        PeopleInWindow(points, wide),
        (("value", repr(value)), ("width", exact_text(wide))),
        measured_in="people",
        beside_a_constant=ranges,
    )
