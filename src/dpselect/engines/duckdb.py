"""DuckDB, the embedded engine: a connection that can read what it was given, and nothing else.

Order matters: first the files that may be read are listed, then all other access to the outside is closed,
then the configuration is locked. Spilled rows go to a private directory, removed with the connection.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import duckdb
import numpy as np
from duckdb import DuckDBPyConnection
from sqlglot import exp

from dpselect.engines.private_folder import PrivateFolder
from dpselect.engines.progress import telling
from dpselect.engines.protocol import (
    BATCH_ROWS,
    Counts,
    CountsRequest,
    Listed,
    answered,
    array_type,
    checked_salt,
    counted,
    gathered,
    of_columns,
)
from dpselect.engines.queries import Dialect, Unnested, rendered
from dpselect.engines.schema import Column, Kind, Schema
from dpselect.errors import shown

BEFORE: Mapping[str, str] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
}
BY_STATISTICS = "statistics_propagation,filter_pushdown,join_filter_pushdown,row_group_pruner"
"""Optimizers that leave out filters or rows because of what statistics say of many rows together."""
FIRST = (
    "SET python_enable_replacements = false",
    # The type of a pandas column must not depend on its values: objects are text.
    "SET pandas_analyze_sample = 0",
    # Whether a row counts must depend on that row alone.
    f"SET disabled_optimizers = '{BY_STATISTICS}'",
)
PROGRESS = ("SET enable_progress_bar_print = false", "SET enable_progress_bar = true")
"""DuckDB keeps count of what is done, and prints nothing. In a notebook without ipywidgets it refuses to."""
LAST = ("SET enable_external_access = false", "SET lock_configuration = true")

_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}
_KINDS: Mapping[str, Kind] = {
    "VARCHAR": "text",
    "DOUBLE": "double",
    "FLOAT": "single",
    "UUID": "uuid",
    "DATE": "date",
    "TIME": "time",
    "BOOLEAN": "boolean",
    **dict.fromkeys(["TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMP_MS", "TIMESTAMP_S"], "timestamp"),
}


class Queried(Protocol):
    """A connection as far as it is used here, to DuckDB in this process or in another one."""

    def execute(self, query: str, parameters: Any = ..., /) -> Any:
        """Run a query; what is given has ``fetchmany`` and ``fetchall``."""

    def query_progress(self) -> float:
        """Give the per cent of the running query that are done, or less than zero. Any thread may ask."""


@dataclass(frozen=True)
class DuckDBDialect(Unnested):
    """Lists are selected from one row of a table function.

    DuckDB tells no progress of a query with a SELECT from nothing in it.
    """

    def listing(self, key: Listed, column_type: exp.DataType) -> exp.Expression:
        """Unnest two arrays side by side."""
        one_row = exp.Table(this=exp.Anonymous(this="range", expressions=[exp.Literal.number(1)]))
        listed = super().listing(key, column_type)
        return listed.from_(one_row) if isinstance(listed, exp.Select) else listed


@dataclass(frozen=True, repr=False)
class DuckDB:
    """An open table in DuckDB: the connection, the rows as a node of a query, and the schema."""

    connection: Queried
    rows: exp.Expression
    schema: Schema
    check: Callable[[], None] = lambda: None
    """Reads what the query might leave unread, and raises if it is broken."""
    rows_of: Callable[[CountsRequest], exp.Expression] | None = None
    """Gives the rows for a question, where they are not the same for all."""

    def counts(self, request: CountsRequest, salt: bytes) -> Counts:
        """Read the rows, and count."""
        return counted(partial(self._counts, request, checked_salt(salt)))

    def _counts(self, request: CountsRequest, salt: str) -> Counts:
        self.check()
        dialect = DuckDBDialect("duckdb", self.rows_of(request) if self.rows_of else self.rows, [])
        query = rendered(request, salt, dialect)
        with telling(self.connection.query_progress):
            result = self.connection.execute(query, dialect.parameters)
            if isinstance(result, DuckDBPyConnection) and _is_of_numbers(request):
                return of_columns(result.fetchnumpy().values(), request)
            return gathered(request, iter(partial(result.fetchmany, BATCH_ROWS), []))

    def rows_for_owner(
        self, columns: Sequence[Column], query: Callable[[Dialect], exp.Expression]
    ) -> list[tuple[Any, ...]]:
        """Answer a query of the owner's check."""
        del columns
        return answered(partial(self._rows_for_owner, query))

    def _rows_for_owner(self, query: Callable[[Dialect], exp.Expression]) -> list[tuple[Any, ...]]:
        self.check()
        dialect = DuckDBDialect("duckdb", self.rows, [])
        text = query(dialect).sql(dialect="duckdb")
        with telling(self.connection.query_progress):
            rows: list[tuple[Any, ...]] = self.connection.execute(text, dialect.parameters).fetchall()
        return rows


def _is_of_numbers(request: CountsRequest) -> bool:
    """Say whether DuckDB's arrays hold what its rows hold: decimals would be rounded, text be objects."""
    return all(array_type(key) is not np.object_ for key in request.keys)


@contextmanager
def connected(*, files: Sequence[str] = ()) -> Iterator[DuckDBPyConnection]:
    """Give a connection that reads the files, and what is registered before ``lock``."""
    with PrivateFolder() as private:
        connection = duckdb.connect(":memory:", config={**BEFORE, "temp_directory": private})
        try:
            allowed = exp.Array(expressions=[exp.Literal.string(path) for path in files])
            with suppress(duckdb.Error):
                for setting in PROGRESS:
                    connection.execute(setting)
            for setting in (*FIRST, f"SET allowed_paths = {allowed.sql(dialect='duckdb')}"):
                connection.execute(setting)
            yield connection
        finally:
            connection.close()


def lock(connection: Queried) -> None:
    """Close all access to the outside, for good."""
    for setting in LAST:
        connection.execute(setting)


def schema_of(connection: Queried, rows: exp.Expression) -> Schema:
    """Read the schema: names and types, no row."""
    query = exp.select("*").from_(exp.alias_(rows.copy(), "t", table=True)).sql(dialect="duckdb")
    described: list[tuple[Any, ...]] = connection.execute(f"DESCRIBE {query}").fetchall()
    return Schema(tuple(column(name, kind) for name, kind, *_ in described))


def reading(function: str, paths: Sequence[str], **options: exp.Expression) -> exp.Expression:
    """Build a call of one of DuckDB's readers, with options by name."""
    named = [
        exp.PropertyEQ(this=exp.to_identifier(name, quoted=True), expression=value)
        for name, value in options.items()
    ]
    files = exp.Array(expressions=[exp.Literal.string(path) for path in paths])
    return exp.Table(this=exp.Anonymous(this=function, expressions=[files, *named]))


def short(path: str) -> str:
    """Name a file in a sentence: its name, without the folders."""
    return shown(Path(path).name)


def column(name: str, kind: str, reference: str = "") -> Column:
    """Describe a column by the name of its DuckDB type."""
    if decimal := _DECIMAL.fullmatch(kind):
        precision, scale = map(int, decimal.groups())
        return Column(name, "decimal", kind, reference, precision=precision, scale=scale)
    signed = _BITS.get(kind)
    unsigned = _BITS.get(kind.removeprefix("U"))
    if signed:
        return Column(name, "integer", kind, reference, -(2 ** (signed - 1)), 2 ** (signed - 1) - 1)
    if unsigned:
        return Column(name, "integer", kind, reference, 0, 2**unsigned - 1)
    if kind.startswith("ENUM("):
        return Column(name, "text", "ENUM", reference)  # without its values: they may come from rows
    return Column(name, _KINDS.get(kind, "other"), kind, reference)
