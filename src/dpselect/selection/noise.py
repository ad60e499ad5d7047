"""Gumbel, exponential and Laplace noise, as a race of arrival times sees them.

A candidate with gap x (in scales) below the threshold has the weight w = exp(-x). Its noisy score is the
threshold plus noise that decreases in an arrival time t:

    with Gumbel noise        it arrives at rate w, and its noise is -ln(t);
    with exponential noise   it arrives by time t with probability w (1 - exp(-t)), never with probability
                             1 - w, and its noise is -ln(1 - exp(-t));
    with Laplace noise       it arrives as with exponential noise, but with half the probability. If it never
                             does, its noisy score is below the threshold, and is not drawn.

So the first to arrive has the best noisy score. Of the points of a Poisson process of rate w, the arrival is
the first with Gumbel noise; with the others it is the first to be accepted, at time t with probability
1 / (w + (o - w) exp(t)), where o is 1 for exponential noise and 2 for Laplace noise.

Proof: noise.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import isqrt
from typing import ClassVar, Literal, Protocol, TypeAlias

import numpy as np

from dpselect.exact.enclosures import Ball, Enclosure, enclose
from dpselect.exact.partial_numbers import Exponential, Gumbel, Laplace
from dpselect.exact.vector_samplers import SLACK
from dpselect.selection.scores import Floats

NoiseName: TypeAlias = Literal["gumbel", "exponential", "laplace"]

LATEST_TIME = 700.0
"""A time: exp of a later one overflows. By then a point is accepted with a probability below 2**-100, ..."""

LARGEST_LOG_WEIGHT = -(2.0**-900)
"""... provided that ln(w) is at most this."""

TIME_ERROR_ROOM = SLACK / 8
"""How much of a probability the error of a time may cost an estimate."""


class RaceLaw(Protocol):
    """What a race asks of a law of noise: arrival times, and the noise that belongs to them."""

    def threshold_rank(self, k: int) -> int:
        """Say relative to which rank of the scores to race, so that the k best are found."""

    @property
    def ties_arrive(self) -> bool:
        """Whether a candidate that ties with the threshold arrives for sure, at its first point."""

    @property
    def needs_times(self) -> bool:
        """Whether a point is accepted with a probability that depends on its time."""

    def acceptance(self, log_weights: Floats, times: Floats, errors: Floats) -> Floats:
        """Estimate the probabilities that points are accepted; NaN where the times are too uncertain."""

    def acceptance_exactly(self, gap_in_scales: Fraction, time: Enclosure, precision: int) -> Enclosure:
        """Enclose the probability that a point is accepted, at a time in an interval."""

    def noise_at(self, time: Ball) -> Ball:
        """Give the noise of an arrival at a time; it decreases in the time."""

    def noises_at(self, times: Floats) -> Floats:
        """Give the noise of arrivals at positive times, in floats."""


class NoiseLaw(RaceLaw, Protocol):
    """A law of noise on real numbers: what a race asks, and single noisy scores."""

    @property
    def partial_number(self) -> type[Gumbel | Exponential | Laplace]:
        """The class of a single noisy score, score + scale * noise, as a partially sampled number."""

    def quantiles(self, u: Floats) -> Floats:
        """Give the noise at quantiles, in floats, for 2**-20 <= u <= 1 - 2**-20."""


class GumbelNoise:
    """Gumbel noise: the race of the exponential mechanism."""

    partial_number: ClassVar = Gumbel
    needs_times: ClassVar = False
    ties_arrive: ClassVar = True

    def threshold_rank(self, k: int) -> int:
        """Give k."""
        return k

    def acceptance(self, log_weights: Floats, times: Floats, errors: Floats) -> Floats:
        """Give 1: the first point is the arrival."""
        del times, errors
        return np.ones(len(log_weights))

    def acceptance_exactly(self, gap_in_scales: Fraction, time: Enclosure, precision: int) -> Enclosure:
        """Enclose 1."""
        del gap_in_scales, time, precision
        return Enclosure(Fraction(1), Fraction(1))

    def noise_at(self, time: Ball) -> Ball:
        """Give -ln(t)."""
        return -time.log()

    def noises_at(self, times: Floats) -> Floats:
        """Give -ln(t)."""
        return -np.log(times)

    def quantiles(self, u: Floats) -> Floats:
        """Give -ln(-ln(u))."""
        return -np.log(-np.log(u))


class ExponentialNoise:
    """Exponential noise: the race of permute-and-flip."""

    partial_number: ClassVar = Exponential
    needs_times: ClassVar = True
    ties_arrive: ClassVar = True

    def threshold_rank(self, k: int) -> int:
        """Give k."""
        return k

    def acceptance(self, log_weights: Floats, times: Floats, errors: Floats) -> Floats:
        """Estimate 1 / (w + (1 - w) exp(t))."""
        return estimated_acceptance(log_weights, -np.expm1(log_weights), times, errors)

    def acceptance_exactly(self, gap_in_scales: Fraction, time: Enclosure, precision: int) -> Enclosure:
        """Enclose 1 / (w + (1 - w) exp(t)), which decreases in t."""

        def probability(x: Ball, t: Ball) -> Ball:
            return 1 / ((-x).exp() - (-x).expm1() * t.exp())

        return enclosed_acceptance(probability, gap_in_scales, time, precision)

    def noise_at(self, time: Ball) -> Ball:
        """Give -ln(1 - exp(-t))."""
        return excess_at(time)

    def noises_at(self, times: Floats) -> Floats:
        """Give -ln(1 - exp(-t))."""
        return excesses_at(times)

    def quantiles(self, u: Floats) -> Floats:
        """Give -ln(1 - u)."""
        return -np.log1p(-u)


class LaplaceNoise:
    """Laplace noise: exponential noise, or minus exponential noise, with probability one half each.

    The race finds noisy scores above its threshold alone. Of as many individual candidates as
    ``threshold_rank`` asks for, fewer than k exceed the threshold with a probability below 2**-25.
    """

    partial_number: ClassVar = Laplace
    needs_times: ClassVar = True
    ties_arrive: ClassVar = False

    def threshold_rank(self, k: int) -> int:
        """Give twice k, and six standard deviations more."""
        return 2 * k + 6 * isqrt(2 * k) + 28

    def acceptance(self, log_weights: Floats, times: Floats, errors: Floats) -> Floats:
        """Estimate 1 / (w + (2 - w) exp(t))."""
        return estimated_acceptance(log_weights, 1 - np.expm1(log_weights), times, errors)

    def acceptance_exactly(self, gap_in_scales: Fraction, time: Enclosure, precision: int) -> Enclosure:
        """Enclose 1 / (w + (2 - w) exp(t)), which decreases in t."""

        def probability(x: Ball, t: Ball) -> Ball:
            return 1 / ((-x).exp() + (1 - (-x).expm1()) * t.exp())

        return enclosed_acceptance(probability, gap_in_scales, time, precision)

    def noise_at(self, time: Ball) -> Ball:
        """Give -ln(1 - exp(-t))."""
        return excess_at(time)

    def noises_at(self, times: Floats) -> Floats:
        """Give -ln(1 - exp(-t))."""
        return excesses_at(times)

    def quantiles(self, u: Floats) -> Floats:
        """Give ln(2 u) below one half, and -ln(2 - 2 u) above."""
        return np.where(u <= 0.5, np.log(2 * u), -np.log(2 - 2 * u))


def estimated_acceptance(log_weights: Floats, others: Floats, times: Floats, errors: Floats) -> Floats:
    """Give p = 1 / (w + others * exp(t)); an error of t moves ln(p) by 1 - w p times as much."""
    weights = np.exp(log_weights)
    acceptance = 1 / (weights + others * np.exp(np.minimum(times, LATEST_TIME)))
    if np.maximum.reduce(errors, initial=0.0) <= TIME_ERROR_ROOM and times.max(initial=0.0) <= LATEST_TIME:
        return np.asarray(acceptance)
    error_in_acceptance = errors * acceptance * (1 - weights * acceptance)
    in_reach = (times <= LATEST_TIME) | (log_weights <= LARGEST_LOG_WEIGHT)
    return np.where(
        (errors <= 0.5) & (error_in_acceptance <= TIME_ERROR_ROOM) & in_reach, acceptance, math.nan
    )


def enclosed_acceptance(
    probability: Callable[[Ball, Ball], Ball], gap_in_scales: Fraction, time: Enclosure, precision: int
) -> Enclosure:
    """Enclose a probability that decreases in the time by its values at both ends of an interval."""
    return Enclosure(
        enclose(probability, gap_in_scales, time.high, precision=precision).low,
        enclose(probability, gap_in_scales, time.low, precision=precision).high,
    )


def excess_at(time: Ball) -> Ball:
    """Give -ln(1 - exp(-t)): by how much an arrival exceeds the threshold."""
    return -(-(-time).expm1()).log()


def excesses_at(times: Floats) -> Floats:
    """Give -ln(1 - exp(-t)) in floats."""
    return -np.log(-np.expm1(-times))


NOISES: Mapping[NoiseName, NoiseLaw] = {
    "gumbel": GumbelNoise(),
    "exponential": ExponentialNoise(),
    "laplace": LaplaceNoise(),
}
"""Every noise by its name."""
