"""The k best of a few scores with exponential noise, drawn without a clock: coins and a shuffle.

Go down the k best scores, one after the other, ties too: each is a level. Whoever ranks below it comes out
between it and the level before with a probability in closed form; those that come out together are in random
order. Who is out already tosses all the same, and nothing comes of it: there are always as many coins.

Proof: top_k_by_levels.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import partial

from dpselect.exact.enclosures import Ball, Enclosure, enclose, exp
from dpselect.exact.numbers import rounded
from dpselect.exact.randomness import Randomness
from dpselect.exact.samplers import permutation
from dpselect.exact.vector_samplers import heads

NEAREST = 2.0**-900
"""Within so few scales of the level before, floats are not asked."""

NEVER, ALWAYS = Enclosure(Fraction(0), Fraction(0)), Enclosure(Fraction(1), Fraction(1))


def out_by_levels(
    scores: Mapping[int, Fraction], scale: Fraction, k: int, randomness: Randomness
) -> list[int]:
    """Draw the k best candidates, the best first; more is better."""
    parts = math.lcm(*(score.denominator for score in scores.values()))
    per_scale, finer = scale.numerator * parts, scale.denominator
    heights = {i: score.numerator * (parts // score.denominator) * finer for i, score in scores.items()}
    ranked = sorted(heights, key=heights.__getitem__, reverse=True)
    levels = [heights[i] for i in ranked]
    out_at = [*range(k), *[k] * (len(ranked) - k)]  # by rank: at its own level at the latest
    for level in range(k):
        randomness.mark((level, *out_at))
        fall = levels[level - 1] - levels[level] if level else None
        downs = [levels[level] - height for height in levels[level + 1 :]]
        for place in _tossed(downs, fall, per_scale, randomness):
            rank = level + 1 + place
            out_at[rank] = min(out_at[rank], level)
    randomness.mark((k, *out_at))
    order = sorted(permutation(len(ranked), randomness), key=out_at.__getitem__)
    return [ranked[rank] for rank in order[:k]]


def _tossed(downs: list[int], fall: int | None, per_scale: int, randomness: Randomness) -> list[int]:
    """Toss for candidates so far below a level, which lies a fall below the one before; give the heads.

    Without a level before, there is no fall. Whole numbers, so many of them to a scale.
    """
    ups = downs if fall is None else [down + fall for down in downs]
    share = math.expm1(-math.inf if fall is None else -rounded(fall, per_scale))
    estimates = [
        _estimate(rounded(down, per_scale), share, math.inf if fall is None else rounded(up, per_scale), up)
        for down, up in zip(downs, ups, strict=True)
    ]
    return heads(estimates, lambda i: partial(_chance, downs[i], fall, per_scale), randomness)


def _estimate(down: float, share: float, up: float, exact_up: int) -> float:
    """Estimate as ``_chance`` encloses; NaN if a float loses too much."""
    chance = math.exp(-down) * share / math.expm1(-max(up, NEAREST))
    return math.nan if up < NEAREST and exact_up else chance


def _chance(down: int, fall: int | None, per_scale: int, precision: int) -> Enclosure:
    """Enclose e**-d (1 - e**-f) / (1 - e**-(d + f)), in scales; without a level before, e**-d.

    If d and f are zero, the candidate is out, and any number will do.
    """
    if down == 0:
        return ALWAYS
    if fall is None:
        return exp(-Fraction(down, per_scale), precision)
    if fall == 0:
        return NEVER

    def formula(d: Ball, f: Ball, u: Ball) -> Ball:
        return (-d).exp() * (-f).expm1() / (-u).expm1()

    d, f = Fraction(down, per_scale), Fraction(fall, per_scale)
    return enclose(formula, d, f, d + f, precision=precision)
