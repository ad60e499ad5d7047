"""The thinned race: candidates arrive in the order of their noisy scores, the best first.

Proposals come from the envelope, one at each tick of a Poisson clock of the envelope's rate. A coin thins
them to the arrivals of independent candidates; what the coin is, the noise says.

Reference: Lewis & Shedler 1979, thinning; Maddison, Tarlow & Minka 2014, A* sampling.
Proof:     race.proof.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property, partial

import numpy as np

from dpselect.exact.batches import bernoulli_estimated, bernoullis
from dpselect.exact.clock import Clock
from dpselect.exact.enclosures import Enclosure, enclose
from dpselect.exact.envelope import Envelope
from dpselect.exact.noises import Floats, Noise
from dpselect.exact.psrn import Bound, PartialNumber
from dpselect.exact.randomness import Randomness

THRIFTY = 2

NEVER = Enclosure(Fraction(0), Fraction(0))


class Race:
    """A race over one field, run for as long as somebody waits for arrivals."""

    def __init__(self, envelope: Envelope, noise: Noise, randomness: Randomness) -> None:
        """Line up."""
        self.envelope = envelope
        self.noise = noise
        self.arrivals: dict[int, int] = {}
        """Who has arrived, in order, each with its tick."""
        self.proposed = 0
        self._times = np.empty(0)
        self._errors = np.empty(0)
        self._randomness = randomness

    @property
    def _spare(self) -> int:
        """How finely a coin is enclosed beyond its first bits; the bits of a time are drawn at random."""
        return THRIFTY if self.noise.timed else 64

    def run(self, proposals: int) -> None:
        """Make that many proposals, and note who arrives."""
        candidates, exponents = self.envelope.propose(proposals, self._randomness)
        times = self._tick(proposals) if self.noise.timed else (np.empty(0), np.empty(0))
        chances = self.noise.chances(self.envelope.behind(candidates), exponents, *times)

        def coin(i: int) -> partial[Enclosure]:
            return partial(self._coin, int(candidates[i]), int(exponents[i]), self.proposed + i + 1)

        accepted = bernoullis(chances, coin, self._randomness, spare=self._spare)
        for i in np.flatnonzero(accepted).tolist():
            self.arrivals.setdefault(int(candidates[i]), self.proposed + i + 1)
        self.proposed += proposals

    @cached_property
    def clock(self) -> Clock:
        """The clock, started when somebody first looks at it."""
        return Clock(self.envelope.rate, self._randomness)

    def run_once(self) -> int | None:
        """Make one proposal from a field whose blocks are single candidates; give it if it arrives."""
        candidate, exponent, behind = self.envelope.propose_single(self._randomness)
        self.proposed += 1
        time, error = self.clock.tick_once() if self.noise.timed else (math.nan, math.nan)
        chance = self.noise.chance(behind, exponent, time, error)
        coin = partial(self._coin, candidate, exponent, self.proposed)
        return candidate if bernoulli_estimated(chance, coin, self._randomness, spare=self._spare) else None

    def _tick(self, count: int) -> tuple[Floats, Floats]:
        times, errors = self.clock.tick(count)
        self._times, self._errors = np.append(self._times, times), np.append(self._errors, errors)
        return times, errors

    def timetable(self) -> tuple[Floats, Floats]:
        """Give the time of every proposal so far, and by how much it may be wrong."""
        if self.clock.ticks < self.proposed:
            self._tick(self.proposed - self.clock.ticks)
        return self._times, self._errors

    def _coin(self, candidate: int, exponent: int, tick: int, precision: int) -> Enclosure:
        behind = self.envelope.exactly_behind(candidate)
        if behind is None:
            return NEVER
        time = self.clock.time(tick, precision) if self.noise.timed else NEVER
        return self.noise.coin(behind, exponent, time, precision)


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
