"""Guarantees that are functions, and the first of them: a Rényi divergence for each order.

A curve is kept as the list of what was run, and how often, so that n runs cost exactly n times.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self, TypeAlias

from dpselect.errors import IncomparableLosses, InvalidParameter
from dpselect.exact.numbers import Number, rational, whole
from dpselect.privacy.amounts import Amount, amount, amount_text, times, total

Formula: TypeAlias = Callable[[Fraction], Amount]


@dataclass(frozen=True, repr=False)
class TabulatedBound:
    """A bound known at finitely many points, in increasing order."""

    points: tuple[tuple[Fraction, Amount], ...]

    def __repr__(self) -> str:
        return f"{{{', '.join(f'{_shown(point)}: {_shown(bound)}' for point, bound in self.points)}}}"


def _shown(number: Amount) -> str:
    return f"'{amount_text(number)}'" if isinstance(number, Fraction) else amount_text(number)


def _hashable(bound: object) -> bool:
    try:
        hash(bound)
    except TypeError:
        return False
    return True


@dataclass(frozen=True, init=False, repr=False)
class Curve:
    """A formula or a table for each thing that was run, and the number of its runs."""

    runs: frozenset[tuple[Formula | TabulatedBound, int]]

    _NAMES: ClassVar[tuple[str, str]]

    def __init__(self, bound: Formula | Mapping[Any, Any]) -> None:
        """Take a function, or a table of points."""
        if isinstance(bound, Mapping):
            known: Formula | TabulatedBound = self._table(bound)
        elif callable(bound) and _hashable(bound) and not isinstance(bound, Curve):
            known = bound
        else:
            raise InvalidParameter.must_be(
                f"the bound of a {type(self).__name__}", "a function or a table {point: bound}", got=bound
            )
        object.__setattr__(self, "runs", frozenset({(known, 1)}))

    @classmethod
    @abstractmethod
    def _table(cls, points: Mapping[Any, Any]) -> TabulatedBound: ...

    @classmethod
    def _of(cls, counts: Mapping[Formula | TabulatedBound, int]) -> Self:
        curve = object.__new__(cls)
        object.__setattr__(curve, "runs", frozenset((run, n) for run, n in counts.items() if n))
        return curve

    @property
    def table(self) -> TabulatedBound | None:
        """The table that the curve was made from; None for formulas, and for several runs."""
        if len(self.runs) != 1:
            return None
        ((bound, count),) = self.runs
        return bound if isinstance(bound, TabulatedBound) and count == 1 else None

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
        if (table := other.table) is not None:
            return all(self._value(point) <= most for point, most in table.points)
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
        if type(other) is not type(self):
            return NotImplemented
        return other <= self

    @abstractmethod
    def _value(self, point: Fraction) -> Amount: ...

    def __repr__(self) -> str:
        parts = sorted(f"{run!r}" + (f" * {n}" if n > 1 else "") for run, n in self.runs)
        return f"{type(self).__name__}({' + '.join(parts) or 0})"


@dataclass(frozen=True, init=False, repr=False)
class RenyiCurve(Curve):
    """An upper bound on the Rényi divergence of every order above 1.

    >>> curve = RenyiCurve(lambda alpha: alpha / 8)
    >>> (curve * 3)(2)
    Fraction(3, 4)
    """

    _NAMES = ("order", "epsilon")

    @classmethod
    def _table(cls, points: Mapping[Any, Any]) -> TabulatedBound:
        return TabulatedBound(
            tuple(sorted((_order(alpha), amount(bound, "epsilon")) for alpha, bound in points.items()))
        )

    def __call__(self, alpha: Number) -> Amount:
        """Bound the divergence of one order."""
        return self._value(_order(alpha))

    def _value(self, point: Fraction) -> Amount:
        return total(times(n, self._at(run, point)) for run, n in self.runs)

    @staticmethod
    def _at(bound: Formula | TabulatedBound, alpha: Fraction) -> Amount:
        """Look a table up at the next known order: the divergence grows with the order."""
        if isinstance(bound, TabulatedBound):
            return min((most for order, most in bound.points if order >= alpha), default=math.inf)
        return amount(bound(alpha), "the bound")


def _order(alpha: Number) -> Fraction:
    order = rational(alpha, "alpha")
    if not order > 1:
        raise InvalidParameter.must_be("alpha", "an order above 1", got=alpha)
    return order
