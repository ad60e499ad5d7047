"""Votes: approval, plurality, Borda, and the most common value.

Proof: votes.proof.md
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dpselect.engines.protocol import NO_PLACE, Counts
from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import whole
from dpselect.problems.bounded_counts import (
    BoundedCounts,
    ByList,
    ByTicks,
    column_name,
    facts_of_case,
    looked_up,
)
from dpselect.problems.candidates import Numbers, Texts, listed, must_be_parts
from dpselect.problems.problem import Problem
from dpselect.problems.scoring import Between, added_up, in_64_bits

LONGEST_SPLIT = 10
"""Characters of what stands between the names of a cell."""


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


@dataclass(frozen=True)
class BallotPoints:
    """Ballots with a column for each place: a name's best place among m candidates counts, once."""

    candidates: int

    def __call__(self, counts: Counts) -> Between:
        """Add the points of all ballots, place by place."""
        scores = [0] * self.candidates
        for rank, named in enumerate(counts.keys[: self.candidates]):
            fresh = named != NO_PLACE
            for better in counts.keys[:rank]:
                fresh &= named != better
            sizes = np.zeros(self.candidates, dtype=np.int64)
            np.add.at(sizes, named[fresh] - (NO_PLACE + 1), counts.sizes[fresh])
            points = self.candidates - 1 - rank
            scores = [score + points * size for score, size in zip(scores, sizes.tolist(), strict=True)]
        narrow = in_64_bits(self.candidates - 1, int(counts.sizes.sum()))
        exact = np.array(scores, dtype=np.int64) if narrow else scores
        return lambda start, stop: exact[start:stop]


def approval_voting(
    *,
    candidate: str | None = None,
    candidates: object = None,
    ignore_case: bool = False,
    split: str | None = None,
    columns: object = None,
) -> Problem:
    """Ask which candidate most people named, however many each of them named.

    ``ignore_case``: " Pad  THAI" in the table is the candidate "Pad Thai". ASCII letters are compared without
    their case, outer white space is dropped, and what is between words is one space. All votes have it.

    ``split``: a cell holds several names with this between them ("tea; pie"); white space around a name does
    not count, and a name twice in a cell is one. ``plurality`` and ``most_common`` have it too.

    ``columns``, in the place of the others: a column for each candidate, as a list of columns, or as a dict
    from candidates to columns. A person names those that are ticked in any of their rows: whose cell, without
    outer white space, is not NULL, NaN, empty, zero, false or "no".

    >>> dish = approval_voting(candidate="dish", candidates=["tea", "soup"])
    >>> dish.outputs, dish.d_range("add_remove"), dish.d_range("change_one")
    (('tea', 'soup'), Fraction(1, 1), Fraction(2, 1))
    """
    if columns is None:
        cells = AskedCells("candidate", candidate, candidates, ignore_case, split)
        return _tallied("approval_voting", cells, distinct=True, most=None)
    if any(given is not None for given in (candidate, candidates, split)) or ignore_case is not False:
        raise InvalidParameter(
            "columns names the candidates and their columns: candidate, candidates, split and ignore_case "
            "say nothing beside it. Leave them out.",
            parameter="columns",
        )
    return _ticked(columns)


def plurality(
    *, candidate: str, candidates: object = None, ignore_case: bool = False, split: str | None = None
) -> Problem:
    """Ask which candidate most people chose; of a person who chose several, one choice is drawn."""
    cells = AskedCells("candidate", candidate, candidates, ignore_case, split)
    return _tallied("plurality", cells, distinct=True, most=1)


def most_common(
    *,
    column: str,
    candidates: object = None,
    rows_per_person: int = 1,
    ignore_case: bool = False,
    split: str | None = None,
) -> Problem:
    """Ask which value most rows hold; of a person, at most ``rows_per_person`` rows are drawn."""
    most = whole(rows_per_person, "rows_per_person", least=1, most=2**31)
    cells = AskedCells("column", column, candidates, ignore_case, split)
    return _tallied("most_common", cells, distinct=False, most=most)


def borda(
    *,
    candidate: str | None = None,
    rank: str | None = None,
    candidates: object = None,
    ignore_case: bool = False,
    ranking: object = None,
) -> Problem:
    """Ask which candidate is ranked best: of m, rank 1 is worth m - 1 points and rank m none.

    A candidate that a person did not rank gets no point from them; of several ranks, one is drawn.

    ``ranking``, in the place of ``candidate`` and ``rank``: the columns with the first name, the second, and
    so on. A row is a ballot; a name twice on it counts at its best place, and of several ballots of a person
    one is drawn.
    """
    if ranking is not None:
        if candidate is not None or rank is not None:
            raise InvalidParameter(
                "ranking names the columns of a ballot: candidate and rank say nothing beside it. "
                "Leave them out.",
                parameter="ranking",
            )
        return _ranked(ranking, candidates, ignore_case=ignore_case)
    candidate = column_name(candidate, "candidate")
    rank = column_name(rank, "rank")
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
        beside_a_constant=ranges,
    )


def _ranked(ranking: object, candidates: object, *, ignore_case: bool) -> Problem:
    columns = _column_names(ranking, "ranking")
    names = listed(candidates)
    count = len(names.labels)
    keys = tuple(
        replace(looked_up(column, names, ignore_case=ignore_case), optional=True) for column in columns
    )
    points = Fraction(sum(count - 1 - rank for rank in range(min(count, len(columns)))))
    ranges = (Fraction(count - 1), Fraction(2 * (count - 1)))
    return Problem(
        "borda",
        names,
        Fraction(1),
        ranges,
        BoundedCounts(keys, distinct=True, most=1),
        BallotPoints(count),
        (("ranking", repr(columns)), *facts_of_case(ignore_case=ignore_case)),
        measured_in="points",
        totals=(points, 2 * points),
        beside_a_constant=ranges,
    )


def _ticked(given: object) -> Problem:
    pairs = list(given.items()) if isinstance(given, Mapping) else None
    columns = _column_names([column for _, column in pairs] if pairs is not None else given, "columns")
    names = listed(list(columns) if pairs is None else [label for label, _ in pairs], "columns")
    if not isinstance(names, Texts):
        raise InvalidParameter("columns must have names of text for the candidates; these are not.")
    ranges = (Fraction(1), Fraction(2))
    return Problem(
        "approval_voting",
        names,
        Fraction(1),
        ranges,
        BoundedCounts((ByTicks(columns),), distinct=True, most=None),
        Tally(len(columns)),
        (("columns", repr(sorted(zip(names.labels, columns, strict=True)))),),
        measured_in="votes",
        beside_a_constant=ranges,
    )


def _column_names(given: object, name: str) -> tuple[str, ...]:
    """Read the names of several columns, each once."""
    if not isinstance(given, list | tuple) or not given:
        raise InvalidParameter.must_be(name, "a list of columns", got=given)
    found = tuple(column_name(each, name) for each in given)
    if len(set(found)) != len(found):
        raise InvalidParameter(f"{name} must be different columns; got one of them twice.", parameter=name)
    return found


@dataclass(frozen=True)
class AskedCells:
    """A column, and what is looked up in its cells: what three problems have in common."""

    parameter: str
    column: object
    candidates: object
    ignore_case: bool
    split: str | None


def _tallied(name: str, cells: AskedCells, *, distinct: bool, most: int | None) -> Problem:
    column = column_name(cells.column, cells.parameter)
    names = listed(cells.candidates)
    largest = most if most is not None and not distinct else 1
    ranges = (Fraction(largest), Fraction(2 * largest))
    facts = [(cells.parameter, repr(column))]
    if name == "most_common":
        facts.append(("rows_per_person", str(most)))
    if cells.split is not None:
        must_split(cells.split)
        must_be_parts(names, cells.split, ignore_case=cells.ignore_case)
        facts.append(("split", repr(cells.split)))
    key = replace(looked_up(column, names, ignore_case=cells.ignore_case), split=cells.split)
    return Problem(
        name,
        names,
        Fraction(1),
        ranges,
        BoundedCounts((key,), distinct, most),
        Tally(len(names.labels)),
        (*facts, *facts_of_case(ignore_case=cells.ignore_case)),
        measured_in="rows" if name == "most_common" else "votes",
        totals=None if most is None else ranges,
        beside_a_constant=ranges,
    )


def must_split(given: object) -> None:
    """Refuse what does not stand between names."""
    if not (isinstance(given, str) and 1 <= len(given) <= LONGEST_SPLIT and given.isascii()) or "\0" in given:
        raise InvalidParameter.must_be(
            "split", f"one to {LONGEST_SPLIT} ASCII characters", got=given, way_out='Write split=";".'
        )
