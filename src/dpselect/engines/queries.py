"""Bounded grouped counts as one SQL syntax tree, the same for every engine.

Names are quoted nodes of the tree and never text; values are parameters. The tree asks for nothing on which
the engines differ: no sum, no float turned into text or a whole number, no order of text but of its bytes.

Proof: queries.proof.md
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from sqlglot import exp

from dpselect.engines import number_texts, shapes
from dpselect.engines.folded_text import folded_node
from dpselect.engines.group_choice import few_groups
from dpselect.engines.protocol import NO_PLACE, AmountKey, CountsRequest, Listed, RowFilter, Ticked
from dpselect.engines.reading import POINT
from dpselect.engines.row_choice import is_one_row, one_row
from dpselect.engines.schema import Column
from dpselect.engines.several_rows import several_rows


class Dialect(Protocol):
    """What engines spell differently."""

    @property
    def name(self) -> str:
        """The dialect's name in sqlglot."""

    def source(self) -> exp.Expression:
        """Name the rows."""

    def parameter(self, value: object) -> exp.Expression:
        """Take a value and give the node that stands for it."""

    def listing(self, key: Listed, column_type: exp.DataType) -> exp.Expression:
        """Take a public list and give what selects its columns ``label`` and ``place``."""


@dataclass(frozen=True)
class Unnested:
    """How DuckDB and PostgreSQL spell things: numbered parameters, and lists unnested from arrays."""

    name: str
    rows: exp.Expression
    parameters: list[object]

    def source(self) -> exp.Expression:
        """Name the rows."""
        return self.rows.copy()

    def parameter(self, value: object) -> exp.Expression:
        """Give ``$1``, ``$2`` ..."""
        self.parameters.append(value)
        return exp.Parameter(this=exp.Literal.number(len(self.parameters)))

    def listing(self, key: Listed, column_type: exp.DataType) -> exp.Expression:
        """Unnest two arrays side by side."""
        labels = exp.cast(self.parameter(list(key.labels)), _array(column_type))
        places = exp.cast(self.parameter(list(key.places)), _array(exp.DataType.build("BIGINT")))
        return exp.select(_named(_unnest(labels), "label"), _named(_unnest(places), "place"))


def rendered(request: CountsRequest, salt: str, dialect: Dialect) -> str:
    """Give the query as the text of the engine's dialect."""
    names = [f"key_{number}" for number in range(len(request.keys))]
    query = _grouped(names, "kept")
    for name, listing in _lists(request, dialect).items():
        query = query.with_(name, as_=listing, copy=False)
    steps = _steps(request, names, salt, dialect)
    for name, step in steps:
        query = query.with_(name, as_=step, copy=False)
    return query.sql(dialect=dialect.name)


def _steps(
    request: CountsRequest, names: list[str], salt: str, dialect: Dialect
) -> list[tuple[str, exp.Select]]:
    """Give the rows that count, then those that are kept of each person, step by step."""
    rows = _rows(request, names, dialect)
    if request.person is None or (request.most is None and request.groups_per_person is None):
        return [("kept", rows)]
    steps = [("counted", rows)]
    if request.most is not None and is_one_row(request):
        steps.append(("bounded", one_row(request, names, salt, dialect)))
    elif request.most is not None:
        steps += several_rows(request, names, request.most, dialect.parameter(salt))
    if request.groups_per_person is not None:
        steps += few_groups(request, names, steps[-1][0], salt, dialect)
    return [*steps[:-1], ("kept", steps[-1][1])]


def listed_type(key: Listed, dialect: str) -> exp.DataType:
    """Give the type in which a list is compared with its column: its own, or decimals for numbers in text."""
    if key.column.kind != "text":
        return exp.DataType.build(key.column.type, dialect=dialect)
    in_text = any(not isinstance(label, str) for label in key.labels)
    return number_texts.decimals() if in_text else exp.DataType.build("TEXT")


def _lists(request: CountsRequest, dialect: Dialect) -> dict[str, exp.Expression]:
    """Give the public lists; that of a split column lists cells, with the places of their parts."""
    lists: dict[str, exp.Expression] = {}
    for number, key in enumerate(request.keys):
        if isinstance(key, Listed):
            listing = dialect.listing(key, listed_type(key, dialect.name))
            if key.split is None:
                lists[f"list_{number}"] = listing
            else:
                lists[f"parts_{number}"] = listing
                lists[f"list_{number}"] = _cells(key, f"parts_{number}", request.where, dialect)
    return lists


def _cells(key: Listed, listed: str, where: RowFilter | None, dialect: Dialect) -> exp.Select:
    """List each cell with the place of each of its parts, once."""
    cells = from_rows(where, dialect).select(_named(column_node(key.column, dialect), "cell")).distinct()
    part, label = exp.column("part", table="p", quoted=True), exp.column("label", table="l", quoted=True)
    parts = shapes.parts_of(str(key.split), cells.subquery("c", copy=False), dialect)
    same = exp.EQ(this=compared_node(key, part, dialect), expression=label)
    return (
        exp.select(
            _named(exp.column("cell", table="p", quoted=True), "label"),
            _named(exp.column("place", table="l", quoted=True), "place"),
        )
        .distinct()
        .from_(parts.subquery("p", copy=False))
        .join(
            exp.alias_(exp.to_table(listed), "l", table=True),
            on=exp.and_(same, *conditions_on(key, part, dialect)),
        )
    )


def _rows(request: CountsRequest, names: list[str], dialect: Dialect) -> exp.Select:
    """Select the rows that count: every key is there, is a number where it must be, and is on its list."""
    rows = from_rows(request.where, dialect)
    if request.person is not None:
        person = column_node(request.person, dialect)
        rows = rows.select(_named(person, "person")).where(is_present(person))
    for number, (name, key) in enumerate(zip(names, request.keys, strict=True)):
        if isinstance(key, Ticked):
            continue
        column = column_node(key.column, dialect)
        if isinstance(key, AmountKey):
            rows = rows.where(is_present(column)).select(_named(amount_node(key, column), name))
            for condition in conditions_on(key, column, dialect):
                rows = rows.where(condition)
            continue
        rows = _looked_up(rows, key, number, name, dialect)
    places = [
        is_present(exp.column("place", table=f"list_{number}", quoted=True))
        for number, key in enumerate(request.keys)
        if isinstance(key, Listed) and key.optional
    ]
    rows = rows.where(exp.or_(*places)) if places else rows
    for name, key in zip(names, request.keys, strict=True):
        if isinstance(key, Ticked):
            nodes = [valued_node(column, dialect) for column in key.columns]
            rows = rows.select(_named(shapes.places_node(key.columns, nodes, dialect), name))
            rows = exp.select("*").from_(rows.subquery("w")).where(is_present(exp.column(name, quoted=True)))
    once = request.distinct and request.person is not None and not is_one_row(request)
    return rows.distinct() if once else rows


def _looked_up(rows: exp.Select, key: Listed, number: int, name: str, dialect: Dialect) -> exp.Select:
    """Join a list; an optional key keeps the rows that are not on it."""
    column, listed = column_node(key.column, dialect), f"list_{number}"
    label, place = (exp.column(each, table=listed, quoted=True) for each in ("label", "place"))
    compared = column.copy() if key.split is not None else compared_node(key, column, dialect)
    conditions = [] if key.split is not None else conditions_on(key, column, dialect)
    same = exp.EQ(this=compared, expression=label)
    if key.optional:
        joined = rows.join(exp.to_table(listed), on=exp.and_(same, *conditions), join_type="left")
        none = exp.cast(exp.Literal.number(NO_PLACE), exp.DataType.build("BIGINT"))
        found = exp.Case(ifs=[exp.If(this=is_present(place), true=place)], default=none)
        return joined.select(_named(found, name))
    rows = rows.where(is_present(column))
    for condition in conditions:
        rows = rows.where(condition)
    if key.others is not None:
        rows = rows.where(is_present(valued_node(key.column, dialect)))
        behind = exp.Coalesce(this=place, expressions=[exp.Literal.number(key.others)])
        return rows.join(exp.to_table(listed), on=same, join_type="left").select(_named(behind, name))
    return rows.join(exp.to_table(listed), on=same).select(_named(place, name))


def from_rows(where: RowFilter | None, dialect: Dialect) -> exp.Select:
    """Select nothing yet from the rows that are there: all of them, or those of which a condition is true."""
    rows = exp.select().from_(exp.alias_(dialect.source(), "t", table=True, quoted=True))
    return rows if where is None else rows.where(exp.Paren(this=where.node(dialect)))


def conditions_on(key: Listed | AmountKey, column: exp.Expression, dialect: Dialect) -> list[exp.Expression]:
    """Say what a value must be, beside present: a float no NaN, a number in text a number."""
    if key.column.kind in ("double", "single", "decimal") and isinstance(key, AmountKey):
        # In all three engines NaN equals itself; a column of decimals has one in PostgreSQL only.
        kind = "DOUBLE" if key.column.kind != "decimal" else "DECIMAL"
        return (
            [exp.NEQ(this=column.copy(), expression=_not_a_number(kind))] if _may_be_nan(key.column) else []
        )
    if key.column.kind != "text" or not _is_read(key):
        return []
    sign = key.column.decimal or POINT
    pattern = number_texts.any_number if isinstance(key, AmountKey) else number_texts.plain_number
    return number_texts.is_number(column, pattern(sign), sign, dialect)


def amount_node(key: AmountKey, column: exp.Expression) -> exp.Expression:
    """Give an amount as it is grouped by: a number in text with a point."""
    return (
        number_texts.with_a_point(column, key.column.decimal or POINT)
        if key.column.kind == "text"
        else column.copy()
    )


def _may_be_nan(column: Column) -> bool:
    return column.kind != "decimal" or column.type == "NUMERIC"


def _not_a_number(kind: str) -> exp.Expression:
    return exp.cast(exp.Literal.string("NaN"), exp.DataType.build(kind))


def _is_read(key: Listed | AmountKey) -> bool:
    """Say whether the values of a column of text are read as numbers."""
    return isinstance(key, AmountKey) or any(not isinstance(label, str) for label in key.labels)


def compared_node(key: Listed, column: exp.Expression, dialect: Dialect) -> exp.Expression:
    """Give the column as it is compared with the list; the cast sees only what the pattern lets through."""
    if key.folded:
        return _by_bytes(folded_node(column, dialect), dialect)
    if key.column.kind != "text" or not _is_read(key):
        return column.copy()
    return number_texts.as_decimal(column, key.column.decimal or POINT)


def column_node(column: Column, dialect: Dialect) -> exp.Expression:
    """Give the quoted column of the rows; text in the order and equality of its bytes."""
    node: exp.Expression = exp.column(column.known_as, table="t", quoted=True)
    if column.type.startswith("ENUM"):
        node = exp.cast(node, exp.DataType.build("TEXT"))
    return _by_bytes(node, dialect) if column.kind == "text" else node


def valued_node(column: Column, dialect: Dialect) -> exp.Expression:
    """Give the column where it has a value: NaN is none."""
    node = column_node(column, dialect)
    if column.kind not in ("double", "single", "decimal") or not _may_be_nan(column):
        return node
    there = exp.NEQ(
        this=node.copy(), expression=_not_a_number("DECIMAL" if column.kind == "decimal" else "DOUBLE")
    )
    return exp.Case(ifs=[exp.If(this=there, true=node)])


def _by_bytes(text: exp.Expression, dialect: Dialect) -> exp.Expression:
    if dialect.name == "spark":
        return text
    return exp.Collate(this=text, expression=exp.to_identifier("C", quoted=True))


def _grouped(names: list[str], source: str) -> exp.Select:
    keys: list[Any] = [exp.column(name, quoted=True) for name in names]
    return exp.select(*keys, _named(exp.Count(this=exp.Star()), "size")).from_(source).group_by(*keys)


def is_present(node: exp.Expression) -> exp.Not:
    """Say that a value is not NULL."""
    return exp.Not(this=exp.Is(this=node.copy(), expression=exp.null()))


def _named(node: exp.Expression, name: str) -> exp.Expression:
    return exp.Alias(this=node.copy(), alias=exp.to_identifier(name, quoted=True))


def _array(element: exp.DataType) -> exp.DataType:
    return exp.DataType(this=exp.DataType.Type.ARRAY, expressions=[element], nested=True)


def _unnest(node: exp.Expression) -> exp.Expression:
    return exp.Explode(this=node)
