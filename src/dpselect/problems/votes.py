"""Votes: approval, plurality, Borda, and the most common value.

Proof: votes.proof.md
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpselect.engines.protocol import Counts
from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import whole
from dpselect.problems.candidates import Numbers, Texts, listed, must_differ_in_more_than_case
from dpselect.problems.problem import Between, BoundedCounts, ByList, Problem, added_up
from dpselect.problems.typed_values import TypedValues


@dataclass(frozen=True)
class Tally:
    """The score of a candidate is the size of its group, and 0 without one."""

    candidates: int

    def __call__(self, counts: Counts) -> Between:
        """Line the sizes up."""
        (places,) = counts.keys
        scores = np.zeros(self.candidates, dtype=np.int64)
        scores[places] = counts.sizes
        return lambda start, stop: scores[start:stop]


@dataclass(frozen=True)
class BordaPoints:
    """A first place among m candidates is worth m - 1 points, a last place none."""

    candidates: int

    def __call__(self, counts: Counts) -> Between:
        """Add the points of all places."""
        _, ranks = counts.keys
        most = self.candidates - 1
        return added_up(self.candidates, most, counts, (most - ranks).tolist())


def approval_voting(*, candidate: str, candidates: object = None, ignore_case: bool = False) -> Problem:
    """Ask which candidate most people named, however many each of them named.

    ``ignore_case``: " Pad  THAI" in the table is the candidate "Pad Thai". ASCII letters are compared without
    their case, outer white space is dropped, and what is between words is one space. All votes have it.

    >>> dish = approval_voting(candidate="dish", candidates=["tea", "soup"])
    >>> dish.outputs, dish.d_range("add_remove"), dish.d_range("change_one")
    (('tea', 'soup'), Fraction(1, 1), Fraction(2, 1))
    """
    return _tallied(
        "approval_voting", "candidate", candidate, candidates, ignore_case, distinct=True, most=None
    )


def plurality(*, candidate: str, candidates: object = None, ignore_case: bool = False) -> Problem:
    """Ask which candidate most people chose; of a person who chose several, one choice is drawn."""
    return _tallied("plurality", "candidate", candidate, candidates, ignore_case, distinct=True, most=1)


def most_common(
    *, column: str, candidates: object = None, rows_per_person: int = 1, ignore_case: bool = False
) -> Problem:
    """Ask which value most rows hold; of a person, at most ``rows_per_person`` rows are drawn."""
    most = whole(rows_per_person, "rows_per_person", least=1, most=2**31)
    return _tallied("most_common", "column", column, candidates, ignore_case, distinct=False, most=most)


def borda(*, candidate: str, rank: str, candidates: object = None, ignore_case: bool = False) -> Problem:
    """Ask which candidate is ranked best: of m, rank 1 is worth m - 1 points and rank m none.

    A candidate that a person did not rank gets no point from them; of several ranks, one is drawn.
    """
    column_name(candidate, "candidate")
    column_name(rank, "rank")
    names = listed(candidates)
    count = len(names.labels)
    ranks = tuple(range(1, count + 1))
    question = BoundedCounts(
        (
            looked_up(candidate, names, ignore_case=ignore_case),
            ByList(rank, Numbers(ranks, tuple(map(Fraction, ranks)))),
        ),
        distinct=True,
        most=1,
        within=(0,),
    )
    ranges = (Fraction(count - 1), Fraction(2 * (count - 1)))
    totals = (Fraction(count * (count - 1)),) * 2
    facts = (("candidate", repr(candidate)), ("rank", repr(rank)), *facts_of_case(ignore_case=ignore_case))
    return Problem(
        "borda",
        names,
        Fraction(1),
        ranges,
        question,
        BordaPoints(count),
        facts,
        measured_in="points",
        totals=totals,
    )


def _tallied(  # noqa: PLR0913 - three problems that differ in little else
    name: str,
    parameter: str,
    column: str,
    candidates: object,
    ignore_case: bool,  # noqa: FBT001 - handed on
    *,
    distinct: bool,
    most: int | None,
) -> Problem:
    column_name(column, parameter)
    names = listed(candidates)
    largest = most if most is not None and not distinct else 1
    ranges = (Fraction(largest), Fraction(2 * largest))
    facts = [(parameter, repr(column))]
    if name == "most_common":
        facts.append(("rows_per_person", str(most)))
    return Problem(
        name,
        names,
        Fraction(1),
        ranges,
        BoundedCounts((looked_up(column, names, ignore_case=ignore_case),), distinct, most),
        Tally(len(names.labels)),
        (*facts, *facts_of_case(ignore_case=ignore_case)),
        measured_in="rows" if name == "most_common" else "votes",
        totals=None if most is None else ranges,
    )


def looked_up(column: str, names: Texts | Numbers | TypedValues, *, ignore_case: bool) -> ByList:
    """Look the values of a column up among the candidates: exactly, or as ``ignore_case`` says."""
    if not isinstance(ignore_case, bool):
        raise InvalidParameter.must_be("ignore_case", "True or False", got=ignore_case)
    if ignore_case:
        must_differ_in_more_than_case(names)
    return ByList(column, names, ignore_case)


def facts_of_case(*, ignore_case: bool) -> tuple[tuple[str, str], ...]:
    """Give the fact that case is ignored, which makes another question of it."""
    return (("ignore_case", "True"),) if ignore_case else ()


def column_name(given: object, name: str) -> str:
    """Read the name of a column."""
    if not isinstance(given, str) or not given:
        raise InvalidParameter.must_be(name, "the name of a column", got=given)
    return given
