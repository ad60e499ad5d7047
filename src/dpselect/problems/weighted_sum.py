"""Weighted sums: which candidate has the highest sum of ratings, each clamped to public bounds.

Proof: weighted_sum.proof.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dpselect.engines.protocol import Counts
from dpselect.errors import InvalidParameter, shown
from dpselect.exact.numbers import Number, positive, rational
from dpselect.exact.rounding import exact_text
from dpselect.problems.bounded_counts import BoundedCounts, ByAmount, column_name, facts_of_case, looked_up
from dpselect.problems.candidates import listed
from dpselect.problems.problem import Problem
from dpselect.problems.ranks import digits_of, multiplied
from dpselect.problems.scoring import Between, added_up

FINENESS = 10**6
"""Units in one over the common denominator of the bounds, where no unit is given."""


@dataclass(frozen=True)
class ClampedSum:
    """The sum of a candidate's ratings, each clamped and rounded to a multiple of the unit, half up."""

    candidates: int
    low: Fraction
    high: Fraction
    unit: Fraction

    def __call__(self, counts: Counts) -> Between:
        """Add the points of all ratings."""
        _, values = counts.keys
        most = max(abs(self.low), abs(self.high)) / self.unit
        return added_up(self.candidates, most, counts, [self.points(value) for value in values.tolist()])

    def points(self, value: object) -> int:
        """Give one rating in multiples of the unit; a text that is no number is worth nothing.

        Rounding keeps the order, and leaves the bounds where they are: what is rounded is clamped afterwards.
        """
        low, high = int(self.low / self.unit), int(self.high / self.unit)
        top, bottom = self.unit.as_integer_ratio()
        found = multiplied(value, 2 * bottom, digits_of(self.low, self.high))
        if found is None:
            return 0
        if isinstance(found, float):
            return low if found < 0 else high
        return min(max((found[0] + top) // (2 * top), low), high)


def weighted_sum(  # noqa: PLR0913 - each is part of the question
    *,
    candidate: str,
    candidates: object = None,
    value: str,
    bounds: tuple[Number, Number],
    unit: Number | None = None,
    ignore_case: bool = False,
) -> Problem:
    """Ask which candidate has the highest sum of ratings, of each person one for each candidate.

    Ratings are clamped to the bounds, then rounded to multiples of ``unit`` (a millionth, unless it is given;
    it must divide both bounds). Of several ratings by one person for one candidate, one is drawn.
    ``ignore_case`` as in ``approval_voting``.

    >>> stars = weighted_sum(candidate="film", candidates=["a", "b"], value="stars", bounds=(1, 5))
    >>> stars.d_range("add_remove"), stars.d_range("change_one")
    (Fraction(5, 1), Fraction(10, 1))
    """
    column_name(candidate, "candidate")
    column_name(value, "value")
    names = listed(candidates)
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise InvalidParameter.must_be("bounds", "a pair (lo, hi)", got=bounds)
    low, high = (rational(bound, "bounds") for bound in bounds)
    if not low <= high:
        raise InvalidParameter(f"bounds must be (lo, hi) with lo <= hi; got {shown(low)} and {shown(high)}.")
    step = (
        Fraction(1, FINENESS * math.lcm(low.denominator, high.denominator))
        if unit is None
        else positive(unit, "unit")
    )
    if (low / step).denominator != 1 or (high / step).denominator != 1:
        raise InvalidParameter.must_be("unit", "a number that divides both bounds", got=unit)
    spread = max(high, Fraction(0)) - min(low, Fraction(0))
    ranges = (spread, 2 * spread)
    rated = looked_up(candidate, names, ignore_case=ignore_case)
    question = BoundedCounts((rated, ByAmount(value)), distinct=True, most=1, within=(0,))
    facts = (
        ("candidate", repr(candidate)),
        ("value", repr(value)),
        ("bounds", f"({exact_text(low)}, {exact_text(high)})"),
        *facts_of_case(ignore_case=ignore_case),
    )
    scoring = ClampedSum(len(names.labels), low, high, step)
    return Problem(
        "weighted_sum",
        names,
        step,
        ranges,
        question,
        scoring,
        facts,
        measured_in="points",
        beside_a_constant=ranges,
    )
