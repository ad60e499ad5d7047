"""The records of a ledger: what is written, in which order, and how each record vouches for those before it.

A digest is the SHA-256 of a record together with the digest of the record before it. Entries form one chain,
answers another. Both begin at the header, so a chain vouches for the budget too.

**The law of the stored format.** A ledger outlives the code that wrote it. In format 2 these never change:

- The columns of each table, their order and their types (``COLUMNS_OF`` in database.py).
- The hashed text: a JSON list in ASCII, without spaces, of "dpselect header", "dpselect entry" or "dpselect
  answer", the digest of the record before ("" for the header), for an answer the digest of its entry, and all
  columns but the digest. An entry whose account, act and amount are all NULL is hashed without these three:
  it is a charge of the curator, and is hashed as it was before there were accounts.
- The forms of fields: the kind of loss by its class name (PureDP, ZCDP, ApproxDP, ApproxZCDP), numbers as "3"
  or "1/3" in lowest terms, two numbers of one loss with a space between, the delta last; times as
  2026-05-01T12:00Z, neighbours as add_remove or change_one, a missing text as NULL; an act as open, reserve,
  share, close or budget, a charge as NULL.
- What an act means (``Balance.apply`` in balance.py): a ledger that verified once verifies for ever.
- The declarations of tables, indexes and triggers, letter by letter (sqlite_schema.py, postgres.py), and the
  number that marks a SQLite file; the record of an anchor (anchor.py); the lines of an export (export.py).

A change of any of these is a new ``VERSION``. Code with a new version reads the old one, or refuses it in a
sentence that says what to do. Limits may be widened, never narrowed below what was once accepted. The first
ledgers of format 2 lack the columns of accounts; they are read and charged as they are (``PLAIN``).
tests/ledger/test_stored_format.py holds ledgers of the first code of format 2 against this law.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

from dpselect.errors import DpselectError, LedgerDamaged
from dpselect.ledger.balance import ACTS, Act, Balance, NewEntry
from dpselect.ledger.budget import CURRENCIES, Currency, Parts, loss_of
from dpselect.ledger.damage import entry_damaged, entry_number
from dpselect.ledger.fields import parts_from_text, parts_text, time_from_text, time_text
from dpselect.privacy.neighbours import Neighbours, metric_of

VERSION = 2
"""The number of the format that this module writes. It reads no other."""

Row: TypeAlias = Sequence[Any]
"""The columns of a row as a database gave them: of any type, if the database is damaged."""

_as_json = json.JSONEncoder(separators=(",", ":")).encode
_NO_ACCOUNT = (None, None, None)
"""Account, act and amount of a charge of the curator."""


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


@dataclass(frozen=True)
class Entry:
    """One act: mostly a charge, what it cost in the currency of the ledger, and the sum with it.

    ``account`` is None where the curator acted. ``act`` is "charge", or says what became of an account or of
    the budget; then ``loss`` is zero, and ``amount`` is the new share or budget.
    """

    number: int
    loss: Currency
    total: Currency
    reason: str
    request_id: str | None
    digest: str
    time: datetime
    account: str | None = None
    act: Act = "charge"
    amount: Currency | None = None


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
    kind, budget = type(header.budget).__name__, parts_text(header.budget.parts())
    names, created = (header.dataset, header.unit, header.anchor), time_text(header.created)
    return (VERSION, kind, budget, header.neighbours, *names, created, header.digest)


def entry_row(before: Position, new: NewEntry, total: Parts) -> tuple[Any, ...]:
    """Give the columns of the entry that follows a position, the digest last."""
    texts = parts_text(new.loss), parts_text(total), new.reason, new.request_id, time_text(new.time)
    act = None if new.act == "charge" else new.act
    amount = None if new.amount is None else parts_text(new.amount)
    columns = (before.number + 1, *texts, new.account, act, amount)
    return (*columns, entry_digest(before.digest, columns))


def entry_written(row: Row, new: NewEntry, balance: Balance) -> Entry:
    """Give the entry that a row holds, of what the row was made of: nothing need be read again."""
    loss, total = loss_of(balance.kind, new.loss), loss_of(balance.kind, balance.spent)
    amount = None if new.amount is None else loss_of(balance.kind, new.amount)
    texts = new.reason, new.request_id, row[-1]
    return Entry(row[0], loss, total, *texts, new.time, new.account, new.act, amount)


def start_row(header: Header) -> tuple[Any, ...]:
    """Give the row of number 0 that stands for the header, before the first entry."""
    texts = ("", "", "", None, time_text(header.created), None, None, None)
    return (0, *texts, header.digest)


def entry_digest(before: str, columns: Row) -> str:
    """Hash the columns of an entry together with the digest before it."""
    hashed = columns[:-3] if tuple(columns[-3:]) == _NO_ACCOUNT else columns
    return record_digest("entry", before, hashed)


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
            f"dpselect reads format {VERSION}. Copy it into a new ledger: dpselect ledger upgrade OLD NEW."
        )


def read_header(rows: Sequence[Row]) -> Header:
    """Read the header; refuse a damaged one, none, and a second one."""
    try:
        ((version, kind, budget, neighbours, dataset, unit, anchor, created, written),) = rows
        metric_of(neighbours)
        total = _loss(CURRENCIES[kind], budget)
        header = Header(total, neighbours, dataset, unit, anchor, time_from_text(created), written)
        good = version == VERSION and written == record_digest("header", "", rows[0][:-1])
    except (ValueError, TypeError, KeyError, AttributeError):
        good = False
    if not good:
        raise LedgerDamaged("the header of the ledger is damaged; it accepts no charge.", entry=0)
    return header


def read_entry(row: Row, before: str, currency: type[Currency]) -> Entry:
    """Read the entry after a digest; refuse it if it is not what was written there."""
    try:
        if row[-1] == entry_digest(before, row[:-1]):
            return entry_of(row, currency)
    except (ValueError, TypeError, AttributeError):
        pass
    raise entry_damaged(row[0])


def entry_of(row: Row, currency: type[Currency]) -> Entry:
    """Give a row whose digest was checked as an entry."""
    number, loss, total, reason, request_id, time, account, act, amount, digest = row
    return Entry(
        number,
        _loss(currency, loss),
        _loss(currency, total),
        reason,
        request_id,
        digest,
        time_from_text(time),
        account,
        act or "charge",
        None if amount is None else _loss(currency, amount),
    )


def apply_row(row: Row, before: Row, balance: Balance) -> None:
    """Change a balance by the row that follows another; refuse it if it is not what was written there.

    Of the row before, number, time and digest count: of the first entry they are those of the header.
    """
    try:
        number, loss, total, reason, request_id, time, account, act, amount, digest = row
        last, when, chained = before[0], before[5], before[-1]
        if (
            type(number) is int
            and number == last + 1
            and digest == entry_digest(chained, row[:-1])
            and time_from_text(when) <= time_from_text(time)
            and _is_whole(act, account, amount, loss, request_id)
        ):
            size = len(balance.budget)
            given = None if amount is None else parts_from_text(amount, size)
            price, then = parts_from_text(loss, size), time_from_text(time)
            balance.apply(NewEntry(price, reason, request_id, then, account, act or "charge", given))
            if parts_text(balance.spent) == total:
                return
    except (ValueError, TypeError, AttributeError, IndexError, DpselectError):
        pass
    raise entry_damaged(before[0] + 1 if isinstance(before[0], int) else None)


def _is_whole(act: object, account: object, amount: object, loss: object, request_id: object) -> bool:
    """Say whether an act names what it must, and nothing else."""
    if act is None:
        return amount is None
    spends_nothing = isinstance(loss, str) and not loss.strip("0 ") and request_id is None
    names_amount = (amount is None) == (act == "close")
    return spends_nothing and names_amount and act in ACTS[1:] and (account is None) == (act == "budget")


def _loss(currency: type[Currency], text: str) -> Currency:
    return loss_of(currency, parts_from_text(text, len(currency.fact_names())))


def read_answer(row: Row, before: str, entry_digest: str) -> Answer:
    """Read the answer after a digest; refuse it if it is not what was written there."""
    try:
        if row[-1] == answer_digest(row[:-1], before, entry_digest):
            return Answer(*row)
    except TypeError:
        pass
    raise LedgerDamaged(
        "a stored answer is damaged; the ledger accepts no charge.", entry=entry_number(row[1])
    )


def answer_digest(columns: Row, before: str, entry_digest: str) -> str:
    """Hash an answer together with the answer before it and its entry."""
    return record_digest("answer", before, [entry_digest, *columns])
