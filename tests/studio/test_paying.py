"""Paid once, read after it is paid, drawn once; and told at ticks."""

from __future__ import annotations

import json
import math
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from unittest.mock import patch

import pytest

from dpselect.ledger.budget import MOST_DIGITS_OF_TOTAL
from dpselect.studio import refusals
from dpselect.studio.data_sets import DataSets
from dpselect.studio.quotes import LARGEST_DENOMINATOR, PLACES_OF_A_PRICE
from tests.studio.running import VOTE, Running, furnish, running, write_meals


def spent(run: Running) -> str:
    (ledger,) = run.as_("ada").get("/api/ledger").json["ledgers"]
    return str(ledger["spent"])


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return tmp_path.resolve()


def test_an_answer_is_a_label_of_the_list_and_what_it_cost_is_charged(own: Path) -> None:
    with running(own) as run:
        furnish(run, write_meals(own / "meals.csv"), budget="100", share="50")
        ada = run.as_("ada")
        quote = ada.post("/api/quotes", {**VOTE, "epsilon": "20"}).json
        taken = ada.post("/api/releases", {**VOTE, "epsilon": "20"})
        assert (taken.status, taken.headers["location"]) == (202, f"/api/releases/{taken.json['id']}")
        told = ada.answer(taken.json["id"]).json
        assert (told["state"], told["answer"], told["price"]) == ("done", ["tea"], quote["price"])
        assert spent(run) == "20"
        assert [each["id"] for each in ada.get("/api/releases").json["releases"]] == [taken.json["id"]]


def test_e6_a_request_that_is_sent_many_times_at_once_is_charged_and_drawn_once(own: Path) -> None:
    with running(own) as run:
        furnish(run, write_meals(own / "meals.csv"))
        ada = run.as_("ada")
        words = {**VOTE, "request_id": "twice"}
        with ThreadPoolExecutor(8) as pool:
            told = list(pool.map(lambda _: ada.post("/api/releases", words).status, range(16)))
        assert set(told) == {202}
        first = ada.answer("twice").text
        assert ada.post("/api/releases", words).status == 202
        assert (ada.answer("twice").text, spent(run)) == (first, "1/8")


def test_e6_a_form_that_is_sent_by_two_tabs_is_paid_once(own: Path) -> None:
    with running(own) as run:
        furnish(run, write_meals(own / "meals.csv"))
        browser = run.browser("ada")
        token = browser.get("/ask").token
        told = [browser.send("/answers", token=token, request_id="tab", **VOTE) for _ in range(2)]
        assert [each.status for each in told] == [303, 303]
        assert {each.headers["location"] for each in told} == {"/answers/tab"}
        run.as_("ada").answer("tab")
        pages = {browser.get("/answers/tab").text for _ in range(3)}
        assert len(pages) == 1
        assert spent(run) == "1/8"


def test_the_same_id_with_another_question_is_refused_and_free(shared: Running) -> None:
    ada = shared.as_("ada")
    assert ada.post("/api/releases", {**VOTE, "request_id": "one"}).status == 202
    ada.answer("one")
    before = spent(shared)
    assert ada.post("/api/releases", {**VOTE, "epsilon": "1/9", "request_id": "one"}).status == 409
    assert spent(shared) == before


def test_what_the_share_does_not_afford_is_refused_and_free(own: Path) -> None:
    with running(own) as run:
        furnish(run, write_meals(own / "meals.csv"), budget="10", share="1/4")
        ada = run.as_("ada")
        told = ada.post("/api/releases", {**VOTE, "epsilon": "1"})
        assert told.status == 409
        assert "Nothing was charged" in told.json["error"]
        asked = [ada.post("/api/releases", {**VOTE, "request_id": f"r{i}"}).status for i in range(4)]
        ended = [ada.answer(f"r{i}").status for i in range(4) if asked[i] == 202]
        assert ended.count(200) == 2
        assert set(ended) <= {200, 409}
        assert spent(run) == "1/4"


@pytest.mark.parametrize(
    "words",
    [
        {"column": "nothing"},
        {"epsilon": "0"},
        {"epsilon": "1e9999999"},
        {"epsilon": "1e-400"},
        {"epsilon": "0.0000000000001"},
        {"epsilon": "1/1001"},
        {"epsilon": "9" * 390 + "/1" + "0" * 390},
        {"epsilon": "nan"},
        {"epsilon": "", "within": ""},
        {"question": "steal"},
        {"candidates": ["tea", "tea"]},
        {"question": "quantile", "column": "pays", "low": "5", "high": "1"},
        {"question": "borda", "rank": "nothing"},
        {"k": "0", "question": "top"},
        {"sure": "200 %"},
        {"where": "1=1"},
        {"groups": ["0", "1"]},
        {"each": "pays"},
        {"each": "pays", "groups": ["0", "0"]},
        {"each": "pays", "groups": ["0", "1"], "groups_per_person": 3},
        {"each": "nothing", "groups": ["0"]},
        {"each": "pays", "groups": ["0", "1"], "gap": True},
        {"question": "window", "column": "pays", "low": "0", "high": "7"},
        {"question": "threshold", "column": "pays", "low": "0", "high": "7", "label": "dish"},
    ],
    ids=str,
)
def test_what_is_known_to_be_wrong_is_refused_before_it_is_charged(
    shared: Running, words: dict[str, object]
) -> None:
    ada, before = shared.as_("ada"), spent(shared)
    for path in ("/api/quotes", "/api/releases"):
        told = ada.post(path, {**VOTE, **words})
        assert told.status == 400
        assert set(told.json) == {"error"}
    assert spent(shared) == before


@pytest.mark.parametrize("epsilon", ["1/999", "0.000000000001", "1/3", "12.5", "997/1000"])
def test_e9_prices_are_decimal_numbers_or_fractions_of_small_ones(shared: Running, epsilon: str) -> None:
    told = shared.as_("ada").post("/api/quotes", {**VOTE, "epsilon": epsilon}).json
    assert Fraction(told["price"]) == Fraction(epsilon)


def test_e9_sums_of_all_prices_that_there_are_stay_short() -> None:
    whole = math.lcm(10**PLACES_OF_A_PRICE, *range(1, LARGEST_DENOMINATOR + 1))
    assert len(str(whole)) < 450 < MOST_DIGITS_OF_TOTAL / 4


def test_e9_an_accuracy_that_costs_next_to_nothing_costs_the_least_price(shared: Running) -> None:
    words = {name: word for name, word in VOTE.items() if name != "epsilon"}
    told = shared.as_("ada").post("/api/quotes", {**words, "within": "1e300"}).json
    assert told["price"] == "1/1000000000000"


def test_e5_a_failure_after_the_charge_is_one_constant_answer_and_stays_paid(own: Path) -> None:
    table = write_meals(own / "meals.csv")
    bodies = set()
    with running(own) as run:
        furnish(run, table)
        ada, whole = run.as_("ada"), table.read_bytes()
        for place, broken in enumerate((b"\xff\xfe,SECRET,1\n", b"p1,SECRET,1,2,3,4\n", b'p2,"SECRET\n')):
            table.write_bytes(whole + broken)
            assert ada.post("/api/releases", {**VOTE, "request_id": f"bad{place}"}).status == 202
            told = ada.answer(f"bad{place}")
            bodies.add((told.status, told.text, told.headers["content-length"]))
        assert spent(run) == "3/8"
        page = run.browser("ada").get("/answers/bad0").text
    ((status, text, _),) = bodies
    assert (status, json.loads(text)) == (503, {"error": refusals.AFTER_THE_CHARGE})
    assert refusals.AFTER_THE_CHARGE[1:] in page
    assert "SECRET" not in page


def test_nothing_is_read_before_it_is_paid_for(own: Path) -> None:
    """A table whose rows cannot be read is quoted, and its failure is found after the charge alone."""
    table = own / "meals.csv"
    table.write_bytes(b"guest,dish,pays\n" + b"\xff\xfe,tea,1\n" * 10)
    with running(own) as run:
        furnish(run, table)
        ada = run.as_("ada")
        assert ada.post("/api/quotes", VOTE).status == 200
        assert spent(run) == "0"
        assert ada.post("/api/releases", {**VOTE, "request_id": "first"}).status == 202
        assert ada.answer("first").status == 503
        assert spent(run) == "1/8"


def test_a_share_that_is_open_is_not_called_set_aside(own: Path) -> None:
    with running(own) as run:
        furnish(run, write_meals(own / "meals.csv"))
        cleo, words = run.as_("cleo"), {"epsilon": "3", "reserve": True}
        told = cleo.post("/api/data/meals/shares", {"analyst": "ada", **words})
        assert (told.status, "new share" in told.json["error"]) == (400, True)
        for share in ("3", "2"):
            told = cleo.post("/api/data/meals/shares", {"analyst": "bob", **words, "epsilon": share})
            assert (told.status, told.json["share"], told.json["reserved"]) == (201, share, True)


def test_analysts_see_their_own_questions_only(shared: Running) -> None:
    ada, bob = shared.as_("ada"), shared.as_("bob")
    assert ada.post("/api/releases", {**VOTE, "request_id": "mine"}).status == 202
    ada.answer("mine")
    assert ada.get("/api/releases/mine").status == 200
    theirs, nothing = bob.get("/api/releases/mine"), bob.get("/api/releases/no")
    assert (theirs.status, theirs.text) == (404, nothing.text)
    assert shared.browser("bob").get("/answers/mine").status == 404
    assert bob.get("/api/releases").json == {"releases": []}
    assert bob.get("/api/ledger").json == {"ledgers": []}
    assert bob.get("/api/data").json == {"data_sets": []}
    assert bob.get("/api/data/meals").status == bob.get("/api/data/none").status == 404
    refused = [bob.post("/api/quotes", {**VOTE, "data_set": name}) for name in ("meals", "none")]
    assert {(each.status, each.json["error"]) for each in refused} == {(404, refusals.no_share().sentence)}
    assert bob.post("/api/releases", {**VOTE, "request_id": "mine"}).status == 404


def test_a_name_that_is_not_there_takes_the_time_of_one_that_is(shared: Running) -> None:
    looks = []
    for name in ("meals", "nothing"):
        with patch.object(DataSets, "account", autospec=True, side_effect=DataSets.account) as looked:
            told = shared.as_("bob").post("/api/quotes", {**VOTE, "data_set": name})
        looks.append((told.status, told.text, looked.call_count))
    assert looks[0] == looks[1] == (404, told.text, 1)


def test_the_accuracy_moves_the_price_and_the_price_the_accuracy(shared: Running) -> None:
    ada = shared.as_("ada")
    by_price = ada.post("/api/quotes", VOTE).json
    wanted = {**VOTE, "epsilon": "", "within": by_price["within"]}
    by_accuracy = ada.post("/api/quotes", wanted).json
    assert float(by_accuracy["within"]) <= float(by_price["within"])
    assert by_accuracy["price"] == "1/8"
    assert ada.post("/api/quotes", {**wanted, "epsilon": None, "at": None}).json == by_accuracy
    assert ada.post("/api/quotes", {**wanted, "within": "1"}).json["times"] < by_price["times"]


def test_groups_are_answered_at_the_price_of_one_and_each_is_told(own: Path) -> None:
    table = own / "meals.csv"
    rows = [f"p{i:03},{'tea' if i % 2 else 'soup'},{'Rome' if i % 2 else 'Oslo'}" for i in range(400)]
    table.write_text("\n".join(["guest,dish,town", *rows]) + "\n", encoding="utf-8")
    groups = {"each": "town", "groups": ["Rome", "Oslo", "Bern"]}
    with running(own) as run:
        furnish(run, table)
        ada, browser = run.as_("ada"), run.browser("ada")
        one, each = (ada.post("/api/quotes", {**VOTE, "epsilon": "1", **more}).json for more in ({}, groups))
        assert (one["price"], each["price"], each["groups"]) == ("1", "1", 3)
        assert float(each["within"]) <= float(each["within_all_groups"])
        assert "in all 3 groups together" in each["sentence"]
        twice = ada.post("/api/quotes", {**VOTE, **groups, "epsilon": "1", "groups_per_person": "2"}).json
        assert float(twice["within"]) == pytest.approx(2 * float(each["within"]), rel=0.01)
        wanted = {**VOTE, **groups, "epsilon": "", "within": twice["within"], "groups_per_person": "2"}
        assert Fraction(ada.post("/api/quotes", wanted).json["price"]) == pytest.approx(1, rel=0.001)
        sure = [ada.post("/api/quotes", {**wanted, "sure": sure}).json["price"] for sure in ("0.9", "0.999")]
        assert Fraction(sure[0]) < 1 < Fraction(sure[1])
        assert (
            ada.post(
                "/api/releases", {**VOTE, **groups, "epsilon": "1", "quorum": "100", "request_id": "each"}
            ).status
            == 202
        )
        told = ada.answer("each").json
        assert told["answer"] == {"Rome": "tea", "Oslo": "soup", "Bern": None}
        assert spent(run) == "1"
        page = browser.get("/answers/each").text
        assert page.count("<output>") == 3
        assert "no clear winner" in page
        assert [line.count("Bern") for line in browser.get("/answers/each/csv").text.splitlines()[1:]] == [
            0,
            0,
            1,
        ]
        assert [line.split(",")[:1] for line in browser.get("/history?form=csv").text.splitlines()[:1]] == [
            ["date"]
        ]
        assert "Rome: tea; Oslo: soup" in browser.get("/history").text


@pytest.mark.parametrize(
    "words",
    [
        {"question": "plurality"},
        {"question": "mode"},
        {"question": "top", "k": "2"},
        {"question": "price", "column": "pays", "low": "0", "high": "7", "step": "1"},
        {"question": "quantile", "column": "pays", "low": "0", "high": "7"},
        {"question": "quantile", "column": "pays", "low": "0", "high": "7", "at": "0.25, 50 %, 3/4"},
        {"question": "summary", "column": "pays", "low": "0", "high": "7"},
        {"question": "vote", "column": "pays", "candidates": ["0", "1", "2"]},
        {"question": "vote", "gap": True, "sure": "95 %"},
        {"question": "vote", "quorum": "auto"},
        {"question": "borda", "rank": "pays"},
        {"question": "window", "column": "pays", "low": "0", "high": "7", "width": "2"},
        {"question": "threshold", "column": "pays", "low": "0", "high": "7", "label": "dish", "yes": "tea"},
        {"question": "vote", "each": "pays", "groups": ["0", "1", "6"]},
        {"question": "top", "k": 2, "each": "pays", "groups": ["0", "1"], "groups_per_person": 2},
        {"question": "summary", "column": "pays", "low": "0", "high": "7", "each": "dish"},
    ],
    ids=lambda words: "-".join(map(str, words.values())),
)
def test_every_question_has_a_price_and_an_answer(shared: Running, words: dict[str, object]) -> None:
    ada = shared.as_("ada")
    asked = {**VOTE, "epsilon": "1", **words}
    quote = ada.post("/api/quotes", asked)
    assert quote.status == 200, quote.text
    taken = ada.post("/api/releases", asked)
    told = ada.answer(taken.json["id"])
    assert told.status == 200, told.text
    assert len(told.json["release"]["winners"]) <= quote.json["k"]
    assert len(told.json["answer"]) <= quote.json.get("groups", quote.json["k"])
    page = shared.browser("ada").get(f"/answers/{taken.json['id']}")
    assert "<output" in page.text


def test_a_job_takes_one_tick_and_is_told_at_the_next(own: Path) -> None:
    """Each answer is told at the tick after it was begun: the times of many are whole numbers of ticks."""
    with running(own, tick=0.25) as run:
        furnish(run, write_meals(own / "meals.csv"))
        ada = run.as_("ada")
        assert ada.post("/api/releases", {**VOTE, "request_id": "slow"}).status == 202
        seen = [ada.get("/api/releases/slow").status for _ in range(3)]
        assert 200 not in seen
        assert ada.answer("slow").status == 200
