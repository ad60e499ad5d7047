"""The floats that filter the coins of levels are close to the exact chances, or there are none.

What is under test: dpselect.exact.levels. Its law is under test in tests/mechanisms/test_laws.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import repeat

import pytest

from dpselect.exact import levels
from dpselect.exact.batches import heads
from dpselect.exact.randomness import Randomness, system
from tests.exact.laws import Curve
from tests.exact.sources import Given

CLOSE = Fraction(1, 2**40)

GAPS = [Fraction(1, 10**9), Fraction(1, 10**6), Fraction(1, 3), Fraction(2), Fraction(40), Fraction(200)]


def watched(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Compare every estimate with what it estimates; give the list that all of them will be in."""
    seen: list[float] = []

    def compared(
        estimates: Iterable[float], exactly: Callable[[int], Curve], randomness: Randomness
    ) -> list[int]:
        (estimate,) = estimates
        low, high = exactly(0)(100)
        assert math.isnan(estimate) or low - CLOSE <= Fraction(estimate) <= high + CLOSE
        seen.append(estimate)
        return heads([estimate], exactly, randomness)

    monkeypatch.setattr(levels, "heads", compared)
    return seen


def test_estimates_are_close(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = watched(monkeypatch)
    for high in GAPS:
        for low in GAPS:
            for _ in range(10):
                scores = {0: high + low, 1: low, 2: Fraction(0)}
                levels.out_by_levels(scores, 3, system())
    assert len(seen) > 500
    assert not any(map(math.isnan, seen))


@pytest.mark.parametrize("far", [Fraction(10**320), Fraction(10**400)])
@pytest.mark.parametrize("low", [Fraction(0), Fraction(1)])
def test_what_lies_beyond_all_floats_is_left_to_balls(
    far: Fraction, low: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = watched(monkeypatch)
    assert levels.out_by_levels({0: far + low, 1: low, 2: Fraction(0)}, 1, system()) == [0]
    assert all(map(math.isnan, seen))
    levels.out_by_levels({0: far + low, 1: low, 2: Fraction(0)}, 3, system())


def test_what_lies_too_near_for_floats_is_left_to_balls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words of ones spell a number near 1: each coin that can be False is."""
    seen = watched(monkeypatch)
    near = Fraction(1, 10**700)
    ones = Given(repeat(2**64 - 1))
    assert levels.out_by_levels({0: 2 * near, 1: near, 2: Fraction(0)}, 3, ones) == [0, 1, 2]
    assert math.isnan(seen[-1])
