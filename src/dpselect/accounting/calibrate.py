"""Calibration: from a budget to the smallest scale of noise that keeps within it.

The scale that is returned has been checked against the budget: it fits. A scale just below it has been
checked too: it does not.

Proof: calibrate.proof.md
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import isqrt

from dpselect.errors import InvalidParameter, shown
from dpselect.exact.bisection import bisect, least_whole
from dpselect.exact.enclosures import sqrt
from dpselect.exact.numbers import Number
from dpselect.privacy.loss_arithmetic import Numbered
from dpselect.privacy.measurement import Measurement

SCALE_BITS = 24
"""A scale is at most a relative 2**-24 above the smallest one that fits."""

JUST_BELOW = 1 - Fraction(1, 2**SCALE_BITS)
"""A closed form is returned if it fits and this part of it does not."""

LARGEST_EXPONENT = 2048
"""Scales are searched for from 2**-2048 to 2**2048."""


def calibrate(make: Callable[[Fraction], Measurement], budget: object, d_in: Number) -> Fraction:
    """Give the smallest scale at which ``make(scale)`` keeps within the budget.

    It is exact where the map times the scale is constant (pure privacy: k * d / epsilon), and where the map
    times its square is, if the root is rational. Otherwise it is at most a part in 2**24 too large. It is 0,
    no noise, where none is needed: at a distance of 0, with one candidate, or for an infinite budget.

    Precondition
        ``make(scale).map(d_in)`` does not grow with the scale       claimed by the caller; true of ours
        ``budget`` is what ``m.check(d_in, budget)`` takes            checked here

    Postcondition
        ``make(scale).check(d_in, budget)`` holds, and fails for 0.999 of the scale

    >>> from dpselect import PureDP, atom_domain, linf_distance, make_permute_and_flip, vector_domain
    >>> scores, votes = vector_domain(atom_domain(int)), linf_distance(monotonic=True)
    >>> calibrate(lambda scale: make_permute_and_flip(scores, votes, scale, k=3), PureDP("1/2"), d_in=1)
    Fraction(6, 1)
    """
    if not callable(make):
        raise InvalidParameter.must_be(
            "make", "a function from a scale to a measurement", got=make, way_out="Write lambda scale: ..."
        )

    def fits(scale: Fraction) -> bool:
        return _made(make, scale).check(d_in, budget)

    measurement = _made(make, Fraction(1))
    price, most = measurement.map(d_in), measurement.output_measure.distance(budget)
    one = bool(price <= most)  # type: ignore[operator]  # both are distances of one measure
    if _fits_without_noise(fits):
        return Fraction(0)
    for scale in _closed_forms(price, most):
        if fits(scale) and not fits(scale * JUST_BELOW):
            return scale
    exponent = _least_power_of_two(fits, budget, one=one)
    return bisect(
        fits, fails=Fraction(2) ** (exponent - 1), holds=Fraction(2) ** exponent, bits=SCALE_BITS
    ).holds


def _made(make: Callable[[Fraction], Measurement], scale: Fraction) -> Measurement:
    measurement = make(scale)
    if not isinstance(measurement, Measurement):
        raise InvalidParameter.must_be("make(scale)", "a Measurement", got=measurement)
    return measurement


def _fits_without_noise(fits: Callable[[Fraction], bool]) -> bool:
    """Try a scale of zero; a measurement that refuses it, or divides by it, needs noise."""
    try:
        return fits(Fraction(0))
    except (InvalidParameter, ZeroDivisionError):
        return False


def _closed_forms(price: object, most: object) -> Iterator[Fraction]:
    """Guess that the map is c / scale, or c / scale**2, with c its price at 1; the caller checks guesses."""
    if isinstance(price, Fraction) and isinstance(most, Fraction) and price > 0 and most > 0:
        ratio = price / most
        yield ratio
        root = Fraction(isqrt(ratio.numerator), isqrt(ratio.denominator))
        yield root if root**2 == ratio else sqrt(ratio).high


def _least_power_of_two(fits: Callable[[Fraction], bool], budget: object, *, one: bool) -> int:
    """Find an exponent such that 2**exponent fits and 2**(exponent - 1) does not: double, then bisect."""
    step = -1 if one else 1
    reached = step
    while fits(Fraction(2) ** reached) is one:
        if abs(reached) == LARGEST_EXPONENT:
            raise _out_of_reach(budget, one=one)
        reached *= 2
    fails, fitting = (reached, reached // 2 if reached < -1 else 0) if one else (reached // 2, reached)
    return least_whole(lambda exponent: fits(Fraction(2) ** exponent), fails=fails, holds=fitting)


def _out_of_reach(budget: object, *, one: bool) -> InvalidParameter:
    if one:
        return InvalidParameter(
            "make(scale) must cost more with less noise; "
            f"got one that fits the budget at 2**-{LARGEST_EXPONENT}. Any scale will do."
        )
    text = str(budget) if isinstance(budget, Numbered) else shown(budget)
    return InvalidParameter(
        f"budget must be one that a scale up to 2**{LARGEST_EXPONENT} keeps within; got {text}. "
        "Give a larger budget."
    )
