"""The ledger: a budget on disk that cannot be overspent.

A release validates, charges durably, reads, draws, stores and answers, in this order. What fails after the
charge is not refunded. Nothing is ever edited or deleted.

Format: entries.py. Faults: docs/explanation/ledger.md
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Self

from dpselect.errors import BudgetExhausted, InvalidParameter
from dpselect.exact.numbers import Number
from dpselect.ledger.account import Account, account_of
from dpselect.ledger.anchor import refuse_existing_anchor
from dpselect.ledger.anchor_places import AnchorPlaces, found_ledger, refuse_existing_anchors
from dpselect.ledger.balance import Act, NewEntry
from dpselect.ledger.book import Book
from dpselect.ledger.budget import Currency, checked_budget, checked_change, cost, loss_of
from dpselect.ledger.entries import Entry, header_row, new_header
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
from dpselect.ledger.reasons import REASONS_OF_ACTS
from dpselect.ledger.verified_log import VerifiedLog
from dpselect.privacy.losses import PureDP
from dpselect.privacy.neighbours import Neighbours, metric_of

DEFAULT_BUDGET = PureDP("1")


class Ledger:
    """A budget and what was spent of it, exactly and durably. ``create`` or ``open`` makes one.

    Many threads may use one object, and it survives a fork. All that it holds is public.

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
        self._book = Book(log, anchors, clock)

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
        or where one person's answers differ. The curator chooses the names ``dataset`` and ``unit``.
        ``anchor`` is a file, best on another disk; without it, a companion of the file, or a file in the
        user's state folder for PostgreSQL.
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
        place, log = found_ledger(path_or_url, anchor)
        return cls(log, AnchorPlaces.of(log, place).with_main_written(log, place, "by its anchor"), clock)

    @classmethod
    def vouch(cls, path_or_url: Place, *, anchor: Place | None = None, clock: Clock = system_clock) -> Self:
        """Open a ledger whose anchor is gone, and write a new one: you vouch that no entry is missing.

        An anchor that exists is never replaced, and the ledger must not be behind another one of its own.
        """
        place, log = found_ledger(path_or_url, anchor)
        anchors = AnchorPlaces.of(log, place)
        refuse_existing_anchor(anchors.main, log.database.place)
        return cls(log, anchors.with_main_written(log, place, "as found"), clock)

    # ---- charge and answer ---------------------------------------------------------------------------------

    def charge(
        self,
        loss: object,
        *,
        reason: str,
        request_id: str | None = None,
        account: str | None = None,
        delta: Number | None = None,
    ) -> Entry:
        """Charge a loss, durably, before any data is read. If this raises, release nothing.

        The caller vouches that the loss is one between neighbours of the ledger's kind; ``select`` and
        ``top_k`` compare the kinds. With an ``account`` the charge needs room in its share and in the budget;
        without one it is the curator's, and takes from what is not reserved. A curve or a profile is charged
        at the ``delta`` that is named.

        ``BudgetExhausted``: it costs more than is left. ``AlreadyCharged``: the request was charged before.
        ``LedgerDamaged``: the ledger cannot be trusted. These three charge nothing.
        ``LedgerUnavailable``: disk or server failed. If it failed in the commit, the charge may be recorded.
        """
        reason, name = reason_text(reason), optional_name(account, "account")
        request_id = optional_name(request_id, "request_id")
        price = cost(loss, self._kind, delta=delta)
        return self._book.append(lambda time: NewEntry(price.parts(), reason, request_id, time, name))

    def store(self, request_id: str, answer: str, *, account: str | None = None) -> None:
        """Store the answer to a charged request, once. A repeated request then gets the same answer."""
        name = optional_name(account, "account")
        self._book.store(name_text(request_id, "request_id"), name, answer_text(answer))

    def answer(self, request_id: str, account: str | None = None) -> str | None:
        """Give the stored answer to a request of an account, or of the curator; None if there is none.

        Each account has request ids of its own: the same id means another request for another account.
        """
        request_id, name = name_text(request_id, "request_id"), optional_name(account, "account")
        if name is not None:
            self._book.balance().share(name)  # refuse one that was never opened
        return self._book.answer(request_id, name)

    def affords(self, loss: object, *, account: str | None = None, delta: Number | None = None) -> bool:
        """Say whether ``charge`` would accept a loss now. Nothing is written, and nothing is reserved.

        A loss that the ledger cannot hold raises what ``charge`` raises. It works on read-only copies too.
        """
        return self.refusal_of(loss, reason="asked", account=account, delta=delta) is None

    def refusal_of(
        self, loss: object, *, reason: str, account: str | None = None, delta: Number | None = None
    ) -> BudgetExhausted | None:
        """Give the ``BudgetExhausted`` that ``charge`` would raise now, or None."""
        reason, name = reason_text(reason), optional_name(account, "account")
        return self._book.refusal_of(cost(loss, self._kind, delta=delta).parts(), reason, name)

    # ---- accounts and the budget ---------------------------------------------------------------------------

    def open_account(
        self, name: str, *, share: Currency, reserve: bool = False, reason: str | None = None
    ) -> Account:
        """Open an account: its charges need room in its share, and in the budget.

        Shares may add up to more than the budget. One with ``reserve=True`` is set aside: no other charge can
        take it, until the account is closed. A name is used once.
        """
        made = checked_change(share, self._kind, "share")
        self._act("reserve" if reserve else "open", name, made, reason)
        return self.account(name)

    def change_share(self, name: str, share: Currency, *, reason: str) -> Account:
        """Change the share of an account. Below what it has spent, its charges stop."""
        self._act("share", name, checked_change(share, self._kind, "share"), reason)
        return self.account(name)

    def close_account(self, name: str, *, reason: str | None = None) -> Account:
        """Close an account for good. What it has not spent of a reserve is given back."""
        self._act("close", name, None, reason)
        return self.account(name)

    def change_budget(self, budget: Currency, *, reason: str) -> Entry:
        """Change the budget. Below what is spent, charges stop: what is spent stays spent."""
        kind = self._kind
        if type(budget) is not kind:
            way_out = f"Write {kind.zero()!r} with your numbers."
            raise InvalidParameter.must_be("budget", f"a loss, {kind.__name__}", got=budget, way_out=way_out)
        return self._act("budget", None, checked_change(budget, kind, "budget"), reason)

    def account(self, name: str) -> Account:
        """Look at an account, open or closed."""
        return account_of(self._book.balance(), name_text(name, "account"))

    def accounts(self) -> list[Account]:
        """Look at all accounts, in the order in which they were opened."""
        now = self._book.balance()
        return [account_of(now, name) for name in now.shares()]

    def _act(self, act: Act, name: str | None, amount: Currency | None, reason: str | None) -> Entry:
        reason = reason_text(REASONS_OF_ACTS.get(act) if reason is None else reason)
        account = None if act == "budget" else name_text(name, "account")
        self._book.must_hold_accounts()
        parts, nothing = None if amount is None else amount.parts(), self._kind.zero().parts()
        return self._book.append(lambda time: NewEntry(nothing, reason, None, time, account, act, parts))

    # ---- look ----------------------------------------------------------------------------------------------

    @property
    def _kind(self) -> type[Currency]:
        return type(self._book.header.budget)

    @property
    def budget(self) -> Currency:
        """The whole budget: as ``create`` was given it, or as it was changed last."""
        return loss_of(self._kind, self._book.balance().budget)

    @property
    def neighbours(self) -> Neighbours:
        """The kind of neighbours. Every charge is a loss between neighbours of this kind."""
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
        return loss_of(self._kind, self._book.balance().spent)

    @property
    def remaining(self) -> Currency:
        """The budget minus the sum of all charges; zero where more is spent than the budget is now."""
        return loss_of(self._kind, self._book.balance().remaining)

    @property
    def reserved(self) -> Currency:
        """What is set aside for accounts: their own charges alone can spend it."""
        return loss_of(self._kind, self._book.balance().set_aside)

    def entries(self) -> Iterator[Entry]:
        """Read all entries from the first on. Each is checked before it is given out."""
        return self._book.entries()

    def verify(self) -> int:
        """Check every record. Give the number of entries, or raise ``LedgerDamaged``."""
        return self._book.verify()

    def export(self, *, answers: bool = False) -> Iterator[str]:
        """Write every record as a line of JSON (docs/reference/ledger-export.md)."""
        return self._book.export(answers=answers)

    def close(self) -> None:
        """Close the file or the connection. A later call opens it again."""
        self._book.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    @property
    def place(self) -> str:
        """Where the ledger is, in a form that may be shown: without a password."""
        return self._book.database.place

    def __repr__(self) -> str:
        budget = loss_of(self._kind, self._book.last_balance().budget)
        return f"<Ledger {self.place!r} with a budget of {budget}, {self.neighbours}>"

    def _repr_html_(self) -> str:
        return ledger_page(self)
