"""A whole number with a fraction that breaks ties: the fraction is drawn bit by bit, and says nothing.

Proof: counted_numbers.proof.md
"""

from __future__ import annotations

from fractions import Fraction

from dpselect.exact.enclosures import Ball, enclose
from dpselect.exact.partial_numbers import OneUniform
from dpselect.exact.randomness import Randomness


class CountedNumber(OneUniform):
    """whole + F with F of density proportional to exp(-f / scale) on [0, 1)."""

    __slots__ = ("_scale", "_whole")

    def __init__(self, whole: int, scale: Fraction, randomness: Randomness) -> None:
        """Keep the whole number; of the fraction nothing is drawn yet."""
        super().__init__(randomness)
        self._whole = whole
        self._scale = scale

    def lower(self, precision: int) -> Fraction:
        """Bound the number from below."""
        return self._whole + self._fraction(self._known.low, precision)[0]

    def upper(self, precision: int) -> Fraction:
        """Bound the number from above."""
        return self._whole + self._fraction(self._known.high, precision)[1]

    def _fraction(self, u: Fraction, precision: int) -> tuple[Fraction, Fraction]:
        """Enclose -scale * ln(1 - u (1 - exp(-1 / scale))), which is 0 at 0 and 1 at 1."""
        if u in (0, 1):
            return u, u

        def quantile(v: Ball, s: Ball) -> Ball:
            return -s * (v * (-1 / s).expm1()).log1p()

        found = enclose(quantile, u, self._scale, precision=precision)
        return max(Fraction(0), found.low), min(Fraction(1), found.high)
