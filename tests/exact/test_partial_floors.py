"""Steps of a grid between two numbers, drawn until they are certain: dpselect.exact.partial_floors."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpselect.exact.enclosures import Enclosure, exp
from dpselect.exact.partial_floors import floor_of_difference
from dpselect.exact.partial_numbers import Exponential, Known, Uniform
from dpselect.exact.randomness import Randomness
from tests.exact.laws import Rejected, Walk, check

ONE = Fraction(1)


def steps(source: Randomness) -> int:
    """Of an exponential number above one third, in steps of two thirds."""
    number = Exponential(Fraction(1, 3), ONE, source)
    return floor_of_difference(number, Known(Fraction(1, 3)), Fraction(2, 3))


def geometric(k: int) -> Enclosure:
    """e**(-2k/3) - e**(-2(k+1)/3)."""
    near, far = exp(-Fraction(2 * k, 3), 256), exp(-Fraction(2 * (k + 1), 3), 256)
    return Enclosure(near.low - far.high, near.high - far.low)


def test_the_steps_below_an_exponential_number_are_geometric() -> None:
    check(steps, geometric, range(4), Walk(12, Fraction(1, 2**6)))
    with pytest.raises(Rejected):
        check(steps, lambda k: geometric(k + 1), range(4), Walk(12, Fraction(1, 2**6)))


def test_two_uniform_numbers_are_refined_whichever_is_less_certain() -> None:
    """floor(2 (U - V)) is -2, -1, 0, 1 with probability 1/8, 3/8, 3/8, 1/8."""

    def program(source: Randomness) -> int:
        return floor_of_difference(Uniform(source), Uniform(source), Fraction(1, 2))

    eighths = {-2: 1, -1: 3, 0: 3, 1: 1}

    def law(value: int) -> Enclosure:
        return Enclosure(Fraction(eighths.get(value, 0), 8), Fraction(eighths.get(value, 0), 8))

    check(program, law, eighths, Walk(14, Fraction(1, 8)))


@pytest.mark.parametrize(
    ("ours", "theirs", "grid", "found"),
    [(7, 3, 2, 2), (7, 3, 3, 1), (7, 7, 1, 0), (3, 7, 3, -2), ("1/2", "1/3", "1/6", 1)],
)
def test_numbers_that_are_known_are_subtracted_exactly(ours: str, theirs: str, grid: str, found: int) -> None:
    assert floor_of_difference(Known(Fraction(ours)), Known(Fraction(theirs)), Fraction(grid)) == found
