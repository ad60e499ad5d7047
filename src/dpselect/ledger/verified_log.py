"""The book: the records of a ledger, none of which is believed before its digest is checked.

A whole walk checks every record. Between walks a look at the end is enough: the last record must fit the one
before it, and the places that are known from elsewhere (the anchor, an earlier look) must still be there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Self

from dpselect.errors import LedgerDamaged
from dpselect.ledger import tables
from dpselect.ledger.anchor import Anchored
from dpselect.ledger.database import Session
from dpselect.ledger.entries import (
    Answer,
    Charge,
    Entry,
    Header,
    Mark,
    answer_row,
    damaged,
    entry_row,
    following,
    read_answer,
    read_entry,
    read_header,
    refuse_other_version,
)
from dpselect.ledger.tables import ANSWERS, ENTRIES


@dataclass(frozen=True)
class Book:
    """The records behind a header."""

    session: Session
    header: Header
    _written: list[tuple[tuple[Any, ...], Entry]] = field(default_factory=list, compare=False, repr=False)
    """The row that was written last, with the digest before it, and the entry that it says: at most one."""

    @classmethod
    def at(cls, session: Session) -> Self:
        """Read the header of a database that is a ledger."""
        refuse_other_version(_versions(session))
        session.check()
        return cls(session, read_header(tables.header_rows(session)))

    @property
    def start(self) -> Mark:
        """The place before the first record of either chain."""
        return Mark(0, self.header.digest)

    # ---- the whole ---------------------------------------------------------------------------------------

    def entries(self) -> Iterator[Entry]:
        """Read all entries, each checked."""
        before, mark = None, self.start
        for row in tables.all_entries(self.session):
            if row[0] != mark.number + 1:
                raise damaged(mark.number + 1)
            before = following(read_entry(row, mark.digest, type(self.header.budget)), before, self.header)
            mark = Mark(before.number, before.digest)
            yield before

    def walked(self, *known: Anchored) -> Anchored:
        """Check every record, and that the known places are among them; give the ends of both chains."""
        if any(one.header != self.header.digest for one in known):
            raise another_ledger()
        entries = self.start
        for entry in self.entries():
            entries = Mark(entry.number, entry.digest)
            if any(one.entries.number == entries.number and one.entries != entries for one in known):
                raise damaged(entries.number)
        if any(one.entries.number > entries.number for one in known):
            raise behind(entries.number + 1)
        answers = self.start
        for *row, entry_digest in tables.all_answers(self.session):
            if row[0] != answers.number + 1:
                raise answers_damaged()
            answer = read_answer(row, answers.digest, entry_digest)
            answers = Mark(answer.number, answer.digest)
            if any(one.answers.number == answers.number and one.answers != answers for one in known):
                raise answers_damaged()
        if any(one.answers.number > answers.number for one in known):
            raise answers_damaged()
        return Anchored(self.header.digest, entries, answers)

    # ---- the end -----------------------------------------------------------------------------------------

    def entry(self, number: int) -> Entry:
        """Read one entry, checked against the one before it."""
        rows = tables.with_the_one_before(self.session, ENTRIES, number)
        found = self._newest(rows)
        if found is None or found.number != number:
            raise damaged(number)
        return found

    def last_entry(self, *known: Mark) -> Entry | None:
        """Read the last entry, checked against the one before it and the known places."""
        return self._last_entry(tables.last_two(self.session, ENTRIES), known)

    def add_entry(self, following: Callable[[Entry | None], Charge], *known: Mark) -> Entry:
        """Write the entry that follows the last one, which is checked as above, durably."""
        written: Entry

        def row_after(rows: list[Any]) -> tuple[Any, ...]:
            nonlocal written
            last = self._last_entry(rows, known)
            before = Mark(last.number, last.digest) if last else self.start
            charge = following(last)
            row = entry_row(before, charge)
            loss, total, reason, request_id, time = charge
            written = Entry(row[0], loss, total, reason, request_id, row[-1], time)
            self._written[:] = [((before.digest, *row), written)]
            return row

        self.session.extend(ENTRIES, row_after)
        return written

    def _last_entry(self, rows: list[Any], known: Iterable[Mark]) -> Entry | None:
        last = self._newest(rows)
        end = last.number if last else 0
        for mark in known:
            if last and mark.digest == last.digest and mark.number == end:
                continue
            if mark.number > end:
                raise behind(end + 1)
            if self._mark(ENTRIES, rows, mark.number) != mark:
                raise damaged(mark.number)
        return last

    def _newest(self, rows: list[Any]) -> Entry | None:
        """Read the first of at most two rows, which follows the second, or the header."""
        if not rows:
            return None
        row = rows[0]
        number, *_, before = rows[1] if len(rows) == 2 else self.start
        if not _is_next(row[0], number):
            raise damaged(number + 1 if isinstance(number, int) else number)
        for known, entry in self._written:
            if known == (before, *row):
                return entry
        return read_entry(row, before, type(self.header.budget))

    def last_answer(self, *known: Mark) -> Mark:
        """Find the end of the answers, checked against the one before it and the known places."""
        return self._last_answer(tables.last_two(self.session, ANSWERS), known)

    def add_answer(self, answer: str, to: Callable[[], Entry], *known: Mark) -> Mark:
        """Write the answer that follows the last one, which is checked as above, durably."""
        end: Mark

        def row_after(rows: list[Any]) -> tuple[Any, ...]:
            nonlocal end
            row = answer_row(self._last_answer(rows, known), to(), answer)
            end = Mark(row[0], row[-1])
            return row

        self.session.extend(ANSWERS, row_after)
        return end

    def _last_answer(self, rows: list[Any], known: Iterable[Mark]) -> Mark:
        end = self._newest_answer(rows)
        last = Mark(end.number, end.digest) if end else self.start
        for mark in known:
            if mark.number > last.number or self._mark(ANSWERS, rows, mark.number) != mark:
                raise answers_damaged()
        return last

    def answer(self, number: int) -> Answer:
        """Read one answer, checked against the one before it."""
        found = self._newest_answer(tables.with_the_one_before(self.session, ANSWERS, number))
        if found is None or found.number != number:
            raise answers_damaged()
        return found

    def _newest_answer(self, rows: list[Any]) -> Answer | None:
        if not rows:
            return None
        row = rows[0]
        number, *_, before = rows[1] if len(rows) == 2 else self.start
        if not (_is_next(row[0], number) and isinstance(row[1], int)):
            raise answers_damaged()
        return read_answer(row, before, self.entry(row[1]).digest)

    def _mark(self, table: str, rows: list[Any], number: int) -> Mark | None:
        """Find a place among the rows at hand, or else in the table."""
        if number == 0:
            return self.start
        for row in rows:
            if row[0] == number:
                return Mark(number, row[-1])
        found = tables.with_the_one_before(self.session, table, number)
        return Mark(number, found[0][-1]) if found and found[0][0] == number else None


def _versions(session: Session) -> list[Any]:
    """Read the format of what may be no ledger at all: then none, and the check of the whole says so."""
    try:
        return tables.versions(session)
    except LedgerDamaged:
        return []


def _is_next(number: object, before: object) -> bool:
    """Compare numbers that a damaged database may give as anything."""
    return isinstance(number, int) and isinstance(before, int) and number == before + 1


def behind(number: int) -> LedgerDamaged:
    """Say that entries are missing at the end."""
    return LedgerDamaged(
        f"entry {number} is missing: the ledger is older than its anchor. Put back its newest copy; "
        "until then it accepts no charge.",
        entry=number,
    )


def another_ledger() -> LedgerDamaged:
    """Say that ledger and anchor do not belong together."""
    return LedgerDamaged("the header of the ledger is not the one that its anchor knows.", entry=0)


def answers_damaged() -> LedgerDamaged:
    """Say that stored answers are missing or were changed."""
    return LedgerDamaged(
        "stored answers are missing or were changed; the ledger accepts no charge. "
        "Keep the files and put back the newest whole copy."
    )
