"""Discrete Laplace noise on whole scores: noisy counts that are whole numbers, in an order without ties.

The noise Z of a score is a whole number with probability in proportion to exp(-|z| / scale). Ties are broken
by fractions F that are independent of everything: the number is s + Z + F. Above any whole T it looks like
exponential noise, so the same race finds the best ones; a candidate with gap x arrives with probability
exp(-x / scale) / (1 + exp(-1 / scale)).

Proof: discrete_laplace.proof.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from dpselect.exact.counted_numbers import CountedNumber
from dpselect.exact.discrete_laplaces import LARGEST_SCALE, discrete_laplaces
from dpselect.exact.enclosures import Ball, Enclosure
from dpselect.exact.randomness import Randomness
from dpselect.exact.rounding import to_float_down, to_float_up
from dpselect.selection.noise import (
    NOISES,
    enclosed_acceptance,
    estimated_acceptance,
    excess_at,
    excesses_at,
)
from dpselect.selection.noisy_scores import NoisyScores
from dpselect.selection.scores import Floats, Indices, ScoreVector

LEAST_SCALE = Fraction(1, 8)
"""From this scale on, fractions are computed in floats, ..."""

FRACTION_ERROR, COUNT_ERROR = 2.0**-35, 2.0**-50
"""... with at most this error; and the error of a sum, relative to the count."""


@dataclass(frozen=True)
class WholeLaplaceNoise:
    """Discrete Laplace noise of one scale, as a race of arrival times sees it."""

    scale: Fraction

    needs_times: ClassVar = True
    ties_arrive: ClassVar = False

    @cached_property
    def decay(self) -> float:
        """exp(-1 / scale), as a float."""
        return math.exp(-float(1 / self.scale)) if self.scale > Fraction(1, 1000) else 0.0

    def threshold_rank(self, k: int) -> int:
        """Give the rank of Laplace noise: a score is at least as likely to stay or rise as to fall."""
        return NOISES["laplace"].threshold_rank(k)

    def acceptance(self, log_weights: Floats, times: Floats, errors: Floats) -> Floats:
        """Estimate 1 / (w + (1 + exp(-1/scale) - w) exp(t))."""
        return estimated_acceptance(log_weights, self.decay - np.expm1(log_weights), times, errors)

    def acceptance_exactly(self, gap_in_scales: Fraction, time: Enclosure, precision: int) -> Enclosure:
        """Enclose 1 / (w + (1 + exp(-1/scale) - w) exp(t)), which decreases in t."""
        rate = -1 / self.scale

        def probability(x: Ball, t: Ball) -> Ball:
            others = (Ball(rate.numerator) / rate.denominator).exp() - (-x).expm1()
            return 1 / ((-x).exp() + others * t.exp())

        return enclosed_acceptance(probability, gap_in_scales, time, precision)

    def noise_at(self, time: Ball) -> Ball:
        """Give -ln(1 - exp(-t))."""
        return excess_at(time)

    def noises_at(self, times: Floats) -> Floats:
        """Give -ln(1 - exp(-t))."""
        return excesses_at(times)

    def individual(self, vector: ScoreVector, candidates: Indices, randomness: Randomness) -> NoisyScores:
        """Give each candidate a noisy count, drawn whole, and a fraction of which one word is drawn."""
        noise = discrete_laplaces(self.scale, len(candidates), randomness)
        counts = [
            int(vector.score(candidate)) + z for candidate, z in zip(candidates.tolist(), noise, strict=True)
        ]
        least = np.array([to_float_down(count) for count in counts], dtype=float)
        most = np.array([to_float_up(count) for count in counts], dtype=float)
        words, step = randomness.words(len(candidates)), 2.0**-randomness.width
        low, high = self._fractions(words.astype(np.float64) * step, step)
        lows = np.maximum(least, least + low - COUNT_ERROR * np.abs(least))
        highs = most + high + COUNT_ERROR * np.abs(most)

        def number(i: int) -> CountedNumber:
            begun = CountedNumber(counts[i], self.scale, randomness)
            begun.append(words.item(i))
            return begun

        return NoisyScores(candidates, (lows, highs), number)

    def _fractions(self, below: Floats, step: float) -> tuple[Floats, Floats]:
        """Bound fractions whose uniform number lies between ``below`` and ``below + step``."""
        if not LEAST_SCALE <= self.scale <= LARGEST_SCALE:
            return np.zeros(len(below)), np.ones(len(below))
        spread = float(self.scale)
        fall = math.expm1(-1 / spread)
        low, high = (-spread * np.log1p(u * fall) for u in (below, np.minimum(below + step, 1)))
        return low - FRACTION_ERROR, high + FRACTION_ERROR
