"""What earlier versions wrote is still read: releases as JSON, and ledgers that keep them as answers."""

import json
import shutil
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from dpselect import AnswerLost, Ledger, PureDP, Release, RequestChanged, Table
from dpselect.errors import InvalidParameter
from dpselect.release import prepare
from tests.release.stored_releases import BALLOTS, LOST, QUESTIONS, STORED

FIRST = (STORED / "first.jsonl").read_text(encoding="utf-8").splitlines()


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[Ledger]:
    folder = tmp_path / "stored"
    shutil.copytree(STORED, folder)
    with Ledger.open(folder / "town.ledger") as ledger:
        yield ledger


@pytest.fixture
def table(tmp_path: Path) -> Table:
    (tmp_path / "ballots.csv").write_text(BALLOTS, encoding="utf-8")
    return Table(tmp_path / "ballots.csv", unit="voter", dataset="town")


def test_releases_from_before_an_accuracy_knew_its_candidates_are_read() -> None:
    dishes, median = map(Release.from_json, FIRST)
    assert (dishes.labels, dishes.price, dishes.k) == (("tea", "pie"), PureDP("1/3"), 2)
    assert (dishes.accuracy.n, dishes.accuracy.target, dishes.first_candidates) == (None, None, ())
    assert median.label == Fraction(3, 2)
    for release in (dishes, median):
        assert Release.from_json(release.to_json()) == release


@pytest.mark.parametrize("line", FIRST)
def test_what_the_first_versions_would_not_write_is_refused_in_their_form_too(line: str) -> None:
    facts = json.loads(line)
    for name in facts:
        with pytest.raises(InvalidParameter):
            Release.from_json(json.dumps({key: value for key, value in facts.items() if key != name}))
    with pytest.raises(InvalidParameter):
        Release.from_json(json.dumps(facts | {"extra": 1}))


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_answer_that_an_earlier_version_stored_is_given_again_for_nothing(
    stored: Ledger, table: Table, name: str
) -> None:
    problem, asked = QUESTIONS[name]
    spent, kept = stored.spent, json.loads(stored.answer(name) or "")
    with prepare(problem, table, **asked) as question:
        release = question.release(stored, request_id=name)
        assert not question.charged
    assert json.loads(release.to_json())["labels"] == kept["labels"]
    assert (release.accuracy.n, release.accuracy.target) == (len(problem.outputs), problem.target)
    assert stored.spent == spent
    assert Release.from_json(release.to_json()) == release


@pytest.mark.parametrize("name", LOST)
def test_a_charge_that_an_earlier_version_wrote_is_known_for_the_same_question(
    stored: Ledger, table: Table, name: str
) -> None:
    problem, asked = LOST[name]
    spent = stored.spent
    with prepare(problem, table, **asked) as question:
        with pytest.raises(AnswerLost):
            question.dry_run(stored, name)
        with pytest.raises(AnswerLost):
            question.release(stored, request_id=name)
    others = [(problem, asked | {"epsilon": "1/5"}), (problem, asked | {"k": 2}), QUESTIONS["price"]]
    for other, otherwise in others:
        with prepare(other, table, **otherwise) as question, pytest.raises(RequestChanged):
            question.dry_run(stored, name)
        with prepare(other, table, **otherwise) as question, pytest.raises(RequestChanged):
            question.release(stored, request_id=name)
    assert stored.spent == spent
