"""Tables in memory: Polars, pandas and Arrow objects, Arrow files and DuckDB relations, read by DuckDB."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from sqlglot import exp

from dpselect.engines import duckdb
from dpselect.engines.columns import Schema
from dpselect.engines.protocol import Counts, CountsRequest
from dpselect.engines.silence import opening, quietly
from dpselect.errors import InvalidParameter, MissingExtra, TableUnreadable

NAME = "rows_in_memory"


@contextmanager
def opened_frame(frame: Any, home: str) -> Iterator[duckdb.DuckDB]:  # noqa: ANN401 - of Polars, pandas or Arrow
    """Open a frame: DuckDB reads it where it is."""
    if home == "polars":
        _need_arrow("a Polars table")
    with duckdb.connected() as connection:
        registered, failure = opening(
            partial(_registered, connection, frame),
            partial(
                InvalidParameter,
                "source must be a table with columns that DuckDB knows; this one is not. "
                "Give a DataFrame, a LazyFrame or an Arrow table.",
            ),
        )
        del frame
        if registered is None:
            raise failure or InvalidParameter
        yield registered


def _registered(connection: Any, frame: Any) -> duckdb.DuckDB:  # noqa: ANN401
    connection.register(NAME, frame)
    duckdb.lock(connection)
    rows = exp.to_table(NAME)
    return duckdb.DuckDB(connection, rows, duckdb.described(connection, rows))


@contextmanager
def opened_arrow_files(paths: list[str]) -> Iterator[duckdb.DuckDB]:
    """Open Arrow files, which DuckDB reads through pyarrow."""
    _need_arrow("an Arrow file")
    refused = partial(
        InvalidParameter, "source must be readable Arrow files with the same columns; these are not."
    )
    dataset, failure = opening(
        partial(import_module("pyarrow.dataset").dataset, paths, format="ipc"), refused
    )
    if dataset is None:
        raise failure or InvalidParameter
    with opened_frame(dataset, "pyarrow") as engine:
        yield engine


@contextmanager
def opened_relation(relation: Any) -> Iterator[Relation]:  # noqa: ANN401 - DuckDB's type has no public name for it
    """Open a relation of the caller's own connection; its rows stream into ours once they are asked for."""
    _need_arrow("a DuckDB relation")
    schema = Schema(
        tuple(
            duckdb.column(name, str(kind))
            for name, kind in zip(relation.columns, relation.types, strict=True)
        )
    )
    yield Relation(relation, schema)


class Relation:
    """An open relation. It is run in the caller's connection, and counted in a locked one of ours."""

    def __init__(self, relation: Any, schema: Schema) -> None:  # noqa: ANN401
        self._relation = relation
        self.schema = schema

    def counts(self, request: CountsRequest, salt: bytes) -> Counts:
        """Read the rows, and count."""
        counts, failure = quietly(partial(self._counts, request, salt), TableUnreadable)
        if counts is None:
            raise failure or TableUnreadable
        return counts

    def _counts(self, request: CountsRequest, salt: bytes) -> Counts:
        reader = self._relation.to_arrow_reader(duckdb.BATCH)
        with opened_frame(reader, "pyarrow") as engine:
            return engine.counts(request, salt)


def _need_arrow(what: str) -> None:
    if find_spec("pyarrow") is None:
        raise MissingExtra.needed(what, extra="arrow")
