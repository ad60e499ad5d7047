"""The records of a ledger: what is written, in which order, and how each record vouches for those before it.

A digest is the SHA-256 of a record together with the digest of the record before it. Entries form one chain,
answers another. Both begin at the header, so a chain vouches for the budget too.

**The law of the stored format.** A ledger outlives the code that wrote it. In format 2 these never change:

- The columns of each table, their order and their types (``COLUMNS_OF`` in database.py).
- The hashed text: a JSON list in ASCII, without spaces, of "dpselect header", "dpselect entry" or "dpselect
  answer", the digest of the record before ("" for the header), for an answer the digest of its entry, and all
  columns but the digest.
- The forms of fields: the kind of loss by its class name (PureDP, ZCDP), numbers as "3" or "1/3" in lowest
  terms, times as 2026-05-01T12:00Z, neighbours as add_remove or change_one, a missing text as NULL.
- The declarations of tables, indexes and triggers, letter by letter (sqlite.py, postgres.py), and the number
  that marks a SQLite file; the record of an anchor (anchor.py).

A change of any of these is a new ``VERSION``. Code with a new version reads the old one, or refuses it in a
sentence that says what to do. Limits may be widened, never narrowed below what was once accepted.
tests/ledger/test_stored_format.py holds ledgers of the first code of format 2 against this law.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from dpselect.errors import LedgerDamaged
from dpselect.ledger.budget import CURRENCIES, Currency, finite_amount, total_after
from dpselect.ledger.fields import rational_from_text, time_from_text, time_text
from dpselect.privacy.neighbours import Neighbours, metric_of

VERSION = 2
"""The number of the format that this module writes. It reads no other."""

Row: TypeAlias = Sequence[Any]
"""The columns of a row as a database gave them: of any type, if the database is damaged."""

_as_json = json.JSONEncoder(separators=(",", ":")).encode


class Position(NamedTuple):
    """A position in a chain: the number of records up to it, and the digest of the last of them."""

    number: int
    digest: str


@dataclass(frozen=True)
class Header:
    """The facts of a ledger, written once."""

    budget: Currency
    neighbours: Neighbours
    dataset: str | None
    unit: str | None
    anchor: str | None
    created: datetime
    digest: str


class NewEntry(NamedTuple):
    """The content of an entry, before it has a position in the chain."""

    loss: Currency
    total: Currency
    reason: str
    request_id: str | None
    time: datetime


@dataclass(frozen=True)
class Entry:
    """One charge: what it cost, in the currency of the ledger, and the sum with it."""

    number: int
    loss: Currency
    total: Currency
    reason: str
    request_id: str | None
    digest: str
    time: datetime


@dataclass(frozen=True)
class Answer:
    """The stored answer to the request of an entry."""

    number: int
    entry: int
    answer: str
    digest: str


def record_digest(kind: str, before: str, columns: Row) -> str:
    """Hash a record together with the digest before it."""
    text = _as_json([f"dpselect {kind}", before, *columns])
    return hashlib.sha256(text.encode("ascii")).hexdigest()


# ---- writing ---------------------------------------------------------------------------------------------


def new_header(  # noqa: PLR0913 - each is a fact of the new ledger
    budget: Currency,
    *,
    neighbours: Neighbours,
    dataset: str | None,
    unit: str | None,
    anchor: str | None,
    created: datetime,
) -> Header:
    """Make the header of a new ledger."""
    header = Header(budget, neighbours, dataset, unit, anchor, created, "")
    return replace(header, digest=record_digest("header", "", header_row(header)[:-1]))


def header_row(header: Header) -> tuple[Any, ...]:
    """Give the columns of a header, the digest last."""
    kind, budget = type(header.budget).__name__, str(finite_amount(header.budget))
    names, created = (header.dataset, header.unit, header.anchor), time_text(header.created)
    return (VERSION, kind, budget, header.neighbours, *names, created, header.digest)


def entry_row(before: Position, new: NewEntry) -> tuple[Any, ...]:
    """Give the columns of the entry that follows a position, the digest last."""
    loss, total, time = str(finite_amount(new.loss)), str(finite_amount(new.total)), time_text(new.time)
    columns = (before.number + 1, loss, total, new.reason, new.request_id, time)
    return (*columns, record_digest("entry", before.digest, columns))


def answer_row(before: Position, entry: Entry, answer: str) -> tuple[Any, ...]:
    """Give the columns of the answer that follows a position, the digest last."""
    columns = (before.number + 1, entry.number, answer)
    return (*columns, answer_digest(columns, before.digest, entry.digest))


# ---- reading ---------------------------------------------------------------------------------------------


def refuse_other_version(rows: Sequence[Row]) -> None:
    """Refuse a ledger of another format before anything else is compared, and say what to do."""
    version = rows[0][0] if len(rows) == 1 else None
    if isinstance(version, int) and version > VERSION:
        raise LedgerDamaged("the ledger was written by a newer dpselect. Install that one to open it.")
    if version == 1:
        raise LedgerDamaged(
            "the ledger is of format 1, which does not say between which neighbours its losses are; this "
            f"dpselect reads format {VERSION}. See with the dpselect that wrote it what is left and what the "
            "neighbours of its charges were; make a new ledger of that. If they differ, nothing is left."
        )


def read_header(rows: Sequence[Row]) -> Header:
    """Read the header; refuse a damaged one, none, and a second one."""
    try:
        ((version, kind, budget, neighbours, dataset, unit, anchor, created, written),) = rows
        metric_of(neighbours)
        total, made = CURRENCIES[kind](rational_from_text(budget)), time_from_text(created)
        header = Header(total, neighbours, dataset, unit, anchor, made, written)
        good = version == VERSION and written == record_digest("header", "", rows[0][:-1])
    except (ValueError, TypeError, KeyError):
        good = False
    if not good:
        raise LedgerDamaged("the header of the ledger is damaged; it accepts no charge.", entry=0)
    return header


def read_entry(row: Row, before: str, currency: type[Currency]) -> Entry:
    """Read the entry after a digest; refuse it if it is not what was written there."""
    number, written = row[0], row[-1]
    try:
        if written == record_digest("entry", before, row[:-1]):
            loss, total = (currency(rational_from_text(text)) for text in row[1:3])
            return Entry(number, loss, total, row[3], row[4], written, time_from_text(row[5]))
    except (ValueError, TypeError):
        pass
    raise entry_damaged(number)


def read_answer(row: Row, before: str, entry_digest: str) -> Answer:
    """Read the answer after a digest; refuse it if it is not what was written there."""
    try:
        if row[-1] == answer_digest(row[:-1], before, entry_digest):
            return Answer(*row)
    except TypeError:
        pass
    raise LedgerDamaged("a stored answer is damaged; the ledger accepts no charge.", entry=_number(row[1]))


def answer_digest(columns: Row, before: str, entry_digest: str) -> str:
    """Hash an answer together with the answer before it and its entry."""
    return record_digest("answer", before, [entry_digest, *columns])


def checked_successor(entry: Entry, before: Entry | None, header: Header) -> Entry:
    """Check that an entry with the right digest also continues number, total and time of the one before."""
    number, spent = (before.number, finite_amount(before.total)) if before else (0, Fraction(0))
    time = before.time if before else header.created
    total = total_after(spent, finite_amount(entry.loss), finite_amount(header.budget))
    if not (entry.number == number + 1 and finite_amount(entry.total) == total and time <= entry.time):
        raise entry_damaged(number + 1)
    return entry


def entry_damaged(number: object) -> LedgerDamaged:
    """Say which entry is the first bad one."""
    known = _number(number)
    return LedgerDamaged(
        f"entry {'of the ledger' if known is None else known} is damaged; the ledger accepts no charge. "
        "Keep the files and put back the newest whole copy.",
        entry=known,
    )


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and 0 <= value < 2**63 else None
