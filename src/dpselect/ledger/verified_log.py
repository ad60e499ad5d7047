"""The verified log: reads and writes the records of a ledger, and believes none before its digest is checked.

``verify`` checks every record, and remembers what they add up to. Later it is enough to read on from there:
the last two entries that it knows must still be the same, each new one must follow them, and the positions
known from elsewhere (an anchor, an earlier read) must still hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from dpselect.errors import LedgerDamaged
from dpselect.ledger.anchor import AnchorState
from dpselect.ledger.balance import Balance, NewEntry
from dpselect.ledger.damage import (
    anchor_of_another_ledger,
    answers_damaged,
    entries_missing,
    entry_damaged,
)
from dpselect.ledger.database import (
    ANSWERS,
    ENTRIES,
    LedgerDatabase,
    all_answers,
    entries_from,
    format_versions,
    header_rows,
    last_two_answers,
    row_and_the_one_before,
)
from dpselect.ledger.entries import (
    Answer,
    Entry,
    Header,
    Position,
    Row,
    answer_row,
    apply_row,
    entry_of,
    entry_row,
    entry_written,
    read_answer,
    read_entry,
    read_header,
    refuse_other_version,
    start_row,
)


class KnownEnd(NamedTuple):
    """How far a log was read: the last two rows of entries, and what all entries add up to.

    It is replaced as a whole, never changed: an interrupt leaves the old one or the new one.
    """

    rows: tuple[Row, ...]
    """A row of number 0 stands for the header, before the first entry."""
    balance: Balance

    @property
    def end(self) -> Row:
        """The last row."""
        return self.rows[-1]


@dataclass(frozen=True)
class VerifiedLog:
    """The records of a ledger with this header."""

    database: LedgerDatabase
    header: Header
    _known: list[KnownEnd] = field(default_factory=list, compare=False, repr=False)
    """How far it was read: one, replaced by the next."""

    def __post_init__(self) -> None:
        self._known.append(self._empty())

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

    @property
    def known(self) -> KnownEnd:
        """What was read last."""
        return self._known[0]

    # ---- all records ---------------------------------------------------------------------------------------

    def _empty(self) -> KnownEnd:
        """Stand before the first entry, after the header."""
        return KnownEnd((start_row(self.header),), Balance.of(self.header.budget))

    def rows(self, balance: Balance | None = None) -> Iterator[Row]:
        """Read the rows of all entries, and apply each to a balance once it is checked."""
        balance = balance or self._empty().balance
        before = self._empty().end
        for row in entries_from(self.database, 1):
            apply_row(row, before, balance)
            before = row
            yield row

    def entries(self) -> Iterator[Entry]:
        """Read all entries, each checked."""
        currency = type(self.header.budget)
        return (entry_of(row, currency) for row in self.rows())

    def verify(self, *known: AnchorState) -> AnchorState:
        """Check every record, and that the known positions are among them; give the ends of both chains."""
        if any(state.header != self.header.digest for state in known):
            raise anchor_of_another_ledger()
        digests: dict[int, set[str]] = {}
        for state in known:
            digests.setdefault(state.entries.number, set()).add(state.entries.digest)
        rows, balance = self._empty()
        for row in self.rows(balance):
            rows = (rows[-1], row)
            if row[0] in digests and digests[row[0]] != {row[-1]}:
                raise entry_damaged(row[0])
        end = Position(rows[-1][0], rows[-1][-1])
        if max(digests, default=0) > end.number:
            raise entries_missing(end.number + 1)
        answers = self._verified_answers([state.answers for state in known])
        self._known[:] = [KnownEnd(rows, balance)]
        return AnchorState(self.header.digest, end, answers)

    def answer_rows(self) -> Iterator[Row]:
        """Read the rows of all answers, each checked."""
        before = self.start
        for *row, entry_digest in all_answers(self.database):
            before = self._following(row, before, entry_digest)
            yield row

    def _following(self, row: Row, before: Position, entry_digest: str) -> Position:
        if row[0] != before.number + 1:
            raise answers_damaged()
        answer = read_answer(row, before.digest, entry_digest)
        return Position(answer.number, answer.digest)

    def _verified_answers(self, known: list[Position]) -> Position:
        answers = self.start
        for *row, entry_digest in all_answers(self.database):
            answers = self._following(row, answers, entry_digest)
            if any(position.number == answers.number and position != answers for position in known):
                raise answers_damaged()
        if any(position.number > answers.number for position in known):
            raise answers_damaged()
        return answers

    # ---- the last records ----------------------------------------------------------------------------------

    def entry(self, number: int) -> Entry:
        """Read one entry, checked against the one before it."""
        rows = row_and_the_one_before(self.database, ENTRIES, number)
        found = self._newest(rows)
        if found is None or found.number != number:
            raise entry_damaged(number)
        return found

    def read_on(self, *known: Position) -> KnownEnd:
        """Read the entries that came since, each checked, and check the known positions."""
        with self.database.lock:
            rows, balance = self.known
            found = entries_from(self.database, max(1, rows[0][0]))
            for row in rows:
                if row[0]:
                    _must_be_same(row, next(found, None))
            changed = None
            for row in found:
                changed = changed or balance.copy()
                apply_row(row, rows[-1], changed)
                rows = (rows[-1], row)
            if changed is not None:
                self._known[:] = [KnownEnd(rows, changed)]
            self._must_hold(known)
            return self.known

    def _must_hold(self, known: Iterable[Position]) -> None:
        number, end = self.known.end[0], self.known.end[-1]
        for position in known:
            if position.number > number:
                raise entries_missing(number + 1)
            held = end if position.number == number else self._digest_of(ENTRIES, position.number)
            if held != position.digest:
                raise entry_damaged(position.number)

    def add_entry(self, following: Callable[[KnownEnd], NewEntry], *known: Position) -> Entry:
        """Read on as ``read_on`` does; write the entry that follows, durably, if the balance allows it."""
        added: list[KnownEnd] = []
        entry: Entry

        def row_after() -> Row:
            nonlocal entry
            now = self.read_on(*known)
            new, balance = following(now), now.balance.copy()
            balance.apply(new)
            row = entry_row(Position(now.end[0], now.end[-1]), new, balance.spent)
            entry = entry_written(row, new, balance)
            added[:] = [KnownEnd((now.end, row), balance)]
            return row if self.database.layout.holds_accounts else (*row[:-4], row[-1])

        with self.database.lock:
            self.database.extend(ENTRIES, row_after)
            self._known[:] = added
        return entry

    def _newest(self, rows: list[Any]) -> Entry | None:
        """Read the first of at most two rows. It must follow the second, or the header if it is alone."""
        if not rows:
            return None
        row = rows[0]
        number, *_, before = rows[1] if len(rows) == 2 else self.start
        if not _is_next(row[0], number):
            raise entry_damaged(number + 1 if isinstance(number, int) else number)
        return read_entry(row, before, type(self.header.budget))

    def last_answer(self, *known: Position) -> Position:
        """Find the last answer, checked against the one before it and the known positions."""
        return self._last_answer(last_two_answers(self.database), known)

    def add_answer(self, answer: str, to: Callable[[], Entry], *known: Position) -> Position:
        """Check the last answer as ``last_answer`` does, and write the one that follows it, durably."""
        end: Position

        def row_after() -> Row:
            nonlocal end
            rows = last_two_answers(self.database)
            row = answer_row(self._last_answer(rows, known), to(), answer)
            end = Position(row[0], row[-1])
            return row

        self.database.extend(ANSWERS, row_after)
        return end

    def _last_answer(self, rows: list[Any], known: Iterable[Position]) -> Position:
        end = self._newest_answer(rows)
        last = Position(end.number, end.digest) if end else self.start
        for position in known:
            if position.number > last.number or not self._holds_answer(rows, position):
                raise answers_damaged()
        return last

    def _holds_answer(self, rows: list[Any], position: Position) -> bool:
        """Look for a position among the rows at hand, or else in the table."""
        for row in rows:
            if row[0] == position.number:
                return bool(row[-1] == position.digest)
        return self._digest_of(ANSWERS, position.number) == position.digest

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

    def _digest_of(self, table: str, number: int) -> str | None:
        """Find the digest of a record; that of the header before the first."""
        if number == 0:
            return self.header.digest
        found = row_and_the_one_before(self.database, table, number)
        return found[0][-1] if found and found[0][0] == number else None


def _must_be_same(row: Row, found: Row | None) -> None:
    """Refuse a table in which an entry that was read is missing, or another one."""
    if found is None:
        raise entries_missing(row[0])
    if tuple(found) != tuple(row) or type(found[0]) is not int:
        raise entry_damaged(row[0])


def _versions(database: LedgerDatabase) -> list[Any]:
    """Read the number of the format. What is no ledger has none, and fails the check of the database."""
    try:
        return format_versions(database)
    except LedgerDamaged:
        return []


def _is_next(number: object, before: object) -> bool:
    """Compare numbers that a damaged database may give as values of any type."""
    return isinstance(number, int) and isinstance(before, int) and number == before + 1
