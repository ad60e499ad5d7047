"""Partially sampled random numbers: real numbers of which only some random bits have been drawn.

More bits are drawn when a comparison needs them, so comparing two is exact, and no float is near.

Reference: Karney 2016, Sampling exactly from the normal distribution, section 4.
Proof:     partial_numbers.proof.md
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Self, TypeAlias

from dpselect.errors import InvalidParameter, OutsideDomain
from dpselect.exact.enclosures import MOST_BITS, Enclosure, enclose
from dpselect.exact.numbers import Number, positive, score, whole
from dpselect.exact.randomness import Randomness, checked
from dpselect.silence import takes_data

SPARE_BITS = 8
"""How much finer a bound is, at the least, than the bits drawn so far can tell."""

Bound: TypeAlias = Fraction | float
"""An exact bound, or an infinity."""


class PartialNumber(ABC):
    """A random real number that lies between two bounds, and comes to lie closer with every word drawn."""

    __slots__ = ()

    bits: int
    """How many random bits have been drawn."""

    @abstractmethod
    def refine(self) -> None:
        """Draw one more word."""

    @abstractmethod
    def lower(self, precision: int) -> Bound:
        """Bound the number from below; minus infinity while nothing is known."""

    @abstractmethod
    def upper(self, precision: int) -> Bound:
        """Bound the number from above; plus infinity while nothing is known."""

    def greater_than(self, other: PartialNumber) -> bool:
        """Decide self > other exactly, drawing bits until the two intervals part.

        Ends with probability one: two independent numbers are equal with probability zero.
        """
        if not isinstance(other, PartialNumber):
            raise InvalidParameter.must_be("other", "a partially sampled number", got=other)
        while other is not self:
            low, high = self.interval()
            lower, higher = other.interval()
            if low >= higher:
                return True
            if lower >= high:
                return False
            (self if _width(low, high) >= _width(lower, higher) else other).refine()
        return False

    def interval(self) -> tuple[Bound, Bound]:
        """Give both bounds, finer than the bits drawn so far can tell."""
        return self.lower(self.bits + SPARE_BITS), self.upper(self.bits + SPARE_BITS)

    def __reduce__(self) -> str:
        """Refuse to be pickled or copied: it holds a score, and bits that must not be used twice."""
        raise TypeError("a partially sampled number is not copied: it holds a score and random bits.")

    def __repr__(self) -> str:
        """Show neither score nor bit."""
        return f"<{type(self).__name__} number, {self.bits} bits drawn>"


def _width(low: Bound, high: Bound) -> Bound:
    """Subtract; what is unbounded is infinitely wide, however long the other end."""
    return math.inf if math.inf in (-low, high) else high - low


class OneUniform(PartialNumber):
    """An increasing function of a uniform number, of which [numerator, numerator + 1) / 2**bits is known."""

    __slots__ = ("_fineness", "_high", "_low", "_numerator", "_randomness", "bits")

    def __init__(self, randomness: Randomness) -> None:
        self.bits = 0
        self._randomness = checked(randomness)
        self._numerator = 0
        self._fineness = 0
        self._low: Bound | None = None
        self._high: Bound | None = None

    def refine(self) -> None:
        """Draw one more word."""
        self.append(self._randomness.word())

    def append(self, word: int) -> None:
        """Narrow to one part of 2**width; the first part keeps the lower end, the last part the upper."""
        width = self._randomness.width
        self._numerator = (self._numerator << width) | word
        self.bits += width
        if word > 0:
            self._low = None
        if word < (1 << width) - 1:
            self._high = None

    @property
    def _known(self) -> Enclosure:
        """What is known of the uniform number."""
        unit = 1 << self.bits
        return Enclosure(Fraction(self._numerator, unit), Fraction(self._numerator + 1, unit))

    def interval(self) -> tuple[Bound, Bound]:
        """Give both bounds, computing only what the last words have changed."""
        if self.bits + SPARE_BITS > self._fineness:
            self._fineness = self.bits + 64
            self._low = self._high = None
        if self._low is None:
            self._low = self.lower(self._fineness)
        if self._high is None:
            self._high = self.upper(self._fineness)
        return self._low, self._high


class Uniform(OneUniform):
    """A number uniform between 0 and 1; its bounds are exact, whatever the precision."""

    __slots__ = ()

    @classmethod
    def begun(cls, word: int, randomness: Randomness) -> Self:
        """Begin with a word that was drawn already."""
        number = cls(randomness)
        number.append(word)
        return number

    @property
    def numerator(self) -> int:
        """The lower end, in units of 2**-bits."""
        return self._numerator

    def narrow(self, parts: int) -> None:
        """Draw until the interval is at most 1/parts of its lower end wide."""
        while self._numerator < parts:
            self.refine()

    def is_at_most(self, bound: Fraction) -> bool:
        """Say whether all that the number may be is at most the bound: ``upper() <= bound``, in integers."""
        return (self._numerator + 1) * bound.denominator <= bound.numerator << self.bits

    def is_at_least(self, bound: Fraction) -> bool:
        """Say whether all that the number may be is at least the bound: ``lower() >= bound``, in integers."""
        return self._numerator * bound.denominator >= bound.numerator << self.bits

    def lower(self, precision: int = 1) -> Fraction:
        """Give the lower end, exactly, whatever the precision."""
        del precision
        return self._known.low

    def upper(self, precision: int = 1) -> Fraction:
        """Give the upper end, exactly, whatever the precision."""
        del precision
        return self._known.high


class _Noisy(OneUniform):
    """shift + scale * quantile(U)."""

    __slots__ = ("_scale", "_shift")

    @takes_data
    def __init__(self, shift: object, scale: Number, randomness: Randomness) -> None:
        """Read shift as a score (a float is the binary number it is) and scale as a parameter."""
        super().__init__(randomness)
        self._scale = positive(scale, "scale")
        known = score(shift)
        if known is None:
            raise OutsideDomain("shift must be a finite real number: int, float, Decimal or Fraction.")
        self._shift = known

    @abstractmethod
    def _quantile(self, u: Fraction, precision: int) -> Enclosure | None:
        """Enclose the quantile function at u, or nothing where it is infinite."""

    def lower(self, precision: int) -> Bound:
        """Bound the number from below, to a relative 2**-precision of its noise."""
        noise = self._quantile(self._known.low, whole(precision, "precision", least=1, most=MOST_BITS))
        return -math.inf if noise is None else self._shift + self._scale * noise.low

    def upper(self, precision: int) -> Bound:
        """Bound the number from above, to a relative 2**-precision of its noise."""
        noise = self._quantile(self._known.high, whole(precision, "precision", least=1, most=MOST_BITS))
        return math.inf if noise is None else self._shift + self._scale * noise.high


class Gumbel(_Noisy):
    """shift + scale * -ln(-ln U): the largest of several is drawn by the exponential mechanism."""

    __slots__ = ()

    def _quantile(self, u: Fraction, precision: int) -> Enclosure | None:
        return enclose(lambda ball: -(-ball.log()).log(), u, precision=precision) if 0 < u < 1 else None


class Exponential(_Noisy):
    """shift + scale * -ln(1 - U): the largest of several is drawn by permute-and-flip."""

    __slots__ = ()

    def _quantile(self, u: Fraction, precision: int) -> Enclosure | None:
        return enclose(lambda ball: -ball.log(), 1 - u, precision=precision) if u < 1 else None


class Laplace(_Noisy):
    """shift + scale * noise of density exp(-|z|) / 2: ln(2 U) below one half, -ln(2 - 2 U) above."""

    __slots__ = ()

    def _quantile(self, u: Fraction, precision: int) -> Enclosure | None:
        if 2 * u <= 1:
            return enclose(lambda ball: ball.log(), 2 * u, precision=precision) if u > 0 else None
        return enclose(lambda ball: -ball.log(), 2 - 2 * u, precision=precision) if u < 1 else None


class Known(PartialNumber):
    """A number without randomness: both of its bounds are the number itself."""

    __slots__ = ("_number", "bits")

    def __init__(self, number: Fraction) -> None:
        """Keep the number."""
        self.bits = 0
        self._number = number

    def refine(self) -> None:
        """Draw nothing: there is nothing to know."""

    def lower(self, precision: int) -> Fraction:
        """Give the number, whatever the precision."""
        del precision
        return self._number

    def upper(self, precision: int) -> Fraction:
        """Give the number, whatever the precision."""
        del precision
        return self._number
