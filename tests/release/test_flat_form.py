"""A release as a flat dict and as CSV: exact text, and nothing that a spreadsheet or a screen obeys."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from dpselect.privacy.losses import ZCDP, ApproxDP, RenyiDP
from dpselect.release.flat_form import csv_text
from dpselect.release.labels import PlainLabel
from dpselect.release.result import EXAMPLE, Release

SIGNS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\uff1d1"]


def of(*labels: PlainLabel, **changes: Any) -> Release:
    return replace(EXAMPLE, labels=labels, accuracy=replace(EXAMPLE.accuracy, k=len(labels)), **changes)


def cells(release: Release) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(csv_text(release, release.labels))))


def test_a_dict_is_flat_and_exact() -> None:
    release = of("tea", Fraction(1, 3), price=ZCDP("1/3"), scale=Fraction(8, 3), dataset="orders")
    facts = release.to_dict()
    assert list(facts)[:4] == ["winner", "winner_2", "price", "symbol"]
    assert (facts["winner"], facts["winner_2"]) == ("tea", "1/3")
    assert (facts["price"], facts["symbol"], facts["delta"], facts["scale"]) == ("1/3", "rho", None, "8/3")
    assert (facts["within"], facts["within_exact"], facts["confidence"]) == ("11.00", "11", "0.99")
    assert (facts["k"], facts["n"], facts["dataset"], facts["unit"]) == (2, None, "orders", "guest")
    assert all(value is None or type(value) in {str, int} for value in facts.values())


def test_names_that_the_json_form_has_too_mean_the_same() -> None:
    written, facts = json.loads(EXAMPLE.to_json()), EXAMPLE.to_dict()
    shared = written.keys() & facts.keys()
    assert len(shared) == 14
    assert {name: written[name] for name in shared} == {name: facts[name] for name in shared}
    assert {facts["within"], facts["confidence"]} < {*written["accuracy"].values()}


def test_every_price_has_a_flat_form() -> None:
    pair = of("tea", price=ApproxDP(1, "1e-6")).to_dict()
    assert (pair["price"], pair["symbol"], pair["delta"]) == ("1", "epsilon", "1/1000000")
    curve = of("tea", price=RenyiDP({2: "1/2", 8: 2})).to_dict()
    assert (curve["price"], curve["symbol"], curve["delta"]) == ("2: 1/2, 8: 2", "renyi", None)


def test_csv_has_a_line_for_each_winner_with_all_that_is_in_the_dict() -> None:
    release = of("tea", 'so "hot", soup', date(2026, 5, 1))
    rows = cells(release)
    assert [(row["rank"], row["winner"]) for row in rows] == [
        ("1", "tea"),
        ("2", 'so "hot", soup'),
        ("3", "2026-05-01"),
    ]
    rest = {name: value for name, value in release.to_dict().items() if not name.startswith("winner")}
    for row in rows:
        assert {name: row[name] for name in rest} == {
            name: "" if value is None else str(value) for name, value in rest.items()
        }


def test_the_rows_and_how_they_are_read_are_part_of_both_forms() -> None:
    release = of("tea", where="=x", reading=(("decimal", ","), ("encoding", "utf-16")))
    facts, (row,) = release.to_dict(), cells(release)
    assert (facts["where"], facts["read_as"]) == ("=x", "decimal ',', encoding 'utf-16'")
    assert (row["where"], row["read_as"]) == ("'=x", facts["read_as"])
    assert EXAMPLE.to_dict()["read_as"] is None


def test_several_quantiles_say_which_one_each_winner_is() -> None:
    release = of(3, 9)
    accuracy = replace(release.accuracy, at=(Fraction(1, 4), Fraction(3, 4)), people=100)
    both = replace(release, accuracy=accuracy)
    facts = both.to_dict()
    assert (facts["winner"], facts["at"], facts["winner_2"], facts["at_2"]) == ("3", "1/4", "9", "3/4")
    assert [(row["winner"], row["at"]) for row in cells(both)] == [("3", "1/4"), ("9", "3/4")]
    assert facts["people"] == 100
    assert csv_text(both, None).splitlines()[1].startswith(",,,")
    assert "people" not in release.to_dict()


def test_without_winners_csv_has_one_line() -> None:
    (row,) = csv.DictReader(io.StringIO(csv_text(EXAMPLE, None)))
    assert (row["rank"], row["winner"], row["price"]) == ("", "", "1/2")


@pytest.mark.parametrize("name", SIGNS)
def test_f17_no_cell_of_a_spreadsheet_calculates(name: str) -> None:
    (row,) = cells(of(name, unit=name, dataset=name))
    for cell in (row["winner"], row["unit"], row["dataset"]):
        assert cell.startswith("'")
        assert cell.isprintable()


def test_numbers_are_no_formulas() -> None:
    (low, half) = cells(of(-5, Decimal("-0.50")))
    assert (low["winner"], half["winner"]) == ("-5", "-0.50")


def test_f10_no_screen_obeys_a_cell() -> None:
    text = csv_text(of("tea\x1b[2J\nprice free\u202e"), ("tea\x1b[2J\nprice free\u202e",))
    assert text.replace("\n", "").isprintable()
    assert text.count("\n") == 2
