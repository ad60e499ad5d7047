"""Several quantiles of people on a grid, each drawn by the exponential mechanism, level by level.

Noise:     Gumbel, on every point of the grid.
Reference: Kaplan, Schnapp & Stemmer 2022, with shares of cells, and prices by range.
Proof:     recursive_quantiles.proof.md
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dpselect.errors import InvalidParameter, OutsideDomain
from dpselect.exact.numbers import Number, ascending_fractions, not_negative
from dpselect.exact.randomness import Randomness
from dpselect.mechanisms.arguments import measure_or_pure
from dpselect.mechanisms.privacy_maps import GumbelMap
from dpselect.privacy.measurement import Measurement
from dpselect.privacy.measures import Measure, RangeDivergence
from dpselect.privacy.metrics import L1Distance
from dpselect.privacy.runs_domain import RunsDomain
from dpselect.selection.cells import Cells
from dpselect.selection.recursive_medians import levels, recursive_quantiles
from dpselect.selection.runs import python_integers

NOT_PEOPLE = "runs must have whole numbers of people, none below zero, and few enough points with people."
MOST_POINTS_WITH_PEOPLE = 2**24
"""Points of the grid that have people; each of them is listed."""
MOST_RANK = 2**62
"""The rank of the last person, which is held in 64 bits: at most this number of people."""


@dataclass(frozen=True)
class RecursiveQuantiles:
    """The point of the grid for each fraction, ascending."""

    domain: RunsDomain
    at: tuple[Fraction, ...]
    scale: Fraction

    checks_domain: ClassVar = True

    def __call__(self, arg: object, randomness: Randomness) -> list[int]:
        """Read how many people there are at each point, and draw."""
        cells = arg if isinstance(arg, Cells) else self._read(arg)
        return recursive_quantiles(cells, self.at, self.scale, randomness)

    def _read(self, arg: object) -> Cells:
        (runs,) = self.domain.read(arg)
        places: list[int] = []
        people = [0]
        for run in range(len(runs.scores)):
            size, count = runs.score(run), runs.count(run) or 0
            if size and count:
                if not size > 0 or len(places) + count > MOST_POINTS_WITH_PEOPLE:
                    raise OutsideDomain(NOT_PEOPLE)
                places += [runs.output(run, place) for place in range(count)]
                people += [int(size)] * count
        if sum(people) > MOST_RANK:
            raise OutsideDomain(NOT_PEOPLE)
        up_to = np.cumsum(people, dtype=np.int64)
        return Cells(self.domain.size, python_integers(places), up_to, int(up_to[-1]))


def make_recursive_quantiles(
    input_domain: RunsDomain,
    input_metric: L1Distance,
    at: Sequence[Number],
    scale: Number,
    *,
    privacy_measure: Measure | None = None,
) -> Measurement:
    """Draw several quantiles at once: for each fraction a point of the grid, ascending.

    Precondition
        runs say how many people are at each point:
        at most 2**24 points with people, 2**62
        people in all                                checked when drawn
        fractions ascend, between 0 and 1            checked here
        neighbours' numbers of people differ by
        d_in in all: 1 if one more or fewer          claimed by the caller

    Postcondition
        ``m(runs)`` follows the law of recursive_medians.proof.md, exactly.
        ``m.map(d_in)`` is the price of one draw of bounded range d_in / scale for each level. Range
        divergence is refused: it does not add.

    Runtime
        O(L r) for L levels and r points with people, whatever the number of points.

    Utility
        Each answer's rank is within a public bound of the one asked for (utility/quantile_accuracy.py).

    >>> from dpselect.privacy import atom_domain, l1_distance, runs_domain
    >>> domain = runs_domain(atom_domain(int), 100)
    >>> m = make_recursive_quantiles(domain, l1_distance(), ["1/4", "1/2", "3/4"], scale=4)
    >>> m.map(1), m([(10, 0), (1, 900), (89, 0)])
    (Fraction(1, 2), [10, 10, 10])
    """
    if not isinstance(input_domain, RunsDomain) or input_domain.element_domain.kind is not int:
        raise InvalidParameter.must_be("input_domain", "a domain of runs of whole numbers", got=input_domain)
    if not isinstance(input_metric, L1Distance):
        raise InvalidParameter.must_be("input_metric", "l1_distance()", got=input_metric)
    measure = measure_or_pure(privacy_measure)
    if isinstance(measure, RangeDivergence):
        raise InvalidParameter("quantiles have no price in range divergence, which does not add.")
    fractions, spread = ascending_fractions(at, "at"), not_negative(scale, "scale")
    draws = levels(len(fractions)) if input_domain.size > 1 else 0
    draw = RecursiveQuantiles(input_domain, fractions, spread)
    return Measurement(
        input_domain, input_metric, measure, draw, GumbelMap(input_metric, measure, spread, draws)
    )
