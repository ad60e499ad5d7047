"""Several quantiles at once: quartiles, deciles, the five numbers of a box plot.

Proof: quantiles.proof.md
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from dpselect.engines.protocol import Counts
from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import Number, ascending_fractions
from dpselect.exact.rounding import exact_text
from dpselect.problems.bounded_counts import BoundedCounts, ByAmount, column_name
from dpselect.problems.candidates import Grid, grid
from dpselect.problems.grid_ranks import grid_ranks
from dpselect.problems.problem import Problem
from dpselect.selection.cells import Cells

FIVE_NUMBERS = ("1/20", "1/4", "1/2", "3/4", "19/20")
"""The fractions of a summary."""


@dataclass(frozen=True)
class PeopleAtPoints:
    """How many people are at each point of the grid; one between two points is at the higher one."""

    grid: Grid

    def __call__(self, counts: Counts) -> NoReturn:
        """Refuse: several quantiles have no score of each candidate."""
        del counts
        raise InvalidParameter("several quantiles at once have no scores.")

    def cells(self, counts: Counts) -> Cells:
        """Place the people."""
        (values,) = counts.keys
        return grid_ranks(self.grid, values, counts.sizes).cells()


def quantiles(
    *,
    value: str,
    at: Sequence[Number],
    between: tuple[Number, Number],
    step: Number | None = None,
) -> Problem:
    """Ask for several quantiles at once: for each fraction, the number with that fraction of people below it.

    The numbers to choose from are lo, lo + step, ... between two bounds; without a step as in ``quantile``.
    One charge pays for all of them: as many levels as the number of quantiles has binary digits.
    Asked with ``select``; ``release.labels`` has one number for each fraction, ascending.

    >>> quartiles = quantiles(value="age", at=["1/4", "1/2", "3/4"], between=(0, 120))
    >>> quartiles.answers, quartiles.count
    (3, 121)
    """
    column_name(value, "value")
    fractions, points = ascending_fractions(at, "at"), grid(between, step)
    facts = (("value", repr(value)), ("at", ", ".join(map(exact_text, fractions))))
    return Problem(
        "quantiles",
        points,
        Fraction(1),
        (Fraction(1), Fraction(2)),
        BoundedCounts((ByAmount(value),), distinct=True, most=1),
        PeopleAtPoints(points),
        facts,
        measured_in="rank",
        at=fractions,
    )


def five_numbers(*, value: str, between: tuple[Number, Number], step: Number | None = None) -> Problem:
    """Ask for the 5, 25, 50, 75 and 95 % quantiles: a box plot."""
    return quantiles(value=value, at=FIVE_NUMBERS, between=between, step=step)
