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

SPREAD = [0, 1, 2, 3]


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


# Two percent off: a leader, and enough rivals that they win about half of the time. How often they do tells
# more of the scale than the choice among a handful: with a gap of g, g**2 / 4 units of information on
# ln(scale) in each draw, where a handful of candidates gives less than one.

RIVALS, GAP = 1000, 7
DRAWS = 34_000
"""At a scale two percent off, the expected G is four deviations above the threshold of 49.9, or more."""


def leader_or_rival(noise: str, scale: Fraction, rivals: int = RIVALS, gap: int = GAP) -> Law:
    """P(leader): 1 / (1 + m p) for Gumbel noise; E 1 / (1 + Binomial(m, p)) for exponential noise."""
    p = math.exp(-gap / scale)
    if noise == "gumbel":
        wins = 1 / (1 + rivals * p)
    else:
        wins = -math.expm1((rivals + 1) * math.log1p(-p)) / ((rivals + 1) * p)
    return {"leader": wins, "rival": 1 - wins}


def who(index: int) -> str:
    return "leader" if index == 0 else "rival"


def a_leader_and(rivals: int, gap: int = GAP) -> Any:
    scores = np.zeros(1 + rivals)
    scores[0] = gap
    return scores


@pytest.mark.parametrize("noise", ["gumbel", "exponential"])
def test_a_scale_two_percent_off_is_rejected(noise: str) -> None:
    m = gumbel_max() if noise == "gumbel" else exponential_max()
    scores = a_leader_and(RIVALS)
    draws = (who(m(scores)) for _ in range(DRAWS))
    check(draws, partial(leader_or_rival, noise), TWO_PERCENT, DRAWS)


@pytest.mark.parametrize("noise", ["gumbel", "exponential"])
def test_a_handful_of_candidates_passes_and_a_scale_a_third_off_fails(noise: str) -> None:
    m, of = (gumbel_max(), softmax) if noise == "gumbel" else (exponential_max(), permute_and_flip)
    check((m(SPREAD) for _ in range(6000)), partial(single, of, SPREAD), Fraction(4, 3), 6000)


# What follows draws by other ways: over blocks, from fractions, from parts, several at once.

LEADERS = [3.0, 2.0, 1.0, 0.0]
FAR = -50.0
"""So far behind that all the others together win with a probability below 1e-17."""


def array_with_leaders() -> Any:
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


@pytest.mark.parametrize("others", [20, 5000], ids=["single", "in-blocks"])
def test_the_two_best_follow_the_one_shot_laws(others: int) -> None:
    scores = [0.0, 1.0, 2.0]
    many = np.concatenate([scores, np.full(others, FAR)])
    for m, of in ((gumbel_top(2), gumbel_top_k), (exponential_top(2), exponential_top_k)):
        draws = (tuple(m(many)) for _ in range(1200))
        check(draws, partial(ordered, of, scores), Fraction(5, 2), 1200)


def test_the_two_best_of_parts_follow_the_one_shot_laws() -> None:
    scores = [0.0, 1.0, 2.0]
    for m, of in ((gumbel_top(2), gumbel_top_k), (exponential_top(2), exponential_top_k)):
        draws = (tuple(m.over([scores[:2], scores[2:]])) for _ in range(800))
        check(draws, partial(ordered, of, scores), Fraction(5, 2), 800)


# Two percent off, by every way: slow.


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["gumbel", "exponential"])
def test_blocks_reject_a_scale_two_percent_off(noise: str) -> None:
    m = gumbel_max() if noise == "gumbel" else exponential_max()
    scores = a_leader_and(5003, 8)
    draws = (who(m(scores)) for _ in range(DRAWS))
    check(draws, lambda scale: leader_or_rival(noise, scale, 5003, 8), TWO_PERCENT, DRAWS)


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["gumbel", "exponential"])
def test_fractions_reject_a_scale_two_percent_off(noise: str) -> None:
    m = gumbel_max() if noise == "gumbel" else exponential_max()
    scores = [Fraction(GAP), *[Fraction(0)] * RIVALS]
    draws = (who(m(scores)) for _ in range(DRAWS))
    check(draws, partial(leader_or_rival, noise), TWO_PERCENT, DRAWS)


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["gumbel", "exponential"])
def test_parts_reject_a_scale_two_percent_off(noise: str) -> None:
    m = gumbel_max() if noise == "gumbel" else exponential_max()
    scores = a_leader_and(RIVALS)
    parts = [scores[:300], scores[300:301], scores[301:]]
    draws = (who(m.over(parts)) for _ in range(DRAWS))
    check(draws, partial(leader_or_rival, noise), TWO_PERCENT, DRAWS)


def two_of_two_leaders(noise: str, scale: Fraction) -> Law:
    """Which of the two best are leaders: B rivals come out above the leaders' scores, in random order."""
    p = math.exp(-GAP / scale)
    if noise == "gumbel":
        first = 2 / (2 + RIVALS * p)
        after_leader, after_rival = 1 / (1 + RIVALS * p), 2 / (2 + (RIVALS - 1) * p)
        return {
            (True, True): first * after_leader,
            (True, False): first * (1 - after_leader),
            (False, True): (1 - first) * after_rival,
            (False, False): (1 - first) * (1 - after_rival),
        }
    law: Law = dict.fromkeys([(True, True), (True, False), (False, True), (False, False)], 0.0)
    for b in range(60):
        chance = math.comb(RIVALS, b) * p**b * (1 - p) ** (RIVALS - b) / ((2 + b) * (1 + b))
        law[True, True] += 2 * chance
        law[True, False] += 2 * b * chance
        law[False, True] += 2 * b * chance
        law[False, False] += b * (b - 1) * chance
    return law


@pytest.mark.parametrize("noise", ["gumbel", "exponential"])
def test_two_of_two_leaders_is_a_law(noise: str) -> None:
    assert math.fsum(two_of_two_leaders(noise, Fraction(1)).values()) == pytest.approx(1, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["whole", "parts", "blocks"])
@pytest.mark.parametrize("noise", ["gumbel", "exponential"])
def test_the_two_best_reject_a_scale_two_percent_off(noise: str, way: str) -> None:
    m, n = gumbel_top(2) if noise == "gumbel" else exponential_top(2), 40_000
    scores = np.append(a_leader_and(RIVALS), GAP)
    if way == "blocks":
        scores = np.append(scores, np.full(4000, -200.0))

    def draw() -> tuple[bool, ...]:
        best = m.over([scores[:400], scores[400:]]) if way == "parts" else m(scores)
        return tuple(index in (0, RIVALS + 1) for index in best)

    check((draw() for _ in range(n)), partial(two_of_two_leaders, noise), TWO_PERCENT, n)


@pytest.mark.slow
def test_two_rounds_of_permute_and_flip_pass_and_a_scale_a_tenth_off_fails() -> None:
    m, n = peeling(2), 60_000
    draws = (tuple(m([0, 1, 2])) for _ in range(n))
    check(draws, partial(ordered, peeled_permute_and_flip, [0, 1, 2]), Fraction(11, 10), n)
