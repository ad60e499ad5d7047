"""The filter: which charge a budget still affords. It compares exact sums, part by part, and nothing else.

Reference: Rogers, Roth, Ullman & Vadhan 2016 (pure); Whitehouse, Ramdas, Rogers & Wu 2023 (concentrated).
Proof:     budget.proof.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, TypeAlias

from dpselect.accounting.convert import convert
from dpselect.errors import IncomparableLosses, InvalidParameter
from dpselect.exact.numbers import MOST_DIGITS, Number
from dpselect.privacy.amounts import Amount
from dpselect.privacy.losses import ZCDP, ApproxDP, ApproxZCDP, PureDP
from dpselect.privacy.measures import Loss

Currency: TypeAlias = PureDP | ZCDP | ApproxDP | ApproxZCDP
"""The kinds of loss that a ledger adds up. One ledger holds one kind."""
Parts: TypeAlias = tuple[Fraction, ...]
"""The numbers of a finite loss: (epsilon,), (rho,), (epsilon, delta) or (rho, delta)."""

CURRENCIES: dict[str, type[Currency]] = {kind.__name__: kind for kind in (PureDP, ZCDP, ApproxDP, ApproxZCDP)}
"""Each kind under the name that the header of a ledger stores."""
WAYS_OUT = 'Write PureDP("1"), ZCDP("1/2"), ApproxDP("1", "1e-6") or ApproxZCDP("1/2", "1e-6").'
MOST_DIGITS_OF_TOTAL = 4000
"""The most decimal digits of the numerator, and of the denominator, of a sum."""
_LIMITS: dict[int, int] = {digits: 10**digits for digits in (MOST_DIGITS, MOST_DIGITS_OF_TOTAL)}
_WITHOUT_DELTA: dict[type[Currency], type[Currency]] = {ApproxDP: PureDP, ApproxZCDP: ZCDP}
_EXACT = (Fraction, int)


def loss_of(kind: type[Currency], parts: Parts) -> Currency:
    """Make a loss of its numbers."""
    return kind(*parts)


# ---- what is compared ------------------------------------------------------------------------------------


def checked_budget(budget: object) -> Currency:
    """Refuse what cannot be the budget of a ledger."""
    if not isinstance(budget, Currency):
        kinds = " or ".join(CURRENCIES)
        raise InvalidParameter.must_be("budget", f"a loss, {kinds}", got=budget, way_out=WAYS_OUT)
    made = _made_anew(budget)
    if not 0 < made.amount < math.inf:
        raise InvalidParameter(f"budget must be positive and finite; got {made}. {WAYS_OUT}")
    return _checked_limit(made, "budget")


def checked_change(limit: object, kind: type[Currency], name: str) -> Currency:
    """Refuse what cannot be a new budget or a share; zero can be, and stops all charges.

    It is a loss of the ledger's kind. Of a ledger with a delta it may be one without, which has a delta of 0.
    """
    made = _made_anew(limit) if isinstance(limit, Currency) else None
    if made is not None and type(made) is _WITHOUT_DELTA.get(kind):
        made = kind(made.amount, 0)  # type: ignore[call-arg] # kinds with a delta take two numbers
    if type(made) is not kind:
        way_out = f"Write {kind.zero()!r} with your numbers."
        raise InvalidParameter.must_be(name, f"a loss, {kind.__name__}", got=limit, way_out=way_out)
    if not made.amount < math.inf:
        raise InvalidParameter(f"{name} must be finite; got {made}.")
    return _checked_limit(made, name)


def _checked_limit(limit: Currency, name: str) -> Currency:
    if not all(is_short(part, MOST_DIGITS) for part in limit.parts()):
        raise InvalidParameter(f"{name} must have at most {MOST_DIGITS} digits. {WAYS_OUT}")
    if not limit.parts()[1:] < (1,):
        raise InvalidParameter(f"{name} must have a delta below 1, which allows everything; got {limit}.")
    return limit


def cost(loss: object, currency: type[Currency], *, delta: Number | None = None) -> Currency:
    """Give what a loss costs in the currency of a ledger; refuse a loss that has no proved price there.

    ``delta`` names the point at which a curve or a profile is charged.
    """
    if not isinstance(loss, Loss):
        raise InvalidParameter.must_be(
            "loss", "a loss", got=loss, way_out='Write PureDP("1/2"), or take the price of a measurement.'
        )
    price = _made_anew(loss) if isinstance(loss, Currency) else loss
    if isinstance(price, Currency):
        _refuse_long(price)
    if delta is not None:
        return _at_a_point(price, currency, delta)
    if isinstance(price, currency):
        return price
    if isinstance(price, _ENTERS[currency]):
        return convert(price, currency)
    raise IncomparableLosses(_refusal(type(loss).__name__, currency))


def _at_a_point(price: Any, currency: type[Currency], delta: Number) -> Currency:
    if currency not in _WITHOUT_DELTA:
        raise InvalidParameter(
            f"delta must be left out for a ledger of {currency.symbol} without a delta; got one. {_OTHERS}"
        )
    if currency is ApproxZCDP and isinstance(price, Currency):
        kind = type(price).__name__
        raise InvalidParameter(f"delta must be left out for {kind}, which is charged as it is; got one.")
    found = convert(price, currency, delta=delta)
    _refuse_long(found)
    return found


def _refuse_long(price: Currency) -> None:
    if not all(is_short(part, MOST_DIGITS) for part in price.parts()):
        raise InvalidParameter(
            f"loss must have at most {MOST_DIGITS} digits above and below the line. Round it up."
        )


_ENTERS: dict[type[Currency], tuple[type[Currency], ...]] = {
    PureDP: (),
    ZCDP: (PureDP,),
    ApproxDP: (PureDP,),
    ApproxZCDP: (PureDP, ZCDP, ApproxDP),
}
"""The kinds that enter a ledger of another kind by a proved conversion, at no point that must be named."""
_ACCEPTED = {
    PureDP: "PureDP",
    ZCDP: "ZCDP, and PureDP by conversion",
    ApproxDP: "ApproxDP and PureDP, and others at a delta that is named",
    ApproxZCDP: "ApproxZCDP, ZCDP, ApproxDP and PureDP, and a curve or a profile at a delta that is named",
}
_ASK: dict[type[Currency], str] = {
    PureDP: "Ask with epsilon= (a measurement for max_divergence()).",
    ZCDP: "Ask with rho= (a measurement for zero_concentrated_divergence()).",
}
_AT_A_POINT = 'Name the point at which it is charged: delta="1e-7". '
_QUESTIONS: dict[type[Currency], str] = {ApproxDP: 'Ask a question with budget=ApproxDP("1", "1e-6").'}
"""What ``select`` can be given instead, which names no point."""
_OTHERS = 'Or keep another ledger: Ledger.create(path, budget=ApproxZCDP("1/2", "1e-6")) takes every kind.'


def _refusal(got: str, currency: type[Currency]) -> str:
    sentence = f"this ledger takes {_ACCEPTED[currency]}; got {got}. "
    if currency in _WITHOUT_DELTA:
        return f"{sentence}{_AT_A_POINT}{_QUESTIONS.get(currency, '')}".rstrip()
    return f"{sentence}{_ASK[currency]} {_OTHERS}"


def _made_anew(loss: Currency) -> Currency:
    """Make a loss anew from its numbers: the constructor refuses forged numbers."""
    kind = next(kind for kind in CURRENCIES.values() if isinstance(loss, kind))
    return kind(*loss.parts())


def is_short(x: Amount, digits: int) -> bool:
    """Say whether numerator and denominator have at most ``digits`` digits each; infinity counts as short."""
    limit = _LIMITS[digits]
    return not isinstance(x, Fraction) or (x.numerator < limit and x.denominator < limit)


# ---- the comparison --------------------------------------------------------------------------------------


def total_after(spent: Parts, price: tuple[Amount, ...], limit: Parts) -> Parts | None:
    """Give the sums of both if the limit affords every one of them, else None.

    No other comparison guards a budget or a share. No limit affords a price below zero, which no loss has
    unless it is forged.
    """
    total = []
    for before, part, most in zip(spent, price, limit, strict=True):
        after = before + part
        if not (isinstance(part, _EXACT) and isinstance(after, Fraction)):
            return None
        if not (part.numerator >= 0 and after <= most):
            return None
        total.append(after)
    return refuse_long_sums(tuple(total))


def refuse_long_sums(total: Parts) -> Parts:
    """Give sums back, unless they have too many digits."""
    if not all(is_short(part, MOST_DIGITS_OF_TOTAL) for part in total):
        raise InvalidParameter(
            f"loss must keep the sum of the ledger within {MOST_DIGITS_OF_TOTAL} digits. "
            "Round it up to fewer."
        )
    return total
