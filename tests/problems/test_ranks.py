"""Values below and above public numbers: dpselect.problems.ranks against plain comparisons."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect.problems.candidates import Grid, Numbers
from dpselect.problems.ranks import distribution, exact_value

WHOLE = st.integers(-(2**65), 2**65) | st.integers(-4, 4)
DECIMALS = st.decimals(-(10**6), 10**6, places=3) | st.sampled_from(
    [Decimal("Infinity"), Decimal("-Infinity")]
)
TEXTS = st.sampled_from(
    ["1", "1.0", "-0", "2.5", "1e3", "0.3333333333333333", "1e-30", "9" * 40, "no number", "1/3"]
)
FRACTIONS = st.fractions(-5, 5, max_denominator=7) | st.sampled_from([Fraction(2**64), Fraction(-(2**70), 3)])


def objects(values: list[Any]) -> Any:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def plain(values: list[Any], sizes: list[int], numbers: list[Fraction]) -> tuple[list[int], list[int]]:
    read = [(exact_value(value), size) for value, size in zip(values, sizes, strict=True)]
    known = [(value, size) for value, size in read if value is not None]
    return (
        [sum(size for value, size in known if value < number) for number in numbers],
        [sum(size for value, size in known if value > number) for number in numbers],
    )


@given(
    values=st.lists(WHOLE, max_size=8) | st.lists(DECIMALS, max_size=8) | st.lists(TEXTS, max_size=8),
    numbers=st.sets(FRACTIONS, min_size=1, max_size=6),
)
def test_exact_values_are_counted_below_and_above_listed_numbers(
    values: list[Any], numbers: set[Fraction]
) -> None:
    ascending = tuple(sorted(numbers))
    sizes = [1 + i for i in range(len(values))]
    counted = distribution(Numbers(ascending, ascending), objects(values), np.array(sizes, dtype=np.int64))
    places = range(len(ascending))
    below = [int(count) for place in places for count in counted.below(place, place + 1)]
    above = [int(count) for count in counted.above(0, len(ascending))]
    assert (below, above) == plain(values, sizes, list(ascending))


@given(
    values=st.lists(WHOLE, max_size=8) | st.lists(DECIMALS, max_size=8),
    first=FRACTIONS,
    step=st.fractions("1/100", 3, max_denominator=100),
    count=st.integers(1, 30),
)
def test_exact_values_are_counted_below_and_above_a_grid(
    values: list[Any], first: Fraction, step: Fraction, count: int
) -> None:
    grid = Grid(first, step, count)
    sizes = [2] * len(values)
    counted = distribution(grid, objects(values), np.array(sizes, dtype=np.int64))
    numbers = list(grid.exact(0, count))
    assert (counted.below(0, count).tolist(), counted.above(0, count).tolist()) == plain(
        values, sizes, numbers
    )


@given(
    values=st.lists(st.floats(allow_nan=False), max_size=8),
    first=st.fractions(-3, 3),
    step=st.fractions("1/1000", 1, max_denominator=1000),
    count=st.integers(1, 20),
)
def test_floats_are_compared_with_the_nearest_doubles(
    values: list[float], first: Fraction, step: Fraction, count: int
) -> None:
    grid = Grid(first, step, count)
    near = [float(number) for number in grid.exact(0, count)]
    assert grid.doubles(0, count).tolist() == near
    counted = distribution(grid, np.array(values, dtype=np.float64), np.ones(len(values), dtype=np.int64))
    assert counted.below(0, count).tolist() == [sum(value < number for value in values) for number in near]
    assert counted.above(0, count).tolist() == [sum(value > number for value in values) for number in near]


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (5, Fraction(5)),
        (0.5, Fraction(1, 2)),
        (-0.0, Fraction(0)),
        (np.float32(0.5), Fraction(1, 2)),
        (Decimal("0.1"), Fraction(1, 10)),
        ("0.1", Fraction(1, 10)),
        ("x", None),
        (math.nan, None),
        (Decimal("NaN"), None),
        (math.inf, math.inf),
        (Decimal("-Infinity"), -math.inf),
    ],
)
def test_values_are_read_exactly(value: object, read: object) -> None:
    assert exact_value(value) == read


def test_a_distribution_does_not_show_its_values() -> None:
    counted = distribution(Grid(Fraction(0), Fraction(1), 2), objects([31337]), np.array([1]))
    assert repr(counted) == "<a distribution of private values>"


@given(numbers=st.lists(FRACTIONS, min_size=1, unique=True))
def test_listed_numbers_have_one_denominator_and_the_nearest_doubles(numbers: list[Fraction]) -> None:
    listed = Numbers(tuple(numbers), tuple(numbers))
    tops = zip(listed.numerators, numbers, strict=True)
    assert all(Fraction(top, listed.denominator) == number for top, number in tops)
    assert listed.doubles(0, len(numbers)).tolist() == [float(number) for number in numbers]


@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_many_groups_read_the_public_numbers_once(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def values(_: Numbers) -> tuple[Fraction, ...]:
        read.append(1)
        return (Fraction(1, 2), Fraction(3))

    listed = Numbers((0.5, 3), (Fraction(1, 2), Fraction(3)))
    monkeypatch.setattr(Numbers, "values", property(values), raising=False)
    for _ in range(100):
        found = distribution(listed, np.array([1, 4], dtype=kind), np.ones(2, dtype=np.int64))
        assert found.below(0, 2).tolist() == [0, 1]
    assert len(read) < 10
