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

from dpselect.exact.batches import SLACK, bernoullis
from dpselect.exact.clock import Clock
from dpselect.exact.enclosures import Enclosure, enclose, exp
from dpselect.exact.envelope import Envelope
from dpselect.exact.field import Floats, Indices
from dpselect.exact.noises import Noise
from dpselect.exact.psrn import Bound, PartialNumber
from dpselect.exact.randomness import Randomness
from dpselect.exact.samplers import bernoulli_enclosed

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
        self._error = envelope.unit * SLACK
        self._enough = 1 + self._error
        self._times = np.empty(0)
        self._randomness = randomness
        self._clock = clock

    @property
    def clock(self) -> Clock:
        """The clock of the proposals."""
        if self._clock is None:
            self._clock = Clock(self.envelope.rate, self._randomness)
        return self._clock

    def point(self) -> int | None:
        """Make one proposal; give its candidate if it falls below the weight."""
        candidate, offset = self.envelope.propose_one(self._randomness)
        self.proposed += 1
        room = self.envelope.unit * math.exp(self.envelope.log_weight(candidate)) - offset
        return candidate if self._is_point(candidate, offset, room) else None

    def points(self, proposals: int) -> tuple[Indices, Indices]:
        """Make so many proposals; give the candidates of those below their weights, and their ticks."""
        candidates, offsets = self.envelope.propose(proposals, self._randomness)
        room = np.exp(self.envelope.log_weights(candidates))
        room *= self.envelope.unit
        room -= offsets
        (kept,) = (~(room <= -self._error)).nonzero()
        if not np.minimum.reduce(room.take(kept), initial=math.inf) >= self._enough:
            kept = kept[[self._is_point(candidates.item(i), offsets.item(i), room.item(i)) for i in kept]]
        ticks = kept + (self.proposed + 1)
        self.proposed += proposals
        return candidates.take(kept), ticks

    def run(self, proposals: int) -> None:
        """Make so many proposals, and note who arrives."""
        candidates, ticks = self.points(proposals)
        if self.noise.timed:
            log_weights = self.envelope.log_weights(candidates)
            chances = self.noise.chances(log_weights, *self.times(ticks))
            chances[self.envelope.field.are_level(candidates, self.envelope.lead.base)] = 1.0

            def coin(i: int) -> partial[Enclosure]:
                return partial(self._arrives, candidates.item(i), ticks.item(i))

            (kept,) = bernoullis(chances, coin, self._randomness, spare=THRIFTY).nonzero()
            candidates, ticks = candidates.take(kept), ticks.take(kept)
        for candidate, tick in zip(candidates.tolist(), ticks.tolist(), strict=True):
            self.arrivals.setdefault(candidate, tick)

    def times(self, ticks: Indices) -> tuple[Floats, Floats]:
        """Give the times of proposals made, and by how much each may be wrong."""
        if self.clock.ticks < self.proposed:
            self._times = np.append(self._times, self.clock.tick(self.proposed - self.clock.ticks))
        times = self._times.take(ticks - 1)
        return times, self.clock.error(ticks, times)

    def _is_point(self, candidate: int, offset: int, room: float) -> bool:
        """Decide offset + U < w, in units, for a uniform number U; the room w - offset is known roughly."""
        if room >= self._enough:
            return True
        if room <= -self._error:
            return False
        return bernoulli_enclosed(partial(self._room, candidate, offset), self._randomness)

    def _room(self, candidate: int, offset: int, precision: int) -> Enclosure:
        """Enclose w - offset, in units."""
        behind, unit = self.envelope.exactly_behind(candidate), self.envelope.unit
        if behind is None:
            return Enclosure(Fraction(-offset), Fraction(-offset))
        if behind > precision + unit.bit_length():
            return Enclosure(Fraction(-offset), Fraction(1, 2**precision) - offset)
        low, high = exp(-behind, precision + unit.bit_length())
        return Enclosure(unit * low - offset, unit * high - offset)

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
