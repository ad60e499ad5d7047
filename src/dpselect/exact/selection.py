"""Draw the best of a field, in the way that is fastest for its size. All ways have the same law.

Proof: selection.proof.md
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np

from dpselect.exact.batches import bernoullis
from dpselect.exact.contenders import FIRST_BATCH, LARGEST_BATCH
from dpselect.exact.enclosures import Enclosure, exp
from dpselect.exact.envelope import Envelope
from dpselect.exact.field import SINGLE_UP_TO, Field
from dpselect.exact.noises import Noise
from dpselect.exact.race import NEVER, Race
from dpselect.exact.randomness import Randomness
from dpselect.exact.samplers import uniform_below

FLIP_ALL_UP_TO = 16


def winner(field: Field, scale: Fraction, noise: Noise, randomness: Randomness) -> int | None:
    """Draw the candidate with the best noisy score; None if nobody may win."""
    lead = field.leaders(1)
    if lead is None:
        return None
    envelope = Envelope(field, lead[0], scale)
    if noise.timed and field.size <= FLIP_ALL_UP_TO:
        return flip_all(envelope, randomness)
    race = Race(envelope, noise, randomness)
    return one_by_one(race, randomness) if field.size <= SINGLE_UP_TO else in_batches(race, FIRST_BATCH)


def flip_all(envelope: Envelope, randomness: Randomness) -> int:
    """Permute and flip: toss a coin of its weight for everybody, and choose uniformly among the heads."""
    chances = np.exp(-envelope.everybody_behind())
    heads = np.flatnonzero(bernoullis(chances, lambda i: partial(_weight, envelope, i), randomness))
    return int(heads[uniform_below(len(heads), randomness)])


def _weight(envelope: Envelope, candidate: int, precision: int) -> Enclosure:
    behind = envelope.exactly_behind(candidate)
    return NEVER if behind is None else exp(-behind, precision)


def one_by_one(race: Race, randomness: Randomness) -> int:
    """Run a race over single candidates until the first arrival."""
    while True:
        if not race.noise.timed:
            randomness.mark(())
        arrived = race.run_once()
        if arrived is not None:
            return arrived


def in_batches(race: Race, batch: int) -> int:
    """Run a race until the first arrival, with ever more proposals at a time."""
    while not race.arrivals:
        race.run(batch)
        batch = min(2 * batch, LARGEST_BATCH)
    return next(iter(race.arrivals))
