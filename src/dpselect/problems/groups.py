"""Groups: one question, asked of each of several public groups of people apart.

Which groups there are is public, as candidates are: whether a city is on the list would tell who lives there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from dpselect.engines.protocol import Counts, CountsRequest, Key
from dpselect.engines.schema import Schema
from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import whole
from dpselect.problems.bounded_counts import ByList, column_name
from dpselect.problems.candidates import Numbers, Texts, listed
from dpselect.problems.problem import Problem
from dpselect.problems.typed_values import TypedValues

MOST_NARROW = 2**16
"""Groups whose places fit 16 bits, which NumPy sorts ten times as fast as 64."""


@dataclass(frozen=True)
class Groups:
    """The values of a column that make the groups, and in how many of them one person counts.

    >>> cities = groups_of("city", ["Rome", "Oslo"], 1)
    >>> cities.labels, cities.per_person
    (('Rome', 'Oslo'), 1)
    """

    column: str
    values: Texts | Numbers | TypedValues
    per_person: int

    @property
    def labels(self) -> tuple[Any, ...]:
        """The groups, in the order given."""
        return self.values.labels

    @property
    def count(self) -> int:
        """How many groups there are."""
        return len(self.labels)

    @cached_property
    def fact(self) -> str:
        """The SHA-256 of what makes the groups: equal for equal ones, in whatever order."""
        hashed = hashlib.sha256()
        for part in (f"by {self.column!r}", f"per person {self.per_person}", *self.values.canonical()):
            content = part.encode("utf-8", "surrogatepass")
            hashed.update(f"{len(content)}:".encode() + content)
        return hashed.hexdigest()

    def digest(self, problem: Problem) -> str:
        """Give the SHA-256 of the question, asked of each group."""
        return hashlib.sha256(f"each {self.fact} of {problem.digest}".encode()).hexdigest()

    def request(self, problem: Problem, schema: Schema, *, unit: str | None) -> CountsRequest:
        """Fit the question to a table's schema: bounded in each group as it is alone, in few groups each."""
        asked = problem.request(schema, unit=unit)
        bound = None if unit is None or self.per_person >= self.count else self.per_person
        return replace(
            asked,
            keys=(*asked.keys, self._key(schema)),
            within=(*asked.within, len(asked.keys)),
            groups_per_person=bound,
        )

    def _key(self, schema: Schema) -> Key:
        """Fit the groups to their column, as candidates are fitted."""
        try:
            return ByList(self.column, self.values).key(schema)
        except InvalidParameter as refused:
            if refused.parameter != "candidates":
                raise
            sentence = str(refused)
        raise InvalidParameter(f"groups{sentence.removeprefix('candidates')}", parameter="groups")

    def apart(self, counts: Counts) -> Iterator[Counts]:
        """Give the counts of each group, in the order of the groups."""
        *keys, group = counts.keys
        narrow = np.uint16 if self.count <= MOST_NARROW else np.int64
        order = np.argsort(group.astype(narrow, copy=False), kind="stable")
        ends = np.searchsorted(group[order], np.arange(self.count + 1)).tolist()
        keys, sizes = [key[order] for key in keys], counts.sizes[order]
        for start, stop in pairwise(ends):
            yield Counts(tuple(key[start:stop] for key in keys), sizes[start:stop])


def groups_of(by: object, groups: object, per_person: object = 1) -> Groups:
    """Read what makes the groups."""
    column, values = column_name(by, "by"), listed(groups, "groups")
    number = whole(per_person, "groups_per_person", least=1)
    if number > len(values.labels):
        raise InvalidParameter.must_be(
            "groups_per_person", f"at most the number of groups, {len(values.labels)}", got=number
        )
    return Groups(column, values, number)
