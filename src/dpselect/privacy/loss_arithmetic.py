"""How losses add, multiply by a count, compare and are written: the same for every kind, part by part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cache
from typing import Any, ClassVar, Literal, Self

from dpselect.errors import IncomparableLosses, InvalidParameter
from dpselect.exact.numbers import whole
from dpselect.exact.rounding import exact_text, readable_number
from dpselect.privacy.amounts import Amount, amount_from_text, amount_text, plus, times
from dpselect.privacy.curves import RenyiCurve


@dataclass(frozen=True)
class LossArithmetic:
    """The arithmetic of guarantees, written once: part by part."""

    symbol: ClassVar[str]
    """What the papers call its (first) number: epsilon, rho."""
    measure: ClassVar[str]
    """The definition of privacy that the loss is stated in, by the name of its function in ``dpselect``."""

    @classmethod
    def zero(cls) -> Self:
        """Give the loss of no release at all."""
        return cls._of(*(Fraction(0) for _ in fields(cls)))

    def to_facts(self) -> dict[str, Any]:
        """Write the loss down for JSON: each part by its name, exact numbers as text.

        >>> from dpselect.privacy.losses import PureDP
        >>> PureDP(0.5).to_facts()
        {'epsilon': '1/2'}
        """
        return {field.name: amount_text(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> Self:
        """Read what ``to_facts`` of this kind wrote; refuse everything else."""
        try:
            loss = cls._read(facts)
            if loss.to_facts() == facts:
                return loss
        except (LookupError, TypeError, ValueError, AttributeError):
            pass
        raise no_facts()

    @classmethod
    def fact_names(cls) -> frozenset[str]:
        """Give the names that ``to_facts`` writes: they tell the kinds apart."""
        return frozenset(field.name for field in fields(cls))

    @classmethod
    def _read(cls, facts: Mapping[str, Any]) -> Self:
        return cls._of(*(amount_from_text(facts[field.name]) for field in fields(cls)))

    def parts(self) -> tuple[Any, ...]:
        """Give the parts of the loss, in the order of the constructor."""
        kind: Any = type(self)
        return tuple([getattr(self, name) for name in _names(kind)])

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


@cache
def _names(kind: type[LossArithmetic]) -> tuple[str, ...]:
    """Give the names of the parts of a kind: ``dataclasses.fields`` finds them anew at each call."""
    return tuple(field.name for field in fields(kind))


def _exactly(part: Amount | RenyiCurve) -> str:
    return f"'{exact_text(part)}'" if isinstance(part, Fraction) else repr(part)


class Numbered(LossArithmetic):
    """A loss that is one number, under the name of its symbol."""

    @property
    def amount(self) -> Amount:
        """The number that the symbol stands for: exact, or infinity."""
        number: Amount = getattr(self, self.symbol)
        return number

    def readable(self, *, rounded: Literal["up", "down"] = "up") -> str:
        """Write the loss without its symbol, as a decimal; a long one is rounded, and says so."""
        return readable_number(self.amount, rounded=rounded)

    def __str__(self) -> str:
        return f"{self.symbol} {self.readable()}"

    def left(self) -> str:
        """Write it as what is left of a budget: like ``str``, but rounded down, to promise no more."""
        return f"{self.symbol} {self.readable(rounded='down')}"


class NumberedWithDelta(Numbered):
    """A loss that is a number, under the name of its symbol, and a probability delta."""

    @classmethod
    def _of(cls, *parts: Any) -> Self:
        number, delta = parts
        return cls(number, min(Fraction(1), delta))  # type: ignore[call-arg] # both kinds take two parts

    def readable(self, *, rounded: Literal["up", "down"] = "up") -> str:
        """Write both parts without the symbol, as decimals; a long one is rounded, and says so."""
        number, delta = (readable_number(part, rounded=rounded) for part in self.parts())
        return f"{number} with delta {delta}"


def no_facts() -> InvalidParameter:
    """Say that something is no loss in writing."""
    return InvalidParameter("facts must be a loss, as to_facts() writes it.")
