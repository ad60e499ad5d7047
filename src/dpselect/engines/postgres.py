"""PostgreSQL: the counts are computed by the server, in one read-only transaction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from sqlglot import exp

from dpselect.engines.columns import Column, Kind, Schema
from dpselect.engines.protocol import Counts, CountsRequest, checked_salt, counted, gathered
from dpselect.engines.queries import Unnested, rendered
from dpselect.engines.silence import quietly
from dpselect.errors import InvalidParameter, MissingExtra

BATCH = 100_000
CATALOGUE = """
SELECT table_schema, table_name, column_name, data_type, numeric_precision, numeric_scale
FROM information_schema.columns
WHERE (table_name = $1 AND table_schema = ANY (current_schemas(true)))
   OR table_schema || '.' || table_name = $1
ORDER BY table_schema, table_name, ordinal_position
"""
_BITS = {"smallint": 16, "integer": 32, "bigint": 64}
_KINDS: Mapping[str, Kind] = {
    "text": "text",
    "character varying": "text",
    "double precision": "double",
    "real": "single",
    "uuid": "uuid",
}


@dataclass(frozen=True, repr=False)
class PostgreSQL:
    """An open table on a server."""

    connection: Any
    rows: exp.Expression
    schema: Schema

    def counts(self, request: CountsRequest, salt: bytes) -> Counts:
        """Read the rows, and count."""
        return counted(partial(self._counts, request, checked_salt(salt)))

    def _counts(self, request: CountsRequest, salt: str) -> Counts:
        dialect = Unnested("postgres", self.rows, [])
        query = rendered(request, salt, dialect)
        # A cursor on the server, so that groups arrive in batches; "raw", so that % in a name is only that.
        with import_module("psycopg").RawServerCursor(self.connection, "dpselect") as cursor:
            cursor.execute(query, dialect.parameters)
            return gathered(request, iter(partial(cursor.fetchmany, BATCH), []))


@contextmanager
def opened(url: str, table: str | None) -> Iterator[PostgreSQL]:
    """Connect, and read the catalogue."""
    if find_spec("psycopg") is None:
        raise MissingExtra.needed("a PostgreSQL table", extra="postgres")
    if table is None:
        raise InvalidParameter("table must be given with a PostgreSQL URL: write table='ballots'.")
    connection, failure = quietly(partial(_connected, url), _unreachable)
    del url
    if connection is None:
        raise failure or InvalidParameter
    try:
        found, failure = quietly(partial(_catalogue, connection, table), _unreachable)
        if found is None:
            raise failure or InvalidParameter
        yield PostgreSQL(connection, *_described(found, table))
    finally:
        connection.close()


def _unreachable() -> InvalidParameter:
    return InvalidParameter(
        "source must be the URL of a PostgreSQL server that lets you in; this one does not. Try psql: "
        "host, port, name, password, and whether the server is running."
    )


def _connected(url: str) -> Any:  # noqa: ANN401 - psycopg is an extra, and has no types where it is missing
    psycopg = import_module("psycopg")
    connection = psycopg.connect(url, client_encoding="utf8")
    connection.read_only = True
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    return connection


def _catalogue(connection: Any, table: str) -> list[tuple[Any, ...]]:  # noqa: ANN401
    with import_module("psycopg").RawCursor(connection) as cursor:
        found: list[tuple[Any, ...]] = cursor.execute(CATALOGUE, [table]).fetchall()
    return found


def _described(found: list[tuple[Any, ...]], table: str) -> tuple[exp.Expression, Schema]:
    owners = {row[:2] for row in found}
    if len(owners) != 1:
        raise InvalidParameter.must_be(
            "table",
            "the name of one table that you may read",
            got=table,
            way_out="Write schema.table if need be.",
        )
    schema, name = owners.pop()
    columns = tuple(_column(*row[2:]) for row in found)
    return exp.table_(name, db=schema, quoted=True), Schema(columns)


def _column(name: str, kind: str, precision: int | None, scale: int | None) -> Column:
    if kind in _BITS:
        return Column(
            name, "integer", kind, lowest=-(2 ** (_BITS[kind] - 1)), highest=2 ** (_BITS[kind] - 1) - 1
        )
    if kind == "numeric":
        return Column(name, "decimal", "NUMERIC", precision=precision, scale=scale)
    return Column(name, _KINDS.get(kind, "other"), kind)
