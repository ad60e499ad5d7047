"""A table names where rows about people are, and which column identifies a person. It holds no row."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Any

from dpselect.engines.protocol import Engine
from dpselect.errors import InvalidParameter, shown
from dpselect.silence import holds_data, takes_data

SOURCES = (
    "a path or glob of CSV, Parquet, Arrow or JSON-lines files, a DuckDB relation or database file, "
    "a Polars, pandas or Arrow table, a Spark DataFrame or session, or a PostgreSQL URL"
)
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_POSTGRES = re.compile(r"postgres(ql)?://", re.IGNORECASE)


@holds_data
@dataclass(frozen=True, eq=False)
class Table:
    """Rows about people, wherever they are.

    ``unit`` is the column that identifies a person; None says that each row is a person of its own.
    ``table`` names the table of a database. ``dataset`` is the name under which a ledger keeps the budget.
    ``columns`` gives the columns of JSON lines: their names, and "text", "integer" or "double" for each.

    >>> Table("ballots.csv", unit="voter")
    Table('ballots.csv', unit='voter')
    """

    source: Any = field(repr=False)
    unit: str | None = field(kw_only=True)
    table: str | None = field(default=None, kw_only=True)
    dataset: str | None = field(default=None, kw_only=True)
    columns: Mapping[str, str] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Refuse what can be seen to be wrong without looking at the source."""
        _must_be_a_name(self.unit, "unit", "the column that identifies a person, or None if each row is one")
        _must_be_a_name(self.table, "table", "the name of a table")
        _must_be_a_name(self.dataset, "dataset", "a name for the data set")
        if not (self.columns is None or isinstance(self.columns, Mapping)):
            raise InvalidParameter.must_be(
                "columns", "a dict from names to types", got=self.columns, way_out='Write {"voter": "text"}.'
            )

    def __repr__(self) -> str:
        named = {"unit": self.unit, "table": self.table, "dataset": self.dataset}
        words = [f"{name}={value!r}" for name, value in named.items() if value is not None or name == "unit"]
        return f"Table({_public_name(self.source)}, {', '.join(words)})"

    @takes_data
    def open(self) -> AbstractContextManager[Engine]:
        """Open the table and read its schema, no row of it."""
        source = self.source
        if isinstance(source, PathLike):
            source = fspath(source)
        if isinstance(source, str):
            return self._open_named(source)
        home, kind = _kind(source)
        self._refuse_words(table=home != "pyspark")
        if home == "pyspark":
            from dpselect.engines import spark  # noqa: PLC0415 - engines are guests, loaded when needed

            return spark.opened_spark(source, kind, self.table)
        if home in ("duckdb", "_duckdb") and kind == "DuckDBPyRelation":
            from dpselect.engines import frames  # noqa: PLC0415 - when first needed

            return frames.opened_relation(source)
        if home in ("polars", "pandas", "pyarrow"):
            from dpselect.engines import frames  # noqa: PLC0415 - when first needed

            return frames.opened_frame(source, home)
        raise InvalidParameter(f"source must be {SOURCES}; got something else, of type {kind}.")

    def _open_named(self, source: str) -> AbstractContextManager[Engine]:
        if _POSTGRES.match(source):
            self._refuse_words(table=False)
            from dpselect.engines import postgres  # noqa: PLC0415 - engines are guests, loaded when needed

            return postgres.opened_postgres(source, self.table)
        if _URL.match(source):
            raise InvalidParameter(
                f"source must be {SOURCES}; got another kind of URL. Copy the file to this machine first."
            )
        from dpselect.engines import files  # noqa: PLC0415 - when first needed

        return files.opened_files(source, table=self.table, columns=self.columns)

    def _refuse_words(self, *, table: bool) -> None:
        """Refuse words that mean nothing for this kind of source."""
        if self.columns is not None:
            raise InvalidParameter("columns must be given for JSON lines, and only for them.")
        if table and self.table is not None:
            raise InvalidParameter("table must be given for a database, and only for one.", parameter="table")


def _must_be_a_name(value: object, name: str, what: str) -> None:
    if not (value is None or (isinstance(value, str) and value)):
        raise InvalidParameter.must_be(name, what, got=value)


def _kind(source: object) -> tuple[str, str]:
    """Name the package that a source comes from, and its class, without importing anything."""
    kind = type(source)
    return kind.__module__.split(".")[0], kind.__name__


def _public_name(source: object) -> str:
    """Show a path as it is, a URL without its secrets, anything else by its type."""
    if isinstance(source, PathLike):
        source = fspath(source)
    if isinstance(source, str):
        return "<PostgreSQL>" if _POSTGRES.match(source) else shown(source)
    home, kind = _kind(source)
    return f"<{home.strip('_')} {kind}>"
