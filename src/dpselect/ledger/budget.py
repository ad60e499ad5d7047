"""The filter: which charge a budget still affords. The exact sum, nothing else.

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
from dpselect.privacy.losses import ZCDP, ApproxDP, PureDP, RenyiDP
from dpselect.privacy.profiles import PrivacyProfile

Currency: TypeAlias = PureDP | ZCDP
"""What a ledger holds."""

CURRENCIES: dict[str, type[Currency]] = {"PureDP": PureDP, "ZCDP": ZCDP}
LONGEST_TOTAL = 4000
"""The most digits of the numerator and of the denominator of a sum."""
_LIMITS: dict[int, int] = {digits: 10**digits for digits in (MOST_DIGITS, LONGEST_TOTAL)}


def amount_of(loss: Currency) -> Amount:
    """Give the number of a loss: a fraction, or infinity."""
    return loss.epsilon if isinstance(loss, PureDP) else loss.rho


def finite(loss: Currency) -> Fraction:
    """Give the number of a loss that is known to be finite."""
    return loss.epsilon if isinstance(loss, PureDP) else loss.rho  # type: ignore[return-value]


def checked_budget(budget: object) -> Currency:
    """Refuse what cannot be the budget of a ledger."""
    way_out = 'Write PureDP("1") or ZCDP("1/2").'
    if not isinstance(budget, PureDP | ZCDP):
        raise InvalidParameter.must_be("budget", "a loss, PureDP or ZCDP", got=budget, way_out=way_out)
    made = _anew(budget)
    amount = amount_of(made)
    if not 0 < amount < math.inf:
        raise InvalidParameter(f"budget must be positive and finite; got {made}. {way_out}")
    if not is_short(amount, MOST_DIGITS):
        raise InvalidParameter(f"budget must have at most {MOST_DIGITS} digits. {way_out}")
    return made


def cost(loss: object, currency: type[Currency]) -> Currency:
    """Give what a loss costs in the currency of a ledger; refuse what has no proved price there."""
    if not isinstance(loss, PureDP | ZCDP | ApproxDP | RenyiDP | PrivacyProfile):
        raise InvalidParameter.must_be(
            "loss", "a loss", got=loss, way_out='Write PureDP("1/2"), or take the price of a measurement.'
        )
    if isinstance(loss, PureDP | ZCDP):
        price = _anew(loss)
        if not is_short(amount_of(price), MOST_DIGITS):
            raise InvalidParameter(
                f"loss must have at most {MOST_DIGITS} digits above and below the line. Round it up."
            )
        if isinstance(price, currency):
            return price
        if isinstance(price, PureDP):
            return convert(price, ZCDP)
    accepted = "PureDP" if currency is PureDP else "ZCDP, and PureDP by conversion"
    argument, measure = (
        ("epsilon=", "max_divergence()") if currency is PureDP else ("rho=", "zero_concentrated_divergence()")
    )
    raise IncomparableLosses(
        f"this ledger takes {accepted}; got {type(loss).__name__}. "
        f"Ask with {argument} (a measurement for {measure}), or keep another ledger for it."
    )


def _anew(loss: Currency) -> Currency:
    """Make a loss anew from its number: whatever was forged, its constructor lets nothing below zero pass."""
    return (PureDP if isinstance(loss, PureDP) else ZCDP)(amount_of(loss))


def is_short(x: Amount, digits: int) -> bool:
    """Say whether numerator and denominator have at most so many digits; infinity has few."""
    limit = _LIMITS[digits]
    return not isinstance(x, Fraction) or (x.numerator < limit and x.denominator < limit)


def total_after(spent: Fraction, price: Amount, budget: Fraction) -> Fraction | None:
    """Give the sum if the budget affords it; None if not. The one comparison that protects everybody.

    A price below zero, which no loss has unless it is forged, is afforded by no budget.
    """
    total = spent + price
    if not isinstance(total, Fraction) or not spent <= total <= budget:
        return None
    if not is_short(total, LONGEST_TOTAL):
        raise InvalidParameter(
            f"loss must keep the sum of the ledger within {LONGEST_TOTAL} digits. Round it up to fewer."
        )
    return total
