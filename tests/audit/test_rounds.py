"""Programs of rounds: the law of one round gives the law of all, and a round that remembers is refused."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpselect.audit.rounds import enumerate_rounds
from dpselect.errors import InvalidParameter
from dpselect.exact.randomness import Randomness


def three_sides(source: Randomness) -> int:
    """Two bits, thrown again while they show 3."""
    while True:
        source.mark(())
        number = 2 * source.word() + int(source.words(1)[0])
        if number < 3:
            return number


def test_dice_that_are_thrown_again_are_fair_after_all_rounds() -> None:
    law = enumerate_rounds(three_sides, 2)
    assert {side: (low, high) for side, (low, high) in law.items()} == dict.fromkeys(
        range(3), (Fraction(1, 3), Fraction(1, 3))
    )


def test_what_one_round_leaves_open_widens_the_law() -> None:
    law = enumerate_rounds(lambda source: source.word() and three_sides(source), 2)
    assert all(high > low for low, high in law.values())


def test_a_round_that_remembers_the_last_one_is_refused() -> None:
    def counting(source: Randomness) -> int:
        source.mark(1)
        return source.word()

    with pytest.raises(InvalidParameter, match="must remember nothing"):
        enumerate_rounds(counting, 3)
