"""dpselect.ledger.balance and dpselect.ledger.budget: accounts and reserves, in a file and on a server."""

import itertools
import math
from collections.abc import Callable
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpselect import (
    ZCDP,
    AlreadyCharged,
    ApproxDP,
    ApproxZCDP,
    BudgetExhausted,
    Ledger,
    LedgerDamaged,
    PrivacyProfile,
    PureDP,
    RenyiDP,
)
from dpselect.accounting import convert
from dpselect.errors import InvalidParameter
from dpselect.ledger.balance import MOST_RECENT_SHARES, Balance, NewEntry
from dpselect.ledger.budget import Currency
from tests.ledger.places import Place

HALF, QUARTER = PureDP("1/2"), PureDP("1/4")
MILLIONTH = Fraction(1, 10**6)


# ---- shares ----------------------------------------------------------------------------------------------


def test_a_charge_needs_room_in_the_share_and_in_the_budget(place: Place) -> None:
    ledger = Ledger.create(place.url, budget=PureDP(1))
    for name in ("ada", "bob"):
        ledger.open_account(name, share=PureDP("3/4"))
    ledger.charge(HALF, reason="a", account="ada")
    with pytest.raises(BudgetExhausted, match=r"0.25 of 0.75 is left in the share of 'ada'\.$"):
        ledger.charge(HALF, reason="b", account="ada")
    ledger.charge(HALF, reason="c", account="bob")
    with pytest.raises(BudgetExhausted, match=r"^'d' costs epsilon 0.25; 0 of 1 is left\.$"):
        ledger.charge(QUARTER, reason="d", account="bob")
    again = Ledger.open(place.url)
    assert [(each.name, each.spent) for each in again.accounts()] == [("ada", HALF), ("bob", HALF)]
    assert again.account("bob").remaining == PureDP(0)
    assert (again.spent, again.verify()) == (PureDP(1), 4)


@pytest.mark.parametrize("name", [["ada"], {}, 5, "", "a\nb", "x" * 201])
def test_what_cannot_be_a_name_is_refused_wherever_an_account_is_named(name: Any, tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "a.ledger") as ledger:
        for act in (
            lambda: ledger.affords(HALF, account=name),
            lambda: ledger.refusal_of(HALF, reason="a", account=name),
            lambda: ledger.charge(HALF, reason="a", account=name),
            lambda: ledger.answer("r", name),
            lambda: ledger.store("r", "tea", account=name),
            lambda: ledger.account(name),
            lambda: ledger.open_account(name, share=HALF),
            lambda: ledger.change_share(name, HALF, reason="a"),
            lambda: ledger.close_account(name),
        ):
            with pytest.raises(InvalidParameter, match="account must be one line of printable text"):
                act()
        assert ledger.verify() == 0


def test_what_remains_of_a_share_is_what_a_charge_could_take(place: Place) -> None:
    ledger = Ledger.create(place.url, budget=PureDP(1))
    assert ledger.open_account("ada", share=PureDP("3/4")).remaining == PureDP("3/4")
    ledger.charge(QUARTER, reason="her own", account="ada")
    assert ledger.account("ada").remaining == HALF
    ledger.charge(QUARTER, reason="the curator")
    assert ledger.account("ada").remaining == HALF
    ledger.charge(QUARTER, reason="the curator")
    assert ledger.account("ada").remaining == QUARTER
    assert ledger.affords(QUARTER, account="ada")
    assert not ledger.affords(HALF, account="ada")


def test_a_reserve_is_spent_by_its_account_alone_and_given_back_when_it_closes(place: Place) -> None:
    ledger = Ledger.create(place.url, budget=PureDP(1))
    ledger.open_account("ada", share=HALF, reserve=True)
    ledger.open_account("bob", share=PureDP(1))
    assert (ledger.reserved, ledger.remaining, ledger.account("bob").remaining) == (HALF, PureDP(1), HALF)
    for account in (None, "bob"):
        with pytest.raises(BudgetExhausted, match=r"0.5 of 1 is left that is not reserved"):
            ledger.charge(PureDP("3/4"), reason="too much", account=account)
    ledger.charge(HALF, reason="the rest", account="bob")
    ledger.charge(QUARTER, reason="mine", account="ada")
    assert (ledger.reserved, ledger.account("ada").remaining) == (QUARTER, QUARTER)
    with pytest.raises(BudgetExhausted):
        ledger.charge(QUARTER, reason="not yours")
    assert ledger.close_account("ada").closed
    assert ledger.reserved == PureDP(0)
    assert ledger.charge(QUARTER, reason="given back").total == PureDP(1)
    assert Ledger.open(place.url).verify() == 6


def test_many_accounts_are_kept_apart_in_the_order_in_which_they_were_opened(file_place: Place) -> None:
    ledger = Ledger.create(file_place.url, budget=PureDP(1))
    other = Ledger.open(file_place.url)
    names = [f"account {number}" for number in range(2 * MOST_RECENT_SHARES + 3, 0, -1)]
    for name in names:
        ledger.open_account(name, share=HALF)
    price = PureDP("1/100")
    spent = dict.fromkeys(names, PureDP(0))
    for name in [*names, *names[:5], names[-1]]:
        before = ledger.accounts()
        other.charge(price, reason="a", account=name)
        assert before != ledger.accounts()
        spent[name] += price
    for each in (ledger, other, Ledger.open(file_place.url)):
        assert [(account.name, account.spent) for account in each.accounts()] == list(spent.items())


def test_a_copy_of_a_balance_shares_what_is_old_and_changes_alone() -> None:
    balance = Balance.of(PureDP(1))
    noon = datetime(2026, 5, 1, 12, tzinfo=UTC)
    for number in range(1000):
        balance.apply(NewEntry((Fraction(0),), "a", None, noon, f"{number}", "open", (Fraction(1),)))
    first = balance.copy()
    second = first.copy()
    assert (first.shares(), second.older is first.older) == (balance.shares(), True)
    second.apply(NewEntry((Fraction(1, 2),), "a", None, noon, "7"))
    assert (first.share("7").spent, second.share("7").spent) == ((Fraction(0),), (Fraction(1, 2),))
    assert (len(first.recent), len(second.recent)) == (0, 1)


def test_no_reserve_is_promised_twice(place: Place) -> None:
    ledger = Ledger.create(place.url, budget=PureDP(1))
    ledger.charge(QUARTER, reason="before")
    ledger.open_account("ada", share=HALF, reserve=True)
    with pytest.raises(BudgetExhausted, match=r"^'account bob' costs epsilon 0.5; 0.25 of 1 is left that"):
        ledger.open_account("bob", share=HALF, reserve=True)
    with pytest.raises(BudgetExhausted):
        ledger.change_share("ada", PureDP("4/5"), reason="more")
    ledger.change_share("ada", PureDP("3/4"), reason="all that is free")
    ledger.change_share("ada", QUARTER, reason="less")
    assert (ledger.reserved, ledger.verify()) == (QUARTER, 4)


def test_names_are_used_once(place: Place) -> None:
    ledger = Ledger.create(place.url)
    ledger.open_account("ada", share=HALF)
    with pytest.raises(ValueError, match=r"account must be a new name; got 'ada'\. That one is open\."):
        ledger.open_account("ada", share=HALF)
    ledger.close_account("ada")
    for use in (
        lambda: ledger.charge(PureDP(0), reason="a", account="ada"),
        lambda: ledger.affords(PureDP(0), account="ada"),
        lambda: ledger.close_account("ada"),
        lambda: ledger.change_share("ada", HALF, reason="a"),
    ):
        with pytest.raises(ValueError, match=r"account must be open; got 'ada'"):
            use()
    with pytest.raises(ValueError, match="a closed name is not used again"):
        ledger.open_account("ada", share=HALF)
    assert (ledger.account("ada").closed, ledger.account("ada").remaining) == (True, PureDP(0))
    assert ledger.verify() == 2


def test_an_account_that_was_never_opened_is_refused(place: Place) -> None:
    ledger = Ledger.create(place.url)
    uses: list[Callable[[], object]] = [
        lambda: ledger.charge(HALF, reason="a", account="eve"),
        lambda: ledger.account("eve"),
        lambda: ledger.close_account("eve"),
        lambda: ledger.change_share("eve", HALF, reason="a"),
        lambda: ledger.answer("r", account="eve"),
    ]
    for use in uses:
        with pytest.raises(ValueError, match=r"account must be one that was opened; got 'eve'"):
            use()
    for name in ("", "two\nlines", "x" * 201, 5, None):
        with pytest.raises(InvalidParameter, match="account must be one line"):
            ledger.open_account(name, share=HALF)  # type: ignore[arg-type]  # that is the point
    assert ledger.verify() == 0


@pytest.mark.parametrize("share", [1, "1/2", None, ZCDP(1), ApproxDP(1, 0), PureDP(math.inf)], ids=str)
def test_a_share_is_a_finite_loss_of_the_ledgers_kind(place: Place, share: object) -> None:
    ledger = Ledger.create(place.url)
    with pytest.raises(InvalidParameter, match=r"^share must be "):
        ledger.open_account("ada", share=share)  # type: ignore[arg-type]  # that is the point
    with pytest.raises(InvalidParameter, match=r"^budget must be "):
        ledger.change_budget(share, reason="a")  # type: ignore[arg-type]  # that is the point
    assert ledger.verify() == 0


# ---- requests --------------------------------------------------------------------------------------------


def test_request_ids_are_a_namespace_of_each_account(place: Place) -> None:
    ledger = Ledger.create(place.url)
    accounts: list[str | None] = [None, "ada", "bob"]
    for name in ("ada", "bob"):
        ledger.open_account(name, share=HALF)
    for account in accounts:
        ledger.charge(PureDP("1/10"), reason="same id", request_id="r", account=account)
        ledger.store("r", f"of {account}", account=account)
    with pytest.raises(AlreadyCharged):
        ledger.charge(PureDP("1/10"), reason="again", request_id="r", account="ada")
    ledger.close_account("bob")
    again = Ledger.open(place.url)
    assert [again.answer("r", account) for account in accounts] == ["of None", "of ada", "of bob"]
    again.charge(PureDP("1/10"), reason="mine", request_id="mine", account="ada")
    assert again.answer("mine") is None
    with pytest.raises(InvalidParameter, match="request_id must be one that was charged"):
        again.store("mine", "stolen", account="bob")


# ---- changes of the budget -------------------------------------------------------------------------------


def test_a_budget_below_what_is_spent_stops_every_charge_and_may_be_raised_again(place: Place) -> None:
    ledger = Ledger.create(place.url, budget=PureDP(1))
    ledger.open_account("ada", share=HALF, reserve=True)
    ledger.charge(HALF, reason="before")
    entry = ledger.change_budget(QUARTER, reason="the committee decided")
    assert (entry.act, entry.amount, entry.loss, entry.reason) == (
        *("budget", QUARTER, PureDP(0)),
        "the committee decided",
    )
    assert (ledger.budget, ledger.spent, ledger.remaining) == (QUARTER, HALF, PureDP(0))
    for account, price in itertools.product((None, "ada"), (PureDP(0), PureDP("1/100"))):
        with pytest.raises(BudgetExhausted):
            ledger.charge(price, reason="stopped", account=account)
    again = Ledger.open(place.url)
    assert (again.budget, again.verify()) == (QUARTER, 3)
    assert repr(again).endswith("with a budget of epsilon 0.25, add_remove>")
    again.change_budget(PureDP(2), reason="a second year")
    assert ledger.charge(PureDP(1), reason="goes on").total == PureDP("3/2")
    assert ledger.budget == PureDP(2)


def test_a_share_below_what_is_spent_stops_its_account_alone(place: Place) -> None:
    ledger = Ledger.create(place.url, budget=PureDP(1))
    ledger.open_account("ada", share=HALF)
    ledger.charge(HALF, reason="before", account="ada")
    assert ledger.change_share("ada", QUARTER, reason="less").remaining == PureDP(0)
    with pytest.raises(BudgetExhausted):
        ledger.charge(PureDP(0), reason="stopped", account="ada")
    assert ledger.charge(HALF, reason="the curator").number == 4


def test_under_a_lowered_budget_reserves_are_spent_by_who_comes_first(place: Place) -> None:
    ledger = Ledger.create(place.url, budget=PureDP(1))
    for name in ("ada", "bob"):
        ledger.open_account(name, share=HALF, reserve=True)
    ledger.change_budget(HALF, reason="less for all")
    ledger.charge(HALF, reason="first", account="bob")
    assert ledger.account("ada").remaining == PureDP(0)
    with pytest.raises(BudgetExhausted):
        ledger.charge(PureDP("1/100"), reason="second", account="ada")
    assert Ledger.open(place.url).spent == HALF


def test_changes_need_a_reason(place: Place) -> None:
    ledger = Ledger.create(place.url)
    for reason in ("", "two\nlines", None):
        with pytest.raises(InvalidParameter, match="reason must be"):
            ledger.change_budget(HALF, reason=reason)  # type: ignore[arg-type]  # that is the point
    assert ledger.verify() == 0


def test_a_reason_that_is_given_is_the_one_that_is_written(place: Place) -> None:
    ledger = Ledger.create(place.url)
    ledger.open_account("ada", share=HALF)
    with pytest.raises(InvalidParameter, match="reason must be"):
        ledger.open_account("bob", share=HALF, reason="")
    with pytest.raises(InvalidParameter, match="reason must be"):
        ledger.close_account("ada", reason="")
    ledger.close_account("ada", reason="she left")
    assert [entry.reason for entry in ledger.entries()] == ["an account is opened", "she left"]


# ---- budgets with a delta --------------------------------------------------------------------------------


def test_both_parts_of_a_budget_are_compared(place: Place) -> None:
    ledger = Ledger.create(place.url, budget=ApproxDP(2, MILLIONTH))
    ledger.charge(PureDP(1), reason="pure")
    ledger.charge(ApproxDP("1/2", MILLIONTH / 2), reason="a pair")
    assert ledger.spent == ApproxDP("3/2", MILLIONTH / 2)
    for loss in (ApproxDP("1/4", MILLIONTH), ApproxDP(1, 0), ApproxDP(0, 1), PureDP(1)):
        assert not ledger.affords(loss)
        with pytest.raises(BudgetExhausted):
            ledger.charge(loss, reason="too much of one part")
    ledger.charge(ApproxDP("1/2", MILLIONTH / 2), reason="the rest")
    assert Ledger.open(place.url).remaining == ApproxDP(0, 0)


def test_a_budget_without_a_delta_pays_for_none(place: Place) -> None:
    ledger = Ledger.create(place.url, budget=ApproxDP(2, 0))
    with pytest.raises(BudgetExhausted):
        ledger.charge(ApproxDP("1/2", Fraction(1, 10**30)), reason="a delta")
    assert ledger.charge(PureDP(2), reason="pure").number == 1


def test_what_enters_rho_with_a_delta_costs_what_is_proved(place: Place) -> None:
    ledger = Ledger.create(place.url, budget=ApproxZCDP(3, MILLIONTH))
    losses: list[Currency] = [ZCDP("1/8"), PureDP("1/2"), ApproxDP(1, MILLIONTH / 4), ApproxZCDP("1/8", 0)]
    for loss in losses:
        assert ledger.charge(loss, reason="enters").loss == convert(loss, ApproxZCDP)
        with pytest.raises(InvalidParameter, match=f"left out for {type(loss).__name__}, which is"):
            ledger.charge(loss, reason="at no point", delta="1e-9")
    expected = sum((convert(loss, ApproxZCDP) for loss in losses), start=ApproxZCDP.zero())
    assert Ledger.open(place.url).spent == expected


@pytest.mark.parametrize("loss", [RenyiDP({2: "1/2", 32: 1}), PrivacyProfile({1: MILLIONTH / 2})], ids=repr)
@pytest.mark.parametrize("kind", [ApproxDP, ApproxZCDP])
def test_a_curve_or_a_profile_is_charged_at_the_delta_that_is_named(
    place: Place, kind: type[ApproxDP | ApproxZCDP], loss: RenyiDP | PrivacyProfile
) -> None:
    ledger = Ledger.create(place.url, budget=kind(9, MILLIONTH))
    with pytest.raises(TypeError, match=r'Name the point at which it is charged: delta="1e-7"'):
        ledger.charge(loss, reason="at no point")
    assert ledger.affords(loss, delta=MILLIONTH)
    entry = ledger.charge(loss, delta=MILLIONTH, reason="at a point")
    assert entry.loss == convert(loss, kind, delta=MILLIONTH)
    assert ledger.remaining.parts()[1] == 0
    with pytest.raises(BudgetExhausted):
        ledger.charge(loss, delta="1e-9", reason="no delta is left")


@pytest.mark.parametrize("budget", [PureDP(1), ZCDP(1)], ids=str)
def test_a_ledger_without_a_delta_is_charged_at_no_point(place: Place, budget: Currency) -> None:
    ledger = Ledger.create(place.url, budget=budget)
    for loss in (RenyiDP({2: 1}), PureDP("1/2"), budget):
        with pytest.raises(InvalidParameter, match=r"^delta must be left out for a ledger of .* without"):
            ledger.charge(loss, delta=MILLIONTH, reason="no delta here")
    assert ledger.verify() == 0


def test_shares_of_a_budget_with_a_delta_have_two_parts(place: Place) -> None:
    ledger = Ledger.create(place.url, budget=ApproxDP(2, MILLIONTH))
    ledger.open_account("ada", share=ApproxDP(1, MILLIONTH / 2), reserve=True)
    ledger.open_account("bob", share=PureDP(1))
    with pytest.raises(BudgetExhausted):
        ledger.charge(ApproxDP("1/10", MILLIONTH / 10), reason="no delta", account="bob")
    with pytest.raises(BudgetExhausted):
        ledger.charge(ApproxDP("1/10", MILLIONTH), reason="half of it is reserved")
    ledger.charge(ApproxDP("1/10", MILLIONTH / 2), reason="mine", account="ada")
    assert ledger.reserved == ApproxDP("9/10", 0)
    assert Ledger.open(place.url).account("ada").remaining == ApproxDP("9/10", 0)


# ---- intruders -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "edit",
    [
        "account = 'bob' WHERE number = 3",
        "account = NULL WHERE number = 3",
        "act = 'open' WHERE number = 1",
        "amount = '9' WHERE number = 1",
        "amount = '9' WHERE number = 4",
        "act = NULL, amount = NULL, account = NULL WHERE number = 4",
    ],
)
def test_e10_an_edit_of_what_accounts_stand_on_is_found(place: Place, edit: str) -> None:
    ledger = Ledger.create(place.url)
    ledger.open_account("ada", share=HALF, reserve=True)
    ledger.open_account("bob", share=HALF)
    ledger.charge(QUARTER, reason="a", account="ada")
    ledger.change_budget(PureDP(2), reason="more")
    place.force(f"UPDATE dpselect_entries SET {edit}")
    for use in (ledger.verify, lambda: Ledger.open(place.url), lambda: list(ledger.entries())):
        with pytest.raises(LedgerDamaged) as found:
            use()
        assert str(found.value.entry) == edit[-1]


def test_e1_two_objects_see_each_others_accounts_at_once(place: Place) -> None:
    one = Ledger.create(place.url, budget=PureDP(1))
    other = Ledger.open(place.url)
    one.open_account("ada", share=HALF)
    other.charge(HALF, reason="a", account="ada")
    with pytest.raises(BudgetExhausted):
        one.charge(QUARTER, reason="b", account="ada")
    other.change_budget(HALF, reason="less")
    with pytest.raises(BudgetExhausted):
        one.charge(QUARTER, reason="c")
    one.close_account("ada")
    with pytest.raises(ValueError, match="account must be open"):
        other.charge(PureDP(0), reason="d", account="ada")
