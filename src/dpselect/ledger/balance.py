"""The balance: what the entries of a ledger add up to, and which act may follow them.

One rule decides while an entry is written and again while it is read: ``apply``. So a ledger that verifies
holds nothing that its own rule would refuse.

    a charge       needs room in the budget; with an account, in its share too
    a reserve      is the unspent part of a reserved share; no other charge may take it
    a share        can only lower what may be spent, never raise it

Proof: balance.proof.md
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import Literal, NamedTuple, Self, TypeAlias, get_args

from dpselect.errors import BudgetExhausted, InvalidParameter
from dpselect.ledger.budget import Currency, Parts, loss_of, refuse_long_sums, total_after

Act: TypeAlias = Literal["charge", "open", "reserve", "share", "close", "budget"]
"""What an entry does: charges; opens an account, or opens it with a reserve; changes its share; closes it;
changes the budget."""
ACTS: tuple[Act, ...] = get_args(Act)
ZERO = Fraction(0)
MOST_RECENT_SHARES = 32
"""A copy of a balance copies at most this many shares, however many accounts there are."""


class NewEntry(NamedTuple):
    """The content of an entry, before it has a position in the chain."""

    loss: Parts
    """What is spent: the price of a charge, zero of every other act."""
    reason: str
    request_id: str | None
    time: datetime
    account: str | None = None
    act: Act = "charge"
    amount: Parts | None = None
    """The new share or budget."""


class Share(NamedTuple):
    """What one account may spend, and has spent."""

    limit: Parts
    spent: Parts
    reserved: bool
    closed: bool = False

    @property
    def rest(self) -> Parts:
        """What is left of the share, whatever is left of the budget."""
        return _minus(self.limit, self.spent)

    @property
    def set_aside(self) -> Parts:
        """What no other account may spend."""
        return self.rest if self.reserved and not self.closed else _nothing(self.limit)


@dataclass
class Balance:
    """All sums after some entry. ``apply`` changes a copy, so that no reader sees half of a change.

    All copies have one dict of older shares, which is never changed; each has its own dict of recent ones.
    """

    kind: type[Currency]
    budget: Parts
    spent: Parts
    set_aside: Parts
    older: Mapping[str, Share] = field(default_factory=dict)
    recent: dict[str, Share] = field(default_factory=dict)
    """Shares that count instead of the older ones of the same name."""

    @classmethod
    def of(cls, budget: Currency) -> Self:
        """Give the balance of a ledger without entries."""
        nothing = _nothing(budget.parts())
        return cls(type(budget), budget.parts(), nothing, nothing)

    def copy(self) -> Balance:
        """Give a balance that can be changed."""
        older, recent = self.older, self.recent
        if len(recent) > MOST_RECENT_SHARES:
            older, recent = self.shares(), {}
        return Balance(self.kind, self.budget, self.spent, self.set_aside, older, dict(recent))

    # ---- looking -----------------------------------------------------------------------------------------

    def shares(self) -> dict[str, Share]:
        """Give the shares of all accounts, in the order in which they were opened."""
        return {**self.older, **self.recent}

    def _known(self, account: str) -> Share | None:
        return self.recent.get(account) or self.older.get(account)

    def share(self, account: str) -> Share:
        """Find the share of an account, open or closed."""
        found = self._known(account)
        if found is None:
            way_out = "Open one: ledger.open_account(name, share=...)."
            raise InvalidParameter.must_be("account", "one that was opened", got=account, way_out=way_out)
        return found

    @property
    def remaining(self) -> Parts:
        """What is left of the budget, reserved or not."""
        return _minus(self.budget, self.spent)

    def room(self, account: str | None) -> Parts:
        """Give what may still be spent: by an account, or by the curator."""
        share = None if account is None else self.share(account)
        if share is not None and share.closed:
            return _nothing(self.budget)
        room = _minus(self._limit(share), self.spent)
        return room if share is None else tuple(map(min, room, share.rest))

    def _limit(self, share: Share | None) -> Parts:
        """Give what the sum of all charges may come to: a reserved share may use its reserve."""
        if (share is not None and share.reserved) or not any(self.set_aside):
            return self.budget
        return tuple(most - kept for most, kept in zip(self.budget, self.set_aside, strict=True))

    # ---- the rule ----------------------------------------------------------------------------------------

    def apply(self, new: NewEntry) -> None:
        """Change the balance by an act, or refuse it and change nothing."""
        if new.act == "charge":
            self._charge(new)
        elif new.act == "budget":
            self.budget = _given(new)
        elif new.act in ("open", "reserve"):
            self._open(new)
        else:
            self._change(new)

    def _charge(self, new: NewEntry) -> None:
        share = None if new.account is None else self._open_share(new.account)
        if share is not None:
            used = total_after(share.spent, new.loss, share.limit)
            if used is None:
                raise self._exhausted(new, share.rest, share.limit, f" in the share of {new.account!r}")
            after = share._replace(spent=used)
        total = total_after(self.spent, new.loss, self._limit(share))
        if total is None:
            unreserved = any(self.set_aside) and not (share is not None and share.reserved)
            where = " that is not reserved" if unreserved else ""
            raise self._exhausted(new, _minus(self._limit(share), self.spent), self.budget, where)
        aside = self.set_aside if share is None else self._moved(share, after)
        if share is not None:
            self.recent[str(new.account)] = after
        self.spent, self.set_aside = total, aside

    def _open(self, new: NewEntry) -> None:
        name, known = str(new.account), self._known(str(new.account))
        if known is not None:
            what = "was closed, and a closed name is not used again" if known.closed else "is open"
            raise InvalidParameter.must_be("account", "a new name", got=name, way_out=f"That one {what}.")
        share = Share(_given(new), _nothing(self.budget), new.act == "reserve")
        aside = self._moved(None, share)
        if share.reserved and not self._has_room_for(aside):
            raise self._exhausted(new, self.room(None), self.budget, " that is not reserved")
        self.recent[name], self.set_aside = share, aside

    def _change(self, new: NewEntry) -> None:
        """Close an account, or change its share. A reserve may always become smaller."""
        share = self._open_share(str(new.account))
        after = share._replace(closed=True) if new.act == "close" else share._replace(limit=_given(new))
        aside = self._moved(share, after)
        if not self._has_room_for(aside):
            raise self._exhausted(new, self.room(None), self.budget, " that is not reserved")
        self.recent[str(new.account)], self.set_aside = after, aside

    def _open_share(self, account: str) -> Share:
        share = self.share(account)
        if share.closed:
            way_out = "That one is closed. Open another: ledger.open_account(name, share=...)."
            raise InvalidParameter.must_be("account", "open", got=account, way_out=way_out)
        return share

    def _moved(self, before: Share | None, after: Share) -> Parts:
        """Give all reserves together, once a share has changed. Only a reserved share has one."""
        if not after.reserved:
            return self.set_aside
        less = _nothing(self.budget) if before is None else before.set_aside
        parts = zip(self.set_aside, less, after.set_aside, strict=True)
        return refuse_long_sums(tuple(kept - old + new for kept, old, new in parts))

    def _has_room_for(self, aside: Parts) -> bool:
        """Say whether reserves fit beside what is spent; a part that does not grow needs no room."""
        parts = zip(aside, self.set_aside, self.spent, self.budget, strict=True)
        return all(new <= old or spent + new <= most for new, old, spent, most in parts)

    def _exhausted(self, new: NewEntry, left: Parts, limit: Parts, where: str) -> BudgetExhausted:
        price = new.loss if new.act == "charge" else _given(new)
        reason = new.reason if new.act == "charge" else f"account {new.account}"
        paid, rest, most = (loss_of(self.kind, each) for each in (price, left, limit))
        return BudgetExhausted(reason, paid, rest, most, where)


def _given(new: NewEntry) -> Parts:
    """Read the share or the budget that an act must name."""
    if new.amount is None:
        raise InvalidParameter("an act that sets a share or a budget must name it.")
    return new.amount


def _minus(most: Parts, spent: Parts) -> Parts:
    """Give what is left, part by part: nothing where more is spent than allowed."""
    return tuple(max(a - b, ZERO) for a, b in zip(most, spent, strict=True))


def _nothing(parts: Parts) -> Parts:
    return (ZERO,) * len(parts)
