"""The verified log: reads and writes the records of a ledger, and believes none before its digest is checked.

``verify`` checks every record. Between two verifications it is enough to check the end: the last record must
follow the one before it, and the positions known from elsewhere (an anchor, an earlier read) must still hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Self

from dpselect.errors import LedgerDamaged
from dpselect.ledger.anchor import AnchorState
from dpselect.ledger.database import (
    ANSWERS,
    ENTRIES,
    LedgerDatabase,
    all_answers,
    all_entries,
    format_versions,
    header_rows,
    last_two,
    row_and_the_one_before,
)
from dpselect.ledger.entries import (
    Answer,
    Entry,
    Header,
    NewEntry,
    Position,
    answer_row,
    checked_successor,
    entry_damaged,
    entry_row,
    read_answer,
    read_entry,
    read_header,
    refuse_other_version,
)


@dataclass(frozen=True)
class VerifiedLog:
    """The records of a ledger with this header."""

    database: LedgerDatabase
    header: Header
    _written: list[tuple[tuple[Any, ...], Entry]] = field(default_factory=list, compare=False, repr=False)
    """At most one pair: the row that was written last, after the digest before it, and its entry."""

    @classmethod
    def of(cls, database: LedgerDatabase) -> Self:
        """Read and check the header of the ledger in a database."""
        refuse_other_version(_versions(database))
        database.check()
        return cls(database, read_header(header_rows(database)))

    @property
    def start(self) -> Position:
        """The position before the first record of either chain."""
        return Position(0, self.header.digest)

    # ---- all records ---------------------------------------------------------------------------------------

    def entries(self) -> Iterator[Entry]:
        """Read all entries, each checked."""
        before, end = None, self.start
        for row in all_entries(self.database):
            if row[0] != end.number + 1:
                raise entry_damaged(end.number + 1)
            before = checked_successor(
                read_entry(row, end.digest, type(self.header.budget)), before, self.header
            )
            end = Position(before.number, before.digest)
            yield before

    def verify(self, *known: AnchorState) -> AnchorState:
        """Check every record, and that the known positions are among them; give the ends of both chains."""
        if any(state.header != self.header.digest for state in known):
            raise anchor_of_another_ledger()
        entries = self.start
        for entry in self.entries():
            entries = Position(entry.number, entry.digest)
            if any(state.entries.number == entries.number and state.entries != entries for state in known):
                raise entry_damaged(entries.number)
        if any(state.entries.number > entries.number for state in known):
            raise entries_missing(entries.number + 1)
        answers = self.start
        for *row, entry_digest in all_answers(self.database):
            if row[0] != answers.number + 1:
                raise answers_damaged()
            answer = read_answer(row, answers.digest, entry_digest)
            answers = Position(answer.number, answer.digest)
            if any(state.answers.number == answers.number and state.answers != answers for state in known):
                raise answers_damaged()
        if any(state.answers.number > answers.number for state in known):
            raise answers_damaged()
        return AnchorState(self.header.digest, entries, answers)

    # ---- the last records ----------------------------------------------------------------------------------

    def entry(self, number: int) -> Entry:
        """Read one entry, checked against the one before it."""
        rows = row_and_the_one_before(self.database, ENTRIES, number)
        found = self._newest(rows)
        if found is None or found.number != number:
            raise entry_damaged(number)
        return found

    def last_entry(self, *known: Position) -> Entry | None:
        """Read the last entry, checked against the one before it and the known positions."""
        return self._last_entry(last_two(self.database, ENTRIES), known)

    def add_entry(self, following: Callable[[Entry | None], NewEntry], *known: Position) -> Entry:
        """Check the last entry as ``last_entry`` does, and write the one that follows it, durably."""
        written: Entry

        def row_after(rows: list[Any]) -> tuple[Any, ...]:
            nonlocal written
            last = self._last_entry(rows, known)
            before = Position(last.number, last.digest) if last else self.start
            new = following(last)
            row = entry_row(before, new)
            loss, total, reason, request_id, time = new
            written = Entry(row[0], loss, total, reason, request_id, row[-1], time)
            self._written[:] = [((before.digest, *row), written)]
            return row

        self.database.extend(ENTRIES, row_after)
        return written

    def _last_entry(self, rows: list[Any], known: Iterable[Position]) -> Entry | None:
        last = self._newest(rows)
        end = last.number if last else 0
        for position in known:
            if last and position.digest == last.digest and position.number == end:
                continue
            if position.number > end:
                raise entries_missing(end + 1)
            if self._position(ENTRIES, rows, position.number) != position:
                raise entry_damaged(position.number)
        return last

    def _newest(self, rows: list[Any]) -> Entry | None:
        """Read the first of at most two rows. It must follow the second, or the header if it is alone."""
        if not rows:
            return None
        row = rows[0]
        number, *_, before = rows[1] if len(rows) == 2 else self.start
        if not _is_next(row[0], number):
            raise entry_damaged(number + 1 if isinstance(number, int) else number)
        for known, entry in self._written:
            if known == (before, *row):
                return entry
        return read_entry(row, before, type(self.header.budget))

    def last_answer(self, *known: Position) -> Position:
        """Find the last answer, checked against the one before it and the known positions."""
        return self._last_answer(last_two(self.database, ANSWERS), known)

    def add_answer(self, answer: str, to: Callable[[], Entry], *known: Position) -> Position:
        """Check the last answer as ``last_answer`` does, and write the one that follows it, durably."""
        end: Position

        def row_after(rows: list[Any]) -> tuple[Any, ...]:
            nonlocal end
            row = answer_row(self._last_answer(rows, known), to(), answer)
            end = Position(row[0], row[-1])
            return row

        self.database.extend(ANSWERS, row_after)
        return end

    def _last_answer(self, rows: list[Any], known: Iterable[Position]) -> Position:
        end = self._newest_answer(rows)
        last = Position(end.number, end.digest) if end else self.start
        for position in known:
            if position.number > last.number or self._position(ANSWERS, rows, position.number) != position:
                raise answers_damaged()
        return last

    def answer(self, number: int) -> Answer:
        """Read one answer, checked against the one before it."""
        found = self._newest_answer(row_and_the_one_before(self.database, ANSWERS, number))
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

    def _position(self, table: str, rows: list[Any], number: int) -> Position | None:
        """Find the position of a record, among the rows at hand or else in the table."""
        if number == 0:
            return self.start
        for row in rows:
            if row[0] == number:
                return Position(number, row[-1])
        found = row_and_the_one_before(self.database, table, number)
        return Position(number, found[0][-1]) if found and found[0][0] == number else None


def _versions(database: LedgerDatabase) -> list[Any]:
    """Read the number of the format. What is no ledger has none, and fails the check of the database."""
    try:
        return format_versions(database)
    except LedgerDamaged:
        return []


def _is_next(number: object, before: object) -> bool:
    """Compare numbers that a damaged database may give as values of any type."""
    return isinstance(number, int) and isinstance(before, int) and number == before + 1


def entries_missing(number: int) -> LedgerDamaged:
    """Say that entries are missing at the end."""
    return LedgerDamaged(
        f"entry {number} is missing: the ledger is older than its anchor. Put back its newest copy; "
        "until then it accepts no charge.",
        entry=number,
    )


def anchor_of_another_ledger() -> LedgerDamaged:
    """Say that ledger and anchor do not belong together."""
    return LedgerDamaged("the header of the ledger is not the one that its anchor knows.", entry=0)


def answers_damaged() -> LedgerDamaged:
    """Say that stored answers are missing or were changed."""
    return LedgerDamaged(
        "stored answers are missing or were changed; the ledger accepts no charge. "
        "Keep the files and put back the newest whole copy."
    )
