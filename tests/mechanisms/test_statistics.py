"""G-tests on the system's randomness, at 1e-9, with their power written down.

A sample is accepted for its own scale, and the same sample must be rejected for a scale that is off. G is
then about noncentral chi-square, with a mean of 2 N KL(right || wrong) or more: each test asserts that
this is four standard deviations above the threshold, so that it fails by chance in 1 of 30000 runs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from dpselect.exact.enclosures import Enclosure
from tests.exact.laws import permute_and_flip, softmax
from tests.mechanisms.closed_forms import exponential_top_k, gumbel_top_k, peeled_permute_and_flip
from tests.mechanisms.makers import (
    exponential_max,
    exponential_top,
    gumbel_max,
    gumbel_top,
    peeling,
)
from tests.statistics import rejects, threshold

Law = dict[Any, float]

TWO_PERCENT = Fraction(102, 100)


def single(
    of: Callable[[Sequence[Any], Fraction], list[Enclosure]], scores: Sequence[Any], scale: Fraction
) -> Law:
    return {i: float(p.low) for i, p in enumerate(of(scores, scale))}


def ordered(
    of: Callable[[Sequence[Any], int, Fraction], dict[tuple[int, ...], Enclosure]],
    scores: Sequence[Any],
    scale: Fraction,
) -> Law:
    return {order: float(p.low) for order, p in of(scores, 2, scale).items()}


def power_figure(right: Law, wrong: Law, n: int) -> float:
    """How many deviations the G of a sample of ``right``, tested for ``wrong``, is above the threshold.

    The mean is about 2 N KL, the variance at most 4 times that and a little.
    """
    mean = 2 * n * math.fsum(p * math.log(p / wrong[cell]) for cell, p in right.items() if p)
    return (mean - threshold(len(right))) / math.sqrt(4 * mean + 2 * len(right))


def check(draws: Iterable[Hashable], law: Callable[[Fraction], Law], off: Fraction, n: int) -> None:
    """Accept the sample for scale 1, and reject it for scales that are off by that factor, either way."""
    right = law(Fraction(1))
    counts = Counter(draws)
    assert counts.keys() <= right.keys()
    sample = [counts[cell] for cell in right]
    assert sum(sample) == n
    assert not rejects(sample, list(right.values()))
    for factor in (off, 1 / off):
        wrong = law(factor)
        assert power_figure(right, wrong, n) > 4, "the sample is too small to tell"
        assert rejects(sample, list(wrong.values()))


# One for each noise in the default run.

SPREAD = [0, 1, 2, 3]


def test_gumbel_noise_passes_and_a_scale_a_third_off_fails() -> None:
    m = gumbel_max()
    check(
        (m(SPREAD) for _ in range(6000)), lambda scale: single(softmax, SPREAD, scale), Fraction(4, 3), 6000
    )


def test_exponential_noise_passes_and_a_scale_a_third_off_fails() -> None:
    m = exponential_max()
    check(
        (m(SPREAD) for _ in range(6000)),
        lambda scale: single(permute_and_flip, SPREAD, scale),
        Fraction(4, 3),
        6000,
    )


# What follows draws by other ways: over blocks, from fractions, from parts, several at once.

LEADERS = [3.0, 2.0, 1.0, 0.0]
FAR = -50.0
"""So far behind that all the others together win with a probability below 1e-17."""


def array_with_leaders() -> Any:  # noqa: ANN401
    scores = np.full(5004, FAR)
    scores[[7, 1300, 2601, 5003]] = LEADERS
    return scores


PLACES = [7, 1300, 2601, 5003]


def at_places(law: Law) -> Law:
    return {PLACES[i]: p for i, p in law.items()}


@pytest.mark.parametrize("noise", ["gumbel", "exponential"])
def test_blocks_have_the_law_of_single_candidates(noise: str) -> None:
    m, of = (gumbel_max(), softmax) if noise == "gumbel" else (exponential_max(), permute_and_flip)
    scores = array_with_leaders()
    check(
        (m(scores) for _ in range(2500)),
        lambda scale: at_places(single(of, LEADERS, scale)),
        Fraction(8, 5),
        2500,
    )


@pytest.mark.parametrize("noise", ["gumbel", "exponential"])
def test_parts_have_the_law_of_the_whole(noise: str) -> None:
    m, of = (gumbel_max(), softmax) if noise == "gumbel" else (exponential_max(), permute_and_flip)
    parts: list[Any] = [[0.0], np.array([1, 2]), [3]]
    check((m.over(parts) for _ in range(1200)), lambda scale: single(of, SPREAD, scale), Fraction(2), 1200)


@pytest.mark.parametrize("scores", [[0, 1, 2], [0.0, 0.0, 2.0]], ids=["spaced", "tied"])
def test_the_two_best_follow_the_one_shot_laws(scores: list[Any]) -> None:
    for m, of in ((gumbel_top(2), gumbel_top_k), (exponential_top(2), exponential_top_k)):
        draws = (tuple(m(scores)) for _ in range(1200))
        check(draws, partial(ordered, of, scores), Fraction(5, 2), 1200)


def test_the_two_best_of_parts_follow_the_one_shot_laws() -> None:
    scores = [0.0, 1.0, 2.0]
    for m, of in ((gumbel_top(2), gumbel_top_k), (exponential_top(2), exponential_top_k)):
        draws = (tuple(m.over([scores[:2], scores[2:]])) for _ in range(800))
        check(draws, partial(ordered, of, scores), Fraction(5, 2), 800)


# Two percent: slow.


def test_a_scale_two_percent_off_needs_about_a_million_draws() -> None:
    """For n = 4 at (0, 1, 2, 3), so many draws that the slow tests reject with a power above 0.9999."""
    for of, n in ((softmax, 1_400_000), (permute_and_flip, 1_000_000)):
        right = single(of, SPREAD, Fraction(1))
        for factor in (TWO_PERCENT, 1 / TWO_PERCENT):
            assert power_figure(right, single(of, SPREAD, factor), n) > 4


@pytest.mark.slow
def test_gumbel_noise_passes_and_a_scale_two_percent_off_fails() -> None:
    m, n = gumbel_max(), 1_400_000
    check((m(SPREAD) for _ in range(n)), lambda scale: single(softmax, SPREAD, scale), TWO_PERCENT, n)


@pytest.mark.slow
def test_exponential_noise_passes_and_a_scale_two_percent_off_fails() -> None:
    m, n = exponential_max(), 1_000_000
    check(
        (m(SPREAD) for _ in range(n)), lambda scale: single(permute_and_flip, SPREAD, scale), TWO_PERCENT, n
    )


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["gumbel", "exponential"])
def test_blocks_reject_a_scale_two_percent_off(noise: str) -> None:
    m, of = (gumbel_max(), softmax) if noise == "gumbel" else (exponential_max(), permute_and_flip)
    scores, n = array_with_leaders(), 1_400_000
    check((m(scores) for _ in range(n)), lambda scale: at_places(single(of, LEADERS, scale)), TWO_PERCENT, n)


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["gumbel", "exponential"])
def test_fractions_reject_a_scale_two_percent_off(noise: str) -> None:
    m, of = (gumbel_max(), softmax) if noise == "gumbel" else (exponential_max(), permute_and_flip)
    scores, n = [Fraction(score) for score in SPREAD], 1_400_000
    check((m(scores) for _ in range(n)), lambda scale: single(of, SPREAD, scale), TWO_PERCENT, n)


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["gumbel", "exponential"])
def test_parts_reject_a_scale_two_percent_off(noise: str) -> None:
    m, of = (gumbel_max(), softmax) if noise == "gumbel" else (exponential_max(), permute_and_flip)
    parts, n = [SPREAD[:1], SPREAD[1:3], SPREAD[3:]], 1_400_000
    check((m.over(parts) for _ in range(n)), lambda scale: single(of, SPREAD, scale), TWO_PERCENT, n)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gumbel", "exponential", "peeling"])
def test_the_two_best_reject_a_scale_two_percent_off(kind: str) -> None:
    m, of = {
        "gumbel": (gumbel_top(2), gumbel_top_k),
        "exponential": (exponential_top(2), exponential_top_k),
        "peeling": (peeling(2), peeled_permute_and_flip),
    }[kind]
    scores, n = [0, 1, 2], 1_000_000
    check((tuple(m(scores)) for _ in range(n)), lambda scale: ordered(of, scores, scale), TWO_PERCENT, n)
