"""Draw the best of a field, in the way that is fastest for its size. All ways have the same law.

Proof: winner.proof.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

from dpselect.exact.enclosures import Enclosure, exp
from dpselect.exact.float_errors import quiet
from dpselect.exact.randomness import Randomness
from dpselect.exact.samplers import draw_below
from dpselect.exact.vector_samplers import heads
from dpselect.selection.envelope import Envelope, weights
from dpselect.selection.noise import Noise
from dpselect.selection.permute_and_flip_race import Tails
from dpselect.selection.scores import Field, Lead

NEVER = Enclosure(Fraction(0), Fraction(0))

FLIP_ALL_UP_TO = 16

SIDES = [math.lcm(*range(1, size + 1)) for size in range(FLIP_ALL_UP_TO + 1)]
"""Whatever number of so many candidates is chosen from, this is a multiple of it."""

FIRST_BATCH, LARGEST_BATCH = 128, 1024


def winner(field: Field, scale: Fraction, noise: Noise, randomness: Randomness) -> int | None:
    """Draw the candidate with the best noisy score; None if nobody may win."""
    lead = field.leaders(1)
    if lead is None:
        return None
    if noise.timed and field.size <= FLIP_ALL_UP_TO:
        return flip_all(field, lead, scale, randomness)
    return first_arrival(field, lead, scale, noise, randomness)


@quiet
def first_arrival(field: Field, lead: Lead, scale: Fraction, noise: Noise, randomness: Randomness) -> int:
    """Race: whoever arrives first has the best noisy score."""
    envelope = Envelope(field, lead, scale, randomness.width)
    tails = Tails(envelope, randomness) if noise.timed else None
    first = in_batches if field.columns else one_by_one
    return first(envelope, tails, randomness)


def flip_all(field: Field, lead: Lead, scale: Fraction, randomness: Randomness) -> int:
    """Permute and flip: toss a coin of its weight for everybody, and choose uniformly among the heads."""
    estimates = weights(field.few_gaps(lead), scale)
    flipped = heads(estimates, lambda i: partial(_weight, field, lead, scale, i), randomness)
    randomness.mark(tuple(flipped))
    return flipped[draw_below(SIDES[field.size], randomness) % len(flipped)]


def _weight(field: Field, lead: Lead, scale: Fraction, candidate: int, precision: int) -> Enclosure:
    gap = field.gap(candidate, lead.base)
    if gap is None:
        return NEVER
    behind = gap / scale
    if behind > precision:
        return Enclosure(Fraction(0), Fraction(1, 2**precision))
    return exp(-behind, precision)


def one_by_one(envelope: Envelope, tails: Tails | None, randomness: Randomness) -> int:
    """Race until the first arrival, with one proposal at a time."""
    tick = 0
    while True:
        if tails is None:
            randomness.mark(())
        candidate = envelope.point(randomness)
        tick += 1
        if candidate is not None and (tails is None or not tails.came_first(candidate, tick)):
            return candidate


def in_batches(
    envelope: Envelope, tails: Tails | None, randomness: Randomness, batch: int = FIRST_BATCH
) -> int:
    """Race until the first arrival, with ever more proposals at a time."""
    proposed = 0
    while True:
        for candidate, tick in envelope.points(batch, randomness):
            if tails is None or not tails.came_first(candidate, proposed + tick):
                return candidate
        proposed += batch
        batch = min(max(batch, proposed), LARGEST_BATCH)
