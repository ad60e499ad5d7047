"""The k best noisy scores of a field, as numbers that can be compared with those of another field.

So selection merges: of two lists of contenders, the k best of both are the k best of the two fields together.

Proof: contenders.proof.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key
from typing import Any

from dpselect.exact.envelope import Envelope
from dpselect.exact.field import Field
from dpselect.exact.noises import Noise
from dpselect.exact.numbers import to_float_down, to_float_up
from dpselect.exact.race import ArrivalNumber, Race
from dpselect.exact.randomness import Randomness

FIRST_BATCH = 128
LARGEST_BATCH = 4096
SLACK = 2.0**-40
"""By how much, relatively, a float noisy score may be wrong."""


@dataclass(frozen=True)
class Contender:
    """A candidate, its noisy score, and floats that certainly lie below and above it."""

    candidate: int
    number: Any
    low: float
    high: float

    def beats(self, other: Contender) -> bool:
        """Compare noisy scores: by the floats where they tell, exactly where they do not."""
        if self.low >= other.high or other.low >= self.high:
            return self.low >= other.high
        return bool(self.number.greater_than(other.number))

    def renumbered(self, candidate: int) -> Contender:
        """Give the same contender under another index."""
        return Contender(candidate, self.number, self.low, self.high)


@dataclass(frozen=True)
class Noiseless:
    """A score without noise; of two equal ones, the one that is asked comes first."""

    score: Fraction

    def greater_than(self, other: Noiseless) -> bool:
        """Compare."""
        return self.score >= other.score


def merged(ours: list[Contender], theirs: list[Contender], k: int) -> list[Contender]:
    """Merge two lists, each with its best first, and keep the k best."""
    best: list[Contender] = []
    i = j = 0
    while len(best) < k and (i < len(ours) or j < len(theirs)):
        if j == len(theirs) or (i < len(ours) and ours[i].beats(theirs[j])):
            best.append(ours[i])
            i += 1
        else:
            best.append(theirs[j])
            j += 1
    return best


def contenders(  # noqa: PLR0913 - the draw's own parameters, and where they are drawn from
    field: Field, k: int, scale: Fraction, noise: Noise, randomness: Randomness, *, batch: int | None = None
) -> list[Contender] | None:
    """Draw the k best of a field, the best first; None if fewer than k may win.

    The candidates ahead of the k-th best score get numbers of their own, the others race relative to it.
    """
    if scale == 0:
        return _noiseless(field, k)
    lead = field.leaders(k)
    if lead is None:
        return None
    base, ahead = lead
    stars = [_star(i, field.score(i), scale, noise, randomness) for i in ahead.tolist()]
    stars.sort(key=cmp_to_key(lambda a, b: -1 if a.beats(b) else 1))
    race = Race(Envelope(field, base, scale), noise, randomness)
    batch = batch or min(max(FIRST_BATCH, 4 * k), LARGEST_BATCH)
    while True:
        race.run(batch)
        to_come = _arrived(race, field.turned(base), -1, race.proposed)
        ahead_of_them = next((i for i, star in enumerate(stars) if not star.beats(to_come)), len(stars))
        if len(race.arrivals) + ahead_of_them >= k:
            break
        batch = min(2 * batch, LARGEST_BATCH)
    first = list(race.arrivals.items())[:k]
    return merged(stars, [_arrived(race, field.turned(base), who, tick) for who, tick in first], k)


def _arrived(race: Race, shift: Fraction, candidate: int, tick: int) -> Contender:
    """Give whoever arrived at a tick; it beats all who arrive later."""
    times, errors = race.timetable()
    late, early = times[tick - 1] + errors[tick - 1], times[tick - 1] - errors[tick - 1]
    highest = race.noise.float_height(early) if early > 0 else math.inf
    scale = race.envelope.scale
    bounds = _around(shift, scale, race.noise.float_height(late), highest)
    return Contender(candidate, ArrivalNumber(shift, scale, race, tick), *bounds)


def _noiseless(field: Field, k: int) -> list[Contender] | None:
    order = field.order(k)
    if order is None:
        return None
    scores = [field.score(i) for i in order]
    return [
        Contender(i, Noiseless(x), to_float_down(x), to_float_up(x))
        for i, x in zip(order, scores, strict=True)
    ]


def _star(
    candidate: int, score: Fraction, scale: Fraction, noise: Noise, randomness: Randomness
) -> Contender:
    """Give one candidate a noisy score of its own, with its first word drawn."""
    number = noise.number(score, scale, randomness)
    word = randomness.word()
    number.append(word)
    low, high = word * 2.0**-randomness.width, (word + 1) * 2.0**-randomness.width
    if low >= 2.0**-10 and high <= 1 - 2.0**-10:
        return Contender(candidate, number, *_around(score, scale, noise.quantile(low), noise.quantile(high)))
    return Contender(candidate, number, to_float_down(number.lower(64)), to_float_up(number.upper(64)))


def _around(shift: Fraction, scale: Fraction, low: float, high: float) -> tuple[float, float]:
    """Bound shift + scale * noise for noise between two floats that may be slightly wrong."""
    if not (abs(shift) < 2**1000 and 2.0**-1000 < scale < 2**1000):
        return -math.inf, math.inf
    start, step = float(shift), float(scale)
    return (
        start + step * low - SLACK * (abs(start) + step * (abs(low) + 1)),
        start + step * high + SLACK * (abs(start) + step * (abs(high) + 1)),
    )
