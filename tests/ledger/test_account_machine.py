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

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from dpselect import ZCDP, AlreadyCharged, ApproxDP, ApproxZCDP, BudgetExhausted, Ledger, PureDP
from dpselect.errors import AlreadyAnswered, InvalidParameter
from dpselect.ledger.budget import Currency

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


requests = st.none() | st.sampled_from(["r", "s"])


def below(a: Pair, b: Pair) -> bool:
    return a[0] <= b[0] and a[1] <= b[1]


def plus(*each: Pair) -> Pair:
    return sum((pair[0] for pair in each), Fraction(0)), sum((pair[1] for pair in each), Fraction(0))


def minus(a: Pair, b: Pair) -> Pair:
    return max(Fraction(0), a[0] - b[0]), max(Fraction(0), a[1] - b[1])


class Accounts(RuleBasedStateMachine):
    """Every act on a ledger, by one of two objects that are open at the same time, beside what it should do.

    A ledger of one part is modelled as one whose deltas are all zero.
    """

    kind: type[Currency] = ApproxDP

    def loss(self, pair: Pair) -> Currency:
        return self.kind(*pair[: len(self.kind.zero().parts())])

    def seen(self, pair: Pair) -> Pair:
        """Give what a ledger of this kind has of a pair."""
        return pair if len(self.kind.zero().parts()) == 2 else (pair[0], Fraction(0))

    def __init__(self) -> None:
        super().__init__()
        memory = Path("/dev", "shm")  # a disk that syncs at once, where there is one
        self.folder = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))
        self.budget: Pair = self.seen((Fraction(1), Fraction(1, 10)))
        self.ledger = Ledger.create(self.folder / "a.ledger", budget=self.loss(self.budget))
        self.other = Ledger.open(self.folder / "a.ledger")
        self.charges: list[tuple[str | None, Pair]] = []
        self.shares: dict[str, Pair] = {}
        self.reserved: set[str] = set()
        self.closed: set[str] = set()
        self.requests: dict[tuple[str | None, str], str | None] = {}
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
        self.ledger, self.other = self.other, self.ledger
        try:
            act()
        except (BudgetExhausted, InvalidParameter, AlreadyCharged) as error:
            found: type[Exception] | None = type(error)
        else:
            found = None
            self.entries += 1
        assert found is refused
        return found is None

    @rule(name=st.none() | names, price=prices, request=requests)
    def charge(self, name: str | None, price: Pair, request: str | None) -> None:
        price = self.seen(price)
        refused: type[Exception] | None = None
        if request is not None and (name, request) in self.requests:
            refused = AlreadyCharged
        elif not self.is_open(name):
            refused = InvalidParameter
        else:
            total = plus(self.spent(), price)
            fits = below(total, self.budget)
            if name is not None:
                fits = fits and below(plus(self.spent(name), price), self.shares[name])
            if name not in self.reserved:
                fits = fits and below(plus(total, self.aside()), self.budget)
            refused = None if fits else BudgetExhausted
            assert self.ledger.affords(self.loss(price), account=name) is fits
        if self.expect(
            refused,
            lambda: self.ledger.charge(self.loss(price), reason="a", account=name, request_id=request),
        ):
            self.charges.append((name, price))
            if request is not None:
                self.requests[name, request] = None

    @rule(name=st.none() | names, request=st.sampled_from(["r", "s"]))
    def store(self, name: str | None, request: str) -> None:
        key, text = (name, request), f"the answer of {name} to {request}"
        if key in self.requests and self.requests[key] is None:
            self.other.store(request, text, account=name)
            self.requests[key] = text
        else:
            with pytest.raises(AlreadyAnswered if key in self.requests else InvalidParameter):
                self.other.store(request, "another", account=name)

    @rule(name=names, share=limits, reserve=st.booleans())
    def open_account(self, name: str, share: Pair, *, reserve: bool) -> None:
        share = self.seen(share)
        refused: type[Exception] | None = None
        if name in self.shares:
            refused = InvalidParameter
        elif reserve and not self.may_set_aside(plus(self.aside(), share)):
            refused = BudgetExhausted
        if self.expect(
            refused, lambda: self.ledger.open_account(name, share=self.loss(share), reserve=reserve)
        ):
            self.shares[name] = share
            if reserve:
                self.reserved.add(name)

    def may_set_aside(self, new: Pair) -> bool:
        now, total = self.aside(), plus(self.spent(), new)
        return all(new[part] <= now[part] or total[part] <= self.budget[part] for part in (0, 1))

    @rule(name=names, share=limits)
    def change_share(self, name: str, share: Pair) -> None:
        share = self.seen(share)
        refused: type[Exception] | None = None
        if not self.is_open(name):
            refused = InvalidParameter
        elif name in self.reserved:
            new = plus(self.aside(but=name), minus(share, self.spent(name)))
            refused = None if self.may_set_aside(new) else BudgetExhausted
        if self.expect(refused, lambda: self.ledger.change_share(name, self.loss(share), reason="b")):
            self.shares[name] = share

    @rule(name=names)
    def close_account(self, name: str) -> None:
        refused = None if self.is_open(name) else InvalidParameter
        if self.expect(refused, lambda: self.ledger.close_account(name)):
            self.closed.add(name)

    @rule(budget=limits)
    def change_budget(self, budget: Pair) -> None:
        budget = self.seen(budget)
        self.expect(None, lambda: self.ledger.change_budget(self.loss(budget), reason="c"))
        self.budget = budget

    @rule()
    def open_again(self) -> None:
        self.ledger.close()
        self.ledger = Ledger.open(self.folder / "a.ledger")

    @invariant()
    def agrees(self) -> None:
        now = self.ledger
        assert (now.budget, now.spent) == (self.loss(self.budget), self.loss(self.spent()))
        assert now.remaining == self.loss(minus(self.budget, self.spent()))
        assert now.reserved == self.loss(self.aside())
        for (name, request), text in self.requests.items():
            assert now.answer(request, name) == text
        for account in now.accounts():
            name = account.name
            assert (account.share, account.spent) == (
                self.loss(self.shares[name]),
                self.loss(self.spent(name)),
            )
            assert (account.closed, account.reserved) == (name in self.closed, name in self.reserved)
        assert [each.name for each in now.accounts()] == list(self.shares)

    def teardown(self) -> None:
        assert self.ledger.verify() == self.entries
        assert sum(1 for _ in self.ledger.entries()) == self.entries
        self.ledger.close()
        shutil.rmtree(self.folder)


class AccountsOfEpsilon(Accounts):
    kind = PureDP


class AccountsOfRho(Accounts):
    kind = ZCDP


class AccountsOfRhoAndDelta(Accounts):
    kind = ApproxZCDP


TestAccounts = Accounts.TestCase
TestAccounts.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
TestAccountsOfEpsilon = AccountsOfEpsilon.TestCase
TestAccountsOfRho = AccountsOfRho.TestCase
TestAccountsOfRhoAndDelta = AccountsOfRhoAndDelta.TestCase
FEWER = settings(max_examples=10, stateful_step_count=30, deadline=None)
TestAccountsOfEpsilon.settings = TestAccountsOfRho.settings = TestAccountsOfRhoAndDelta.settings = FEWER
