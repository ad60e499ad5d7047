"""What a page calls the same question is the same: as a command, as Python and as a call of the service."""

from __future__ import annotations

import json
import runpy
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpselect import Ledger, PureDP
from dpselect.studio.app import Studio
from dpselect.studio.asked_question import AskedQuestion
from dpselect.studio.data_sets import NewDataSet
from dpselect.studio.offer import Offer
from dpselect.studio.quotes import offer_of
from dpselect.studio.same_question import same_question
from dpselect.studio.settings import Settings
from dpselect.studio.views import offer_view
from tests.cli.commands import in_this_process

DISHES = ("soup", "pie", "it's, well, cake")
MANY = tuple(f"dish {i}" for i in range(9))
RANGE = {"low": "0", "high": "100"}
TOWNS = {"each": "town", "groups": ("Rome", "Oslo, the old")}
IN_TWO = {"groups_per_person": "2", "quorum": "none"}
ASKED: dict[str, dict[str, Any]] = {
    "vote": {"column": "dish", "candidates": DISHES},
    "many": {"column": "dish", "candidates": MANY, "ignore_case": True},
    "plurality": {"column": "dish", "candidates": DISHES, "quorum": "auto"},
    "borda": {"column": "dish", "candidates": DISHES, "rank": "place"},
    "top": {"column": "dish", "candidates": DISHES, "k": "2", "gap": True},
    "mode": {"column": "dish", "candidates": DISHES},
    "price": {"column": "pays", "low": "0.01", "high": "1.99"},
    "bounded": {"question": "price", "column": "pays", "low": "1", "high": "90", "people": "90"},
    "dear": {"question": "price", "column": "pays", "low": "1", "high": "90", "quorum": "500"},
    "wide": {"question": "window", "column": "pays", **RANGE, "width": "10", "quorum": "auto"},
    "quantile": {"column": "pays", **RANGE, "step": "1/2"},
    "quartiles": {"question": "quantile", "column": "pays", **RANGE, "at": "1/4, 1/2, 3/4"},
    "parts": {"question": "quantile", "column": "pays", **RANGE, "at": "25 %, 0.5", "people": "90"},
    "part": {"question": "quantile", "column": "pays", **RANGE, "at": "10 %"},
    "summary": {"column": "pays", **RANGE},
    "sharper": {"question": "summary", "column": "pays", **RANGE, "people": "90"},
    "sharper_each": {"question": "summary", "column": "pays", **RANGE, "people": "90", **TOWNS},
    "window": {"column": "pays", **RANGE, "width": "10"},
    "threshold": {"column": "pays", **RANGE, "label": "dish", "yes": "pie"},
    "numbers": {"question": "vote", "column": "place", "candidates": ("1", "2")},
    "groups": {"question": "vote", "column": "dish", "candidates": DISHES, **TOWNS},
    "several": {"question": "top", "column": "dish", "candidates": DISHES, "k": "2", **TOWNS, **IN_TWO},
    "medians": {"question": "quantile", "column": "pays", **RANGE, **TOWNS},
    "tables": {"question": "price", "column": "pays", **RANGE, "each": "place", "groups": ("1", "2", "3")},
}
ASKED["many"]["question"] = "vote"


def write_files(folder: Path) -> None:
    lines = [f'g{i},"{DISHES[i % 3]}",{1 + i % 3},{i % 90},"{TOWNS["groups"][i % 2]}"' for i in range(90)]
    header = "guest,dish,place,pays,town"
    (folder / "meals.csv").write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def offers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Offer]]:
    """Every question, priced by a studio."""
    folder = tmp_path_factory.mktemp("same").resolve()
    write_files(folder)
    with Studio(Settings(folder=folder / "state", allowed_roots=(folder,))) as studio:
        studio.keys.create("ada", "analyst")
        path = str(folder / "meals.csv")
        made = studio.data_sets.register(NewDataSet(name="meals", path=path, unit="guest", epsilon="9"))
        studio.data_sets.share(made, "ada", "8")
        yield {
            name: offer_of(
                AskedQuestion.from_words({"data_set": "meals", "question": name, "epsilon": "1/4", **words}),
                studio.data_sets,
                "ada",
            )
            for name, words in ASKED.items()
        }


@pytest.fixture
def at_home(name: str, offers: dict[str, Offer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the table, the list and a ledger of one's own."""
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    names = offers[name].asked.candidates
    (tmp_path / "candidates.txt").write_text("\n".join(names) + "\n", encoding="utf-8")
    (tmp_path / "groups.txt").write_text("\n".join(offers[name].asked.groups) + "\n", encoding="utf-8")
    with Ledger.create("meals.ledger", budget=PureDP(9), dataset="meals", unit="guest") as ledger:
        ledger.open_account("ada", share=PureDP(8))
    return tmp_path


def charged(folder: Path) -> tuple[str, PureDP]:
    """Read what was asked last, and for how much: the digest is at the end of its reason."""
    with Ledger.open(folder / "meals.ledger") as ledger:
        *_, last = ledger.entries()
        assert last.account == "ada"
        assert isinstance(last.loss, PureDP)
        return last.reason.partition("question ")[2][:64], last.loss


@pytest.mark.parametrize("name", ASKED)
def test_the_command_asks_the_same_for_the_same_price(
    name: str, offers: dict[str, Offer], at_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = shlex.split(same_question(offers[name]).command.replace("\\\n", " "))
    assert words[0] == "dpselect"
    outcome = in_this_process(capsys, words[1:])
    assert outcome.code == 0, outcome.err
    assert charged(at_home) == (offers[name].quote.problem, PureDP("1/4"))


def test_files_of_lists_are_explained_where_they_are_named(offers: dict[str, Offer]) -> None:
    files = {name: same_question(offers[name]).files for name in ("vote", "many", "groups")}
    assert "candidates.txt for the public list of dish" in files["many"]
    assert ["candidates.txt" in files[name] for name in ("vote", "groups")] == [
        True,
        True,
    ]  # a comma is in one
    assert "groups.txt for the public list of town" in files["groups"]


@pytest.mark.parametrize("name", ASKED)
def test_python_asks_the_same_for_the_same_price(name: str, offers: dict[str, Offer], at_home: Path) -> None:
    (at_home / "same.py").write_text(same_question(offers[name]).python, encoding="utf-8")
    runpy.run_path("same.py")
    assert charged(at_home) == (offers[name].quote.problem, PureDP("1/4"))


@pytest.mark.parametrize("name", ASKED)
def test_the_body_of_a_call_means_the_same_question(name: str, offers: dict[str, Offer]) -> None:
    words = shlex.split(same_question(offers[name]).curl.replace("\\\n", " "))
    body = json.loads(words[words.index("-d") + 1])
    asked = AskedQuestion.from_words(body)
    given = offers[name].asked
    assert (asked.question, asked.column, asked.winners, asked.epsilon) == (
        given.question,
        given.column,
        given.winners,
        "1/4",
    )
    assert asked.candidates == (given.candidates if name != "many" else ())
    assert (asked.each, asked.groups, asked.groups_per_person, asked.quorum) == (
        given.each,
        given.groups,
        given.groups_per_person,
        given.quorum,
    )


@pytest.mark.parametrize("name", ASKED)
def test_every_question_has_its_pictures_and_its_meaning(name: str, offers: dict[str, Offer]) -> None:
    view = offer_view(offers[name])
    assert view.times == "32 times"
    assert "factor of 1.29" in view.odds
    of_ranks = offers[name].asked.question in ("quantile", "summary")
    assert (view.chance is None) == (of_ranks or offers[name].quote.quorum is not None)
    assert view.prices is not None
    here = view.prices.rows[1]  # at the question's own price
    assert here[:2] == ("0.25", offers[name].within_text), "a chart and the offer beside it tell one figure"
