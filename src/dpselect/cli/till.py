"""Between a release and its ledger: notice that it was paid, or stop just before.

What a command has paid is kept here until the next one: however it ends, that is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpselect.cli.interrupts import Held

if TYPE_CHECKING:
    from dpselect.ledger import Ledger
    from dpselect.privacy.neighbours import Neighbours


_receipts: list[str] = []


def receipt() -> str:
    """Say what this command has paid; nothing, if it has not."""
    return " ".join(_receipts)


def forget() -> None:
    """Begin a new command."""
    _receipts.clear()


class Rehearsed(Exception):
    """The rehearsal has come to the till: all was in order, nothing was paid."""


class Till:
    """What a release sees as its ledger; the real one, if there is one, stands behind it."""

    def __init__(self, ledger: Ledger | None, *, rehearsal: bool, neighbours: Neighbours) -> None:
        """Take the real ledger; without one nothing is added up, so a question may have any neighbours."""
        self._ledger, self._rehearsal = ledger, rehearsal
        self.neighbours = ledger.neighbours if ledger else neighbours
        self.paid = False

    @property
    def dataset(self) -> str | None:
        """The name of the data set."""
        return self._ledger.dataset if self._ledger else None

    @property
    def unit(self) -> str | None:
        """The name of the privacy unit."""
        return self._ledger.unit if self._ledger else None

    def charge(self, loss: object, *, reason: str, request_id: str | None = None) -> object:
        """Charge the real ledger; or see whether it could be, and stop."""
        if self._rehearsal:
            if self._ledger is not None:
                self._refuse_too_much(loss, reason)
            raise Rehearsed
        with Held():
            entry = self._ledger.charge(loss, reason=reason, request_id=request_id) if self._ledger else None
            self.paid = True
            _receipts.append(
                f"The budget is spent: {loss} was charged before the data was read."
                if self._ledger
                else f"Count {loss} as spent: rows were looked at."
            )
        return entry

    def store(self, request_id: str, answer: str) -> None:
        """Keep an answer."""
        if self._ledger:
            self._ledger.store(request_id, answer)

    def answer(self, request_id: str) -> str | None:
        """Give a kept answer."""
        return self._ledger.answer(request_id) if self._ledger else None

    def _refuse_too_much(self, loss: Any, reason: str) -> None:
        from dpselect.errors import BudgetExhausted
        from dpselect.ledger.budget import cost

        ledger = self._ledger
        if ledger is None:
            return
        price = cost(loss, type(ledger.budget))
        if not price <= ledger.remaining:  # type: ignore[operator] # of one kind, as cost sees to
            raise BudgetExhausted(reason, price, ledger.remaining, ledger.budget)
