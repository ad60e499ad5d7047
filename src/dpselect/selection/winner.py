"""Draw the candidate with the best noisy score, by the fastest of three ways, which all have the same law.

Exponential noise and up to 16 candidates: toss a coin of probability w_i for every candidate, and choose
uniformly among the successes. Otherwise the first arrival of a race: proposals one by one, or in batches if
there are blocks.

Proof: winner.proof.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

from dpselect.exact.enclosures import Enclosure, exp
from dpselect.exact.float_errors import ignore_float_errors
from dpselect.exact.randomness import Randomness
from dpselect.exact.samplers import draw_below
from dpselect.exact.vector_samplers import bernoulli_successes
from dpselect.selection.envelope import Envelope, float_weights
from dpselect.selection.noise import NoiseLaw
from dpselect.selection.permute_and_flip_race import PermuteAndFlipRace
from dpselect.selection.scores import ScoreVector, Threshold

_IMPOSSIBLE = Enclosure(Fraction(0), Fraction(0))

FLIP_ALL_UP_TO = 16
"""Candidates: up to this number, a coin for each is faster than a race."""

COMMON_MULTIPLES = [math.lcm(*range(1, n + 1)) for n in range(FLIP_ALL_UP_TO + 1)]
"""For n candidates a multiple of 1, 2, ..., n: a uniform number below it is uniform modulo each of them."""

_FIRST_BATCH, _LARGEST_BATCH = 128, 1024
"""Proposals made at a time."""


def winner(vector: ScoreVector, scale: Fraction, noise: NoiseLaw, randomness: Randomness) -> int | None:
    """Draw the candidate with the best noisy score; None if no candidate is eligible."""
    threshold = vector.find_threshold(1)
    if threshold is None:
        return None
    if noise.needs_times and vector.n <= FLIP_ALL_UP_TO:
        return flip_all(vector, threshold, scale, randomness)
    return first_arrival(vector, threshold, scale, noise, randomness)


@ignore_float_errors
def first_arrival(
    vector: ScoreVector, threshold: Threshold, scale: Fraction, noise: NoiseLaw, randomness: Randomness
) -> int:
    """Race: the candidate that arrives first has the best noisy score."""
    envelope = Envelope(vector, threshold, scale, randomness.width)
    race = PermuteAndFlipRace(envelope, randomness) if noise.needs_times else None
    first = in_batches if vector.blocks else one_by_one
    return first(envelope, race, randomness)


def flip_all(vector: ScoreVector, threshold: Threshold, scale: Fraction, randomness: Randomness) -> int:
    """Permute and flip: toss a coin of probability w_i for each, choose uniformly among the successes."""
    estimates = float_weights(vector.all_float_gaps(threshold), scale)
    successes = bernoulli_successes(
        estimates, lambda i: partial(_enclosed_weight, vector, threshold, scale, i), randomness
    )
    randomness.mark(tuple(successes))
    return successes[draw_below(COMMON_MULTIPLES[vector.n], randomness) % len(successes)]


def _enclosed_weight(
    vector: ScoreVector, threshold: Threshold, scale: Fraction, candidate: int, precision: int
) -> Enclosure:
    gap = vector.gap(candidate, threshold.kth_best)
    if gap is None:
        return _IMPOSSIBLE
    gap_in_scales = gap / scale
    if gap_in_scales > precision:
        return Enclosure(Fraction(0), Fraction(1, 2**precision))
    return exp(-gap_in_scales, precision)


def one_by_one(envelope: Envelope, race: PermuteAndFlipRace | None, randomness: Randomness) -> int:
    """Race until the first arrival, with one proposal at a time."""
    proposal_number = 0
    while True:
        if race is None:
            randomness.mark(())
        candidate = envelope.one_accepted(randomness)
        proposal_number += 1
        if candidate is not None and (race is None or not race.failed_before(candidate, proposal_number)):
            return candidate


def in_batches(
    envelope: Envelope, race: PermuteAndFlipRace | None, randomness: Randomness, batch: int = _FIRST_BATCH
) -> int:
    """Race until the first arrival, with ever more proposals at a time."""
    proposed = 0
    while True:
        for candidate, proposal_number in envelope.each_accepted(batch, randomness):
            if race is None or not race.failed_before(candidate, proposed + proposal_number):
                return candidate
        proposed += batch
        batch = min(max(batch, proposed), _LARGEST_BATCH)
