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

from dpselect.exact.float_errors import ignore_float_errors
from dpselect.exact.numbers import rounded, to_float_down, to_float_up
from dpselect.exact.partial_numbers import Exponential, Gumbel
from dpselect.exact.randomness import Randomness
from dpselect.selection.envelope import Envelope, float_scale
from dpselect.selection.noise import NoiseLaw
from dpselect.selection.race import ArrivalScore, Race
from dpselect.selection.scores import Floats, Indices, ScoreVector

_FIRST_BATCH, _SMALL_BATCH, _LARGEST_BATCH = 128, 512, 4096
NEAREST_END, STEEPEST_QUANTILE = 2.0**-20, 2.0**21
"""Of a uniform number no nearer to 0 or 1 floats know the quantile, which rises by no more than this."""

SCORE_SLACK, NOISE_SLACK = 2.0**-50, 2.0**-30
"""By how much a float noisy score may be wrong, as a part of the score, and of the scale."""


class NoisyScore:
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

    def realised(self) -> NoisyScore:
        """Make the number now: scores may change later, and are not to be held."""
        _ = self.number
        return self

    def exceeds(self, other: NoisyScore) -> bool:
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


def merged(ours: list[NoisyScore], theirs: list[NoisyScore], k: int) -> list[NoisyScore]:
    """Merge two lists, each with its best first, and keep the k best."""
    best: list[NoisyScore] = []
    i = j = 0
    while len(best) < k and (i < len(ours) or j < len(theirs)):
        if j == len(theirs) or (i < len(ours) and ours[i].exceeds(theirs[j])):
            best.append(ours[i])
            i += 1
        else:
            best.append(theirs[j])
            j += 1
    return best


class NoisyScores:
    """Candidates with their noisy scores, in arrays; the contenders are made when somebody asks for them."""

    def __init__(
        self, candidates: Indices, bounds: tuple[Floats, Floats], number: Callable[[int], Any]
    ) -> None:
        """Note the bounds, and how the number of the i-th is made."""
        self.candidates = candidates
        self.lows, self.highs = bounds
        self._number = number
        self._made: dict[int, NoisyScore] = {}

    def __getitem__(self, i: int) -> NoisyScore:
        """Give the i-th contender, always the same."""
        if i not in self._made:
            low, high = self.lows.item(i), self.highs.item(i)
            self._made[i] = NoisyScore(self.candidates.item(i), low, high, partial(self._number, i))
        return self._made[i]

    def in_order(self) -> list[NoisyScore]:
        """Sort the contenders, the best first."""
        order = (-self.lows).argsort()
        noisy_scores = [self[i] for i in order.tolist()]
        if not _are_apart(self.lows[order], self.highs[order]):
            noisy_scores.sort(key=cmp_to_key(lambda ours, theirs: -1 if ours.exceeds(theirs) else 1))
        return noisy_scores

    def count_exceeding(self, other: NoisyScore) -> int:
        """Count the contenders that beat another."""
        surely, perhaps = self.lows >= other.high, self.highs >= other.low
        exceeding = int(np.count_nonzero(surely))
        if np.count_nonzero(perhaps) > exceeding:
            exceeding += sum(self[i].exceeds(other) for i in (perhaps & ~surely).nonzero()[0].tolist())
        return exceeding


def _are_apart(lows: Floats, highs: Floats) -> bool:
    """Say whether bounds, sorted downwards, do not overlap."""
    return bool((lows[:-1] >= highs[1:]).all())


@ignore_float_errors
def top_k_indices(  # noqa: PLR0913 - the draw's own parameters, and where they are drawn from
    vector: ScoreVector,
    k: int,
    scale: Fraction,
    noise: NoiseLaw,
    randomness: Randomness,
    *,
    batch: int | None = None,
) -> list[int] | None:
    """Draw the k best of a field, the best first; None if fewer than k may win."""
    drawn = _drawn(vector, k, scale, noise, randomness, batch)
    if drawn is None:
        return None
    individual, arrived = drawn
    lows, highs = np.append(individual.lows, arrived.lows), np.append(individual.highs, arrived.highs)
    order = (-lows).argsort()
    if _are_apart(lows[order], highs[order]):
        best: list[int] = np.append(individual.candidates, arrived.candidates)[order[:k]].tolist()
        return best
    return [one.candidate for one in _merged_noisy_scores(individual, arrived, k)]


@ignore_float_errors
def top_k_noisy_scores(  # noqa: PLR0913 - the draw's own parameters, and where they are drawn from
    vector: ScoreVector,
    k: int,
    scale: Fraction,
    noise: NoiseLaw,
    randomness: Randomness,
    *,
    batch: int | None = None,
) -> list[NoisyScore] | None:
    """Draw the k best of a field, to be merged with those of others; None if fewer than k may win."""
    if scale == 0:
        return _noiseless(vector, k)
    drawn = _drawn(vector, k, scale, noise, randomness, batch)
    if drawn is None:
        return None
    return [one.realised() for one in _merged_noisy_scores(*drawn, k)]


def _merged_noisy_scores(individual: NoisyScores, arrived: NoisyScores, k: int) -> list[NoisyScore]:
    return merged(individual.in_order(), [arrived[i] for i in range(len(arrived.candidates))], k)


def _drawn(  # noqa: PLR0913, PLR0917 - the draw's own parameters, and where they are drawn from
    vector: ScoreVector, k: int, scale: Fraction, noise: NoiseLaw, randomness: Randomness, batch: int | None
) -> tuple[NoisyScores, NoisyScores] | None:
    """Draw the stars, and race until the k best are among them and the arrivals.

    The k - 1 best candidates get numbers of their own, whether they are ahead of the k-th best score or tie
    with it, so that ties do not show in the time; the others race relative to it.
    """
    threshold = vector.find_threshold(k)
    if threshold is None:
        return None
    individual = _draw_individual(vector, threshold.individual, scale, noise, randomness)
    race = Race(Envelope(vector, threshold, scale, randomness.width), noise, randomness)
    largest = min(max(_SMALL_BATCH, 32 * k), _LARGEST_BATCH)
    batch = batch or min(max(_FIRST_BATCH, 4 * k), largest)
    while True:
        race.run(batch, k)
        arrived = _arrived_scores(race, k)
        found = len(race.arrivals) + individual.count_exceeding(arrived[len(arrived.candidates) - 1])
        if found >= k:
            return individual, arrived
        expected = 5 * (k - found) * race.proposed // (4 * found + 1)
        batch = max(batch, min(expected, largest))


def _draw_individual(
    vector: ScoreVector, candidates: Indices, scale: Fraction, noise: NoiseLaw, randomness: Randomness
) -> NoisyScores:
    """Give each candidate a noisy score of its own, with its first word drawn."""
    words = randomness.words(len(candidates))
    step = 2.0**-randomness.width
    below = words * step
    usual = np.abs(below - 0.5) <= 0.5 - NEAREST_END - step
    least = noise.quantiles(np.where(usual, below, 0.5))
    bounds = _float_bounds(vector.float_scores(candidates), scale, least, least + step * STEEPEST_QUANTILE)

    def number(i: int) -> Gumbel | Exponential:
        begun = noise.partial_number(vector.score(candidates.item(i)), scale, randomness)
        begun.append(words.item(i))
        return begun

    individual = NoisyScores(candidates, bounds, number)
    for i in (~usual).nonzero()[0].tolist():
        begun = number(i)
        individual.lows[i], individual.highs[i] = to_float_down(begun.lower(64)), to_float_up(begun.upper(64))
    return individual


def _arrived_scores(race: Race, k: int) -> NoisyScores:
    """Give the first k arrivals; each beats all who arrive later.

    After them comes nobody, with the last proposal: those who have not arrived come later still.
    """
    candidates = np.array([*islice(race.arrivals, k), -1])
    proposal_numbers = np.array([*islice(race.arrivals.values(), k), race.proposed])
    times, errors = race.times(proposal_numbers)
    envelope = race.envelope
    kth_best_score, scale = envelope.vector.oriented(envelope.threshold.kth_best), envelope.scale
    early = times - errors
    highest = np.where(early > 0, race.noise.noises_at(np.maximum(early, 2.0**-1000)), math.inf)
    bounds = _float_bounds(
        rounded(*kth_best_score.as_integer_ratio()), scale, race.noise.noises_at(times + errors), highest
    )
    return NoisyScores(
        candidates, bounds, lambda i: ArrivalScore(kth_best_score, scale, race, proposal_numbers.item(i))
    )


def _noiseless(vector: ScoreVector, k: int) -> list[NoisyScore] | None:
    order = vector.order(k)
    if order is None:
        return None
    scores = [vector.score(i) for i in order]
    return [
        NoisyScore(i, to_float_down(x), to_float_up(x), partial(Noiseless, x))
        for i, x in zip(order, scores, strict=True)
    ]


def _float_bounds(start: Floats | float, scale: Fraction, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Bound score + scale * noise, for scores and noise in floats that may be slightly wrong."""
    step, size = float_scale(scale.as_integer_ratio()), np.abs(start)
    if not (step > 0 and (size < 2.0**1000).all()):
        return np.full_like(low, -math.inf), np.full_like(high, math.inf)
    slack = SCORE_SLACK * size + NOISE_SLACK * step
    return start - slack + step * low, start + slack + step * high
