"""The floats of a clock are as close to its exact times as it says, and bounds narrow as bits are drawn.

What is under test: dpselect.selection.poisson_times, and the arrivals of dpselect.selection.race.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from dpselect.exact.randomness import system
from dpselect.selection.array_scores import ArrayField
from dpselect.selection.envelope import Envelope
from dpselect.selection.noise import LATEST, ExponentialNoise, GumbelNoise, Noise
from dpselect.selection.poisson_times import Clock
from dpselect.selection.race import ArrivalNumber, Race
from tests.exact.sources import Given
from tests.selection.places import envelope_of


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


@pytest.mark.parametrize("sizes", [[8], [1, 3, 4]])
def test_small_words_make_the_error_large_enough(sizes: list[int]) -> None:
    words = [2**64 - 1, 3, 2**63, 1, 2**20, 7, 2**40, 2**62]
    clock = Clock(Fraction(7, 3), Given(words))
    times = np.concatenate([clock.tick(size) for size in sizes])
    errors = clock.error(np.arange(1, 9), times)
    for tick, time, error in zip(range(1, 9), times.tolist(), errors.tolist(), strict=True):
        earliest, latest = clock.known(tick, 120)
        assert Fraction(time) - Fraction(error) <= earliest < latest <= Fraction(time) + Fraction(error)


@pytest.mark.parametrize("word", [1, 2, 3])
def test_one_small_word_is_within_its_error(word: int) -> None:
    clock = Clock(Fraction(1), Given([word]))
    time = clock.tick(1).item()
    earliest, latest = clock.known(1, 100)
    error = Fraction(clock.error(1, time))
    assert Fraction(time) - error <= earliest < latest <= Fraction(time) + error


@pytest.mark.parametrize("precision", [4, 20, 60])
def test_more_bits_narrow_a_time_inside_what_was_known_of_it(precision: int) -> None:
    clock = Clock(Fraction(7, 3), system())
    clock.tick(5)
    before = clock.time(5, precision)
    for _ in range(20):
        clock.refine(5)
    earliest, latest = clock.known(5, 200)
    assert before.low <= earliest < latest <= before.high
    assert latest - earliest < Fraction(1, 2**100)


def test_a_time_is_as_narrow_as_was_asked_for_however_slow_the_clock() -> None:
    clock = Clock(Fraction(1, 10**6), Given([5, *[2**63] * 50]))
    clock.tick(1)
    low, high = clock.time(1, 90)
    assert high - low <= Fraction(1, 2**90)


@pytest.mark.parametrize("noise", [GumbelNoise(), ExponentialNoise()])
def test_the_bounds_of_an_arrival_enclose_all_that_is_known_more_closely(noise: Noise) -> None:
    race = Race(envelope_of(range(20)), noise, system())
    race.run(50)
    race.times(np.array([50]))
    for tick in range(1, 51):
        number = ArrivalNumber(Fraction(3), Fraction(2), race, tick)
        for precision in range(1, 20):
            assert number.lower(precision) <= number.lower(200) < number.upper(200) <= number.upper(precision)
        lower, upper = number.lower(60), number.upper(60)
        for _ in range(8):
            number.refine()
        assert lower <= number.lower(300) < number.upper(300) <= upper
