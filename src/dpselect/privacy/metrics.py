"""Metrics: how far apart two neighbouring inputs are.

The privacy of a selection depends on one number, the range distance: by how much more one score can rise than
another. A metric on scores converts its own distance into that one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import Number, not_negative


@dataclass(frozen=True)
class LInfDistance:
    """Every score changes by at most d_in; if monotonic, all of them up or all of them down."""

    monotonic: bool = False

    def distance(self, d_in: Number) -> Fraction:
        """Read a distance."""
        return not_negative(d_in, "d_in")

    def range_distance(self, d_in: Number) -> Fraction:
        """Convert to the range distance: one score may rise by d_in while another falls by d_in."""
        return self.distance(d_in) * (1 if self.monotonic else 2)


@dataclass(frozen=True)
class RangeDistance:
    """The changes of any two scores differ by at most d_in."""

    def distance(self, d_in: Number) -> Fraction:
        """Read a distance."""
        return not_negative(d_in, "d_in")

    def range_distance(self, d_in: Number) -> Fraction:
        """Give the distance itself."""
        return self.distance(d_in)


@dataclass(frozen=True)
class L1Distance:
    """The changes of all scores, without their signs, add up to at most d_in."""

    def distance(self, d_in: Number) -> Fraction:
        """Read a distance."""
        return not_negative(d_in, "d_in")

    def range_distance(self, d_in: Number) -> Fraction:
        """Give the distance itself: of two scores, one may rise and the other fall by d_in together."""
        return self.distance(d_in)


@dataclass(frozen=True)
class AbsoluteDistance:
    """A single number changes by at most d_in."""

    def distance(self, d_in: Number) -> Fraction:
        """Read a distance."""
        return not_negative(d_in, "d_in")


@dataclass(frozen=True)
class SymmetricDistance:
    """At most d_in people are added or removed."""

    def distance(self, d_in: Number) -> Fraction:
        """Read a number of people."""
        return _people(d_in)


@dataclass(frozen=True)
class ChangeOneDistance:
    """At most d_in people are replaced by others."""

    def distance(self, d_in: Number) -> Fraction:
        """Read a number of people."""
        return _people(d_in)


def _people(d_in: Number) -> Fraction:
    people = not_negative(d_in, "d_in")
    if people.denominator != 1:
        raise InvalidParameter.must_be("d_in", "a whole number of people", got=d_in)
    return people


Metric: TypeAlias = (
    LInfDistance | RangeDistance | L1Distance | AbsoluteDistance | SymmetricDistance | ChangeOneDistance
)
ScoreMetric: TypeAlias = LInfDistance | RangeDistance | L1Distance


def linf_distance(*, monotonic: bool = False) -> LInfDistance:
    """Give the metric of the largest change of any one score."""
    if not isinstance(monotonic, bool):
        raise InvalidParameter.must_be("monotonic", "True or False", got=monotonic)
    return LInfDistance(monotonic)


def range_distance() -> RangeDistance:
    """Give the metric that selection depends on: max_i change_i - min_i change_i."""
    return RangeDistance()


def l1_distance() -> L1Distance:
    """Give the metric of how far all scores move together: the sum of |change_i|.

    >>> l1_distance().range_distance(2)
    Fraction(2, 1)
    """
    return L1Distance()


def absolute_distance() -> AbsoluteDistance:
    """Give the metric |x - x'| of single numbers."""
    return AbsoluteDistance()


def symmetric_distance() -> SymmetricDistance:
    """Give the metric of data sets that counts people added or removed."""
    return SymmetricDistance()


def change_one_distance() -> ChangeOneDistance:
    """Give the metric of data sets that counts people replaced."""
    return ChangeOneDistance()
