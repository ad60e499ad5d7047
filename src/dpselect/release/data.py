"""What a question is asked of: a table, open or not, or scores of the caller's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeAlias

from dpselect.engines.protocol import SALT_BYTES, Counts, CountsRequest, Engine
from dpselect.engines.schema import Schema
from dpselect.engines.table import Table
from dpselect.errors import InvalidParameter
from dpselect.exact.randomness import system
from dpselect.problems.groups import Groups
from dpselect.problems.own_scores import Scores
from dpselect.problems.problem import CHUNK, Problem
from dpselect.silence import holds_data, takes_data

OF_SCORES = "person"
"""The unit of scores that were computed before: no column is known."""

Look: TypeAlias = Callable[[], Any]
"""Reads the rows when it is called, and not before; gives the scores at once, or in chunks."""


@holds_data
class OpenTable:
    """A table while it is open: its schema has been read, no row has been.

    ``prepare`` takes it in place of the table, from a caller who looks at the schema first; that caller
    closes it.
    """

    def __init__(self, table: Table) -> None:
        """Name the table; ``with`` opens it."""
        self.table = table
        self._opening: AbstractContextManager[Engine] | None = None
        self._engine: Engine | None = None

    @property
    def engine(self) -> Engine:
        """What reads the rows."""
        if self._engine is None:
            raise InvalidParameter("the table must be open. Write with OpenTable(table) as opened: ...")
        return self._engine

    @property
    def schema(self) -> Schema:
        """The public columns."""
        return self.engine.schema

    @takes_data
    def __enter__(self) -> Self:
        self._opening = self.table.open()
        self._engine = self._opening.__enter__()
        return self

    @takes_data
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it alike however the block has ended: an engine has no use for the frames of an error."""
        opening, self._opening, self._engine = self._opening, None, None
        if opening is not None:
            opening.__exit__(None, None, None)

    def __repr__(self) -> str:
        return f"<{self.table!r}, {'closed' if self._engine is None else 'open'}>"

    def __reduce__(self) -> str:
        raise TypeError("an open table is not pickled.")


Data: TypeAlias = Table | OpenTable | Scores


def table_of(data: Data) -> Table | None:
    """Give the table behind the data; None of scores."""
    if isinstance(data, Scores):
        return None
    return data.table if isinstance(data, OpenTable) else data


class PublicFacts(NamedTuple):
    """All that a price may depend on of the data: how a table is named and read; nothing that rows decide."""

    of_scores: bool
    unit: str | None = OF_SCORES
    dataset: str | None = None
    reading: tuple[tuple[str, str], ...] = ()
    where: str | None = None

    @classmethod
    def of(cls, data: Data) -> PublicFacts:
        """Take them from data; of scores nothing is known but that they are scores."""
        table = table_of(data)
        if table is None:
            return FACTS_OF_SCORES
        facts = table.reading.facts
        return cls(of_scores=False, unit=table.unit, dataset=table.dataset, reading=facts, where=table.where)


FACTS_OF_SCORES = PublicFacts(of_scores=True)


def must_be_askable(problem: Problem, data: Data) -> None:
    """Refuse a question that data of this kind cannot be asked."""
    if not isinstance(problem, Problem):
        # Its type alone is shown: if the arguments were given in another order, it is data.
        raise InvalidParameter(
            f"problem must be a selection problem; got a {type(problem).__name__}. "
            "Write approval_voting(...), pricing(...)."
        )
    if not isinstance(data, Table | OpenTable | Scores):
        raise InvalidParameter(
            f"table must be a Table, or Scores for custom(...); got a {type(data).__name__}. "
            'Write Table(path, unit="person").'
        )
    if problem.name == "counting":
        raise InvalidParameter("counting(...) is for planning and has no data. Name a problem of your table.")
    if not isinstance(data, Scores):
        if problem.question is None:
            raise InvalidParameter(f"{problem.name} reads no table. Give Scores(...).")
        return
    if problem.question is not None:
        raise InvalidParameter(f"{problem.name} needs a Table; Scores belong to custom(...).")
    data.must_fit(problem.outputs)


def look_of(
    problem: Problem, data: OpenTable | Scores, groups: Groups | None = None, *, as_runs: bool = False
) -> Look:
    """Fit a question to the schema, once; what is given reads the rows when it is called."""
    if isinstance(data, Scores):
        return partial(data.ordered, problem.outputs)
    if groups is None:
        request = problem.request(data.schema, unit=data.table.unit)
    else:
        request = groups.request(problem, data.schema, unit=data.table.unit)
    return _Rows(problem, data.engine, request, groups, as_runs=as_runs)


@dataclass(frozen=True)
class _Rows:
    """Reads the rows, and gives the scores: as runs, or at once, or in chunks if they are many.

    With groups it gives them for one group after the other.
    """

    problem: Problem
    engine: Engine
    request: CountsRequest
    groups: Groups | None
    as_runs: bool

    def __call__(self) -> Any:
        counts = self.engine.counts(self.request, system().words(SALT_BYTES // 8).tobytes())
        if self.groups is not None:
            return self._of_each(self.groups, counts)
        scores = self._of_one(counts)
        return self.problem.chunks(counts) if scores is None else scores

    def _of_one(self, counts: Counts) -> Any:
        """Give the scores at once; None if they are many."""
        problem = self.problem
        if problem.at:
            return problem.cells(counts)
        if self.as_runs:
            return problem.runs(counts)
        return None if problem.count > CHUNK else problem.scores(counts)

    def _of_each(self, groups: Groups, counts: Counts) -> Iterator[Any]:
        for each in groups.apart(counts):
            yield self._of_one(each)
