"""The k best of n noisy scores, best first.

Let T be the k-th best score. The k - 1 individual candidates, at or above T, get noise of their own. All
others race relative to T: the candidates that arrive first have the best noisy scores of the rest. The race
runs until the k best of all are certainly among the individual candidates and the arrivals; then both are
sorted.

Laplace noise may carry a noisy score below T, where no race would find it. There T is a later score, such
that k or more individual candidates nearly always exceed it. If they do not, or if there are few candidates,
all of them are individual.

Proof: top_k.proof.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpselect.exact.float_errors import ignore_float_errors
from dpselect.exact.partial_numbers import Exponential, Gumbel, Known, Laplace
from dpselect.exact.randomness import Randomness
from dpselect.exact.rounding import rounded, to_float_down, to_float_up
from dpselect.selection.discrete_laplace import WholeLaplaceNoise
from dpselect.selection.envelope import Envelope
from dpselect.selection.noise import NoiseLaw
from dpselect.selection.noisy_scores import Noiseless, NoisyScore, NoisyScores, are_apart, joined, merged
from dpselect.selection.race import ArrivalScore, Race
from dpselect.selection.resolution import float_scale
from dpselect.selection.scores import NO_CANDIDATES, Floats, Indices, ScoreVector

AnyNoise: TypeAlias = NoiseLaw | WholeLaplaceNoise
"""A noise on real numbers, or on whole ones."""

_FIRST_BATCH, _SMALL_BATCH, _LARGEST_BATCH = 128, 512, 4096
"""Proposals made at a time."""

NEAREST_END, STEEPEST_QUANTILE = 2.0**-20, 2.0**21
"""For uniform numbers at least this far from 0 and 1, quantiles are computed in floats; their slope is at
most the second number."""

NO_CANDIDATE = -1
"""The index of no candidate."""

NO_NOISY_SCORES = NoisyScores(NO_CANDIDATES, (np.empty(0), np.empty(0)), lambda i: Known(Fraction(i)))
"""None at all: no number is made."""

SCORE_SLACK, NOISE_SLACK = 2.0**-50, 2.0**-30
"""The error of a float noisy score: at most this part of the score plus this part of the scale."""


@ignore_float_errors
def top_k_indices(  # noqa: PLR0913 - the draw's own parameters, and where they are drawn from
    vector: ScoreVector,
    k: int,
    scale: Fraction,
    noise: AnyNoise,
    randomness: Randomness,
    *,
    batch: int | None = None,
) -> list[int] | None:
    """Draw the k best candidates, the best first; None if fewer than k are eligible."""
    drawn = _drawn(vector, k, scale, noise, randomness, batch)
    if drawn is None:
        return None
    individual, arrived = drawn
    lows, highs = np.append(individual.lows, arrived.lows), np.append(individual.highs, arrived.highs)
    order = (-lows).argsort()
    if are_apart(lows[order], highs[order]):
        best: list[int] = np.append(individual.candidates, arrived.candidates)[order[:k]].tolist()
        return best
    return [one.candidate for one in _merged_noisy_scores(individual, arrived, k)]


@ignore_float_errors
def top_k_noisy_scores(  # noqa: PLR0913 - the draw's own parameters, and where they are drawn from
    vector: ScoreVector,
    k: int,
    scale: Fraction,
    noise: AnyNoise,
    randomness: Randomness,
    *,
    batch: int | None = None,
) -> list[NoisyScore] | None:
    """Draw the k best with their noisy scores, so that they can be merged with those of other vectors."""
    if scale == 0:
        return _noiseless(vector, k)
    drawn = _drawn(vector, k, scale, noise, randomness, batch)
    if drawn is None:
        return None
    return [one.realised() for one in _merged_noisy_scores(*drawn, k)]


@ignore_float_errors
def individual_top_k(
    vector: ScoreVector, k: int, scale: Fraction, noise: AnyNoise, randomness: Randomness
) -> list[NoisyScore] | None:
    """Draw the k best with a number for every candidate: for few of them, without a race."""
    if scale == 0:
        return _noiseless(vector, k)
    if vector.count_eligible() < k:
        return None
    individual, _ = _all_individual(vector, k, scale, noise, randomness, NO_NOISY_SCORES)
    return [one.realised() for one in individual.in_order()[:k]]


def _merged_noisy_scores(individual: NoisyScores, arrived: NoisyScores, k: int) -> list[NoisyScore]:
    return merged(individual.in_order(), [arrived[i] for i in range(len(arrived.candidates))], k)


def _drawn(  # noqa: PLR0913, PLR0917 - the draw's own parameters, and where they are drawn from
    vector: ScoreVector, k: int, scale: Fraction, noise: AnyNoise, randomness: Randomness, batch: int | None
) -> tuple[NoisyScores, NoisyScores] | None:
    """Draw individual noisy scores and race until the k best are certainly among both; give both.

    The number of individual candidates depends on k alone, whether they exceed T or tie with it: ties do not
    change the time.
    """
    rank = noise.threshold_rank(k)
    threshold = vector.find_threshold(rank) if rank <= vector.n else None
    if threshold is None:
        if noise.ties_arrive or vector.count_eligible() < k:
            return None
        return _all_individual(vector, k, scale, noise, randomness, NO_NOISY_SCORES)
    individual = _draw_individual(vector, threshold.individual, scale, noise, randomness)
    if not noise.ties_arrive and individual.count_exceeding(_at(vector.oriented(threshold.kth_best))) < k:
        return _all_individual(vector, k, scale, noise, randomness, individual)
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


def _all_individual(  # noqa: PLR0913, PLR0917 - the draw's own parameters, and what is drawn already
    vector: ScoreVector,
    k: int,
    scale: Fraction,
    noise: AnyNoise,
    randomness: Randomness,
    drawn: NoisyScores,
) -> tuple[NoisyScores, NoisyScores]:
    """Draw the noisy scores of all eligible candidates that have none; give those that may be the k best."""
    others = np.setdiff1d(vector.eligible(), drawn.candidates, assume_unique=True)
    individual = joined(drawn, _draw_individual(vector, others, scale, noise, randomness))
    return individual.may_be_best(k), NO_NOISY_SCORES


def _at(score: Fraction) -> NoisyScore:
    """Give a score, to which noisy scores are compared."""
    return NoisyScore(NO_CANDIDATE, to_float_down(score), to_float_up(score), partial(Known, score))


def _draw_individual(
    vector: ScoreVector, candidates: Indices, scale: Fraction, noise: AnyNoise, randomness: Randomness
) -> NoisyScores:
    """Give each candidate a noisy score of its own, of which one random word is drawn, or a whole one."""
    if isinstance(noise, WholeLaplaceNoise):
        return noise.individual(vector, candidates, randomness)
    first = randomness.words(len(candidates))
    return individual_scores(vector, candidates, scale, noise, (first, randomness))


def individual_scores(
    vector: ScoreVector,
    candidates: Indices,
    scale: Fraction,
    noise: NoiseLaw,
    drawn_from: tuple[NDArray[np.uint64], Randomness],
) -> NoisyScores:
    """Give each candidate the noisy score that begins with its word, and goes on with words of the source."""
    words, randomness = drawn_from
    step = 2.0**-randomness.width
    below = words * step
    usual = np.abs(below - 0.5) <= 0.5 - NEAREST_END - step
    least = noise.quantiles(np.where(usual, below, 0.5))
    bounds = _float_bounds(vector.float_scores(candidates), scale, least, least + step * STEEPEST_QUANTILE)

    def number(i: int) -> Gumbel | Exponential | Laplace:
        begun = noise.partial_number(vector.score(candidates.item(i)), scale, randomness)
        begun.append(words.item(i))
        return begun

    individual = NoisyScores(candidates, bounds, number)
    for i in (~usual).nonzero()[0].tolist():
        begun = number(i)
        individual.lows[i], individual.highs[i] = to_float_down(begun.lower(64)), to_float_up(begun.upper(64))
    return individual


def _arrived_scores(race: Race, k: int) -> NoisyScores:
    """Give the noisy scores of the first k arrivals, in order, and after them that of NO_CANDIDATE.

    The latter is what an arrival at the last proposal would have: candidates that have not arrived have less.
    """
    candidates = np.array([*islice(race.arrivals, k), NO_CANDIDATE])
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
    """Bound score + scale * noise for float scores and noises, with room for their errors."""
    step, size = float_scale(scale.as_integer_ratio()), np.abs(start)
    if not (step > 0 and (size < 2.0**1000).all()):
        return np.full_like(low, -math.inf), np.full_like(high, math.inf)
    slack = SCORE_SLACK * size + NOISE_SLACK * step
    return start - slack + step * low, start + slack + step * high
