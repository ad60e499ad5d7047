"""DuckDB database files: opened and read in a process of their own, which such a file may bring down.

A damaged or forged file can crash DuckDB or keep it busy without an end, deaf to signals. So no byte of it is
read here: a child process opens it, with bounds on memory, files and time, and we are told names, types, and
counts. A child that dies or takes too long is a table that cannot be read.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from multiprocessing.connection import Pipe
from pathlib import Path
from typing import Any, Self

from sqlglot import exp

from dpselect.engines import duckdb
from dpselect.engines.private_folder import PrivateFolder
from dpselect.errors import InvalidParameter, visible
from dpselect.silence import run, shortage_or

READER = Path(__file__).with_name("database_process.py")
OPENING_SECONDS = 60.0
"""For opening a database and reading its schema."""
SECONDS_PER_BYTE = 1e-6
"""More for each query, by the size of the file: a second for a megabyte."""
MOST_TOLD = 65536
"""Bytes of progress that are read at a time; the last one counts."""
ALLOWED = frozenset({("decimal", "Decimal"), ("uuid", "UUID")})
"""The classes of which an answer may hold objects, beside Python's plain ones."""


@contextmanager
def opened_database(path: str, table: str) -> Iterator[duckdb.DuckDB]:
    """Open one table or view of a database file."""
    name = duckdb.short(path)
    closed = partial(
        InvalidParameter,
        f"source must be a DuckDB database that can be opened for reading; {name} cannot. "
        "Is another process writing to it?",
    )
    broken = partial(
        InvalidParameter, f"source must be readable by DuckDB; {name} is not. Is it what its name says?"
    )
    with PrivateFolder() as private, contextlib.ExitStack() as stack:
        connection = run(
            lambda: stack.enter_context(DatabaseProcess(path, {**duckdb.BEFORE, "temp_directory": private})),
            shortage_or(closed),
        )
        names = run(partial(_names, connection, table), shortage_or(broken))
        rows = _named(names, table)
        schema = run(partial(duckdb.schema_of, connection, rows), shortage_or(broken))
        connection.seconds += SECONDS_PER_BYTE * Path(path).stat().st_size
        yield duckdb.DuckDB(connection, rows, schema)


def _names(connection: DatabaseProcess, table: str) -> list[tuple[bool, str, str]]:
    """Close the connection to the outside; then list tables and views, and whether each is meant."""
    for setting in (*duckdb.FIRST, *duckdb.PROGRESS, *duckdb.LAST):
        connection.execute(setting)
    return connection.execute(
        "SELECT $1 IN (table_name, table_schema || '.' || table_name), table_schema, table_name "
        "FROM information_schema.tables",
        [table],
    ).fetchall()


def _named(names: list[tuple[bool, str, str]], table: str) -> exp.Expression:
    """Give the table or view that is meant by its name, or by ``schema.name``."""
    found = [(schema, name) for is_meant, schema, name in names if is_meant]
    if len(found) != 1:
        raise InvalidParameter.must_be(
            "table",
            "the name of one table of the database",
            got=table,
            way_out=f"There are: {', '.join(visible(name) for _, _, name in names[:20])}.",
        )
    return exp.table_(found[0][1], db=found[0][0], quoted=True)


class DatabaseProcess:
    """A connection of DuckDB in another process, as far as it is used here: execute, then fetch."""

    def __init__(self, database: str, config: Mapping[str, str]) -> None:
        """Start the process, and let it open the database."""
        self.seconds, self._per_cent = OPENING_SECONDS, -1.0
        self._pipe, theirs = Pipe()
        self._progress, told = Pipe(duplex=False)
        with theirs, told:
            ends = [theirs.fileno(), told.fileno()]
            self._process = subprocess.Popen(  # noqa: S603 - our own script, by the Python that runs us
                [sys.executable, "-P", "-S", str(READER), *map(str, ends)],
                pass_fds=ends,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for us, and we end it
            )
        try:
            self._pipe.send((database, dict(config), sys.path))
            self._answer()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def execute(self, query: str, parameters: Sequence[object] = ()) -> DatabaseProcess:
        """Run a query; its rows are fetched from this very object."""
        self.query_progress()
        self._per_cent = -1.0  # what was told of the query before is read and forgotten
        self._ask("execute", query, list(parameters))
        return self

    def fetchmany(self, most: int) -> list[tuple[Any, ...]]:
        """Give the next rows of the last query."""
        return self._ask("fetchmany", most)

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Give all rows of the last query."""
        return self._ask("fetchall")

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        with contextlib.suppress(OSError):
            self._process.stdin.close()  # type: ignore[union-attr]  # it is a pipe
        self._process.wait()
        self._pipe.close()
        self._progress.close()

    def query_progress(self) -> float:
        """Give the per cent of the query that the process told last; a number below zero if it told none."""
        if self._progress.poll():
            told = os.read(self._progress.fileno(), MOST_TOLD)
            self._per_cent = float(told[-1]) if told else -1.0
        return self._per_cent

    def _ask(self, method: str, *arguments: object) -> list[tuple[Any, ...]]:
        self._pipe.send((method, arguments))
        return self._answer()

    def _answer(self) -> list[tuple[Any, ...]]:
        """Wait for an answer, not forever; raise what was raised over there."""
        deadline = time.monotonic() + self.seconds
        if not self._pipe.poll(max(0.0, deadline - time.monotonic())):
            self._process.kill()
            raise TimeoutError
        rows, failure = _Plain(io.BytesIO(self._pipe.recv_bytes())).load()
        if failure is not None:
            raise _error(*failure)
        return rows or []


def _error(name: str, words: str) -> Exception:
    """Make an error of DuckDB, or a lack of memory, anew; of any other kind it is one that says nothing."""
    if name == MemoryError.__name__:
        return MemoryError()
    kind = getattr(import_module("duckdb"), name, None)
    return kind(words) if isinstance(kind, type) and issubclass(kind, Exception) else RuntimeError()


class _Plain(pickle.Unpickler):
    """Reads an answer, of plain values alone."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in ALLOWED:
            raise pickle.UnpicklingError
        return getattr(import_module(module), name)
