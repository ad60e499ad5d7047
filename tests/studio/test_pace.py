"""When an answer is told depends on the question, not on how long its draws took."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from dpselect.studio.asked_question import AskedQuestion
from dpselect.studio.lane import MOST_TICKS_OF_ONE
from dpselect.studio.pace import ticks_of
from tests.studio.running import TICK, VOTE, furnish, running, write_meals

SUMMARY = {**VOTE, "question": "summary", "column": "pays", "low": "0", "high": "7", "each": "dish"}


@pytest.mark.parametrize(
    ("words", "ticks"),
    [
        ({}, 1),
        ({"question": "top", "k": "2"}, 1),
        ({"question": "summary", "column": "pays"}, 1),
        ({"each": "guest", "groups": [str(i) for i in range(1_000)]}, 1),
        ({"each": "guest", "groups": [str(i) for i in range(1_001)]}, 2),
        (
            {
                "question": "price",
                "column": "pays",
                "each": "guest",
                "groups": [str(i) for i in range(1_000)],
            },
            10,
        ),
        ({"question": "quantile", "column": "pays", "at": "0.1,0.2,0.3", "groups": ["x"] * 100}, 3),
        ({"question": "summary", "column": "pays", "groups": ["x"] * 1_000}, 50),
    ],
    ids=str,
)
def test_f11_ticks_follow_from_the_question(words: dict[str, Any], ticks: int) -> None:
    asked = AskedQuestion.from_words({**VOTE, **words})
    assert ticks_of(asked, 1.0) == ticks
    assert ticks_of(asked, 60.0) == 1


def test_f11_many_groups_are_told_at_the_tick_that_the_question_says(tmp_path: Path) -> None:
    """The draws of forty groups take less than the two seconds that are set aside for them."""
    with running(tmp_path.resolve()) as run:
        furnish(run, write_meals(tmp_path.resolve() / "meals.csv"))
        ada, groups = run.as_("ada"), [f"d{i}" for i in range(40)]
        began = time.monotonic()
        assert ada.post("/api/releases", {**SUMMARY, "groups": groups, "request_id": "many"}).status == 202
        assert ada.answer("many").status == 200
        assert time.monotonic() - began >= 2 - TICK


def test_f12_long_questions_of_one_analyst_leave_others_their_turn(tmp_path: Path) -> None:
    with running(tmp_path.resolve(), tick=0.5) as run:
        furnish(run, write_meals(tmp_path.resolve() / "meals.csv"))
        run.studio.data_sets.share(run.studio.data_sets.find("meals"), "bob", "500")
        long = {**SUMMARY, "groups": [f"d{i}" for i in range(200)]}
        assert ticks_of(AskedQuestion.from_words(long), 0.5) < MOST_TICKS_OF_ONE
        told = [
            run.as_("ada").post("/api/releases", {**long, "request_id": f"r{i}"}).status for i in range(4)
        ]
        assert told == [202, 202, 429, 429]
        assert run.as_("bob").post("/api/releases", VOTE).status == 202
