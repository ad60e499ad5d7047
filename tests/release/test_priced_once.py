"""A question that is asked again keeps its price, and whether it was asked before changes nothing else."""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from threading import Barrier
from typing import Any
from weakref import ref

import numpy as np
import pytest

from dpselect import PureDP, Quote, RenyiDP, Scores, Table, approval_voting, custom, prepare
from dpselect.errors import InvalidParameter
from dpselect.release.priced_once import MOST_KEPT
from tests.costs import calls

EVEN = Scores([0, 0, 0])


def dish() -> Any:
    return custom(candidates=["pie", "soup", "tea"], sensitivity=1)


def quote(problem: Any, data: Any = EVEN, **asked: Any) -> Quote:
    return prepare(problem, data, **({"epsilon": 1} | asked)).quote


def test_the_same_question_is_priced_once() -> None:
    problem = dish()
    first = calls(lambda: quote(problem))
    again = calls(lambda: quote(problem))
    assert again < first / 3


def test_another_question_has_a_price_of_its_own() -> None:
    problem = dish()
    asked: list[dict[str, Any]] = [
        {},
        {"k": 2},
        {"epsilon": 2},
        {"epsilon": None, "rho": 1},
        {"epsilon": None, "budget": RenyiDP({2: 1})},
        {"neighbours": "change_one"},
        {"noise": "gumbel"},
        {"gap": True},
        {"gap": True, "gap_grid": 2},
        {"quorum": 5},
        {"quorum": "auto"},
    ]
    quotes = [quote(problem, **each) for each in asked]
    assert len({each.question for each in quotes}) == len(asked)
    assert [quote(problem, **each) for each in asked] == quotes


def test_a_question_of_another_table_names_that_table(tmp_path: Path) -> None:
    problem = approval_voting(candidate="dish", candidates=["pie", "soup"])
    tables: list[dict[str, Any]] = [
        {"unit": "voter"},
        {"unit": None},
        {"unit": "guest"},
        {"unit": "voter", "dataset": "food"},
        {"unit": "voter", "where": "year = 2026"},
        {"unit": "voter", "decimal": ","},
    ]
    quotes = [quote(problem, Table(tmp_path / "ballots.csv", **each)) for each in tables]
    for told, facts in zip(quotes, tables, strict=True):
        assert {name: getattr(told, name) for name in facts if name != "decimal"} == {
            name: value for name, value in facts.items() if name != "decimal"
        }
    assert [each.reading for each in quotes] == [()] * 5 + [(("decimal", ","),)]


@pytest.mark.parametrize(
    ("asked", "wrong"),
    [
        ({"k": 1}, {"k": True}),
        ({"epsilon": 1}, {"epsilon": True}),
        ({"gap": True}, {"gap": 1}),
        ({"gap": True, "gap_grid": 1}, {"gap": True, "gap_grid": True}),
        ({"quorum": 1}, {"quorum": True}),
        ({}, {"counts": 0}),
        ({}, {"k": [1]}),
        ({}, {"epsilon": [1]}),
        ({}, {"epsilon": Decimal("sNaN")}),
        ({}, {"noise": {}}),
    ],
)
def test_what_is_refused_is_refused_also_after_its_equal_was_priced(
    asked: dict[str, Any], wrong: dict[str, Any]
) -> None:
    problem = dish()
    quote(problem, **asked)
    for _ in range(2):
        with pytest.raises(InvalidParameter):
            quote(problem, **wrong)


def test_scores_that_do_not_fit_are_refused_though_the_question_has_a_price() -> None:
    problem = dish()
    quote(problem)
    with pytest.raises(InvalidParameter, match="3 in number"):
        quote(problem, Scores([1, 2]))


def test_a_number_means_its_own_decimal_though_an_equal_one_was_priced() -> None:
    """The single-precision 0.1 equals a double that is not 0.1, and means 0.1 all the same."""
    problem, single = dish(), np.float32(0.1)
    prices = [quote(problem, epsilon=each).price for each in (float(single), single)]
    assert prices == [PureDP(repr(float(single))), PureDP(Fraction(1, 10))]


def test_equal_problems_show_their_candidates_as_each_was_written() -> None:
    whole, decimal = (custom(candidates=each, sensitivity=1) for each in ([1, 2], [1.0, 2.5]))
    same = custom(candidates=[1.0, 2.0], sensitivity=1)
    assert whole == same
    shown = [quote(each, Scores([0, 0])).first_candidates for each in (whole, same, decimal)]
    assert shown == [("1", "2"), ("1.0", "2.0"), ("1.0", "2.5")]


def test_a_kept_price_keeps_no_problem_alive() -> None:
    problem = dish()
    quote(problem)
    gone = ref(problem)
    del problem
    gc.collect()
    assert gone() is None


def test_prices_that_are_kept_are_few() -> None:
    problem = dish()
    first = calls(lambda: quote(problem, epsilon=1))
    for number in range(MOST_KEPT):
        quote(problem, epsilon=2 + number)
    assert calls(lambda: quote(problem, epsilon=1)) > first / 2


def test_threads_that_ask_at_once_get_the_same_quotes() -> None:
    problem, together = dish(), Barrier(4)

    def ask(_: int) -> list[Quote]:
        together.wait()
        return [quote(problem, epsilon=number) for number in range(1, 100)]

    with ThreadPoolExecutor(4) as threads:
        first, *others = threads.map(ask, range(4))
    assert others == [first] * 3
    assert [each.price for each in first] == [PureDP(number) for number in range(1, 100)]
