"""Reading numbers exactly.

A float *parameter* is read as its shortest decimal: 0.1 means one tenth.
A float *score* is read as the binary number that it is.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from numbers import Integral, Rational
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from dpselect.errors import InvalidParameter, shown

Number: TypeAlias = int | float | str | Decimal | Fraction | np.integer[Any] | np.floating[Any]
"""What a parameter may be given as."""

MOST_DIGITS = 400
"""A number is given with at most 400 digits, or 400 above and 400 below the line."""

MOST_EXPONENT = 400
"""Exponents of ten are within ±400."""

LONGEST_TEXT = 2 * MOST_DIGITS + 2
"""Characters: a sign, two numbers of 400 digits and the line between them."""

_DECIMAL = re.compile(r"[+-]?(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?(?:[eE](?P<exponent>[+-]?[0-9]{1,3}))?")
_RATIO = re.compile(rf"(?P<top>[+-]?[0-9]{{1,{MOST_DIGITS}}})/(?P<bottom>[0-9]{{1,{MOST_DIGITS}}})")


def rational(value: Number, name: str) -> Fraction:
    """Read a parameter as the exact number that the caller means; refuse everything else.

    >>> rational(0.1, "epsilon"), rational("1/3", "epsilon"), rational("1e-6", "delta")
    (Fraction(1, 10), Fraction(1, 3), Fraction(1, 1000000))
    """
    if type(value) is Fraction:
        return value
    read = None
    if is_whole(value):
        read = Fraction(operator.index(value))
    elif isinstance(value, Rational) and not isinstance(value, Integral):
        read = Fraction(int(value.numerator), int(value.denominator))
    elif isinstance(value, str):
        read = _from_text(value)
    elif isinstance(value, float):
        read = _from_text(float.__repr__(value))
    elif isinstance(value, np.floating):
        read = _from_text(np.format_float_scientific(value, unique=True, trim="-"))
    elif isinstance(value, Decimal):
        read = _from_decimal(value)
    if read is None:
        raise InvalidParameter.must_be(
            name,
            "a finite number",
            got=value,
            way_out=f'Write 2, 0.5, "1/3" or "1e-6", with at most {MOST_DIGITS} digits and exponents '
            f"within ±{MOST_EXPONENT}.",
        )
    return read


def is_whole(value: object) -> TypeGuard[Integral]:
    """Say whether a value is an integer: neither a bool nor a span of time, whatever Python thinks."""
    return type(value) is int or (
        isinstance(value, Integral) and not isinstance(value, bool | np.timedelta64)
    )


def is_real(value: object) -> bool:
    """Say whether a value is of a type of exact real numbers."""
    if isinstance(value, Integral):
        return is_whole(value)
    return isinstance(value, Rational | float | np.floating | Decimal)


def is_nan(value: object) -> bool:
    """Say whether a value is not a number, of whatever type it is not one."""
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _from_text(text: str) -> Fraction | None:
    if len(text) > LONGEST_TEXT:
        return None
    if ratio := _RATIO.fullmatch(text):
        bottom = int(ratio["bottom"])
        return Fraction(int(ratio["top"]), bottom) if bottom else None
    decimal = _DECIMAL.fullmatch(text)
    if decimal is None:
        return None
    digits = len(decimal["whole"]) + len(decimal["part"] or "")
    if not 1 <= digits <= MOST_DIGITS or abs(int(decimal["exponent"] or 0)) > MOST_EXPONENT:
        return None
    return Fraction(Decimal(text))


def _from_decimal(value: Decimal) -> Fraction | None:
    if not value.is_finite():
        return None
    digits, exponent = value.as_tuple()[1:]
    if len(digits) > MOST_DIGITS or abs(int(exponent)) > MOST_EXPONENT:
        return None
    return Fraction(value)


def positive(value: Number, name: str) -> Fraction:
    """Read a parameter that must be above zero."""
    read = rational(value, name)
    if not read.numerator > 0:
        raise InvalidParameter.must_be(name, "a positive number", got=value)
    return read


def not_negative(value: Number, name: str) -> Fraction:
    """Read a parameter that must not be below zero."""
    read = rational(value, name)
    if not read.numerator >= 0:
        raise InvalidParameter.must_be(name, "zero or a positive number", got=value)
    return read


def probability(value: Number, name: str) -> Fraction:
    """Read a probability."""
    read = rational(value, name)
    if not 0 <= read <= 1:
        raise InvalidParameter.must_be(name, "a probability from 0 to 1", got=value)
    return read


def whole(value: object, name: str, *, least: int, most: int | None = None) -> int:
    """Read a count: an int (NumPy's too), never a bool or a float, between its bounds."""
    if is_whole(value):
        count = operator.index(value)
        if least <= count and (most is None or count <= most):
            return count
    bounds = f"of {least} or more" if most is None else f"from {_plain(least)} to {_plain(most)}"
    raise InvalidParameter.must_be(name, f"a whole number {bounds}", got=value)


def _plain(bound: int) -> str:
    """Write a bound; a long power of two as one."""
    size = abs(bound)
    if size < 2**64 or size & (size - 1):
        return str(bound)
    return f"{'-' if bound < 0 else ''}2**{size.bit_length() - 1}"


def score(value: Any) -> Fraction | None:
    """Read a finite score as the exact number that it is; None if it is no such thing.

    It does not raise, so that the caller can let go of the value before it does.

    >>> score(0.5), score(0.1) == Fraction(1, 10), score("1")
    (Fraction(1, 2), False, None)
    """
    if type(value) is Fraction:
        return value
    if not is_real(value):
        return None
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    finite = value.is_finite() if isinstance(value, Decimal) else np.isfinite(value)
    return Fraction(*value.as_integer_ratio()) if finite else None


def ascending_fractions(given: Sequence[Number], name: str) -> tuple[Fraction, ...]:
    """Read fractions between 0 and 1, neither of them among these, in ascending order.

    >>> ascending_fractions(["1/4", 0.5], "at")
    (Fraction(1, 4), Fraction(1, 2))
    """
    if not isinstance(given, list | tuple) or not given:
        raise InvalidParameter.must_be(
            name,
            "a list of one fraction or more",
            got=given,
            way_out='Write ["1/4", "1/2", "3/4"].',
        )
    fractions = tuple(probability(each, name) for each in given)
    for low, high in pairwise((Fraction(0), *fractions, Fraction(1))):
        if not low < high:
            follows = f"{shown(high)} after {shown(low)}" if low and high != 1 else shown(low or high)
            raise InvalidParameter(
                f"{name} must ascend, from above 0 to below 1, each fraction once; got {follows}.",
                parameter=name,
            )
    return fractions
