"""The float bounds of a noisy score enclose it, and every winner is a candidate.

What is under test: dpselect.selection.top_k. Its law is under test in tests/mechanisms/test_laws.py.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import count
from typing import Literal

import numpy as np
import pytest

from dpselect.exact.randomness import system
from dpselect.exact.rounding import LARGEST_FLOAT
from dpselect.selection.array_scores import ArrayScores
from dpselect.selection.noise import ExponentialNoise, GumbelNoise, LaplaceNoise, NoiseLaw
from dpselect.selection.noisy_scores import NoisyScore
from dpselect.selection.top_k import top_k_indices, top_k_noisy_scores
from tests.exact.sources import Begun, Given

each_noise = pytest.mark.parametrize("noise", [GumbelNoise(), ExponentialNoise(), LaplaceNoise()])


def check_bounds(drawn: list[NoisyScore] | None) -> list[NoisyScore]:
    assert drawn is not None
    for one in drawn:
        assert one.low <= one.number.lower(100) <= one.number.upper(100) <= one.high
    return drawn


@pytest.mark.usefixtures("unmeasured")
@each_noise
@pytest.mark.parametrize("optimize", ["max", "min"])
@pytest.mark.parametrize("base", [0.0, 1e9, -1e9])
@pytest.mark.parametrize("width", [8, 64])
@pytest.mark.parametrize("scale", [Fraction(3, 2), Fraction(10**9, 7), Fraction(1, 10**9)])
def test_float_bounds_enclose_the_noisy_scores_of_individual_candidates_and_arrivals(
    noise: NoiseLaw, optimize: Literal["max", "min"], base: float, width: int, scale: Fraction
) -> None:
    vector = ArrayScores(base + np.arange(60.0) * float(scale) / 6, optimize)
    for _ in range(3):
        narrow = Given((system().word() >> (64 - width) for _ in count()), width)
        check_bounds(top_k_noisy_scores(vector, 40, scale, noise, narrow))


@each_noise
def test_float_bounds_enclose_the_noisy_score_whatever_its_first_word(noise: NoiseLaw) -> None:
    """Near 1 / e, or 1 / 2, noise is near zero; next to 0 and 1 its quantiles are not asked for in floats."""
    zero = 2**63 if isinstance(noise, LaplaceNoise) else int(2**64 / math.e)
    near_zero = [zero + i * 2**p for p in (0, 10, 12) for i in range(-20, 20)]
    at_the_ends = [1, 2**44 - 5, 2**44 + 5, 2**64 - 2**44 - 2048, 2**64 - 2**44 + 5, 2**64 - 5]
    words = [*near_zero, *at_the_ends]
    scores = np.append(np.zeros(len(words)), -50.0)
    drawn = top_k_noisy_scores(ArrayScores(scores, "max"), len(scores), Fraction(1), noise, Begun(words))
    assert all(
        one.high - one.low < 2.0**-28
        for one in check_bounds(drawn)
        if one.candidate < len(words) and 2**44 < words[one.candidate] < 2**64 - 2**44 - 1024
    )


@each_noise
def test_next_to_the_largest_float_bounds_are_bounds(noise: NoiseLaw) -> None:
    vector = ArrayScores(LARGEST_FLOAT * np.array([1.0, 0.9, 0.8]), "max")
    check_bounds(top_k_noisy_scores(vector, 3, Fraction(10**300), noise, system()))


@each_noise
def test_the_float_scores_of_two_that_tie_do_not_order_them(noise: NoiseLaw) -> None:
    """At 10**18 a double has no room for the noise; the others are far enough away to be told apart."""
    scores = 10**18 - np.array([0, 0, 10**8, 2 * 10**8, 3 * 10**8])
    firsts = set()
    for _ in range(60):
        found = top_k_indices(ArrayScores(scores, "max"), 4, Fraction(1), noise, system())
        assert found is not None
        assert sorted(found[:2]) == [0, 1]
        assert found[2:] == [2, 3]
        firsts.add(found[0])
    assert firsts == {0, 1}


@each_noise
@pytest.mark.parametrize("batch", [1, 2, 3])
def test_every_winner_is_a_candidate(noise: NoiseLaw, batch: int) -> None:
    for _ in range(150):
        found = top_k_indices(
            ArrayScores(np.arange(4.0), "max"), 3, Fraction(1), noise, system(), batch=batch
        )
        assert found is not None
        assert len(set(found)) == 3
        assert set(found) <= {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("individual", "others", "winner"),
    [
        ([2**63 - 2**54, *[2**40] * 34], [2**40] * 5, "individual"),
        ([2**40] * 35, [2**40, 2**40, 2**64 - 2**50, 2**40, 2**40], "another"),
    ],
)
def test_laplace_noise_below_the_threshold_on_all_individual_candidates_is_kept(
    individual: list[int], others: list[int], winner: str
) -> None:
    """Words below 2**63 are noise below zero. No word is drawn again, and none is too many."""
    words = Given([*individual, *others])
    assert len(individual) == LaplaceNoise().threshold_rank(1) - 1
    scores = np.where(np.arange(40) < len(individual), 1.0, 1.0 - 2.0**-10)
    found = top_k_indices(ArrayScores(scores, "max"), 1, Fraction(1), LaplaceNoise(), words)
    assert found is not None
    assert (found[0] < len(individual)) == (winner == "individual")
    assert words.drawn == 40
