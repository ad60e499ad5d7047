"""A ledger in a SQLite file: a write-ahead log, synced to disk at every commit, one writer at a time.

The declarations of its tables (sqlite_schema.py) are part of the stored format.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from dpselect.errors import InvalidParameter, LedgerDamaged, LedgerUnavailable
from dpselect.ledger.anchor import sync_folder
from dpselect.ledger.database import ANSWERS, COLUMNS_OF, ENTRIES, HEADER, LAYOUTS, PRESENT
from dpselect.ledger.fork_safe_connection import ForkSafeConnection
from dpselect.ledger.sqlite_files import (
    MOST_READS,
    SqliteFile,
    file_identity,
    is_in_wal_mode,
    may_write,
    open_sqlite_file,
    read_unless_changed,
)
from dpselect.ledger.sqlite_schema import SQLITE_SCHEMA, SQLITE_SCHEMAS

APPLICATION_ID = 0x6470736C
"""A number in the file that tells other programs what the file is: "dpsl" in ASCII."""

HALF_MADE = (
    " It is empty: if a process was killed while it made it, and nothing was ever charged, remove it and "
    "make it again."
)
_NEW_FILE = ["PRAGMA journal_mode = WAL", "BEGIN IMMEDIATE", f"PRAGMA application_id = {APPLICATION_ID}"]


def _insert(table: str, columns: int) -> str:
    return f"INSERT INTO {table} VALUES ({', '.join('?' * columns)})"  # noqa: S608 - names of our own


_INSERT_HEADER = _insert(HEADER, len(COLUMNS_OF[HEADER]))
_INSERT = {
    (table, layout): _insert(table, len(layout.columns(table)))
    for layout in LAYOUTS
    for table in (ENTRIES, ANSWERS)
}

# Errors that pass, or that the owner of the machine can repair. Every other error means damage.
_TEMPORARY = {
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
"""The errors of SQLite and its driver; the last two come from damaged text and numbers."""
_TRUNCATED = (sqlite3.SQLITE_IOERR_SHORT_READ, sqlite3.SQLITE_IOERR_CORRUPTFS)


class SqliteDatabase:
    """One ledger in one file."""

    shared = False

    def __init__(self, path: Path) -> None:
        """Take the path; nothing is opened yet."""
        self.place = str(path)
        self._path = path
        self._log = f"{path}-wal"
        self.layout = PRESENT
        self._connection = ForkSafeConnection(partial(open_sqlite_file, path), SqliteFile.close)
        self.lock = self._connection.lock

    def anchor(self) -> Path:
        """Give the path of the companion file."""
        return self._path.with_name(f"{self._path.name}.anchor")

    def writable(self) -> bool:
        """Say whether the system would let us write to the file."""
        return may_write(self._path)

    def exists(self) -> bool:
        """Say whether there is a file. If there is only its anchor, the ledger was lost: refuse."""
        if self._path.exists():
            return True
        if self.anchor().exists():
            raise LedgerDamaged(
                f"the ledger {self.place!r} is gone, but its anchor is there. Put back its newest copy.",
                entry=0,
            )
        return False

    def create(self, header: Sequence[Any]) -> None:
        """Make the file with all tables and the header, readable by its owner alone; or make nothing."""
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
                for statement in (*_NEW_FILE, *SQLITE_SCHEMA):
                    self.rows(statement)
                self.rows(_INSERT_HEADER, *header)
                self.rows("COMMIT")
                sync_folder(self._path.parent)
            except BaseException:
                self._connection.drop()
                self._path.unlink(missing_ok=True)
                raise

    def rows(self, query: str, *values: object) -> list[Any]:
        """Run a query. An error of SQLite becomes one of ours."""
        try:
            with self.lock:
                for _ in range(MOST_READS):
                    file = self._connection.get()
                    if file.read_state is None:
                        return file.execute(query, values).fetchall()
                    found = read_unless_changed(file, self._path, query, values)
                    if found is not None:
                        return found
                    self._connection.drop()
            code = sqlite3.SQLITE_BUSY
        except _REFUSED as problem:
            code = _code(problem)
        raise _refusal(self.place, code)

    def extend(self, table: str, following: Callable[[], Sequence[Any]]) -> None:
        """Take the write lock, add the row, commit to disk or roll back. Triggers refuse any other row."""
        code = None
        with self.lock:
            file = self._file()
            try:
                file.execute("BEGIN IMMEDIATE")
                self._refuse_replaced(file)
                file.execute(_INSERT[table, self.layout], following())
                file.execute("COMMIT")
            except _REFUSED as problem:
                code = _code(problem)
                self._give_up(file)
            except BaseException:
                self._give_up(file)
                raise
        if code is not None:
            raise _refusal(self.place, code)

    def _file(self) -> SqliteFile:
        try:
            return self._connection.get()
        except sqlite3.Error as problem:
            code = _code(problem)
        raise _refusal(self.place, code)

    def _give_up(self, file: SqliteFile) -> None:
        try:
            if file.in_transaction:
                file.execute("ROLLBACK")
        except sqlite3.Error:
            self._connection.drop()

    def _refuse_replaced(self, file: SqliteFile) -> None:
        """Refuse to write into a file, or a log, that lost its name: no other process would see the row."""
        log = file_identity(self._log)
        if file_identity(self.place) != file.identity or file.log not in (None, log):
            raise LedgerDamaged(
                f"the files of the ledger {self.place!r} were replaced while it was open. Open it again."
            )
        file.log = log

    def check(self) -> None:
        """Compare declarations and settings with ours, and let SQLite compare indexes with tables."""
        found = self.rows("SELECT sql FROM sqlite_master ORDER BY sql")
        names = self.rows(
            "SELECT type || ' ' || name FROM sqlite_master WHERE sql NOT LIKE 'CREATE%' || name || '%'"
        )
        whole = self.rows("PRAGMA integrity_check(1)")
        mode, application = self.rows("PRAGMA journal_mode"), self.rows("PRAGMA application_id")
        # To a read-only connection SQLite reports "delete" while there is no log.
        read_only = (
            mode == [("delete",)] and self._file().read_state is not None and is_in_wal_mode(self._path)
        )
        schemas = ((each, [(sql,) for sql in sorted(schema)]) for each, schema in SQLITE_SCHEMAS.items())
        layout = next((each for each, schema in schemas if found == schema), None)
        in_order = (names, whole, application) == ([], [("ok",)], [(APPLICATION_ID,)])
        if layout is None or not in_order or not (read_only or mode == [("wal",)]):
            half_made = "" if found or self.anchor().exists() else HALF_MADE
            raise LedgerDamaged(
                f"{self.place!r} is no ledger, or a damaged one; it accepts no charge.{half_made}"
            )
        self.layout = layout

    def close(self) -> None:
        """Close the file. The last process that closes it moves the log into it."""
        self._connection.drop()


def _code(problem: Exception) -> int:
    unsaid = (
        sqlite3.SQLITE_MISUSE if isinstance(problem, sqlite3.ProgrammingError) else sqlite3.SQLITE_CORRUPT
    )
    return getattr(problem, "sqlite_errorcode", unsaid)


def _refusal(place: str, code: int) -> LedgerUnavailable | LedgerDamaged:
    """Tell a temporary failure from damage."""
    if code & 0xFF in _TEMPORARY and code not in _TRUNCATED:
        return LedgerUnavailable(
            f"the ledger {place!r} could not be used: {_TEMPORARY[code & 0xFF]}. "
            "Release nothing; mend it and try again."
        )
    return LedgerDamaged(f"{place!r} is no ledger, or a damaged one; it accepts no charge.")
