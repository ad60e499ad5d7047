"""The tables of a ledger and the questions that it asks them: the same in every database."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dpselect.ledger.database import Session

HEADER = "dpselect_header"
ENTRIES = "dpselect_entries"
ANSWERS = "dpselect_answers"
CHAINS = (ENTRIES, ANSWERS)
PAGE = 1000

COLUMNS = {
    HEADER: ["version", "measure", "budget", "neighbours", "dataset", "unit", "anchor", "created", "digest"],
    ENTRIES: ["number", "loss", "total", "reason", "request_id", "time", "digest"],
    ANSWERS: ["number", "entry", "answer", "digest"],
}


def _select(table: str, then: str) -> str:
    return f"SELECT {', '.join(COLUMNS[table])} FROM {table} {then}"  # noqa: S608 - names of this module only


_VERSIONS = f"SELECT version FROM {HEADER}"  # noqa: S608 - as above
_ALL_HEADERS = _select(HEADER, "")
_PAGE_OF_ENTRIES = _select(ENTRIES, f"WHERE number > ? ORDER BY number LIMIT {PAGE}")
_PAGE_OF_ANSWERS = f"""SELECT a.number, a.entry, a.answer, a.digest, e.digest
FROM {ANSWERS} a LEFT JOIN {ENTRIES} e ON e.number = a.entry
WHERE a.number > ? ORDER BY a.number LIMIT {PAGE}"""  # noqa: S608 - as above
LAST_TWO = {table: _select(table, "ORDER BY number DESC LIMIT 2") for table in CHAINS}
_TWO = {table: _select(table, "WHERE number IN (?, ?) ORDER BY number DESC") for table in CHAINS}
_NUMBER_OF_REQUEST = f"SELECT number FROM {ENTRIES} WHERE request_id = ?"  # noqa: S608 - as above
_NUMBER_OF_ANSWER = f"SELECT number FROM {ANSWERS} WHERE entry = ?"  # noqa: S608 - as above


def versions(session: Session) -> list[Any]:
    """Read what the headers say of their format: the one column that every format has."""
    return session.rows(_VERSIONS)


def header_rows(session: Session) -> list[Any]:
    """Read the header; there should be one."""
    return session.rows(_ALL_HEADERS)


def all_entries(session: Session) -> Iterator[Any]:
    """Read the entries from the first, a page at a time."""
    return _pages(session, _PAGE_OF_ENTRIES)


def all_answers(session: Session) -> Iterator[Any]:
    """Read the answers from the first, each with the digest of its entry."""
    return _pages(session, _PAGE_OF_ANSWERS)


def _pages(session: Session, query: str) -> Iterator[Any]:
    number = 0
    while page := session.rows(query, number):
        yield from page
        number = page[-1][0]


def last_two(session: Session, table: str) -> list[Any]:
    """Read the last row of a table and the one before it, in this order."""
    return session.rows(LAST_TWO[table])


def with_the_one_before(session: Session, table: str, number: int) -> list[Any]:
    """Read a row of a table and the one before it, in this order."""
    return session.rows(_TWO[table], number - 1, number)


def number_of_request(session: Session, request_id: str) -> int | None:
    """Find the entry of a request."""
    return next((row[0] for row in session.rows(_NUMBER_OF_REQUEST, request_id)), None)


def number_of_answer(session: Session, entry: int) -> int | None:
    """Find the answer of an entry."""
    return next((row[0] for row in session.rows(_NUMBER_OF_ANSWER, entry)), None)
