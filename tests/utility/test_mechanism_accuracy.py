"""Accuracy of mechanisms of the lower API, against their laws: dpselect.utility.mechanism_accuracy."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from dpselect import (
    absolute_distance,
    accuracy,
    atom_domain,
    counting,
    expected_error,
    linf_distance,
    make_exponential_mechanism,
    make_exponential_mechanism_on_integers,
    make_exponential_mechanism_on_runs,
    make_geometric,
    make_permute_and_flip,
    make_randomized_response,
    make_report_noisy_top_k,
    make_report_noisy_top_k_with_gaps,
    max_divergence,
    range_distance,
    runs_domain,
    steps_domain,
    user_measurement,
    vector_domain,
)
from dpselect.errors import InvalidParameter
from dpselect.utility import within

WHOLE, APART = atom_domain(int), absolute_distance()
HUNDRED = vector_domain(WHOLE, 100)


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(2), Fraction(50)])
@pytest.mark.parametrize("confidence", ["0.5", "0.99", "0.999999"])
def test_geometric_noise_is_within_the_least_whole_number_that_will_do(
    scale: Fraction, confidence: str
) -> None:
    m = make_geometric(WHOLE, APART, scale)
    r = accuracy(m, confidence=confidence).within
    a = math.exp(-1 / scale)
    law = [(1 - a) / (1 + a) * a ** abs(y) for y in range(-4000, 4001)]

    def beyond(far: int) -> float:
        return math.fsum(p for y, p in enumerate(law, -4000) if abs(y) > far)

    beta = 1 - float(confidence)
    assert beyond(int(r)) <= beta
    assert r == 0 or beyond(int(r) - 1) > beta
    mean = math.fsum(p * abs(y) for y, p in enumerate(law, -4000))
    assert float(expected_error(m)) == pytest.approx(mean, rel=1e-9)


def test_an_answer_is_missed_if_that_is_more_likely_than_the_doubt() -> None:
    m = make_randomized_response(["a", "b", "c"], 2)
    missed = 2 / (math.e**2 + 2)
    assert accuracy(m, confidence=Fraction(1 - missed) - Fraction(1, 10**6)).within == 0
    assert accuracy(m, confidence=Fraction(1 - missed) + Fraction(1, 10**6)).within == 1
    assert float(expected_error(m)) == pytest.approx(missed)
    alone = make_randomized_response(["a"], 2)
    assert accuracy(alone).within == expected_error(alone) == 0
    assert "randomized response" in str(accuracy(m))


def test_listed_candidates_and_runs_have_the_worst_case_of_their_noise() -> None:
    runs = make_exponential_mechanism_on_runs(runs_domain(WHOLE, 100), range_distance(), 3)
    picked = make_exponential_mechanism(HUNDRED, range_distance(), [*range(100)], 3)
    for m in (runs, picked):
        assert accuracy(m).within == within("gumbel", 3, 100)
        assert expected_error(m) == expected_error(counting(100), scale=3, mechanism="gumbel")
    flipped = make_permute_and_flip(HUNDRED, range_distance(), 3)
    assert accuracy(flipped).within == within("exponential", 3, 100)
    top = make_report_noisy_top_k(HUNDRED, range_distance(), max_divergence(), 4, 3)
    assert accuracy(top).within == within("exponential", 3, 100, 4)
    with pytest.raises(InvalidParameter, match="one winner"):
        expected_error(top)


GRIDS = [
    (12, 0, Fraction(1), [(None, -4), (3, 0), (5, -2)]),
    (4, 2, Fraction(1, 2), [(None, 0)]),
    (0, 0, Fraction(5), [(None, -100), (10, 3)]),
]


@pytest.mark.parametrize(("height", "centre", "slope", "steps"), GRIDS)
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3)])
def test_clipped_scores_fail_no_more_often_than_is_said(
    height: int, centre: int, slope: Fraction, steps: Any, scale: Fraction
) -> None:
    m = make_exponential_mechanism_on_integers(
        steps_domain(WHOLE), linf_distance(), scale, height=height, centre=centre, slope=slope
    )

    def score(y: int) -> float:
        inside = [s for begin, s in steps if begin is None or begin <= y][-1]
        return min(float(inside), float(height - slope * abs(y - centre)))

    scores = [score(y) for y in range(-600, 601)]
    best = max(scores)
    weights = [math.exp((s - best) / float(scale)) for s in scores]
    for confidence in ("0.2", "0.9", "0.999"):
        far = float(accuracy(m, confidence=confidence, best=Fraction(best)).within)
        missed = math.fsum(w for w, s in zip(weights, scores, strict=True) if s < best - far) / math.fsum(
            weights
        )
        assert missed <= 1 - float(confidence)
        t, room, fall = far / float(scale), (height - best) / float(scale), float(slope / scale)
        tail = math.exp(-t) * (1 + 2 * (room + t) / fall - 2 / math.expm1(-fall))
        assert math.isclose(tail, 1 - float(confidence), rel_tol=1e-9)
    mean = math.fsum(w * (best - s) for w, s in zip(weights, scores, strict=True)) / math.fsum(weights)
    said = float(expected_error(m, best=Fraction(best)))
    assert mean <= said <= 60 * float(scale)
    if best > -100:
        assert accuracy(m, best=Fraction(best) - 5).within > accuracy(m, best=Fraction(best)).within


def test_without_noise_the_best_is_drawn() -> None:
    exact = make_exponential_mechanism_on_integers(
        steps_domain(WHOLE), linf_distance(), 0, height=1, centre=0, slope=1
    )
    assert accuracy(exact, best=0).within == expected_error(exact, best=0) == 0
    number = make_geometric(WHOLE, APART, 0)
    assert accuracy(number).within == expected_error(number) == 0


def test_what_nothing_is_proved_of_is_refused() -> None:
    own = user_measurement(
        input_domain=WHOLE,
        input_metric=APART,
        output_measure=max_divergence(),
        function=lambda number: number,
        privacy_map=lambda distance: distance,
    )
    gaps = make_report_noisy_top_k_with_gaps(HUNDRED, range_distance(), max_divergence(), 1, 1, grid=1)
    unsized = make_permute_and_flip(vector_domain(WHOLE), range_distance(), 1)
    peeled = make_permute_and_flip(HUNDRED, range_distance(), 1, 2)
    for m in (own, gaps, unsized, peeled):
        for ask in (accuracy, expected_error):
            with pytest.raises(InvalidParameter):
                ask(m)
    everywhere = make_exponential_mechanism_on_integers(
        steps_domain(WHOLE), linf_distance(), 1, height=1, centre=0, slope=1
    )
    geometric = make_geometric(WHOLE, APART, 1)
    for best in (None, 2, "high"):
        with pytest.raises(InvalidParameter, match="best"):
            accuracy(everywhere, best=best)
    wrong: list[tuple[Any, dict[str, Any]]] = [
        (geometric, {"best": 0}),
        (geometric, {"epsilon": 1}),
        (geometric, {"k": 2}),
        (geometric, {"people": 3}),
        (counting(3), {"best": 0, "epsilon": 1}),
    ]
    for asked, more in wrong:
        with pytest.raises(InvalidParameter):
            accuracy(asked, **more)
    with pytest.raises(InvalidParameter):
        expected_error(geometric, epsilon=1)
    with pytest.raises(InvalidParameter):
        expected_error(counting(3), epsilon=1, best=0)
