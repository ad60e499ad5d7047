"""The queries of the owner's check. Their answers are data: counts of rows, and values of cells."""

from __future__ import annotations

from sqlglot import exp

from dpselect.engines.protocol import Key, Listed, RowFilter
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


def cells(key: Key, where: RowFilter | None, dialect: Dialect) -> exp.Select:
    """Count the cells of a column that hold something, and those of them that hold what they must."""
    node = column_node(key.column, dialect)
    fitting = exp.Case(ifs=[exp.If(this=_fits(key, node), true=exp.Literal.number(1))])
    return from_rows(where, dialect).select(exp.Count(this=node.copy()), exp.Count(this=fitting))


def unmatched(key: Key, most: int, where: RowFilter | None, dialect: Dialect) -> exp.Select:
    """Give the most frequent values that the question does not count, each with its number of cells."""
    node = column_node(key.column, dialect)
    text = exp.cast(node.copy(), exp.DataType.build("TEXT"))
    query = from_rows(where, dialect).where(is_present(node))
    if isinstance(key, Listed):
        label, place = (exp.column(name, table=LIST, quoted=True) for name in ("label", "place"))
        same = exp.EQ(this=compared_node(key, node, dialect), expression=label)
        query = query.with_(LIST, as_=dialect.listing(key, listed_type(key, dialect.name)))
        query = query.join(exp.to_table(LIST), on=same, join_type="left")
        query = query.where(exp.Is(this=place, expression=exp.null()))
    else:
        query = query.where(exp.Not(this=exp.paren(_fits(key, node))))
    size = exp.Count(this=exp.Star())
    ordered = [exp.Ordered(this=exp.Literal.number(2), desc=True), exp.Literal.number(1)]
    return query.select(text, size).group_by(text.copy()).order_by(*ordered).limit(most)


def _fits(key: Key, node: exp.Expression) -> exp.Condition:
    """Say whether a value is there, and is a number where it must be one."""
    return exp.and_(is_present(node), *conditions_on(key, node))
