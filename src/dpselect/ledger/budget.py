"""The filter: which charge a budget still affords. It compares an exact sum, nothing else.

Reference: Rogers, Roth, Ullman & Vadhan 2016 (pure); Whitehouse, Ramdas, Rogers & Wu 2023 (concentrated).
Proof:     budget.proof.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TypeAlias

from dpselect.accounting.convert import convert
from dpselect.errors import IncomparableLosses, InvalidParameter
from dpselect.exact.numbers import MOST_DIGITS
from dpselect.privacy.amounts import Amount
from dpselect.privacy.losses import ZCDP, PureDP
from dpselect.privacy.measures import Loss

Currency: TypeAlias = PureDP | ZCDP
"""The kinds of loss that a ledger adds up. One ledger holds one kind."""

CURRENCIES: dict[str, type[Currency]] = {kind.__name__: kind for kind in (PureDP, ZCDP)}
"""Each kind under the name that the header of a ledger stores."""
MOST_DIGITS_OF_TOTAL = 4000
"""The most decimal digits of the numerator, and of the denominator, of a sum."""
_LIMITS: dict[int, int] = {digits: 10**digits for digits in (MOST_DIGITS, MOST_DIGITS_OF_TOTAL)}


def finite_amount(loss: Currency) -> Fraction:
    """Give the number of a loss that is known to be finite."""
    return loss.amount  # type: ignore[return-value]  # infinity is refused before


def checked_budget(budget: object) -> Currency:
    """Refuse what cannot be the budget of a ledger."""
    way_out = 'Write PureDP("1") or ZCDP("1/2").'
    if not isinstance(budget, Currency):
        raise InvalidParameter.must_be("budget", "a loss, PureDP or ZCDP", got=budget, way_out=way_out)
    made = _made_anew(budget)
    if not 0 < made.amount < math.inf:
        raise InvalidParameter(f"budget must be positive and finite; got {made}. {way_out}")
    if not is_short(made.amount, MOST_DIGITS):
        raise InvalidParameter(f"budget must have at most {MOST_DIGITS} digits. {way_out}")
    return made


def cost(loss: object, currency: type[Currency]) -> Currency:
    """Give what a loss costs in the currency of a ledger; refuse a loss that has no proved price there."""
    if not isinstance(loss, Loss):
        raise InvalidParameter.must_be(
            "loss", "a loss", got=loss, way_out='Write PureDP("1/2"), or take the price of a measurement.'
        )
    if isinstance(loss, Currency):
        price = _made_anew(loss)
        if not is_short(price.amount, MOST_DIGITS):
            raise InvalidParameter(
                f"loss must have at most {MOST_DIGITS} digits above and below the line. Round it up."
            )
        if isinstance(price, currency):
            return price
        if isinstance(price, PureDP):
            return convert(price, ZCDP)
    accepted = "PureDP" if currency is PureDP else "ZCDP, and PureDP by conversion"
    raise IncomparableLosses(
        f"this ledger takes {accepted}; got {type(loss).__name__}. "
        f"Ask with {currency.symbol}= (a measurement for {currency.measure}()), "
        "or keep another ledger for it."
    )


def _made_anew(loss: Currency) -> Currency:
    """Make a loss anew from its number: the constructor refuses a forged number below zero."""
    return next(kind(loss.amount) for kind in CURRENCIES.values() if isinstance(loss, kind))


def is_short(x: Amount, digits: int) -> bool:
    """Say whether numerator and denominator have at most ``digits`` digits each; infinity counts as short."""
    limit = _LIMITS[digits]
    return not isinstance(x, Fraction) or (x.numerator < limit and x.denominator < limit)


def total_after(spent: Fraction, price: Amount, budget: Fraction) -> Fraction | None:
    """Give the sum of both if the budget affords it, else None. No other comparison guards the budget.

    No budget affords a price below zero, which no loss has unless it is forged.
    """
    total = spent + price
    if not isinstance(total, Fraction) or not spent <= total <= budget:
        return None
    if not is_short(total, MOST_DIGITS_OF_TOTAL):
        raise InvalidParameter(
            f"loss must keep the sum of the ledger within {MOST_DIGITS_OF_TOTAL} digits. "
            "Round it up to fewer."
        )
    return total
