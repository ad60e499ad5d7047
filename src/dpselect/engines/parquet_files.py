"""Parquet files: names and types from the footer, and rows of which each is read by itself.

DuckDB refuses a whole file for one text that is not UTF-8, if the question reads its column, or writes ``?``
for each byte that is none. We let it write them. On a public list, and among numbers, such a text is not
found, so its row is dropped. As the name of a person it might become another person's; so a name with ``?``
is read a second time, without the broken bytes: where the two differ, it is broken, and its row is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from duckdb import DuckDBPyConnection
from sqlglot import exp

from dpselect.engines import duckdb
from dpselect.engines.found_files import FoundFiles
from dpselect.engines.partitions import Partition, partitions_of, with_partitions
from dpselect.engines.protocol import CountsRequest
from dpselect.engines.schema import Schema
from dpselect.errors import InvalidParameter, shown
from dpselect.silence import run, shortage_or

ROW = ("file_row_number", "file_index")
"""Columns that DuckDB adds if asked for, unless a file has columns of these names."""
WRITTEN, READ_AGAIN = "replace", "ignore"
"""What DuckDB does with bytes that are not UTF-8: it writes ``?`` for each, or leaves them out."""


def opened_parquet(connection: DuckDBPyConnection, found: FoundFiles) -> duckdb.DuckDB:
    """Open files of one schema."""
    schemas = {_described(connection, [path]) for path in found.paths}
    if len(schemas) != 1:
        raise InvalidParameter(
            "source must be Parquet files with the same columns and types; theirs differ. Write them with "
            "one schema, or hand over a DuckDB relation: read_parquet(..., union_by_name=True)."
        )
    schema = schemas.pop()
    names = [column.name for column in schema.columns]
    for name in names:
        if name.lower() in ROW:
            raise InvalidParameter(
                f"source must be Parquet files without a column named {shown(name)}, by which DuckDB "
                "counts the rows; rename it."
            )
    files = _Files(found.paths, partitions_of(found, names))
    columns = (*schema.columns, *(each.column for each in files.partitions))
    return duckdb.DuckDB(connection, files.rows(WRITTEN), Schema(columns), rows_of=files.of_people)


def _described(connection: DuckDBPyConnection, paths: Sequence[str]) -> Schema:
    refused = partial(
        InvalidParameter,
        f"source must be readable by DuckDB; {duckdb.short(paths[0])} is not. Is it what its name says?",
    )
    return run(partial(duckdb.schema_of, connection, _read(paths, WRITTEN)), shortage_or(refused))


def _read(paths: Sequence[str], broken_text: str) -> exp.Expression:
    """Read files without trust in their footers' statistics, which leave NaN out."""
    return duckdb.reading(
        "read_parquet",
        paths,
        hive_partitioning=exp.false(),
        can_have_nan=exp.true(),
        utf8_validation=exp.Literal.string(broken_text),
    )


@dataclass(frozen=True)
class _Files:
    """Files of one schema, and the columns of their partitions."""

    paths: tuple[str, ...]
    partitions: tuple[Partition, ...]

    def rows(self, broken_text: str, *beside: str) -> exp.Expression:
        """Give all rows."""
        return with_partitions(_read(self.paths, broken_text), self.partitions, *beside)

    def of_people(self, request: CountsRequest) -> exp.Expression:
        """Give the rows for a question; where text names a person, only those whose name is UTF-8."""
        person = request.person
        if person is None or person.kind != "text" or person in (each.column for each in self.partitions):
            return self.rows(WRITTEN)
        names = dict.fromkeys(column.known_as for column in request.columns)
        columns = [exp.column(name, table="r", quoted=True) for name in names]
        clear = exp.select(*columns).from_(exp.alias_(self.rows(WRITTEN), "r", table=True))
        clear = clear.where(exp.Not(this=_is_doubtful(exp.column(person.known_as, quoted=True))))
        written, again = (self._doubtful(way, person.known_as) for way in (WRITTEN, READ_AGAIN))
        same = [exp.EQ(this=_of("r", name), expression=_of("i", name)) for name in (*ROW, person.known_as)]
        doubtful = exp.select(*columns).from_(written.subquery("r"))
        doubtful = doubtful.join(again.subquery("i"), on=exp.and_(*same))
        return exp.union(clear, doubtful, distinct=False).subquery()

    def _doubtful(self, broken_text: str, person: str) -> exp.Select:
        added = [exp.column(name) for name in ROW]
        if self.partitions:
            rows = exp.select("*").from_(self.rows(broken_text, *ROW))
        else:
            rows = exp.select("*", *added).from_(self.rows(broken_text))
        return rows.where(_is_doubtful(exp.column(person, quoted=True)))


def _is_doubtful(column: exp.Expression) -> exp.Expression:
    return exp.Anonymous(this="contains", expressions=[column, exp.Literal.string("?")])


def _of(table: str, name: str) -> exp.Expression:
    return exp.column(name, table=table, quoted=True)
