"""The race: candidates arrive in the order of their noisy scores, the best first.

Proposals come at the times of a Poisson process whose rate is the sum of the envelope. The accepted proposals
of a candidate of weight w are a Poisson process of rate w: its points. With Gumbel noise the first point is
the arrival; with exponential noise it is the first that is accepted once more, with a probability that
depends on its time (noise.py).

Reference: Lewis & Shedler 1979, thinning; Maddison, Tarlow & Minka 2014, A* sampling.
Proof:     race.proof.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import cast

import numpy as np

from dpselect.exact.enclosures import Enclosure, enclose
from dpselect.exact.partial_numbers import Bound, PartialNumber
from dpselect.exact.randomness import Randomness
from dpselect.exact.vector_samplers import bernoullis
from dpselect.selection.envelope import Envelope
from dpselect.selection.noise import RaceLaw
from dpselect.selection.poisson_times import PoissonTimes
from dpselect.selection.scores import Floats, Indices

SPARE_BITS_OF_TIMES = 2
"""Bits to which a probability is enclosed beyond those drawn; few, because each costs random bits of a
time."""


class Race:
    """A race of the candidates below one envelope; it can be continued."""

    def __init__(
        self,
        envelope: Envelope,
        noise: RaceLaw,
        randomness: Randomness,
        poisson_times: PoissonTimes | None = None,
    ) -> None:
        """Start with no proposal. Times are drawn when they are first needed, unless they are given."""
        self.envelope = envelope
        self.noise = noise
        self.arrivals: dict[int, int] = {}
        """The candidates that have arrived, in order, each with the number of its proposal."""
        self.proposed = 0
        """The number of proposals made."""
        self._times = np.empty(0)
        self._randomness = randomness
        self._poisson_times = poisson_times

    @property
    def poisson_times(self) -> PoissonTimes:
        """The times of the proposals."""
        if self._poisson_times is None:
            self._poisson_times = PoissonTimes(self.envelope.rate, self._randomness)
        return self._poisson_times

    def run(self, count: int, wanted: float = math.inf) -> None:
        """Make ``count`` proposals; note arrivals until ``wanted`` candidates have arrived."""
        candidates, proposal_numbers = self.envelope.all_accepted(count, self._randomness)
        proposal_numbers += self.proposed
        self.proposed += count
        if self.noise.needs_times:
            log_weights = self.envelope.log_weights(candidates)
            acceptance = self.noise.acceptance(log_weights, *self.times(proposal_numbers))
            if self.noise.ties_arrive:
                acceptance[self.envelope.vector.are_tied(candidates, self.envelope.threshold.kth_best)] = 1.0

            def acceptance_exactly(i: int) -> partial[Enclosure]:
                return partial(self._enclosed_acceptance, candidates.item(i), proposal_numbers.item(i))

            (kept,) = bernoullis(
                acceptance, acceptance_exactly, self._randomness, spare=SPARE_BITS_OF_TIMES
            ).nonzero()
            candidates, proposal_numbers = candidates.take(kept), proposal_numbers.take(kept)
        for candidate, proposal_number in zip(candidates.tolist(), proposal_numbers.tolist(), strict=True):
            if len(self.arrivals) >= wanted:
                break
            self.arrivals.setdefault(candidate, proposal_number)

    def times(self, proposal_numbers: Indices) -> tuple[Floats, Floats]:
        """Give the times of proposals in floats, and bounds on their errors."""
        if self.poisson_times.made < self.proposed:
            self._times = np.append(
                self._times, self.poisson_times.draw(self.proposed - self.poisson_times.made)
            )
        times = self._times.take(proposal_numbers - 1)
        return times, self.poisson_times.error(proposal_numbers, times)

    def _enclosed_acceptance(self, candidate: int, proposal_number: int, precision: int) -> Enclosure:
        """Enclose the probability that a point is the arrival. Its candidate is eligible, so it has a gap."""
        gap_in_scales = cast("Fraction", self.envelope.exact_gap_in_scales(candidate))
        return self.noise.acceptance_exactly(
            gap_in_scales, self.poisson_times.time(proposal_number, precision), precision
        )


class ArrivalScore(PartialNumber):
    """The noisy score of an arrival: threshold + scale * noise_at(time), known as exactly as the time."""

    __slots__ = ("_kth_best", "_noise", "_poisson_times", "_proposal_number", "_scale", "bits")

    def __init__(self, kth_best_score: Fraction, scale: Fraction, race: Race, proposal_number: int) -> None:
        """Begin with the bits of the time that were drawn already."""
        self._kth_best = kth_best_score
        self._scale = scale
        self._noise = race.noise
        self._poisson_times = race.poisson_times
        self._proposal_number = proposal_number
        self.bits = 64

    def refine(self) -> None:
        """Draw one more word of the time."""
        self._poisson_times.refine(self._proposal_number)
        self.bits += 64

    def lower(self, precision: int) -> Bound:
        """Bound the noisy score by the latest time that is possible."""
        latest = self._poisson_times.bounds(self._proposal_number, precision)[1]
        if latest == math.inf:
            return -math.inf if not self._noise.needs_times else self._kth_best
        return (
            self._kth_best
            + self._scale * enclose(self._noise.noise_at, Fraction(latest), precision=precision).low
        )

    def upper(self, precision: int) -> Bound:
        """Bound the noisy score by the earliest time that is possible."""
        earliest = self._poisson_times.bounds(self._proposal_number, precision)[0]
        if earliest <= 0:
            return math.inf
        return (
            self._kth_best + self._scale * enclose(self._noise.noise_at, earliest, precision=precision).high
        )
