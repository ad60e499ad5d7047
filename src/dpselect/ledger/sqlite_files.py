"""Opening a SQLite file: to write, or to look where nothing may be written, as on an auditor's snapshot."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dpselect.ledger.database import PATIENCE

PAGES_OF_LOG = 100
"""A log of so many pages is moved into the file and then written over: a disk syncs what it overwrites
faster than what makes a file longer."""
LOOKS, PAUSE = 100, 0.01
"""How often to look again at a file that others write meanwhile, and how long to sleep in between."""

_SETTINGS = ("trusted_schema = OFF", "cell_size_check = ON")
_TO_WRITE = ("synchronous = FULL", "fullfsync = ON", f"wal_autocheckpoint = {PAGES_OF_LOG}")
_PASSING = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_PROTOCOL)
"""What SQLite says to one who looks while a log is begun or ended beside it."""
BESIDE = "mode=ro"
"""To look beside others who write: log and index are theirs."""
_WAL = b"\x02\x02"
"""Bytes 18 and 19 of a file that is written by way of a log."""


class File(sqlite3.Connection):
    """A connection that knows which files it opened."""

    identity: tuple[int, ...] | None = None
    log: tuple[int, ...] | None = None
    seen: tuple[object, ...] | None = None
    """How the files were when they were opened to look at; None if they were opened to write."""


def connected(path: Path) -> File:
    """Open a file: to write if that is allowed, otherwise to look."""
    how, first = _way(path)
    seen = None if how == "mode=rw" else state(path, how)
    file: File = sqlite3.connect(
        f"{path.as_uri()}?{how}",
        uri=True,
        timeout=PATIENCE,
        isolation_level=None,
        check_same_thread=False,
        factory=File,
    )
    file.identity, file.seen = identity(str(path)), seen
    try:
        for setting in (*first, *_SETTINGS):
            file.execute(f"PRAGMA {setting}")
    except BaseException:
        file.close()
        raise
    return file


def may_write(path: Path) -> bool:
    """Say whether the system would let us write, and SQLite keep its log beside the file."""
    beside = os.access(path.parent, os.W_OK) or os.access(f"{path}-shm", os.W_OK)
    return os.access(path, os.W_OK) and beside


def _way(path: Path) -> tuple[str, Sequence[str]]:
    """Choose how to open: where SQLite can make neither log nor index, it must be told to do without."""
    if may_write(path):
        return "mode=rw", _TO_WRITE
    if _facts(f"{path}-wal")[1:2] in ((), (0,)):
        return "mode=ro&immutable=1", ()
    if os.access(f"{path}-shm", os.R_OK):
        return BESIDE, ()
    # The log is there, its index is not: SQLite keeps one in memory, if it shares the file with nobody.
    return "mode=ro&vfs=unix-none", ("locking_mode = EXCLUSIVE",)


def look(file: File, path: Path, query: str, values: Sequence[object]) -> list[Any] | None:
    """Ask a file that was opened to look at; None if somebody wrote meanwhile, and it must be opened anew."""
    problem, found = None, None
    try:
        found = file.execute(query, values).fetchall()
    except sqlite3.Error as error:
        problem = error
    if state(path, _way(path)[0]) != file.seen:
        return None
    if problem is None:
        return found
    if file.seen[:1] == (BESIDE,) and getattr(problem, "sqlite_errorcode", 0) & 0xFF in _PASSING:
        time.sleep(PAUSE)
        return None
    raise problem


def state(path: Path, how: str) -> tuple[object, ...]:
    """Say what must not change while a file is looked at; beside others who write, which files they are."""
    facts = [_facts(str(path)), _facts(f"{path}-wal")]
    return (how, *((each[:1] if how == BESIDE else each) for each in facts))


def _facts(path: str) -> tuple[Any, ...]:
    try:
        found = os.stat(path)  # noqa: PTH116 - as below
    except OSError:
        return ()
    return (found.st_dev, found.st_ino), found.st_size, found.st_mtime_ns


def identity(path: str) -> tuple[int, ...] | None:
    """Tell a file from one that has taken its name."""
    try:
        found = os.stat(path)  # noqa: PTH116 - twice in every charge
    except OSError:
        return None
    return found.st_dev, found.st_ino


def has_a_log(path: Path) -> bool:
    """Read from a file itself that it is written by way of a log."""
    try:
        with path.open("rb") as file:
            return file.read(20)[18:] == _WAL
    except OSError:
        return False
