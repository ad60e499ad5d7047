"""The floats of a clock are as close to its exact times as it says."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from dpselect.exact.array_field import ArrayField
from dpselect.exact.clock import Clock
from dpselect.exact.envelope import Envelope
from dpselect.exact.noises import LATEST, ExponentialNoise
from dpselect.exact.race import Race
from dpselect.exact.randomness import system
from dpselect.exact.selection import in_batches as first_in_batches
from tests.exact.sources import Given


def all_at_once(clock: Clock) -> NDArray[np.float64]:
    return clock.tick(300)


def in_batches(clock: Clock) -> NDArray[np.float64]:
    return np.concatenate([clock.tick(n) for n in (1, 99, 200)])


def one_by_one(clock: Clock) -> NDArray[np.float64]:
    return np.array([clock.reach(tick) for tick in range(1, 301)])


@pytest.mark.parametrize("ticking", [all_at_once, in_batches, one_by_one])
def test_a_time_is_within_its_error(ticking: Callable[[Clock], NDArray[np.float64]]) -> None:
    clock = Clock(Fraction(7, 3), system())
    times = ticking(clock)
    errors = clock.error(np.arange(1, 301), times)
    for tick in (1, 2, 64, 65, 299, 300):
        low, high = clock.time(tick, 120)
        time, error = Fraction(times[tick - 1]), Fraction(errors[tick - 1])
        assert time - error <= low <= high <= time + error
    assert errors[-1] < 2.0**-30


def test_a_clock_reaches_far_ticks_by_what_lies_between() -> None:
    words = [2**63 + 2**40 * i for i in range(40)]
    far, near = Clock(Fraction(2), Given(words)), Clock(Fraction(2), Given(words))
    together = near.tick(40)
    assert [far.reach(tick) for tick in (1, 5, 25, 40)] == pytest.approx(together[[0, 4, 24, 39]].tolist())
    assert far.ticks == near.ticks == 40


def test_a_word_of_zero_leaves_the_time_open() -> None:
    for words in ([0], [0] * 20):
        clock = Clock(Fraction(1), Given(words))
        clock.reach(len(words))
        assert clock.error(1, 1.0) == math.inf


def test_late_points_are_estimated_only_where_exp_does_not_matter() -> None:
    noise, late = ExponentialNoise(), 2 * LATEST
    assert noise.chance(-1.0, late, 0.0) < 2.0**-900
    assert math.isnan(noise.chance(-1e-300, late, 0.0))
    both = noise.chances(np.array([-1.0, -1e-300, -1.0]), np.array([late, late, 0.0]), np.zeros(3))
    assert [bool(lost) for lost in np.isnan(both)] == [False, True, False]
    assert both[2] == 1.0


def test_late_points_are_no_arrivals_unless_they_are_level_with_the_base() -> None:
    field = ArrayField(np.array([2.0, 1.0, 1.9, 1.9]), "max", depth=2)
    lead = field.leaders(1)
    assert lead is not None
    for _ in range(20):
        envelope = Envelope(field, lead, Fraction(1))
        late = Clock(envelope.rate, Given([1] * 1000))
        assert first_in_batches(Race(envelope, ExponentialNoise(), system(), late), 16) == 0
