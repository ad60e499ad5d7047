"""dpselect.ledger.balance as a machine: in every order of acts it agrees with a model that adds up lists.

The model keeps no running sums: it adds up all charges anew for each question. So a sum shows that the ledger
carries along and loses, or counts twice.
"""

from __future__ import annotations

import shutil
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from dpselect import ApproxDP, BudgetExhausted, Ledger
from dpselect.errors import InvalidParameter

Pair: TypeAlias = tuple[Fraction, Fraction]
names = st.sampled_from(["ada", "bob", "eve"])
prices = st.tuples(
    st.sampled_from([Fraction(n, 4) for n in (1, 2, 3, 0)]),
    st.sampled_from([Fraction(n, 40) for n in (0, 1, 2)]),
)
limits = st.tuples(
    st.sampled_from([Fraction(n, 4) for n in (3, 2, 4, 5, 1)]),
    st.sampled_from([Fraction(n, 40) for n in (4, 2, 0)]),
)


def loss(pair: Pair) -> ApproxDP:
    return ApproxDP(*pair)


def below(a: Pair, b: Pair) -> bool:
    return a[0] <= b[0] and a[1] <= b[1]


def plus(*each: Pair) -> Pair:
    return sum((pair[0] for pair in each), Fraction(0)), sum((pair[1] for pair in each), Fraction(0))


def minus(a: Pair, b: Pair) -> Pair:
    return max(Fraction(0), a[0] - b[0]), max(Fraction(0), a[1] - b[1])


class Accounts(RuleBasedStateMachine):
    """Every act on a ledger of two parts, beside what it should do."""

    def __init__(self) -> None:
        super().__init__()
        memory = Path("/dev", "shm")  # a disk that syncs at once, where there is one
        self.folder = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))
        self.budget: Pair = (Fraction(1), Fraction(1, 10))
        self.ledger = Ledger.create(self.folder / "a.ledger", budget=loss(self.budget))
        self.charges: list[tuple[str | None, Pair]] = []
        self.shares: dict[str, Pair] = {}
        self.reserved: set[str] = set()
        self.closed: set[str] = set()
        self.entries = 0

    @initialize()
    def begin_with_two(self) -> None:
        """Open one account with a reserve and one without, where the two get into each other's way."""
        self.open_account("ada", (Fraction(1, 2), Fraction(1, 20)), reserve=True)
        self.open_account("bob", (Fraction(1), Fraction(1, 10)), reserve=False)

    def spent(self, account: str | None = "all") -> Pair:
        return plus(*(pair for name, pair in self.charges if account in ("all", name)))

    def rest(self, name: str) -> Pair:
        return minus(self.shares[name], self.spent(name))

    def aside(self, but: str | None = None) -> Pair:
        return plus(*(self.rest(name) for name in self.reserved - self.closed if name != but))

    def is_open(self, name: str | None) -> bool:
        return name is None or (name in self.shares and name not in self.closed)

    def expect(self, refused: type[Exception] | None, act: Any) -> bool:
        """Act, and say whether it was accepted; it must be refused as expected."""
        try:
            act()
        except (BudgetExhausted, InvalidParameter) as error:
            found: type[Exception] | None = type(error)
        else:
            found = None
            self.entries += 1
        assert found is refused
        return found is None

    @rule(name=st.none() | names, price=prices)
    def charge(self, name: str | None, price: Pair) -> None:
        refused: type[Exception] | None = None
        if not self.is_open(name):
            refused = InvalidParameter
        else:
            total = plus(self.spent(), price)
            fits = below(total, self.budget)
            if name is not None:
                fits = fits and below(plus(self.spent(name), price), self.shares[name])
            if name not in self.reserved:
                fits = fits and below(plus(total, self.aside()), self.budget)
            refused = None if fits else BudgetExhausted
            assert self.ledger.affords(loss(price), account=name) is fits
        if self.expect(refused, lambda: self.ledger.charge(loss(price), reason="a", account=name)):
            self.charges.append((name, price))

    @rule(name=names, share=limits, reserve=st.booleans())
    def open_account(self, name: str, share: Pair, *, reserve: bool) -> None:
        refused: type[Exception] | None = None
        if name in self.shares:
            refused = InvalidParameter
        elif reserve and not self.may_set_aside(plus(self.aside(), share)):
            refused = BudgetExhausted
        if self.expect(refused, lambda: self.ledger.open_account(name, share=loss(share), reserve=reserve)):
            self.shares[name] = share
            if reserve:
                self.reserved.add(name)

    def may_set_aside(self, new: Pair) -> bool:
        now, total = self.aside(), plus(self.spent(), new)
        return all(new[part] <= now[part] or total[part] <= self.budget[part] for part in (0, 1))

    @rule(name=names, share=limits)
    def change_share(self, name: str, share: Pair) -> None:
        refused: type[Exception] | None = None
        if not self.is_open(name):
            refused = InvalidParameter
        elif name in self.reserved:
            new = plus(self.aside(but=name), minus(share, self.spent(name)))
            refused = None if self.may_set_aside(new) else BudgetExhausted
        if self.expect(refused, lambda: self.ledger.change_share(name, loss(share), reason="b")):
            self.shares[name] = share

    @rule(name=names)
    def close_account(self, name: str) -> None:
        refused = None if self.is_open(name) else InvalidParameter
        if self.expect(refused, lambda: self.ledger.close_account(name)):
            self.closed.add(name)

    @rule(budget=limits)
    def change_budget(self, budget: Pair) -> None:
        self.expect(None, lambda: self.ledger.change_budget(loss(budget), reason="c"))
        self.budget = budget

    @rule()
    def open_again(self) -> None:
        self.ledger.close()
        self.ledger = Ledger.open(self.folder / "a.ledger")

    @invariant()
    def agrees(self) -> None:
        now = self.ledger
        assert (now.budget, now.spent) == (loss(self.budget), loss(self.spent()))
        assert now.remaining == loss(minus(self.budget, self.spent()))
        assert now.reserved == loss(self.aside())
        for account in now.accounts():
            name = account.name
            assert (account.share, account.spent) == (loss(self.shares[name]), loss(self.spent(name)))
            assert (account.closed, account.reserved) == (name in self.closed, name in self.reserved)
        assert [each.name for each in now.accounts()] == list(self.shares)

    def teardown(self) -> None:
        assert self.ledger.verify() == self.entries
        assert sum(1 for _ in self.ledger.entries()) == self.entries
        self.ledger.close()
        shutil.rmtree(self.folder)


TestAccounts = Accounts.TestCase
TestAccounts.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
