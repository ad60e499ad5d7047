"""PostgreSQL: the counts are computed by the server, in one read-only transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from sqlglot import exp

from dpselect.engines.postgres_catalogue import facts, table_and_schema
from dpselect.engines.postgres_dialect import DIALECT
from dpselect.engines.postgres_encodings import pattern
from dpselect.engines.protocol import (
    BATCH_ROWS,
    Counts,
    CountsRequest,
    answered,
    checked_salt,
    counted,
    gathered,
)
from dpselect.engines.queries import Dialect, Unnested, rendered
from dpselect.engines.row_choice import is_one_row
from dpselect.engines.schema import Column, Schema
from dpselect.errors import InvalidParameter, MissingExtra
from dpselect.silence import run, shortage_or

LONGEST_ID = 100_000_000
"""Bytes. What identifies a person is hashed, which fails on text of a gigabyte."""
SORTED = "SET LOCAL enable_hashagg = off"
"""A sort by people takes half as long as the table of them that PostgreSQL prefers; answers are the same."""


@dataclass(frozen=True, repr=False)
class PostgreSQL:
    """An open table on a server."""

    connection: Any
    rows: exp.Expression
    schema: Schema
    encoding: str

    def counts(self, request: CountsRequest, salt: bytes) -> Counts:
        """Read the rows, and count."""
        return counted(partial(self._counts, request, checked_salt(salt)))

    def _counts(self, request: CountsRequest, salt: str) -> Counts:
        parameters: list[object] = []
        dialect = Unnested(DIALECT, self._rows(request, parameters), parameters)
        query = rendered(request, salt, dialect)
        if is_one_row(request):
            self.connection.execute(SORTED)
        # A cursor on the server, so that groups arrive in batches; "raw", so that % in a name is only that;
        # binary, so that floats arrive as they are.
        with import_module("psycopg").RawServerCursor(self.connection, "dpselect") as cursor:
            cursor.execute(query, dialect.parameters, binary=True)
            return gathered(request, iter(partial(cursor.fetchmany, BATCH_ROWS), []))

    def rows_for_owner(
        self, columns: Sequence[Column], query: Callable[[Dialect], exp.Expression]
    ) -> list[tuple[Any, ...]]:
        """Answer a query of the owner's check."""
        del columns
        return answered(partial(self._rows_for_owner, query))

    def _rows_for_owner(self, query: Callable[[Dialect], exp.Expression]) -> list[tuple[Any, ...]]:
        dialect = Unnested(DIALECT, self.rows, [])
        text = query(dialect).sql(dialect=DIALECT)
        with import_module("psycopg").RawCursor(self.connection) as cursor:
            cursor.execute(text, dialect.parameters)
            rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows

    def _rows(self, request: CountsRequest, parameters: list[object]) -> exp.Expression:
        """Name the rows, without those whose person the hash would fail on."""
        if request.person is None or request.person.kind != "text":
            return self.rows
        person = exp.column(request.person.known_as, quoted=True)
        names = dict.fromkeys(column.known_as for column in request.columns)
        hashable: exp.Expression = exp.LTE(
            this=_function("octet_length", person), expression=_number(LONGEST_ID)
        )
        if request.person.characters is not None:
            parameters += [pattern(self.encoding), self.encoding]
            known = exp.Operator(
                this=exp.Collate(this=person.copy(), expression=exp.to_identifier("C", quoted=True)),
                operator="pg_catalog.~",
                expression=exp.select(_function("convert_from", _parameter(1), _parameter(2))).subquery(),
            )
            hashable = exp.Case(ifs=[exp.If(this=hashable, true=known)])
        columns = [exp.column(name, quoted=True) for name in names]
        return exp.select(*columns).from_(self.rows.copy()).where(hashable).subquery()


def _function(name: str, *values: exp.Expression) -> exp.Expression:
    return exp.Anonymous(this=f"pg_catalog.{name}", expressions=[*values])


def _number(value: int) -> exp.Expression:
    return exp.Literal.number(value)


def _parameter(number: int) -> exp.Expression:
    return exp.Parameter(this=_number(number))


@contextmanager
def opened_postgres(url: str, table: str | None) -> Iterator[PostgreSQL]:
    """Connect, and read the catalogue."""
    if find_spec("psycopg") is None:
        raise MissingExtra.needed("a PostgreSQL table", extra="postgres")
    if table is None:
        raise InvalidParameter(
            "table must be given with a PostgreSQL URL: write table='ballots'.", parameter="table"
        )
    held = [url]  # with a password in it
    del url
    connection = run(partial(_connected, held), shortage_or(_unreachable))
    try:
        found = run(partial(facts, connection, table), shortage_or(_unreachable))
        yield PostgreSQL(connection, *table_and_schema(found, table), found.encoding)
    finally:
        connection.close()


def _unreachable() -> InvalidParameter:
    return InvalidParameter(
        "source must be the URL of a PostgreSQL server that lets you in; this one does not. Try psql: "
        "host, port, name, password, and whether the server is running."
    )


def _connected(held: list[str]) -> Any:
    psycopg = import_module("psycopg")
    rows = import_module("psycopg.rows")
    connection = psycopg.connect(
        held.pop(), client_encoding="utf8", context=_adapters(), row_factory=rows.tuple_row
    )
    connection.read_only = True
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    return connection


def _adapters() -> Any:
    """Give psycopg's own way of reading values, whatever the program has registered for all connections."""
    defaults = import_module("psycopg.postgres")
    adapters = import_module("psycopg.adapt").AdaptersMap()
    defaults.register_default_types(adapters.types)
    defaults.register_default_adapters(adapters)
    return adapters
