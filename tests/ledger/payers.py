"""Who charges a ledger in the tests of faults: a curator or an account, a budget of one part or of two.

Every fault is tried with each of the four. They write different entries, and are compared in different ways.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dpselect import ApproxDP, Ledger, PureDP
from dpselect.ledger.budget import Currency
from dpselect.ledger.entries import Entry

Report = tuple[object, ...]


@dataclass(frozen=True)
class Payer:
    """Who charges what; the account has a reserve of the whole budget."""

    price: Currency
    account: str | None

    def create(self, place: Path | str, times: int = 100) -> Ledger:
        """Make a ledger with a budget of this number of prices."""
        ledger = Ledger.create(place, budget=self.price * times)
        if self.account is not None:
            ledger.open_account(self.account, share=ledger.budget, reserve=True)
        return ledger

    @property
    def entries_before(self) -> int:
        """How many entries stand before the first charge."""
        return 0 if self.account is None else 1

    def charge(self, ledger: Ledger, reason: str, request_id: str | None = None) -> Entry:
        return ledger.charge(self.price, reason=reason, request_id=request_id, account=self.account)

    def fill(self, ledger: Ledger, numbers: range) -> None:
        """Charge for each number; every third charge is answered."""
        for number in numbers:
            self.charge(ledger, f"reason {number}", f"r{number}")
            if number % 3 == 0:
                ledger.store(f"r{number}", f"answer {number}", account=self.account)

    def report(self, ledger: Ledger) -> Report:
        """All that a ledger says of itself."""
        answers = tuple(ledger.answer(f"r{number}", self.account) for number in (3, 4, 18))
        sums = (ledger.budget, ledger.spent, ledger.remaining, ledger.reserved, tuple(ledger.accounts()))
        return (*sums, tuple(ledger.entries()), answers, ledger.verify())

    def spent_alone(self, ledger: Ledger) -> Currency:
        """What this payer has spent, and no other has: the sum, which is also the account's."""
        if self.account is not None:
            assert ledger.account(self.account).spent == ledger.spent
        return ledger.spent


CURATOR = Payer(PureDP("1/100"), None)
ADA = Payer(ApproxDP("1/100", "1/1000"), "ada")
PAYERS = {
    "curator": CURATOR,
    "curator-delta": Payer(ADA.price, None),
    "account": Payer(CURATOR.price, "ada"),
    "account-delta": ADA,
}
_SMALL_PRICES: dict[Currency, Currency] = {
    CURATOR.price: PureDP("1/100000"),
    ADA.price: ApproxDP("1/100000", "1/1000000"),
}
SMALL = {name: Payer(_SMALL_PRICES[each.price], each.account) for name, each in PAYERS.items()}
"""The same with prices so small that a disk is full before the budget is spent."""
