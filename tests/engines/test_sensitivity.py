"""One person's rows, however many, move the scores by no more than d_range.

dpselect.engines.queries, dpselect.engines.row_choice, dpselect.engines.several_rows.

Real queries on real rows: a crowd, with and without one person, and with that person's rows replaced.
"""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpselect
from dpselect import Table
from dpselect.problems import Problem
from tests.engines import loading
from tests.engines.asking import asked
from tests.engines.cases import Kinds
from tests.engines.reference import Row

KINDS: Kinds = {
    "who": "text",
    "dish": "text",
    "rank": "integer",
    "dishes": "text",
    "second": "text",
    "x": "double",
}
NAMES = ["a", "b", "c"]
PROBLEMS = [
    dpselect.approval_voting(candidate="dish", candidates=NAMES),
    dpselect.plurality(candidate="dish", candidates=NAMES),
    dpselect.approval_voting(candidate="dish", candidates=NAMES, ignore_case=True),
    dpselect.borda(candidate="dish", rank="rank", candidates=NAMES, ignore_case=True),
    dpselect.most_common(column="dish", candidates=NAMES, rows_per_person=2),
    dpselect.borda(candidate="dish", rank="rank", candidates=NAMES),
    dpselect.pricing(value="x", prices=["1/2", 1, "3/2"]),
    dpselect.quantile(value="x", at="2/3", candidates=[0, 1, 2]),
    dpselect.weighted_sum(candidate="dish", candidates=NAMES, value="x", bounds=(-1, 1)),
    dpselect.approval_voting(candidate="dishes", candidates=NAMES, split=";"),
    dpselect.plurality(candidate="dishes", candidates=NAMES, split=";", ignore_case=True),
    dpselect.most_common(column="dishes", candidates=NAMES, split=";", rows_per_person=2),
    dpselect.approval_voting(columns=["dish", "rank", "x"]),
    dpselect.borda(ranking=["dish", "second"], candidates=NAMES),
]
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "dish": st.sampled_from([*NAMES, " A", "B  ", "off", None]),
            "rank": st.sampled_from([0, 1, 2, 3, 4, None]),
            "dishes": st.sampled_from(["a;b", "a; a;A", "b;c;a", "off; c", ";", None]),
            "second": st.sampled_from([*NAMES, "off", None]),
            "x": st.sampled_from([-5.0, 0.0, 0.5, 1.0, 1.5, 9.0, float("nan"), None]),
        }
    ),
    max_size=6,
)


def of(person: str, rows: list[dict[str, Any]]) -> list[Row]:
    return [{"who": person, **row} for row in rows]


def scores(problem: Problem, rows: list[Row], salt: bytes) -> list[Fraction]:
    return [
        score * problem.unit for score in asked(problem, Table(loading.arrow(KINDS, rows), unit="who"), salt)
    ]


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
@settings(max_examples=9)
@given(others=st.lists(ROWS, max_size=3), mine=ROWS, instead=ROWS, salt=st.binary(min_size=16, max_size=16))
def test_one_person_moves_the_scores_by_no_more_than_the_range(
    problem: Problem, others: list[Any], mine: list[Any], instead: list[Any], salt: bytes
) -> None:
    crowd = [row for number, rows in enumerate(others) for row in of(f"other {number}", rows)]
    without = scores(problem, crowd, salt)
    with_me = scores(problem, [*of("me", mine), *crowd], salt)
    replaced = scores(problem, [*crowd, *of("somebody else", instead)], salt)
    assert spread(without, with_me) <= problem.d_range("add_remove")
    assert spread(with_me, replaced) <= problem.d_range("change_one")


def spread(before: list[Fraction], after: list[Fraction]) -> Fraction:
    changes = [later - earlier for earlier, later in zip(before, after, strict=True)]
    return max(changes) - min(changes)


def test_the_salt_decides_which_rows_are_kept_and_the_order_of_the_rows_does_not() -> None:
    problem = PROBLEMS[1]  # plurality
    rows = [
        {"who": f"p{i}", "dish": dish, "rank": 1, "dishes": None, "second": None, "x": 0.0}
        for i in range(40)
        for dish in NAMES
    ]
    kept = {tuple(scores(problem, rows, bytes([number] * 16))) for number in range(5)}
    assert len(kept) == 5
    assert scores(problem, rows, bytes(16)) == scores(problem, rows[::-1], bytes(16))
    assert all(sum(each) == 40 for each in kept)
