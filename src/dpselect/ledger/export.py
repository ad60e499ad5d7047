"""An export of a ledger: every record with its digest, in lines of JSON that prove themselves.

The form, to the byte, is in docs/reference/ledger-export.md, with a checker of 30 lines. It is part of the
stored format (entries.py). ``verify_export`` needs nothing but the lines, and an anchor if there is one.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from dpselect.errors import LedgerDamaged
from dpselect.ledger.anchor import AnchorState, anchor_exists, read_anchor
from dpselect.ledger.balance import Balance
from dpselect.ledger.budget import Currency, loss_of
from dpselect.ledger.database import ANSWERS, COLUMNS_OF, ENTRIES, HEADER
from dpselect.ledger.entries import (
    Header,
    Position,
    Row,
    answer_digest,
    apply_row,
    header_row,
    read_header,
    start_row,
)

_Record = TypeVar("_Record")
RECORDS = {HEADER: "header", ENTRIES: "entry", ANSWERS: "answer"}
_END = ("entries", "head", "answers", "answers_head", "sha256")
_DAMAGED = "the export is not what was written: "
_NUMBERS = frozenset({"version", "number", "entry", "entries", "answers"})
_DIGESTS = frozenset({"digest", "sha256", "head", "answers_head"})
_NULLABLE = frozenset({"dataset", "unit", "anchor", "request_id", "account", "act", "amount", "answer"})
_DIGEST = re.compile("(?a:[0-9a-f]{64})")


class VerifiedExport(NamedTuple):
    """What an export that holds says of its ledger."""

    header: Header
    budget: Currency
    spent: Currency
    entries: int
    answers: int
    anchored: bool
    """Whether an anchor vouched for it."""


# ---- writing ---------------------------------------------------------------------------------------------


def export_lines(
    header: Header, entries: Iterable[Row], answers: Iterable[Row], *, with_answers: bool
) -> Iterator[str]:
    """Write the verified records of a ledger, a line for each, and at the end what was written."""
    digest = hashlib.sha256()
    end = answers_end = Position(0, header.digest)

    def line(record: str, columns: Iterable[str], values: Iterable[object]) -> str:
        text = _text({"record": record, **dict(zip(columns, values, strict=True))})
        digest.update(text.encode("ascii"))
        return text

    yield line("header", COLUMNS_OF[HEADER], header_row(header))
    for row in entries:
        end = Position(row[0], row[-1])
        yield line("entry", COLUMNS_OF[ENTRIES], row)
    for number, entry, answer, own in answers:
        if entry > end.number:  # charged after the entries were read
            break
        answers_end = Position(number, own)
        shown = answer if with_answers else None
        hashed = hashlib.sha256(answer.encode()).hexdigest()
        yield line("answer", (*COLUMNS_OF[ANSWERS], "sha256"), (number, entry, shown, own, hashed))
    yield line("end", _END, (*end, *answers_end, digest.hexdigest()))


# ---- reading ---------------------------------------------------------------------------------------------


def is_export(path: str) -> bool:
    """Say whether a file looks like an export, not like a ledger."""
    try:
        with Path(path).open("rb") as file:
            return file.read(1) == b"{"
    except OSError:
        return False


def verify_export(path: str | Path, anchor: str | Path | None = None) -> VerifiedExport:
    """Check every line of an export: digests, sums, accounts, and that nothing is missing at its end.

    Without an anchor it cannot be shown that the whole was not written anew.
    """
    known = None if anchor is None else read_anchor(_there(Path(anchor)))
    try:
        with Path(path).open("rb") as file:
            return _Reader(known).read(file)
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError):
        pass
    raise _damaged("a line cannot be read")


def _there(anchor: Path) -> Path:
    if anchor_exists(anchor):
        return anchor
    way_out = "Name its file, or check the export without one."
    raise LedgerDamaged(f"the anchor {str(anchor)!r} is not there. {way_out}")


class _Reader:
    """Goes through the lines of an export once."""

    def __init__(self, known: AnchorState | None) -> None:
        self._known, self._digest = known, hashlib.sha256()
        self._digests: list[str] = []
        self._requests: set[tuple[object, object]] = set()
        self._requested: set[int] = set()
        self._answered: set[int] = set()
        self._answer_digests: list[str] = []

    def read(self, lines: Iterable[bytes]) -> VerifiedExport:
        """Read all lines, and refuse the first that does not fit."""
        header: Header | None = None
        ended = False
        for text in lines:
            facts = json.loads(text)
            if _text(facts).encode("ascii") != text:  # another reader might take it for something else
                raise _damaged("a line is not written as the format says")
            if not all(itertools.starmap(_is_of_its_kind, facts.items())):
                raise _damaged("a value is of another kind than the format says")
            record, values = facts["record"], list(facts.values())[1:]
            if ended or next(iter(facts)) != "record" or (header is None) != (record == "header"):
                raise _damaged("its lines are in another order")
            if header is None:
                header = self._begin(facts, values)
            elif record == "entry" and list(facts)[1:] == COLUMNS_OF[ENTRIES] and not self._answered:
                self._entry(values)
            elif record == "answer" and list(facts)[1:] == [*COLUMNS_OF[ANSWERS], "sha256"]:
                self._answer(values)
            elif record == "end" and tuple(facts)[1:] == _END:
                self._end(values)
                ended = True
            else:
                raise _damaged("a line is of no known kind")
            self._digest.update(text)
        if header is None or not ended:
            raise _damaged("its last line is missing, so it was shortened")
        self._must_hold(header)
        losses = (loss_of(self._balance.kind, each) for each in (self._balance.budget, self._balance.spent))
        budget, spent = losses
        count, answers = len(self._digests), len(self._answered)
        return VerifiedExport(header, budget, spent, count, answers, self._known is not None)

    def _begin(self, facts: dict[str, Any], values: list[Any]) -> Header:
        if list(facts)[1:] != COLUMNS_OF[HEADER]:
            raise _damaged("its header is of another format")
        header = _fitting(lambda: read_header([values]), "its header is damaged", 0)
        self._balance = Balance.of(header.budget)
        self._before: Row = start_row(header)
        self._answers_head = header.digest
        return header

    def _entry(self, row: list[Any]) -> None:
        number = len(self._digests) + 1
        what = f"entry {number} is damaged, or one before it is missing"
        _fitting(lambda: apply_row(row, self._before, self._balance), what, number)
        request = (row[6], row[4])
        if row[4] is not None:
            if request in self._requests:
                raise _damaged("a request is charged twice", entry=row[0])
            self._requests.add(request)
            self._requested.add(row[0])
        self._digests.append(row[-1])
        self._before = row

    def _answer(self, values: list[Any]) -> None:
        number, entry, answer, own, hashed = values
        good = type(number) is type(entry) is int and number == len(self._answered) + 1
        if not (good and entry in self._requested and entry not in self._answered):
            raise _damaged("an answer has no request of its own", entry=entry)
        if answer is not None:
            columns = (number, entry, answer)
            good = own == answer_digest(columns, self._answers_head, self._digests[entry - 1])
            if not good or hashed != hashlib.sha256(answer.encode()).hexdigest():
                raise _damaged("an answer was changed", entry=entry)
        self._answered.add(entry)
        self._answers_head = own
        self._answer_digests.append(own)

    def _end(self, values: list[Any]) -> None:
        found = [self._before[0], self._before[-1], len(self._answered), self._answers_head]
        if values != [*found, self._digest.hexdigest()]:
            raise _damaged("its last line does not fit the lines before it")

    def _must_hold(self, header: Header) -> None:
        """Compare with the anchor, which may know less than the export, but nothing else."""
        if self._known is None:
            return
        if self._known.header != header.digest:
            raise _damaged("its header is not the one that the anchor knows", entry=0)
        number, digest = self._known.entries
        if number > len(self._digests):
            raise _damaged(f"entry {len(self._digests) + 1} is missing, which the anchor knows")
        if number and self._digests[number - 1] != digest:
            raise _damaged(f"entry {number} is not the one that the anchor knows", entry=number)
        number, digest = self._known.answers
        if number and self._answer_digests[number - 1 : number] != [digest]:
            raise _damaged(f"answer {number} is missing or changed, which the anchor knows")


def _is_of_its_kind(key: str, value: object) -> bool:
    """Say whether a value may stand under a key: a whole number, a digest, a text, null where none may be."""
    if key in _NUMBERS:
        return type(value) is int
    if key in _DIGESTS:
        return isinstance(value, str) and _DIGEST.fullmatch(value) is not None
    return isinstance(value, str) or (value is None and key in _NULLABLE)


def _fitting(read: Callable[[], _Record], what: str, entry: int) -> _Record:
    """Read a record as a ledger does, whose own sentence would speak of files."""
    try:
        return read()
    except LedgerDamaged:
        pass
    raise _damaged(what, entry=entry)


def _text(facts: dict[str, Any]) -> str:
    return json.dumps(facts, separators=(",", ":")) + "\n"


def _damaged(what: str, *, entry: int | None = None) -> LedgerDamaged:
    return LedgerDamaged(f"{_DAMAGED}{what}. Ask for a new export.", entry=entry)
