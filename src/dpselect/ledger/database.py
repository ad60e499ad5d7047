"""The tables of a ledger, the queries that it asks them, and what a database must be able to do.

The queries are the same in every database. Each database has its own module: sqlite.py, postgres.py.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

HEADER = "dpselect_header"
ENTRIES = "dpselect_entries"
ANSWERS = "dpselect_answers"
CHAINS = (ENTRIES, ANSWERS)

WRITER_TIMEOUT_SECONDS = 30
"""How long a writer waits for other writers."""
ROWS_OF_PAGE = 1000
"""The number of rows that one query reads when all are read."""

COLUMNS_OF = {
    HEADER: ["version", "measure", "budget", "neighbours", "dataset", "unit", "anchor", "created", "digest"],
    ENTRIES: [
        *("number", "loss", "total", "reason", "request_id", "time"),
        *("account", "act", "amount", "digest"),
    ],
    ANSWERS: ["number", "entry", "answer", "digest"],
}
"""The columns of each table, in the order in which they are stored and hashed."""


class Layout(NamedTuple):
    """Which columns the tables of a ledger lack: those of code that knew less."""

    without: frozenset[str]

    def columns(self, table: str) -> list[str]:
        """Give the columns that a table has."""
        return [column for column in COLUMNS_OF[table] if column not in self.without]

    def select(self, table: str, then: str) -> str:
        """Write a query for all columns of a table; those that are not there are read as NULL."""
        return _select(self, table, then)

    @property
    def holds_accounts(self) -> bool:
        """Whether there is a place for accounts and for changes of the budget."""
        return "account" not in self.without


@cache
def _select(layout: Layout, table: str, then: str) -> str:
    found = ["NULL" if column in layout.without else column for column in COLUMNS_OF[table]]
    return f"SELECT {', '.join(found)} FROM {table} {then}"  # noqa: S608 - names of this module only


PRESENT = Layout(frozenset())
"""What is written today."""
PLAIN = Layout(frozenset({"account", "act", "amount"}))
"""The first ledgers of format 2: charges of the curator and nothing else."""
FORMAT_1 = Layout(PLAIN.without | {"neighbours"})
"""Format 1, which is only read to be copied."""
LAYOUTS = (PRESENT, PLAIN, FORMAT_1)

_VERSIONS = "SELECT version FROM dpselect_header"
_NEXT_PAGE = f"WHERE number >= ? ORDER BY number LIMIT {ROWS_OF_PAGE}"
_PAGE_OF_ANSWERS = """SELECT a.number, a.entry, a.answer, a.digest, e.digest
FROM dpselect_answers a LEFT JOIN dpselect_entries e ON e.number = a.entry
WHERE a.number >= ? ORDER BY a.number LIMIT 1000"""
_TWO = "WHERE number IN (?, ?) ORDER BY number DESC"
_LAST_TWO = "ORDER BY number DESC LIMIT 2"
_NUMBER_OF_REQUEST = "SELECT number FROM dpselect_entries WHERE request_id = ?"
_AND_ACCOUNT = " AND coalesce(account, '') = ?"
_NUMBER_OF_ANSWER = "SELECT number FROM dpselect_answers WHERE entry = ?"


class LedgerDatabase(Protocol):
    """A database that holds one ledger. Threads and forks may share it."""

    place: str
    """Where the database is, in a form that may be shown: without a password."""
    shared: bool
    """Whether users of other machines open it too. Then each of them has an anchor of their own."""
    layout: Layout
    """Which columns its tables have; ``check`` finds out."""
    lock: threading.RLock
    """The one thread that writes holds it. No fork happens meanwhile."""

    def writable(self) -> bool:
        """Say whether a charge might be written; False of a copy that can only be read."""

    def exists(self) -> bool:
        """Say whether the database holds a ledger."""

    def create(self, header: Sequence[Any]) -> None:
        """Make the tables and write the header, in one transaction; refuse where there is a ledger."""

    def rows(self, query: str, *values: object) -> list[Any]:
        """Run a query, in which each ? stands for a value, and give all its rows."""

    def extend(self, table: str, following: Callable[[], Sequence[Any]]) -> None:
        """Add a row to a table and commit it durably; all other writers wait.

        ``following`` makes the row. It runs queries, and nothing that it reads changes before the commit. An
        error that it raises rolls back.
        """

    def check(self) -> None:
        """Refuse a database whose tables, triggers or indexes are not those that ``create`` made."""

    def anchor(self) -> Path:
        """Say where the anchor lies if ``create`` was given no other place."""

    def close(self) -> None:
        """Close the connection; the next call opens it again."""


def format_versions(database: LedgerDatabase) -> list[Any]:
    """Read the number of the format: the one column that the headers of all formats have."""
    return database.rows(_VERSIONS)


def header_rows(database: LedgerDatabase) -> list[Any]:
    """Read all headers. A whole ledger has one."""
    return database.rows(database.layout.select(HEADER, ""))


def entries_from(database: LedgerDatabase, number: int) -> Iterator[Any]:
    """Read the entries from a number on."""
    return _pages(database, database.layout.select(ENTRIES, _NEXT_PAGE), number)


def all_answers(database: LedgerDatabase) -> Iterator[Any]:
    """Read the answers from the first on, each with the digest of its entry."""
    return _pages(database, _PAGE_OF_ANSWERS, 1)


def _pages(database: LedgerDatabase, query: str, number: int) -> Iterator[Any]:
    """Read page by page. A page that is not full is the last one."""
    while True:
        page = database.rows(query, number)
        yield from page
        if len(page) < ROWS_OF_PAGE:
            return
        number = page[-1][0] + 1


def last_two_answers(database: LedgerDatabase) -> list[Any]:
    """Read the last answer and the one before it, in this order."""
    return database.rows(database.layout.select(ANSWERS, _LAST_TWO))


def row_and_the_one_before(database: LedgerDatabase, table: str, number: int) -> list[Any]:
    """Read a row of a table and the one before it, in this order."""
    return database.rows(database.layout.select(table, _TWO), number - 1, number)


def number_of_request(database: LedgerDatabase, request_id: str, account: str | None) -> int | None:
    """Find the number of the entry that a request of an account was charged as."""
    if database.layout.holds_accounts:
        found = database.rows(_NUMBER_OF_REQUEST + _AND_ACCOUNT, request_id, account or "")
    else:
        found = [] if account else database.rows(_NUMBER_OF_REQUEST, request_id)
    return next((row[0] for row in found), None)


def number_of_answer(database: LedgerDatabase, entry: int) -> int | None:
    """Find the number of the answer to an entry."""
    return next((row[0] for row in database.rows(_NUMBER_OF_ANSWER, entry)), None)
