"""Inversion: one uniform number, compared with summed probabilities, draws from any law with a single peak.

The sums begin at the mode and go outward, so that the first steps are the likely ones. They are enclosed in
whole multiples of a tiny unit, and looked at more closely for as long as they leave a doubt.

Proof: inversion.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Protocol

from dpselect.exact.enclosures import Enclosure
from dpselect.exact.psrn import SPARE_BITS, Uniform
from dpselect.exact.randomness import Randomness

GUARD_BITS = 64
"""How much finer the unit of the sums is than what the bits drawn so far can tell."""


class SinglePeaked(Protocol):
    """A law on the integers from ``least`` on, whose probabilities rise up to ``mode`` and fall after it."""

    @property
    def least(self) -> int:
        """The least value."""

    @property
    def mode(self) -> int:
        """A most likely value."""

    def mass_at_mode(self, precision: int) -> Enclosure:
        """Enclose P(mode), to a relative 2**-precision."""

    def ratio(self, k: int) -> Fraction:
        """Give P(k + 1) / P(k), exactly."""


def single_peaked(law: SinglePeaked, randomness: Randomness) -> int:
    """Draw from the law, exactly."""
    number = Uniform(randomness)
    while True:
        number.refine()
        walk = _outward(law, number.bits + SPARE_BITS)
        value, reached = next(step for step in walk if number.lower() < step[1].high)
        if number.upper() <= reached.low:
            return value


def _outward(law: SinglePeaked, precision: int) -> Iterator[tuple[int, Enclosure]]:
    """Walk outward from the mode; beside each value, enclose the probability of all seen so far."""
    unit = precision + GUARD_BITS
    one = 1 << unit
    mass = law.mass_at_mode(unit)
    up = down = step = (law.mode, math.floor(mass.low * one), math.ceil(mass.high * one))
    total_low = total_high = 0
    while True:
        k, low, high = step
        total_low, total_high = total_low + low, total_high + high
        yield k, Enclosure(Fraction(total_low, one), Fraction(total_high, one))
        rising = down[0] == law.least or up[0] - law.mode <= law.mode - down[0]
        k, low, high = up if rising else down
        top, bottom = (law.ratio(k) if rising else 1 / law.ratio(k - 1)).as_integer_ratio()
        step = (k + (1 if rising else -1), low * top // bottom, -(-high * top // bottom))
        up, down = (step, down) if rising else (up, step)
