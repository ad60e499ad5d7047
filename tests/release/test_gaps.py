"""A release says by how much its winners lead: asked, priced, drawn, written, read.

What is under test: dpselect.release.drawing, dpselect.release.result, dpselect.release.json_form.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dpselect
from dpselect import Ledger, PureDP, Release, Scores, Table, prepare
from dpselect.accounting.logistic import logistic_rho
from dpselect.errors import InvalidParameter, RequestChanged
from dpselect.release.flat_form import csv_text

DISHES = ["pie", "soup", "tea"]
VOTES = dpselect.plurality(candidate="dish", candidates=DISHES)
SPREAD = {"pie": 9000, "soup": 2500, "tea": 10}
pytestmark = pytest.mark.filterwarnings("ignore::dpselect.UnmeteredRelease")


@pytest.fixture
def table(tmp_path: Path) -> Table:
    people = [dish for dish, count in SPREAD.items() for _ in range(count)]
    rows = "".join(f"{who},{dish}\n" for who, dish in enumerate(people))
    (tmp_path / "rows.csv").write_text("who,dish\n" + rows, encoding="utf-8")
    return Table(tmp_path / "rows.csv", unit="who")


def test_a_gap_is_about_the_lead_and_free_for_epsilon(table: Table) -> None:
    plain, release = (dpselect.select(VOTES, table, epsilon=1, gap=gap) for gap in (False, True))
    assert (plain.gaps, plain.gap_grid, plain.sure_leads) == ((), None, ())
    assert (plain.price, plain.scale, plain.accuracy) == (release.price, release.scale, release.accuracy)
    (gap,) = release.gaps
    assert isinstance(gap, Fraction)
    assert gap.denominator == 1
    assert abs(gap - 6500) < 100
    assert release.sure_leads[0] == gap - release.gap_margin
    assert 5 < release.gap_margin < 6  # ln(3 / (2 / 100)) = 5.01
    said = repr(release)
    assert f"leads the runner-up by about {gap} votes; by {int(release.sure_leads[0])}" in said
    assert f"about {gap} votes" in release._repr_html_()


def test_gaps_of_several_are_to_the_next_in_steps_of_the_grid(table: Table) -> None:
    release = dpselect.top_k(VOTES, table, k=2, epsilon=1, gap=True, gap_grid="1000")
    assert release.labels == ("pie", "soup")
    assert release.gaps == (Fraction(6000), Fraction(2000))
    assert "to the next about 6000, 2000 votes" in repr(release)
    rounds = dpselect.top_k(VOTES, table, k=2, rho=1, gap=True, gap_grid=1000)
    assert rounds.gaps == (Fraction(6000), Fraction(2000))


def test_the_lead_of_a_quantile_is_said_in_people(table: Table) -> None:
    middle = dpselect.quantile(value="who", at="1/2", candidates=[1, 100, 1000])
    assert " people; true leads" in repr(dpselect.top_k(middle, table, k=2, epsilon=1, gap=True))


def test_in_rho_a_gap_costs_more_noise(table: Table) -> None:
    for k in (1, 2):
        with prepare(VOTES, table, k=k, rho=1) as question:
            plain = question.quote
        with prepare(VOTES, table, k=k, rho=1, gap=True) as question:
            quote = question.quote
        assert quote.scale > plain.scale
        assert (
            k * logistic_rho(1 / quote.scale) <= 1 < k * logistic_rho(1 / (quote.scale * Fraction("0.9999")))
        )
        assert quote.gap_grid == 1
        assert quote.price == plain.price


def test_small_leads_are_not_called_certain(tmp_path: Path) -> None:
    (tmp_path / "few.csv").write_text("who,dish\n1,pie\n", encoding="utf-8")
    release = dpselect.select(VOTES, Table(tmp_path / "few.csv", unit="who"), epsilon="1/100", gap=True)
    assert (
        "too little to say, with probability 0.99, that it leads at all" in repr(release)
        or release.sure_leads[0] > 0
    )


def test_scores_of_ones_own_have_gaps_too() -> None:
    own = dpselect.custom(candidates=["a", "b"], sensitivity=1, monotonic=True)
    release = dpselect.select(own, Scores([Fraction(1, 3), 5000]), epsilon=1, gap=True, gap_grid="1/2")
    assert release.label == "b"
    assert release.gaps[0] % Fraction(1, 2) == 0
    assert "by about" in repr(release)
    chunks = Scores(lambda: iter([[1.0], [5000.0]]))
    assert dpselect.select(own, chunks, epsilon=1, gap=True).label == "b"
    many = dpselect.custom(candidates=list("abcdefghijklm"), sensitivity=1, monotonic=True)
    twelve = dpselect.top_k(many, Scores(list(range(0, 1300, 100))), k=12, epsilon=100, gap=True)
    assert ", …" in repr(twelve)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"k": 3, "gap": True}, "so that there is a runner-up"),
        ({"gap": 1}, "gap must be True or False"),
        ({"gap_grid": 1}, "gap_grid belongs to gap=True"),
        ({"gap": True, "gap_grid": 0}, "gap_grid must be"),
        ({"gap": True, "rho": 1, "epsilon": None, "noise": "exponential"}, "no proved price"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_the_charge(
    asked: dict[str, Any], sentence: str, table: Table, tmp_path: Path
) -> None:
    question: dict[str, Any] = {"k": 1, "epsilon": 1} | asked
    with Ledger.create(tmp_path / "a.ledger", budget=PureDP(9)) as ledger:
        with pytest.raises(InvalidParameter, match=sentence):
            dpselect.top_k(VOTES, table, ledger=ledger, **question)
        assert ledger.spent == PureDP(0)


def test_numbers_between_bounds_have_no_gap_unless_they_are_listed(tmp_path: Path) -> None:
    (tmp_path / "pay.csv").write_text("who,pay\n1,3\n2,4\n3,9\n", encoding="utf-8")
    table = Table(tmp_path / "pay.csv", unit="who")
    median = dpselect.quantile(value="pay", at="1/2", between=(0, 10), step=1)
    with pytest.raises(InvalidParameter, match="gap is for candidates that are listed"):
        dpselect.select(median, table, epsilon=1, gap=True)
    release = dpselect.select(median, table, epsilon=1, gap=True, noise="exponential")
    assert release.gaps[0] % median.unit == 0


def test_the_same_request_with_another_gap_is_another_request(table: Table, tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "a.ledger", budget=PureDP(9)) as ledger:
        first = dpselect.select(VOTES, table, epsilon=1, ledger=ledger, request_id="a", gap=True)
        again = dpselect.select(VOTES, table, epsilon=1, ledger=ledger, request_id="a", gap=True, gap_grid=1)
        assert again == first
        assert again.gaps == first.gaps
        for other in ({}, {"gap": True, "gap_grid": 2}):
            wishes: dict[str, Any] = dict(other)
            with pytest.raises(RequestChanged):
                dpselect.select(VOTES, table, epsilon=1, ledger=ledger, request_id="a", **wishes)
        assert "gaps in steps of 1" in next(iter(ledger.entries())).reason


def test_gaps_are_written_and_read_and_what_is_no_gap_is_refused(table: Table) -> None:
    release = dpselect.top_k(VOTES, table, k=2, epsilon=1, gap=True)
    facts = json.loads(release.to_json())
    assert Release.from_json(release.to_json()) == release
    flat = release.to_dict()
    assert (flat["gap"], flat["gap_2"]) == tuple(map(str, release.gaps))
    header, first, _ = csv_text(release, release.labels, release.gaps).splitlines()
    assert header.split(",")[:3] == ["rank", "winner", "gap"]
    assert first.split(",")[:3] == ["1", release.labels[0], str(release.gaps[0])]
    assert csv_text(release, None).splitlines()[1].startswith(",,,")
    assert "gaps" not in json.loads(dpselect.select(VOTES, table, epsilon=1).to_json())
    mistakes: list[dict[str, Any]] = [
        {"gaps": []},
        {"gaps": ["1"]},
        {"gaps": ["1/2", "1"]},
        {"gaps": ["-1", "1"]},
        {"gap_grid": "0"},
        {"gap_margin": "1"},
        {"gap_grid": None},
    ]
    for wrong in mistakes:
        with pytest.raises(InvalidParameter):
            Release.from_json(json.dumps(facts | wrong))
    without = {name: fact for name, fact in facts.items() if name != "gap_grid"}
    with pytest.raises(InvalidParameter):
        Release.from_json(json.dumps(without))
