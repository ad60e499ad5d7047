"""The book: a verified log and its anchor, held together at every read and every write.

Writers queue at the lock of the anchor. The anchor is read before the log, so the log can only have grown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

from dpselect.errors import AlreadyAnswered, AlreadyCharged, BudgetExhausted, InvalidParameter
from dpselect.ledger.anchor import AnchorState, LockedAnchor, empty_state, read_anchor
from dpselect.ledger.anchor_places import AnchorPlaces
from dpselect.ledger.balance import Balance, NewEntry
from dpselect.ledger.budget import Parts
from dpselect.ledger.damage import anchor_of_another_ledger
from dpselect.ledger.database import number_of_answer, number_of_request
from dpselect.ledger.entries import Entry, Header, Position
from dpselect.ledger.export import export_lines
from dpselect.ledger.fields import Clock, minute_now, time_from_text
from dpselect.ledger.verified_log import KnownEnd, VerifiedLog


class Book:
    """The records of one ledger, and how far its anchors know them."""

    def __init__(self, log: VerifiedLog, anchors: AnchorPlaces, clock: Clock) -> None:
        """Take a log and verify it."""
        self._log, self.database = log, log.database
        self._anchors, self._anchor, self._clock = anchors, anchors.main, clock
        self._answers = empty_state(log.header.digest).answers
        self.verify()

    @property
    def header(self) -> Header:
        """The facts of the ledger."""
        return self._log.header

    # ---- read --------------------------------------------------------------------------------------------

    def balance(self) -> Balance:
        """Give what all entries add up to, now."""
        known = read_anchor(self._anchor)
        self._refuse_other(known)
        return self._log.read_on(known.entries).balance

    def last_balance(self) -> Balance:
        """Give what the entries added up to when they were read last."""
        return self._log.known.balance

    def entries(self) -> Iterator[Entry]:
        """Read all entries from the first on."""
        return self._log.entries()

    def export(self, *, answers: bool) -> Iterator[str]:
        """Write every record as a line, the answers withheld unless they are asked for."""
        self.verify()
        return export_lines(self.header, self._log.rows(), self._log.answer_rows(), with_answers=answers)

    def verify(self) -> int:
        """Check every record; give the number of entries."""
        if VerifiedLog.of(self.database).header != self._log.header:
            raise anchor_of_another_ledger()
        end = self._log.known.end
        seen = AnchorState(self.header.digest, Position(end[0], end[-1]), self._answers)
        ends = self._log.verify(*self._anchors.states(), seen)
        self._answers = ends.answers
        return ends.entries.number

    def answer(self, request_id: str, account: str | None) -> str | None:
        """Give the stored answer to a request of an account, or None."""
        known = read_anchor(self._anchor)
        self._log.last_answer(known.answers, self._answers)
        entry = self.entry_of(request_id, account)
        number = None if entry is None else number_of_answer(self.database, entry.number)
        return None if number is None else self._log.answer(number).answer

    def entry_of(self, request_id: str, account: str | None) -> Entry | None:
        """Find the charge of a request of an account."""
        number = number_of_request(self.database, request_id, account)
        return None if number is None else self._log.entry(number)

    def refusal_of(self, loss: Parts, reason: str, account: str | None) -> BudgetExhausted | None:
        """Give what a charge would raise now, or None; nothing is written."""
        now = self.balance().copy()
        try:
            now.apply(NewEntry(loss, reason, None, self.header.created, account))
        except BudgetExhausted as refused:
            return refused
        return None

    def must_hold_accounts(self) -> None:
        """Refuse a ledger whose tables have no column for accounts."""
        if not self.database.layout.holds_accounts:
            raise InvalidParameter(
                "this ledger was made before there were accounts, and has no place for them. "
                "Copy it into a new one: dpselect ledger upgrade OLD NEW."
            )

    # ---- write -------------------------------------------------------------------------------------------

    def append(self, act: Callable[[datetime], NewEntry]) -> Entry:
        """Write an act as the next entry, durably, if the balance allows it. ``act`` is given its time."""
        now = minute_now(self._clock)

        def following(known: KnownEnd) -> NewEntry:
            new = act(max(now, time_from_text(known.end[5])))
            if new.request_id is not None:
                before = self.entry_of(new.request_id, new.account)
                if before is not None:
                    raise AlreadyCharged(new.request_id, before)
            return new

        with self.database.lock, LockedAnchor(self._anchor) as anchor:
            self._refuse_other(anchor.state)
            entry = self._log.add_entry(following, anchor.state.entries)
            anchor.advance(entries=Position(entry.number, entry.digest))
        return entry

    def store(self, request_id: str, account: str | None, answer: str) -> None:
        """Store the answer to a charged request, once."""

        def charged() -> Entry:
            self._log.read_on(anchor.state.entries)
            entry = self.entry_of(request_id, account)
            if entry is None:
                way_out = "Charge first, then read."
                raise InvalidParameter.must_be(
                    "request_id", "one that was charged", got=request_id, way_out=way_out
                )
            if number_of_answer(self.database, entry.number) is not None:
                raise AlreadyAnswered(request_id)
            return entry

        with self.database.lock, LockedAnchor(self._anchor) as anchor:
            self._refuse_other(anchor.state)
            self._answers = self._log.add_answer(answer, charged, anchor.state.answers, self._answers)
            anchor.advance(answers=self._answers)

    def _refuse_other(self, known: AnchorState) -> None:
        if known.header != self._log.header.digest:
            raise anchor_of_another_ledger()
