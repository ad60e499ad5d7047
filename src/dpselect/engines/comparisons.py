"""A column compared with a constant: exactly, in the column's own type, with a parameter of ours.

What has no value (NULL, NaN, text that is no number where a number is asked for) is unknown. No comparison
fails on any value.

Proof: comparisons.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from fractions import Fraction
from typing import Any

from sqlglot import exp

from dpselect.engines import number_texts
from dpselect.engines.conditions import MOMENTS, Constant, Operator
from dpselect.engines.queries import Dialect, is_present, valued_node
from dpselect.engines.reading import POINT
from dpselect.engines.schema import TEXT_PARTS, TEXT_WHOLES, Column, nearest_double, nearest_single
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
_ENDS = (1 - 10 ** (TEXT_WHOLES + TEXT_PARTS), 10 ** (TEXT_WHOLES + TEXT_PARTS) - 1)
"""The least and the greatest number of DECIMAL(38, 18), in its steps."""
_YEARS = {"TIMESTAMP_NS": range(1678, 2262)}
"""The years that a type can hold, where they are fewer than those of a literal."""
_MICROSECONDS = {"TIMESTAMP_S": 1_000_000, "TIMESTAMP_MS": 1_000}
"""Microseconds between two times that a type can hold, where that is more than one."""


def moment_in(column: Column, value: Constant) -> Constant | None:
    """See a literal, or text in ISO form, as what a column of dates or times holds; None if it is not."""
    kind, read, _ = MOMENTS[column.kind]
    found = run_or_none(lambda: read(value)) if isinstance(value, str) else value
    if type(found) is date and column.kind == "timestamp":
        found = datetime.combine(found, time())
    fits = type(found) is kind and getattr(found, "tzinfo", None) is None
    years = _YEARS.get(column.type)
    return found if fits and (years is None or found.year in years) else None  # type: ignore[union-attr]


def compared(column: Column, operator: Operator, value: Constant, dialect: Dialect) -> Node:
    """Compare a column with a constant that was fitted to it."""
    node = valued_node(column, dialect)
    if isinstance(value, bool):
        return COMPARING[operator](this=node, expression=exp.true() if value else exp.false())
    if column.kind in MOMENTS:
        return _with_moment(column, operator, moment_in(column, value), node, dialect)
    if isinstance(value, str):
        constant = _parameter(value, exp.DataType.build("TEXT"), dialect)
        return COMPARING[operator](this=node, expression=constant)
    number: Fraction = value  # type: ignore[assignment]  # fitted to the column
    return _with_number(column, operator, number, node, dialect)


def contained(column: Column, listed: Sequence[Constant], dialect: Dialect) -> Node:
    """Say that a column is one of several constants; text is read as a number once for all of them."""
    numbers = [each for each in listed if column.kind == "text" and isinstance(each, Fraction)]
    nodes = [compared(column, "=", each, dialect) for each in listed if each not in numbers]
    if numbers:
        nodes.append(_number_in_list(column, numbers, valued_node(column, dialect), dialect))
    return balanced(exp.Or, nodes)


def balanced(joined: type[exp.Connector], nodes: Sequence[Node]) -> Node:
    """Join conditions in a tree that is not deep."""
    if len(nodes) == 1:
        return exp.Paren(this=nodes[0])
    middle = len(nodes) // 2
    sides = (balanced(joined, part) for part in (nodes[:middle], nodes[middle:]))
    return exp.Paren(this=joined(this=next(sides), expression=next(sides)))


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
    return COMPARING[operator](this=node, expression=_double(near, dialect))


def _double(near: float, dialect: Dialect) -> Node:
    text = repr(near) if math.isfinite(near) else ("Infinity" if near > 0 else "-Infinity")
    return _parameter(text, exp.DataType.build("DOUBLE"), dialect)


# ---- text as a number ------------------------------------------------------------------------------------


def _number_in_text(
    column: Column, operator: Operator, number: Fraction, node: Node, dialect: Dialect
) -> Node:
    exact, double = _read(column, node, dialect)
    return _of_number(
        column,
        node,
        _on_grid(exact, operator, number, TEXT_PARTS, _ENDS, number_texts.decimals(), dialect),
        _with_double(double, operator, nearest_double(number), dialect),
    )


def _number_in_list(column: Column, numbers: Sequence[Fraction], node: Node, dialect: Dialect) -> Node:
    exact, double = _read(column, node, dialect)
    places = [number * 10**TEXT_PARTS for number in numbers]
    held = [
        _multiple(int(place), TEXT_PARTS, number_texts.decimals(), dialect)
        for place in places
        if place.denominator == 1 and _ENDS[0] <= place <= _ENDS[1]
    ]
    near = [_double(nearest_double(number), dialect) for number in numbers]
    return _of_number(
        column,
        node,
        exp.In(this=exact, expressions=held) if held else _known(exact, truth=False),
        exp.In(this=double, expressions=near),
    )


def _read(column: Column, node: Node, dialect: Dialect) -> tuple[Node, Node]:
    """Read text as a decimal, and as the nearest double."""
    sign = column.decimal or POINT
    return number_texts.as_decimal(node, sign), number_texts.as_double(node, sign, dialect)


def _of_number(column: Column, node: Node, exact: Node, near: Node) -> Node:
    """Take the one condition if DECIMAL(38, 18) spells the text, the other if it is another number."""
    sign = column.decimal or POINT
    bad = number_texts.matches(node, number_texts.no_part_of_a_number(sign))
    plain = number_texts.matches(node, number_texts.plain_number(sign))
    every = number_texts.matches(node, number_texts.any_number(sign))
    return exp.Case(
        ifs=[
            exp.If(this=bad, true=exp.null()),
            exp.If(this=plain, true=exact),
            exp.If(this=every, true=near),
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
