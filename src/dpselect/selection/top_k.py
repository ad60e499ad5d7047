"""The k best noisy scores of a field, as numbers that can be compared with those of another field.

So selection merges: of two lists of contenders, the k best of both are the k best of the two fields together.

Proof: top_k.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cmp_to_key, partial
from itertools import islice
from typing import Any

import numpy as np

from dpselect.exact.float_errors import quiet
from dpselect.exact.numbers import rounded, to_float_down, to_float_up
from dpselect.exact.partial_numbers import Exponential, Gumbel
from dpselect.exact.randomness import Randomness
from dpselect.selection.envelope import Envelope, rough
from dpselect.selection.noise import Noise
from dpselect.selection.race import ArrivalNumber, Race
from dpselect.selection.scores import Field, Floats, Indices

FIRST_BATCH, SMALL_BATCH, LARGEST_BATCH = 128, 512, 4096
NEAREST_END, STEEPEST = 2.0**-20, 2.0**21
"""Of a uniform number no nearer to 0 or 1 floats know the quantile, which rises by no more than this."""

SCORE_SLACK, NOISE_SLACK = 2.0**-50, 2.0**-30
"""By how much a float noisy score may be wrong, as a part of the score, and of the scale."""


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
        self._make: Callable[[], Any] | None = make
        self._number: Any = None

    @property
    def number(self) -> Any:
        """The noisy score, exactly; once it is made, the scores are let go of."""
        if self._make is not None:
            self._number, self._make = self._make(), None
        return self._number

    def settled(self) -> Contender:
        """Make the number now: scores may change later, and are not to be held."""
        _ = self.number
        return self

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


class Board:
    """Candidates with their noisy scores, in arrays; the contenders are made when somebody asks for them."""

    def __init__(
        self, candidates: Indices, bounds: tuple[Floats, Floats], number: Callable[[int], Any]
    ) -> None:
        """Note the bounds, and how the number of the i-th is made."""
        self.candidates = candidates
        self.lows, self.highs = bounds
        self._number = number
        self._made: dict[int, Contender] = {}

    def __getitem__(self, i: int) -> Contender:
        """Give the i-th contender, always the same."""
        if i not in self._made:
            low, high = self.lows.item(i), self.highs.item(i)
            self._made[i] = Contender(self.candidates.item(i), low, high, partial(self._number, i))
        return self._made[i]

    def in_order(self) -> list[Contender]:
        """Sort the contenders, the best first."""
        order = (-self.lows).argsort()
        contenders = [self[i] for i in order.tolist()]
        if not _are_apart(self.lows[order], self.highs[order]):
            contenders.sort(key=cmp_to_key(lambda ours, theirs: -1 if ours.beats(theirs) else 1))
        return contenders

    def ahead_of(self, other: Contender) -> int:
        """Count the contenders that beat another."""
        surely, perhaps = self.lows >= other.high, self.highs >= other.low
        ahead = int(np.count_nonzero(surely))
        if np.count_nonzero(perhaps) > ahead:
            ahead += sum(self[i].beats(other) for i in (perhaps & ~surely).nonzero()[0].tolist())
        return ahead


def _are_apart(lows: Floats, highs: Floats) -> bool:
    """Say whether bounds, sorted downwards, do not overlap."""
    return bool((lows[:-1] >= highs[1:]).all())


@quiet
def winners(  # noqa: PLR0913 - the draw's own parameters, and where they are drawn from
    field: Field, k: int, scale: Fraction, noise: Noise, randomness: Randomness, *, batch: int | None = None
) -> list[int] | None:
    """Draw the k best of a field, the best first; None if fewer than k may win."""
    drawn = _drawn(field, k, scale, noise, randomness, batch)
    if drawn is None:
        return None
    stars, arrived = drawn
    lows, highs = np.append(stars.lows, arrived.lows), np.append(stars.highs, arrived.highs)
    order = (-lows).argsort()
    if _are_apart(lows[order], highs[order]):
        best: list[int] = np.append(stars.candidates, arrived.candidates)[order[:k]].tolist()
        return best
    return [one.candidate for one in _merged_boards(stars, arrived, k)]


@quiet
def contenders(  # noqa: PLR0913 - the draw's own parameters, and where they are drawn from
    field: Field, k: int, scale: Fraction, noise: Noise, randomness: Randomness, *, batch: int | None = None
) -> list[Contender] | None:
    """Draw the k best of a field, to be merged with those of others; None if fewer than k may win."""
    if scale == 0:
        return _noiseless(field, k)
    drawn = _drawn(field, k, scale, noise, randomness, batch)
    if drawn is None:
        return None
    return [one.settled() for one in _merged_boards(*drawn, k)]


def _merged_boards(stars: Board, arrived: Board, k: int) -> list[Contender]:
    return merged(stars.in_order(), [arrived[i] for i in range(len(arrived.candidates))], k)


def _drawn(  # noqa: PLR0913, PLR0917 - the draw's own parameters, and where they are drawn from
    field: Field, k: int, scale: Fraction, noise: Noise, randomness: Randomness, batch: int | None
) -> tuple[Board, Board] | None:
    """Draw the stars, and race until the k best are among them and the arrivals.

    The k - 1 best candidates get numbers of their own, whether they are ahead of the k-th best score or tie
    with it, so that ties do not show in the time; the others race relative to it.
    """
    lead = field.leaders(k)
    if lead is None:
        return None
    stars = _stars(field, lead.stars, scale, noise, randomness)
    race = Race(Envelope(field, lead, scale, randomness.width), noise, randomness)
    largest = min(max(SMALL_BATCH, 32 * k), LARGEST_BATCH)
    batch = batch or min(max(FIRST_BATCH, 4 * k), largest)
    while True:
        race.run(batch, k)
        arrived = _arrived(race, k)
        found = len(race.arrivals) + stars.ahead_of(arrived[len(arrived.candidates) - 1])
        if found >= k:
            return stars, arrived
        expected = 5 * (k - found) * race.proposed // (4 * found + 1)
        batch = max(batch, min(expected, largest))


def _stars(field: Field, candidates: Indices, scale: Fraction, noise: Noise, randomness: Randomness) -> Board:
    """Give each candidate a noisy score of its own, with its first word drawn."""
    words = randomness.words(len(candidates))
    step = 2.0**-randomness.width
    below = words * step
    usual = np.abs(below - 0.5) <= 0.5 - NEAREST_END - step
    least = noise.quantiles(np.where(usual, below, 0.5))
    bounds = _around(field.float_scores(candidates), scale, least, least + step * STEEPEST)

    def number(i: int) -> Gumbel | Exponential:
        begun = noise.number(field.score(candidates.item(i)), scale, randomness)
        begun.append(words.item(i))
        return begun

    stars = Board(candidates, bounds, number)
    for i in (~usual).nonzero()[0].tolist():
        begun = number(i)
        stars.lows[i], stars.highs[i] = to_float_down(begun.lower(64)), to_float_up(begun.upper(64))
    return stars


def _arrived(race: Race, k: int) -> Board:
    """Give the first k arrivals; each beats all who arrive later.

    After them comes nobody, with the last proposal: those who have not arrived come later still.
    """
    candidates = np.array([*islice(race.arrivals, k), -1])
    ticks = np.array([*islice(race.arrivals.values(), k), race.proposed])
    times, errors = race.times(ticks)
    envelope = race.envelope
    shift, scale = envelope.field.turned(envelope.lead.base), envelope.scale
    early = times - errors
    highest = np.where(early > 0, race.noise.heights(np.maximum(early, 2.0**-1000)), math.inf)
    bounds = _around(rounded(*shift.as_integer_ratio()), scale, race.noise.heights(times + errors), highest)
    return Board(candidates, bounds, lambda i: ArrivalNumber(shift, scale, race, ticks.item(i)))


def _noiseless(field: Field, k: int) -> list[Contender] | None:
    order = field.order(k)
    if order is None:
        return None
    scores = [field.score(i) for i in order]
    return [
        Contender(i, to_float_down(x), to_float_up(x), partial(Noiseless, x))
        for i, x in zip(order, scores, strict=True)
    ]


def _around(start: Floats | float, scale: Fraction, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Bound score + scale * noise, for scores and noise in floats that may be slightly wrong."""
    step, size = rough(scale.as_integer_ratio()), np.abs(start)
    if not (step > 0 and (size < 2.0**1000).all()):
        return np.full_like(low, -math.inf), np.full_like(high, math.inf)
    slack = SCORE_SLACK * size + NOISE_SLACK * step
    return start - slack + step * low, start + slack + step * high
