"""Counts of groups once more, in plain Python: which groups a person is kept in, and the scores of each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dpselect import Table
from dpselect.problems import Problem
from dpselect.problems.groups import Groups, groups_of
from tests.engines import reference
from tests.engines.reference import SALT, Row

BY = "city"
CITIES = ["Rome", "Oslo", "Lima", "nobody's"]


class Beside(bytes):
    """The key of the hash for groups: the other one, with a word behind it."""

    def hex(self, *_: Any) -> str:
        return f"{super().hex()}:groups"


@dataclass(frozen=True)
class GroupedCase:
    """A question, which rows of its table count, and the scores that the reference gives to rows."""

    name: str
    problem: Problem
    unit: str | None
    counts: Callable[[Row], bool]
    scores: Callable[[Sequence[Row]], Sequence[Any]]

    def expected(self, rows: Sequence[Row], per_person: int, salt: bytes = SALT) -> list[list[Any]]:
        """Keep each person's groups of least priority, and score the rows of each group."""
        kept = [row for row in rows if self._is_kept(row, rows, per_person, salt)]
        found = []
        for place, city in enumerate(CITIES):
            with reference.within_group(place):
                scores = self.scores([row for row in kept if row[BY] == city])
            found.append([score / self.problem.unit for score in scores])
        return found

    def _is_kept(self, row: Row, rows: Sequence[Row], per_person: int, salt: bytes) -> bool:
        if row[BY] not in CITIES:
            return False
        if self.unit is None:
            return True
        person = row[self.unit]
        if person is None:
            return False
        mine = {
            CITIES.index(each[BY])
            for each in rows
            if each[self.unit] == person and each[BY] in CITIES and self.counts(each)
        }
        turns = sorted((reference.turn(person, (place,), (), Beside(salt)), place) for place in mine)
        return CITIES.index(row[BY]) in [place for _, place in turns[:per_person]]


def asked_of_groups(
    problem: Problem, table: Table, groups: Groups | None = None, salt: bytes = SALT
) -> list[list[int]]:
    """Ask an engine as a release does: the scores of each group, in the order of the groups."""
    cities = groups_of(BY, CITIES) if groups is None else groups
    with table.open() as engine:
        request = cities.request(problem, engine.schema, unit=table.unit)
        counts = engine.counts(request, salt)
    return [[int(score) for score in problem.scores(each)] for each in cities.apart(counts)]
