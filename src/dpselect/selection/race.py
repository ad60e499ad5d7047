"""The thinned race: candidates arrive in the order of their noisy scores, the best first.

Proposals come from the envelope, one at each tick of a Poisson clock of the envelope's rate. Those that fall
below the weight w of their candidate are its points, of rate w; a coin, if the noise asks for it, tells which
point is the arrival.

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
from dpselect.selection.noise import Noise
from dpselect.selection.poisson_times import Clock
from dpselect.selection.scores import Floats, Indices

THRIFTY = 2
"""How finely a coin is enclosed beyond its first bits, where the bits of a time are drawn for it."""


class Race:
    """A race over one field, run for as long as somebody waits for arrivals."""

    def __init__(
        self, envelope: Envelope, noise: Noise, randomness: Randomness, clock: Clock | None = None
    ) -> None:
        """Line up; the clock is started when somebody first looks at it, unless it is given."""
        self.envelope = envelope
        self.noise = noise
        self.arrivals: dict[int, int] = {}
        """Who has arrived, in order, each with its tick."""
        self.proposed = 0
        self._times = np.empty(0)
        self._randomness = randomness
        self._clock = clock

    @property
    def clock(self) -> Clock:
        """The clock of the proposals."""
        if self._clock is None:
            self._clock = Clock(self.envelope.rate, self._randomness)
        return self._clock

    def run(self, proposals: int, enough: float = math.inf) -> None:
        """Make so many proposals, and note who arrives; once enough have arrived, nobody else is noted."""
        candidates, ticks = self.envelope.all_points(proposals, self._randomness)
        ticks += self.proposed
        self.proposed += proposals
        if self.noise.timed:
            log_weights = self.envelope.log_weights(candidates)
            chances = self.noise.chances(log_weights, *self.times(ticks))
            chances[self.envelope.field.are_level(candidates, self.envelope.lead.base)] = 1.0

            def coin(i: int) -> partial[Enclosure]:
                return partial(self._arrives, candidates.item(i), ticks.item(i))

            (kept,) = bernoullis(chances, coin, self._randomness, spare=THRIFTY).nonzero()
            candidates, ticks = candidates.take(kept), ticks.take(kept)
        for candidate, tick in zip(candidates.tolist(), ticks.tolist(), strict=True):
            if len(self.arrivals) >= enough:
                break
            self.arrivals.setdefault(candidate, tick)

    def times(self, ticks: Indices) -> tuple[Floats, Floats]:
        """Give the times of proposals made, and by how much each may be wrong."""
        if self.clock.ticks < self.proposed:
            self._times = np.append(self._times, self.clock.tick(self.proposed - self.clock.ticks))
        times = self._times.take(ticks - 1)
        return times, self.clock.error(ticks, times)

    def _arrives(self, candidate: int, tick: int, precision: int) -> Enclosure:
        """Enclose the chance that a point is an arrival. Who has a point may win, so there is a gap."""
        behind = cast("Fraction", self.envelope.exactly_behind(candidate))
        return self.noise.coin(behind, self.clock.time(tick, precision), precision)


class ArrivalNumber(PartialNumber):
    """The noisy score of whoever arrived at a tick: base + scale * height(time)."""

    __slots__ = ("_clock", "_noise", "_scale", "_shift", "_tick", "bits")

    def __init__(self, shift: Fraction, scale: Fraction, race: Race, tick: int) -> None:
        """Know nothing but the bits that the clock has drawn."""
        self._shift = shift
        self._scale = scale
        self._noise = race.noise
        self._clock = race.clock
        self._tick = tick
        self.bits = 64

    def refine(self) -> None:
        """Draw one more word of the time."""
        self._clock.refine(self._tick)
        self.bits += 64

    def lower(self, precision: int) -> Bound:
        """Bound the noisy score by the latest time that is possible."""
        latest = self._clock.known(self._tick, precision)[1]
        if latest == math.inf:
            return -math.inf if not self._noise.timed else self._shift
        return (
            self._shift + self._scale * enclose(self._noise.height, Fraction(latest), precision=precision).low
        )

    def upper(self, precision: int) -> Bound:
        """Bound the noisy score by the earliest time that is possible."""
        earliest = self._clock.known(self._tick, precision)[0]
        if earliest <= 0:
            return math.inf
        return self._shift + self._scale * enclose(self._noise.height, earliest, precision=precision).high
