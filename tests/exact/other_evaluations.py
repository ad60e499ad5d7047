"""exp, log and others by two ways that share nothing with FLINT: mpmath, and power series of rationals."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import mpmath  # type: ignore[import-untyped] # it comes without types

from dpselect.exact.enclosures import Enclosure

DIGITS = 250
"""Of mpmath; some 830 bits, far beyond the precisions that it is compared at."""


def by_mpmath(name: str, x: Fraction) -> Enclosure:
    """Enclose by mpmath, which errs by some units in the last of its places."""
    with mpmath.workdps(2 * DIGITS + 450):  # for exp(x) - 1 and log(1 + x) at 1e-400, written out
        number = mpmath.mpf(x.numerator) / x.denominator
        value = {"log1p": lambda y: mpmath.log(1 + y), "expm1": lambda y: mpmath.exp(y) - 1}.get(
            name, getattr(mpmath, name)
        )(number)
        exact = Fraction(*value.as_integer_ratio())
    slack = abs(exact) / 10**DIGITS
    return Enclosure(exact - slack, exact + slack)


# Each series gives an interval: a partial sum, and what the rest can be at most.


def exp_by_series(x: Fraction) -> Enclosure:
    """Sum x**k / k! to K: the rest is below the next term times 1 / (1 - x / (K + 2)), for 0 <= x < K."""
    if x < 0:
        low, high = exp_by_series(-x)
        return Enclosure(1 / high, 1 / low)
    term, total, last = Fraction(1), Fraction(1), 150
    for k in range(1, last + 1):
        term *= x / k
        total += term
    return Enclosure(total, total + 2 * term * x / (last + 1))


def log_by_series(x: Fraction) -> Enclosure:
    """ln x = 2 artanh z, z = (x - 1) / (x + 1): the sum of 2 z**k / k over odd k."""
    if x < 1:
        low, high = log_by_series(1 / x)
        return Enclosure(-high, -low)
    z, last = (x - 1) / (x + 1), 2001
    power, total = z, Fraction(0)
    for k in range(1, last + 1, 2):
        total += 2 * power / k
        power = Fraction(math.floor(power * z * z * 2**900), 2**900)
    lost = Fraction(last, 2**899)  # the powers were cut after 900 bits
    return Enclosure(total, total + lost + 2 * z ** (last + 2) / (1 - z * z))


def tanh_by_series(x: Fraction) -> Enclosure:
    low, high = exp_by_series(2 * x)
    return Enclosure(1 - 2 / (low + 1), 1 - 2 / (high + 1))


SERIES: dict[str, Callable[[Fraction], Enclosure]] = {
    "exp": exp_by_series,
    "expm1": lambda x: Enclosure(*(end - 1 for end in exp_by_series(x))),
    "log": log_by_series,
    "log1p": lambda x: log_by_series(1 + x),
    "tanh": tanh_by_series,
}
