"""Tables in memory, Arrow files and DuckDB relations: handed to DuckDB as columns of known types.

The types come from the types of the source alone. Nothing is filtered on the way, so that no reader leaves
out rows by its own rules; what is handed over are the columns of the question, after the charge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from sqlglot import exp

from dpselect.engines import arrow_texts, duckdb, pandas_frames
from dpselect.engines.protocol import (
    BATCH_ROWS,
    Counts,
    CountsRequest,
    Listed,
    answered,
    checked_salt,
    counted,
)
from dpselect.engines.queries import Dialect
from dpselect.engines.schema import Column, Schema
from dpselect.errors import InvalidParameter, MissingExtra
from dpselect.silence import run, run_or_none, shortage_or

ROWS_IN_MEMORY = "rows_in_memory"
UNKNOWN = "another"
"""The type of a column that DuckDB has no type for: no question can be about it."""
Read = Callable[[Sequence[int]], Any]
"""Gives the columns at these places, named c0, c1, ... by their place, as something that DuckDB can read."""
ArrowFields = tuple[tuple[Any, tuple[tuple[bytes, bytes], ...]], ...]
"""The type and the metadata of each column: what DuckDB goes by."""


@dataclass(frozen=True, repr=False)
class InMemory:
    """An open table of columns; they are read, and counted in a locked connection, when it is asked for."""

    schema: Schema
    read: Read

    def counts(self, request: CountsRequest, salt: bytes) -> Counts:
        """Read the columns of the question, and count."""
        checked_salt(salt)
        return counted(partial(self._counts, request, salt))

    def _counts(self, request: CountsRequest, salt: bytes) -> Counts:
        columns = self.read(self._places(request.columns))
        if any(isinstance(key, Listed) and key.split is not None for key in request.keys):
            columns = _kept(columns)  # the query reads them twice
        with _registered(columns) as engine:
            return engine.counts(request, salt)

    def rows_for_owner(
        self, columns: Sequence[Column], query: Callable[[Dialect], exp.Expression]
    ) -> list[tuple[Any, ...]]:
        """Read the columns, and answer a query of the owner's check."""
        return answered(partial(self._rows_for_owner, columns, query))

    def _rows_for_owner(
        self, columns: Sequence[Column], query: Callable[[Dialect], exp.Expression]
    ) -> list[tuple[Any, ...]]:
        with _registered(self.read(self._places(columns or self.schema.columns[:1]))) as engine:
            return engine.rows_for_owner(columns, query)

    def _places(self, columns: Sequence[Column]) -> list[int]:
        return [place for place, column in enumerate(self.schema.columns) if column in columns]


@contextmanager
def opened_frame(frame: Any, home: str) -> Iterator[InMemory]:
    """Open a frame: its types are read, its rows are not."""
    if home == "polars" and not _has_arrow():
        del frame
        raise _without_arrow("a Polars table")
    opened = {"pandas": _of_pandas, "polars": _of_polars, "pyarrow": _of_arrow}[home]
    held = [partial(opened, frame)]
    del frame
    refused = partial(
        InvalidParameter,
        "source must be a table with columns that DuckDB knows; this one is not. "
        "Give a DataFrame, a LazyFrame or an Arrow table.",
    )
    yield run(held.pop(), shortage_or(refused))


@contextmanager
def opened_arrow_files(paths: list[str]) -> Iterator[InMemory]:
    """Open Arrow files with one and the same schema."""
    if not _has_arrow():
        raise _without_arrow("an Arrow file")
    refused = partial(
        InvalidParameter, "source must be readable Arrow files with the same columns; these are not."
    )
    yield run(partial(_of_arrow_files, paths), shortage_or(refused))


@contextmanager
def opened_relation(relation: Any) -> Iterator[InMemory]:
    """Open a relation of the caller's own connection, which runs it when it is asked for."""
    if not _has_arrow():
        del relation
        raise _without_arrow("a DuckDB relation")
    kinds = zip(relation.columns, relation.types, strict=True)
    columns = tuple(_handed_over(name, str(kind), f"c{place}") for place, (name, kind) in enumerate(kinds))
    yield InMemory(
        Schema(columns), lambda places: _streamed(relation.to_arrow_reader(BATCH_ROWS), None, places)
    )


def _handed_over(name: str, kind: str, reference: str) -> Column:
    """Describe a column of a relation, whose rows come as Arrow: of 128 bits it takes one for a sign."""
    column = duckdb.column(name, kind, reference)
    if kind != "UHUGEINT":
        return column
    return replace(
        column,
        hindrance=f"column {name!r} must hold values that a relation hands over as they are; whole numbers "
        "of 128 bits without a sign it does not. Cast it: to TEXT if it names people, otherwise to HUGEINT.",
    )


def _kept(columns: Any) -> Any:
    """Give columns that can be read more than once."""
    return columns.read_all() if hasattr(columns, "read_all") else columns


# ---- each kind of source ----------------------------------------------------------------------------------


def _of_pandas(frame: Any) -> InMemory:
    places = range(frame.shape[1])
    plain = [place for place in places if pandas_frames.is_readable(frame.dtypes.iloc[place])]
    kinds = _kinds(partial(pandas_frames.columns, frame.iloc[:0]), plain)
    names = [str(name) for name in frame.columns]
    columns = tuple(
        duckdb.column(name, kinds.get(place, UNKNOWN), f"c{place}") for place, name in enumerate(names)
    )
    return InMemory(Schema(columns), partial(pandas_frames.columns, frame))


def _of_polars(frame: Any) -> InMemory:
    lazy = hasattr(frame, "collect_schema") and hasattr(frame, "collect")
    empty = frame.clear()
    schema = _arrow_schema(empty.collect() if lazy else empty)

    def read(places: Sequence[int]) -> Any:
        part = frame.select([schema.names[place] for place in places])
        table = (part.collect() if lazy else part).to_arrow()
        return _stream(table.schema, table.to_batches(), range(len(places)), places)

    return InMemory(_named(schema), read)


def _arrow_schema(empty: Any) -> Any:
    """Give the types of a frame of Polars without rows; what Arrow has no type for is a column of nulls."""
    arrow = import_module("pyarrow")
    fields = [run_or_none(partial(_arrow_field, empty, name)) for name in empty.columns]
    return arrow.schema(
        [found or arrow.field(name, arrow.null()) for name, found in zip(empty.columns, fields, strict=True)]
    )


def _arrow_field(empty: Any, name: str) -> Any:
    return empty.select([name]).to_arrow().schema.field(0)


def _of_arrow(source: Any) -> InMemory:
    schema = source.projected_schema if hasattr(source, "projected_schema") else source.schema
    return InMemory(_named(schema), partial(_streamed, source, schema))


def _of_arrow_files(paths: list[str]) -> InMemory:
    schemas = [_arrow_file(path).schema.remove_metadata() for path in paths]
    if any(schema != schemas[0] for schema in schemas):
        raise InvalidParameter

    def batches() -> Iterator[Any]:
        for path in paths:
            file = _arrow_file(path)
            for number in range(file.num_record_batches):
                batch = file.get_batch(number)
                # All columns, whatever is asked: an offset into nowhere would take the process down.
                batch.validate(full=True)
                yield batch

    return InMemory(_named(schemas[0]), lambda places: _stream(schemas[0], batches(), places, places))


def _arrow_file(path: str) -> Any:
    """Open an Arrow file, not mapped into memory: a mapped file that is cut short ends the process."""
    arrow = import_module("pyarrow")
    return arrow.ipc.open_file(arrow.OSFile(path))


# ---- Arrow's batches on their way to DuckDB ---------------------------------------------------------------


def _streamed(source: Any, schema: Any, places: Sequence[int]) -> Any:
    """Stream the columns at these places of anything that gives batches."""
    if hasattr(source, "to_batches"):
        batches: Iterable[Any] = source.to_batches()
    else:
        batches = source if hasattr(source, "read_next_batch") else [source]
    return _stream(schema or source.schema, batches, places, places)


def _stream(schema: Any, batches: Iterable[Any], found: Sequence[int], places: Sequence[int]) -> Any:
    """Stream the columns that are found at some places under the names of others, each batch validated."""
    arrow = import_module("pyarrow")
    names = [f"c{place}" for place in places]
    fields = [schema.field(place).with_name(name) for place, name in zip(found, names, strict=True)]

    def renamed() -> Iterator[Any]:
        for batch in batches:
            columns = [arrow_texts.validated(batch.column(place)) for place in found]
            yield arrow.record_batch(columns, names=names)

    return arrow.RecordBatchReader.from_batches(arrow.schema(fields), renamed())


def _named(schema: Any) -> Schema:
    """Describe the columns of an Arrow schema, by their types alone."""
    fields = tuple((field.type, tuple((field.metadata or {}).items())) for field in schema)
    known = run_or_none(partial(_kinds_of_all, fields))
    if known is None:
        empty = _empty(fields)
        kinds = _kinds(lambda places: empty.select(list(places)), range(len(fields)))
    else:
        kinds = dict(enumerate(known))
    return Schema(
        tuple(
            duckdb.column(name, kinds.get(place, UNKNOWN), f"c{place}")
            for place, name in enumerate(schema.names)
        )
    )


@lru_cache(maxsize=64)
def _kinds_of_all(fields: ArrowFields) -> tuple[str, ...]:
    """Give the types that DuckDB has for those of Arrow; raise where one has none, which is not kept."""
    return tuple(column.type for column in _described(_empty(fields)).columns)


def _empty(fields: ArrowFields) -> Any:
    """Make a table of Arrow without rows, its columns named by their place."""
    arrow = import_module("pyarrow")
    columns = [
        arrow.field(f"c{place}", kind, metadata=dict(metadata))
        for place, (kind, metadata) in enumerate(fields)
    ]
    return arrow.schema(columns).empty_table()


def _kinds(columns: Read, places: Sequence[int]) -> dict[int, str]:
    """Give the types that DuckDB has for the columns at these places, without those that it has none for."""
    together = run_or_none(lambda: _described(columns(places)).columns) if places else ()
    if together is not None:
        return {place: column.type for place, column in zip(places, together, strict=True)}
    if len(places) == 1:
        return {}
    middle = len(places) // 2
    return {**_kinds(columns, places[:middle]), **_kinds(columns, places[middle:])}


@contextmanager
def _registered(columns: Any) -> Iterator[duckdb.DuckDB]:
    with duckdb.connected() as connection:
        connection.register(ROWS_IN_MEMORY, columns)
        duckdb.lock(connection)
        rows = exp.to_table(ROWS_IN_MEMORY)
        yield duckdb.DuckDB(connection, rows, duckdb.schema_of(connection, rows))


def _described(columns: Any) -> Schema:
    with _registered(columns) as engine:
        return engine.schema


def _has_arrow() -> bool:
    return find_spec("pyarrow") is not None


def _without_arrow(what: str) -> MissingExtra:
    return MissingExtra.needed(what, extra="arrow")
