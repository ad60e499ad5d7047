"""Parquet files: names and types from the footer, and rows of which each is read by itself.

DuckDB refuses a whole file for one text that is not UTF-8, if the question reads its column, or writes ``?``
for each byte that is none. We let it write them. On a public list, and among numbers, such a text is not
found, so its row is dropped. As the name of a person it might become another person's; so a name with ``?``
is read a second time, without the broken bytes: where the two differ, it is broken, and its row is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from duckdb import DuckDBPyConnection
from sqlglot import exp

from dpselect.engines import duckdb
from dpselect.engines.protocol import CountsRequest
from dpselect.engines.schema import Schema
from dpselect.errors import InvalidParameter, shown
from dpselect.silence import run, shortage_or

ROW = ("file_row_number", "file_index")
"""Columns that DuckDB adds if asked for, unless a file has columns of these names."""
WRITTEN, READ_AGAIN = "replace", "ignore"
"""What DuckDB does with bytes that are not UTF-8: it writes ``?`` for each, or leaves them out."""


def opened_parquet(connection: DuckDBPyConnection, paths: Sequence[str]) -> duckdb.DuckDB:
    """Open files of one schema."""
    schemas = {_described(connection, _rows([path], WRITTEN), duckdb.short(path)) for path in paths}
    if len(schemas) != 1:
        raise InvalidParameter("source must be Parquet files with the same columns and types; theirs differ.")
    schema = schemas.pop()
    for column in schema.columns:
        if column.name.lower() in ROW:
            raise InvalidParameter(
                f"source must be Parquet files without a column named {shown(column.name)}, by which DuckDB "
                "counts the rows; rename it."
            )
    return duckdb.DuckDB(connection, _rows(paths, WRITTEN), schema, rows_of=partial(_of_people, paths))


def _described(connection: DuckDBPyConnection, rows: exp.Expression, name: str) -> Schema:
    refused = partial(
        InvalidParameter, f"source must be readable by DuckDB; {name} is not. Is it what its name says?"
    )
    return run(partial(duckdb.schema_of, connection, rows), shortage_or(refused))


def _rows(paths: Sequence[str], broken_text: str) -> exp.Expression:
    """Read files without trust in their footers' statistics, which leave NaN out."""
    return duckdb.reading(
        "read_parquet",
        paths,
        hive_partitioning=exp.false(),
        can_have_nan=exp.true(),
        utf8_validation=exp.Literal.string(broken_text),
    )


def _of_people(paths: Sequence[str], request: CountsRequest) -> exp.Expression:
    """Give the rows for a question; where text names a person, only those whose name is UTF-8."""
    if request.person is None or request.person.kind != "text":
        return _rows(paths, WRITTEN)
    person = request.person.known_as
    names = dict.fromkeys(column.known_as for column in request.columns)
    columns = [exp.column(name, table="r", quoted=True) for name in names]
    clear = exp.select(*columns).from_(exp.alias_(_rows(paths, WRITTEN), "r", table=True))
    clear = clear.where(exp.Not(this=_is_doubtful(exp.column(person, quoted=True))))
    written, again = (_doubtful(paths, way, person) for way in (WRITTEN, READ_AGAIN))
    same = [exp.EQ(this=_of("r", name), expression=_of("i", name)) for name in (*ROW, person)]
    doubtful = exp.select(*columns).from_(written.subquery("r")).join(again.subquery("i"), on=exp.and_(*same))
    return exp.union(clear, doubtful, distinct=False).subquery()


def _doubtful(paths: Sequence[str], broken_text: str, person: str) -> exp.Select:
    rows = exp.select("*", *[exp.column(name) for name in ROW]).from_(_rows(paths, broken_text))
    return rows.where(_is_doubtful(exp.column(person, quoted=True)))


def _is_doubtful(column: exp.Expression) -> exp.Expression:
    return exp.Anonymous(this="contains", expressions=[column, exp.Literal.string("?")])


def _of(table: str, name: str) -> exp.Expression:
    return exp.column(name, table=table, quoted=True)
