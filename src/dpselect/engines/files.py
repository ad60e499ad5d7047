"""Files as tables: CSV, Parquet, Arrow, JSON lines and DuckDB databases, read by DuckDB.

Of the rows nothing is looked at here: a Parquet footer, a catalogue or the first line of a CSV is enough.
"""

from __future__ import annotations

import csv
import glob as globs
import gzip
import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from duckdb import DuckDBPyConnection
from sqlglot import exp

from dpselect.engines import duckdb
from dpselect.engines.columns import Schema
from dpselect.engines.silence import quietly
from dpselect.errors import SHOWN_CHARACTERS, InvalidParameter, shown

FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".csv.gz": "csv",
    ".tsv.gz": "csv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".jsonl": "json",
    ".ndjson": "json",
    ".jsonl.gz": "json",
    ".ndjson.gz": "json",
    ".duckdb": "database",
    ".ddb": "database",
    ".db": "database",
}
JSON_TYPES = {"text": "VARCHAR", "integer": "BIGINT", "double": "DOUBLE"}
DELIMITERS = ",;\t|"
LONGEST_HEADER = 1_000_000

_QUOTED = re.compile(r'"(?:[^"]|"")*"')


@contextmanager
def opened(source: str, *, table: str | None, columns: Mapping[str, str] | None) -> Iterator[duckdb.DuckDB]:
    """Open one file, or all files that a glob matches, as one table."""
    paths = matching(source)
    form = _format(paths, source)
    if (form == "json") != (columns is not None):
        raise InvalidParameter(
            'columns must be given for JSON lines, and only for them: write columns={"voter": "text"}, '
            'with "text", "integer" or "double" for each.'
        )
    if (form == "database") != (table is not None):
        raise InvalidParameter("table must be given for a database file, and only for one.")
    if form == "arrow":
        from dpselect.engines import frames  # noqa: PLC0415 - needs an extra

        with frames.opened_arrow_files(paths) as engine:
            yield engine
    elif form == "database":
        with _opened_database(paths, str(table)) as engine:
            yield engine
    else:
        if any(set("*?[") & set(path) for path in paths):
            raise InvalidParameter(
                "source must be files without *, ? and [ in their paths; DuckDB takes them for patterns: "
                "rename them."
            )
        with duckdb.connected(files=paths) as connection:
            duckdb.lock(connection)
            opening = {
                "csv": partial(_csv, paths),
                "json": partial(_json, paths, columns or {}),
                "parquet": partial(_parquet, connection, paths),
            }[form]
            rows, schema = opening()
            yield duckdb.DuckDB(connection, rows, schema)


def matching(source: str) -> list[str]:
    """List the files, in order, by their full paths; there must be one."""
    if Path(source).is_file():
        return [str(Path(source).resolve())]
    # Path.glob has no absolute patterns.
    found = sorted({str(Path(path).resolve()) for path in globs.glob(source, recursive=True)})  # noqa: PTH207
    files = [path for path in found if Path(path).is_file()]
    if not files:
        end = source if len(source) <= SHOWN_CHARACTERS else f"…{source[1 - SHOWN_CHARACTERS :]}"
        raise InvalidParameter(
            f"source must be a file that is there; got {end!r}. Check the path and its spelling."
        )
    return files


def _format(paths: list[str], source: str) -> str:
    forms = {FORMATS.get(_suffix(path)) for path in paths}
    form = forms.pop()
    if forms or form is None:
        raise InvalidParameter(
            f"source must be files of one known format; got {shown(source)}. "
            f"The name must end in one of: {', '.join(FORMATS)}."
        )
    return form


def _suffix(path: str) -> str:
    name = Path(path).name.lower()
    return "".join(Path(name).suffixes[-2:]) if name.endswith(".gz") else Path(name).suffix


# ---- CSV: all columns are text, known by their position ---------------------------------------------------


def header(paths: list[str]) -> tuple[tuple[str, ...], str]:
    """Give the names of the columns, and what separates them; all files must agree."""
    heads = {_header(path) for path in paths}
    if len(heads) != 1:
        raise InvalidParameter("source must be CSV files with one and the same header; theirs differ.")
    return heads.pop()


def _csv(paths: list[str]) -> tuple[exp.Expression, Schema]:
    names, delimiter = header(paths)
    schema = Schema(
        tuple(duckdb.column(name, "VARCHAR", f"c{position}") for position, name in enumerate(names))
    )
    read = _reading(
        "read_csv",
        paths,
        auto_detect=exp.false(),
        header=exp.true(),
        delim=exp.Literal.string(delimiter),
        quote=exp.Literal.string('"'),
        escape=exp.Literal.string('"'),
        strict_mode=exp.true(),
        null_padding=exp.false(),
        columns=_typed({column.known_as: "VARCHAR" for column in schema.columns}),
    )
    return read, schema


def _header(path: str) -> tuple[tuple[str, ...], str]:
    """Read the names of the columns from the first line, without reading on."""
    line, failure = quietly(
        partial(_first_line, path),
        partial(
            InvalidParameter, f"source must be a CSV file in UTF-8 with a header; {_short(path)} is not."
        ),
    )
    if line is None:
        raise failure or InvalidParameter
    tabs = path.lower().removesuffix(".gz").endswith(".tsv")
    delimiter = "\t" if tabs else max(DELIMITERS, key=_QUOTED.sub("", line).count)
    names = next(csv.reader([line], delimiter=delimiter), [])
    if not names or not all(names):
        raise InvalidParameter(
            f"source must have a header with a name for every column; {_short(path)} has not."
        )
    return tuple(names), delimiter


def _first_line(path: str) -> str:
    with gzip.GzipFile(path) if path.lower().endswith(".gz") else io.FileIO(path) as file:
        return file.readline(LONGEST_HEADER).decode("utf-8-sig").rstrip("\r\n")


# ---- Parquet, JSON lines, databases -----------------------------------------------------------------------


def _parquet(connection: DuckDBPyConnection, paths: list[str]) -> tuple[exp.Expression, Schema]:
    schemas = {_described(connection, _reading_parquet([path]), _short(path)) for path in paths}
    if len(schemas) != 1:
        raise InvalidParameter("source must be Parquet files with the same columns and types; theirs differ.")
    return _reading_parquet(paths), schemas.pop()


def _reading_parquet(paths: list[str]) -> exp.Expression:
    return _reading("read_parquet", paths, hive_partitioning=exp.false())


def _described(connection: DuckDBPyConnection, rows: exp.Expression, name: str) -> Schema:
    schema, failure = quietly(
        partial(duckdb.described, connection, rows),
        partial(
            InvalidParameter, f"source must be readable by DuckDB; {name} is not. Is it what its name says?"
        ),
    )
    if schema is None:
        raise failure or InvalidParameter
    return schema


def _json(paths: list[str], columns: Mapping[str, str]) -> tuple[exp.Expression, Schema]:
    wrong = [kind for kind in columns.values() if not isinstance(kind, str) or kind not in JSON_TYPES]
    if wrong or not columns:
        raise InvalidParameter.must_be(
            "columns", 'names with "text", "integer" or "double" for each', got=wrong[0] if wrong else columns
        )
    types = {name: JSON_TYPES[kind] for name, kind in columns.items()}
    read = _reading("read_json", paths, format=exp.Literal.string("newline_delimited"), columns=_typed(types))
    return read, Schema(tuple(duckdb.column(name, kind) for name, kind in types.items()))


@contextmanager
def _opened_database(paths: list[str], table: str) -> Iterator[duckdb.DuckDB]:
    if len(paths) > 1:
        raise InvalidParameter("source must be one database file; the glob matches several.")
    connecting = duckdb.connected(database=paths[0])
    refused = partial(
        InvalidParameter,
        f"source must be a DuckDB database that can be opened for reading; {_short(paths[0])} cannot. "
        "Is another process writing to it?",
    )
    connection, failure = quietly(connecting.__enter__, refused)
    if connection is None:
        raise failure or InvalidParameter
    try:
        duckdb.lock(connection)
        rows = _table(connection, table)
        yield duckdb.DuckDB(connection, rows, _described(connection, rows, _short(paths[0])))
    finally:
        connecting.__exit__(None, None, None)


def _table(connection: DuckDBPyConnection, table: str) -> exp.Expression:
    """Find a table or a view by its name, or by ``schema.name``."""
    found = connection.execute(
        "SELECT table_schema, table_name FROM information_schema.tables "
        "WHERE table_name = $1 OR table_schema || '.' || table_name = $1",
        [table],
    ).fetchall()
    if len(found) != 1:
        names = [
            name
            for (name,) in connection.execute("SELECT table_name FROM information_schema.tables").fetchall()
        ]
        raise InvalidParameter.must_be(
            "table",
            "the name of one table of the database",
            got=table,
            way_out=f"There are: {', '.join(names[:20])}.",
        )
    return exp.table_(found[0][1], db=found[0][0], quoted=True)


def _reading(function: str, paths: list[str], **options: exp.Expression) -> exp.Expression:
    """Build a call of one of DuckDB's readers, with options by name."""
    named = [
        exp.PropertyEQ(this=exp.to_identifier(name, quoted=True), expression=value)
        for name, value in options.items()
    ]
    files = exp.Array(expressions=[exp.Literal.string(path) for path in paths])
    return exp.Table(this=exp.Anonymous(this=function, expressions=[files, *named]))


def _typed(columns: Mapping[str, str]) -> exp.Expression:
    return exp.Struct(
        expressions=[
            exp.PropertyEQ(this=exp.Literal.string(name), expression=exp.Literal.string(kind))
            for name, kind in columns.items()
        ]
    )


def _short(path: str) -> str:
    return shown(Path(path).name)
