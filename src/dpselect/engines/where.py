"""A filter that fits a schema: rows of which a condition is true are the table, and others are not there.

A row whose condition is unknown, as something in it has no value, is dropped, as in SQL. No expression fails
on any value.

Proof: where.proof.md
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from dpselect.engines.comparisons import COMPARING, Node, balanced, compared, contained, moment_in
from dpselect.engines.conditions import (
    MOMENTS,
    Comparison,
    Condition,
    Connection,
    Constant,
    Flag,
    IsNull,
    Membership,
    Name,
    Negation,
    Operator,
    not_a_filter,
)
from dpselect.engines.protocol import RowFilter
from dpselect.engines.queries import Dialect, column_node, valued_node
from dpselect.engines.schema import (
    WORDS,
    Column,
    Schema,
    comparable,
)
from dpselect.engines.where_text import parsed
from dpselect.errors import InvalidParameter, shown
from dpselect.silence import run_or_none

LARGEST_WHOLE = 2**127 - 1
"""The largest whole number of DuckDB's type with a sign; one above it is not cast to that type."""


@dataclass(frozen=True, repr=False)
class Where:
    """A filter, fitted to the columns of a table."""

    condition: Condition
    schema: Schema

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that it looks at."""
        return tuple(dict.fromkeys(_found(self.schema, name) for name in _names(self.condition)))

    def node(self, dialect: Dialect) -> Node:
        """Give the condition for an engine."""
        return self._node(self.condition, dialect)

    def _node(self, condition: Condition, dialect: Dialect) -> Node:
        if isinstance(condition, Negation):
            return exp.Not(this=exp.Paren(this=self._node(condition.of, dialect)))
        if isinstance(condition, Connection):
            joined = exp.And if condition.word == "AND" else exp.Or
            return balanced(joined, [self._node(part, dialect) for part in condition.parts])
        return self._predicate(condition, dialect)

    def _predicate(self, condition: Comparison | Membership | IsNull | Flag, dialect: Dialect) -> Node:
        column = _found(self.schema, condition.column.text)
        if isinstance(condition, IsNull):
            return exp.Is(this=valued_node(column, dialect), expression=exp.null())
        if isinstance(condition, Flag):
            return exp.EQ(this=column_node(column, dialect), expression=exp.true())
        if isinstance(condition, Membership):
            return contained(column, condition.listed, dialect)
        if isinstance(condition.other, Name):
            other = _found(self.schema, condition.other.text)
            sides = valued_node(column, dialect), valued_node(other, dialect)
            return COMPARING[condition.operator](this=sides[0], expression=sides[1])
        return compared(column, condition.operator, condition.other, dialect)


def fitted_where(text: str, schema: Schema) -> RowFilter:
    """Read a filter and fit it to a schema, or refuse: what can be wrong is found before any charge."""
    condition = parsed(text)
    for part in _predicates(condition):
        column = _found(schema, part.column.text)
        if isinstance(part, Flag) and column.kind != "boolean":
            raise not_a_filter(
                f"must compare column {column.name!r} with something: it holds {WORDS[column.kind]}."
            )
        if isinstance(part, Comparison):
            if isinstance(part.other, Name):
                _must_be_alike(column, part.operator, _found(schema, part.other.text, or_text=True))
            else:
                _must_be_comparable(column, part.other)
        elif isinstance(part, Membership):
            for each in part.listed:
                _must_be_comparable(column, each)
    return Where(condition, schema)


def _found(schema: Schema, name: str, *, or_text: bool = False) -> Column:
    """Find a column; that it is missing is a slip of who wrote the filter, who may have meant text."""
    try:
        return schema.column(name)
    except InvalidParameter as refused:
        words = str(refused)
    quotes = f" If it is text, write it in single quotes: {shown(name)}." if or_text else ""
    raise InvalidParameter(f"{words}{quotes}", parameter="where")


def _predicates(condition: Condition) -> Iterator[Comparison | Membership | IsNull | Flag]:
    if isinstance(condition, Negation):
        yield from _predicates(condition.of)
    elif isinstance(condition, Connection):
        for part in condition.parts:
            yield from _predicates(part)
    else:
        yield condition


def _names(condition: Condition) -> Iterator[str]:
    for part in _predicates(condition):
        yield part.column.text
        if isinstance(part, Comparison) and isinstance(part.other, Name):
            yield part.other.text


def _must_be_alike(column: Column, operator: Operator, other: Column) -> None:
    """Refuse to compare columns of different types, and the order of text that may spell numbers."""
    if not _is_one_type(column, other) or column.kind in ("other", "uuid"):
        by_type = column.kind == other.kind and column.kind in ("integer", "decimal", "timestamp")
        held = [each.type if by_type else WORDS[each.kind] for each in (column, other)]
        raise not_a_filter(
            f"must compare columns of one type; {column.name!r} holds {held[0]}, {other.name!r} {held[1]}."
        )
    if column.decimal is not None and operator not in ("=", "<>"):
        raise not_a_filter(
            f"must not order {column.name!r} and {other.name!r} by each other: they hold text, whose order "
            "is not that of numbers. Compare each with a literal."
        )


def _is_one_type(column: Column, other: Column) -> bool:
    """Say whether two columns are compared without a cast that rounds a value, or fails on one."""
    if column.kind != other.kind or column.type == other.type:
        return column.kind == other.kind
    if column.kind == "integer":
        return max(column.highest, other.highest) <= LARGEST_WHOLE
    return column.kind not in ("decimal", "timestamp")


def _must_be_comparable(column: Column, value: Constant) -> None:
    """Refuse a literal that is none of what the column holds."""
    holds = f"column {column.name!r} holds {WORDS[column.kind]}"
    if column.kind in MOMENTS:
        fits, words = moment_in(column, value) is not None, f"such a one as {MOMENTS[column.kind][2]}"
    elif column.kind in ("integer", "decimal", "double", "single"):
        way_out = f" (write {value})" if isinstance(value, str) and _is_number(value) else ""
        fits, words = isinstance(value, Fraction), f"a number{way_out}"
    elif column.kind == "text":
        fits, words = isinstance(value, str | Fraction), "text in single quotes, or a number"
    else:
        fits, words = column.kind == "boolean" and isinstance(value, bool), "TRUE or FALSE"
    if column.kind in ("other", "uuid"):
        raise not_a_filter(f"must compare text, numbers, dates, times or truth values; {holds}.")
    if not fits:
        raise not_a_filter(f"must compare with {words}, as {holds}; got {shown(_shown(value))}.")
    if column.kind == "text" and isinstance(value, str) and comparable(column, [value]) == [None]:
        raise not_a_filter(f"must compare with text that the database of {column.name!r} can hold.")


def _shown(value: Constant) -> object:
    return value if isinstance(value, str | bool | Fraction) else value.isoformat()


def _is_number(text: str) -> bool:
    return run_or_none(lambda: Fraction(text)) is not None
