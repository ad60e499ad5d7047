"""Privacy losses: what a release costs. They add, multiply by a count and compare, exactly.

Losses of different kinds do none of it: a conversion is always spelled out. A loss knows its symbol, its
measure and how it is written down: a new currency is one class here, a name in ``WritableLoss``, and proofs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar, Literal, Self, TypeAlias, get_args

from dpselect.errors import IncomparableLosses, InvalidParameter
from dpselect.exact.numbers import Number, probability, whole
from dpselect.exact.rounding import exact_text, readable_number
from dpselect.privacy.amounts import Amount, amount, amount_from_text, amount_text, plus, times
from dpselect.privacy.curves import Formula, RenyiCurve

LONGEST_EXACT = 24
"""A number of more characters is shown as a rounded decimal."""


@dataclass(frozen=True)
class _Loss:
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
        raise _not_facts()

    @classmethod
    def fact_names(cls) -> frozenset[str]:
        """Give the names that ``to_facts`` writes: they tell the kinds apart."""
        return frozenset(field.name for field in fields(cls))

    @classmethod
    def _read(cls, facts: Mapping[str, Any]) -> Self:
        return cls._of(*(amount_from_text(facts[field.name]) for field in fields(cls)))

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


class _OneNumber(_Loss):
    """A loss that is one number, under the name of its symbol."""

    @property
    def amount(self) -> Amount:
        """The number itself: exact, or infinity."""
        number: Amount = getattr(self, self.symbol)
        return number

    def readable(self, *, rounded: Literal["up", "down"] = "up") -> str:
        """Write the number without its symbol: exactly if that is short, else rounded, and saying so."""
        return readable_number(self.amount, longest=LONGEST_EXACT, rounded=rounded)

    def __str__(self) -> str:
        return f"{self.symbol} {self.readable()}"

    def left(self) -> str:
        """Write it as what is left of a budget: like ``str``, but rounded down, to promise no more."""
        return f"{self.symbol} {self.readable(rounded='down')}"


@dataclass(frozen=True, init=False, repr=False)
class PureDP(_OneNumber):
    """Pure differential privacy: an observer's odds change by at most a factor of exp(epsilon).

    >>> PureDP("1/10") * 10 == PureDP(1)
    True
    """

    symbol: ClassVar[str] = "epsilon"
    measure: ClassVar[str] = "max_divergence"

    epsilon: Amount

    def __init__(self, epsilon: Number) -> None:
        """Read epsilon, exactly; ``math.inf`` is no privacy."""
        object.__setattr__(self, "epsilon", amount(epsilon, "epsilon"))


@dataclass(frozen=True, init=False, repr=False)
class ZCDP(_OneNumber):
    """Zero-concentrated differential privacy: every Rényi divergence of order alpha is at most rho * alpha.

    >>> ZCDP("1/8") + ZCDP("1/8")
    ZCDP('1/4')
    """

    symbol: ClassVar[str] = "rho"
    measure: ClassVar[str] = "zero_concentrated_divergence"

    rho: Amount

    def __init__(self, rho: Number) -> None:
        """Read rho, exactly; ``math.inf`` is no privacy."""
        object.__setattr__(self, "rho", amount(rho, "rho"))


@dataclass(frozen=True, init=False, repr=False)
class ApproxDP(_Loss):
    """Approximate differential privacy; sums are those of basic composition.

    Smaller means smaller in both parts: of two losses, neither need be the smaller one.

    >>> ApproxDP(1, "1e-6") * 2
    ApproxDP('2', '1/500000')
    """

    symbol: ClassVar[str] = "epsilon"
    measure: ClassVar[str] = "approximate(max_divergence)"

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

    @property
    def amount(self) -> Amount:
        """The number that the symbol stands for: epsilon."""
        return self.epsilon

    def __str__(self) -> str:
        epsilon, delta = (readable_number(part, longest=LONGEST_EXACT) for part in self.parts())
        return f"epsilon {epsilon} with delta {delta}"


@dataclass(frozen=True, init=False, repr=False)
class RenyiDP(_Loss):
    """Rényi differential privacy: a bound for each order.

    >>> RenyiDP(lambda alpha: alpha / 8) * 2 <= RenyiDP({2: "1/2", 8: 2})
    True
    """

    symbol: ClassVar[str] = "renyi"
    measure: ClassVar[str] = "renyi_divergence"

    curve: RenyiCurve

    def __init__(self, curve: RenyiCurve | Formula | Mapping[Any, Any]) -> None:
        """Take a curve, or what makes one: a function of the order, or a table {order: epsilon}."""
        object.__setattr__(self, "curve", curve if isinstance(curve, RenyiCurve) else RenyiCurve(curve))

    def __str__(self) -> str:
        return f"Rényi divergence {self.curve!r}"

    @classmethod
    def zero(cls) -> Self:
        """Give the loss of no release at all."""
        return cls({}) * 0

    def to_facts(self) -> dict[str, Any]:
        """Write a table of orders down for JSON; a formula is refused.

        >>> RenyiDP({2: "1/2", 8: 2}).to_facts()
        {'renyi': {'2': '1/2', '8': '2'}}
        """
        table = self.curve.table
        if table is None:
            raise InvalidParameter(
                "a Rényi budget must be a table {order: epsilon}, so that it can be written down; "
                "got a formula. Write RenyiDP({2: '1/2', 8: 2})."
            )
        return {self.symbol: {amount_text(order): amount_text(bound) for order, bound in table.points}}

    @classmethod
    def fact_names(cls) -> frozenset[str]:
        """Give the one name that ``to_facts`` writes."""
        return frozenset({cls.symbol})

    @classmethod
    def _read(cls, facts: Mapping[str, Any]) -> Self:
        bounds = facts[cls.symbol].items()
        return cls({amount_from_text(order): amount_from_text(bound) for order, bound in bounds})


WritableLoss: TypeAlias = PureDP | ZCDP | ApproxDP | RenyiDP
"""A loss that can be the price of a release, and written down."""


def loss_from_facts(facts: Mapping[str, Any]) -> WritableLoss:
    """Read what ``to_facts`` wrote, of whatever kind; refuse everything else.

    >>> loss_from_facts({"epsilon": "1", "delta": "1/1000000"})
    ApproxDP('1', '1/1000000')
    """
    for kind in get_args(WritableLoss):
        if isinstance(facts, Mapping) and facts.keys() == kind.fact_names():
            loss: WritableLoss = kind.from_facts(facts)
            return loss
    raise _not_facts()


def _not_facts() -> InvalidParameter:
    return InvalidParameter("facts must be a loss, as to_facts() writes it.")
