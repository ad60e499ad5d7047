"""The k best of a few scores with exponential noise, drawn with coins and a shuffle: no times, no noise.

The k best scores are *levels*, ties included. Go down the levels: a candidate whose noisy score lies between
a level and the level before it is *out* at that level, which has a probability in closed form. Candidates
that are out at the same level are in uniformly random order. Candidates that are out already toss as well, to
no effect, so that the number of coins does not depend on the scores.

Proof: top_k_by_levels.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import partial

from dpselect.exact.enclosures import Ball, Enclosure, enclose, exp
from dpselect.exact.randomness import Randomness
from dpselect.exact.rounding import rounded
from dpselect.exact.samplers import permutation
from dpselect.exact.vector_samplers import bernoulli_successes

NEAREST_IN_SCALES = 2.0**-900
"""In scales: candidates closer to the level before, but not tied with it, are left to exact arithmetic."""

_IMPOSSIBLE, _CERTAIN = Enclosure(Fraction(0), Fraction(0)), Enclosure(Fraction(1), Fraction(1))


def draw_by_levels(
    scores: Mapping[int, Fraction], scale: Fraction, k: int, randomness: Randomness
) -> list[int]:
    """Draw the k best of oriented scores, the best first."""
    parts = math.lcm(*(score.denominator for score in scores.values()))
    per_scale, finer = scale.numerator * parts, scale.denominator
    integer_scores = {
        i: score.numerator * (parts // score.denominator) * finer for i, score in scores.items()
    }
    ranked = sorted(integer_scores, key=integer_scores.__getitem__, reverse=True)
    levels = [integer_scores[i] for i in ranked]
    level_of = [
        *range(k),
        *[k] * (len(ranked) - k),
    ]  # by rank: a candidate is out at its own level at the latest
    for level in range(k):
        randomness.mark((level, *level_of))
        level_gap = levels[level - 1] - levels[level] if level else None
        gaps_below = [levels[level] - integer_score for integer_score in levels[level + 1 :]]
        for position in _ranks_out(gaps_below, level_gap, per_scale, randomness):
            rank = level + 1 + position
            level_of[rank] = min(level_of[rank], level)
    randomness.mark((k, *level_of))
    order = sorted(permutation(len(ranked), randomness), key=level_of.__getitem__)
    return [ranked[rank] for rank in order[:k]]


def _ranks_out(
    gaps_below: list[int], level_gap: int | None, per_scale: int, randomness: Randomness
) -> list[int]:
    """Toss for the candidates with these gaps below a level; give the positions of those that are out there.

    ``level_gap`` is the distance to the level before, None for the first level. All gaps are integers, in
    units of which ``per_scale`` are one scale.
    """
    gaps_to_previous = (
        gaps_below if level_gap is None else [gap_below + level_gap for gap_below in gaps_below]
    )
    expm1_level_gap = math.expm1(-math.inf if level_gap is None else -rounded(level_gap, per_scale))
    estimates = [
        _float_probability(
            rounded(gap_below, per_scale),
            expm1_level_gap,
            math.inf if level_gap is None else rounded(gap_to_previous, per_scale),
            gap_to_previous,
        )
        for gap_below, gap_to_previous in zip(gaps_below, gaps_to_previous, strict=True)
    ]
    return bernoulli_successes(
        estimates, lambda i: partial(_enclosed_probability, gaps_below[i], level_gap, per_scale), randomness
    )


def _float_probability(
    gap_below: float, expm1_level_gap: float, gap_to_previous: float, exact_gap_to_previous: int
) -> float:
    """Estimate what ``_enclosed_probability`` encloses; NaN where floats lose too much."""
    probability = (
        math.exp(-gap_below) * expm1_level_gap / math.expm1(-max(gap_to_previous, NEAREST_IN_SCALES))
    )
    return math.nan if gap_to_previous < NEAREST_IN_SCALES and exact_gap_to_previous else probability


def _enclosed_probability(gap_below: int, level_gap: int | None, per_scale: int, precision: int) -> Enclosure:
    """Enclose exp(-d) (1 - exp(-f)) / (1 - exp(-(d + f))) with d = gap_below, f = level_gap in scales.

    At the first level it is exp(-d). If d and f are both zero, the candidate is out already, and any number
    is right.
    """
    if gap_below == 0:
        return _CERTAIN
    if level_gap is None:
        return exp(-Fraction(gap_below, per_scale), precision)
    if level_gap == 0:
        return _IMPOSSIBLE

    def formula(d: Ball, f: Ball, u: Ball) -> Ball:
        return (-d).exp() * (-f).expm1() / (-u).expm1()

    d, f = Fraction(gap_below, per_scale), Fraction(level_gap, per_scale)
    return enclose(formula, d, f, d + f, precision=precision)
