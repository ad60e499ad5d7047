"""Float times are within their error bounds, and exact bounds narrow as bits are drawn.

What is under test: dpselect.selection.poisson_times, and the arrivals of dpselect.selection.race.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpselect.exact.randomness import system
from dpselect.selection.array_scores import ArrayScores
from dpselect.selection.envelope import Envelope
from dpselect.selection.noise import LATEST_TIME, ExponentialNoise, GumbelNoise, LaplaceNoise, NoiseLaw
from dpselect.selection.poisson_times import PoissonTimes
from dpselect.selection.race import ArrivalScore, Race
from tests.exact.sources import Given
from tests.selection.cells import envelope_of


def all_at_once(times_of: PoissonTimes) -> NDArray[np.float64]:
    return times_of.draw(300)


def in_batches(times_of: PoissonTimes) -> NDArray[np.float64]:
    return np.concatenate([times_of.draw(n) for n in (1, 99, 200)])


@pytest.mark.parametrize("drawing", [all_at_once, in_batches])
def test_a_time_is_within_its_error(drawing: Callable[[PoissonTimes], NDArray[np.float64]]) -> None:
    times_of = PoissonTimes(Fraction(7, 3), system())
    times = drawing(times_of)
    errors = times_of.error(np.arange(1, 301), times)
    for number in (1, 2, 64, 65, 299, 300):
        low, high = times_of.time(number, 120)
        time, error = Fraction(times[number - 1]), Fraction(errors[number - 1])
        assert time - error <= low <= high <= time + error
    assert errors[-1] < 2.0**-30


def test_a_word_of_zero_leaves_the_time_open() -> None:
    times_of = PoissonTimes(Fraction(1), Given([0] * 20))
    times_of.draw(20)
    assert times_of.error(1, 1.0) == math.inf


def test_late_points_are_estimated_only_where_exp_does_not_matter() -> None:
    late = 2 * LATEST_TIME
    log_weights, times = np.array([-1.0, -1e-300, -1.0]), np.array([late, late, 0.0])
    early_or_far, lost, at_once = ExponentialNoise().acceptance(log_weights, times, np.zeros(3)).tolist()
    assert early_or_far < 2.0**-900
    assert math.isnan(lost)
    assert at_once == 1.0


def test_late_points_are_no_arrivals_unless_their_candidates_tie_with_the_threshold() -> None:
    vector = ArrayScores(np.array([2.0, 1.0, 1.9, 1.9]), "max", block_size=2)
    threshold = vector.find_threshold(1)
    assert threshold is not None
    for _ in range(20):
        envelope = Envelope(vector, threshold, Fraction(1))
        late = PoissonTimes(envelope.rate, Given([1] * 1000))
        race = Race(envelope, ExponentialNoise(), system(), late)
        race.run(64)
        assert set(race.arrivals) == {0}


class Unsure(PoissonTimes):
    """Does not trust the float of any time."""

    def error(self, proposal_number: Any, time: Any) -> Any:
        del proposal_number
        return np.ones_like(time)


@pytest.mark.parametrize("noise", [ExponentialNoise(), LaplaceNoise()])
def test_where_floats_do_not_decide_exact_probabilities_accept_the_same_points(noise: NoiseLaw) -> None:
    """One word is drawn for each point, in either case, and more of them for a time."""
    arrivals = []
    for kind in (PoissonTimes, Unsure):
        proposals, times = random.Random(3), random.Random(4)
        envelope = envelope_of([1.0, 0.5, 0.0, -1.0] * 5)
        race = Race(
            envelope,
            noise,
            Given(proposals.getrandbits(64) for _ in count()),
            kind(envelope.rate, Given(times.getrandbits(64) for _ in count())),
        )
        race.run(40)
        arrivals.append(race.arrivals)
    assert arrivals[0] == arrivals[1]
    assert len(arrivals[0]) > 1


@pytest.mark.parametrize("sizes", [[8], [1, 3, 4]])
def test_small_words_make_the_error_large_enough(sizes: list[int]) -> None:
    words = [2**64 - 1, 3, 2**63, 1, 2**20, 7, 2**40, 2**62]
    times_of = PoissonTimes(Fraction(7, 3), Given(words))
    times = np.concatenate([times_of.draw(size) for size in sizes])
    errors = times_of.error(np.arange(1, 9), times)
    for number, time, error in zip(range(1, 9), times.tolist(), errors.tolist(), strict=True):
        earliest, latest = times_of.bounds(number, 120)
        assert Fraction(time) - Fraction(error) <= earliest < latest <= Fraction(time) + Fraction(error)


@pytest.mark.parametrize("word", [1, 2, 3])
def test_one_small_word_is_within_its_error(word: int) -> None:
    times_of = PoissonTimes(Fraction(1), Given([word]))
    time = times_of.draw(1).item()
    earliest, latest = times_of.bounds(1, 100)
    error = Fraction(times_of.error(1, time))
    assert Fraction(time) - error <= earliest < latest <= Fraction(time) + error


@pytest.mark.parametrize("precision", [4, 20, 60])
def test_more_bits_narrow_a_time_inside_what_was_known_of_it(precision: int) -> None:
    times_of = PoissonTimes(Fraction(7, 3), system())
    times_of.draw(5)
    before = times_of.time(5, precision)
    for _ in range(20):
        times_of.refine(5)
    earliest, latest = times_of.bounds(5, 200)
    assert before.low <= earliest < latest <= before.high
    assert latest - earliest < Fraction(1, 2**100)


def test_a_time_is_as_narrow_as_was_asked_for_however_low_the_rate() -> None:
    times_of = PoissonTimes(Fraction(1, 10**6), Given([5, *[2**63] * 50]))
    times_of.draw(1)
    low, high = times_of.time(1, 90)
    assert high - low <= Fraction(1, 2**90)


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("noise", [GumbelNoise(), ExponentialNoise()])
def test_the_bounds_of_an_arrival_enclose_all_that_is_known_more_closely(noise: NoiseLaw) -> None:
    race = Race(envelope_of(range(20)), noise, system())
    race.run(50)
    race.times(np.array([50]))
    for number in range(1, 51):
        score = ArrivalScore(Fraction(3), Fraction(2), race, number)
        for precision in range(1, 20):
            assert score.lower(precision) <= score.lower(200) < score.upper(200) <= score.upper(precision)
        lower, upper = score.lower(60), score.upper(60)
        for _ in range(8):
            score.refine()
        assert lower <= score.lower(300) < score.upper(300) <= upper
