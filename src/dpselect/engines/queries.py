"""Bounded grouped counts as one SQL syntax tree, the same for every engine.

Names are quoted nodes of the tree and never text; values are parameters. The tree asks for nothing on which
the engines differ: no sum, no float turned into text or a whole number, no order of text but of its bytes.

Proof: queries.proof.md
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sqlglot import exp

from dpselect.engines import number_texts
from dpselect.engines.folded_text import folded_node
from dpselect.engines.protocol import AmountKey, CountsRequest, Key, Listed, RowFilter
from dpselect.engines.reading import POINT
from dpselect.engines.row_choice import is_one_row, one_row
from dpselect.engines.schema import Column


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
    lists = {
        f"list_{number}": dialect.listing(key, listed_type(key, dialect.name))
        for number, key in enumerate(request.keys)
        if isinstance(key, Listed)
    }
    for name, listing in lists.items():
        query = query.with_(name, as_=listing, copy=False)
    rows = _rows(request, names, dialect)
    if request.person is None or request.most is None:
        query = query.with_("kept", as_=rows, copy=False)
    elif is_one_row(request):
        query = query.with_("counted", as_=rows, copy=False)
        query = query.with_("kept", as_=one_row(request, names, salt, dialect), copy=False)
    else:
        query = query.with_("counted", as_=rows, copy=False)
        query = query.with_("numbered", as_=_numbered(request, names), copy=False)
        query = query.with_("ordered", as_=_ordered(request, names, dialect.parameter(salt)), copy=False)
        query = query.with_("kept", as_=_kept(names, request.most), copy=False)
    return query.sql(dialect=dialect.name)


def listed_type(key: Listed, dialect: str) -> exp.DataType:
    """Give the type in which a list is compared with its column: its own, or decimals for numbers in text."""
    if key.column.kind != "text":
        return exp.DataType.build(key.column.type, dialect=dialect)
    in_text = any(not isinstance(label, str) for label in key.labels)
    return number_texts.decimals() if in_text else exp.DataType.build("TEXT")


def _rows(request: CountsRequest, names: list[str], dialect: Dialect) -> exp.Select:
    """Select the rows that count: every key is there, is a number where it must be, and is on its list."""
    rows = from_rows(request.where, dialect)
    if request.person is not None:
        person = column_node(request.person, dialect)
        rows = rows.select(_named(person, "person")).where(is_present(person))
        rows = rows.distinct() if request.distinct and not is_one_row(request) else rows
    for number, (name, key) in enumerate(zip(names, request.keys, strict=True)):
        column = column_node(key.column, dialect)
        rows = rows.where(is_present(column))
        for condition in conditions_on(key, column):
            rows = rows.where(condition)
        if isinstance(key, AmountKey):
            rows = rows.select(_named(amount_node(key, column), name))
            continue
        listed = f"list_{number}"
        same = exp.EQ(
            this=compared_node(key, column, dialect),
            expression=exp.column("label", table=listed, quoted=True),
        )
        place: exp.Expression = exp.column("place", table=listed, quoted=True)
        if key.others is not None:
            place = exp.Coalesce(this=place, expressions=[exp.Literal.number(key.others)])
        rows = rows.join(exp.to_table(listed), on=same, join_type="" if key.others is None else "left")
        rows = rows.select(_named(place, name))
    return rows


def from_rows(where: RowFilter | None, dialect: Dialect) -> exp.Select:
    """Select nothing yet from the rows that are there: all of them, or those of which a condition is true."""
    rows = exp.select().from_(exp.alias_(dialect.source(), "t", table=True, quoted=True))
    return rows if where is None else rows.where(exp.Paren(this=where.node(dialect)))


def conditions_on(key: Key, column: exp.Expression) -> list[exp.Expression]:
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
    return number_texts.is_number(column, pattern(sign), sign)


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


def _is_read(key: Key) -> bool:
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


def _numbered(request: CountsRequest, names: list[str]) -> exp.Select:
    """Count each person's rows up in the order of their values; rows of equal values are alike."""
    number = _row_number(request, [exp.column(name, quoted=True) for name in names])
    return exp.select("*", _named(number, "number")).from_("counted")


def _ordered(request: CountsRequest, names: list[str], salt: exp.Expression) -> exp.Select:
    """Give each row its turn: by the hash of salt, person, what the bound is within, and number."""
    hashed = [exp.column("person", quoted=True), *_within(request), exp.column("number", quoted=True)]
    text: exp.Expression = exp.cast(salt, exp.DataType.build("TEXT"))
    for part in hashed:
        colon = exp.DPipe(this=text, expression=exp.Literal.string(":"))
        text = exp.DPipe(this=colon, expression=exp.cast(part, exp.DataType.build("TEXT")))
    turn = _row_number(request, [exp.MD5(this=text), exp.column("number", quoted=True)])
    kept = [exp.column(name, quoted=True) for name in names]
    return exp.select(*kept, _named(turn, "turn")).from_("numbered")


def _kept(names: list[str], most: int) -> exp.Select:
    within_bound = exp.LTE(this=exp.column("turn", quoted=True), expression=exp.Literal.number(most))
    return exp.select(*[exp.column(name, quoted=True) for name in names]).from_("ordered").where(within_bound)


def _row_number(request: CountsRequest, by: Sequence[exp.Expression]) -> exp.Window:
    return exp.Window(
        this=exp.RowNumber(),
        partition_by=[exp.column("person", quoted=True), *_within(request)],
        order=exp.Order(expressions=[exp.Ordered(this=node, nulls_first=False) for node in by]),
    )


def _within(request: CountsRequest) -> list[exp.Expression]:
    return [exp.column(f"key_{number}", quoted=True) for number in request.within]


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
