"""C1: what it costs to turn counts into scores is decided by public numbers and types, never by a count.

What is under test: the scorings of dpselect.problems, dpselect.problems.ranks, and how an engine's
counts are kept (dpselect.engines.protocol).
"""

from collections.abc import Callable
from decimal import Decimal
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
from dpselect.problems import Problem
from dpselect.problems.ranks import distribution, multiplied
from dpselect.problems.scoring import LARGEST_FACTOR, MOST_PEOPLE
from tests.costs import bytes_taken, calls
from tests.engines.reference import SALT

SCORES = dpselect.vector_domain(dpselect.atom_domain(int))
CANDIDATES = 300


def quantile(factor: int) -> Problem:
    top = factor // 2 if factor % 2 else factor // 2 - 1 + factor // 2 % 2
    return dpselect.quantile(value="x", at=Fraction(top, factor), candidates=range(CANDIDATES))


def pricing(factor: int) -> Problem:
    return dpselect.pricing(value="x", prices=[*range(CANDIDATES - 1), Fraction(factor, 100)])


def weighted_sum(factor: int) -> Problem:
    names = [f"{i:03}" for i in range(CANDIDATES)]
    return dpselect.weighted_sum(candidate="c", candidates=names, value="x", bounds=(0, factor), unit=1)


QUESTIONS: dict[str, Callable[[int], Problem]] = {
    "quantile": quantile,
    "pricing": pricing,
    "weighted_sum": weighted_sum,
}
each_question = pytest.mark.parametrize("question", QUESTIONS.values(), ids=list(QUESTIONS))


def of(problem: Problem, people: int) -> Counts:
    """Count people of whom all have the same value, the largest that there is."""
    values, sizes = np.array([2**62]), np.array([people], dtype=np.int64)
    keys = (np.array([0]), values) if problem.name == "weighted_sum" else (values,)
    return Counts(keys, sizes)


def expected(problem: Problem, factor: int, people: int) -> list[int]:
    """The scores by the definition, in plain integers."""
    if problem.name == "weighted_sum":
        return [factor * people] + [0] * (CANDIDATES - 1)
    if problem.name == "pricing":
        return [100 * price * people for price in range(CANDIDATES - 1)] + [factor * people]
    return [-quantile_at(problem) * people] * CANDIDATES


def quantile_at(problem: Problem) -> int:
    return Fraction(dict(problem.facts)["at"]).numerator


EDGES = [2**bits for bits in (24, 31, 53, 62, 63, 64)]


@each_question
@pytest.mark.parametrize("edge", EDGES, ids=lambda edge: f"2**{edge.bit_length() - 1}")
@pytest.mark.parametrize("people", [1, 100, 12_345])
def test_c1_one_person_more_never_changes_how_scores_are_computed(
    question: Callable[[int], Problem], edge: int, people: int
) -> None:
    """The analyst chooses the factor so that one person more carries the largest score over an edge."""
    problem = question(2 * ((edge - 1) // people // 2) + 1)
    costs = []
    for count in (people, people + 1):
        counts = of(problem, count)
        kind = type(problem.scores(counts))
        costs.append((kind, calls(lambda counts=counts: SCORES.read(problem.scores(counts)))))  # type: ignore[misc]
    (kind, cost), (other_kind, other_cost) = costs
    assert kind is other_kind
    assert abs(cost - other_cost) <= 0.01 * cost


@each_question
@given(
    factor=st.integers(1, 2**70) | st.sampled_from([LARGEST_FACTOR + i for i in (-1, 0, 1)]),
    people=st.integers(0, 2**50) | st.sampled_from([MOST_PEOPLE + i for i in (-1, 0, 1)]),
)
def test_scores_are_exact_for_every_factor_and_every_number_of_people(
    question: Callable[[int], Problem], factor: int, people: int
) -> None:
    problem = question(max(factor, 100 * CANDIDATES) if question is pricing else factor * 2 + 1)
    at = max(factor, 100 * CANDIDATES) if question is pricing else factor * 2 + 1
    found = problem.scores(of(problem, people))
    if question is pricing:  # a buyer who offers 2**62 does not buy for more
        buys = [price <= 2**62 for price in problem.candidates.exact(0, CANDIDATES)]  # type: ignore[union-attr]
        wanted = [
            score if buying else 0 for score, buying in zip(expected(problem, at, people), buys, strict=True)
        ]
    elif question is weighted_sum:
        wanted = expected(problem, min(at, 2**62), people)
    else:
        wanted = expected(problem, at, people)
    assert [int(score) for score in found] == wanted


def test_points_of_a_ranking_are_exact_for_more_people_than_64_bits_hold() -> None:
    problem = dpselect.borda(candidate="c", rank="r", candidates=["a", "b", "c", "d"])
    counts = Counts((np.array([0, 1]), np.array([0, 1])), np.array([2**62, 7], dtype=np.int64))
    assert list(problem.scores(counts)) == [3 * 2**62, 14, 0, 0]


# What an engine gives.


def asked(column: pa.Array) -> Counts:
    problem = dpselect.quantile(value="x", at="1/2", between=(0, 50), step=1)
    rows = pa.table({"id": pa.array(range(len(column))), "x": column})
    table = Table(rows, unit="id", numbers_in_text=True)
    with table.open() as engine:
        return engine.counts(problem.request(engine.schema, unit="id"), SALT)


@pytest.mark.parametrize(
    ("kind", "extreme", "kept_as"),
    [
        (pa.int8(), 127, "i"),
        (pa.int64(), 2**63 - 1, "i"),
        (pa.int64(), -(2**63), "i"),
        (pa.uint32(), 2**32 - 1, "i"),
        (pa.uint64(), 2**64 - 1, "O"),
        (pa.decimal128(38, 0), Decimal(10**37), "O"),
        (pa.decimal128(38, 2), Decimal("-0.01"), "O"),
        (pa.float64(), 1e308, "f"),
        (pa.string(), "9" * 200, "O"),
    ],
    ids=str,
)
def test_c1_the_type_of_a_column_decides_how_its_values_are_placed(
    kind: pa.DataType,
    extreme: Any,
    kept_as: str,
) -> None:
    values = [str(i) for i in range(200)] if kind == pa.string() else [i % 100 for i in range(200)]
    grid = dpselect.quantile(value="x", at="1/2", between=(0, 50), step=1).candidates
    costs = []
    for last in (values[0], extreme):
        counts = asked(pa.array([*values, last], kind))
        (kept,) = counts.keys
        assert kept.dtype.kind == kept_as
        sizes = counts.sizes
        place = calls(lambda kept=kept, sizes=sizes: distribution(grid, kept, sizes))  # type: ignore[arg-type, misc]
        costs.append(place)
    assert abs(costs[1] - costs[0]) <= 0.05 * costs[0] + 10  # there may be one group more


@pytest.mark.parametrize("text", ["9" * 131_071, "1e131071", "-1e131071", "0." + "3" * 16_383, "-1e-16383"])
def test_a14_a_decimal_of_any_length_is_placed_without_a_fraction_of_that_length(text: str) -> None:
    value = Decimal(text)
    found = multiplied(value, 100, 10)
    if len(text) < 10_000:  # a fraction would take 100,000 bytes
        assert bytes_taken(lambda: multiplied(value, 100, 10)) < 10_000
    if abs(value) > 1:
        assert found == (float("inf") if value > 0 else float("-inf"))
    else:
        assert found == ((33 if value > 0 else -1), True)


@given(
    value=st.decimals(-1000, 1000) | st.decimals(-1000, 1000, places=1),
    times=st.integers(1, 10**30),
)
def test_a_decimal_is_multiplied_exactly(value: Decimal, times: int) -> None:
    below, rest = divmod(Fraction(value) * times, 1)
    assert multiplied(value, times, 10) == (below, rest != 0)


def test_a_zero_with_a_large_exponent_is_zero() -> None:
    assert multiplied(Decimal("0e500"), 7, 3) == (0, False)
