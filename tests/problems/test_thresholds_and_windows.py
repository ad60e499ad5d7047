"""Scores on grids by their definition: dpselect.problems.threshold, dpselect.problems.window, and prices.

dpselect.problems.grid_steps and dpselect.problems.pricing: runs, listed scores and plain counting agree.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpselect
from dpselect import Table
from dpselect.engines.protocol import Counts
from dpselect.errors import InvalidParameter
from dpselect.problems import Problem
from tests.problems.brute_force import ranges
from tests.problems.test_grid_ranks import expanded

pytestmark = pytest.mark.filterwarnings("ignore::dpselect.UnmeteredRelease")
PAIR = Fraction(1), Fraction(2)
KINDS = [np.int64, np.float64, object]


def counts_of(people: list[Any], kind: Any) -> Counts:
    groups = Counter(people)
    sizes = np.array([*groups.values()], dtype=np.int64)
    if people and isinstance(people[0], tuple):
        values, labels = zip(*groups, strict=True)
        return Counts((np.array(values, dtype=kind), np.array(labels, dtype=np.int64)), sizes)
    empty = np.array([], dtype=np.int64)
    return (
        Counts((np.array([*groups], dtype=kind), empty), sizes)
        if not people
        else Counts((np.array([*groups], dtype=kind),), sizes)
    )


def one_key(people: list[Any], kind: Any) -> Counts:
    groups = Counter(people)
    return Counts((np.array([*groups], dtype=kind),), np.array([*groups.values()], dtype=np.int64))


def scores(problem: Problem, counts: Counts) -> list[Fraction]:
    """Give the scores, which must be the same as runs and one by one."""
    listed = [Fraction(int(score)) for score in problem.scores(counts)]
    assert expanded(problem.runs(counts), problem.count) == listed
    return [score * problem.unit for score in listed]


def points(problem: Problem) -> list[Fraction]:
    return [Fraction(point) for point in problem.outputs]


@given(
    people=st.lists(st.integers(-3, 25), max_size=25),
    width=st.sampled_from(["1", "5", "1/3", "2.5", "40"]),
    step=st.sampled_from(["1", "3", "0.7"]),
    kind=st.sampled_from(KINDS),
)
def test_a_window_holds_those_from_its_start_on_and_below_its_end(
    people: list[int], width: str, step: str, kind: Any
) -> None:
    problem = dpselect.window(value="x", width=width, between=(0, 20), step=step)
    wide = Fraction(width)
    expected = [sum(c <= x < c + wide for x in people) for c in points(problem)]
    assert scores(problem, one_key(people, kind)) == expected


@given(
    people=st.lists(st.tuples(st.integers(-3, 25), st.integers(0, 1)), max_size=25),
    step=st.sampled_from(["1", "3", "0.7"]),
    kind=st.sampled_from(KINDS),
)
def test_a_threshold_counts_who_is_on_the_right_side(
    people: list[tuple[int, int]], step: str, kind: Any
) -> None:
    problem = dpselect.threshold(value="x", label="y", yes="yes", between=(0, 20), step=step)
    expected = [sum((x < c) == (label == 1) for x, label in people) for c in points(problem)]
    assert scores(problem, counts_of(people, kind)) == expected


@given(
    people=st.lists(st.integers(-3, 25), max_size=25),
    step=st.sampled_from(["1", "3", "0.7", "1/3"]),
    kind=st.sampled_from(KINDS),
    first=st.sampled_from(["0", "2", "0.1"]),
)
def test_prices_on_a_grid_earn_what_listed_ones_do(
    people: list[int], step: str, kind: Any, first: str
) -> None:
    problem = dpselect.pricing(value="x", between=(first, 20), step=step)
    found = scores(problem, one_key(people, kind))
    assert found == [price * sum(x >= price for x in people) for price in points(problem)]
    listed = dpselect.pricing(value="x", prices=points(problem))
    for relation in ("add_remove", "change_one"):
        assert problem.d_range(relation) == listed.d_range(relation)
        assert problem.l1(relation) == listed.l1(relation)
    assert problem.unit == listed.unit


def test_prices_beyond_64_bits_are_exact() -> None:
    problem = dpselect.pricing(value="x", between=(2**70, 2**70 + 3), step=1)
    people = [2**70 + 1, 2**70 + 2, 2**70 + 9]
    assert scores(problem, one_key(people, object)) == [
        price * sum(x >= price for x in people) for price in points(problem)
    ]


def test_windows_and_thresholds_are_as_sensitive_as_they_say() -> None:
    window = dpselect.window(value="x", width=1, between=(0, 3), step=1)
    assert ranges(range(-1, 5), lambda people: scores(window, one_key(list(people), np.int64)), 3) == PAIR
    split = dpselect.threshold(value="x", label="y", yes="yes", between=(0, 3), step=1)
    kinds = [(x, label) for x in range(-1, 5) for label in (0, 1)]
    assert ranges(kinds, lambda people: scores(split, counts_of(list(people), np.int64)), 3) == PAIR
    prices = dpselect.pricing(value="x", between=(1, 4), step=1)
    assert ranges(range(6), lambda people: scores(prices, one_key(list(people), np.int64)), 3) == (
        prices.d_range("add_remove"),
        prices.d_range("change_one"),
    )
    for problem in (window, split):
        assert (problem.d_range("add_remove"), problem.d_range("change_one")) == (Fraction(1), Fraction(2))


def test_tables_are_asked() -> None:
    hours = [8] * 300 + [9] * 400 + [20] * 200
    table = Table(pa.table({"who": range(900), "hour": hours}), unit="who")
    busiest = dpselect.window(value="hour", width=2, between=(0, 22))
    assert dpselect.select(busiest, table, epsilon=2).label == 8
    marks = [*range(100)] * 10
    passed = ["yes" if mark >= 60 else "no" if mark % 2 else "unknown" for mark in marks]
    results = Table(pa.table({"who": range(1000), "mark": marks, "passed": passed}), unit="who")
    split = dpselect.threshold(value="mark", label="passed", yes="yes", between=(0, 100))
    release = dpselect.select(split, results, epsilon=20)
    assert release.label == 60
    assert release.accuracy.measured_in == "people"
    song = dpselect.pricing(value="mark", between=(0, 100), step="1e-12")
    assert 30 < float(dpselect.select(song, results, epsilon=20).label) < 70  # type: ignore[arg-type]


def test_a_person_without_a_label_does_not_count_and_every_other_label_is_no() -> None:
    rows = {"who": [1, 2, 3, 4], "x": [1, 1, 1, None], "y": ["yes", "no", None, "yes"]}
    split = dpselect.threshold(value="x", label="y", yes="yes", between=(0, 2), step=1)
    with dpselect.engines.Table(pa.table(rows), unit="who").open() as engine:
        counts = engine.counts(split.request(engine.schema, unit="who"), bytes(16))
    assert scores(split, counts) == [1, 1, 1]
    assert int(counts.sizes.sum()) == 2


@pytest.mark.parametrize("width", [pa.float64(), pa.float32()], ids=str)
def test_a_label_that_is_not_a_number_is_none(width: pa.DataType) -> None:
    rows = {"who": [1, 2, 3], "x": [1, 1, 1], "y": pa.array([1.0, 0.0, math.nan], width)}
    split = dpselect.threshold(value="x", label="y", yes=1, between=(0, 2), step=1)
    with dpselect.engines.Table(pa.table(rows), unit="who").open() as engine:
        counts = engine.counts(split.request(engine.schema, unit="who"), bytes(16))
    assert scores(split, counts) == [1, 1, 1]
    assert int(counts.sizes.sum()) == 2


@pytest.mark.parametrize(
    "make",
    [
        lambda: dpselect.window(value="x", width=0, between=(0, 1)),
        lambda: dpselect.window(value="", width=1, between=(0, 1)),
        lambda: dpselect.window(value="x", width=1, between=(1, 0)),
        lambda: dpselect.threshold(value="x", label="", yes="a", between=(0, 1)),
        lambda: dpselect.threshold(value="x", label="y", yes=None, between=(0, 1)),
        lambda: dpselect.pricing(value="x", between=(-1, 1), step=1),
        lambda: dpselect.pricing(value="x", prices=[1], between=(0, 1)),
        lambda: dpselect.pricing(value="x", step=1),
        lambda: dpselect.pricing(value="x", prices=[1, 2]).runs(one_key([1], np.int64)),
        lambda: dpselect.pricing(value="x", prices=[1, 2]).scoring.runs(one_key([1], np.int64)),  # type: ignore[union-attr]
    ],
)
def test_what_makes_no_sense_is_refused(make: Any) -> None:
    with pytest.raises(InvalidParameter):
        make()


def test_digests_tell_questions_apart() -> None:
    problems = [
        dpselect.window(value="x", width=1, between=(0, 3)),
        dpselect.window(value="x", width=2, between=(0, 3)),
        dpselect.threshold(value="x", label="y", yes="1", between=(0, 3)),
        dpselect.threshold(value="x", label="y", yes=1, between=(0, 3)),
        dpselect.threshold(value="x", label="z", yes="1", between=(0, 3)),
        dpselect.pricing(value="x", between=(0, 3)),
    ]
    assert len({problem.digest for problem in problems}) == 6
