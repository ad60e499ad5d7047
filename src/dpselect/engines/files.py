"""Files as tables: CSV, Parquet, Arrow, JSON lines and DuckDB databases, read by DuckDB.

Of the rows nothing is looked at here: a Parquet footer, a catalogue or the first line of a CSV is enough.
"""

from __future__ import annotations

import glob as globs
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from dpselect.engines import csv_files, database_files, duckdb, json_lines, parquet_files
from dpselect.engines.protocol import Engine
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


@contextmanager
def opened_files(source: str, *, table: str | None, columns: Mapping[str, str] | None) -> Iterator[Engine]:
    """Open one file, or all files that a glob matches, as one table."""
    paths = matching(source)
    form = _format(paths, source)
    closed = [path for path in paths if not os.access(path, os.R_OK)]
    if closed:
        raise InvalidParameter(
            f"source must be files that you may read; {duckdb.short(closed[0])} is not. Ask for the right to."
        )
    if (form == "json") != (columns is not None):
        raise InvalidParameter(
            'columns must be given for JSON lines, and only for them: write columns={"voter": "text"}, '
            'with "text", "integer" or "double" for each.'
        )
    if (form == "database") != (table is not None):
        raise InvalidParameter(
            "table must be given for a database file, and only for one.", parameter="table"
        )
    if form == "arrow":
        from dpselect.engines import frames  # noqa: PLC0415 - needs an extra

        with frames.opened_arrow_files(paths) as engine:
            yield engine
    elif form == "database":
        if len(paths) > 1:
            raise InvalidParameter("source must be one database file; the glob matches several.")
        with database_files.opened_database(paths[0], str(table)) as engine:
            yield engine
    else:
        if any(set("*?[") & set(path) for path in paths):
            raise InvalidParameter(
                "source must be files without *, ? and [ in their paths; DuckDB takes them for patterns: "
                "rename them."
            )
        with duckdb.connected(files=paths) as connection:
            duckdb.lock(connection)
            if form == "csv":
                must_be_utf8 = partial(csv_files.must_be_utf8, paths)
                yield duckdb.DuckDB(connection, *csv_files.csv_rows(paths), must_be_utf8)
            elif form == "json":
                yield duckdb.DuckDB(connection, *json_lines.json_rows(paths, columns or {}))
            else:
                yield parquet_files.opened_parquet(connection, paths)


def matching(source: str) -> list[str]:
    """List the files, in order, by their full paths; there must be one."""
    if Path(source).is_file():
        return [str(Path(source).resolve())]
    paths = globs.glob(source, recursive=True)  # noqa: PTH207 - Path.glob has no absolute patterns
    found = sorted({str(Path(path).resolve()) for path in paths})
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
