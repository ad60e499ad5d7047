"""Privacy losses: what a release costs. They add, multiply by a count and compare, exactly.

Losses of different kinds do none of it: a conversion is always spelled out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, Self

from dpselect.errors import IncomparableLosses
from dpselect.exact.numbers import Number, exact_text, probability, rounded_down, rounded_up, whole
from dpselect.privacy.amounts import Amount, amount, plus, times
from dpselect.privacy.curves import Formula, RenyiCurve

LONGEST_EXACT = 24


@dataclass(frozen=True)
class _Loss:
    """The arithmetic of guarantees, written once: part by part."""

    def parts(self) -> tuple[Any, ...]:
        """Give the parts of the loss, in the order of the constructor."""
        return tuple(getattr(self, field.name) for field in fields(self))

    @classmethod
    def _of(cls, *parts: Any) -> Self:
        return cls(*parts)

    def _same_kind(self, other: object, verb: str) -> tuple[Any, ...]:
        if isinstance(other, type(self)):
            return other.parts()
        names = f"{type(self).__name__} and {type(other).__name__}"
        raise IncomparableLosses(f"{names} do not {verb}; convert one of them first.")

    def __add__(self, other: Self) -> Self:
        """Give the loss of both releases together."""
        return self._of(*map(plus, self.parts(), self._same_kind(other, "add")))

    def __mul__(self, count: int) -> Self:
        """Give the loss of that many releases."""
        n = whole(count, "count", least=0)
        return self._of(
            *(part * n if isinstance(part, RenyiCurve) else times(n, part) for part in self.parts())
        )

    __rmul__ = __mul__

    def __le__(self, other: Self) -> bool:
        """Say whether this loss is at most the other in every part."""
        return all(a <= b for a, b in zip(self.parts(), self._same_kind(other, "compare"), strict=True))

    def __lt__(self, other: Self) -> bool:
        """Say whether this loss is at most the other, and not equal to it."""
        return self <= other and self != other

    def __ge__(self, other: Self) -> bool:
        """Say whether the other loss is at most this one in every part."""
        self._same_kind(other, "compare")
        return other <= self

    def __gt__(self, other: Self) -> bool:
        """Say whether the other loss is at most this one, and not equal to it."""
        return self >= other and self != other

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(_exactly(part) for part in self.parts())})"


def _exactly(part: Amount | RenyiCurve) -> str:
    return f"'{exact_text(part)}'" if isinstance(part, Fraction) else repr(part)


def _readably(part: Amount) -> str:
    text = exact_text(part) if isinstance(part, Fraction) else repr(part)
    return text if len(text) <= LONGEST_EXACT else f"{rounded_up(part, 6)} (rounded up)"


def _at_least(part: Amount) -> str:
    text = _readably(part)
    return text if "rounded" not in text else f"{rounded_down(part, 6)} (rounded down)"


@dataclass(frozen=True, init=False, repr=False)
class PureDP(_Loss):
    """Pure differential privacy: an observer's odds change by at most a factor of exp(epsilon).

    >>> PureDP("1/10") * 10 == PureDP(1)
    True
    """

    epsilon: Amount

    def __init__(self, epsilon: Number) -> None:
        """Read epsilon, exactly; ``math.inf`` is no privacy."""
        object.__setattr__(self, "epsilon", amount(epsilon, "epsilon"))

    def __str__(self) -> str:
        return f"epsilon {_readably(self.epsilon)}"

    def left(self) -> str:
        """Say that so much is left: as ``str``, but rounded down, since who rounds up promises too much."""
        return f"epsilon {_at_least(self.epsilon)}"


@dataclass(frozen=True, init=False, repr=False)
class ZCDP(_Loss):
    """Zero-concentrated differential privacy: every Rényi divergence of order alpha is at most rho * alpha.

    >>> ZCDP("1/8") + ZCDP("1/8")
    ZCDP('1/4')
    """

    rho: Amount

    def __init__(self, rho: Number) -> None:
        """Read rho, exactly; ``math.inf`` is no privacy."""
        object.__setattr__(self, "rho", amount(rho, "rho"))

    def __str__(self) -> str:
        return f"rho {_readably(self.rho)}"

    def left(self) -> str:
        """Say that so much is left: as ``str``, but rounded down, since who rounds up promises too much."""
        return f"rho {_at_least(self.rho)}"


@dataclass(frozen=True, init=False, repr=False)
class ApproxDP(_Loss):
    """Approximate differential privacy; sums are those of basic composition.

    Smaller means smaller in both parts: of two losses, neither need be the smaller one.

    >>> ApproxDP(1, "1e-6") * 2
    ApproxDP('2', '1/500000')
    """

    epsilon: Amount
    delta: Fraction

    def __init__(self, epsilon: Number, delta: Number) -> None:
        """Read epsilon and delta, exactly."""
        object.__setattr__(self, "epsilon", amount(epsilon, "epsilon"))
        object.__setattr__(self, "delta", probability(delta, "delta"))

    @classmethod
    def _of(cls, *parts: Any) -> Self:
        epsilon, delta = parts
        return cls(epsilon, min(Fraction(1), delta))

    def __str__(self) -> str:
        return f"epsilon {_readably(self.epsilon)} with delta {_readably(self.delta)}"


@dataclass(frozen=True, init=False, repr=False)
class RenyiDP(_Loss):
    """Rényi differential privacy: a bound for each order.

    >>> RenyiDP(lambda alpha: alpha / 8) * 2 <= RenyiDP({2: "1/2", 8: 2})
    True
    """

    curve: RenyiCurve

    def __init__(self, curve: RenyiCurve | Formula | Mapping[Any, Any]) -> None:
        """Take a curve, or what makes one: a function of the order, or a table {order: epsilon}."""
        object.__setattr__(self, "curve", curve if isinstance(curve, RenyiCurve) else RenyiCurve(curve))

    def __str__(self) -> str:
        return f"Rényi divergence {self.curve!r}"
