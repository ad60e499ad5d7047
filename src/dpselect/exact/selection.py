"""Draw the best of a field, in the way that is fastest for its size. All ways have the same law.

Proof: selection.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np

from dpselect.exact.batches import bernoulli_estimated, bernoullis
from dpselect.exact.contenders import FIRST_BATCH, LARGEST_BATCH
from dpselect.exact.enclosures import Enclosure, exp
from dpselect.exact.envelope import Envelope
from dpselect.exact.field import SINGLE_UP_TO, Field
from dpselect.exact.noises import Noise
from dpselect.exact.race import NEVER, Race
from dpselect.exact.randomness import Randomness
from dpselect.exact.samplers import uniform_below

FLIP_ALL_UP_TO = 1024


def winner(field: Field, scale: Fraction, noise: Noise, randomness: Randomness) -> int | None:
    """Draw the candidate with the best noisy score; None if nobody may win."""
    lead = field.leaders(1)
    if lead is None:
        return None
    envelope = Envelope(field, lead[0], scale)
    if noise.timed and field.size <= FLIP_ALL_UP_TO:
        return flip_all(envelope, randomness)
    if not noise.timed and field.size <= SINGLE_UP_TO:
        return one_by_one(envelope, randomness)
    return in_batches(Race(envelope, noise, randomness), FIRST_BATCH)


def flip_all(envelope: Envelope, randomness: Randomness) -> int:
    """Permute and flip: toss a coin of its weight for everybody, and choose uniformly among the heads."""
    chances = np.exp(-envelope.everybody_behind())
    heads = np.flatnonzero(bernoullis(chances, lambda i: _coin(envelope, i, 0), randomness))
    return int(heads[uniform_below(len(heads), randomness)])


def one_by_one(envelope: Envelope, randomness: Randomness) -> int:
    """Run the race with Gumbel noise until the first arrival: nobody asks for its time."""
    while True:
        randomness.mark(())
        candidate, exponent, behind = envelope.propose_single(randomness)
        chance = math.ldexp(math.exp(-behind), exponent)
        if bernoulli_estimated(chance, _coin(envelope, candidate, exponent), randomness):
            return candidate


def in_batches(race: Race, batch: int) -> int:
    """Run a race until the first arrival, with ever more proposals at a time."""
    while not race.arrivals:
        race.run(batch)
        batch = min(2 * batch, LARGEST_BATCH)
    return next(iter(race.arrivals))


def _coin(envelope: Envelope, candidate: int, exponent: int) -> Callable[[int], Enclosure]:
    """Give the function that encloses w 2**j, computing nothing before it is asked."""
    return partial(_scaled_weight, envelope, candidate, exponent)


def _scaled_weight(envelope: Envelope, candidate: int, exponent: int, precision: int) -> Enclosure:
    behind = envelope.exactly_behind(candidate)
    if behind is None:
        return NEVER
    low, high = exp(-behind, precision)
    return Enclosure(low * 2**exponent, high * 2**exponent)
