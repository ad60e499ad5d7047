"""Two noises, as a race sees them: who arrives when, and how high a noisy score an arrival time means.

A candidate of weight w = exp(-x) arrives

    with Gumbel noise        at rate w, and its noise is -ln(t);
    with exponential noise   by time t with probability w (1 - exp(-t)), and its noise is -ln(1 - exp(-t)).

So of the points of a Poisson process of rate w, the first is the arrival with Gumbel noise; with exponential
noise it is the first to pass a coin of probability 1 / (w + (1 - w) exp(t)).

Proof: noise.proof.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar, Protocol

import numpy as np

from dpselect.exact.enclosures import Ball, Enclosure, enclose
from dpselect.exact.partial_numbers import Exponential, Gumbel
from dpselect.exact.vector_samplers import SLACK
from dpselect.selection.scores import Floats

LATEST = 700.0
"""Beyond this time exp overflows; a coin is False by then, up to less than its filter allows for, ..."""

CLEARLY_BEHIND = -(2.0**-900)
"""... if the logarithm of the weight is at most this."""

TIME_ROOM = SLACK / 8
"""By how much the error of a time may move an estimate."""


class Noise(Protocol):
    """What a race asks of a noise."""

    @property
    def number(self) -> type[Gumbel | Exponential]:
        """The noisy score of a single candidate."""

    @property
    def timed(self) -> bool:
        """Whether a coin, of a chance that depends on the time, decides which point is the arrival."""

    def chances(self, log_weights: Floats, times: Floats, errors: Floats) -> Floats:
        """Estimate the chances of points; NaN where the times are not known well enough."""

    def coin(self, behind: Fraction, time: Enclosure, precision: int) -> Enclosure:
        """Enclose the chance of a point at a time that is known to lie in an interval."""

    def height(self, time: Ball) -> Ball:
        """Give the noise of whoever arrives at a time; it decreases."""

    def heights(self, times: Floats) -> Floats:
        """Give the noise of those who arrive at positive times, in floats."""

    def quantiles(self, u: Floats) -> Floats:
        """Give the noise at quantiles, in floats, for 2**-20 <= u <= 1 - 2**-20."""


class GumbelNoise:
    """Gumbel noise: the race of the exponential mechanism."""

    number: ClassVar = Gumbel
    timed: ClassVar = False

    def chances(self, log_weights: Floats, times: Floats, errors: Floats) -> Floats:
        """Give 1: every first point is the arrival."""
        del times, errors
        return np.ones(len(log_weights))

    def coin(self, behind: Fraction, time: Enclosure, precision: int) -> Enclosure:
        """Enclose 1."""
        del behind, time, precision
        return Enclosure(Fraction(1), Fraction(1))

    def height(self, time: Ball) -> Ball:
        """Give -ln(t)."""
        return -time.log()

    def heights(self, times: Floats) -> Floats:
        """Give -ln(t)."""
        return -np.log(times)

    def quantiles(self, u: Floats) -> Floats:
        """Give -ln(-ln(u))."""
        return -np.log(-np.log(u))


class ExponentialNoise:
    """Exponential noise: the race of permute-and-flip."""

    number: ClassVar = Exponential
    timed: ClassVar = True

    def chances(self, log_weights: Floats, times: Floats, errors: Floats) -> Floats:
        """Give c / w with c = w / (w + (1 - w) exp(t)); an error of t moves ln(c) by 1 - c times as much."""
        weights = np.exp(log_weights)
        chances = 1 / (weights - np.expm1(log_weights) * np.exp(np.minimum(times, LATEST)))
        if np.maximum.reduce(errors, initial=0.0) <= TIME_ROOM and times.max(initial=0.0) <= LATEST:
            return np.asarray(chances)
        moved = errors * chances * (1 - weights * chances)
        in_reach = (times <= LATEST) | (log_weights <= CLEARLY_BEHIND)
        return np.where((errors <= 0.5) & (moved <= TIME_ROOM) & in_reach, chances, math.nan)

    def coin(self, behind: Fraction, time: Enclosure, precision: int) -> Enclosure:
        """Enclose 1 / (w + (1 - w) exp(t)), which decreases in t."""

        def chance(x: Ball, t: Ball) -> Ball:
            return 1 / ((-x).exp() - (-x).expm1() * t.exp())

        return Enclosure(
            enclose(chance, behind, time.high, precision=precision).low,
            enclose(chance, behind, time.low, precision=precision).high,
        )

    def height(self, time: Ball) -> Ball:
        """Give -ln(1 - exp(-t))."""
        return -(-(-time).expm1()).log()

    def heights(self, times: Floats) -> Floats:
        """Give -ln(1 - exp(-t))."""
        return -np.log(-np.expm1(-times))

    def quantiles(self, u: Floats) -> Floats:
        """Give -ln(1 - u)."""
        return -np.log1p(-u)
