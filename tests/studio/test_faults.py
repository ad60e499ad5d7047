"""What goes wrong beside a question: a ledger or a file that is gone, a full disk, an orderly stop."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from unittest.mock import patch

import pytest

from dpselect.studio import refusals
from dpselect.studio.app import Studio
from dpselect.studio.asked_question import AskedQuestion
from dpselect.studio.data_sets import NewDataSet
from dpselect.studio.quotes import offer_of
from dpselect.studio.settings import Settings
from tests.studio.running import TICK, VOTE, Running, furnish, running, write_meals


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return tmp_path.resolve()


def spent(run: Running) -> str:
    """What the ledger says that ada spent."""
    found = run.studio.data_sets.find("meals")
    account = run.studio.data_sets.account(found, "ada")
    assert account is not None
    return str(account.spent.parts()[0])


def register(run: Running, name: str, table: Path) -> None:
    made = run.studio.data_sets.register(NewDataSet(name=name, path=str(table), unit="guest", epsilon="10"))
    run.studio.data_sets.share(made, "bob", "10")


@pytest.mark.parametrize("how", ["gone", "damaged"])
def test_a_closed_ledger_closes_no_other_data_set(own: Path, how: str) -> None:
    with running(own) as run:
        furnish(run, write_meals(own / "meals.csv"))
        register(run, "odd", write_meals(own / "odd.csv"))
        keys = run.keys
    place = own / "studio" / "ledgers" / "odd.ledger"
    for each in place.parent.glob("odd.ledger-*"):
        each.unlink()
    if how == "gone":
        place.unlink()
    else:
        place.write_bytes(b"\xff" * 200 + place.read_bytes()[200:])
    with running(own) as run:
        run.keys.update(keys)
        ada, browser = run.as_("ada"), run.browser("ada")
        assert [browser.get(path).status for path in ("/ask", "/history")] == [200, 200]
        assert [each["data_set"] for each in ada.get("/api/ledger").json["ledgers"]] == ["meals"]
        assert [each["name"] for each in ada.get("/api/data").json["data_sets"]] == ["meals"]
        assert ada.post("/api/releases", {**VOTE, "request_id": "one"}).status == 202
        assert ada.answer("one").status == 200
        bob = run.as_("bob")
        assert (bob.get("/api/ledger").status, run.browser("bob").get("/ask").status) == (503, 503)
        cleo = run.as_("cleo")
        for kind in ("ledger", "data"):
            told = next(iter(cleo.get(f"/api/{kind}").json.values()))
            assert [each.get("problem") for each in told] == [None, refusals.DATA_SET_CLOSED]


def test_a_file_that_is_gone_leaves_the_choice_of_another(own: Path) -> None:
    with running(own) as run:
        furnish(run, write_meals(own / "meals.csv"))
        register(run, "a-first", write_meals(own / "first.csv"))
        run.studio.data_sets.share(run.studio.data_sets.find("a-first"), "ada", "5")
        (own / "first.csv").unlink()
        browser = run.browser("ada")
        told = browser.get("/ask")
        assert told.status == 200
        assert refusals.DATA_SET_CLOSED[1:] in told.text
        assert "<option>meals</option>" in told.text
        assert "Pay" in browser.get("/ask?data_set=meals").text
        assert browser.get("/quote?data_set=a-first").status == 200
        names = {
            each["name"]: each.get("problem") for each in run.as_("ada").get("/api/data").json["data_sets"]
        }
        assert names == {"a-first": refusals.DATA_SET_CLOSED, "meals": None}


def test_what_fails_before_the_charge_is_not_called_paid(own: Path) -> None:
    with running(own) as run:
        furnish(run, write_meals(own / "meals.csv"))
        ledger = run.studio.data_sets.ledger(run.studio.data_sets.find("meals"))
        with patch.object(type(ledger), "answer", side_effect=sqlite3.OperationalError("locked")):
            run.as_("ada").post("/api/releases", {**VOTE, "request_id": "early"})
            told = run.as_("ada").answer("early")
        assert (told.status, told.json["error"]) == (409, refusals.NOT_BEGUN)
        assert spent(run) == "0"


def test_a_question_that_cannot_be_read_stands_in_the_way_of_no_other(own: Path) -> None:
    """Not of the same analyst, not of another one, not after the next start."""
    words = ('{"epsilon": "1/8"}', "no JSON", '{"candidates": [], "groups": [], "from": "a later version"}')
    table = write_meals(own / "meals.csv")
    with running(own) as run:
        furnish(run, table)
        keys = run.keys
    with Studio(Settings(folder=own / "studio", allowed_roots=(own,))) as stopped:
        stopped.lane.stop()
        for text in words:
            stopped.state.write(
                "insert into jobs (analyst, id, data_set, words, state, asked) "
                "values ('bob', ?, 'meals', ?, 'computing', 1)",
                [text[:5], text],
            )
    with running(own) as again:
        again.keys.update(keys)
        assert again.as_("ada").post("/api/releases", {**VOTE, "request_id": "after"}).status == 202
        assert again.as_("ada").answer("after").status == 200
        waiting = again.studio.state.rows("select 1 from jobs where state = 'computing'")
        assert not waiting


def test_a_question_that_newer_rules_would_refuse_is_still_told(own: Path) -> None:
    with running(own) as run:
        furnish(run, write_meals(own / "meals.csv"))
        ada = run.as_("ada")
        ada.post("/api/releases", {**VOTE, "request_id": "old"})
        assert ada.answer("old").status == 200
        run.studio.state.write("update jobs set words = replace(words, '1/8', ?)", [f"1/1{'0' * 400}"])
        assert ada.answer("old").status == 200
        assert [each["id"] for each in ada.get("/api/releases").json["releases"]] == ["old"]
        assert ada.post("/api/releases", {**VOTE, "request_id": "new"}).status == 202


def test_answers_go_on_after_the_disk_was_full(own: Path) -> None:
    """For a few ticks the row of a job cannot be written: its ledger keeps the answer, to be told later."""
    with running(own) as run:
        furnish(run, write_meals(own / "meals.csv"))
        ada, write, failed = run.as_("ada"), run.studio.state.write, 0

        def full(statement: str, values: object = ()) -> int:
            nonlocal failed
            if statement.startswith("update jobs") and failed < 3:
                failed += 1
                raise sqlite3.OperationalError("database or disk is full")
            return write(statement, values)  # type: ignore[arg-type]

        with patch.object(run.studio.state, "write", full):
            for name in ("first", "second"):
                assert ada.post("/api/releases", {**VOTE, "request_id": name}).status == 202
            assert [ada.answer(name).status for name in ("first", "second")] == [200, 200]
        assert (failed, spent(run)) == (3, "1/4")


def test_an_orderly_stop_ends_after_the_present_answer_and_the_rest_comes_later(own: Path) -> None:
    table = write_meals(own / "meals.csv")
    with running(own, tick=0.5) as run:
        furnish(run, table)
        ada = run.as_("ada")
        for number in range(40):
            assert ada.post("/api/releases", {**VOTE, "request_id": f"r{number}"}).status == 202
        keys, began = run.keys, time.monotonic()
    assert time.monotonic() - began < 10  # forty answers would take twenty seconds
    with running(own, tick=TICK) as run:
        run.keys.update(keys)
        assert {run.as_("ada").answer(f"r{number}").status for number in range(40)} == {200}
        assert spent(run) == "5"


def test_a_stop_while_rows_are_read_waits_for_the_answer_that_is_paid_for(own: Path) -> None:
    settings = Settings(folder=own / "studio", tick=TICK, allowed_roots=(own,))
    with running(own) as run:
        furnish(run, write_meals(own / "meals.csv"))
    with Studio(settings) as studio:
        ledger = studio.data_sets.ledger(studio.data_sets.find("meals"))
        charge, began = type(ledger).charge, []

        def slowly(*given: object, **named: object) -> object:
            done = charge(*given, **named)  # type: ignore[arg-type]
            began.append(time.monotonic())
            time.sleep(1)
            return done

        with patch.object(type(ledger), "charge", slowly):
            offer = offer_of(AskedQuestion.from_words(VOTE), studio.data_sets, "ada")
            studio.lane.submit("ada", "slow", offer)
            while not began:
                time.sleep(TICK)
            studio.lane.stop()
        assert studio.lane.job("ada", "slow").state == "done"
