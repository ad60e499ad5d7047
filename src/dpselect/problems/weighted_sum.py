"""Weighted sums: which candidate has the highest sum of ratings, each clamped to public bounds.

Proof: weighted_sum.proof.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpselect.engines.protocol import Counts
from dpselect.errors import InvalidParameter, shown
from dpselect.exact.numbers import Number, exact_text, positive, rational
from dpselect.problems.candidates import listed
from dpselect.problems.distribution import exactly
from dpselect.problems.problem import Between, ByAmount, ByList, Problem, Question
from dpselect.problems.votes import column_name

FINENESS = 10**6


@dataclass(frozen=True)
class ClampedSum:
    """The sum of a candidate's ratings, each clamped and rounded to a multiple of the unit, half up."""

    candidates: int
    low: Fraction
    high: Fraction
    unit: Fraction

    def __call__(self, counts: Counts) -> Between:
        """Add in 64 bits where no sum can exceed them, otherwise without bounds."""
        places, values = counts.keys
        people = int(counts.sizes.sum())
        fits = max(abs(self.low), abs(self.high)) / self.unit * max(people, 1) < 2**62
        scores = np.zeros(self.candidates, dtype=np.int64 if fits else object)
        points = np.array([self.points(value) for value in values], dtype=scores.dtype)
        np.add.at(scores, places, points * counts.sizes.astype(scores.dtype))
        return lambda start, stop: (
            scores[start:stop] if fits else [int(score) for score in scores[start:stop]]
        )

    def points(self, value: object) -> int:
        """Give one rating in multiples of the unit; a text that is no number is worth nothing."""
        rating = exactly(value)
        if rating is None:
            return 0
        clamped = self.low if rating < self.low else self.high if rating > self.high else Fraction(rating)
        return math.floor(clamped / self.unit + Fraction(1, 2))


def weighted_sum(
    *,
    candidate: str,
    candidates: object = None,
    value: str,
    bounds: tuple[Number, Number],
    unit: Number | None = None,
) -> Problem:
    """Ask which candidate has the highest sum of ratings, of each person one for each candidate.

    Ratings are clamped to the bounds, then rounded to multiples of ``unit`` (a millionth, unless it is given;
    it must divide both bounds). Of several ratings by one person for one candidate, one is drawn.

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
    question = Question((ByList(candidate, names), ByAmount(value)), distinct=True, most=1, within=(0,))
    facts = (
        ("candidate", repr(candidate)),
        ("value", repr(value)),
        ("bounds", f"({exact_text(low)}, {exact_text(high)})"),
    )
    scoring = ClampedSum(len(names.labels), low, high, step)
    return Problem("weighted_sum", names, step, (spread, 2 * spread), question, scoring, facts)
