"""A request has one charge and one answer, however often it is asked, and whatever is killed in between."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dpselect
from dpselect import AnswerLost, Ledger, PureDP, RequestChanged, Scores, Table
from dpselect.errors import InvalidParameter, ReleaseFailed
from tests.release.elections import DISH, Watched

CHECKOUT = Path(__file__).parents[2]
PATIENCE = 60
OWN = dpselect.custom(candidates=["a", "b", "c"], sensitivity=1)
EVEN = Scores([0, 0, 0])


@pytest.fixture
def ballots(tmp_path: Path) -> Path:
    path = tmp_path / "ballots.csv"
    path.write_text("voter,dish\n1,pie\n2,soup\n3,pie\n", encoding="utf-8")
    return path


def ask(ledger: Ledger, **changed: Any) -> dpselect.Release:
    asked: dict[str, Any] = {"problem": OWN, "table": EVEN, "k": 1, "epsilon": "1/8", "request_id": "lunch"}
    asked |= changed
    return dpselect.top_k(asked.pop("problem"), asked.pop("table"), ledger=ledger, **asked)


def test_the_same_request_gets_the_same_answer_and_is_charged_once(ledger: Watched) -> None:
    first = ask(ledger)
    again = [ask(ledger) for _ in range(40)]
    assert set(again) == {first}
    assert ledger.spent == PureDP("1/8")
    assert {ask(ledger, request_id=None).label for _ in range(7)} <= {"a", "b", "c"}
    assert ledger.spent == PureDP(1)


def test_an_answer_is_given_again_even_if_the_data_and_the_budget_are_gone(
    ballots: Path, ledger: Watched
) -> None:
    table = Table(ballots, unit="voter")
    first = dpselect.select(DISH, table, epsilon=1, ledger=ledger, request_id="lunch")
    ballots.unlink()
    assert dpselect.select(DISH, table, epsilon=1, ledger=ledger, request_id="lunch") == first


def test_a_ledger_that_is_opened_again_knows_its_requests(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "a.ledger") as ledger:
        first = ask(ledger)
    with Ledger.open(tmp_path / "a.ledger") as ledger:
        assert ask(ledger) == first
        assert ledger.spent == PureDP("1/8")


def test_a_question_that_is_written_otherwise_is_the_same(ledger: Watched) -> None:
    first = ask(ledger)
    same = dpselect.custom(candidates=("c", "b", "a"), range_sensitivity=2)
    assert ask(ledger, problem=same, epsilon=0.125) == first


CHANGES: list[dict[str, Any]] = [
    {"epsilon": "1/4"},
    {"epsilon": None, "rho": "1/8"},
    {"k": 2},
    {"problem": dpselect.custom(candidates=["a", "b", "d"], sensitivity=1)},
    {"problem": dpselect.custom(candidates=["a", "b", "c"], sensitivity=2)},
]


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_another_question_under_the_same_request_is_refused(change: dict[str, Any], ledger: Watched) -> None:
    first = ask(ledger)
    with pytest.raises(RequestChanged, match="'lunch' was made for another question"):
        ask(ledger, **change)
    assert ledger.spent == PureDP("1/8")
    assert ask(ledger) == first


@pytest.mark.parametrize("unit", ["guest", None])
def test_another_unit_is_another_question(unit: str | None, ballots: Path, ledger: Watched) -> None:
    ballots.write_text("voter,guest,dish\n1,1,pie\n", encoding="utf-8")
    ask(ledger, problem=DISH, table=Table(ballots, unit="voter"))
    with pytest.raises(RequestChanged):
        ask(ledger, problem=DISH, table=Table(ballots, unit=unit))


def fails() -> Iterator[Any]:
    raise LookupError


def test_an_answer_that_failed_is_lost_and_stays_paid(ledger: Watched) -> None:
    with pytest.raises(ReleaseFailed):
        ask(ledger, table=Scores(fails))
    for _ in range(2):
        with pytest.raises(AnswerLost, match="'lunch' is paid for, but has no answer"):
            ask(ledger)
    for change in (CHANGES[0], *CHANGES[2:]):
        with pytest.raises(RequestChanged):
            ask(ledger, **change)
    assert ledger.spent == PureDP("1/8")
    assert ask(ledger, request_id="dinner").label in OWN.outputs


def test_a_process_that_comes_second_gets_the_answer_of_the_first(ledger: Watched, tmp_path: Path) -> None:
    firsts: list[dpselect.Release] = []

    def another_process_is_faster() -> None:
        with Ledger.open(tmp_path / "food.ledger") as another:
            firsts.append(ask(another))

    ledger.before = another_process_is_faster
    assert [ask(ledger)] == firsts
    assert ledger.spent == PureDP("1/8")


def test_a_process_that_comes_second_with_another_question_is_refused(
    ledger: Watched, tmp_path: Path
) -> None:
    def another_process_is_faster() -> None:
        with Ledger.open(tmp_path / "food.ledger") as another:
            ask(another)

    ledger.before = another_process_is_faster
    with pytest.raises(RequestChanged):
        ask(ledger, epsilon="1/4")
    assert ledger.spent == PureDP("1/8")


# ---- processes of their own ------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
import dpselect

def dies():
    os.kill(os.getpid(), signal.SIGKILL)

own = dpselect.custom(candidates=["a", "b", "c"], sensitivity=1)
ledger = dpselect.Ledger.open(sys.argv[1])
dpselect.select(own, dpselect.Scores(dies), epsilon="1/8", ledger=ledger, request_id="lunch")
"""

HURRIED = """
import sys
import dpselect

own = dpselect.custom(candidates=["a", "b", "c"], sensitivity=1)
with dpselect.Ledger.open(sys.argv[1]) as ledger:
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        release = dpselect.select(
            own, dpselect.Scores([0, 0, 0]), epsilon="1/8", ledger=ledger, request_id="lunch"
        )
        print(release.label)
    except dpselect.AnswerLost:
        print("lost")
"""


def started(script: str, ledger: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, str(ledger)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=CHECKOUT,
    )


def test_a_process_killed_between_charge_and_answer_leaves_a_charge_and_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    Ledger.create(path).close()
    with started(KILLED, path) as process:
        assert process.wait(PATIENCE) == -9
    with Ledger.open(path) as ledger:
        assert ledger.spent == PureDP("1/8")
        assert ledger.answer("lunch") is None
        with pytest.raises(AnswerLost):
            ask(ledger)
        assert ledger.verify() == 1


def test_processes_that_ask_at_once_pay_once_and_never_get_two_answers(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    Ledger.create(path).close()
    processes = [started(HURRIED, path) for _ in range(3)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    answers = [process.communicate(timeout=PATIENCE)[0].strip() for process in processes]
    with Ledger.open(path) as ledger:
        assert ledger.spent == PureDP("1/8")
        settled = ask(ledger).label
    assert set(answers) <= {settled, "lost"}
    assert settled in answers


# ---- ledgers that do not fit -----------------------------------------------------------------------------


def test_a_request_needs_a_ledger() -> None:
    with pytest.raises(InvalidParameter, match="a request_id needs a ledger"):
        dpselect.select(OWN, EVEN, epsilon=1, request_id="lunch")


@pytest.mark.parametrize(
    ("kept", "table", "wrong"),
    [
        ({"dataset": "orders"}, {"dataset": "visits", "unit": "voter"}, "dataset"),
        ({"unit": "household"}, {"unit": "voter"}, "unit"),
        ({"unit": "voter"}, {"unit": None}, "unit"),
        ({"dataset": "orders", "unit": "voter"}, {"dataset": "orders", "unit": "dish"}, "unit"),
    ],
)
def test_a_ledger_of_another_data_set_or_unit_is_refused(
    kept: dict[str, Any], table: dict[str, Any], wrong: str, ballots: Path, tmp_path: Path
) -> None:
    with Ledger.create(tmp_path / "other.ledger", **kept) as ledger:
        with pytest.raises(InvalidParameter, match=f"{wrong} must be that of the ledger, '{kept[wrong]}'"):
            dpselect.select(DISH, Table(ballots, **table), epsilon=1, ledger=ledger)
        assert ledger.spent == PureDP(0)


@pytest.mark.parametrize(
    ("kept", "table"),
    [
        ({"dataset": "orders", "unit": "voter"}, {"dataset": "orders", "unit": "voter"}),
        ({}, {"dataset": "orders", "unit": "voter"}),
        ({"dataset": "orders"}, {"unit": None}),
        ({"unit": "row"}, {"unit": None}),
    ],
)
def test_a_ledger_of_the_same_data_set_and_unit_is_charged(
    kept: dict[str, Any], table: dict[str, Any], ballots: Path, tmp_path: Path
) -> None:
    with Ledger.create(tmp_path / "same.ledger", **kept) as ledger:
        release = dpselect.select(DISH, Table(ballots, **table), epsilon=1, ledger=ledger)
        assert (release.dataset, release.unit) == (table.get("dataset"), table["unit"])
        assert ledger.spent == PureDP(1)


@pytest.mark.parametrize("stranger", [7, "food.ledger", object()])
def test_what_is_no_ledger_is_refused(stranger: Any) -> None:
    with pytest.raises(InvalidParameter, match="ledger must be a Ledger"):
        dpselect.select(OWN, EVEN, epsilon=1, ledger=stranger)


def test_an_answer_that_another_program_stored_is_no_release(ledger: Watched) -> None:
    for number, answer in enumerate(["tea", "{}", json.dumps({"labels": ["a"]})]):
        ledger.charge(PureDP("1/8"), reason="by hand", request_id=f"by hand {number}")
        ledger.store(f"by hand {number}", answer)
        with pytest.raises(RequestChanged):
            ask(ledger, request_id=f"by hand {number}")


def test_an_answer_too_long_for_a_ledger_is_refused_before_it_is_paid_for(ledger: Watched) -> None:
    long = dpselect.custom(candidates=[f"{i}" * 150_000 for i in range(5)], sensitivity=1)
    with pytest.raises(InvalidParameter, match="k must be so small"):
        ask(ledger, problem=long, table=Scores([0] * 5), k=4)
    assert ledger.spent == PureDP(0)
    assert ask(ledger, problem=long, table=Scores([0] * 5)).label in long.outputs


def test_winners_of_a_grid_are_kept_too(ledger: Watched, tmp_path: Path) -> None:
    (tmp_path / "ages.csv").write_text("who,age\n1,30\n2,40\n", encoding="utf-8")
    table = Table(tmp_path / "ages.csv", unit="who")
    ages = dpselect.quantile(value="age", at="1/2", between=("1/3", 120), step="0.1")
    first = ask(ledger, problem=ages, table=table, k=7)
    assert ask(ledger, problem=ages, table=table, k=7) == first
    fine = dpselect.quantile(value="age", at="1/2", between=(0, 1), step="1e-6")
    with pytest.raises(InvalidParameter, match="k must be so small"):
        ask(ledger, problem=fine, table=table, k=900_000, request_id="many")


def test_a_name_that_no_ledger_can_keep_is_refused_before_it_is_paid_for(
    ballots: Path, ledger: Watched
) -> None:
    with pytest.raises(InvalidParameter, match="dataset must be text that can be stored"):
        ask(ledger, problem=DISH, table=Table(ballots, unit="voter", dataset="\ud800"))
    assert ledger.spent == PureDP(0)


def test_the_ledger_tells_what_was_asked_and_for_how_much(ledger: Watched) -> None:
    ask(ledger, k=2)
    (entry,) = ledger.entries()
    assert entry.reason == f"custom, 2 of 3, epsilon 0.125, add_remove, question {OWN.digest}"
