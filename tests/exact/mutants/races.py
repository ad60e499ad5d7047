"""Wrong partially sampled numbers: the largest of several does not follow permute-and-flip."""

from __future__ import annotations

from fractions import Fraction

from dpselect.exact.partial_numbers import Bound, Exponential, PartialNumber
from dpselect.exact.randomness import Randomness


class Impatient(Exponential):
    """Wrong refinement: stops at 4 bits, and compares the middles."""

    __slots__ = ()

    def greater_than(self, other: PartialNumber) -> bool:
        while min(self.bits, other.bits) < 4:
            (self if self.bits < 4 else other).refine()
        return self.lower(64) >= other.lower(64)


class Hasty(Exponential):
    """Wrong refinement: a bound is taken from the wrong end of what is known."""

    __slots__ = ()

    def upper(self, precision: int) -> Bound:
        return self.lower(precision)


class DrawnAnew(PartialNumber):
    """Wrong refinement: where two bits do not decide, two others are drawn instead of more."""

    def __init__(self, shift: float | Fraction, scale: Fraction, source: Randomness) -> None:
        self._given = shift, scale, source
        self._number = Exponential(*self._given)
        self.bits = 0

    def refine(self) -> None:
        if self.bits == 2:
            self._number = Exponential(*self._given)
        self._number.refine()
        self.bits = self._number.bits

    def lower(self, precision: int) -> Bound:
        return self._number.lower(precision)

    def upper(self, precision: int) -> Bound:
        return self._number.upper(precision)


def with_the_rate(shift: float | Fraction, scale: Fraction, source: Randomness) -> PartialNumber:
    """A rate where a scale was meant (B4)."""
    return Exponential(shift, 1 / scale, source)


def the_least(shift: float | Fraction, scale: Fraction, source: Randomness) -> PartialNumber:
    """The scores are negated once too often (B4)."""
    return Exponential(-shift, scale, source)
