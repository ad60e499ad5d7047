"""The ledger: a budget on disk that cannot be overspent.

A release validates, charges durably, reads, draws, stores and answers, in this order. What fails after the
charge is not refunded. Nothing is ever edited or deleted.

Format: entries.py. Faults: docs/explanation/ledger.md
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from dpselect.errors import AlreadyAnswered, AlreadyCharged, BudgetExhausted, InvalidParameter
from dpselect.ledger.anchor import AnchorState, LockedAnchor, empty_state, read_anchor, refuse_existing_anchor
from dpselect.ledger.anchor_places import AnchorPlaces, refuse_existing_anchors
from dpselect.ledger.budget import Currency, checked_budget, cost, finite_amount, total_after
from dpselect.ledger.database import number_of_answer, number_of_request
from dpselect.ledger.entries import Entry, NewEntry, Position, header_row, new_header
from dpselect.ledger.fields import (
    Clock,
    answer_text,
    minute_now,
    name_text,
    optional_name,
    reason_text,
    system_clock,
)
from dpselect.ledger.ledger_page import ledger_page
from dpselect.ledger.locations import Place, database_at, local_file
from dpselect.ledger.verified_log import VerifiedLog, anchor_of_another_ledger
from dpselect.privacy.losses import PureDP
from dpselect.privacy.neighbours import Neighbours, metric_of

DEFAULT_BUDGET = PureDP("1")


class Ledger:
    """A budget and what was spent of it, exactly and durably. ``create`` or ``open`` makes one.

    Many threads may use one object, and it survives a fork. All that it holds is public: no score, count or
    noise.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = Ledger.create(f"{folder.name}/food.ledger", budget=PureDP(1), dataset="orders")
    >>> entry = ledger.charge(PureDP("3/4"), reason="favourite dish")
    >>> ledger.spent, ledger.remaining
    (PureDP('3/4'), PureDP('1/4'))
    >>> ledger.charge(PureDP("1/2"), reason="food")
    Traceback (most recent call last):
    dpselect.errors.BudgetExhausted: 'food' costs epsilon 0.5; 0.25 of 1 is left.
    >>> ledger.close()
    >>> folder.cleanup()
    """

    def __init__(self, log: VerifiedLog, anchors: AnchorPlaces, clock: Clock) -> None:
        """Take a log and verify it. Users call ``create`` or ``open``."""
        self._log, self._database = log, log.database
        self._anchors, self._anchor, self._clock = anchors, anchors.main, clock
        self._seen = empty_state(log.header.digest)
        self.verify()

    # ---- create and open -----------------------------------------------------------------------------------

    @classmethod
    def create(  # noqa: PLR0913 - each is a fact of the new ledger
        cls,
        path_or_url: Place,
        *,
        budget: Currency = DEFAULT_BUDGET,
        neighbours: Neighbours = "add_remove",
        dataset: str | None = None,
        unit: str | None = None,
        anchor: Place | None = None,
        clock: Clock = system_clock,
    ) -> Self:
        """Make a new ledger: a file, or tables in a PostgreSQL database.

        ``neighbours`` says which losses are added up: those between data sets with one person more or fewer,
        or between data sets where one person's answers differ. The curator chooses the names ``dataset`` and
        ``unit``. ``anchor`` is a file, best on another disk. Without it the anchor is a companion of the
        file, or a file in the user's state folder for PostgreSQL.
        """
        metric_of(neighbours)
        place = None if anchor is None else local_file(anchor, "the anchor")
        header = new_header(
            checked_budget(budget),
            neighbours=neighbours,
            dataset=optional_name(dataset, "dataset"),
            unit=optional_name(unit, "unit"),
            anchor=None if place is None else str(place),
            created=minute_now(clock),
        )
        database = database_at(path_or_url)
        if not Path(database.place).exists() and (not database.shared or place is not None):
            refuse_existing_anchors(database, place)
        database.create(header_row(header))
        log = VerifiedLog.of(database)
        return cls(log, AnchorPlaces.of(log, place).with_main_written(log, place, "as found"), clock)

    @classmethod
    def open(cls, path_or_url: Place, *, anchor: Place | None = None, clock: Clock = system_clock) -> Self:
        """Open a ledger and verify all of it. ``anchor`` says where its anchor is, if it was moved.

        A read-only copy can be opened too: it shows everything and refuses charges.
        """
        place, log = _found(path_or_url, anchor)
        return cls(log, AnchorPlaces.of(log, place).with_main_written(log, place, "by its anchor"), clock)

    @classmethod
    def vouch(cls, path_or_url: Place, *, anchor: Place | None = None, clock: Clock = system_clock) -> Self:
        """Open a ledger whose anchor is gone, and write a new one.

        You vouch for the ledger: nothing can show any more whether entries are missing at its end. An anchor
        that exists is never replaced, and the ledger must not be behind any other anchor of its own.
        """
        place, log = _found(path_or_url, anchor)
        anchors = AnchorPlaces.of(log, place)
        refuse_existing_anchor(anchors.main, log.database.place)
        return cls(log, anchors.with_main_written(log, place, "as found"), clock)

    # ---- charge and answer ---------------------------------------------------------------------------------

    def charge(self, loss: object, *, reason: str, request_id: str | None = None) -> Entry:
        """Charge a loss, durably, before any data is read. If this raises, release nothing.

        The caller vouches that the loss is one between neighbours of the ledger's kind; ``select`` and
        ``top_k`` compare the kinds.

        ``BudgetExhausted``: it costs more than is left. ``AlreadyCharged``: the request was charged before.
        ``LedgerDamaged``: the ledger cannot be trusted. These three charge nothing.
        ``LedgerUnavailable``: disk or server failed. If it failed in the commit, the charge may be recorded.
        """
        reason = reason_text(reason)
        request_id = optional_name(request_id, "request_id")
        price = cost(loss, type(self.budget))
        now = minute_now(self._clock)

        def following(last: Entry | None) -> NewEntry:
            before = None if request_id is None else self._entry_of(request_id)
            if request_id is not None and before is not None:
                raise AlreadyCharged(request_id, before)
            spent = last.total if last else self.budget * 0
            total = total_after(finite_amount(spent), price.amount, finite_amount(self.budget))
            if total is None:
                raise BudgetExhausted(reason, price, self._rest(spent), self.budget)
            time = max(now, last.time if last else self._log.header.created)
            return NewEntry(price, type(price)(total), reason, request_id, time)

        with self._database.lock, LockedAnchor(self._anchor) as anchor:
            self._refuse_other(anchor.state)
            entry = self._log.add_entry(following, anchor.state.entries, self._seen.entries)
            end = Position(entry.number, entry.digest)
            anchor.advance(entries=end)
        self._saw(entries=end)
        return entry

    def store(self, request_id: str, answer: str) -> None:
        """Store the answer to a charged request, once. A repeated request then gets the same answer."""
        request_id = name_text(request_id, "request_id")
        text = answer_text(answer)

        def charged() -> Entry:
            self._last(anchor.state)
            entry = self._entry_of(request_id)
            if entry is None:
                way_out = "Charge first, then read."
                raise InvalidParameter.must_be(
                    "request_id", "one that was charged", got=request_id, way_out=way_out
                )
            if number_of_answer(self._database, entry.number) is not None:
                raise AlreadyAnswered(request_id)
            return entry

        with self._database.lock, LockedAnchor(self._anchor) as anchor:
            self._refuse_other(anchor.state)
            end = self._log.add_answer(text, charged, anchor.state.answers, self._seen.answers)
            anchor.advance(answers=end)
        self._saw(answers=end)

    def answer(self, request_id: str) -> str | None:
        """Give the stored answer to a request, or None."""
        request_id = name_text(request_id, "request_id")
        known = read_anchor(self._anchor)
        self._log.last_answer(known.answers, self._seen.answers)
        entry = self._entry_of(request_id)
        number = None if entry is None else number_of_answer(self._database, entry.number)
        if entry is None or number is None:
            return None
        return self._log.answer(number).answer

    def affords(self, loss: object) -> bool:
        """Say whether ``charge`` would accept a loss now. Nothing is written, and nothing is reserved.

        A loss that the ledger cannot hold raises what ``charge`` raises. It works on read-only copies too.
        """
        price = cost(loss, type(self.budget))
        return total_after(finite_amount(self.spent), price.amount, finite_amount(self.budget)) is not None

    # ---- look ----------------------------------------------------------------------------------------------

    @property
    def budget(self) -> Currency:
        """The whole budget, as ``create`` was given it."""
        return self._log.header.budget

    @property
    def neighbours(self) -> Neighbours:
        """The kind of neighbours. Every charge is a loss between neighbours of this kind."""
        return self._log.header.neighbours

    @property
    def dataset(self) -> str | None:
        """The name of the data set."""
        return self._log.header.dataset

    @property
    def unit(self) -> str | None:
        """The name of the privacy unit."""
        return self._log.header.unit

    @property
    def spent(self) -> Currency:
        """The sum of all charges."""
        last = self._last(read_anchor(self._anchor))
        return last.total if last else self.budget * 0

    @property
    def remaining(self) -> Currency:
        """The budget minus the sum of all charges."""
        return self._rest(self.spent)

    def entries(self) -> Iterator[Entry]:
        """Read all entries from the first on. Each is checked before it is given out."""
        return self._log.entries()

    def verify(self) -> int:
        """Check every record. Give the number of entries, or raise ``LedgerDamaged``."""
        if VerifiedLog.of(self._database).header != self._log.header:
            raise anchor_of_another_ledger()
        ends = self._log.verify(*self._anchors.states(), self._seen)
        self._saw(entries=ends.entries, answers=ends.answers)
        return ends.entries.number

    def close(self) -> None:
        """Close the file or the connection. A later call opens it again."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def place(self) -> str:
        """Where the ledger is, in a form that may be shown: without a password."""
        return self._database.place

    def __repr__(self) -> str:
        return f"<Ledger {self.place!r} with a budget of {self.budget}, {self.neighbours}>"

    def _repr_html_(self) -> str:
        return ledger_page(self)

    # ---- inside --------------------------------------------------------------------------------------------

    def _last(self, known: AnchorState) -> Entry | None:
        """Read the last entry. The anchor was read before it, so the ledger can only have grown since."""
        self._refuse_other(known)
        return self._log.last_entry(known.entries, self._seen.entries)

    def _refuse_other(self, known: AnchorState) -> None:
        if known.header != self._log.header.digest:
            raise anchor_of_another_ledger()

    def _entry_of(self, request_id: str) -> Entry | None:
        number = number_of_request(self._database, request_id)
        return None if number is None else self._log.entry(number)

    def _rest(self, spent: Currency) -> Currency:
        return type(self.budget)(finite_amount(self.budget) - finite_amount(spent))

    def _saw(self, *, entries: Position | None = None, answers: Position | None = None) -> None:
        """Remember the ends of the chains. Threads may overwrite each other: an older end is as true."""
        seen = self._seen
        self._seen = AnchorState(seen.header, entries or seen.entries, answers or seen.answers)


def _found(path_or_url: Place, anchor: Place | None) -> tuple[Path | None, VerifiedLog]:
    place = None if anchor is None else local_file(anchor, "the anchor")
    database = database_at(path_or_url)
    if not database.exists():
        raise InvalidParameter(
            f"a ledger must be there to be opened; there is none at {database.place!r}. "
            "Make one: Ledger.create(...)."
        )
    return place, VerifiedLog.of(database)
