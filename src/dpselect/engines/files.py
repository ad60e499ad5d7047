"""Files as tables: CSV, Parquet, Arrow, JSON lines and DuckDB databases, read by DuckDB.

Of the rows nothing is looked at here: a Parquet footer, a catalogue or the first line of a CSV is enough.
"""

from __future__ import annotations

import glob as globs
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from dpselect.engines import csv_files, database_files, duckdb, json_lines, parquet_files
from dpselect.engines.private_folder import PrivateFolder
from dpselect.engines.protocol import Engine
from dpselect.engines.reading import Form, Reading
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


TEXT_FORMS: Mapping[str, Form] = {"csv": "csv", "json": "json"}
"""What is text; all other formats have types."""


@contextmanager
def opened_files(
    source: str, *, table: str | None, columns: Mapping[str, str] | None, reading: Reading
) -> Iterator[Engine]:
    """Open one file, or all files that a glob matches, as one table."""
    paths = matching(source)
    form = _format(paths, source, reading)
    reading.must_be_for(TEXT_FORMS.get(form, "typed"))
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
        with _opened_text_or_parquet(paths, form, columns or {}, reading) as engine:
            yield engine


@contextmanager
def _opened_text_or_parquet(
    paths: list[str], form: str, columns: Mapping[str, str], reading: Reading
) -> Iterator[Engine]:
    with ExitStack() as stack:
        rewritten = None
        if reading.is_of_csv:
            rewritten = csv_files.rewritten_csv(paths, reading, stack.enter_context(PrivateFolder()))
        read = paths if rewritten is None else rewritten.places
        connection = stack.enter_context(duckdb.connected(files=read))
        duckdb.lock(connection)
        if form == "csv":
            check = partial(csv_files.must_be_utf8, paths) if rewritten is None else rewritten.write
            rows, schema = csv_files.csv_rows(paths, reading, rewritten)
            yield duckdb.DuckDB(connection, rows, schema, Once(check))
        elif form == "json":
            yield duckdb.DuckDB(connection, *json_lines.json_rows(paths, columns, reading))
        else:
            yield parquet_files.opened_parquet(connection, paths)


@dataclass
class Once:
    """Something that is done when it is first called for, and again only if it failed."""

    act: Callable[[], None]
    is_done: bool = False

    def __call__(self) -> None:
        """Do it, unless it is done."""
        if not self.is_done:
            self.act()
            self.is_done = True


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


def format_of(paths: Sequence[str], *, said_to_be_csv: bool) -> str | None:
    """Give the one format of files, None if there is none; text is a CSV where an option says so."""
    known = {**FORMATS, ".txt": "csv", ".txt.gz": "csv"} if said_to_be_csv else FORMATS
    forms = {known.get(_suffix(path)) for path in paths}
    return forms.pop() if len(forms) == 1 else None


def _format(paths: list[str], source: str, reading: Reading) -> str:
    form = format_of(paths, said_to_be_csv=reading.is_of_csv)
    if form is None:
        raise InvalidParameter(
            f"source must be files of one known format; got {shown(source)}. "
            f"The name must end in one of: {', '.join(FORMATS)}; or in .txt, with separator= or encoding=."
        )
    return form


def _suffix(path: str) -> str:
    name = Path(path).name.lower()
    return "".join(Path(name).suffixes[-2:]) if name.endswith(".gz") else Path(name).suffix
