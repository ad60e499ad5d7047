"""Inversion: one uniform number, compared with summed probabilities, draws from any law with a single peak.

The sums begin at the mode and go outward, so that the first steps are the likely ones. They are enclosed in
whole multiples of a tiny unit, and looked at more closely for as long as they leave a doubt.

Proof: unimodal.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Protocol

from dpselect.exact.enclosures import Enclosure
from dpselect.exact.partial_numbers import SPARE_BITS, Uniform
from dpselect.exact.randomness import Randomness

GUARD_BITS = 64
"""How much finer the unit of the sums is than what the bits drawn so far can tell."""


class SinglePeaked(Protocol):
    """A law on the integers from ``least`` on, whose probabilities rise up to ``mode`` and fall after it.

    It is a frozen value: what was computed of it once is remembered.
    """

    def __hash__(self) -> int: ...

    @property
    def least(self) -> int:
        """The least value."""

    @property
    def mode(self) -> int:
        """A most likely value."""

    def mass_at_mode(self, precision: int) -> Enclosure:
        """Enclose P(mode), to a relative 2**-precision."""

    def ratio(self, k: int) -> tuple[int, int]:
        """Give P(k + 1) / P(k), exactly: the top and the bottom of a fraction."""


def single_peaked(law: SinglePeaked, randomness: Randomness) -> int:
    """Draw from the law, exactly."""
    number = Uniform(randomness)
    while True:
        number.refine()
        finer = SPARE_BITS + GUARD_BITS
        lower, upper = number.numerator << finer, (number.numerator + 1) << finer
        walk = outward(law, number.bits + finer)
        value, low = next((k, low) for k, low, high in walk if lower < high)
        if upper <= low:
            return value


def outward(law: SinglePeaked, bits: int) -> Iterator[tuple[int, int, int]]:
    """Walk outward from the mode; beside each value, bound the sum so far, in units of 2**-bits."""
    least, mode = law.least, law.mode
    up = down = step = (mode, *_at_mode(law, bits))
    total_low = total_high = 0
    while True:
        k, low, high = step
        total_low, total_high = total_low + low, total_high + high
        yield k, total_low, total_high
        rising = down[0] == least or up[0] - mode <= mode - down[0]
        if rising:
            k, low, high = up
            top, bottom = law.ratio(k)
            up = step = (k + 1, low * top // bottom, -(-high * top // bottom))
        else:
            k, low, high = down
            bottom, top = law.ratio(k - 1)
            down = step = (k - 1, low * top // bottom, -(-high * top // bottom))


@lru_cache(maxsize=256)
def _at_mode(law: SinglePeaked, bits: int) -> tuple[int, int]:
    mass = law.mass_at_mode(bits)
    return math.floor(mass.low * 2**bits), math.ceil(mass.high * 2**bits)
