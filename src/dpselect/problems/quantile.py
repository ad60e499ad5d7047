"""Quantiles: which of the public numbers is closest in rank to the one that splits the people as asked.

Reference: the score of a median in Smith's lecture (docs/sources.md), for any fraction; here the people at
           the number itself count too.
Proof:     quantile.proof.md
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpselect.engines.protocol import Counts
from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import Number, probability
from dpselect.exact.rounding import exact_text
from dpselect.problems.bounded_counts import BoundedCounts, ByAmount, column_name
from dpselect.problems.candidates import Grid, Numbers, numbers_or_grid, written
from dpselect.problems.grid_ranks import grid_ranks
from dpselect.problems.problem import Problem
from dpselect.problems.ranks import distribution
from dpselect.problems.scoring import Between, WholeScores, in_64_bits
from dpselect.selection.runs import Runs


@dataclass(frozen=True)
class RankDistance:
    """Minus the distance from a n, the rank that is asked for, to the ranks that a number has.

    Of n people some are below the number and some above: its ranks are all from the people below to the
    people not above. In multiples of one over the denominator of a.
    """

    numbers: Numbers | Grid
    at: Fraction

    def __call__(self, counts: Counts) -> Between:
        """Compute in 64 bits if the denominator is small enough for that, otherwise without bounds."""
        (values,) = counts.keys
        ranks = distribution(self.numbers, values, counts.sizes)
        person, rank = self.at.denominator, self.at.numerator * ranks.people
        narrow = in_64_bits(self.at.denominator, ranks.people)

        def between(start: int, stop: int) -> WholeScores:
            lowest, highest = ranks.below(start, stop), ranks.people - ranks.above(start, stop)
            if narrow:
                distances: NDArray[np.int64] = np.maximum(person * lowest - rank, rank - person * highest)
                return -np.maximum(distances, 0)
            pairs = zip(lowest.tolist(), highest.tolist(), strict=True)
            return [-max(person * low - rank, rank - person * high, 0) for low, high in pairs]

        return between

    def runs(self, counts: Counts) -> tuple[Runs, ...]:
        """Score the stretches of the grid between the values, and the points at them."""
        (values,) = counts.keys
        ranks = grid_ranks(self.grid, values, counts.sizes)
        narrow = in_64_bits(self.at.denominator, ranks.people)
        people = ranks.up_to if narrow else ranks.up_to.astype(object)
        beyond = self.at.denominator * people - self.at.numerator * ranks.people
        scores = np.empty(2 * len(beyond) - 1, dtype=beyond.dtype)
        scores[0::2] = -np.abs(beyond)
        scores[1::2] = -np.maximum(np.maximum(beyond[:-1], -beyond[1:]), 0)
        return ranks.runs(scores, Fraction(1))

    @property
    def grid(self) -> Grid:
        """The numbers, if they are a grid."""
        if isinstance(self.numbers, Grid):
            return self.numbers
        raise InvalidParameter("listed numbers have no runs.")


def quantile(
    *,
    value: str,
    at: Number,
    candidates: object = None,
    between: tuple[Number, Number] | None = None,
    step: Number | None = None,
) -> Problem:
    """Ask which candidate has at most the fraction ``at`` of the people below it, and at most the rest above.

    Where no candidate has, the one whose rank is closest is best. The candidates are listed, or are the
    numbers lo, lo + step, ... between two bounds: however many, since the time depends on the values that
    people have, not on the grid. Without a step, it is 1 for whole bounds that are at most 2**20 apart, and
    otherwise the least of 1, 2 and 5 times a power of ten that leaves no more than 2**20 numbers.

    >>> median = quantile(value="age", at="1/2", between=(0, 120))
    >>> median.count, median.unit, median.d_range("add_remove"), median.d_range("change_one")
    (121, Fraction(1, 2), Fraction(1, 1), Fraction(2, 1))
    """
    column_name(value, "value")
    fraction = probability(at, "at")
    choices = numbers_or_grid("quantile", candidates, between, step)
    question = BoundedCounts((ByAmount(value),), distinct=True, most=1)
    n = choices.length if isinstance(choices, Grid) else len(choices)
    ranges = (2 * max(fraction, 1 - fraction), Fraction(2))
    facts = (("value", repr(value)), ("at", exact_text(fraction)))
    return Problem(
        "quantile",
        choices,
        Fraction(1, fraction.denominator),
        ranges,
        question,
        RankDistance(choices, fraction),
        facts,
        definition=2,
        target="the median" if fraction == Fraction(1, 2) else f"the {written(fraction)} quantile",
        measured_in="rank",
        totals=(n * max(fraction, 1 - fraction), Fraction(n)),
    )
