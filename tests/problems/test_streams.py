"""Scores too many to hold go through ``m.over`` in chunks, and are the same scores."""

import tracemalloc
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dpselect
from dpselect import Scores, Table
from dpselect.engines.protocol import Counts
from dpselect.errors import ReleaseFailed
from dpselect.problems import Problem
from tests.engines import loading
from tests.engines.asking import asked
from tests.engines.cases import MANY, MANY_KINDS
from tests.engines.reference import SALT
from tests.privacy.leaks import leaks

PROBLEMS = [
    dpselect.plurality(candidate="dish", candidates=["soup", "pie", "tea"]),
    dpselect.borda(candidate="dish", rank="rank", candidates=["soup", "pie", "tea"]),
    dpselect.quantile(value="stars", at="1/3", between=(-2, 6), step="1/7"),
    dpselect.pricing(value="stars", prices=[1, 2, "7/2"]),
    dpselect.weighted_sum(candidate="dish", candidates=["soup", "pie"], value="stars", bounds=(0, 2)),
]


def winner(scale: int = 0) -> dpselect.Measurement:
    scores = dpselect.vector_domain(dpselect.atom_domain(int))
    return dpselect.make_report_noisy_max(scores, dpselect.range_distance(), dpselect.max_divergence(), scale)


@pytest.mark.parametrize("size", [1, 2, 7, 10**6])
@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_chunks_are_the_scores_in_order(problem: Problem, size: int) -> None:
    table = Table(loading.arrow(MANY_KINDS, MANY), unit="voter")
    with table.open() as engine:
        counts = engine.counts(problem.request(engine.schema, unit="voter"), SALT)
    chunked = [int(score) for chunk in problem.chunks(counts, size=size) for score in chunk]
    assert chunked == asked(problem, table)


def test_a_million_candidates_are_chosen_from_without_holding_their_scores() -> None:
    problem = dpselect.quantile(value="x", at="1/2", between=(0, 10**4), step="0.01")
    counts = Counts((np.array([4999.995, 5000.0, 5000.005]),), np.array([1, 1, 1], dtype=np.int64))
    winner().over([[1, 2], [3]])  # whatever is loaded the first time is loaded
    tracemalloc.start()
    chosen = winner().over(problem.chunks(counts, size=10**4))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert problem.outputs[chosen] == 5000
    assert peak < 4_000_000  # bytes; all the scores would take 8,000,008


@pytest.mark.slow
def test_a_hundred_million_candidates_take_the_memory_of_one_chunk() -> None:
    problem = dpselect.quantile(value="x", at="1/2", between=(0, 10**6), step="0.01")
    values = np.arange(100_001, dtype=np.float64) * 10
    counts = Counts((values,), np.ones(len(values), dtype=np.int64))
    tracemalloc.start()
    chosen = winner().over(problem.chunks(counts))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(problem.outputs) == 10**8 + 1
    assert problem.outputs[chosen] == 500_000
    assert peak < 150_000_000


@pytest.mark.parametrize(
    "source",
    [
        [1, 5, 3],
        np.array([1.0, 5.0, 3.0]),
        [Fraction(1, 3), Fraction(5), Fraction(3)],
        lambda: [1, 5, 3],
        lambda: iter([np.array([1]), np.array([5, 3])]),
        lambda: pa.table({"score": [1, 5, 3]}).to_reader(max_chunksize=1),
        lambda: iter(pa.chunked_array([[1], [5, 3]]).chunks),
    ],
)
def test_scores_of_ones_own_come_as_an_array_or_as_chunks(source: Any) -> None:
    scores = dpselect.vector_domain(dpselect.atom_domain(float), size=3)
    measurement = dpselect.make_report_noisy_max(
        scores, dpselect.range_distance(), dpselect.max_divergence(), 0
    )
    assert measurement.over(Scores(source).chunks([0, 1, 2])) == 1


def test_a_function_that_fails_says_nothing_of_its_scores() -> None:
    def scores() -> Iterator[Any]:
        yield [8675309]
        raise ValueError("31337")

    with pytest.raises(ReleaseFailed) as caught:
        winner().over(Scores(scores).chunks([0, 1]))
    assert leaks(caught.value) == []


def test_a_function_is_not_called_before_its_scores_are_asked_for() -> None:
    called: list[int] = []

    def scores() -> list[int]:
        called.append(1)
        return [1, 2]

    chunks = Scores(scores).chunks([0, 1])
    assert called == []
    list(chunks)
    assert called == [1]
