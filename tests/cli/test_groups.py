"""What the command line says of a winner for each group."""

import csv
import io
import json
import shlex
from pathlib import Path

import pytest

from tests.cli.commands import Call

VOTE = "vote guests.csv --unit guest --choice dish --candidates tea,soup,pie --epsilon 1"
EACH = f"{VOTE} --each city --groups Rome,Oslo,Bern"
SILENT = "--quorum 20"
"""Keeps an empty group silent, where "auto" does with probability 0.99 alone."""


def test_each_group_has_a_line_with_its_winner(call: Call) -> None:
    told = call(f"{EACH} {SILENT}")
    assert told.code == 0
    assert told.out.splitlines()[:3] == ["Rome  tea", "Oslo  soup", "Bern  no clear winner"]


def test_the_quote_says_in_words_why_all_groups_cost_what_they_cost(call: Call) -> None:
    told = call(f"{EACH} --dry-run").out
    assert "one person counts in at most 1 group, so all of them cost as much as one" in told
    assert "in all groups within" in told
    changed = call(f"{EACH} --dry-run --neighbours change_one").out
    assert "a person may leave one group and enter another" in changed


def test_json_and_csv_have_a_group_with_its_winner(call: Call) -> None:
    facts = call(f"{EACH} {SILENT} --json").json
    assert facts["groups"] == {"Rome": "tea", "Oslo": "soup", "Bern": None}
    assert (facts["winners"], facts["by"], facts["groups_per_person"]) == ([], "city", 1)
    several = call(f"{EACH} --k 2 --quorum none --json").json["groups"]
    assert {city: winners[0] for city, winners in several.items() if city != "Bern"} == {
        "Rome": "tea",
        "Oslo": "soup",
    }
    lines = list(csv.DictReader(io.StringIO(call(f"{EACH} {SILENT} --csv").out)))
    assert [(line["group"], line["rank"], line["winner"]) for line in lines] == [
        ("Rome", "1", "tea"),
        ("Oslo", "1", "soup"),
        ("Bern", "", ""),
    ]
    dry = call(f"{EACH} --csv --dry-run").out
    assert [line["winner"] for line in csv.DictReader(io.StringIO(dry))] == ["", "", ""]


def test_groups_may_be_in_a_file_and_numbers_are_groups_too(call: Call) -> None:
    Path("cities.txt").write_text("Oslo\nRome\n", encoding="utf-8")
    told = call(f"{VOTE} --each city --groups cities.txt --json")
    assert told.json["groups"] == {"Oslo": "soup", "Rome": "tea"}
    numbers = "quantile survey.parquet --unit buyer --value wtp --at 0.5 --between 0:2 --step 0.1 --epsilon 9"
    groups = call(f"{numbers} --each number --groups 1.0,7,1000000 --groups-per-person 3 --json").json
    assert list(groups["groups"]) == ["1.0", "7", "1000000"]
    assert groups["groups_per_person"] == 3


@pytest.mark.parametrize(
    "question",
    [
        "top guests.csv --unit guest --choice dish --candidates tea,soup --epsilon 1 --k 2",
        "mode guests.csv --unit guest --column dish --candidates tea,soup --epsilon 1",
        "price survey.parquet --unit buyer --value wtp --prices 0.1:0.9:0.1 --epsilon 1",
        "quantile survey.parquet --unit buyer --value wtp --at 0.25,0.5 --between 0:2 --step 0.1 --epsilon 1",
        "summary survey.parquet --unit buyer --value wtp --between 0:2 --step 0.1 --epsilon 1",
        "window survey.parquet --unit buyer --value wtp --width 1 --between 0:2 --step 0.1 --rho 1",
        "threshold survey.parquet --unit buyer --value wtp --label number --yes 7 --between 0:2 --epsilon 1",
    ],
)
def test_every_verb_that_asks_a_table_takes_groups(call: Call, question: str) -> None:
    each = (
        "--each city --groups Rome,Oslo"
        if "guests" in question
        else "--each day --groups 2026-01-01,2026-01-02"
    )
    told = call(f"{question} {each} --json")
    assert (told.code, told.err.count("dpselect: ")) == (0, told.err.count("\n"))
    assert len(told.json["groups"]) == len(shlex.split(each)[-1].split(","))


def test_of_several_quantiles_it_is_said_which_is_which(call: Call) -> None:
    question = "quantile survey.parquet --unit buyer --value wtp --at 0.25,0.5 --between 0:2 --step 0.1"
    told = call(f"{question} --epsilon 1 --each day --groups 2026-01-01,2026-01-02")
    assert told.out.splitlines()[0].split() == ["0.25,", "0.5"]


def test_a_question_about_groups_is_charged_once_and_answered_again_at_no_price(call: Call) -> None:
    call("ledger create town.ledger --epsilon 2 --unit guest")
    asked = f"{EACH} --ledger town.ledger --request-id cities --json"
    first, again = call(asked).json, call(asked).json
    assert first["ledger"] == again["ledger"] == {"spent": "1", "remaining": "1"}
    assert (again["groups"], again["charged"]) == (first["groups"], False)
    other = call(f"{asked} --groups-per-person 2")
    assert other.code != 0
    assert "city" in call("ledger show town.ledger").out


def test_the_owner_sees_which_groups_are_on_the_list_and_how_many_rows_other_groups_have(call: Call) -> None:
    """Half of 300 people are in Oslo, which is not on the list; no person is in two groups."""
    found = call(f"check {VOTE.removeprefix('vote ')} --each city --groups Rome,Bern --owner --json").json
    dish, city = found["columns"]
    assert (dish["column"], city["column"]) == ("dish", "city")
    assert (city["matched"], city["not_listed"]) == (150, 150)
    assert city["unmatched"] == [{"value": "Oslo", "cells": 150}]
    assert (found["matched"], found["over_the_bound"], found["counted"]) == (150, 0, 150)


REFUSED = {
    f"{VOTE} --each city": "--groups must be given with --each",
    f"{VOTE} --groups Rome,Oslo": "--groups belongs to --each",
    f"{VOTE} --groups-per-person 1": "--groups-per-person belongs to --each",
    f"{VOTE} --each city --groups Rome,Rome": "--groups must be different",
    f"{VOTE} --each city --groups ,,": "Groups are public",
    f"{VOTE} --each city --groups no.txt": "--groups must be a file that is there",
    f"{VOTE} --each city --groups guests.csv:city": "Groups are public",
    f"{VOTE} --each town --groups Rome,Oslo": "column 'town'",
    f"{EACH} --gap": "--gap does not go with --each",
    f"{EACH} --counts": "--counts does not go with --each",
    f"{EACH} --groups-per-person 4": "--groups-per-person must be",
    f"{EACH} --groups-per-person 0": "--groups-per-person must be",
    f"{EACH} --quorum many": "--quorum",
    **{
        f"{asked} guests.csv --unit guest --value dish --between 0:9 --epsilon 1 --each city --groups a,b "
        "--quorum auto": words
        for asked, words in {
            "summary": "no meaning for quantiles",
            "quantile --at 0.5": "no meaning for quantile",
        }.items()
    },
    "scores totals.csv --candidates tea,soup,pie --sensitivity 1 --epsilon 1 --each dish --groups tea,pie": (
        "--each is for tables"
    ),
    "summary pay.csv --unit person --value salary --between 0:9 --epsilon 1 --each city --groups a,b "
    "--plot box.png": "--plot draws one box",
}


@pytest.mark.parametrize(("line", "words"), REFUSED.items(), ids=range(len(REFUSED)))
def test_groups_that_cannot_be_are_refused_before_anything_is_paid(call: Call, line: str, words: str) -> None:
    call("ledger create town.ledger --epsilon 2 --unit guest")
    call(f"{line} --ledger town.ledger").refused(2, words)
    assert json.loads(call("ledger show town.ledger --json").out)["spent"] == "0"
