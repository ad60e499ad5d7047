"""Noisy scores are compared exactly where their floats overlap.

What is under test: dpselect.selection.noisy_scores. Merging: tests/mechanisms/test_laws.py.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpselect.exact.partial_numbers import Exponential
from dpselect.selection.noisy_scores import Noiseless, NoisyScore, NoisyScores, are_apart, merged
from tests.exact.sources import Given

ONE = Fraction(1)


def test_noisy_scores_with_equal_floats_are_ordered_by_more_bits() -> None:
    bounds = np.array([0.0, 0.0]), np.array([9.0, 9.0])
    for later in ([2**62, 2**63], [2**63, 2**62]):
        numbers = [Exponential(5, ONE, Given([2**63, word])) for word in later]
        order = [
            one.candidate for one in NoisyScores(np.array([0, 1]), bounds, numbers.__getitem__).in_order()
        ]
        assert order == [later.index(2**63), later.index(2**62)]


def test_a_noisy_score_whose_floats_overlap_another_is_counted_exactly() -> None:
    scores = [Fraction(5), Fraction(3), Fraction(2), Fraction(1)]
    lows, highs = np.array([4.0, 1.0, 1.0, 0.0]), np.array([6.0, 4.0, 4.0, 1.0])
    several = NoisyScores(np.arange(4), (lows, highs), lambda i: Noiseless(scores[i]))
    other = NoisyScore(9, 1.0, 3.5, lambda: Noiseless(Fraction(5, 2)))
    assert several.count_exceeding(other) == 2
    assert (
        NoisyScores(np.arange(1), (lows[:1], highs[:1]), lambda i: Noiseless(scores[i])).count_exceeding(
            other
        )
        == 1
    )


@pytest.mark.parametrize(
    ("lows", "highs", "answer"),
    [([2.0, 1.0], [3.0, 2.0], "yes"), ([2.0, 1.0], [3.0, 2.5], "no"), ([1.0], [2.0], "yes"), ([], [], "yes")],
)
def test_intervals_are_apart_if_no_two_neighbours_overlap(
    lows: list[float], highs: list[float], answer: str
) -> None:
    assert are_apart(np.array(lows), np.array(highs)) == (answer == "yes")


def exact(candidate: int, score: int) -> NoisyScore:
    return NoisyScore(candidate, 0.0, 9.0, lambda: Noiseless(Fraction(score)))


def test_a_merge_keeps_the_best_of_both_and_ties_go_to_the_first_list() -> None:
    ours, theirs = [exact(0, 7), exact(1, 4)], [exact(2, 7), exact(3, 5), exact(4, 1)]
    assert [one.candidate for one in merged(ours, theirs, 4)] == [0, 2, 3, 1]
    assert [one.candidate for one in merged([], theirs, 9)] == [2, 3, 4]


def test_a_noisy_score_makes_its_number_once() -> None:
    made: list[int] = []
    noisy_score = NoisyScore(0, 0.0, 9.0, lambda: made.append(1) or Noiseless(ONE))  # type: ignore[func-returns-value]
    assert noisy_score.realised().number is noisy_score.number
    assert made == [1]
