"""Random counts: how often a private program is run, so that its best result costs little more than one run.

The best of a fixed number of runs costs as much as all of them. A random number hides how many were worse.

Reference: Liu & Talwar 2019; Papernot & Steinke 2022, arXiv 2110.03620.
Proof:     repetition_counts.proof.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, TypeAlias

from dpselect.accounting.repetition import (
    NegativeBinomialRenyi,
    PoissonRenyi,
    log_odds_shift,
    probability_shift,
)
from dpselect.errors import InvalidParameter
from dpselect.exact.enclosures import Ball, Enclosure, enclose
from dpselect.exact.numbers import Number, positive, rational
from dpselect.exact.randomness import Randomness, checked
from dpselect.exact.unimodal import single_peaked
from dpselect.privacy.curves import Formula, RenyiCurve


@dataclass(frozen=True)
class TruncatedNegativeBinomial:
    """1, 2, ... runs, P(k) proportional to (1 - gamma)**k * (shape)(shape + 1)...(shape + k - 1) / k!."""

    shape: Fraction
    gamma: Fraction

    least: ClassVar = 1

    def draw(self, randomness: Randomness) -> int:
        """Draw a count."""
        return single_peaked(self, checked(randomness))

    @cached_property
    def mode(self) -> int:
        """The most likely count."""
        return max(1, math.floor(((1 - self.gamma) * self.shape - 1) / self.gamma) + 1)

    def mass_at_mode(self, precision: int) -> Enclosure:
        """Enclose the probability of the mode."""
        return enclose(
            self._mass_at_one if self.mode == 1 else self._mass_far_out,
            self.shape,
            self.gamma,
            precision=precision,
        )

    def ratio(self, k: int) -> tuple[int, int]:
        """Give P(k + 1) / P(k) = (1 - gamma)(k + shape) / (k + 1)."""
        (stop, of), (top, bottom) = self.gamma.as_integer_ratio(), self.shape.as_integer_ratio()
        return (of - stop) * (k * bottom + top), of * bottom * (k + 1)

    def _mass_at_one(self, shape: Ball, gamma: Ball) -> Ball:
        if self.shape == 0:
            return (1 - gamma) / -gamma.log()
        return shape * (1 - gamma) / (-shape * gamma.log()).expm1()

    def _mass_far_out(self, shape: Ball, gamma: Ball) -> Ball:
        ways = (shape + self.mode).lgamma() - shape.lgamma() - Ball(self.mode + 1).lgamma()
        return (ways + self.mode * (1 - gamma).log()).exp() / (-shape * gamma.log()).expm1()

    @cached_property
    def mean(self) -> Fraction:
        """Bound the expected count from above; exact where the law is geometric."""
        if self.shape == 1:
            return 1 / self.gamma
        if self.shape == 0:
            return enclose(lambda gamma: (1 / gamma - 1) / -gamma.log(), self.gamma).high
        return enclose(
            lambda shape, gamma: shape * (1 - gamma) / (gamma * -(shape * gamma.log()).expm1()),
            self.shape,
            self.gamma,
        ).high

    def repetition_cost(self, epsilon: Fraction, delta: Fraction) -> Fraction:
        """Bound what the choice of the best adds to epsilon, if one run is (epsilon, delta)-private."""
        return (1 + self.shape) * log_odds_shift(self.gamma, epsilon, delta)

    def renyi(self, curve: RenyiCurve) -> Formula:
        """Give the Rényi curve of the best run."""
        return NegativeBinomialRenyi(curve, self.mean, self.shape, self.gamma)


@dataclass(frozen=True)
class Poisson:
    """0, 1, 2, ... runs; none at all with probability exp(-mean)."""

    mean: Fraction

    least: ClassVar = 0

    def draw(self, randomness: Randomness) -> int:
        """Draw a count."""
        return single_peaked(self, checked(randomness))

    @property
    def mode(self) -> int:
        """A most likely count."""
        return math.floor(self.mean)

    def mass_at_mode(self, precision: int) -> Enclosure:
        """Enclose the probability of the mode."""

        def mass(mean: Ball) -> Ball:
            return (self.mode * mean.log() - mean - Ball(self.mode + 1).lgamma()).exp()

        return enclose(mass, self.mean, precision=precision)

    def ratio(self, k: int) -> tuple[int, int]:
        """Give P(k + 1) / P(k) = mean / (k + 1)."""
        top, bottom = self.mean.as_integer_ratio()
        return top, bottom * (k + 1)

    def repetition_cost(self, epsilon: Fraction, delta: Fraction) -> Fraction:
        """Bound what the choice of the best adds to epsilon, if one run is (epsilon, delta)-private."""
        return self.mean * probability_shift(epsilon, delta)

    def renyi(self, curve: RenyiCurve) -> Formula:
        """Give the Rényi curve of the best run."""
        return PoissonRenyi(curve, self.mean)


Count: TypeAlias = TruncatedNegativeBinomial | Poisson


def geometric(stop_probability: Number) -> TruncatedNegativeBinomial:
    """Run, then stop with the stop probability, or else run again: 1/stop_probability runs on average.

    >>> geometric("1/100").mean
    Fraction(100, 1)
    """
    return truncated_negative_binomial(1, _open(stop_probability, "stop_probability"))


def logarithmic(gamma: Number) -> TruncatedNegativeBinomial:
    """Run k times with probability (1 - gamma)**k / (k ln(1/gamma)): cheap, and often only once."""
    return truncated_negative_binomial(0, gamma)


def truncated_negative_binomial(shape: Number, gamma: Number) -> TruncatedNegativeBinomial:
    """Run at least once; shape 1 is geometric, 0 logarithmic, and the smaller the cheaper, down to -1.

    >>> truncated_negative_binomial(1, 0.5) == geometric(0.5)
    True
    """
    read = rational(shape, "shape")
    if not read > -1:
        raise InvalidParameter.must_be("shape", "above -1", got=shape)
    return TruncatedNegativeBinomial(read, _open(gamma, "gamma"))


def poisson(mean: Number) -> Poisson:
    """Run a Poisson number of times, perhaps never; expensive in pure privacy, cheap in Rényi privacy."""
    return Poisson(positive(mean, "mean"))


def _open(value: Number, name: str) -> Fraction:
    read = rational(value, name)
    if not 0 < read < 1:
        raise InvalidParameter.must_be(
            name, "above 0 and below 1", got=value, way_out="A smaller one means more runs."
        )
    return read
