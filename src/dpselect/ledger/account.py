"""An account, as it is shown: what one analyst may spend of a budget, and has spent."""

from __future__ import annotations

from dataclasses import dataclass

from dpselect.ledger.balance import Balance
from dpselect.ledger.budget import Currency, loss_of


@dataclass(frozen=True)
class Account:
    """A share of a budget at one moment. It can only lower what may be spent."""

    name: str
    share: Currency
    spent: Currency
    remaining: Currency
    """What a charge could take now: at most the rest of the share, and at most what the budget has left."""
    reserved: bool
    """Whether the unspent part of the share is set aside, so that no other charge can spend it."""
    closed: bool


def account_of(balance: Balance, name: str) -> Account:
    """Look at one account of a balance; refuse a name that was never opened."""
    share = balance.share(name)
    limit, spent, left = (
        loss_of(balance.kind, each) for each in (share.limit, share.spent, balance.room(name))
    )
    return Account(name, limit, spent, left, share.reserved, share.closed)
