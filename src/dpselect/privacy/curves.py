"""Guarantees that are functions: a Rényi divergence for each order, a delta for each epsilon.

Both are kept as the list of what was run, and how often, so that n runs cost exactly n times.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self, TypeAlias

from dpselect.errors import IncomparableLosses, InvalidParameter
from dpselect.exact.numbers import Number, not_negative, probability, rational, whole

Amount: TypeAlias = Fraction | float
"""A price: an exact number, or ``math.inf``."""

Formula: TypeAlias = Callable[[Fraction], Amount]


def amount(value: Number, name: str) -> Amount:
    """Read a price: zero, a positive number, or ``math.inf``."""
    if isinstance(value, float) and value == math.inf:
        return math.inf
    return not_negative(value, name)


def times(count: int, price: Amount) -> Amount:
    """Multiply; no run costs nothing, even of an infinite price."""
    return Fraction(0) if count == 0 else count * price


@dataclass(frozen=True)
class Table:
    """A bound known at finitely many points, in increasing order."""

    points: tuple[tuple[Fraction, Amount], ...]


@dataclass(frozen=True, init=False, repr=False)
class _Curve:
    """A formula or a table for each thing that was run, and the number of its runs."""

    runs: frozenset[tuple[Formula | Table, int]]

    _NAMES: ClassVar[tuple[str, str]]

    def __init__(self, bound: Formula | Mapping[Number, Number]) -> None:
        """Take a function, or a table of points."""
        if isinstance(bound, Mapping):
            known: Formula | Table = self._table(bound)
        elif callable(bound):
            known = bound
        else:
            raise InvalidParameter.must_be(
                f"the bound of a {type(self).__name__}", "a function or a table {point: bound}", got=bound
            )
        object.__setattr__(self, "runs", frozenset({(known, 1)}))

    @classmethod
    @abstractmethod
    def _table(cls, points: Mapping[Number, Number]) -> Table: ...

    @classmethod
    def _of(cls, counts: Mapping[Formula | Table, int]) -> Self:
        curve = object.__new__(cls)
        object.__setattr__(curve, "runs", frozenset((run, n) for run, n in counts.items() if n))
        return curve

    def __add__(self, other: Self) -> Self:
        """Give the guarantee of running both."""
        if type(other) is not type(self):
            return NotImplemented
        return self._of(Counter(dict(self.runs)) + Counter(dict(other.runs)))

    def __mul__(self, count: int) -> Self:
        """Give the guarantee of that many runs."""
        n = whole(count, "count", least=0)
        return self._of({run: n * so_far for run, so_far in self.runs})

    __rmul__ = __mul__

    def __le__(self, other: Self) -> bool:
        """Say whether this guarantee is at least as strong everywhere.

        Decided at the points of a table, or by comparing runs of the same formulas.
        """
        if type(other) is not type(self):
            return NotImplemented
        if len(other.runs) == 1:
            ((bound, count),) = other.runs
            if isinstance(bound, Table) and count == 1:
                return all(self._value(point) <= most for point, most in bound.points)
        mine, theirs = dict(self.runs), dict(other.runs)
        if all(n <= theirs.get(run, 0) for run, n in mine.items()):
            return True
        if len(mine) == 1 and mine.keys() == theirs.keys():
            return False
        point, value = self._NAMES
        raise IncomparableLosses(
            f"two formulas cannot be compared at every {point}; compare with a table of the points that "
            f"matter: {type(self).__name__}({{{point}: {value}}})."
        )

    def __ge__(self, other: Self) -> bool:
        """Say whether the other guarantee is at least as strong everywhere."""
        return other <= self

    @abstractmethod
    def _value(self, point: Fraction) -> Amount: ...

    def __repr__(self) -> str:
        parts = sorted(f"{run!r}" + (f" * {n}" if n > 1 else "") for run, n in self.runs)
        return f"{type(self).__name__}({' + '.join(parts) or 0})"


class RenyiCurve(_Curve):
    """An upper bound on the Rényi divergence of every order above 1.

    >>> curve = RenyiCurve(lambda alpha: alpha / 8)
    >>> (curve * 3)(2)
    Fraction(3, 4)
    """

    _NAMES = ("order", "epsilon")

    @classmethod
    def _table(cls, points: Mapping[Number, Number]) -> Table:
        return Table(
            tuple(sorted((_order(alpha), amount(bound, "epsilon")) for alpha, bound in points.items()))
        )

    def __call__(self, alpha: Number) -> Amount:
        """Bound the divergence of one order."""
        return self._value(_order(alpha))

    def _value(self, point: Fraction) -> Amount:
        return sum((times(n, self._at(run, point)) for run, n in self.runs), Fraction(0))

    @staticmethod
    def _at(bound: Formula | Table, alpha: Fraction) -> Amount:
        """Look a table up at the next known order: the divergence grows with the order."""
        if isinstance(bound, Table):
            return min((most for order, most in bound.points if order >= alpha), default=math.inf)
        return amount(bound(alpha), "the bound")


def _order(alpha: Number) -> Fraction:
    order = rational(alpha, "alpha")
    if not order > 1:
        raise InvalidParameter.must_be("alpha", "an order above 1", got=alpha)
    return order


class PrivacyProfile(_Curve):
    """An upper bound on delta for every epsilon.

    >>> profile = PrivacyProfile({1: 0, "1/2": "1e-6"})
    >>> profile.delta(1), profile.epsilon("1e-6"), profile.delta("1/4")
    (Fraction(0, 1), Fraction(1, 2), Fraction(1, 1))
    """

    _NAMES = ("epsilon", "delta")

    @classmethod
    def _table(cls, points: Mapping[Number, Number]) -> Table:
        return Table(
            tuple(sorted((not_negative(e, "epsilon"), probability(d, "delta")) for e, d in points.items()))
        )

    def delta(self, epsilon: Number) -> Fraction:
        """Bound delta at one epsilon. Of n runs each gets an equal share of epsilon (basic composition)."""
        return self._value(not_negative(epsilon, "epsilon"))

    def _value(self, point: Fraction) -> Fraction:
        share = point / max(1, self._count)
        return min(Fraction(1), sum((n * self._delta_at(run, share) for run, n in self.runs), Fraction(0)))

    def epsilon(self, delta: Number) -> Amount:
        """Bound epsilon at one delta. Of n runs each gets an equal share of delta (basic composition)."""
        share = probability(delta, "delta") / max(1, self._count)
        return sum((times(n, self._epsilon_at(run, share)) for run, n in self.runs), Fraction(0))

    @property
    def _count(self) -> int:
        return sum(n for _, n in self.runs)

    @staticmethod
    def _delta_at(bound: Formula | Table, epsilon: Fraction) -> Fraction:
        """Look a table up at the last known epsilon: delta falls as epsilon grows."""
        if isinstance(bound, Table):
            found = (Fraction(most) for known, most in bound.points if known <= epsilon)
            return min(found, default=Fraction(1))
        return min(Fraction(1), probability(bound(epsilon), "the bound"))

    @classmethod
    def _epsilon_at(cls, bound: Formula | Table, delta: Fraction) -> Amount:
        """Find an epsilon with so small a delta, at most 2**-64 (relatively) above the least one."""
        if isinstance(bound, Table):
            return min((known for known, most in bound.points if most <= delta), default=math.inf)
        if cls._delta_at(bound, Fraction(0)) <= delta:
            return Fraction(0)
        enough = Fraction(1, 2**64)
        while cls._delta_at(bound, enough) > delta:
            enough *= 2
            if enough > 2**64:
                return math.inf
        short = enough / 2
        while enough - short > enough / 2**64:
            middle = (short + enough) / 2
            short, enough = (short, middle) if cls._delta_at(bound, middle) <= delta else (middle, enough)
        return enough
