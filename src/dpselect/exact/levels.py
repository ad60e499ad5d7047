"""The k best of a few scores with exponential noise, drawn without a clock: coins and a shuffle.

Go down the scores, level by level: the level is the best score of those that remain. Each of them comes out
between it and the level before with a probability in closed form; those that come out together are in random
order.

Proof: levels.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import partial

from dpselect.exact.batches import heads
from dpselect.exact.enclosures import Ball, Enclosure, enclose
from dpselect.exact.randomness import Randomness
from dpselect.exact.samplers import permutation

FARTHEST, NEAREST = 2**9, Fraction(1, 2**900)
"""Beyond so many scales, or within so few, floats are not asked."""


def out_by_levels(scores: Mapping[int, Fraction], k: int, randomness: Randomness) -> list[int]:
    """Draw the k best candidates, the best first; scores are in units of the scale, more is better."""
    out: list[int] = []
    remaining = dict(scores)
    before: Fraction | None = None
    while len(out) < k:
        level = max(remaining.values())
        together = [
            candidate
            for candidate, score in remaining.items()
            if _comes_out(level - score, None if before is None else before - score, randomness)
        ]
        out.extend(together[place] for place in permutation(len(together), randomness))
        for candidate in together:
            del remaining[candidate]
        before = level
    return out[:k]


def _comes_out(down: Fraction, up: Fraction | None, randomness: Randomness) -> bool:
    """Toss the coin of a candidate ``down`` below the level, and ``up`` below the level before."""
    if down == 0:
        return True
    return bool(heads([_estimate(down, up)], lambda _: partial(_chance, down, up), randomness))


def _estimate(down: Fraction, up: Fraction | None) -> float:
    if down > FARTHEST or (up is not None and (up - down > FARTHEST or up < NEAREST)):
        return math.nan
    chance = math.exp(-down)
    return chance if up is None else chance * math.expm1(float(down - up)) / math.expm1(-float(up))


def _chance(down: Fraction, up: Fraction | None, precision: int) -> Enclosure:
    """Enclose e**-down (1 - e**-(up - down)) / (1 - e**-up); without a level before, e**-down."""
    if up is None:
        return enclose(lambda d: (-d).exp(), down, precision=precision)

    def formula(d: Ball, u: Ball, between: Ball) -> Ball:
        return (-d).exp() * (-between).expm1() / (-u).expm1()

    return enclose(formula, down, up, up - down, precision=precision)
