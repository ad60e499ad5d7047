"""Hash chains: what was written, in which order, with running sums.

Every digest is the SHA-256 of a JSON list: what kind of record, the digest before it, and the columns of the
row. The first record of either chain stands on the header, so a chain vouches for the budget too.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from dpselect.errors import LedgerDamaged
from dpselect.ledger import clock
from dpselect.ledger.budget import CURRENCIES, LONGEST_TOTAL, Currency, finite, total_after
from dpselect.privacy.neighbours import Neighbours, metric_of

VERSION = 2
"""The version of the format that this module writes; it reads no other."""

Row: TypeAlias = Sequence[Any]
"""The columns of a row, as a database gave them: of any type, if it is damaged."""

_RATIONAL = re.compile(rf"(?a:(\d{{1,{LONGEST_TOTAL}}})(?:/(\d{{1,{LONGEST_TOTAL}}}))?)")


_as_json = json.JSONEncoder(separators=(",", ":")).encode


class Mark(NamedTuple):
    """A place in a chain: so many records, the last with this digest."""

    number: int
    digest: str


@dataclass(frozen=True)
class Header:
    """What a ledger is: written once."""

    budget: Currency
    neighbours: Neighbours
    dataset: str | None
    unit: str | None
    anchor: str | None
    created: datetime
    digest: str


class Charge(NamedTuple):
    """What an entry is to say, before it has a place in the chain."""

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


def digest(kind: str, before: str, columns: Row) -> str:
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
    return replace(header, digest=digest("header", "", header_row(header)[:-1]))


def header_row(header: Header) -> tuple[Any, ...]:
    """Give the columns of a header, the digest last."""
    kind, budget = type(header.budget).__name__, str(finite(header.budget))
    names, created = (header.dataset, header.unit, header.anchor), clock.written(header.created)
    return (VERSION, kind, budget, header.neighbours, *names, created, header.digest)


def entry_row(before: Mark, charge: Charge) -> tuple[Any, ...]:
    """Give the columns of the entry that follows a place, the digest last."""
    loss, total, time = str(finite(charge.loss)), str(finite(charge.total)), clock.written(charge.time)
    columns = (before.number + 1, loss, total, charge.reason, charge.request_id, time)
    return (*columns, digest("entry", before.digest, columns))


def answer_row(before: Mark, entry: Entry, answer: str) -> tuple[Any, ...]:
    """Give the columns of the answer that follows a place, the digest last."""
    columns = (before.number + 1, entry.number, answer)
    return (*columns, answer_digest(columns, before.digest, entry.digest))


# ---- reading ---------------------------------------------------------------------------------------------


def refuse_other_version(rows: Sequence[Row]) -> None:
    """Refuse a ledger of another format, before anything is compared with this one; say what to do."""
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
    """Read the one header; refuse every other."""
    try:
        ((version, kind, budget, neighbours, dataset, unit, anchor, created, written),) = rows
        metric_of(neighbours)
        header = Header(_loss(budget, kind), neighbours, dataset, unit, anchor, clock.read(created), written)
        good = version == VERSION and written == digest("header", "", rows[0][:-1])
    except (ValueError, TypeError, KeyError):
        good = False
    if not good:
        raise LedgerDamaged("the header of the ledger is damaged; it accepts no charge.", entry=0)
    return header


def read_entry(row: Row, before: str, currency: type[Currency]) -> Entry:
    """Read an entry that follows a digest; refuse it if it is not what was written there."""
    number, written = row[0], row[-1]
    try:
        if written == digest("entry", before, row[:-1]):
            loss, total = _loss(row[1], currency.__name__), _loss(row[2], currency.__name__)
            return Entry(number, loss, total, row[3], row[4], written, clock.read(row[5]))
    except (ValueError, TypeError):
        pass
    raise damaged(number)


def read_answer(row: Row, before: str, entry_digest: str) -> Answer:
    """Read an answer that follows a digest; refuse it if it is not what was written there."""
    try:
        if row[-1] == answer_digest(row[:-1], before, entry_digest):
            return Answer(*row)
    except TypeError:
        pass
    raise LedgerDamaged("a stored answer is damaged; the ledger accepts no charge.", entry=_number(row[1]))


def answer_digest(columns: Row, before: str, entry_digest: str) -> str:
    """Hash an answer together with the answer before it and the entry that it belongs to."""
    return digest("answer", before, [entry_digest, *columns])


def following(entry: Entry, before: Entry | None, header: Header) -> Entry:
    """Check that an entry, whose digest is right, also counts on from the one before."""
    number, spent = (before.number, finite(before.total)) if before else (0, Fraction(0))
    time = before.time if before else header.created
    total = total_after(spent, finite(entry.loss), finite(header.budget))
    if not (entry.number == number + 1 and finite(entry.total) == total and time <= entry.time):
        raise damaged(number + 1)
    return entry


def damaged(number: object) -> LedgerDamaged:
    """Name the first bad entry."""
    known = _number(number)
    return LedgerDamaged(
        f"entry {'of the ledger' if known is None else known} is damaged; the ledger accepts no charge. "
        "Keep the files and put back the newest whole copy.",
        entry=known,
    )


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and 0 <= value < 2**63 else None


def _loss(text: str, kind: str) -> Currency:
    found = _RATIONAL.fullmatch(text)
    if not found or not int(found[2] or 1):
        raise ValueError
    return CURRENCIES[kind](Fraction(int(found[1]), int(found[2] or 1)))
