"""What a curator offers of numbers: public bounds, with which a question has a price at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.studio.running import Running, furnish, running, write_meals

PRICE = {"data_set": "meals", "question": "price", "column": "pays", "epsilon": "1/8"}
BOUNDS = {"column": "pays", "low": "0", "high": "6", "step": "1"}
MISSING = "Fill in <strong>Lowest</strong> and <strong>Highest</strong>"


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Running]:
    folder = tmp_path.resolve()
    with running(folder) as started:
        furnish(started, write_meals(folder / "meals.csv"))
        yield started


def test_bounds_that_a_curator_offers_are_taken_where_none_are_given(run: Running) -> None:
    ada, cleo = run.as_("ada"), run.as_("cleo")
    assert ada.post("/api/quotes", PRICE).json == {
        "error": "low must be given: the lowest answer that there may be, a public bound."
    }
    made = cleo.post("/api/data/meals/bounds", BOUNDS)
    assert (made.status, made.json["bounds"]) == (201, {"pays": {"low": "0", "high": "6", "step": "1"}})
    offered, typed = (
        ada.post("/api/quotes", {**PRICE, **more}).json
        for more in ({}, {"low": "0", "high": "6", "step": "1"})
    )
    assert offered == typed
    assert offered["candidates"] == 7
    assert ada.post("/api/quotes", {**PRICE, "low": "0", "high": "3", "step": "1"}).json["candidates"] == 4
    taken = ada.post("/api/releases", PRICE).json
    assert ada.answer(taken["id"]).json["answer"][0] in [str(each) for each in range(7)]


def test_the_form_begins_with_them_and_keeps_what_is_typed(run: Running) -> None:
    page, browser = "/ask?data_set=meals&question=quantile&column=pays", run.browser("ada")
    assert MISSING in browser.get(page).text
    assert 'class="refused"' not in browser.get(page).text  # nothing is wrong yet
    assert run.as_("cleo").post("/api/data/meals/bounds", BOUNDS).status == 201
    begun = browser.get(page).text
    assert 'name="low" inputmode="decimal" autocomplete="off" value="0"' in begun
    assert "Pay 0.25 and ask" in begun
    typed = browser.get(f"{page}&low=1&high=2&step=1&changed=question").text
    assert 'name="low" inputmode="decimal" autocomplete="off" value="1"' in typed
    another = browser.get(f"{page}&low=1&high=2&step=1&changed=column").text
    assert 'name="low" inputmode="decimal" autocomplete="off" value="0"' in another


def test_bounds_of_another_column_are_not_kept(run: Running) -> None:
    run.as_("cleo").post("/api/data/meals/bounds", BOUNDS)
    page = "/ask?data_set=meals&question=quantile&column=dish&low=0&high=6&step=1&changed=column"
    assert MISSING in run.browser("ada").get(page).text


@pytest.mark.parametrize(
    "wrong",
    [{"column": "colour"}, {"low": ""}, {"high": "many"}, {"low": "7"}, {"step": "0"}, {"low": "1" * 61}],
)
def test_bounds_that_are_none_are_refused(run: Running, wrong: dict[str, str]) -> None:
    told = run.as_("cleo").post("/api/data/meals/bounds", {**BOUNDS, **wrong})
    assert told.status == 400, told.text
    assert run.as_("cleo").get("/api/data/meals").json["bounds"] == {}
    browser = run.browser("cleo")
    token = browser.get("/data/meals").token
    assert browser.send("/data/meals/bounds", token=token, **{**BOUNDS, **wrong}).status == 400


def test_a_curator_sees_what_is_offered(run: Running) -> None:
    browser = run.browser("cleo")
    token = browser.get("/data/meals").token
    assert browser.send("/data/meals/bounds", token=token, **BOUNDS).status == 303
    assert "0 to 6" in browser.get("/data/meals").text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("question=top&k=0", "“How many winners” must be"),
        ("question=quantile&column=pays&low=0&high=6&at=2", "“Part of the people below it” must be"),
        ("question=quantile&column=pays&low=0&high=6&step=no", "“Steps” must be"),
        ("epsilon=-1", "Epsilon must be"),
        ("data_set=others", "“Data set” must be the name of one in which you have a share"),
        ("question=window&column=pays&low=0&high=6", "<strong>How wide</strong>"),
        ("question=threshold&column=pays&low=0&high=6&label=dish", "<strong>Yes is</strong>"),
        ("column=guest", "<strong>Candidates</strong>"),
        ("each=pays", "<strong>Groups</strong>"),
    ],
)
def test_a_page_speaks_of_a_control_by_its_label(shared: Running, words: str, said: str) -> None:
    assert said in shared.browser("ada").get(f"/ask?data_set=meals&{words}").text


def test_a_bound_on_the_number_of_people_makes_the_promise_of_several_quantiles_sharper(
    shared: Running,
) -> None:
    ada = shared.as_("ada")
    words = {**PRICE, "question": "summary", "low": "0", "high": "6"}
    wide, sharp = (
        float(ada.post("/api/quotes", {**words, **more}).json["within"]) for more in ({}, {"people": "60"})
    )
    assert sharp < wide
    assert ada.post("/api/quotes", {**words, "question": "quantile", "people": "60"}).status == 400
    page = shared.browser("ada").get(
        "/ask?data_set=meals&question=summary&column=pays&low=0&high=6&people=60"
    )
    assert "--people 60" in page.text
    assert "people=60" in page.text
