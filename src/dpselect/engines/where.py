"""A filter that fits a schema: rows of which a condition is true are the table, and others are not there.

Each comparison is made exactly, in the type of its column, with parameters of ours. What has no value (NULL,
NaN, text that is no number where a number is asked for) is unknown, and a row whose condition is unknown is
dropped, as in SQL. No expression fails on any value.

Proof: where.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from fractions import Fraction
from typing import Any

from sqlglot import exp

from dpselect.engines import number_texts
from dpselect.engines.protocol import RowFilter
from dpselect.engines.queries import Dialect, column_node, is_present, valued_node
from dpselect.engines.reading import POINT
from dpselect.engines.schema import (
    TEXT_PARTS,
    TEXT_WHOLES,
    WORDS,
    Column,
    Schema,
    comparable,
    nearest_double,
    nearest_single,
)
from dpselect.engines.where_text import (
    MOMENTS,
    Comparison,
    Condition,
    Connection,
    Constant,
    Flag,
    IsNull,
    Name,
    Negation,
    Operator,
    not_a_filter,
    parsed,
)
from dpselect.errors import InvalidParameter, shown
from dpselect.exact.rounding import exact_decimal
from dpselect.silence import run_or_none

Node = exp.Expression
COMPARING: dict[Operator, Callable[..., Node]] = {
    "=": exp.EQ,
    "<>": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
}
_YEARS = {"TIMESTAMP_NS": range(1678, 2262)}
"""The years that a type can hold, where they are fewer than those of a literal."""
_MICROSECONDS = {"TIMESTAMP_S": 1_000_000, "TIMESTAMP_MS": 1_000}
"""Between two times of a column, where that is more than one."""
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
            return _balanced(joined, [self._node(part, dialect) for part in condition.parts])
        column = _found(self.schema, condition.column.text)
        if isinstance(condition, IsNull):
            return exp.Is(this=valued_node(column, dialect), expression=exp.null())
        if isinstance(condition, Flag):
            return exp.EQ(this=column_node(column, dialect), expression=exp.true())
        if isinstance(condition.other, Name):
            other = _found(self.schema, condition.other.text)
            sides = valued_node(column, dialect), valued_node(other, dialect)
            return COMPARING[condition.operator](this=sides[0], expression=sides[1])
        return _compared(column, condition.operator, condition.other, dialect)


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
    return Where(condition, schema)


def _found(schema: Schema, name: str, *, or_text: bool = False) -> Column:
    """Find a column; that it is missing is a slip of who wrote the filter, who may have meant text."""
    try:
        return schema.column(name)
    except InvalidParameter as refused:
        words = str(refused)
    quotes = f" If it is text, write it in single quotes: {shown(name)}." if or_text else ""
    raise InvalidParameter(f"{words}{quotes}", parameter="where")


def _predicates(condition: Condition) -> Iterator[Comparison | IsNull | Flag]:
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
        fits, words = _moment(column, value) is not None, f"such a one as {MOMENTS[column.kind][2]}"
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


def _moment(column: Column, value: Constant) -> Constant | None:
    """See a literal, or text in ISO form, as what a column of dates or times holds; None if it is not."""
    kind, read, _ = MOMENTS[column.kind]
    found = run_or_none(lambda: read(value)) if isinstance(value, str) else value
    if type(found) is date and column.kind == "timestamp":
        found = datetime.combine(found, time())
    fits = type(found) is kind and getattr(found, "tzinfo", None) is None
    years = _YEARS.get(column.type)
    return found if fits and (years is None or found.year in years) else None  # type: ignore[union-attr]


# ---- one comparison ---------------------------------------------------------------------------------------


def _compared(column: Column, operator: Operator, value: Constant, dialect: Dialect) -> Node:
    node = valued_node(column, dialect)
    if isinstance(value, bool):
        return COMPARING[operator](this=node, expression=exp.true() if value else exp.false())
    if column.kind in MOMENTS:
        return _with_moment(column, operator, _moment(column, value), node, dialect)
    if isinstance(value, str):
        constant = _parameter(value, exp.DataType.build("TEXT"), dialect)
        return COMPARING[operator](this=node, expression=constant)
    number: Fraction = value  # type: ignore[assignment]  # fitted to the column
    return _with_number(column, operator, number, node, dialect)


def _with_moment(column: Column, operator: Operator, moment: Any, node: Node, dialect: Dialect) -> Node:
    """Compare with a time; where the column's type would round it, with the last one that it holds before."""
    width = _MICROSECONDS.get(column.type)
    beyond = moment.microsecond % width if width else 0
    if beyond:
        if operator in ("=", "<>"):
            return _known(node, truth=operator == "<>")
        moment = moment.replace(microsecond=moment.microsecond - beyond)
        operator = "<=" if operator in ("<", "<=") else ">"
    constant = _parameter(moment.isoformat(), _own_type(column, dialect), dialect)
    return COMPARING[operator](this=node, expression=constant)


def _with_number(column: Column, operator: Operator, number: Fraction, node: Node, dialect: Dialect) -> Node:
    if column.kind == "text":
        return _number_in_text(column, operator, number, node, dialect)
    if column.kind in ("double", "single"):
        near = nearest_double(number) if column.kind == "double" else nearest_single(number)
        return _with_double(node, operator, near, dialect)
    if column.kind == "decimal" and column.scale is None:
        constant = _parameter(exact_decimal(number), _own_type(column, dialect), dialect)
        return COMPARING[operator](this=node, expression=constant)
    ends = (column.lowest, column.highest)
    if column.kind == "decimal":
        ends = (1 - 10 ** (column.precision or 0), 10 ** (column.precision or 0) - 1)
    return _on_grid(node, operator, number, column.scale or 0, ends, _own_type(column, dialect), dialect)


def _on_grid(  # noqa: PLR0913, PLR0917 - a comparison, and the type in which it is made
    node: Node,
    operator: Operator,
    number: Fraction,
    scale: int,
    ends: tuple[int, int],
    kind: exp.DataType,
    dialect: Dialect,
) -> Node:
    """Compare multiples of a power of ten with any number: with the multiple that decides it."""
    place = number * Fraction(10) ** scale
    if operator in ("=", "<>"):
        if place.denominator != 1 or not ends[0] <= place <= ends[1]:
            return _known(node, truth=operator == "<>")
        return COMPARING[operator](this=node, expression=_multiple(int(place), scale, kind, dialect))
    if operator in ("<", "<="):
        highest = math.ceil(place) - 1 if operator == "<" else math.floor(place)
        if not ends[0] <= highest < ends[1]:
            return _known(node, truth=highest >= ends[1])
        return exp.LTE(this=node, expression=_multiple(highest, scale, kind, dialect))
    lowest = math.floor(place) + 1 if operator == ">" else math.ceil(place)
    if not ends[0] < lowest <= ends[1]:
        return _known(node, truth=lowest <= ends[0])
    return exp.GTE(this=node, expression=_multiple(lowest, scale, kind, dialect))


def _multiple(place: int, scale: int, kind: exp.DataType, dialect: Dialect) -> Node:
    return _parameter(exact_decimal(place / Fraction(10) ** scale), kind, dialect)


def _known(node: Node, *, truth: bool) -> Node:
    """Say what is so of every value; of none it is unknown."""
    answer = exp.true() if truth else exp.false()
    return exp.Case(ifs=[exp.If(this=is_present(node), true=answer)])


def _with_double(node: Node, operator: Operator, near: float, dialect: Dialect) -> Node:
    text = repr(near) if math.isfinite(near) else ("Infinity" if near > 0 else "-Infinity")
    return COMPARING[operator](this=node, expression=_parameter(text, exp.DataType.build("DOUBLE"), dialect))


def _number_in_text(
    column: Column, operator: Operator, number: Fraction, node: Node, dialect: Dialect
) -> Node:
    """Compare text as a number: exactly if DECIMAL(38, 18) spells it, otherwise as the nearest float."""
    sign = column.decimal or POINT
    bad = number_texts.matches(node, number_texts.no_part_of_a_number(sign))
    plain = number_texts.matches(node, number_texts.plain_number(sign))
    scientific = number_texts.matches(node, number_texts.scientific_number(sign))
    digits = 10 ** (TEXT_WHOLES + TEXT_PARTS) - 1
    exact = _on_grid(
        number_texts.as_decimal(node, sign),
        operator,
        number,
        TEXT_PARTS,
        (-digits, digits),
        number_texts.decimals(),
        dialect,
    )
    double = exp.TryCast(this=number_texts.with_a_point(node, sign), to=exp.DataType.build("DOUBLE"))
    guarded = exp.Case(ifs=[exp.If(this=scientific.copy(), true=double)])
    near = _with_double(guarded, operator, nearest_double(number), dialect)
    return exp.Case(
        ifs=[
            exp.If(this=bad, true=exp.null()),
            exp.If(this=plain, true=exact),
            exp.If(this=scientific, true=near),
        ]
    )


def _parameter(text: str, kind: exp.DataType, dialect: Dialect) -> Node:
    """Give a constant as a parameter of text, cast to the type of its column."""
    written = exp.cast(dialect.parameter(text), exp.DataType.build("TEXT"))
    if kind.is_type("text"):
        return (
            written
            if dialect.name == "spark"
            else exp.Collate(this=written, expression=exp.to_identifier("C", quoted=True))
        )
    return exp.Cast(this=written, to=kind)


def _own_type(column: Column, dialect: Dialect) -> exp.DataType:
    return exp.DataType.build(column.type, dialect=dialect.name)


def _balanced(joined: type[exp.Connector], nodes: Sequence[Node]) -> Node:
    """Join conditions in a tree that is not deep."""
    if len(nodes) == 1:
        return exp.Paren(this=nodes[0])
    middle = len(nodes) // 2
    sides = (_balanced(joined, part) for part in (nodes[:middle], nodes[middle:]))
    return exp.Paren(this=joined(this=next(sides), expression=next(sides)))
