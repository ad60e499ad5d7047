"""Enclosures: exp, log, square root and tanh as intervals of rationals, at any precision.

No other module computes with irrational numbers. FLINT's ball arithmetic does the work; its precision is a
setting of the process, so it is set and used under one lock. A ball that other code in the process has made
wider is still a true ball, and is computed again.

Proof: enclosures.proof.md
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

import flint

from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import Number, not_negative, positive, rational, whole

Ball: TypeAlias = flint.arb

MOST_BITS = 2**20
"""The largest precision, and the largest exponent of 2 of a result: more would take too much memory."""


class Enclosure(NamedTuple):
    """A real number lies between these two: low <= number <= high."""

    low: Fraction
    high: Fraction


_flint_lock = threading.Lock()


def _new_lock() -> None:
    """Give a forked child a lock of its own: another thread may have held the old one."""
    global _flint_lock  # noqa: PLW0603 - the precision it guards is global too
    _flint_lock = threading.Lock()


os.register_at_fork(after_in_child=_new_lock)


def enclose(formula: Callable[..., Ball], *arguments: Fraction, precision: int = 64) -> Enclosure:
    """Enclose formula(*arguments): the formula is handed balls and returns a ball.

    Postcondition
        The relative width is at most 2**-precision (zero where FLINT is exact). An end closer to zero than
        2**-MOST_BITS is moved outward, to that bound or to zero.

    >>> low, high = enclose(lambda x: x.exp() - x, Fraction(1), precision=20)
    >>> low < Fraction("1.718281828459045") < high
    True
    """
    if not callable(formula):
        raise InvalidParameter.must_be("formula", "a function of balls", got=formula)
    exact = [rational(argument, "an argument") for argument in arguments]
    bits = whole(precision, "precision", least=1, most=MOST_BITS)
    working = bits + 16
    while working <= 4 * MOST_BITS:
        with _flint_lock:
            before, flint.ctx.prec = flint.ctx.prec, working
            try:
                ball = formula(*(flint.arb(flint.fmpq(a.numerator, a.denominator)) for a in exact))
                flint.ctx.prec = working  # whatever the formula did to it
                low, high = ball.lower(), ball.upper()
            finally:
                flint.ctx.prec = before
        if ball.is_finite() and (ball.is_exact() or ball.rel_accuracy_bits() > bits + 1):
            return Enclosure(_dyadic(low, _DOWN), _dyadic(high, _UP))
        working *= 2
    raise InvalidParameter("the formula must have a finite value, and if it is zero, exactly so.")


_DOWN, _UP = -1, 1


def _dyadic(end: Ball, outward: int) -> Fraction:
    """Turn an exact ball into the fraction that it is; one too small to write down goes outward."""
    mantissa, exponent = (int(part) for part in end.man_exp())
    magnitude = exponent + mantissa.bit_length()
    if mantissa and magnitude < -MOST_BITS:
        return Fraction(outward, 2**MOST_BITS) if mantissa * outward > 0 else Fraction(0)
    if magnitude > MOST_BITS:
        raise InvalidParameter(f"the result must stay within ±2**{MOST_BITS}.")
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


def exp(x: Number, precision: int = 64) -> Enclosure:
    """Enclose e**x."""
    argument = rational(x, "x")
    if argument < -MOST_BITS and whole(precision, "precision", least=1, most=MOST_BITS):
        return Enclosure(Fraction(0), Fraction(1, 2**MOST_BITS))
    return enclose(lambda ball: ball.exp(), argument, precision=precision)


def expm1(x: Number, precision: int = 64) -> Enclosure:
    """Enclose e**x - 1."""
    return enclose(lambda ball: ball.expm1(), rational(x, "x"), precision=precision)


def log(x: Number, precision: int = 64) -> Enclosure:
    """Enclose the natural logarithm of a positive x."""
    return enclose(lambda ball: ball.log(), positive(x, "x"), precision=precision)


def log_product(factors: Sequence[int], bits: int, precision: int = 64) -> Enclosure:
    """Enclose the logarithm of a product of positive integers over 2**bits, without writing it out."""

    def formula() -> Ball:
        product = Ball(1)
        for factor in factors:
            product *= factor
        return product.log() - bits * Ball(2).log()

    if not all(factor > 0 for factor in factors):
        raise InvalidParameter("factors must be positive integers.")
    if all(factor & (factor - 1) == 0 for factor in factors):
        doublings = sum(factor.bit_length() - 1 for factor in factors) - bits
        return enclose(lambda: doublings * Ball(2).log(), precision=precision)
    return enclose(formula, precision=precision)


def log1p(x: Number, precision: int = 64) -> Enclosure:
    """Enclose the natural logarithm of 1 + x, for x above -1."""
    return log(rational(x, "x") + 1, precision)


def sqrt(x: Number, precision: int = 64) -> Enclosure:
    """Enclose the square root of x >= 0."""
    return enclose(lambda ball: ball.sqrt(), not_negative(x, "x"), precision=precision)


def tanh(x: Number, precision: int = 64) -> Enclosure:
    """Enclose the hyperbolic tangent of x."""
    return enclose(lambda ball: ball.tanh(), rational(x, "x"), precision=precision)


Enclosable: TypeAlias = Fraction | Callable[[int], Enclosure]
"""A number that can be compared: a rational, or a function from precision to enclosure."""


def compare(left: Enclosable, right: Enclosable) -> int:
    """Say -1, 0 or 1 for left <, =, > right, refining both until it is certain.

    Zero is said of exact numbers only; equal irrationals are refused once MOST_BITS bits agree.

    >>> compare(lambda precision: exp(1, precision), Fraction("2.7182818284590452353602874713526625"))
    -1
    """
    precision = 64
    while precision <= MOST_BITS:
        low, high = _at(left, precision)
        lower, higher = _at(right, precision)
        if high < lower:
            return -1
        if higher < low:
            return 1
        if low == high == lower == higher:
            return 0
        precision *= 2
    raise InvalidParameter(f"the two numbers must differ; they agree to {MOST_BITS} bits.")


def _at(number: Enclosable, precision: int) -> Enclosure:
    if callable(number):
        return number(precision)
    point = rational(number, "number")
    return Enclosure(point, point)
