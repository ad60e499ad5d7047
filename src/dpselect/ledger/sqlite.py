"""A ledger in a SQLite file: write-ahead log, synced to disk at every commit, one writer at a time."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from dpselect.errors import InvalidParameter, LedgerDamaged, LedgerUnavailable
from dpselect.ledger.anchor import sync_folder
from dpselect.ledger.database import Held
from dpselect.ledger.sqlite_files import (
    LOOKS,
    File,
    connected,
    has_a_log,
    identity,
    look,
    may_write,
)
from dpselect.ledger.tables import ANSWERS, COLUMNS, ENTRIES, HEADER, LAST_TWO

APPLICATION = 0x6470736C
"""Written into the file, so that other programs can tell what it is: "dpsl"."""

_TABLES = [
    f"""CREATE TABLE {HEADER} (version INTEGER NOT NULL, measure TEXT NOT NULL, budget TEXT NOT NULL,
    neighbours TEXT NOT NULL, dataset TEXT, unit TEXT, anchor TEXT, created TEXT NOT NULL,
    digest TEXT NOT NULL)""",
    f"""CREATE TABLE {ENTRIES} (number INTEGER PRIMARY KEY, loss TEXT NOT NULL, total TEXT NOT NULL,
    reason TEXT NOT NULL, request_id TEXT, time TEXT NOT NULL, digest TEXT NOT NULL)""",
    f"""CREATE TABLE {ANSWERS} (number INTEGER PRIMARY KEY, entry INTEGER NOT NULL, answer TEXT NOT NULL,
    digest TEXT NOT NULL)""",
    f"CREATE UNIQUE INDEX dpselect_requests ON {ENTRIES} (request_id) WHERE request_id IS NOT NULL",
    f"CREATE UNIQUE INDEX dpselect_answered ON {ANSWERS} (entry)",
]
_NEXT = {
    HEADER: "EXISTS (SELECT 1 FROM dpselect_header)",
    ENTRIES: """NEW.number IS NOT (SELECT coalesce(max(number), 0) + 1 FROM dpselect_entries)
    OR EXISTS (SELECT 1 FROM dpselect_entries WHERE request_id = NEW.request_id)""",
    ANSWERS: """NEW.number IS NOT (SELECT coalesce(max(number), 0) + 1 FROM dpselect_answers)
    OR NOT EXISTS (SELECT 1 FROM dpselect_entries WHERE number = NEW.entry)
    OR EXISTS (SELECT 1 FROM dpselect_answers WHERE entry = NEW.entry)""",
}
_TRIGGERS = [
    f"CREATE TRIGGER {table}_{verb.lower()} BEFORE {verb} ON {table} {when} "
    f"BEGIN SELECT RAISE(ABORT, 'a ledger is only ever added to'); END"
    for table, unlike_next in _NEXT.items()
    for verb, when in (("UPDATE", ""), ("DELETE", ""), ("INSERT", f"WHEN {unlike_next}"))
]
SCHEMA = [*_TABLES, *_TRIGGERS]
_NEW_FILE = ["PRAGMA journal_mode = WAL", "BEGIN IMMEDIATE", f"PRAGMA application_id = {APPLICATION}"]
_INSERT = {
    table: f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})"  # noqa: S608 - names of our own
    for table, columns in COLUMNS.items()
}

# What passes, or what the owner of the machine can mend. Every other error means damage.
_PASSING = {
    sqlite3.SQLITE_BUSY: "others kept it busy for too long",
    sqlite3.SQLITE_LOCKED: "others kept it busy for too long",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_READONLY: "it is read-only",
    sqlite3.SQLITE_PERM: "access was denied",
    sqlite3.SQLITE_AUTH: "access was denied",
    sqlite3.SQLITE_CANTOPEN: "its files could not be opened",
    sqlite3.SQLITE_IOERR: "the disk failed",
    sqlite3.SQLITE_NOMEM: "memory is full",
    sqlite3.SQLITE_INTERRUPT: "it was interrupted",
    sqlite3.SQLITE_PROTOCOL: "its locks failed",
    sqlite3.SQLITE_NOLFS: "its files are too large",
    sqlite3.SQLITE_MISUSE: "it was closed meanwhile",
}
_REFUSED = (sqlite3.Error, UnicodeError, OverflowError)
"""What SQLite or its driver raises, the last two for damaged text and numbers."""
_CUT_SHORT = (sqlite3.SQLITE_IOERR_SHORT_READ, sqlite3.SQLITE_IOERR_CORRUPTFS)


class SqliteSession:
    """One ledger in one file."""

    shared = False

    def __init__(self, path: Path) -> None:
        """Take the path; nothing is opened yet."""
        self.place = str(path)
        self._path = path
        self._log = f"{path}-wal"
        self._held = Held(partial(connected, path), File.close)
        self.lock = self._held.lock

    def anchor(self) -> Path:
        """Give the companion file."""
        return self._path.with_name(f"{self._path.name}.anchor")

    def writable(self) -> bool:
        """Say whether the system would let us write to the file."""
        return may_write(self._path)

    def exists(self) -> bool:
        """Say whether there is a file; if only the anchor is there, the ledger was lost."""
        if self._path.exists():
            return True
        if self.anchor().exists():
            raise LedgerDamaged(
                f"the ledger {self.place!r} is gone, but its anchor is there. Put back its newest copy.",
                entry=0,
            )
        return False

    def create(self, header: Sequence[Any]) -> None:
        """Make the file, for its owner alone, with all tables and the header, or nothing."""
        try:
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        except FileExistsError:
            raise InvalidParameter(
                f"a new ledger must be a new file; {self.place!r} is there. Open it: Ledger.open(...)."
            ) from None
        except OSError as problem:
            why = os.strerror(problem.errno or 0)
            raise LedgerUnavailable(f"the ledger {self.place!r} could not be created: {why}.") from None
        with self.lock:
            try:
                for statement in (*_NEW_FILE, *SCHEMA):
                    self.rows(statement)
                self.rows(_INSERT[HEADER], *header)
                self.rows("COMMIT")
                sync_folder(self._path.parent)
            except BaseException:
                self._held.drop()
                self._path.unlink(missing_ok=True)
                raise

    def rows(self, query: str, *values: object) -> list[Any]:
        """Ask. What SQLite refuses is said in our own words."""
        try:
            with self.lock:
                for _ in range(LOOKS):
                    file = self._held.get()
                    if file.seen is None:
                        return file.execute(query, values).fetchall()
                    found = look(file, self._path, query, values)
                    if found is not None:
                        return found
                    self._held.drop()
            code = sqlite3.SQLITE_BUSY
        except _REFUSED as problem:
            code = _code(problem)
        raise _refusal(self.place, code)

    def extend(self, table: str, following: Callable[[list[Any]], Sequence[Any]]) -> None:
        """Take the write lock, then commit to disk or roll back. The triggers refuse all but the next row."""
        code = None
        with self.lock:
            file = self._file()
            try:
                file.execute("BEGIN IMMEDIATE")
                self._refuse_replaced(file)
                last_two = file.execute(LAST_TWO[table]).fetchall()
                file.execute(_INSERT[table], following(last_two))
                file.execute("COMMIT")
            except _REFUSED as problem:
                code = _code(problem)
                self._give_up(file)
            except BaseException:
                self._give_up(file)
                raise
        if code is not None:
            raise _refusal(self.place, code)

    def _file(self) -> File:
        try:
            return self._held.get()
        except sqlite3.Error as problem:
            code = _code(problem)
        raise _refusal(self.place, code)

    def _give_up(self, file: File) -> None:
        try:
            if file.in_transaction:
                file.execute("ROLLBACK")
        except sqlite3.Error:
            self._held.drop()

    def _refuse_replaced(self, file: File) -> None:
        """Refuse to write into a file, or a log, that no longer has its name: nobody else would see it."""
        log = identity(self._log)
        if identity(self.place) != file.identity or file.log not in (None, log):
            raise LedgerDamaged(
                f"the files of the ledger {self.place!r} were replaced while it was open. Open it again."
            )
        file.log = log

    def check(self) -> None:
        """Compare tables, triggers and settings with ours, and indexes with tables."""
        found = self.rows("SELECT sql FROM sqlite_master ORDER BY sql")
        names = self.rows(
            "SELECT type || ' ' || name FROM sqlite_master WHERE sql NOT LIKE 'CREATE%' || name || '%'"
        )
        whole = self.rows("PRAGMA integrity_check(1)")
        mode, application = self.rows("PRAGMA journal_mode"), self.rows("PRAGMA application_id")
        # Whoever may only look is told "delete" where there is no log just now.
        looked = mode == [("delete",)] and self._file().seen is not None and has_a_log(self._path)
        if (found, names, whole) != ([(sql,) for sql in sorted(SCHEMA)], [], [("ok",)]) or not (
            (looked or mode == [("wal",)]) and application == [(APPLICATION,)]
        ):
            raise LedgerDamaged(f"{self.place!r} is no ledger, or a damaged one; it accepts no charge.")

    def close(self) -> None:
        """Close the file; the last one who does moves the log into it."""
        self._held.drop()


def _code(problem: Exception) -> int:
    unsaid = (
        sqlite3.SQLITE_MISUSE if isinstance(problem, sqlite3.ProgrammingError) else sqlite3.SQLITE_CORRUPT
    )
    return getattr(problem, "sqlite_errorcode", unsaid)


def _refusal(place: str, code: int) -> LedgerUnavailable | LedgerDamaged:
    """Tell what passes from what is damage."""
    if code & 0xFF in _PASSING and code not in _CUT_SHORT:
        return LedgerUnavailable(
            f"the ledger {place!r} could not be used: {_PASSING[code & 0xFF]}. "
            "Release nothing; mend it and try again."
        )
    return LedgerDamaged(f"{place!r} is no ledger, or a damaged one; it accepts no charge.")
