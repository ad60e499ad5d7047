"""What the header of a file alone makes doubtful is said in Python too, before anything is paid."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from dpselect import Table, approval_voting, prepare, pricing, quantiles, window
from dpselect.errors import DoubtfulDecimals
from dpselect.problems.problem import Problem

NUMBERS = {
    "a price": pricing(value="pays", prices=[1, 2]),
    "quartiles": quantiles(value="pays", at=["1/4", "3/4"], between=(0, 10)),
    "a window": window(value="pays", width=1, between=(0, 10)),
}


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """A file as programs write it whose numbers have a decimal comma."""
    path = tmp_path / "export.csv"
    path.write_text("buyer;pays;city\n1;1,50;Bern\n2;0,80;Genf\n", encoding="utf-8")
    return path


def told(problem: Problem, table: Table) -> list[str]:
    """Open a question, and give what was said."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with prepare(problem, table, epsilon=1) as question:
            assert not question.charged
    return [str(each.message) for each in said]


@pytest.mark.parametrize("question", NUMBERS)
def test_numbers_of_a_file_with_semicolons_are_doubtful_until_their_sign_is_named(
    question: str, export: Path
) -> None:
    problem = NUMBERS[question]
    with (
        pytest.warns(DoubtfulDecimals, match="numbers in 'pays' are read with a decimal point") as found,
        prepare(problem, Table(export, unit="buyer"), epsilon=1),
    ):
        pass
    assert found[0].filename == __file__
    for sign in (",", "."):
        assert told(problem, Table(export, unit="buyer", decimal=sign)) == []


def test_names_and_other_separators_are_not_doubtful(export: Path, tmp_path: Path) -> None:
    city = approval_voting(candidate="city", candidates=["Bern", "Genf"])
    assert told(city, Table(export, unit="buyer")) == []
    (tmp_path / "plain.csv").write_text("buyer,pays\n1,1.50\n", encoding="utf-8")
    assert told(NUMBERS["a price"], Table(tmp_path / "plain.csv", unit="buyer")) == []


def test_a_warning_that_is_an_error_costs_nothing(export: Path) -> None:
    question = prepare(NUMBERS["a price"], Table(export, unit="buyer"), epsilon=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DoubtfulDecimals), question:
            pass
    assert not question.charged
    assert not question.looked
