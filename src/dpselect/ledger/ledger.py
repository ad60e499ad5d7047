"""The ledger: a budget on disk that cannot be overspent.

The order of a release is: validate, charge durably, read, draw, store, answer. What fails after the charge is
not refunded; nothing is ever edited or deleted.

Format and faults: docs/explanation/ledger.md
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self, TypeAlias

from dpselect.errors import AlreadyAnswered, AlreadyCharged, BudgetExhausted, InvalidParameter
from dpselect.ledger import anchor as anchors
from dpselect.ledger import tables
from dpselect.ledger.budget import Currency, amount_of, checked_budget, cost, finite, total_after
from dpselect.ledger.clock import Clock, minute, system_clock
from dpselect.ledger.entries import Charge, Entry, Mark, header_row, new_header
from dpselect.ledger.locations import local_file, session_at
from dpselect.ledger.moorings import Mooring, refuse_moored
from dpselect.ledger.texts import LONGEST_NAME, LONGEST_REASON, answer_text, line, optional_line
from dpselect.ledger.verified_log import Book, another_ledger
from dpselect.privacy.losses import PureDP
from dpselect.privacy.neighbours import Neighbours, metric_of

Place: TypeAlias = str | os.PathLike[str]
"""A path, or a URL that begins with postgresql://."""

ONE = PureDP("1")


class Ledger:
    """What was spent of a budget, exactly and durably. Made by ``create`` or ``open``.

    One object may be used by many threads, and survives a fork. It shows its budget to everybody, and holds
    nothing but public text: no score, count or noise.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = Ledger.create(f"{folder.name}/food.ledger", budget=PureDP(1), dataset="orders")
    >>> entry = ledger.charge(PureDP("3/4"), reason="favourite dish")
    >>> ledger.spent, ledger.remaining
    (PureDP('3/4'), PureDP('1/4'))
    >>> ledger.charge(PureDP("1/2"), reason="food")
    Traceback (most recent call last):
    dpselect.errors.BudgetExhausted: 'food' costs epsilon 1/2; 1/4 of 1 is left.
    >>> ledger.close()
    >>> folder.cleanup()
    """

    def __init__(self, book: Book, mooring: Mooring, clock: Clock) -> None:
        """Take an open book and verify it. Users call ``create`` or ``open``."""
        self._book, self._session = book, book.session
        self._mooring, self._anchor, self._clock = mooring, mooring.anchor, clock
        self._seen = anchors.at_start(book.header.digest)
        self.verify()

    # ---- beginning ---------------------------------------------------------------------------------------

    @classmethod
    def create(  # noqa: PLR0913 - each is a fact of the new ledger
        cls,
        path_or_url: Place,
        *,
        budget: Currency = ONE,
        neighbours: Neighbours = "add_remove",
        dataset: str | None = None,
        unit: str | None = None,
        anchor: Place | None = None,
        clock: Clock = system_clock,
    ) -> Self:
        """Make a new ledger: a file, or tables in a PostgreSQL database.

        ``neighbours`` says whose loss is added up: of data sets with one person more or fewer, or of those
        where one person's answers differ. ``dataset`` and ``unit`` are names that the curator chooses.
        ``anchor`` is a file on another disk, if possible; without it, a companion of the file, or a file in
        the user's state folder for PostgreSQL.
        """
        metric_of(neighbours)
        place = None if anchor is None else local_file(anchor, "the anchor")
        header = new_header(
            checked_budget(budget),
            neighbours=neighbours,
            dataset=optional_line(dataset, "dataset", longest=LONGEST_NAME),
            unit=optional_line(unit, "unit", longest=LONGEST_NAME),
            anchor=None if place is None else str(place),
            created=minute(clock),
        )
        session = session_at(path_or_url)
        if not Path(session.place).exists() and (not session.shared or place is not None):
            refuse_moored(session, place)
        session.create(header_row(header))
        book = Book.at(session)
        return cls(book, Mooring.of(book, place).cast(book, place, "as found"), clock)

    @classmethod
    def open(cls, path_or_url: Place, *, anchor: Place | None = None, clock: Clock = system_clock) -> Self:
        """Open a ledger and verify all of it. ``anchor`` says where its anchor is, if it was moved.

        A copy on which nothing can be written is opened too, to look at it.
        """
        place, book = _found(path_or_url, anchor)
        return cls(book, Mooring.of(book, place).cast(book, place, "by its anchor"), clock)

    @classmethod
    def vouch(cls, path_or_url: Place, *, anchor: Place | None = None, clock: Clock = system_clock) -> Self:
        """Open a ledger whose anchor is gone, and write a new one.

        You vouch for it: nothing can show any more whether entries are missing at the end. An anchor that is
        there is never replaced, and must not know better.
        """
        place, book = _found(path_or_url, anchor)
        mooring = Mooring.of(book, place)
        anchors.refuse_taken(mooring.anchor, book.session.place)
        return cls(book, mooring.cast(book, place, "as found"), clock)

    # ---- spending ----------------------------------------------------------------------------------------

    def charge(self, loss: object, *, reason: str, request_id: str | None = None) -> Entry:
        """Charge a loss, durably, before any data is read; or raise, and then release nothing.

        That it is the loss between neighbours of the ledger's kind is the caller's word; ``select`` and
        ``top_k`` compare.

        ``BudgetExhausted``: it costs more than is left. ``AlreadyCharged``: the request was charged before.
        ``LedgerDamaged``: the ledger cannot be trusted. In all three nothing is charged.
        ``LedgerUnavailable``: disk or server failed; if while committing, the charge may be recorded.
        """
        reason = line(reason, "reason", longest=LONGEST_REASON)
        request_id = optional_line(request_id, "request_id", longest=LONGEST_NAME)
        price = cost(loss, type(self.budget))
        now = minute(self._clock)

        def following(last: Entry | None) -> Charge:
            if request_id is not None:
                self._refuse_charged(request_id)
            spent = last.total if last else self.budget * 0
            total = total_after(finite(spent), amount_of(price), finite(self.budget))
            if total is None:
                raise BudgetExhausted(reason, price, self._rest(spent), self.budget)
            time = max(now, last.time if last else self._book.header.created)
            return Charge(price, type(price)(total), reason, request_id, time)

        with self._session.lock, anchors.Anchor(self._anchor) as anchor:
            self._refuse_other(anchor.state)
            entry = self._book.add_entry(following, anchor.state.entries, self._seen.entries)
            end = Mark(entry.number, entry.digest)
            anchor.advance(entries=end)
        self._saw(entries=end)
        return entry

    def store(self, request_id: str, answer: str) -> None:
        """Keep the answer to a charged request, once: whoever asks again gets the same."""
        request_id = line(request_id, "request_id", longest=LONGEST_NAME)
        text = answer_text(answer)

        def charged() -> Entry:
            self._last(anchor.state)
            entry = self._entry_of(request_id)
            if entry is None:
                way_out = "Charge first, then read."
                raise InvalidParameter.must_be(
                    "request_id", "one that was charged", got=request_id, way_out=way_out
                )
            if tables.number_of_answer(self._session, entry.number) is not None:
                raise AlreadyAnswered(request_id)
            return entry

        with self._session.lock, anchors.Anchor(self._anchor) as anchor:
            self._refuse_other(anchor.state)
            end = self._book.add_answer(text, charged, anchor.state.answers, self._seen.answers)
            anchor.advance(answers=end)
        self._saw(answers=end)

    def answer(self, request_id: str) -> str | None:
        """Give the stored answer to a request; None if there is none."""
        request_id = line(request_id, "request_id", longest=LONGEST_NAME)
        known = anchors.peeked(self._anchor)
        self._book.last_answer(known.answers, self._seen.answers)
        entry = self._entry_of(request_id)
        number = None if entry is None else tables.number_of_answer(self._session, entry.number)
        if entry is None or number is None:
            return None
        return self._book.answer(number).answer

    def affords(self, loss: object) -> bool:
        """Say whether ``charge`` would accept a loss now. Nothing is written, and nothing is reserved.

        A loss that the ledger cannot hold raises what ``charge`` raises. It works on read-only copies too.
        """
        price = cost(loss, type(self.budget))
        return total_after(finite(self.spent), amount_of(price), finite(self.budget)) is not None

    # ---- looking -----------------------------------------------------------------------------------------

    @property
    def budget(self) -> Currency:
        """What there was to spend."""
        return self._book.header.budget

    @property
    def neighbours(self) -> Neighbours:
        """Whose loss is added up: every price is one between neighbours of this kind."""
        return self._book.header.neighbours

    @property
    def dataset(self) -> str | None:
        """The name of the data set."""
        return self._book.header.dataset

    @property
    def unit(self) -> str | None:
        """The name of the privacy unit."""
        return self._book.header.unit

    @property
    def spent(self) -> Currency:
        """The sum of all charges."""
        last = self._last(anchors.peeked(self._anchor))
        return last.total if last else self.budget * 0

    @property
    def remaining(self) -> Currency:
        """What is left."""
        return self._rest(self.spent)

    def entries(self) -> Iterator[Entry]:
        """Read all entries, from the first; each is checked before it is given out."""
        return self._book.entries()

    def verify(self) -> int:
        """Check everything that was ever written; give the number of entries, or raise ``LedgerDamaged``."""
        if Book.at(self._session).header != self._book.header:
            raise another_ledger()
        ends = self._book.walked(*self._mooring.known(), self._seen)
        self._saw(entries=ends.entries, answers=ends.answers)
        return ends.entries.number

    def close(self) -> None:
        """Let go of the file or the server. A ledger that is used again opens itself again."""
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def place(self) -> str:
        """Where it is, as it may be shown: without a password."""
        return self._session.place

    def __repr__(self) -> str:
        return f"<Ledger {self.place!r} with a budget of {self.budget}, {self.neighbours}>"

    # ---- within ------------------------------------------------------------------------------------------

    def _last(self, known: anchors.Anchored) -> Entry | None:
        """Read the last entry. The anchor was read before it: the ledger can only have grown since."""
        self._refuse_other(known)
        return self._book.last_entry(known.entries, self._seen.entries)

    def _refuse_other(self, known: anchors.Anchored) -> None:
        if known.header != self._book.header.digest:
            raise another_ledger()

    def _entry_of(self, request_id: str) -> Entry | None:
        number = tables.number_of_request(self._session, request_id)
        return None if number is None else self._book.entry(number)

    def _refuse_charged(self, request_id: str) -> None:
        entry = self._entry_of(request_id)
        if entry is not None:
            raise AlreadyCharged(request_id, entry)

    def _rest(self, spent: Currency) -> Currency:
        return type(self.budget)(finite(self.budget) - finite(spent))

    def _saw(self, *, entries: Mark | None = None, answers: Mark | None = None) -> None:
        """Remember how far it has come. Threads may overwrite each other: an older place is as true."""
        seen = self._seen
        self._seen = anchors.Anchored(seen.header, entries or seen.entries, answers or seen.answers)


def _found(path_or_url: Place, anchor: Place | None) -> tuple[Path | None, Book]:
    place = None if anchor is None else local_file(anchor, "the anchor")
    session = session_at(path_or_url)
    if not session.exists():
        raise InvalidParameter(
            f"a ledger must be there to be opened; there is none at {session.place!r}. "
            "Make one: Ledger.create(...)."
        )
    return place, Book.at(session)
