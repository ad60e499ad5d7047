"""Check that a question and a table fit: for the owner of the data. The answer is data, and not private.

>>> from dpselect import Table, approval_voting
>>> dish = approval_voting(candidate="dish", candidates=["tea", "soup"])
>>> check(dish, Table("ballots.csv", unit="guest"))
Traceback (most recent call last):
dpselect.errors.InvalidParameter: owner must be True: a check shows data. Write owner=True if it is yours.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial

from dpselect.engines.protocol import SALT_BYTES, CountsRequest, Engine, Key, Listed, RowFilter, Ticked
from dpselect.engines.table import Table
from dpselect.errors import InvalidParameter, visible
from dpselect.notebook import card, numbers_table, shown_text
from dpselect.owner import queries
from dpselect.problems.groups import groups_of
from dpselect.problems.problem import Problem
from dpselect.release.data import OpenTable
from dpselect.release.progress_line import progress_shown
from dpselect.silence import takes_data

SHOWN_VALUES = 10
"""Unmatched values that are shown of each column."""

LONGEST_SHOWN = 60
"""Characters that are shown of such a value."""

WARNING = "Not private: this is your data. Do not publish it, and do not hand it on."


@dataclass(frozen=True)
class ColumnCheck:
    """How the cells of one column fit the question."""

    column: str
    matched: int
    missing: int
    """Cells without a value: NULL, or an empty cell where the source has no other word for it."""
    no_number: int
    """Cells that must hold a number, and do not."""
    not_listed: int
    """Cells whose value is not on the public list, or that are not ticked; of split cells, their parts."""
    unmatched: tuple[tuple[str, int], ...]
    """The most frequent values that do not count, each with its number of cells."""


@dataclass(frozen=True, repr=False)
class TableCheck:
    """What a question makes of a table. All of it is data about people: nothing of it may be published."""

    rows: int
    people: int
    without_person: int
    """Rows that name no person."""
    columns: tuple[ColumnCheck, ...]
    matched: int
    """Rows that have a person and a matched cell in every column."""
    repeated: int
    """Of these, rows that repeat another one of the same person, and count once with it."""
    over_the_bound: int
    """Of the rest, rows that one person has beyond the bound of the question."""

    @property
    def counted(self) -> int:
        """The rows that make the scores."""
        return self.matched - self.repeated - self.over_the_bound

    def __repr__(self) -> str:
        lines = [WARNING, ""]
        width = max(len(name) for name, _ in self._facts())
        lines += [f"{name:{width}}  {number:,}" for name, number in self._facts()]
        for column in self.columns:
            if column.unmatched:
                lines += ["", f"most frequent values of {visible(column.column)} that do not count:"]
                lines += [f"  {size:>12,}  {_short(value)}" for value, size in column.unmatched]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        facts = [(name, f"{number:,}") for name, number in self._facts()]
        tables = [numbers_table(["", "number"], facts)]
        tables += [
            numbers_table(
                ["value", "cells"],
                [(_short(value), f"{size:,}") for value, size in column.unmatched],
                title=f"most frequent values of {column.column} that do not count",
            )
            for column in self.columns
            if column.unmatched
        ]
        return card(f"<p><strong>{shown_text(WARNING)}</strong></p>", *tables)

    def _facts(self) -> list[tuple[str, int]]:
        facts = [("rows", self.rows), ("people", self.people)]
        if self.without_person:
            facts.append(("rows without a person", self.without_person))
        for column in self.columns:
            name = visible(column.column)
            facts.append((f"{name}: matched", column.matched))
            wrong = {
                "missing": column.missing,
                "no number": column.no_number,
                "not on the list": column.not_listed,
            }
            facts += [(f"{name}: {why}", number) for why, number in wrong.items() if number]
        facts.append(("rows that match", self.matched))
        if self.repeated:
            facts.append(("repeated by the same person", self.repeated))
        if self.over_the_bound:
            facts.append(("beyond the bound for a person", self.over_the_bound))
        facts.append(("rows that count", self.counted))
        return facts


@takes_data
def check(  # noqa: PLR0913 - the question, its groups, and who asks
    problem: Problem,
    table: Table | OpenTable,
    *,
    owner: bool = False,
    by: str | None = None,
    groups: object = None,
    groups_per_person: int = 1,
    progress: bool | None = None,
) -> TableCheck:
    """Show the owner of a table how it fits a question: what is matched, what is dropped, and why.

    Nothing of it is private, and no ledger is charged. Only the owner of the data may ask. ``by``, ``groups``
    and ``groups_per_person`` are those of ``select_each``; ``progress`` is that of ``select``.
    """
    if owner is not True:
        raise InvalidParameter("owner must be True: a check shows data. Write owner=True if it is yours.")
    if not isinstance(problem, Problem) or not isinstance(table, Table | OpenTable):
        raise InvalidParameter(
            f"check takes a problem and a Table; got a {type(problem).__name__}, a {type(table).__name__}. "
            'Write check(approval_voting(...), Table(path, unit="person"), owner=True).'
        )
    if (by is None) != (groups is None):
        raise InvalidParameter("by and groups belong together: the column of the groups, and their list.")
    asked = None if by is None else groups_of(by, groups, groups_per_person)
    named = table.table if isinstance(table, OpenTable) else table
    if type(named.source).__name__ == "RecordBatchReader":
        raise InvalidParameter("source must be readable more than once; a reader is not. Write .read_all().")
    with (
        nullcontext(table) if isinstance(table, OpenTable) else OpenTable(table) as opened,
        progress_shown(wanted=progress),
    ):
        if asked is None:
            return _checked(opened.engine, problem.request(opened.schema, unit=named.unit))
        return _checked(opened.engine, asked.request(problem, opened.schema, unit=named.unit))


def _checked(engine: Engine, request: CountsRequest) -> TableCheck:
    person = () if request.person is None else (request.person,)
    where = request.where
    filtered = () if where is None else where.columns
    counted = partial(queries.rows_and_people, request.person, where)
    ((rows, *of_people),) = engine.rows_for_owner([*person, *filtered], counted)
    with_person, people = of_people or (rows, rows)
    unbounded = replace(request, most=None, groups_per_person=None)
    matched = _counted(engine, replace(unbounded, distinct=False))
    different = _counted(engine, unbounded)
    return TableCheck(
        rows=rows,
        people=people,
        without_person=rows - with_person,
        columns=tuple(found for key in request.keys for found in _columns(engine, key, rows, where)),
        matched=matched,
        repeated=matched - different,
        over_the_bound=different - _counted(engine, request),
    )


def _columns(engine: Engine, key: Key, rows: int, where: RowFilter | None) -> Iterator[ColumnCheck]:
    """Check each column of a key; of cells that are split, each part is one."""
    for column in key.columns:
        if isinstance(key, Ticked):
            alone: Key = Ticked((column,))
        else:
            alone = replace(key, optional=False) if isinstance(key, Listed) else key
        request = CountsRequest(None, (alone,), distinct=False, most=None, where=where)
        ((present,),) = engine.rows_for_owner(request.columns, partial(queries.present_cells, column, where))
        facts = ColumnCheck(column.name, _counted(engine, request), rows - present, 0, 0, ())
        if isinstance(alone, Ticked) or (isinstance(alone, Listed) and alone.others is not None):
            yield replace(facts, not_listed=present - facts.matched)  # what is not on the list may count too
            continue
        values = engine.rows_for_owner(
            request.columns, partial(queries.unmatched, alone, SHOWN_VALUES, where)
        )
        facts = replace(facts, unmatched=tuple((str(value), size) for value, size in values))
        if isinstance(alone, Listed) and alone.split is not None:
            ((unmatched,),) = engine.rows_for_owner(
                request.columns, partial(queries.unmatched_cells, alone, where)
            )
            yield replace(facts, not_listed=unmatched)
            continue
        ((present, fitting),) = engine.rows_for_owner(request.columns, partial(queries.cells, alone, where))
        not_listed = fitting - facts.matched if isinstance(alone, Listed) else 0
        yield replace(facts, no_number=present - fitting, not_listed=not_listed)


def _counted(engine: Engine, request: CountsRequest) -> int:
    """Count the rows that are kept; how many they are does not depend on which."""
    return int(engine.counts(request, bytes(SALT_BYTES)).sizes.sum())


def _short(value: str) -> str:
    """Show a value in quotes, so that outer spaces are seen."""
    return f"'{visible(value if len(value) <= LONGEST_SHOWN else f'{value[:LONGEST_SHOWN]}…')}'"
