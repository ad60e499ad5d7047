"""The privacy profile: a delta for each epsilon."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from dpselect.exact.bisection import bisect
from dpselect.exact.numbers import Number, not_negative, probability
from dpselect.privacy.amounts import Amount, amount, times, total
from dpselect.privacy.curves import Curve, Formula, TabulatedBound

LEAST_DELTA = Fraction(1, 2**1000)
"""A smaller delta is not searched for, but bounded by this one."""

DELTA_BITS = 16
"""A delta that is searched for is at most a relative 2**-16 above the least one."""


@dataclass(frozen=True, init=False, repr=False)
class PrivacyProfile(Curve):
    """An upper bound on delta for every epsilon: a table, or a formula.

    A formula that has a method ``epsilon(delta)`` is asked for its inverse; otherwise we search for it.
    Several runs share epsilon or delta among them, as basic composition allows.

    >>> profile = PrivacyProfile({1: 0, "1/2": "1e-6"})
    >>> profile.delta(1), profile.epsilon("1e-6"), profile.delta("1/4")
    (Fraction(0, 1), Fraction(1, 2), Fraction(1, 1))
    """

    measure: ClassVar[str] = "approximate(max_divergence)"
    """The definition of privacy that a profile is stated in, as of the losses."""

    _NAMES = ("epsilon", "delta")

    @classmethod
    def _table(cls, points: Mapping[Any, Any]) -> TabulatedBound:
        return TabulatedBound(
            tuple(sorted((not_negative(e, "epsilon"), probability(d, "delta")) for e, d in points.items()))
        )

    @classmethod
    def zero(cls) -> Self:
        """Give the profile of no release at all."""
        return cls({}) * 0

    def delta(self, epsilon: Number) -> Fraction:
        """Bound delta at one epsilon."""
        return self._value(not_negative(epsilon, "epsilon"))

    def epsilon(self, delta: Number) -> Amount:
        """Bound epsilon at one delta, of which every run gets an equal share."""
        share = probability(delta, "delta") / self._count
        return total(times(n, _epsilon_at(run, share)) for run, n in self.runs)

    def _value(self, point: Fraction) -> Fraction:
        """Give every run an equal share of epsilon, or of delta if that bounds different runs better."""
        share = point / self._count
        equal = min(Fraction(1), sum((n * _delta_at(run, share) for run, n in self.runs), Fraction(0)))
        return min(equal, self._least_delta(point)) if len(self.runs) > 1 else equal

    def _least_delta(self, epsilon: Fraction) -> Fraction:
        """Search for the least delta whose epsilon is at most this one: first among the deltas of tables."""
        tables = [run for run, _ in self.runs if isinstance(run, TabulatedBound)]
        listed = {Fraction(most) * self._count for table in tables for _, most in table.points}
        exact = (
            delta for delta in sorted({Fraction(0), *listed}) if delta <= 1 and self.epsilon(delta) <= epsilon
        )
        enough = next(exact, Fraction(1))
        if enough == 0:
            return enough
        while enough > LEAST_DELTA and self.epsilon(enough / 2) <= epsilon:
            enough /= 2
        return bisect(
            lambda delta: self.epsilon(delta) <= epsilon, fails=enough / 2, holds=enough, bits=DELTA_BITS
        ).holds

    @property
    def _count(self) -> int:
        return max(1, sum(n for _, n in self.runs))


def _delta_at(bound: Formula | TabulatedBound, epsilon: Fraction) -> Fraction:
    """Evaluate; a table is looked up at the last known epsilon, because delta falls as epsilon grows."""
    if isinstance(bound, TabulatedBound):
        found = (Fraction(most) for known, most in bound.points if known <= epsilon)
        return min(found, default=Fraction(1))
    return Fraction(min(Fraction(1), amount(bound(epsilon), "the bound")))


def _epsilon_at(bound: Formula | TabulatedBound, delta: Fraction) -> Amount:
    """Invert; the search ends within a relative 2**-64 of the least epsilon, or an absolute 2**-64."""
    if isinstance(bound, TabulatedBound):
        return min((known for known, most in bound.points if most <= delta), default=math.inf)
    if callable(inverse := getattr(bound, "epsilon", None)):
        return amount(inverse(delta), "the bound")
    if _delta_at(bound, Fraction(0)) <= delta:
        return Fraction(0)
    enough = Fraction(1, 2**64)
    while _delta_at(bound, enough) > delta:
        enough *= 2
        if enough > 2**64:
            return math.inf
    return bisect(
        lambda epsilon: _delta_at(bound, epsilon) <= delta, fails=enough / 2, holds=enough, bits=64
    ).holds
