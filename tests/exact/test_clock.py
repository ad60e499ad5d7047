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
from tests.exact.sources import Given


def all_at_once(clock: Clock) -> NDArray[np.float64]:
    return clock.tick(300)


def in_batches(clock: Clock) -> NDArray[np.float64]:
    return np.concatenate([clock.tick(n) for n in (1, 99, 200)])


@pytest.mark.parametrize("ticking", [all_at_once, in_batches])
def test_a_time_is_within_its_error(ticking: Callable[[Clock], NDArray[np.float64]]) -> None:
    clock = Clock(Fraction(7, 3), system())
    times = ticking(clock)
    errors = clock.error(np.arange(1, 301), times)
    for tick in (1, 2, 64, 65, 299, 300):
        low, high = clock.time(tick, 120)
        time, error = Fraction(times[tick - 1]), Fraction(errors[tick - 1])
        assert time - error <= low <= high <= time + error
    assert errors[-1] < 2.0**-30


def test_a_word_of_zero_leaves_the_time_open() -> None:
    clock = Clock(Fraction(1), Given([0] * 20))
    clock.tick(20)
    assert clock.error(1, 1.0) == math.inf


def test_late_points_are_estimated_only_where_exp_does_not_matter() -> None:
    late = 2 * LATEST
    log_weights, times = np.array([-1.0, -1e-300, -1.0]), np.array([late, late, 0.0])
    early_or_far, lost, at_once = ExponentialNoise().chances(log_weights, times, np.zeros(3)).tolist()
    assert early_or_far < 2.0**-900
    assert math.isnan(lost)
    assert at_once == 1.0


def test_late_points_are_no_arrivals_unless_they_are_level_with_the_base() -> None:
    field = ArrayField(np.array([2.0, 1.0, 1.9, 1.9]), "max", depth=2)
    lead = field.leaders(1)
    assert lead is not None
    for _ in range(20):
        envelope = Envelope(field, lead, Fraction(1))
        late = Clock(envelope.rate, Given([1] * 1000))
        race = Race(envelope, ExponentialNoise(), system(), late)
        race.run(64)
        assert set(race.arrivals) == {0}
