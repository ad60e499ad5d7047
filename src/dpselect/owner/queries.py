"""The queries of the owner's check. Their answers are data: counts of rows, and values of cells."""

from __future__ import annotations

from sqlglot import exp

from dpselect.engines import shapes
from dpselect.engines.protocol import AmountKey, Listed, RowFilter
from dpselect.engines.queries import (
    Dialect,
    column_node,
    compared_node,
    conditions_on,
    from_rows,
    is_present,
    listed_type,
)
from dpselect.engines.schema import Column

LIST = "listed"


def rows_and_people(person: Column | None, where: RowFilter | None, dialect: Dialect) -> exp.Select:
    """Count the rows; and where a column identifies a person, the rows that have one, and the people."""
    counted = [exp.Count(this=exp.Star())]
    if person is not None:
        node = column_node(person, dialect)
        counted += [exp.Count(this=node.copy()), exp.Count(this=exp.Distinct(expressions=[node.copy()]))]
    return from_rows(where, dialect).select(*counted)


def present_cells(column: Column, where: RowFilter | None, dialect: Dialect) -> exp.Select:
    """Count the cells of a column that hold something."""
    return from_rows(where, dialect).select(exp.Count(this=column_node(column, dialect)))


def cells(key: Listed | AmountKey, where: RowFilter | None, dialect: Dialect) -> exp.Select:
    """Count the cells of a column that hold something, and those of them that hold what they must."""
    node = column_node(key.column, dialect)
    fitting = exp.Case(ifs=[exp.If(this=_fits(key, node, dialect), true=exp.Literal.number(1))])
    return from_rows(where, dialect).select(exp.Count(this=node.copy()), exp.Count(this=fitting))


def unmatched(key: Listed | AmountKey, most: int, where: RowFilter | None, dialect: Dialect) -> exp.Select:
    """Give the most frequent values that the question does not count, each with its number of cells."""
    query, node = _unmatched(key, where, dialect)
    text, size = exp.cast(node.copy(), exp.DataType.build("TEXT")), exp.Count(this=exp.Star())
    ordered = [exp.Ordered(this=exp.Literal.number(2), desc=True), exp.Literal.number(1)]
    return query.select(text, size).group_by(text.copy()).order_by(*ordered).limit(most)


def unmatched_cells(key: Listed, where: RowFilter | None, dialect: Dialect) -> exp.Select:
    """Count what is not on the list; of a cell that is split, each part."""
    return _unmatched(key, where, dialect)[0].select(exp.Count(this=exp.Star()))


def _unmatched(
    key: Listed | AmountKey, where: RowFilter | None, dialect: Dialect
) -> tuple[exp.Select, exp.Expression]:
    """Select what the question does not count, and the value itself."""
    node = column_node(key.column, dialect)
    query = from_rows(where, dialect)
    if isinstance(key, Listed) and key.split is not None:
        cells = query.select(exp.alias_(node, "cell", quoted=True)).where(is_present(node))
        parts = shapes.parts_of(key.split, cells.subquery("c"), dialect)
        query, node = exp.select().from_(parts.subquery("t")), exp.column("part", table="t", quoted=True)
    query = query.where(is_present(node))
    if not isinstance(key, Listed):
        return query.where(exp.Not(this=exp.paren(_fits(key, node, dialect)))), node
    label, place = (exp.column(name, table=LIST, quoted=True) for name in ("label", "place"))
    same = exp.EQ(this=compared_node(key, node, dialect), expression=label)
    query = query.with_(LIST, as_=dialect.listing(key, listed_type(key, dialect.name)))
    query = query.join(exp.to_table(LIST), on=same, join_type="left")
    return query.where(exp.Is(this=place, expression=exp.null())), node


def _fits(key: Listed | AmountKey, node: exp.Expression, dialect: Dialect) -> exp.Condition:
    """Say whether a value is there, and is a number where it must be one."""
    return exp.and_(is_present(node), *conditions_on(key, node, dialect))
