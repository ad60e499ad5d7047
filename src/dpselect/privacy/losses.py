"""Privacy losses: what a release costs. They add, multiply by a count and compare, exactly.

Losses of different kinds do none of it: a conversion is always spelled out. A loss knows its symbol, its
measure and how it is written down: a new currency is one class here, a name in ``WritableLoss``, and proofs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self, TypeAlias, get_args

from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import Number, probability
from dpselect.privacy.amounts import Amount, amount, amount_from_text, amount_text
from dpselect.privacy.curves import Formula, RenyiCurve
from dpselect.privacy.loss_arithmetic import LossArithmetic, Numbered, NumberedWithDelta, no_facts


@dataclass(frozen=True, init=False, repr=False)
class PureDP(Numbered):
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
class ZCDP(Numbered):
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
class ApproxDP(NumberedWithDelta):
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


@dataclass(frozen=True, init=False, repr=False)
class ApproxZCDP(NumberedWithDelta):
    """Approximate zero-concentrated differential privacy: rho, once a mass of at most delta is set aside.

    The laws P and Q of two neighbours have parts, measures P' <= P and Q' <= Q of mass at least 1 - delta,
    such that the integral of P'^alpha Q'^(1 - alpha) is at most exp(alpha (alpha - 1) rho) for every
    alpha > 1, and the same with P' and Q' exchanged. The parts are not scaled to a mass of one.

    >>> ApproxZCDP("1/8", "1e-6") + ApproxZCDP("1/8", 0)
    ApproxZCDP('1/4', '1/1000000')
    """

    symbol: ClassVar[str] = "rho"
    measure: ClassVar[str] = "approximate(zero_concentrated_divergence)"

    rho: Amount
    delta: Fraction

    def __init__(self, rho: Number, delta: Number) -> None:
        """Read rho and delta, exactly."""
        object.__setattr__(self, "rho", amount(rho, "rho"))
        object.__setattr__(self, "delta", probability(delta, "delta"))


@dataclass(frozen=True, init=False, repr=False)
class RenyiDP(LossArithmetic):
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


WritableLoss: TypeAlias = PureDP | ZCDP | ApproxDP | ApproxZCDP | RenyiDP
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
    raise no_facts()
