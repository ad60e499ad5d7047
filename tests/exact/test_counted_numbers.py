"""A whole number with a fraction that breaks ties: dpselect.exact.counted_numbers."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpselect.exact.counted_numbers import CountedNumber
from dpselect.exact.enclosures import Enclosure, enclose
from dpselect.exact.partial_floors import floor_of_difference
from dpselect.exact.partial_numbers import Known
from dpselect.exact.randomness import Randomness, system
from tests.exact.laws import Rejected, Walk, check

SCALE = Fraction(2, 3)


def quarter(source: Randomness) -> int:
    """In which quarter the fraction lies."""
    return floor_of_difference(CountedNumber(5, SCALE, source), Known(Fraction(5)), Fraction(1, 4))


def law(i: int) -> Enclosure:
    """(e**(-i/4s) - e**(-(i+1)/4s)) / (1 - e**(-1/s))."""
    if not 0 <= i < 4:
        return Enclosure(Fraction(0), Fraction(0))
    return enclose(
        lambda s: ((-i / (4 * s)).exp() - (-(i + 1) / (4 * s)).exp()) / (1 - (-1 / s).exp()), SCALE
    )


def test_the_fraction_falls_off_as_the_noise_does() -> None:
    check(quarter, law, range(4), Walk(12, Fraction(1, 2**6)))
    with pytest.raises(Rejected):
        check(
            quarter,
            lambda _: Enclosure(Fraction(1, 4), Fraction(1, 4)),
            range(4),
            Walk(12, Fraction(1, 2**6)),
        )


def test_the_whole_part_is_the_number_and_nothing_need_be_drawn_to_know_it() -> None:
    number = CountedNumber(-7, SCALE, system())
    assert floor_of_difference(number, Known(Fraction(0)), Fraction(1)) == -7
    assert number.bits == 0
    assert number.interval() == (-7, -6)


def test_two_of_one_count_are_told_apart_by_their_fractions() -> None:
    ours, theirs = (CountedNumber(3, SCALE, system()) for _ in range(2))
    assert ours.greater_than(theirs) is not theirs.greater_than(ours)
    low, high = ours.interval()
    assert 3 <= low < high <= 4
