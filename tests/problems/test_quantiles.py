"""Quantiles where many people share a value: dpselect.problems.quantile against the definition.

A number c is an a-quantile of n values if at most a n of them lie below it and at least a n are not above it.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpselect
from dpselect import Table, accuracy, select
from dpselect.engines.protocol import Counts
from dpselect.problems import Problem
from dpselect.release import Release

POINTS = range(6)
pytestmark = pytest.mark.filterwarnings("ignore::dpselect.UnmeteredRelease")
FRACTIONS = ["0", "1/10", "1/4", "1/3", "1/2", "2/3", "3/4", "1"]


def scores(problem: Problem, people: Sequence[int]) -> list[Fraction]:
    values, sizes = np.unique(np.array(people, dtype=np.int64), return_counts=True)
    return [int(score) * problem.unit for score in problem.scores(Counts((values,), sizes.astype(np.int64)))]


def missed_by(people: Sequence[int], number: int, at: Fraction) -> Fraction:
    """Say how many people lie between a number's ranks and the rank that is asked for: by walking there."""
    ranks = range(sum(x < number for x in people), sum(x <= number for x in people) + 1)
    if ranks[0] <= at * len(people) <= ranks[-1]:
        return Fraction(0)
    return min(abs(at * len(people) - rank) for rank in ranks)


@pytest.mark.parametrize("at", FRACTIONS)
def test_a_score_is_the_distance_of_ranks_on_every_small_table(at: str) -> None:
    problem = dpselect.quantile(value="x", at=at, candidates=POINTS)
    for size in range(6):
        for people in combinations_with_replacement(POINTS, size):
            found = scores(problem, people)
            assert found == [-missed_by(people, number, Fraction(at)) for number in POINTS]


@pytest.mark.parametrize("at", FRACTIONS)
def test_the_quantiles_and_nothing_else_have_the_score_zero(at: str) -> None:
    problem = dpselect.quantile(value="x", at=at, candidates=POINTS)
    for people in combinations_with_replacement(POINTS, 4):
        for number, score in zip(POINTS, scores(problem, people), strict=True):
            low = sum(x < number for x in people)
            high = sum(x <= number for x in people)
            assert (score == 0) == (low <= Fraction(at) * 4 <= high)


@given(
    people=st.lists(st.integers(0, 9), max_size=30),
    top=st.integers(0, 7),
    bottom=st.integers(7, 9),
)
def test_where_no_person_has_a_number_its_score_is_that_of_the_lecture(
    people: list[int], top: int, bottom: int
) -> None:
    at = Fraction(top, bottom)
    halves = [Fraction(2 * number + 1, 2) for number in range(-1, 10)]
    problem = dpselect.quantile(value="x", at=at, candidates=halves)
    lecture = [-abs((1 - at) * sum(x < c for x in people) - at * sum(x > c for x in people)) for c in halves]
    assert scores(problem, people) == lecture


@pytest.mark.parametrize(
    "kind", [pa.int64(), pa.float64(), pa.float32(), pa.decimal128(21, 2), pa.string()], ids=str
)
@pytest.mark.parametrize("unit", ["who", None])
def test_the_median_of_600_zeros_and_400_fifties_is_zero(kind: pa.DataType, unit: str | None) -> None:
    values = pa.array([0] * 600 + [50] * 400).cast(kind)
    table = Table(pa.table({"who": range(1000), "x": values}), unit=unit, numbers_in_text=True)
    median = dpselect.quantile(value="x", at="1/2", between=(0, 100), step=1)
    # Any other answer is 200 scales behind: a draw gives one with a probability below 10**-80.
    assert {released(median, table).label for _ in range(5)} == {0}


def test_a_rating_that_most_people_gave_is_the_median() -> None:
    stars = pa.array([1] * 600 + [2] * 100 + [3] * 300)
    table = Table(pa.table({"who": range(1000), "x": stars}), unit="who")
    for at, answer in (("1/2", 1), ("0.65", 2), ("0.9", 3)):
        problem = dpselect.quantile(value="x", at=at, candidates=[1, 2, 3, 4, 5])
        assert {released(problem, table).label for _ in range(5)} == {answer}


def released(problem: Problem, table: Table) -> Release:
    return select(problem, table, epsilon=2)


def test_accuracy_is_a_statement_about_ranks() -> None:
    median = dpselect.quantile(value="x", at="1/2", candidates=range(201))
    assert str(accuracy(median, epsilon=1)) == (
        "the rank of the answer is within 9.21 (rounded up) people of the median's, if the median is one of "
        "the candidates, with probability 0.99 or more (exponential noise)"
    )
    on_a_grid = dpselect.quantile(value="x", at="1/2", between=(0, 200), step=1)
    assert "within 9.90 (rounded up) people of the median's" in str(accuracy(on_a_grid, epsilon=1))
    assert str(accuracy(on_a_grid, epsilon=1)).endswith("(Gumbel noise)")
    quarter = dpselect.quantile(value="x", at="1/4", candidates=[1, 2, 3])
    assert "people of the 0.25 quantile's, if the 0.25 quantile is one of the candidates" in str(
        accuracy(quarter, epsilon=1)
    )
    third = dpselect.quantile(value="x", at="1/3", candidates=[1, 2, 3])
    assert "people of the 1/3 quantile's" in str(accuracy(third, epsilon=1))
    assert str(accuracy(quarter, epsilon=1, k=2)).startswith("no answer's rank is more than ")
    assert "people further from the 0.25 quantile's than that of the candidate of rank 2" in str(
        accuracy(quarter, epsilon=1, k=2)
    )


def test_a_release_says_how_its_accuracy_reads_and_keeps_it() -> None:
    table = Table(pa.table({"who": range(9), "x": range(9)}), unit="who")
    release = released(dpselect.quantile(value="x", at="1/2", candidates=[1, 4]), table)
    assert "people of the median's" in repr(release)
    assert "median" in release._repr_html_()
    assert Release.from_json(release.to_json()) == release


def test_the_question_has_a_new_digest() -> None:
    """What was kept of the question by its old score is no answer to the new one."""
    median = dpselect.quantile(value="x", at="1/2", candidates=[1, 2])
    assert median.digest != "553aea50f64ac21ee4992ae3d053a3139231651ab3b1b81aa0f186b8b526aa75"
