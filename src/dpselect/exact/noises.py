"""Two noises, as a race sees them: who arrives when, and how high a noisy score an arrival time means.

A candidate of weight w = exp(-x) arrives

    with Gumbel noise        at rate w, and its noise is -ln(t);
    with exponential noise   by time t with probability w (1 - exp(-t)), and its noise is -ln(1 - exp(-t)).

So a proposal made at rate 2**-j >= w, at time t, must be accepted with probability

    with Gumbel noise        w 2**j;
    with exponential noise   w 2**j / (w + (1 - w) exp(t)).

Proof: noises.proof.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from dpselect.exact.enclosures import Ball, Enclosure, enclose
from dpselect.exact.psrn import Exponential, Gumbel

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

LATEST = 700.0
"""Beyond this time exp overflows; a coin is False by then, up to less than its filter allows for."""

RELATIVE_ROOM = 2.0**-43
ABSOLUTE_ROOM = 2.0**-53
"""By how much the error of a time may move an estimate."""


class Noise(Protocol):
    """What a race asks of a noise."""

    @property
    def number(self) -> type[Gumbel | Exponential]:
        """The noisy score of a single candidate."""

    @property
    def timed(self) -> bool:
        """Whether acceptance depends on the time."""

    def chances(self, behind: Floats, exponents: Indices, times: Floats, errors: Floats) -> Floats:
        """Estimate the probabilities of acceptance; NaN where the times are not known well enough."""

    def chance(self, behind: float, exponent: int, time: float, error: float) -> float:
        """Estimate one probability of acceptance."""

    def coin(self, behind: Fraction, exponent: int, time: Enclosure, precision: int) -> Enclosure:
        """Enclose the probability of acceptance at a time that is known to lie in an interval."""

    def height(self, time: Ball) -> Ball:
        """Give the noise of whoever arrives at a time; it decreases."""

    def heights(self, times: Floats) -> Floats:
        """Give the noise of those who arrive at positive times, in floats."""

    def quantiles(self, u: Floats) -> Floats:
        """Give the noise at quantiles, in floats, for 2**-10 <= u <= 1 - 2**-10."""


class GumbelNoise:
    """Gumbel noise: the race of the exponential mechanism."""

    number: ClassVar = Gumbel
    timed: ClassVar = False

    def chances(self, behind: Floats, exponents: Indices, times: Floats, errors: Floats) -> Floats:
        """Give w 2**j."""
        del times, errors
        return np.ldexp(np.exp(-behind), exponents)

    def chance(self, behind: float, exponent: int, time: float, error: float) -> float:
        """Give w 2**j."""
        del time, error
        return math.ldexp(math.exp(-behind), exponent)

    def coin(self, behind: Fraction, exponent: int, time: Enclosure, precision: int) -> Enclosure:
        """Enclose w 2**j."""
        del time
        return enclose(lambda x: (-x).exp() * 2**exponent, behind, precision=precision)

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

    def chances(self, behind: Floats, exponents: Indices, times: Floats, errors: Floats) -> Floats:
        """Give c 2**j with c = w / (w + (1 - w) exp(t)); an error of t moves ln(c) by 1 - c times as much."""
        weights, others = np.exp(-behind), -np.expm1(-behind)
        early = weights / (weights + others * np.exp(np.minimum(times, LATEST)))
        chances = np.ldexp(early, exponents)
        error = np.minimum(errors, 1.0)
        moved = chances * (1 - early) * error
        well_known = (error <= 0.5) & (2 * moved <= chances * RELATIVE_ROOM + ABSOLUTE_ROOM)
        return np.where(well_known, chances, math.nan)

    def chance(self, behind: float, exponent: int, time: float, error: float) -> float:
        """Give c 2**j, as ``chances`` does."""
        weight, other = math.exp(-behind), -math.expm1(-behind)
        early = weight / (weight + other * math.exp(min(time, LATEST)))
        chance = math.ldexp(early, exponent)
        well_known = (
            error <= 0.5 and 2 * chance * (1 - early) * error <= chance * RELATIVE_ROOM + ABSOLUTE_ROOM
        )
        return chance if well_known else math.nan

    def coin(self, behind: Fraction, exponent: int, time: Enclosure, precision: int) -> Enclosure:
        """Enclose w 2**j / (w + (1 - w) exp(t)), which decreases in t."""

        def chance(x: Ball, t: Ball) -> Ball:
            weight, other = (-x).exp(), -(-x).expm1()
            return weight / (weight + other * t.exp()) * Ball(2) ** exponent

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
