"""The floats that filter the coins of levels are close to the exact probabilities, or there are none.

What is under test: dpselect.selection.top_k_by_levels. Its law: tests/mechanisms/test_laws.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import count

import pytest

from dpselect.exact.randomness import Randomness, system
from dpselect.exact.vector_samplers import bernoulli_successes
from dpselect.selection import top_k_by_levels as levels
from tests.exact.laws import Curve
from tests.exact.sources import Given

ONE = Fraction(1)

CLOSE = Fraction(1, 2**40)

GAPS = [Fraction(1, 10**9), Fraction(1, 10**6), Fraction(1, 3), Fraction(2), Fraction(40), Fraction(200)]


def watched(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Compare every estimate with what it estimates; give the list that all of them will be in."""
    seen: list[float] = []

    def compared(
        estimates: Iterable[float], exactly: Callable[[int], Curve], randomness: Randomness
    ) -> list[int]:
        found = list(estimates)
        for i, estimate in enumerate(found):
            low, high = exactly(i)(100)
            assert math.isnan(estimate) or low - CLOSE <= Fraction(estimate) <= high + CLOSE
        seen.extend(found)
        return bernoulli_successes(found, exactly, randomness)

    monkeypatch.setattr(levels, "bernoulli_successes", compared)
    return seen


@pytest.mark.parametrize("scale", [ONE, Fraction(3, 7)])
def test_estimates_are_close(scale: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = watched(monkeypatch)
    for high in GAPS:
        for low in GAPS:
            scores = {0: Fraction(0), 1: high + low, 2: Fraction(-1, 3), 3: low}
            levels.draw_by_levels(scores, scale, 4, system())
    assert len(seen) == len(GAPS) ** 2 * 6
    assert not any(map(math.isnan, seen))


def test_a_level_that_ties_with_the_one_before_adds_no_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = watched(monkeypatch)
    levels.draw_by_levels({0: Fraction(3), 1: Fraction(3), 2: Fraction(1)}, ONE, 2, system())
    assert seen[-1] == 0


@pytest.mark.parametrize("far", [Fraction(10**320), Fraction(10**400)])
@pytest.mark.parametrize("low", [Fraction(0), Fraction(1)])
def test_beyond_all_floats_probabilities_are_zero(
    far: Fraction, low: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = watched(monkeypatch)
    assert levels.draw_by_levels({0: far + low, 1: low, 2: Fraction(0)}, ONE, 1, system()) == [0]
    assert seen == [0.0, 0.0]
    assert levels.draw_by_levels({0: far + low, 1: low, 2: Fraction(0)}, ONE, 3, system())[0] == 0


def test_what_lies_too_near_for_floats_is_left_to_balls(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = watched(monkeypatch)
    for near in (Fraction(1, 10**300), Fraction(1, 10**700)):
        scores = {0: 2 * near, 1: near, 2: Fraction(0)}
        assert sorted(levels.draw_by_levels(scores, ONE, 3, system())) == [0, 1, 2]
        assert math.isnan(seen[-1])


@pytest.mark.parametrize("k", [2, 3, 5])
def test_c2_ties_take_as_many_words_as_any_other_scores(k: int) -> None:
    taken = set()
    for scores in (
        [5] * 6,
        [5, 5, 6, 5, 5, 5],
        [6, 6, 5, 5, 5, 5],
        [0, 10, 20, 30, 40, 50],
        [0, 0, 0, 0, 9, 9],
    ):
        source = Given(system().word() for _ in count())
        levels.draw_by_levels({i: Fraction(score) for i, score in enumerate(scores)}, ONE, k, source)
        taken.add(source.drawn)
    assert len(taken) == 1
