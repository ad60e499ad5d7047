"""What every ledger keeps to, in a file and on a server: one body of tests for both."""

import dataclasses
import math
import os
import pickle
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction
from typing import Any

import pytest

from dpselect import (
    ZCDP,
    AlreadyAnswered,
    AlreadyCharged,
    ApproxDP,
    ApproxZCDP,
    BudgetExhausted,
    Entry,
    Ledger,
    LedgerDamaged,
    PureDP,
    RenyiDP,
)
from dpselect.accounting import convert
from dpselect.errors import IncomparableLosses, InvalidParameter
from tests.ledger.places import TABLES, Place

NOON = datetime(2026, 5, 1, 12, 0, 59, 999_999, tzinfo=UTC)
LAST_COLUMNS = "'2026-05-01T12:00Z', NULL, NULL, NULL, ''"


def at_noon() -> datetime:
    return NOON


# ---- spending --------------------------------------------------------------------------------------------


def test_a_new_ledger_has_its_budget_and_nothing_else(place: Place) -> None:
    ledger = Ledger.create(place.url, budget=PureDP("1/3"), dataset="orders", unit="customer")
    assert (ledger.budget, ledger.spent, ledger.remaining) == (PureDP("1/3"), PureDP(0), PureDP("1/3"))
    assert (ledger.dataset, ledger.unit) == ("orders", "customer")
    assert list(ledger.entries()) == []
    assert ledger.verify() == 0


def test_e12_a_ledger_says_between_which_neighbours_its_losses_are(place: Place) -> None:
    made = Ledger.create(place.url, neighbours="change_one")
    again = Ledger.open(place.url)
    assert made.neighbours == again.neighbours == "change_one"
    assert repr(again).endswith("with a budget of epsilon 1, change_one>")
    assert again.charge(PureDP("1/2"), reason="by hand: the caller's word").total == PureDP("1/2")


def test_e12_no_ledger_is_without_neighbours(place: Place) -> None:
    for wrong in (None, "", "both", "ADD_REMOVE", 1, ["add_remove"]):
        with pytest.raises(InvalidParameter, match='neighbours must be "add_remove" or "change_one"; got'):
            Ledger.create(place.url, neighbours=wrong)  # type: ignore[arg-type]  # that is the point
    assert Ledger.create(place.url).neighbours == "add_remove"


def test_the_default_budget_is_epsilon_one(place: Place) -> None:
    ledger = Ledger.create(place.url)
    assert (ledger.budget, ledger.dataset, ledger.unit) == (PureDP(1), None, None)


def test_a_charge_is_recorded_with_its_sum_and_found_again_by_who_opens(place: Place) -> None:
    ledger = Ledger.create(place.url, budget=PureDP(1), clock=at_noon)
    first = ledger.charge(PureDP("1/3"), reason="favourite dish", request_id="r1")
    second = ledger.charge(PureDP("1/4"), reason="ten songs · dix chansons · 十首歌")
    assert first == Entry(
        1,
        PureDP("1/3"),
        PureDP("1/3"),
        "favourite dish",
        "r1",
        first.digest,
        NOON.replace(second=0, microsecond=0),
    )
    assert (second.number, second.loss, second.total) == (2, PureDP("1/4"), PureDP("7/12"))
    ledger.close()
    again = Ledger.open(place.url)
    assert list(again.entries()) == [first, second]
    assert (again.spent, again.remaining, again.verify()) == (PureDP("7/12"), PureDP("5/12"), 2)


def test_an_entry_is_a_frozen_value(place: Place) -> None:
    entry = Ledger.create(place.url).charge(PureDP("1/2"), reason="a")
    assert [field.name for field in dataclasses.fields(entry)] == [
        "number",
        "loss",
        "total",
        "reason",
        "request_id",
        "digest",
        "time",
        "account",
        "act",
        "amount",
    ]
    with pytest.raises(dataclasses.FrozenInstanceError):
        entry.total = PureDP(0)  # type: ignore[misc]  # that is the point


def test_e2_ten_tenths_make_one_and_the_eleventh_is_refused(place: Place) -> None:
    ledger = Ledger.create(place.url, budget=PureDP(1))
    for _ in range(10):
        ledger.charge(PureDP(0.1), reason="a tenth")
    assert ledger.spent == PureDP(1)
    with pytest.raises(BudgetExhausted):
        ledger.charge(PureDP("1e-300"), reason="the smallest")
    assert ledger.verify() == 10


def test_e2_the_smallest_charge_counts(place: Place) -> None:
    ledger = Ledger.create(place.url, budget=PureDP(1))
    ledger.charge(PureDP("1e-300"), reason="the smallest")
    with pytest.raises(BudgetExhausted):
        ledger.charge(PureDP(1), reason="the rest and a little")
    assert ledger.remaining == PureDP(1 - Fraction(1, 10**300))


def test_e3_no_tolerance_is_added_to_the_budget(place: Place) -> None:
    ledger = Ledger.create(place.url, budget=PureDP(1))
    with pytest.raises(BudgetExhausted):
        ledger.charge(PureDP(1 + Fraction(1, 10**12)), reason="a little more")
    assert ledger.charge(PureDP(1), reason="all").number == 1


@pytest.mark.parametrize("loss", [PureDP(10**6), PureDP(math.inf)], ids=str)
def test_e9_a_request_that_is_too_large_changes_nothing(place: Place, loss: PureDP) -> None:
    ledger = Ledger.create(place.url, budget=PureDP(1))
    ledger.charge(PureDP("1/2"), reason="before")
    with pytest.raises(BudgetExhausted):
        ledger.charge(loss, reason="too large", request_id="r")
    assert (ledger.verify(), ledger.spent) == (1, PureDP("1/2"))
    assert ledger.charge(PureDP("1/10"), reason="small", request_id="r").number == 2


def test_a_refusal_says_what_it_costs_and_what_is_left(place: Place) -> None:
    ledger = Ledger.create(place.url, budget=PureDP(1))
    ledger.charge(PureDP("3/4"), reason="songs")
    with pytest.raises(
        BudgetExhausted, match=r"^'food' costs epsilon 0\.5; 0\.25 of 1 is left\.$"
    ) as refused:
        ledger.charge(PureDP("1/2"), reason="food")
    error = pickle.loads(pickle.dumps(refused.value))
    for each in (refused.value, error):
        assert (each.reason, each.cost) == ("food", PureDP("1/2"))
        assert (each.remaining, each.budget) == (PureDP("1/4"), PureDP(1))


def test_e3_a_refusal_rounds_the_cost_up_and_what_is_left_down(place: Place) -> None:
    third = Fraction(10**30 + 1, 3 * 10**30)
    ledger = Ledger.create(place.url, budget=PureDP(1))
    ledger.charge(PureDP(1 - third), reason="songs")
    with pytest.raises(BudgetExhausted) as refused:
        ledger.charge(PureDP(third + Fraction(1, 10**30)), reason="food")
    said = "'food' costs epsilon 0.3334 (rounded up); 0.3333 (rounded down) of 1 is left."
    assert (str(refused.value), refused.value.remaining) == (said, PureDP(third))


def test_a_loss_of_zero_is_recorded(place: Place) -> None:
    ledger = Ledger.create(place.url)
    ledger.charge(PureDP(1), reason="all")
    assert ledger.charge(PureDP(0), reason="one candidate").total == PureDP(1)
    assert ledger.verify() == 2


def test_a_pure_loss_on_a_concentrated_ledger_costs_its_conversion(place: Place) -> None:
    ledger = Ledger.create(place.url, budget=ZCDP(1))
    converted = convert(PureDP("1/2"), ZCDP)
    assert ledger.charge(PureDP("1/2"), reason="pure").loss == converted
    assert ledger.charge(ZCDP("1/8"), reason="concentrated").total == converted + ZCDP("1/8")
    with pytest.raises(BudgetExhausted):
        ledger.charge(PureDP(math.inf), reason="no noise")
    assert ledger.remaining == ZCDP(Fraction(7, 8) - Fraction(converted.rho))


@pytest.mark.parametrize(
    ("budget", "loss"),
    [
        (PureDP(1), ZCDP("1/8")),
        (PureDP(1), ApproxDP("1/2", "1e-6")),
        (PureDP(1), RenyiDP({2: 1})),
        (ZCDP(1), ApproxDP("1/2", 0)),
        (ZCDP(1), RenyiDP({2: 1})),
    ],
    ids=str,
)
def test_a_loss_without_a_proved_price_is_refused_with_the_way_out(
    place: Place, budget: PureDP | ZCDP, loss: object
) -> None:
    ledger = Ledger.create(place.url, budget=budget)
    with pytest.raises(
        IncomparableLosses, match=rf"takes {type(budget).__name__}.* keep another ledger: Ledger"
    ):
        ledger.charge(loss, reason="other")
    assert ledger.verify() == 0


def test_what_is_no_loss_is_refused(place: Place) -> None:
    ledger = Ledger.create(place.url)
    for loss in (1, 0.5, "1/2", None, True, PureDP):
        with pytest.raises(InvalidParameter, match=r"^loss must be a loss; got"):
            ledger.charge(loss, reason="a number")
    assert ledger.verify() == 0


def test_a14_losses_of_more_digits_than_anybody_means_are_refused(place: Place) -> None:
    ledger = Ledger.create(place.url)
    with pytest.raises(InvalidParameter, match="Round it up"):
        ledger.charge(PureDP(Fraction(1, 10**400)), reason="long")
    assert ledger.verify() == 0


def test_a14_a_sum_cannot_be_made_to_grow_without_end(place: Place) -> None:
    ledger = Ledger.create(place.url)
    losses = [PureDP(Fraction(1, 10**399 + step)) for step in range(1, 20)]
    for loss in losses[:10]:
        ledger.charge(loss, reason="long")
    with pytest.raises(InvalidParameter, match="the sum of the ledger within 4000 digits"):
        ledger.charge(losses[10], reason="long")
    assert ledger.charge(PureDP("1/10"), reason="short").number == 11 == ledger.verify()


# ---- what would be accepted -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("budget", "before", "losses"),
    [
        (PureDP(1), PureDP(0), [PureDP(0), PureDP(1), PureDP(1 + Fraction(1, 10**12)), PureDP(math.inf)]),
        (PureDP(1), PureDP("2/3"), [PureDP("1/3"), PureDP(Fraction(1, 3) + Fraction(1, 10**300))]),
        (ZCDP(1), ZCDP("1/2"), [ZCDP("1/2"), ZCDP(Fraction(1, 2) + Fraction(1, 10**30)), PureDP(math.inf)]),
        (convert(PureDP("1/2"), ZCDP), ZCDP(0), [PureDP("1/2"), PureDP(Fraction(1, 2) + Fraction(1, 10**9))]),
        (convert(PureDP("1/2"), ZCDP), ZCDP("1e-300"), [PureDP(0), PureDP("1/4"), PureDP("1/2")]),
    ],
    ids=["pure", "pure, all but a third", "concentrated", "converted", "converted, all but a little"],
)
def test_a_ledger_affords_exactly_what_it_would_accept(
    place: Place, budget: PureDP | ZCDP, before: PureDP | ZCDP, losses: list[PureDP | ZCDP]
) -> None:
    ledger = Ledger.create(place.url, budget=budget)
    ledger.charge(before, reason="before")
    affordable = [ledger.affords(loss) for loss in losses]
    assert ledger.verify() == 1
    assert True in affordable
    assert False in affordable
    for loss, afforded in zip(losses[::-1], affordable[::-1], strict=True):  # the largest first
        again = Ledger.open(place.url)
        assert again.affords(loss) is afforded
        if afforded:
            assert again.charge(loss, reason="afforded").loss <= budget  # type: ignore[operator] # of one kind
            return
        with pytest.raises(BudgetExhausted):
            again.charge(loss, reason="not afforded")


def test_what_a_ledger_affords_shrinks_with_the_charges_of_others(place: Place) -> None:
    mine = Ledger.create(place.url, budget=PureDP(1))
    others = Ledger.open(place.url)
    assert mine.affords(PureDP("1/2"))
    others.charge(PureDP("3/4"), reason="others")
    assert not mine.affords(PureDP("1/2"))
    assert mine.affords(PureDP("1/4"))


def test_to_ask_what_a_ledger_affords_writes_nothing(place: Place) -> None:
    ledger = Ledger.create(place.url, budget=ZCDP(1))
    ledger.charge(ZCDP("1/2"), reason="before", request_id="r")
    everything = [f"SELECT * FROM {table}" for table in TABLES]
    rows = [place.execute(query) for query in everything]
    for loss in (ZCDP("1/2"), ZCDP(1), PureDP("1/2"), PureDP(math.inf)):
        ledger.affords(loss)
    assert [place.execute(query) for query in everything] == rows
    assert ledger.charge(ZCDP("1/2"), reason="nothing was reserved").number == 2


@pytest.mark.parametrize(
    ("budget", "loss"),
    [
        (PureDP(1), 1),
        (PureDP(1), ZCDP("1/8")),
        (PureDP(1), ApproxDP("1/2", "1e-6")),
        (PureDP(1), PureDP(Fraction(1, 10**400))),
        (ZCDP(1), RenyiDP({2: 1})),
        (ZCDP(1), None),
    ],
    ids=lambda each: type(each).__name__,
)
def test_what_a_ledger_cannot_hold_is_refused_by_affords_as_by_charge(
    place: Place, budget: PureDP | ZCDP, loss: object
) -> None:
    ledger = Ledger.create(place.url, budget=budget)
    with pytest.raises((InvalidParameter, IncomparableLosses)) as charged:
        ledger.charge(loss, reason="other")
    with pytest.raises(type(charged.value)) as asked:
        ledger.affords(loss)
    assert str(asked.value) == str(charged.value)


def test_a_ledger_that_lost_an_entry_affords_nothing(place: Place) -> None:
    ledger = Ledger.create(place.url, budget=PureDP(1))
    for _ in range(2):
        ledger.charge(PureDP("1/4"), reason="a")
    place.force("DELETE FROM dpselect_entries WHERE number = 2")
    with pytest.raises(LedgerDamaged):
        ledger.affords(PureDP("1/4"))


# ---- requests and answers --------------------------------------------------------------------------------


def test_e6_a_request_is_charged_once_and_answered_with_what_was_stored(place: Place) -> None:
    ledger = Ledger.create(place.url)
    entry = ledger.charge(PureDP("1/2"), reason="food", request_id="r1")
    ledger.store("r1", '["tea"]')
    with pytest.raises(AlreadyCharged, match=r"request 'r1' is already charged, as entry 1\.") as refused:
        ledger.charge(PureDP("1/4"), reason="another", request_id="r1")
    assert (refused.value.request_id, refused.value.entry) == ("r1", entry)
    assert pickle.loads(pickle.dumps(refused.value)).entry == entry
    assert ledger.answer("r1") == Ledger.open(place.url).answer("r1") == '["tea"]'
    assert ledger.spent == PureDP("1/2")


def test_e6_a_replay_is_refused_even_when_the_budget_is_gone(place: Place) -> None:
    ledger = Ledger.create(place.url)
    ledger.charge(PureDP(1), reason="all", request_id="r1")
    with pytest.raises(AlreadyCharged):
        ledger.charge(PureDP(1), reason="all", request_id="r1")


def test_e6_of_equal_requests_at_the_same_time_one_is_charged(place: Place) -> None:
    ledger = Ledger.create(place.url)
    outcomes: list[object] = []

    def ask() -> None:
        try:
            outcomes.append(ledger.charge(PureDP("1/10"), reason="same", request_id="r1").number)
        except AlreadyCharged:
            outcomes.append("already")

    together(ask, 8)
    assert sorted(map(str, outcomes)) == ["1", *["already"] * 7]
    assert ledger.spent == PureDP("1/10")


def test_e7_what_was_charged_and_not_answered_stays_charged(place: Place) -> None:
    ledger = Ledger.create(place.url)
    ledger.charge(PureDP("1/2"), reason="food", request_id="r1")
    ledger.close()
    again = Ledger.open(place.url)
    assert again.answer("r1") is None
    with pytest.raises(AlreadyCharged):
        again.charge(PureDP("1/2"), reason="food", request_id="r1")
    assert again.spent == PureDP("1/2")


def test_an_answer_is_stored_once(place: Place) -> None:
    ledger = Ledger.create(place.url)
    ledger.charge(PureDP("1/2"), reason="food", request_id="r1")
    ledger.store("r1", "tea")
    for other in ("tea", "coffee"):
        with pytest.raises(AlreadyAnswered, match="request 'r1' has its answer already") as refused:
            ledger.store("r1", other)
    assert pickle.loads(pickle.dumps(refused.value)).request_id == "r1"
    assert ledger.answer("r1") == "tea"


def test_no_answer_without_a_charge(place: Place) -> None:
    ledger = Ledger.create(place.url)
    with pytest.raises(InvalidParameter, match=r"request_id must be one that was charged; got 'r1'\."):
        ledger.store("r1", "tea")
    assert ledger.answer("r1") is None


def test_answers_may_come_late_and_in_another_order(place: Place) -> None:
    ledger = Ledger.create(place.url)
    for name in ("a", "b", "c"):
        ledger.charge(PureDP("1/10"), reason=name, request_id=name)
    for name in ("c", "a"):
        ledger.store(name, f"answer to {name}\nin two lines")
    again = Ledger.open(place.url)
    assert [again.answer(name) for name in "abc"] == [
        "answer to a\nin two lines",
        None,
        "answer to c\nin two lines",
    ]
    assert again.verify() == 3


def test_an_answer_that_not_every_database_can_hold_is_refused_and_not_shown(place: Place) -> None:
    ledger = Ledger.create(place.url)
    ledger.charge(PureDP("1/2"), reason="food", request_id="r1")
    wrong: list[Any] = [None, 1, b"tea", "tea\0", "tea\ud800", "tea" * 333_334]
    for answer in wrong:
        with pytest.raises(InvalidParameter, match=r"^answer must be text") as refused:
            ledger.store("r1", answer)
        assert "tea" not in str(refused.value)
        assert len(str(refused.value)) < 150
    assert ledger.answer("r1") is None
    ledger.store("r1", "x" * 1_000_000)
    assert len(ledger.answer("r1") or "") == 1_000_000


def test_a_reason_is_one_printable_line(place: Place) -> None:
    ledger = Ledger.create(place.url)
    wrong: list[Any] = ["", "two\nlines", "nul\0", "\ud800", "x" * 1001, None, 5, b"bytes"]
    for text in wrong:
        with pytest.raises(InvalidParameter, match=r"^reason must be one line of printable text"):
            ledger.charge(PureDP("1/2"), reason=text)
    assert ledger.verify() == 0
    assert ledger.charge(PureDP("1/2"), reason="x" * 1000).reason == "x" * 1000


def test_a_request_id_is_one_short_printable_line(place: Place) -> None:
    ledger = Ledger.create(place.url)
    wrong: list[Any] = ["", "two\nlines", "x" * 201, 5]
    uses: list[Callable[[Any], object]] = [
        lambda text: ledger.charge(PureDP("1/2"), reason="a", request_id=text),
        lambda text: ledger.store(text, "a"),
        ledger.answer,
    ]
    for text in wrong:
        for use in uses:
            with pytest.raises(InvalidParameter, match=r"^request_id must be one line of printable text"):
                use(text)
    assert ledger.verify() == 0


# ---- time ------------------------------------------------------------------------------------------------


def test_e14_a_clock_that_goes_back_changes_neither_order_nor_sums(place: Place) -> None:
    now = [NOON]
    ledger = Ledger.create(place.url, clock=lambda: now[0])
    times = []
    for shift in (0, 3652, -1, 1):
        now[0] = NOON + timedelta(days=shift)
        times.append(ledger.charge(PureDP("1/10"), reason="a").time)
    minute = NOON.replace(second=0, microsecond=0)
    assert times == [minute, *[minute + timedelta(days=3652)] * 3]
    assert (Ledger.open(place.url).verify(), ledger.spent) == (4, PureDP("2/5"))


def test_e14_a_clock_before_the_ledger_was_made_is_not_believed(place: Place) -> None:
    Ledger.create(place.url, clock=at_noon).close()
    early = Ledger.open(place.url, clock=lambda: NOON - timedelta(days=1))
    assert early.charge(PureDP("1/10"), reason="a").time == NOON.replace(second=0, microsecond=0)


def test_times_are_coarse_and_in_utc(place: Place) -> None:
    eastern = timezone(timedelta(hours=5, minutes=30))
    ledger = Ledger.create(place.url, clock=lambda: NOON.astimezone(eastern))
    time = ledger.charge(PureDP("1/10"), reason="a").time
    assert (time.tzinfo, time) == (UTC, datetime(2026, 5, 1, 12, 0, tzinfo=UTC))


@pytest.mark.parametrize("year", [1, 1677, 1900, 2262, 2300, 9999])
def test_e14_every_year_that_a_clock_can_say_is_survived(place: Place, year: int) -> None:
    def then() -> datetime:
        return NOON.replace(year=year)

    with Ledger.create(place.url, clock=then) as ledger:
        assert ledger.charge(PureDP("1/10"), reason="then").time.year == year
    assert Ledger.open(place.url, clock=at_noon).charge(PureDP("1/10"), reason="now").number == 2
    times = [entry.time.year for entry in Ledger.open(place.url, clock=then).entries()]
    assert times == [year, max(year, NOON.year)]


@pytest.mark.parametrize(
    ("now", "minute"),
    [
        (
            datetime.max.replace(tzinfo=timezone(-timedelta(hours=5))),
            datetime(9999, 12, 31, 23, 59, tzinfo=UTC),
        ),
        (datetime.min.replace(tzinfo=timezone(timedelta(hours=5))), datetime(1, 1, 1, tzinfo=UTC)),
    ],
    ids=["last", "first"],
)
def test_e14_a_time_that_utc_does_not_have_becomes_the_nearest(
    place: Place, now: datetime, minute: datetime
) -> None:
    ledger = Ledger.create(place.url, clock=lambda: now)
    assert ledger.charge(PureDP("1/10"), reason="a").time == minute
    assert Ledger.open(place.url).verify() == 1


@pytest.mark.parametrize("wrong", [lambda: NOON.replace(tzinfo=None), lambda: 0])
def test_a_clock_without_a_time_zone_is_refused(place: Place, wrong: Callable[[], datetime]) -> None:
    with pytest.raises(InvalidParameter, match="clock must give a datetime with a time zone"):
        Ledger.create(place.url, clock=wrong)
    Ledger.create(place.url).close()
    with pytest.raises(InvalidParameter, match="clock must give a datetime with a time zone"):
        Ledger.open(place.url, clock=wrong).charge(PureDP("1/2"), reason="a")


# ---- beginning -------------------------------------------------------------------------------------------


def test_a_budget_is_a_positive_finite_loss_of_a_kind_that_adds(place: Place) -> None:
    wrong: list[Any] = [1, "1", None, RenyiDP({2: 1}), PureDP(0), ZCDP(0), PureDP(math.inf), PureDP(10**400)]
    wrong += [ApproxDP(0, "1/2"), ApproxDP(1, 1), ApproxZCDP(1, 1), ApproxDP(1, Fraction(1, 10**400))]
    for budget in wrong:
        with pytest.raises(InvalidParameter, match=r"^budget must "):
            Ledger.create(place.url, budget=budget)


def test_names_are_short_lines(place: Place) -> None:
    with pytest.raises(InvalidParameter, match=r"^dataset must be one line of printable text"):
        Ledger.create(place.url, dataset="two\nlines")
    with pytest.raises(InvalidParameter, match=r"^unit must be one line of printable text"):
        Ledger.create(place.url, unit="x" * 201)


def test_a_second_ledger_in_the_same_place_is_refused(place: Place) -> None:
    ledger = Ledger.create(place.url)
    ledger.charge(PureDP("1/2"), reason="a")
    with pytest.raises(InvalidParameter, match=r"Open it|may belong to another ledger"):
        Ledger.create(place.url, budget=PureDP(100))
    assert Ledger.open(place.url).remaining == PureDP("1/2")


def test_opening_a_ledger_that_is_not_there_makes_none(place: Place) -> None:
    for _ in range(2):
        with pytest.raises(InvalidParameter, match=r"Make one: Ledger\.create"):
            Ledger.open(place.url)


def test_a_ledger_shows_its_place_and_budget_and_no_secret(place: Place) -> None:
    ledger = Ledger.create(place.url.replace("tester@", "tester:secret@"), budget=PureDP("1/2"))
    assert repr(ledger).startswith("<Ledger '")
    assert repr(ledger).endswith("with a budget of epsilon 0.5, add_remove>")
    assert "secret" not in repr(ledger)


def test_a_closed_ledger_opens_itself_again(place: Place) -> None:
    with Ledger.create(place.url) as ledger:
        ledger.charge(PureDP("1/4"), reason="a")
    assert ledger.charge(PureDP("1/4"), reason="b").number == 2
    ledger.close()
    ledger.close()


# ---- sharing ---------------------------------------------------------------------------------------------


def together(act: Callable[[], None], threads: int) -> None:
    """Run a function in several threads at once."""
    started = [threading.Thread(target=act) for _ in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()


def test_two_objects_on_one_ledger_see_each_other(place: Place) -> None:
    one = Ledger.create(place.url)
    other = Ledger.open(place.url)
    assert [one.charge(PureDP("1/4"), reason="a").number, other.charge(PureDP("1/4"), reason="b").number] == [
        1,
        2,
    ]
    assert one.charge(PureDP("1/4"), reason="c").number == 3
    assert one.spent == other.spent == PureDP("3/4")


def test_threads_share_one_object(place: Place) -> None:
    ledger = Ledger.create(place.url)
    paid: list[int] = []

    def spend() -> None:
        while True:
            try:
                paid.append(ledger.charge(PureDP("1/40"), reason="a").number)
            except BudgetExhausted:
                return

    together(spend, 4)
    assert sorted(paid) == list(range(1, 41))
    assert (ledger.spent, ledger.verify()) == (PureDP(1), 40)


@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_b6_parent_and_child_of_a_fork_both_go_on(place: Place) -> None:
    ledger = Ledger.create(place.url)
    ledger.charge(PureDP("1/10"), reason="before")
    child = os.fork()
    if not child:
        try:
            ledger.charge(PureDP("1/10"), reason="child")
            ledger.close()
        finally:
            os._exit(0)
    ledger.charge(PureDP("1/10"), reason="parent")
    os.waitpid(child, 0)
    ledger.charge(PureDP("1/10"), reason="after")
    assert ledger.verify() == 4
    assert sorted(entry.reason for entry in ledger.entries()) == ["after", "before", "child", "parent"]


# ---- no edits, no deletes --------------------------------------------------------------------------------


@pytest.fixture
def filled(place: Place) -> Ledger:
    """Five entries, the first three of them answered."""
    ledger = Ledger.create(place.url, budget=PureDP(1), clock=at_noon)
    for number in range(1, 6):
        ledger.charge(PureDP("1/10"), reason=f"reason {number}", request_id=f"r{number}")
    for number in range(1, 4):
        ledger.store(f"r{number}", f"answer {number}")
    ledger.close()
    return ledger


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE dpselect_header SET budget = '100'",
        "UPDATE dpselect_header SET neighbours = 'change_one'",
        "DELETE FROM dpselect_header",
        "INSERT INTO dpselect_header SELECT * FROM dpselect_header",
        "UPDATE dpselect_entries SET total = '0' WHERE number = 5",
        "DELETE FROM dpselect_entries WHERE number = 5",
        f"INSERT INTO dpselect_entries VALUES (3, '0', '1/10', 'again', 'r9', {LAST_COLUMNS})",
        f"INSERT INTO dpselect_entries VALUES (6, '0', '1/10', 'again', 'r1', {LAST_COLUMNS})",
        "UPDATE dpselect_answers SET answer = 'coffee'",
        "DELETE FROM dpselect_answers",
        "INSERT INTO dpselect_answers VALUES (4, 1, 'coffee', '')",
        "INSERT INTO dpselect_answers VALUES (4, 77, 'coffee', '')",
    ],
)
def test_the_database_itself_refuses_edits_and_deletes(place: Place, filled: Ledger, statement: str) -> None:
    with pytest.raises(Exception, match=r"only ever added to|unique constraint|foreign key"):
        place.execute(statement)
    assert Ledger.open(place.url).verify() == 5
    assert filled.answer("r1") == "answer 1"


@pytest.mark.parametrize(
    ("statement", "entry"),
    [
        ("UPDATE dpselect_header SET budget = '100'", 0),
        ("UPDATE dpselect_header SET neighbours = 'change_one'", 0),
        ("UPDATE dpselect_header SET neighbours = 'both'", 0),
        ("UPDATE dpselect_header SET dataset = 'other'", 0),
        ("UPDATE dpselect_header SET measure = 'ZCDP'", 0),
        ("UPDATE dpselect_header SET measure = 'None'", 0),
        ("UPDATE dpselect_header SET budget = '1/0'", 0),
        ("DELETE FROM dpselect_header", 0),
        ("UPDATE dpselect_entries SET loss = '1/1000' WHERE number = 3", 3),
        ("UPDATE dpselect_entries SET total = '0' WHERE number = 5", 5),
        ("UPDATE dpselect_entries SET reason = 'other' WHERE number = 1", 1),
        ("UPDATE dpselect_entries SET request_id = NULL WHERE number = 4", 4),
        ("UPDATE dpselect_entries SET time = 'never' WHERE number = 2", 2),
        ("UPDATE dpselect_entries SET digest = '' WHERE number = 2", 2),
        ("UPDATE dpselect_entries SET number = 9 WHERE number = 4", 4),
        ("UPDATE dpselect_answers SET answer = 'coffee' WHERE number = 2", 2),
        ("UPDATE dpselect_answers SET entry = 4 WHERE number = 2", 4),
        ("UPDATE dpselect_answers SET number = 7 WHERE number = 2", None),
    ],
)
def test_e10_an_edit_behind_the_triggers_is_found_and_its_entry_named(
    place: Place, filled: Ledger, statement: str, entry: int | None
) -> None:
    place.force(statement)
    with pytest.raises(LedgerDamaged) as found:
        filled.verify()
    assert found.value.entry == entry
    assert pickle.loads(pickle.dumps(found.value)).entry == entry
    with pytest.raises(LedgerDamaged):
        Ledger.open(place.url)


def test_e10_an_edit_of_the_last_entry_is_found_by_the_next_charge(place: Place, filled: Ledger) -> None:
    place.force("UPDATE dpselect_entries SET total = '0' WHERE number = 5")
    for use in (
        lambda: filled.charge(PureDP("1/10"), reason="a"),
        lambda: filled.store("r4", "late"),
        lambda: filled.spent,
        lambda: filled.remaining,
        lambda: list(filled.entries()),
    ):
        with pytest.raises(LedgerDamaged) as found:
            use()
        assert found.value.entry == 5


def test_e10_an_edited_answer_is_not_given_out(place: Place, filled: Ledger) -> None:
    place.force("UPDATE dpselect_answers SET answer = 'coffee' WHERE number = 2")
    with pytest.raises(LedgerDamaged) as found:
        filled.answer("r2")
    assert found.value.entry == 2


@pytest.mark.parametrize("condition", ["= 1", "= 3", "= 5", "> 0"])
def test_e11_a_deleted_entry_is_missed(place: Place, filled: Ledger, condition: str) -> None:
    answers, entries = "DELETE FROM dpselect_answers", "DELETE FROM dpselect_entries"
    place.force(f"{answers} WHERE entry {condition}", f"{entries} WHERE number {condition}")
    with pytest.raises(LedgerDamaged):
        Ledger.open(place.url)
    with pytest.raises(LedgerDamaged):
        filled.verify()


def test_e11_deleted_answers_are_missed(place: Place, filled: Ledger) -> None:
    place.force("DELETE FROM dpselect_answers WHERE number = 3")
    for use in (
        lambda: Ledger.open(place.url),
        lambda: filled.answer("r1"),
        lambda: filled.store("r4", "late"),
    ):
        with pytest.raises(LedgerDamaged):
            use()


def test_a_ledger_without_its_triggers_is_refused(place: Place, filled: Ledger) -> None:
    assert filled.verify() == 5
    name = (
        "dpselect_entries_update" if "://" not in place.url else "dpselect_entries_kept ON dpselect_entries"
    )
    place.execute(f"DROP TRIGGER {name}")
    with pytest.raises(LedgerDamaged):
        Ledger.open(place.url)


def test_a_ledger_of_a_newer_version_is_refused(place: Place, filled: Ledger) -> None:
    place.force("UPDATE dpselect_header SET version = 3")
    for use in (filled.verify, lambda: Ledger.open(place.url)):
        with pytest.raises(LedgerDamaged, match="written by a newer dpselect"):
            use()


def test_a_ledger_of_the_first_format_is_refused_with_the_way_out(place: Place, filled: Ledger) -> None:
    place.force(
        "UPDATE dpselect_header SET version = 1", "ALTER TABLE dpselect_header DROP COLUMN neighbours"
    )
    for use in (filled.verify, lambda: Ledger.open(place.url), lambda: Ledger.vouch(place.url)):
        with pytest.raises(LedgerDamaged, match=r"is of format 1, .* dpselect ledger upgrade OLD NEW"):
            use()


def test_nothing_is_stored_but_these_columns(place: Place, filled: Ledger) -> None:
    rows = {table: place.execute(f"SELECT * FROM {table}")[0] for table in TABLES}
    entry = next(filled.entries())
    minute = "2026-05-01T12:00Z"
    assert rows["dpselect_header"][:-1] == (2, "PureDP", "1", "add_remove", None, None, None, minute)
    assert rows["dpselect_entries"] == (
        *(1, "1/10", "1/10", "reason 1", "r1", minute),
        *(None, None, None, entry.digest),
    )
    assert rows["dpselect_answers"][:-1] == (1, 1, "answer 1")
