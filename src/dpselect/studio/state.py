"""What the studio itself remembers: keys, sessions, data sets, public lists, questions asked.

One SQLite file of its own, never a ledger: budgets and answers are kept by the ledgers. Of keys and sessions
only SHA-256 is kept; of a question its public words and its state.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

STATE_TABLES = """
create table if not exists keys (
    id integer primary key, name text not null, role text not null, digest text not null unique,
    created real not null, expires real, revoked real
) strict;
create table if not exists sessions (
    digest text primary key, key integer not null references keys, token text not null, expires real not null
) strict;
create table if not exists links (
    digest text primary key, key integer not null references keys, expires real not null
) strict;
create table if not exists data_sets (
    name text primary key, source text not null, source_table text, unit text, ledger text not null,
    anchor text, about text not null
) strict;
create table if not exists lists (
    data_set text not null references data_sets, column_name text not null, labels text not null,
    primary key (data_set, column_name)
) strict;
create table if not exists bounds (
    data_set text not null references data_sets, column_name text not null, low text not null,
    high text not null, step text not null, primary key (data_set, column_name)
) strict;
create table if not exists jobs (
    number integer primary key, analyst text not null, id text not null, data_set text not null,
    words text not null, state text not null, answer text, asked real not null, unique (analyst, id)
) strict;
create table if not exists clock (
    only_row integer primary key check (only_row = 1), seen real not null
) strict;
"""
BUSY_SECONDS = 20.0
"""How long a write waits for another process."""


class State:
    """The studio's own file. Many threads may use one object; every write is durable when it returns.

    No one who reads waits for a write: keys are read where all requests pass, and a disk may be slow.
    """

    def __init__(self, place: Path) -> None:
        """Open the file, or make it."""
        self._lock, self._reading, self._clock = threading.RLock(), threading.Lock(), threading.Lock()
        self._writes_in: int | None = None
        self._connection, self._reader = _connected(place), _connected(place)
        place.chmod(0o600)
        self._connection.execute("pragma journal_mode = wal")
        self._connection.execute("pragma synchronous = full")
        self._connection.execute("pragma foreign_keys = on")
        self._connection.executescript(STATE_TABLES)
        row = self.row("select seen from clock")
        self._seen, self._steady = (row["seen"] if row else 0.0), time.monotonic()

    def now(self) -> float:
        """Give the time in seconds, which never goes back: not when the clock is set, not over a restart."""
        with self._clock:
            steady = time.monotonic()
            self._seen = max(time.time(), self._seen + steady - self._steady)
            self._steady = steady
            return self._seen

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Do several writes as one; the time that was seen last is kept with them."""
        with self._lock:
            if self._connection.in_transaction:
                yield
                return
            self._connection.execute("begin immediate")
            self._writes_in = threading.get_ident()
            try:
                yield
                self._connection.execute("insert or replace into clock values (1, ?)", [self.now()])
                self._connection.execute("commit")
            except BaseException:
                self._connection.execute("rollback")
                raise
            finally:
                self._writes_in = None

    def write(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Write; give how many rows it concerned."""
        with self.writing():
            return self._connection.execute(statement, values).rowcount

    def row(self, question: str, values: Sequence[Any] = ()) -> sqlite3.Row | None:
        """Read one row, if it is there."""
        found = self.rows(question, values)
        return found[0] if found else None

    def rows(self, question: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        """Read rows: what is committed, and what this thread itself is writing."""
        if self._writes_in == threading.get_ident():
            return self._connection.execute(question, values).fetchall()
        with self._reading:
            return self._reader.execute(question, values).fetchall()

    def close(self) -> None:
        """Close the file."""
        with self._lock, self._reading:
            self._reader.close()
            self._connection.close()


def _connected(place: Path) -> sqlite3.Connection:
    made = sqlite3.connect(place, isolation_level=None, check_same_thread=False, timeout=BUSY_SECONDS)
    made.row_factory = sqlite3.Row
    return made
