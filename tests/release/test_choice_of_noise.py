"""A question takes the noise with the best proved accuracy, says why, and may be told another.

What is under test: dpselect.release.drawing, through dpselect.release.question and dpselect.release.charge.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dpselect
from dpselect import Ledger, PureDP, Release, Scores, Table, prepare
from dpselect.errors import InvalidParameter, RequestChanged
from dpselect.selection.noise import NoiseName

NAMES = [f"n{i}" for i in range(40)]
VOTES = dpselect.plurality(candidate="dish", candidates=NAMES)
APPROVAL = dpselect.approval_voting(candidate="dish", candidates=NAMES)


@pytest.fixture
def table(tmp_path: Path) -> Table:
    rows = "".join(f"{who},n{who % 20}\n" for who in range(200))
    (tmp_path / "rows.csv").write_text("who,dish\n" + rows, encoding="utf-8")
    return Table(tmp_path / "rows.csv", unit="who")


@pytest.fixture
def ledger(tmp_path: Path) -> Any:
    with Ledger.create(tmp_path / "a.ledger", budget=PureDP(100)) as opened:
        yield opened


def test_a_plurality_with_many_winners_takes_laplace_noise_and_says_why(table: Table) -> None:
    with prepare(VOTES, table, k=20, epsilon="1/2") as question:
        quote = question.quote
    assert (quote.noise, quote.scale, quote.price) == ("laplace", Fraction(2), PureDP("1/2"))
    assert quote.noise_reason in repr(quote)
    assert "exponential noise would be" in quote.noise_reason
    assert quote.accuracy == dpselect.accuracy(VOTES, epsilon="1/2", k=20)
    with prepare(VOTES, table, k=20, epsilon="1/2", neighbours="change_one") as question:
        assert question.quote.scale == 4


def test_one_winner_and_an_unbounded_person_take_exponential_noise(table: Table) -> None:
    for problem, k, why in ((VOTES, 1, "laplace noise would be"), (APPROVAL, 20, "any number of scores")):
        with prepare(problem, table, k=k, epsilon=1) as question:
            assert (question.quote.noise, question.quote.scale) == ("exponential", Fraction(k))
            assert why in question.quote.noise_reason
            assert "because" not in repr(question.quote)


def test_rho_is_paid_in_gumbel_noise_and_another_may_be_named(table: Table) -> None:
    with prepare(VOTES, table, k=20, rho=1) as question:
        gumbel = question.quote
    with prepare(VOTES, table, k=20, rho=1, noise="laplace") as question:
        laplace = question.quote
    assert (gumbel.noise, laplace.noise) == ("gumbel", "laplace")
    assert "named by the caller" in repr(laplace)
    assert laplace.accuracy == dpselect.accuracy(VOTES, rho=1, k=20, mechanism="laplace")


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"problem": APPROVAL, "noise": "laplace"}, 'noise="laplace" needs a bound'),
        ({"noise": "cauchy"}, "noise must be"),
        ({"noise": ["laplace"]}, "noise must be"),
        ({"noise": "exponential", "epsilon": None, "rho": 1}, "no proved price"),
    ],
)
def test_a_noise_without_a_proved_price_is_refused_before_the_charge(
    asked: dict[str, Any], sentence: str, table: Table, ledger: Ledger
) -> None:
    question: dict[str, Any] = {"problem": VOTES, "epsilon": 1} | asked
    with pytest.raises(InvalidParameter, match=sentence):
        dpselect.top_k(question.pop("problem"), table, k=3, ledger=ledger, **question)
    assert ledger.spent == PureDP(0)


def test_scores_of_ones_own_have_no_l1_and_take_exponential_noise() -> None:
    own = dpselect.custom(candidates=["a", "b", "c"], sensitivity=1)
    with prepare(own, Scores([1, 2, 3]), k=2, epsilon=1) as question:
        assert question.quote.noise == "exponential"


def test_the_same_request_with_another_noise_is_another_request(table: Table, ledger: Ledger) -> None:
    first = dpselect.top_k(VOTES, table, k=20, epsilon=1, ledger=ledger, request_id="a")
    assert first.mechanism == "laplace"
    unnamed_or_not: tuple[NoiseName | None, ...] = (None, "laplace")
    others: tuple[NoiseName, ...] = ("exponential", "gumbel")
    for same in unnamed_or_not:
        again = dpselect.top_k(VOTES, table, k=20, epsilon=1, ledger=ledger, request_id="a", noise=same)
        assert again == first
    for other in others:
        with pytest.raises(RequestChanged):
            dpselect.top_k(VOTES, table, k=20, epsilon=1, ledger=ledger, request_id="a", noise=other)
    named = dpselect.top_k(VOTES, table, k=20, epsilon=1, ledger=ledger, request_id="b", noise="exponential")
    assert named.mechanism == "exponential"
    with pytest.raises(RequestChanged):
        dpselect.top_k(VOTES, table, k=20, epsilon=1, ledger=ledger, request_id="b")
    assert ledger.spent == PureDP(2)


@pytest.mark.filterwarnings("ignore::dpselect.UnmeteredRelease")
def test_an_answer_of_a_version_without_a_choice_is_the_answer_of_who_names_none(
    table: Table, ledger: Ledger
) -> None:
    with prepare(VOTES, table, k=20, epsilon=1, noise="exponential") as question:
        quote = question.quote
        facts = json.loads(question.release().to_json())
    del facts["noise_reason"]
    ledger.charge(quote.price, reason=quote.reason, request_id="old")
    ledger.store("old", json.dumps(facts))
    kept = dpselect.top_k(VOTES, table, k=20, epsilon=1, ledger=ledger, request_id="old")
    assert kept == Release.from_json(json.dumps(facts))
    assert kept.mechanism == "exponential"
    with pytest.raises(RequestChanged):
        dpselect.top_k(VOTES, table, k=20, epsilon=1, ledger=ledger, request_id="old", noise="laplace")


@pytest.mark.filterwarnings("ignore::dpselect.UnmeteredRelease")
def test_the_reason_is_written_and_read(table: Table) -> None:
    release = dpselect.top_k(VOTES, table, k=20, epsilon=1)
    again = Release.from_json(release.to_json())
    assert again == release
    assert again.noise_reason == release.noise_reason != ""
    usual = dpselect.select(VOTES, table, epsilon=1)
    assert "noise_reason" not in json.loads(usual.to_json())
    for reason in (7, "because"):
        with pytest.raises(InvalidParameter):
            Release.from_json(json.dumps(json.loads(usual.to_json()) | {"noise_reason": reason}))
    assert release.scale == Fraction(1)
