"""``law``: the probabilities of the papers, on public scores."""

from __future__ import annotations

from math import exp
from pathlib import Path

import pytest

from tests.cli.commands import Call


def test_a_law_has_the_probabilities_of_the_papers(call: Call) -> None:
    law = call("law tea=1,coffee=0 --scale 1 --json").json
    assert law["public"] is True
    by_name = {each["outcome"][0]: each for each in law["law"]}
    assert by_name["tea"]["exponential"] == "0.816060279414"  # 1 - exp(-1) / 2
    assert float(by_name["tea"]["gumbel"]) == pytest.approx(1 / (1 + exp(-1)), abs=1e-12)
    assert law["expected_error"]["exponential"] == f"{exp(-1) / 2:.10g}"


def test_a_law_of_two_winners_is_in_order(call: Call) -> None:
    law = call("law 0,-1,-2 --scale 1 --k 2 --json").json
    found = {tuple(each["outcome"]): each for each in law["law"]}
    assert found["1", "2"]["exponential"].startswith("0.640418")
    assert found["1", "2"]["gumbel"].startswith("0.48633")
    assert len(found) == 6


def test_an_epsilon_buys_the_scale_that_a_release_would_have(call: Call) -> None:
    assert call("law 1,2,3 --epsilon 1/2 --json").json["scale"] == "2"
    assert call("law 1,2,3 --epsilon 1/2 --neighbours change_one --k 2 --json").json["scale"] == "8"


def test_a_law_is_read_from_a_file_and_shown_in_words(folder: Path, call: Call) -> None:
    (folder / "scores.txt").write_text("tea=12\ncoffee=10\n", encoding="utf-8")
    assert "0.816060279414" in call("law scores.txt --scale 2").out
    (folder / "scores.csv").write_text("tea,12\ncoffee,10\n", encoding="utf-8")
    assert "0.816060279414" in call("law scores.csv --scale 2").out
    assert "0.816060279414" in call("law --scores 1,0 --candidates tea,coffee --scale 1").out


def test_a_law_of_many_shows_the_likeliest_and_says_so(call: Call) -> None:
    scores = ",".join(map(str, range(250)))
    said = call("law", scores, "--scale", "10", "--noise", "all").out
    assert "230 less likely outcomes" in said
    assert "laplace" in said
