"""Cells that hold several names, and columns that are ticked: as nodes of a query.

Proof: queries.proof.md
"""

from __future__ import annotations

from sqlglot import exp

from dpselect.engines import number_texts
from dpselect.engines.folded_text import WHITE_SPACE, Parameters, folded_node
from dpselect.engines.reading import POINT
from dpselect.engines.schema import Column

NOT_TICKED = ("", "no", "false", "nan")
"""What a cell of text says that is not ticked, in small letters; and what spells zero."""
_SPLITTING = {"duckdb": "string_split", "spark": "split"}
"""What an engine calls the cutting of text, if not as PostgreSQL does. Spark cuts at a pattern."""


def parts_node(text: exp.Expression, separator: str, dialect: Parameters) -> exp.Expression:
    """Give the parts of a text between separators, as rows."""
    plain = "".join(sign if sign.isalnum() else f"\\{sign}" for sign in separator)
    given = dialect.parameter(plain if dialect.name == "spark" else separator)
    name = _SPLITTING.get(dialect.name, "pg_catalog.string_to_array")
    cut = exp.Anonymous(this=name, expressions=[text.copy(), exp.cast(given, exp.DataType.build("TEXT"))])
    return exp.Explode(this=cut)


def parts_of(separator: str, cells: exp.Expression, dialect: Parameters) -> exp.Select:
    """Select each ``cell`` with each ``part`` that is not empty, without the white space around it."""
    cell, part = exp.column("cell", quoted=True), exp.column("part", quoted=True)
    cut = exp.select(cell, exp.alias_(parts_node(cell, separator, dialect), "part", quoted=True)).from_(cells)
    clean = trimmed_node(part, dialect)
    if dialect.name != "spark":
        clean = exp.Collate(this=clean, expression=exp.to_identifier("C", quoted=True))
    trimmed = exp.select(cell.copy(), exp.alias_(clean, "part", quoted=True)).from_(cut.subquery("q"))
    full = exp.NEQ(this=part.copy(), expression=exp.Literal.string(""))
    return exp.select("*").from_(trimmed.subquery("r")).where(full)


def trimmed_node(text: exp.Expression, dialect: Parameters) -> exp.Expression:
    """Give a text without the white space around it."""
    signs = exp.cast(dialect.parameter(WHITE_SPACE), exp.DataType.build("TEXT"))
    return exp.Trim(this=text.copy(), expression=signs, position="BOTH")


def places_node(
    columns: tuple[Column, ...], nodes: list[exp.Expression], dialect: Parameters
) -> exp.Expression:
    """Give the places of the columns that are ticked in a row, as rows; NULL for each that is not."""
    places = [
        exp.Case(
            ifs=[
                exp.If(
                    this=_is_ticked(column, node, dialect),
                    true=exp.cast(exp.Literal.number(place), exp.DataType.build("BIGINT")),
                )
            ]
        )
        for place, (column, node) in enumerate(zip(columns, nodes, strict=True))
    ]
    return exp.Explode(this=exp.Array(expressions=places))


def _is_ticked(column: Column, value: exp.Expression, dialect: Parameters) -> exp.Expression:
    """Say whether a cell counts; it is given where it has a value, so NULL and NaN are NULL."""
    if column.kind == "boolean":
        return exp.EQ(this=value, expression=exp.true())
    if column.kind in ("integer", "decimal", "double", "single"):
        return exp.NEQ(this=value, expression=exp.Literal.number(0))
    present = exp.Not(this=exp.Is(this=value.copy(), expression=exp.null()))
    if column.kind != "text":
        return present
    small = folded_node(value, dialect)
    says_no = exp.or_(
        *(exp.EQ(this=small.copy(), expression=exp.Literal.string(word)) for word in NOT_TICKED),
        number_texts.matches(small, number_texts.zero(column.decimal or POINT)),
    )
    no, yes = exp.false(), exp.true()
    return exp.Case(ifs=[exp.If(this=says_no, true=no), exp.If(this=present, true=yes)])
