"""Writing numbers: exactly, or rounded outward, as text and as floats. All formats of exact numbers are here.

Probabilities of laws of public scores are floats; the tables that show them choose their digits.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from decimal import Decimal
from fractions import Fraction
from typing import Literal, NamedTuple

from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import MOST_DIGITS, MOST_EXPONENT, Number, rational, whole

LARGEST_FLOAT = sys.float_info.max

MOST_PLACES = 40
"""A figure has at most 40 digits after the point."""

MOST_EXACT_PLACES = 12
"""A number for people is exact if 12 digits after the point are enough."""

SIGNIFICANT_DIGITS = 4
"""A number for people that is rounded has at least four digits that count."""

LEAST_PLAIN_POWER, LEAST_LARGE_POWER = -6, 15
"""From a millionth up, and below 10**15, a number for people has no power of ten."""

_EXACT = re.compile(r"(?P<top>-?[0-9]+)(?:/(?P<bottom>0*[1-9][0-9]*))?")


def exact_text(x: Fraction) -> str:
    """Write a fraction as Python does, of whatever length.

    >>> exact_text(Fraction(1, 2)), exact_text(Fraction(3))
    ('1/2', '3')
    """
    return _digits(x.numerator) + ("" if x.denominator == 1 else f"/{_digits(x.denominator)}")


def from_exact_text(text: str) -> Fraction:
    """Read what ``exact_text`` wrote, of whatever length; refuse everything else.

    >>> from_exact_text("1/2"), from_exact_text("-3")
    (Fraction(1, 2), Fraction(-3, 1))
    """
    if isinstance(text, str) and (found := _EXACT.fullmatch(text)):
        read = Fraction(int(Decimal(found["top"])), int(Decimal(found["bottom"] or 1)))
        if exact_text(read) == text:
            return read
    raise InvalidParameter("text must be a number as exact_text() writes it.")


def _digits(n: int) -> str:
    """Give the digits of n, also where Python's limit on str(int) would refuse."""
    return f"{Decimal(n):f}"


def rounded_up(x: Number, digits: int) -> str:
    """Write x with ``digits`` digits after the point, rounded towards plus infinity.

    >>> rounded_up(Fraction(1, 3), 2), rounded_up(Fraction(-1, 3), 2), rounded_up(math.inf, 2)
    ('0.34', '-0.33', 'inf')
    """
    return _decimal(x, digits, math.ceil)


def rounded_down(x: Number, digits: int) -> str:
    """Write x with ``digits`` digits after the point, rounded towards minus infinity.

    >>> rounded_down(Fraction(2, 3), 2), rounded_down(Fraction(-1, 3), 2), rounded_down(math.inf, 2)
    ('0.66', '-0.34', 'inf')
    """
    return _decimal(x, digits, math.floor)


def _decimal(x: Number, digits: int, to_whole: Callable[[Fraction], int]) -> str:
    places = whole(digits, "digits", least=0, most=1000)
    if isinstance(x, float) and x == math.inf:
        return "inf"
    units = to_whole(rational(x, "x") * 10**places)
    wholes, parts = divmod(abs(units), 10**places)
    sign = "-" if units < 0 else ""
    point = f".{parts:0{places}d}" if places else ""
    return f"{sign}{_digits(wholes)}{point}"


class NumberText(NamedTuple):
    """A number as people read it, and how it was rounded: "" where it was not."""

    text: str
    rounding: Literal["", "rounded up", "rounded down"]

    def __str__(self) -> str:
        return f"{self.text} ({self.rounding})" if self.rounding else self.text


_fractions_are_kept: ContextVar[bool] = ContextVar("fractions_are_kept", default=False)


def keep_fractions() -> None:
    """Write numbers for people as fractions, exactly, from now on in this context (``--exact``)."""
    _fractions_are_kept.set(True)


def written_number(x: Fraction | float, *, rounded: Literal["up", "down"] = "up") -> NumberText:
    """Write x as a decimal: exactly if 12 digits after the point are enough, else rounded to four or more.

    Below a millionth, and from 10**15 on, the power of ten is apart: 1e-7. Infinity is written as such.

    >>> written_number(Fraction(1, 3))
    NumberText(text='0.3334', rounding='rounded up')
    """
    if not isinstance(x, Fraction):
        return NumberText(str(x), "")
    if _fractions_are_kept.get():
        return NumberText(exact_text(x), "")
    to_decimal = rounded_up if rounded == "up" else rounded_down
    power = _power_of_ten(x) if x else 0
    if not LEAST_PLAIN_POWER <= power < LEAST_LARGE_POWER:
        digits = without_zeros(to_decimal(x / Fraction(10) ** power, SIGNIFICANT_DIGITS - 1))
        text = f"{digits[:-1]}e{power + 1}" if digits in {"10", "-10"} else f"{digits}e{power}"
    else:
        text = without_zeros(to_decimal(x, MOST_EXACT_PLACES))
        if Fraction(text) != x:
            text = without_zeros(to_decimal(x, max(2, SIGNIFICANT_DIGITS - 1 - power)))
    if Fraction(text) == x:
        return NumberText(text, "")
    return NumberText(text, "rounded up" if rounded == "up" else "rounded down")


def readable_number(x: Fraction | float, *, rounded: Literal["up", "down"] = "up") -> str:
    """Write x as ``written_number`` does, in one text that says how it was rounded.

    >>> readable_number(Fraction(1, 4)), readable_number(Fraction(2, 3), rounded="down")
    ('0.25', '0.6666 (rounded down)')
    """
    return str(written_number(x, rounded=rounded))


def number_column(heading: str, numbers: Sequence[Fraction | float]) -> tuple[str, list[str]]:
    """Write a column of numbers, rounded up where they are long; then its heading says so, once.

    >>> number_column("epsilon", [Fraction(1, 4), Fraction(1, 3)])
    ('epsilon, rounded up', ['0.25', '0.3334'])
    """
    column = [written_number(each) for each in numbers]
    is_rounded = any(each.rounding for each in column)
    return heading + (", rounded up" if is_rounded else ""), [each.text for each in column]


def written_bound(x: Fraction) -> NumberText:
    """Write a bound for people: as ``written_number`` does, but rounded to the digits of ``figure``.

    >>> str(written_bound(Fraction(11))), str(written_bound(Fraction(4, 3)))
    ('11', '1.34 (rounded up)')
    """
    found = written_number(x)
    if not found.rounding or not 1 <= x < 10**LEAST_LARGE_POWER:
        return found
    return NumberText(figure(x), "rounded up")


def _power_of_ten(x: Fraction) -> int:
    """Give the power of ten with 10**power <= abs(x) < 10**(power + 1)."""
    power = len(_digits(abs(x.numerator))) - len(_digits(x.denominator))
    return power if abs(x) >= Fraction(10) ** power else power - 1


def without_zeros(decimal: str) -> str:
    """Leave out the zeros at the end of a decimal, and a point with nothing behind it."""
    return decimal.rstrip("0").rstrip(".") if "." in decimal else decimal


def figure(x: Fraction) -> str:
    """Write a bound rounded up: to two digits after the point, or below 1 to four significant ones.

    >>> figure(Fraction(34005, 1000)), figure(Fraction(1, 3000))
    ('34.01', '0.0003334')
    """
    digits = 2
    while 0 < x < 1 and x * Fraction(10) ** (digits - 3) < 1 and digits < MOST_PLACES:
        digits += 1
    return rounded_up(x, digits)


def short_decimal(x: Fraction) -> str:
    """Write x as a decimal if twelve digits after the point are exact, else as a fraction.

    >>> short_decimal(Fraction(99, 100)), short_decimal(Fraction(2, 3)), short_decimal(Fraction(30))
    ('0.99', '2/3', '30')
    """
    if 10**MOST_EXACT_PLACES % x.denominator:
        return exact_text(x)
    return without_zeros(rounded_up(x, MOST_EXACT_PLACES))


def exact_decimal(x: Fraction) -> str:
    """Write a fraction that has a decimal form in full, without a power of ten; refuse any other.

    >>> exact_decimal(Fraction(-1, 8)), exact_decimal(Fraction(10**20))
    ('-0.125', '100000000000000000000')
    """
    for places in range(MOST_DIGITS + MOST_EXPONENT + 1):
        if 10**places % x.denominator == 0:
            return rounded_up(x, places)
    raise InvalidParameter("x must have a decimal form, as any number that is given as a decimal has.")


def to_float_up(x: Number) -> float:
    """Give the smallest float that is not below x.

    >>> to_float_up(Fraction(1, 10)), to_float_up(10**400)
    (0.1, inf)
    """
    if isinstance(x, float) and math.isinf(x):
        return x
    exact = rational(x, "x")
    try:
        nearest = float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -LARGEST_FLOAT
    return nearest + 0.0 if nearest >= exact else math.nextafter(nearest, math.inf)


def to_float_down(x: Number) -> float:
    """Give the largest float that is not above x.

    >>> to_float_down(Fraction(1, 10))
    0.09999999999999999
    """
    if isinstance(x, float) and math.isinf(x):
        return x
    return 0.0 - to_float_up(-rational(x, "x"))


def rounded(top: int, bottom: int) -> float:
    """Divide by a positive integer, to the nearest float; beyond all floats, to the infinity of that sign.

    >>> rounded(1, 3), rounded(-(10**400), 1)
    (0.3333333333333333, -inf)
    """
    try:
        return top / bottom
    except OverflowError:
        return math.inf if top > 0 else -math.inf
