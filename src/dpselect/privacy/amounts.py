"""Prices: exact numbers, or infinity."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import reduce
from typing import Any, TypeAlias

from dpselect.exact.numbers import Number, not_negative
from dpselect.exact.rounding import exact_text, from_exact_text

Amount: TypeAlias = Fraction | float
"""A price: an exact number, or ``math.inf``."""


def amount(value: Number, name: str) -> Amount:
    """Read a price: zero, a positive number, or ``math.inf``."""
    if type(value) is Fraction and value.numerator >= 0:  # as it is in every charge
        return value
    if isinstance(value, float) and value == math.inf:
        return math.inf
    return not_negative(value, name)


def amount_text(price: Amount) -> str:
    """Write a price exactly: "1/2", "3", "inf"."""
    return exact_text(price) if isinstance(price, Fraction) else str(price)


def amount_from_text(text: str) -> Amount:
    """Read what ``amount_text`` wrote; refuse everything else."""
    return math.inf if text == "inf" else amount(from_exact_text(text), "a price")


def times(count: int, price: Amount) -> Amount:
    """Multiply a price by a count; zero runs cost zero, even at an infinite price."""
    if price == math.inf:
        return math.inf if count else Fraction(0)
    return count * price


def plus(a: Any, b: Any) -> Any:
    """Add two prices, or two curves; infinity plus anything is infinity."""
    return math.inf if math.inf in (a, b) else a + b


def total(prices: Iterable[Amount]) -> Amount:
    """Add prices."""
    everything: Amount = reduce(plus, prices, Fraction(0))
    return everything
