"""Files as tables: CSV, Parquet, Arrow, JSON lines and DuckDB databases, read by DuckDB.

Of the rows nothing is looked at here: a Parquet footer, a catalogue or the first line of a CSV is enough.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

from dpselect.engines import csv_files, database_files, duckdb, json_lines, parquet_files
from dpselect.engines.found_files import FoundFiles, found_files
from dpselect.engines.private_folder import PrivateFolder
from dpselect.engines.protocol import Engine
from dpselect.engines.reading import Form, Reading
from dpselect.errors import InvalidParameter
from dpselect.silence import run_or_none

TEXT_FORMS: Mapping[str, Form] = {"csv": "csv", "json": "json"}
"""What is text; all other formats have types."""


@contextmanager
def opened_files(
    source: str | Sequence[str], *, table: str | None, columns: Mapping[str, str] | None, reading: Reading
) -> Iterator[Engine]:
    """Open one file, or several as one table: all of a glob, of a folder, or of a list."""
    found = found_files(source, reading)
    paths, form = found.paths, found.form
    reading.must_be_for(TEXT_FORMS.get(form, "typed"))
    closed = [path for path in paths if not os.access(path, os.R_OK)]
    if closed:
        raise InvalidParameter(
            f"source must be files that you may read; {duckdb.short(closed[0])} is not. Ask for the right to."
        )
    if (form == "json") != (columns is not None):
        raise InvalidParameter(
            'columns must be given for JSON lines, and only for them: write columns={"voter": "text"}, '
            'with "text", "integer" or "double" for each.',
            parameter="columns",
        )
    if (form == "database") != (table is not None):
        raise InvalidParameter(
            "table must be given for a database file, and only for one.", parameter="table"
        )
    if form == "arrow":
        from dpselect.engines import frames  # noqa: PLC0415 - needs an extra

        with frames.opened_arrow_files(list(paths)) as engine:
            yield engine
    elif form == "database":
        if len(paths) > 1:
            raise InvalidParameter(f"source must be one database file; got {len(paths)}.")
        with database_files.opened_database(paths[0], str(table)) as engine:
            yield engine
    else:
        _must_be_no_patterns(paths)
        with opened_text_or_parquet(found, columns or {}, reading) as engine:
            yield engine


def _must_be_no_patterns(paths: Sequence[str]) -> None:
    if any(set("*?[") & set(path) for path in paths):
        raise InvalidParameter(
            "source must be files without *, ? and [ in their paths; DuckDB takes them for patterns: "
            "rename them."
        )
    if any(run_or_none(path.encode) is None for path in paths):
        raise InvalidParameter(
            "source must be files whose paths are UTF-8; DuckDB knows no others: rename them."
        )


@contextmanager
def opened_text_or_parquet(
    found: FoundFiles, columns: Mapping[str, str], reading: Reading, arrive: Callable[[], None] = lambda: None
) -> Iterator[Engine]:
    """Open files that DuckDB reads itself; ``arrive`` is called after the charge, before they are read."""
    paths = found.paths
    with ExitStack() as stack:
        rewritten = None
        if reading.is_of_csv:
            rewritten = csv_files.rewritten_csv(paths, reading, stack.enter_context(PrivateFolder()))
        read = paths if rewritten is None else rewritten.places
        connection = stack.enter_context(duckdb.connected(files=read))
        duckdb.lock(connection)
        if found.form == "csv":
            check = partial(csv_files.must_be_utf8, paths) if rewritten is None else rewritten.write
            opened = csv_files.csv_rows(found, reading, rewritten)
            yield duckdb.DuckDB(connection, *opened, Once((arrive, check)))
        elif found.form == "json":
            yield duckdb.DuckDB(connection, *json_lines.json_rows(paths, columns, reading), Once((arrive,)))
        else:
            yield parquet_files.opened_parquet(connection, found)


@dataclass
class Once:
    """Steps that are done when they are first called for; each again only if it failed."""

    steps: tuple[Callable[[], None], ...]

    def __call__(self) -> None:
        """Do what is left to do."""
        while self.steps:
            self.steps[0]()
            self.steps = self.steps[1:]
