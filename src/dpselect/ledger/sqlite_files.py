"""Opening a SQLite file: to write, or only to read where nothing may be written, as on an auditor's copy.

SQLite wants to write beside a file even when it only reads: a log and an index of the log. Where it may not,
it is told to do without them, and each read is checked: if the files changed meanwhile, it is repeated.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dpselect.ledger.database import WRITER_TIMEOUT_SECONDS

PAGES_OF_LOG = 100
"""A log of 100 pages is moved into the file and then overwritten: a disk syncs an overwritten block faster
than one that makes a file longer."""
MOST_READS, READ_PAUSE_SECONDS = 100, 0.01
"""How often to repeat a read while others write, and how long to sleep in between."""

_SETTINGS = ("trusted_schema = OFF", "cell_size_check = ON")
_TO_WRITE = ("synchronous = FULL", "fullfsync = ON", f"wal_autocheckpoint = {PAGES_OF_LOG}")
_TEMPORARY = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_PROTOCOL)
"""The errors that a reader gets while another process begins or ends a log."""
BESIDE_WRITERS = "mode=ro"
"""How to open a file that others write: a reader uses their log and index."""
_WAL_MODE = b"\x02\x02"
"""Bytes 18 and 19 of a file in write-ahead mode."""


class SqliteFile(sqlite3.Connection):
    """A connection that knows which files it opened."""

    identity: tuple[int, ...] | None = None
    """Device and number of the file."""
    log: tuple[int, ...] | None = None
    """Device and number of its log."""
    read_state: tuple[object, ...] | None = None
    """The state of the files when they were opened to read; None if they were opened to write."""


def open_sqlite_file(path: Path) -> SqliteFile:
    """Open a file: to write if that is allowed, otherwise to read."""
    how, first = _how_to_open(path)
    read_state = None if how == "mode=rw" else files_state(path, how)
    file: SqliteFile = sqlite3.connect(
        f"{path.as_uri()}?{how}",
        uri=True,
        timeout=WRITER_TIMEOUT_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        factory=SqliteFile,
    )
    file.identity, file.read_state = file_identity(str(path)), read_state
    try:
        for setting in (*first, *_SETTINGS):
            file.execute(f"PRAGMA {setting}")
    except BaseException:
        file.close()
        raise
    return file


def may_write(path: Path) -> bool:
    """Say whether we may write the file, and SQLite its log beside it."""
    beside = os.access(path.parent, os.W_OK) or os.access(f"{path}-shm", os.W_OK)
    return os.access(path, os.W_OK) and beside


def _how_to_open(path: Path) -> tuple[str, Sequence[str]]:
    """Choose the mode and the first settings: where SQLite can write no log and no index, it does without."""
    if may_write(path):
        return "mode=rw", _TO_WRITE
    if _facts(f"{path}-wal")[1:2] in ((), (0,)):
        return "mode=ro&immutable=1", ()
    if os.access(f"{path}-shm", os.R_OK):
        return BESIDE_WRITERS, ()
    # There is a log without its index. SQLite keeps an index in memory if it has the file for itself.
    return "mode=ro&vfs=unix-none", ("locking_mode = EXCLUSIVE",)


def read_unless_changed(
    file: SqliteFile, path: Path, query: str, values: Sequence[object]
) -> list[Any] | None:
    """Run a query on a file that was opened to read; None if the files changed: then open them anew."""
    problem, found = None, None
    try:
        found = file.execute(query, values).fetchall()
    except sqlite3.Error as error:
        problem = error
    if files_state(path, _how_to_open(path)[0]) != file.read_state:
        return None
    if problem is None:
        return found
    if (
        file.read_state[:1] == (BESIDE_WRITERS,)
        and getattr(problem, "sqlite_errorcode", 0) & 0xFF in _TEMPORARY
    ):
        time.sleep(READ_PAUSE_SECONDS)
        return None
    raise problem


def files_state(path: Path, how: str) -> tuple[object, ...]:
    """Give what must not change during a read: identity, size and time of file and log.

    Beside writers it is the identity alone: their log protects the read.
    """
    facts = [_facts(str(path)), _facts(f"{path}-wal")]
    return (how, *((each[:1] if how == BESIDE_WRITERS else each) for each in facts))


def _facts(path: str) -> tuple[Any, ...]:
    try:
        found = os.stat(path)  # noqa: PTH116 - as below
    except OSError:
        return ()
    return (found.st_dev, found.st_ino), found.st_size, found.st_mtime_ns


def file_identity(path: str) -> tuple[int, ...] | None:
    """Give device and number of a file: they differ for another file that has taken its name."""
    try:
        found = os.stat(path)  # noqa: PTH116 - twice in every charge
    except OSError:
        return None
    return found.st_dev, found.st_ino


def is_in_wal_mode(path: Path) -> bool:
    """Read from the bytes of a file whether it is in write-ahead mode."""
    try:
        with path.open("rb") as file:
            return file.read(20)[18:] == _WAL_MODE
    except OSError:
        return False
