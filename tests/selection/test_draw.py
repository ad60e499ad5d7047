"""The front door of selection numbers winners among all candidates, and refuses too few of them.

What is under test: dpselect.selection.draw. Its laws: tests/mechanisms/test_laws.py.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpselect.exact.randomness import system
from dpselect.selection.draw import PeeledDraw, TooFewCandidates, TopKDraw
from dpselect.selection.noise import NOISES, NoiseName
from dpselect.selection.scores import NotAScore, Optimize

SMALL = Fraction(1, 1000)

SCORES: list[Any] = [
    np.array([-math.inf, 5.0, 1.0, 3.0]),
    [None, Fraction(5), Fraction(1), Fraction(3)],
    np.array([-math.inf, *[4.0] * 20, 5.0, 1.0, 3.0]),
]

both_noises = pytest.mark.parametrize("noise", NOISES)


def winners(scores: Any, optimize: Optimize) -> list[int]:
    """Give the two best without noise."""
    sign = 1 if optimize == "max" else -1
    values = {i: x for i, x in enumerate(scores) if x is not None and x > -math.inf}
    return sorted(values, key=lambda i: -sign * values[i])[:2]


@both_noises
def test_with_little_noise_the_best_win_whatever_algorithm_draws(noise: NoiseName) -> None:
    for scores in SCORES[:2]:
        for optimize in ("max", "min") if isinstance(scores, np.ndarray) else ("max",):
            expected = winners(scores, optimize)
            for k in (1, 2):
                assert TopKDraw(SMALL, k, optimize, noise)(scores, system()) == expected[:k]
                assert PeeledDraw(SMALL, k, optimize)(scores, system()) == expected[:k]
    assert TopKDraw(SMALL, 1, "max", noise)(SCORES[2], system()) == [21]
    assert TopKDraw(SMALL, 1, "min", noise)(SCORES[2], system()) == [22]


@both_noises
@pytest.mark.parametrize("optimize", ["max", "min"])
def test_winners_from_chunks_are_numbered_as_in_their_concatenation(
    noise: NoiseName, optimize: Optimize
) -> None:
    scores = np.array([-math.inf, 5.0, 1.0, -math.inf, 3.0, 9.0, -math.inf, 7.0])
    expected = winners(scores, optimize)
    for cut in range(len(scores) + 1):
        draw = TopKDraw(SMALL, 2, optimize, noise)
        assert draw.over([scores[:cut], scores[cut:]], system()) == expected


@both_noises
@pytest.mark.parametrize("scores", SCORES)
def test_fewer_than_k_eligible_candidates_are_refused(scores: Any, noise: NoiseName) -> None:
    for k in (len(scores), len(scores) + 1):
        for draw in (TopKDraw(SMALL, k, "max", noise), PeeledDraw(SMALL, k, "max")):
            with pytest.raises(TooFewCandidates):
                draw(scores, system())
        with pytest.raises(TooFewCandidates):
            TopKDraw(SMALL, k, "max", noise).over([scores], system())


@both_noises
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_nan_and_plus_infinity_are_no_scores(bad: float, noise: NoiseName) -> None:
    scores = np.array([1.0, bad, -math.inf])
    with pytest.raises(NotAScore):
        TopKDraw(SMALL, 1, "min", noise)(scores, system())
    with pytest.raises(NotAScore):
        TopKDraw(SMALL, 1, "max", noise).over([scores], system())
