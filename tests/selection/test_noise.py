"""The acceptance of exponential noise, and the noise at a time, in floats and in balls.

What is under test: dpselect.selection.noise.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpselect.exact.enclosures import Enclosure, enclose
from dpselect.exact.vector_samplers import SLACK
from dpselect.selection.noise import NOISES, ExponentialNoise, NoiseName

NOISE = ExponentialNoise()
CLOSE = Fraction(SLACK) / 2


def expected_acceptance(weight: float, time: float) -> float:
    return 1 / (weight + (1 - weight) * math.exp(time))


def test_the_acceptance_at_a_time_in_an_interval_lies_between_those_at_its_ends() -> None:
    low, high = NOISE.acceptance_exactly(Fraction(1, 2), Enclosure(Fraction(1), Fraction(2)), 60)
    assert float(low) == pytest.approx(expected_acceptance(math.exp(-0.5), 2))
    assert float(high) == pytest.approx(expected_acceptance(math.exp(-0.5), 1))


@pytest.mark.parametrize(
    "error", [2.0**-40, 2.0**-34, 2.0**-33, 2.0**-32, 2.0**-31, 2.0**-28, 2.0**-20, 0.4, 3.0]
)
def test_an_estimate_is_close_whatever_the_time_is_within_its_error_or_there_is_none(error: float) -> None:
    log_weights, times = np.array([-1.0, -0.1, -5.0, -0.1]), np.array([1.0, 0.3, 2.0, 3.0])
    found = NOISE.acceptance(log_weights, times, np.full(4, error)).tolist()
    for estimate, log_weight, time in zip(found, log_weights.tolist(), times.tolist(), strict=True):
        for moved in (time - error, time + error):
            assert (
                math.isnan(estimate)
                or abs(expected_acceptance(math.exp(log_weight), moved) - estimate) <= SLACK / 2
            )
    assert error > 2.0**-40 or not any(map(math.isnan, found))


@pytest.mark.parametrize(
    ("gap_in_scales", "time"),
    [
        (Fraction(1), 30.0),
        (Fraction(1, 2**20), 30.0),
        (Fraction(1, 2**40), 45.0),
        (Fraction(1, 2**60), 60.0),
        (Fraction(1, 2**950), 690.0),
        (Fraction(1, 2**1020), 710.0),
    ],
)
def test_a_late_estimate_is_close_or_there_is_none(gap_in_scales: Fraction, time: float) -> None:
    estimate = NOISE.acceptance(np.array([-float(gap_in_scales)]), np.array([time]), np.zeros(1)).item()
    low, high = NOISE.acceptance_exactly(gap_in_scales, Enclosure(Fraction(time), Fraction(time)), 100)
    assert math.isnan(estimate) or low - CLOSE <= Fraction(estimate) <= high + CLOSE


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize("time", [2.0**-30, 0.5, 1.0, 7.25])
def test_noise_in_floats_lies_within_its_bound_of_the_noise_in_balls(name: NoiseName, time: float) -> None:
    formula = -math.log(time) if name == "gumbel" else -math.log(-math.expm1(-time))
    low, high = enclose(NOISES[name].noise_at, Fraction(time))
    (found,) = NOISES[name].noises_at(np.array([time])).tolist()
    assert abs(Fraction(found) - low) <= (1 + abs(high)) * Fraction(1, 2**41)
    assert float(low) == pytest.approx(formula, rel=1e-12)
