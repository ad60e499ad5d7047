"""Bisection: the upper end has answered yes, the lower no, and they are as close as asked."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect.exact.bisection import HALVINGS, Bracket, bisect, least_whole

thresholds = st.fractions(min_value=Fraction(1, 10**12), max_value=1)


@dataclass
class Answers:
    """A condition that always answers the same, and counts."""

    yes: bool
    questions: int = 0

    def __call__(self, _: Fraction) -> bool:
        self.questions += 1
        return self.yes


@given(thresholds, st.integers(0, 80))
def test_the_threshold_lies_between_the_ends_and_they_are_close(threshold: Fraction, bits: int) -> None:
    found = bisect(lambda x: x >= threshold, fails=Fraction(0), holds=Fraction(1), bits=bits)
    assert found.fails < threshold <= found.holds
    assert found.holds - found.fails <= found.holds / 2**bits


@pytest.mark.parametrize("bits", [0, 1, 5, 64])
def test_no_more_questions_are_asked_than_bits_are_wanted(bits: int) -> None:
    never = Answers(yes=False)
    assert bisect(never, fails=Fraction(0), holds=Fraction(1), bits=bits) == Bracket(
        1 - Fraction(1, 2**bits), Fraction(1)
    )
    assert never.questions == bits


@given(st.sets(st.integers(0, 63)), st.integers(0, 30))
def test_whatever_the_condition_each_end_was_asked_and_answered(yes: set[int], bits: int) -> None:
    answers: dict[Fraction, bool] = {}

    def erratic(x: Fraction) -> bool:
        return answers.setdefault(x, int(x * 64) % 64 in yes)

    found = bisect(erratic, fails=Fraction(1), holds=Fraction(2), bits=bits)
    assert found.holds == 2 or answers[found.holds] is True
    assert found.fails == 1 or answers[found.fails] is False
    assert found.holds - found.fails <= found.holds / 2**bits


def test_the_ends_of_the_caller_are_not_asked_again() -> None:
    asked: list[Fraction] = []

    def condition(x: Fraction) -> bool:
        asked.append(x)
        return x > Fraction(5, 4)

    bisect(condition, fails=Fraction(1), holds=Fraction(2), bits=3)
    assert asked == [Fraction(3, 2), Fraction(5, 4), Fraction(11, 8)]


def test_a_bracket_that_is_close_enough_is_given_back() -> None:
    ends = Bracket(Fraction(15, 16), Fraction(1))
    assert bisect(lambda _: pytest.fail("asked"), fails=ends.fails, holds=ends.holds, bits=4) == ends


def test_a_condition_that_holds_right_above_zero_is_asked_for_so_long_and_no_longer() -> None:
    always = Answers(yes=True)
    assert bisect(always, fails=Fraction(0), holds=Fraction(3), bits=8) == Bracket(
        Fraction(0), Fraction(3, 2**HALVINGS)
    )
    assert always.questions == HALVINGS


@given(st.integers(-(10**6), 10**6), st.integers(1, 10**6), st.integers(1, 10**6))
def test_the_least_whole_number_is_found(threshold: int, below: int, above: int) -> None:
    found = least_whole(lambda n: n >= threshold, fails=threshold - below, holds=threshold + above - 1)
    assert found == threshold


def test_neighbouring_whole_numbers_need_no_question() -> None:
    assert least_whole(lambda _: pytest.fail("asked"), fails=-3, holds=-2) == -2
