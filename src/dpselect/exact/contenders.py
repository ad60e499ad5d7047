"""The k best noisy scores of a field, as numbers that can be compared with those of another field.

So selection merges: of two lists of contenders, the k best of both are the k best of the two fields together.

Proof: contenders.proof.md
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction
from functools import cmp_to_key, partial
from itertools import islice
from typing import Any

import numpy as np

from dpselect.exact.envelope import Envelope
from dpselect.exact.field import Field, Floats, Indices
from dpselect.exact.noises import Noise
from dpselect.exact.numbers import to_float_down, to_float_up
from dpselect.exact.psrn import Exponential, Gumbel
from dpselect.exact.race import ArrivalNumber, Race
from dpselect.exact.randomness import Randomness

FIRST_BATCH = 128
LARGEST_BATCH = 4096
SLACK = 2.0**-40
"""By how much, relatively, a float noisy score may be wrong."""


class Contender:
    """A candidate and its noisy score: floats that certainly lie below and above it, and the number itself.

    The number is made when a comparison first needs it, and kept, with the bits that it has drawn.
    """

    __slots__ = ("_make", "_number", "candidate", "high", "low")

    def __init__(self, candidate: int, low: float, high: float, make: Callable[[], Any]) -> None:
        """Note how the number is made."""
        self.candidate = candidate
        self.low = low
        self.high = high
        self._make = make
        self._number: Any = None

    @property
    def number(self) -> Any:  # noqa: ANN401 - whatever compares by greater_than
        """The noisy score, exactly."""
        if self._number is None:
            self._number = self._make()
        return self._number

    def beats(self, other: Contender) -> bool:
        """Compare noisy scores: by the floats where they tell, exactly where they do not."""
        if self.low >= other.high or other.low >= self.high:
            return self.low >= other.high
        return bool(self.number.greater_than(other.number))


class Noiseless:
    """A score without noise; of two equal ones, the one that is asked comes first."""

    def __init__(self, score: Fraction) -> None:
        """Keep the score."""
        self.score = score

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


@np.errstate(over="ignore")
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
    stars = _stars(field, lead.ahead, scale, noise, randomness)
    race = Race(Envelope(field, lead, scale), noise, randomness)
    batch = batch or min(max(FIRST_BATCH, 4 * k), LARGEST_BATCH)
    while True:
        race.run(batch)
        (to_come,) = _arrived(race, {-1: race.proposed})
        ahead_of_them = bisect_left(stars, 1, key=lambda star: 0 if star.beats(to_come) else 1)
        missing = k - ahead_of_them - len(race.arrivals)
        if missing <= 0:
            return merged(stars, _arrived(race, dict(islice(race.arrivals.items(), k))), k)
        expected = 5 * missing * race.proposed // (4 * len(race.arrivals) + 1)
        batch = max(batch, min(expected, LARGEST_BATCH))


def _noiseless(field: Field, k: int) -> list[Contender] | None:
    order = field.order(k)
    if order is None:
        return None
    scores = [field.score(i) for i in order]
    return [
        Contender(i, to_float_down(x), to_float_up(x), partial(Noiseless, x))
        for i, x in zip(order, scores, strict=True)
    ]


def _stars(
    field: Field, candidates: Indices, scale: Fraction, noise: Noise, randomness: Randomness
) -> list[Contender]:
    """Give each candidate a noisy score of its own, with its first word drawn; sort them."""
    words = randomness.words(len(candidates))
    step = 2.0**-randomness.width
    below = words.astype(np.float64) * step
    usual = (below >= 2.0**-10) & (below + step <= 1 - 2.0**-10)
    low, high = np.where(usual, below, 0.5), np.where(usual, below + step, 0.5)
    lows, highs = _around(field.float_scores(candidates), scale, noise.quantiles(low), noise.quantiles(high))
    for i in (~usual).nonzero()[0].tolist():
        number = _begun(field, candidates.item(i), scale, noise, randomness, words.item(i))
        lows[i], highs[i] = to_float_down(number.lower(64)), to_float_up(number.upper(64))
    order = (-lows).argsort()
    stars = [
        Contender(
            candidates.item(i),
            lows.item(i),
            highs.item(i),
            partial(_begun, field, candidates.item(i), scale, noise, randomness, words.item(i)),
        )
        for i in order.tolist()
    ]
    if not (lows[order[:-1]] >= highs[order[1:]]).all():
        stars.sort(key=cmp_to_key(lambda ours, theirs: -1 if ours.beats(theirs) else 1))
    return stars


def _begun(  # noqa: PLR0913, PLR0917 - all that one number needs
    field: Field, candidate: int, scale: Fraction, noise: Noise, randomness: Randomness, word: int
) -> Gumbel | Exponential:
    number = noise.number(field.score(candidate), scale, randomness)
    number.append(word)
    return number


def _arrived(race: Race, arrivals: dict[int, int]) -> list[Contender]:
    """Give those who arrived at these ticks; each beats all who arrive later."""
    ticks = np.array(list(arrivals.values()), dtype=np.int64)
    times, errors = race.times(ticks)
    envelope = race.envelope
    shift, scale = envelope.field.turned(envelope.lead.base), envelope.scale
    early = times - errors
    highest = np.where(early > 0, race.noise.heights(np.maximum(early, 2.0**-1000)), math.inf)
    start = np.full(len(ticks), to_float_down(shift))
    lows, highs = _around(start, scale, race.noise.heights(times + errors), highest)
    return [
        Contender(candidate, low, high, partial(ArrivalNumber, shift, scale, race, tick))
        for (candidate, tick), low, high in zip(arrivals.items(), lows.tolist(), highs.tolist(), strict=True)
    ]


def _around(start: Floats, scale: Fraction, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Bound score + scale * noise, for scores and noise in floats that may be slightly wrong."""
    if not (2.0**-1000 < scale < 2.0**1000 and (np.abs(start) < 2.0**1000).all()):
        return np.full(len(start), -math.inf), np.full(len(start), math.inf)
    step = float(scale)
    with np.errstate(over="ignore"):
        return (
            start + step * low - SLACK * (np.abs(start) + step * (np.abs(low) + 1)),
            start + step * high + SLACK * (np.abs(start) + step * (np.abs(high) + 1)),
        )
