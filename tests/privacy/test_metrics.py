"""How far apart neighbours are, and what it means for a selection."""

import copy
import dataclasses
import math
import pickle
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpselect.errors import InvalidParameter
from dpselect.privacy import (
    absolute_distance,
    change_one_distance,
    linf_distance,
    range_distance,
    symmetric_distance,
)
from dpselect.privacy.metrics import Metric, ScoreMetric
from dpselect.privacy.neighbours import METRIC_OF, metric_of
from tests.privacy.bad_inputs import HOUSE_SENTENCE, NEGATIVE, NOT_FINITE, NOT_NUMBERS, cases

ON_SCORES: list[ScoreMetric] = [linf_distance(), linf_distance(monotonic=True), range_distance()]
ON_DATA: list[Metric] = [symmetric_distance(), change_one_distance()]
METRICS: list[Metric] = [*ON_SCORES, absolute_distance(), *ON_DATA]

distances = st.fractions(min_value=0, max_value=10**9)


@settings(deadline=None, max_examples=40)
@given(distances)
def test_d12_a_score_may_rise_while_another_falls_unless_scores_are_monotonic(d_in: Fraction) -> None:
    assert linf_distance().range_distance(d_in) == 2 * d_in
    assert linf_distance(monotonic=True).range_distance(d_in) == d_in
    assert range_distance().range_distance(d_in) == d_in


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(distances, distances), min_size=1, max_size=5))
def test_the_range_distance_bounds_the_range_of_all_changes_of_the_scores(
    scores: list[tuple[Fraction, Fraction]],
) -> None:
    changes = [after - before for before, after in scores]
    spread = max(changes) - min(changes)
    largest = max(map(abs, changes))
    assert spread <= linf_distance().range_distance(largest)
    if min(changes) >= 0 or max(changes) <= 0:
        assert spread <= linf_distance(monotonic=True).range_distance(largest)


@pytest.mark.parametrize("metric", METRICS, ids=repr)
@pytest.mark.parametrize(
    "d_in", [1, 1.0, "1", "1e0", "2/2", Decimal(1), Fraction(1), np.int8(1), np.float32(1)]
)
def test_a_distance_is_read_exactly_from_every_kind_of_number(metric: Metric, d_in: Any) -> None:
    distance = metric.distance(d_in)
    assert distance == 1
    assert type(distance) is Fraction


def test_a13_a_distance_given_as_a_float_means_its_shortest_decimal() -> None:
    for metric in (*ON_SCORES, absolute_distance()):
        assert metric.distance(0.1) == Fraction(1, 10)
    assert linf_distance().range_distance(0.1) == Fraction(1, 5)


each_bad = pytest.mark.parametrize("d_in", **cases(NOT_NUMBERS, NOT_FINITE, NEGATIVE))


@each_bad
def test_a10_what_is_no_distance_is_refused_by_every_metric(d_in: Any) -> None:
    for metric in METRICS:
        with pytest.raises(InvalidParameter, match=r"^d_in must be ") as caught:
            metric.distance(d_in)
        assert HOUSE_SENTENCE.fullmatch(str(caught.value))
    for on_scores in ON_SCORES:
        with pytest.raises(InvalidParameter, match=r"^d_in must be "):
            on_scores.range_distance(d_in)


@pytest.mark.parametrize("d_in", [0.5, "1/3", Fraction(3, 2), Decimal("0.1")])
def test_people_are_counted_in_whole_numbers(d_in: Any) -> None:
    for metric in ON_DATA:
        with pytest.raises(InvalidParameter, match="d_in must be a whole number of people; got ") as caught:
            metric.distance(d_in)
        assert HOUSE_SENTENCE.fullmatch(str(caught.value))


@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_distances_may_be_zero_and_huge(metric: Metric) -> None:
    assert metric.distance(0) == metric.distance(-0.0) == 0
    assert metric.distance(10**5000) == 10**5000


@pytest.mark.parametrize(
    "monotonic", [None, 0, 1, "yes", b"", [], {}, np.True_, np.array([True]), math.nan, object()]
)
def test_monotonic_is_true_or_false(monotonic: Any) -> None:
    with pytest.raises(InvalidParameter, match="monotonic must be True or False; got "):
        linf_distance(monotonic=monotonic)


# Neighbours.


def test_neighbours_differ_by_one_person_under_the_metric_of_their_relation() -> None:
    assert metric_of("add_remove") == symmetric_distance()
    assert metric_of("change_one") == change_one_distance()
    assert set(METRIC_OF) == {"add_remove", "change_one"}


def test_the_table_of_neighbours_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        METRIC_OF["bounded"] = symmetric_distance()  # type: ignore[index]


@pytest.mark.parametrize("neighbours", **cases(NOT_NUMBERS, NOT_FINITE, NEGATIVE, {"near": "add-remove"}))
def test_an_unknown_relation_is_refused_with_the_known_ones(neighbours: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        metric_of(neighbours)
    assert str(caught.value).startswith('neighbours must be "add_remove" or "change_one"; got ')


# Values.


def test_metrics_are_values() -> None:
    makers: list[Callable[[], Metric]] = [
        linf_distance,
        lambda: linf_distance(monotonic=True),
        range_distance,
        absolute_distance,
        symmetric_distance,
        change_one_distance,
    ]
    assert [make() for make in makers] == METRICS
    assert len({make() for make in makers} | set(METRICS)) == len(METRICS)
    assert [repr(metric) for metric in METRICS] == [
        "LInfDistance(monotonic=False)",
        "LInfDistance(monotonic=True)",
        "RangeDistance()",
        "AbsoluteDistance()",
        "SymmetricDistance()",
        "ChangeOneDistance()",
    ]


@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_metrics_cannot_be_changed(metric: Metric) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        metric.monotonic = True  # type: ignore[misc,union-attr]


@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_b12_metrics_survive_pickling_and_copying(metric: Metric) -> None:
    for again in (pickle.loads(pickle.dumps(metric)), copy.copy(metric), copy.deepcopy(metric)):
        assert again == metric
