"""Where values lie on a grid: dpselect.problems.grid_ranks against plain comparisons with each point.

And dpselect.problems.quantile: its runs against its scores.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import dpselect
from dpselect.engines.protocol import Counts
from dpselect.engines.schema import nearest_double, nearest_single
from dpselect.problems import Problem
from dpselect.problems.candidates import Grid, grid
from dpselect.problems.grid_ranks import grid_ranks, points_not_above
from dpselect.problems.ranks import exact_value
from dpselect.selection.runs import Runs
from tests.costs import calls

STEPS = st.fractions("1/100", 3, max_denominator=100)
FIRSTS = st.fractions(-5, 5, max_denominator=12) | st.sampled_from(
    [Fraction(2**63 - 3), Fraction(-(2**63) + 2), Fraction(-(2**64)), Fraction(2**70, 3)]
)


def objects(values: Sequence[Any]) -> Any:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def expanded(groups: Sequence[Runs], size: int) -> list[Fraction]:
    """Write runs out, point by point; each point must be there once."""
    found: dict[int, Fraction] = {}
    for runs in groups:
        for run in range(len(runs.scores)):
            count = runs.count(run)
            assert count is not None
            for place in range(count):
                output = runs.output(run, place)
                assert output not in found
                found[output] = runs.score(run) - place * runs.drop(run)
    assert found.keys() == set(range(size))
    return [found[output] for output in range(size)]


def people_below_and_not_above(
    points: Grid, values: Any, sizes: Any
) -> tuple[list[Fraction], list[Fraction]]:
    ranks = grid_ranks(points, values, sizes)
    assert "private" in repr(ranks)
    low = expanded(ranks.runs(np.repeat(ranks.up_to, 2)[:-1], Fraction(1)), points.length)
    return low, expanded(ranks.runs(np.repeat(ranks.up_to, 2)[1:], Fraction(1)), points.length)


def check(points: Grid, values: Any, exact: Sequence[Any], thresholds: Sequence[Any]) -> None:
    """Compare with counting one by one; person i stands for 1 + i people."""
    sizes = np.arange(1, len(values) + 1, dtype=np.int64)
    low, high = people_below_and_not_above(points, values, sizes)
    pairs = [(x, size) for x, size in zip(exact, sizes.tolist(), strict=True) if x is not None]
    assert low == [sum(size for x, size in pairs if x < c) for c in thresholds]
    assert high == [sum(size for x, size in pairs if x <= c) for c in thresholds]


WHOLE = st.integers(-(2**63), 2**63 - 1) | st.integers(-8, 8)
WRITTEN = (
    st.decimals(-6, 6, places=3)
    | st.integers(-(2**66), 2**66)
    | st.sampled_from(
        [Decimal("Infinity"), Decimal("-Infinity"), "1", "1.0", "-0", "2.5", "9" * 40, "no number", "1/3"]
    )
)


@given(values=st.lists(WHOLE, max_size=9), first=FIRSTS, step=STEPS, length=st.integers(1, 40))
def test_whole_numbers_are_placed_exactly(
    values: list[int], first: Fraction, step: Fraction, length: int
) -> None:
    points = Grid(first, step, length)
    exact = list(points.exact(0, length))
    values += [math.floor(exact[-1]), math.ceil(exact[0]), 2**63 - 1]
    held = [value for value in values if -(2**63) <= value < 2**63]
    check(points, np.array(held, dtype=np.int64), held, exact)


@given(values=st.lists(WRITTEN, max_size=9), first=FIRSTS, step=STEPS, length=st.integers(1, 30))
def test_decimals_and_written_numbers_are_placed_exactly(
    values: list[Any], first: Fraction, step: Fraction, length: int
) -> None:
    points = Grid(first, step, length)
    check(points, objects(values), list(map(exact_value, values)), points.exact(0, length))


FLOATS = st.floats(-6, 6, width=32) | st.floats(allow_nan=False, width=32)


@given(
    values=st.lists(FLOATS, max_size=8),
    near=st.lists(st.integers(0, 39), max_size=6),
    shape=st.tuples(
        st.fractions(-5, 5, max_denominator=12) | st.sampled_from([Fraction(10**16), Fraction(2**53 - 3)]),
        STEPS,
        st.integers(1, 40),
    ),
    kind=st.sampled_from([np.float32, np.float64]),
)
def test_floats_are_placed_by_the_nearest_floats_of_the_points(
    values: list[float], near: list[int], shape: tuple[Fraction, Fraction, int], kind: Any
) -> None:
    first, step, length = shape
    points = Grid(first, step, length)
    nearest = nearest_double if kind is np.float64 else nearest_single
    thresholds = [nearest(c) for c in points.exact(0, length)]
    for place in near:
        at = kind(thresholds[min(place, length - 1)])
        values += [
            float(each) for each in (at, np.nextafter(at, kind(np.inf)), np.nextafter(at, kind(-np.inf)))
        ]
    distinct = np.unique(np.array(values, dtype=kind))
    assume(len(distinct) == len({float(x) for x in distinct}))
    check(points, distinct, distinct.tolist(), thresholds)


@pytest.mark.parametrize("length", [2**53 + 3, 2**63, 2**64, 2**64 + 1])
def test_on_a_grid_finer_than_doubles_floats_are_where_they_should_be_but_for_their_rounding(
    length: int,
) -> None:
    points = Grid(Fraction(-1), Fraction(2, length), length)
    values = np.array([-math.inf, -1.5, -1.0, -0.25, 0.0, 0.5, 0.999, 1.5, math.inf])
    ranks = grid_ranks(points, values, np.ones(9, dtype=np.int64))
    inner, last = ranks.runs(np.repeat(ranks.up_to, 2)[:-1], Fraction(1))
    assert sum(map(int, np.asarray(inner.counts))) + int(np.asarray(last.counts)[0]) == length
    for start, value in zip(
        np.asarray(inner.starts)[1::2].tolist()[1:6], [-1, -0.25, 0, 0.5, 0.999], strict=True
    ):
        assert abs(Fraction(start) - (Fraction(value) + 1) * length / 2) <= length / Fraction(2**49)
    assert ranks.people == 9


@pytest.mark.parametrize(
    ("between", "step"),
    [((0, 2**64), 1), ((0, 2**64 - 1), 1), ((-(2**63), 2**63 - 1), 1), ((0, 2**100), "1/3")],
)
def test_grids_with_more_points_than_len_can_say_are_covered(between: tuple[int, int], step: Any) -> None:
    points = grid(between, step)
    assert points.length > 2**63
    values = np.array([-(2**63), 0, 5, 2**62, 2**63 - 1], dtype=np.int64)
    ranks = grid_ranks(points, values, np.ones(5, dtype=np.int64))
    inner, last = ranks.runs(np.repeat(ranks.up_to, 2)[:-1], Fraction(1))
    starts, counts = (np.asarray(each).astype(object) for each in (inner.starts, inner.counts))
    assert (np.cumsum(counts)[:-1] == starts[1:]).all()
    assert int(counts.sum()) + int(np.asarray(last.counts)[0]) == points.length
    of_five = starts[np.searchsorted(np.asarray(ranks.up_to), 3) * 2 - 1]
    assert of_five == (5 - points.first) / points.step


FAR = st.integers(-(2**63), 2**63 - 1) | st.sampled_from([-(2**63), -(2**63) + 1, 0, 2**63 - 2, 2**63 - 1])
LONG_GRIDS: list[tuple[tuple[int, int], Any]] = [
    ((-(2**63), 2**63 - 1), 1),
    ((-(2**63), 2**63 - 2), 1),
    ((-(2**63) + 1, 2**63 - 1), 1),
    ((-(2**63) - 1, 2**63 - 1), 1),
    ((-(2**63), 2**63 + 5), 1),
    ((-(2**63), 2**63 - 1), 2),
    ((-(2**63), -(2**63) + 40), 1),
    ((-(2**64), 2**64), 3),
    ((0, 2**64 - 1), 1),
    ((-7, 2**64), "1/3"),
    ((-(10**12), 10**12), "1/1000000"),
]


@pytest.mark.parametrize(("between", "step"), LONG_GRIDS)
@given(values=st.lists(FAR, max_size=9, unique=True))
def test_on_long_grids_numbers_are_placed_alike_whatever_holds_them(
    between: tuple[int, int], step: Any, values: list[int]
) -> None:
    points = grid(between, step)
    sizes = np.arange(1, len(values) + 1, dtype=np.int64)
    found = []
    for held in (np.array(values, dtype=np.int64), objects(values), objects(list(map(Decimal, values)))):
        ranks = grid_ranks(points, held, sizes)
        doubled = ranks.runs(np.repeat(ranks.up_to, 2)[:-1], Fraction(1))
        runs = [
            (int(group.starts[run]), group.count(run), group.score(run))
            for group in doubled
            for run in range(len(group.scores))
        ]
        cells = ranks.cells()
        people = list(zip(map(int, cells.places), map(int, cells.up_to[1:]), strict=True))
        found.append(([run for run in runs if run[1]], int(cells.up_to[0]), people))
    assert found[0] == found[1] == found[2]
    assert sum(count for _, count, _ in found[0][0] if count) == points.length


@pytest.mark.parametrize(("between", "step"), LONG_GRIDS)
@given(values=st.lists(FAR, max_size=9, unique=True))
def test_the_points_not_above_a_number_are_never_told_modulo_two_to_the_64(
    between: tuple[int, int], step: Any, values: list[int]
) -> None:
    """Windows, prices and thresholds do not expect that 2**64 stands as 0, as ``grid_ranks`` does."""
    points = grid(between, step)
    values = [*values, 2**63 - 1]
    kept, places = points_not_above(points, np.array(values, dtype=np.int64))
    exact = [min(max((value - points.first) // points.step + 1, 0), points.length) for value in values]
    assert places.tolist() == [exact[place] for place in np.arange(len(values))[kept]]


@pytest.mark.parametrize("between", [(0, 2**64 - 1), (-(2**63), 2**63 - 1), (-(2**70), 2**70)])
@pytest.mark.parametrize("kind", [np.int64, object])
def test_the_steps_of_python_do_not_grow_with_the_values(between: tuple[int, int], kind: Any) -> None:
    bounds: dict[str, Any] = {"value": "v", "between": between, "step": 1}
    for problem in (
        dpselect.quantile(at="1/2", **bounds),
        dpselect.window(width=5, **bounds),
    ):
        few, many = (
            Counts((np.arange(people).astype(kind) * 2**40,), np.ones(people, dtype=np.int64))
            for people in (10, 1000)
        )
        more, less = (calls(partial(problem.runs, each)) for each in (many, few))
        assert more < less + 300


# Quantiles: the runs say the same as the scores, one by one.


def counts(values: Any) -> Counts:
    distinct, sizes = np.unique(values, return_counts=True)
    return Counts((distinct,), sizes.astype(np.int64))


def same_scores(problem: Problem, found: Counts) -> None:
    listed = [Fraction(int(score)) for score in problem.scores(found)]
    assert expanded(problem.runs(found), problem.count) == listed


@given(
    values=st.lists(st.integers(-3, 25), max_size=30),
    kind=st.sampled_from([np.int64, np.float64, np.float32, object]),
    at=st.fractions(0, 1, max_denominator=9) | st.just(Fraction(1, 2**40)),
    step=st.sampled_from(["1", "2", "1/3", "0.7"]),
)
def test_the_runs_of_a_quantile_are_its_scores(values: list[int], kind: Any, at: Fraction, step: str) -> None:
    problem = dpselect.quantile(value="x", at=at, between=(0, 20), step=step)
    same_scores(problem, counts(np.array(values, dtype=kind)))


def test_the_usual_step_is_round_and_leaves_at_most_a_million_numbers() -> None:
    cases: list[tuple[tuple[Any, Any], Any]] = [
        ((0, 120), 1),
        ((0, 2**20 - 1), 1),
        ((0, 2**20), 2),
        ((0, 3_000_000), 5),
        ((0, "1.5"), "2e-6"),
        (("0.5", 7), "1e-5"),
        ((-(10**9), 10**9), 2000),
        ((7, 7), 1),
    ]
    for between, step in cases:
        assert grid(between).step == Fraction(step)
        assert grid(between).length <= 2**20
    assert grid(("7.5", "7.5")).length == 1
    assert dpselect.quantile(value="x", at="1/2", between=(0, 10)) == dpselect.quantile(
        value="x", at="1/2", between=(0, 10), step=1
    )


def test_listed_numbers_have_no_runs() -> None:
    problem = dpselect.quantile(value="x", at="1/2", candidates=[1, 2])
    assert not problem.has_runs
    with pytest.raises(dpselect.errors.InvalidParameter, match="listed"):
        problem.runs(counts(np.array([1])))
    assert dpselect.quantile(value="x", at="1/2", between=(0, 2**80), step=1).count == 2**80 + 1
    assert "about 2^80 candidates" in repr(dpselect.quantile(value="x", at="1/2", between=(0, 2**80), step=1))
