"""Each of many groups is drawn from as if it were alone, independently of all others.

What is under test: dpselect.selection.grouped_draw.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpselect.exact.enclosures import Enclosure
from dpselect.exact.randomness import Randomness, system
from dpselect.selection import grouped_draw
from dpselect.selection.counts_draw import TopKWithCountsDraw
from dpselect.selection.draw import TooFewCandidates, TopKDraw
from dpselect.selection.grouped_draw import GroupedDraw, draw_exactly, draw_together
from dpselect.selection.noise import NOISES, NoiseName
from tests.exact.laws import Rejected, Walk, check, product
from tests.exact.sources import Begun, Given, untouchable
from tests.mechanisms.closed_forms import Order, exponential_top_k, gumbel_top_k, laplace_top_k
from tests.mechanisms.makers import ONE
from tests.statistics import rejects

LAWS = {"gumbel": gumbel_top_k, "exponential": exponential_top_k, "laplace": laplace_top_k}

TWO_GROUPS = np.array([[1, 0], [0, 2]])

SMALL = Fraction(1, 1000)

WAYS: list[tuple[NoiseName, int, int, Walk]] = [
    ("exponential", 1, 1, Walk(20, Fraction(1, 2**10))),
    ("gumbel", 1, 1, Walk(20, Fraction(1, 2**5))),
    ("laplace", 1, 1, Walk(12, Fraction(1, 4))),
    ("laplace", 1, 4, Walk(12, Fraction(1, 4))),
    ("exponential", 2, 1, Walk(12, Fraction(1, 8))),
    ("exponential", 2, 4, Walk(12, Fraction(1, 4), 2)),
    ("gumbel", 2, 1, Walk(12, Fraction(1, 4))),
]
"""A noise, how many winners, how many noisy scores at a time, and how far to walk."""

each_way = pytest.mark.parametrize(
    ("noise", "k", "cells", "walk"), WAYS, ids=[f"{noise}-{k}-{cells}" for noise, k, cells, _ in WAYS]
)


def law_of_two(noise: NoiseName, k: int) -> dict[tuple[Order, ...], Enclosure]:
    """Multiply the laws of both groups: they are independent."""
    one, other = (LAWS[noise](scores, k, ONE) for scores in TWO_GROUPS.tolist())
    return {(a, b): product([one[a], other[b]]) for a, b in itertools.product(one, other)}


def of_two(draw: GroupedDraw, source: Randomness) -> tuple[Order, ...]:
    return tuple(tuple(winners) for winners in draw(TWO_GROUPS, source))


@pytest.mark.usefixtures("unmeasured")
@each_way
def test_two_groups_of_two_are_drawn_independently_each_with_the_law_of_one(
    noise: NoiseName, k: int, cells: int, walk: Walk
) -> None:
    law, draw = law_of_two(noise, k), GroupedDraw(TopKDraw(ONE, k, "max", noise), cells)
    check(lambda source: of_two(draw, source), law.__getitem__, law, walk)


# Draws that are wrong in one place.


class SecondHand:
    """Gives the second group the words that the first has had."""

    def __init__(self, source: Randomness) -> None:
        self.width = source.width
        self._source = source
        self._first: list[int] = []
        self._again: list[int] = []

    def word(self) -> int:
        if self._again:
            return self._again.pop(0)
        self._first.append(self._source.word())
        return self._first[-1]

    def words(self, n: int) -> NDArray[np.uint64]:
        return np.array([self.word() for _ in range(n)], dtype=np.uint64)

    def mark(self, key: object) -> None:
        del key
        self._again = list(self._first)


class OneRowForAll(SecondHand):
    """Gives all rows of a table the words of the first."""

    def words(self, n: int) -> NDArray[np.uint64]:
        return np.tile(self._source.words(n // 2), 2)

    def word(self) -> int:
        return self._source.word()


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize(
    ("noise", "cells", "wrong"),
    [("exponential", 1, SecondHand), ("laplace", 1, SecondHand), ("laplace", 4, OneRowForAll)],
)
def test_words_that_two_groups_share_are_rejected(
    noise: NoiseName, cells: int, wrong: Callable[[Randomness], Randomness]
) -> None:
    law, draw = law_of_two(noise, 1), GroupedDraw(TopKDraw(ONE, 1, "max", noise), cells)
    with pytest.raises(Rejected, match="wrong"):
        check(lambda source: of_two(draw, wrong(source)), law.__getitem__, law, Walk(12, Fraction(1, 4)))


# Floats, where words are wide enough for them.


def table_of(groups: int, candidates: int, spread: int) -> NDArray[np.int64]:
    return np.random.default_rng(1).integers(0, spread, (groups, candidates))


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(
    ("start", "scale"),
    [(0, ONE), (0, Fraction(10**6)), (-(2**60), Fraction(10**3)), (2**62, Fraction(1, 10**3))],
    ids=["usual", "much-noise", "far-from-zero", "farther"],
)
def test_on_the_same_words_floats_find_the_winners_that_exact_comparisons_find(
    noise: NoiseName, start: int, scale: Fraction
) -> None:
    """At 2**60 a double has no room for the noise: floats would order many candidates wrongly."""
    table = start + table_of(40, 30, 500)
    words = system().words(table.size)
    for optimize in ("max", "min"):
        draw = TopKDraw(scale, 3, optimize, noise)
        exact = [
            draw_exactly(draw, scores, row, untouchable())
            for scores, row in zip(table, words.reshape(table.shape), strict=True)
        ]
        assert draw_together(draw, table, Given(words.tolist())) == exact


def test_floats_that_are_trusted_where_they_are_too_near_are_told_from_exact_comparisons(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Words that tell them apart come in six tries of seven."""
    monkeypatch.setattr(grouped_draw, "SCORE_SLACK", 0.0)

    def sixty_tries() -> None:
        for _ in range(60):
            test_on_the_same_words_floats_find_the_winners_that_exact_comparisons_find(
                "laplace", -(2**60), Fraction(10**3)
            )

    with pytest.raises(AssertionError):
        sixty_tries()


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("word", [0, 5, 2**63, 2**64 - 5, 2**64 - 1])
def test_of_equal_scores_with_equal_first_words_both_may_win(noise: NoiseName, word: int) -> None:
    draw = TopKDraw(ONE, 2, "max", noise)
    drawn = [draw_together(draw, np.array([[7, 7]]), Begun([word, word]))[0] for _ in range(60)]
    assert {tuple(winners) for winners in drawn} == {(0, 1), (1, 0)}


@pytest.mark.parametrize("noise", NOISES)
def test_how_many_words_are_drawn_is_the_same_for_scores_that_tie(noise: NoiseName) -> None:
    words = system().words(40 * 30).tolist()
    for table in (np.zeros((40, 30), dtype=np.int64), table_of(40, 30, 20)):
        source = Given(words)
        draw_together(TopKDraw(ONE, 3, "max", noise), table, source)
        assert source.drawn == len(words)


# What may be given.


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("k", [1, 2])
def test_groups_may_be_a_table_or_a_series_of_scores_of_any_type_and_number(noise: NoiseName, k: int) -> None:
    table = 9 * np.array([[0, 1, 2], [2, 0, 1], [1, 2, 0], [0, 2, 1], [2, 1, 0]])
    expected = [[2, 1], [0, 2], [1, 0], [1, 2], [0, 1]]
    other = [
        [Fraction(score) for score in table[0].tolist()],
        9.0 * np.arange(4),
        np.array([3, 4, 5], dtype=np.int8),
    ]
    of_other = [[2, 1], [3, 2], [2, 1]]
    for cells in (1, 6, 10**6):
        draw = GroupedDraw(TopKDraw(SMALL, k, "max", noise), cells)
        for groups in (table, list(table), iter(table)):
            assert draw(groups, system()) == [best[:k] for best in expected]
        mixed = draw([*table[:2], *other, *table[2:]], system())
        assert mixed == [best[:k] for best in [*expected[:2], *of_other, *expected[2:]]]


def test_where_the_least_score_wins_it_wins_in_every_group() -> None:
    assert GroupedDraw(TopKDraw(SMALL, 2, "min", "laplace"))(9 * TWO_GROUPS, system()) == [[1, 0], [0, 1]]


def test_without_noise_ties_go_to_the_lowest_index_in_every_group() -> None:
    table = np.array([[0, 3, 3], [4, 1, 4]])
    assert GroupedDraw(TopKDraw(Fraction(0), 2, "max", "laplace"))(table, untouchable()) == [[1, 2], [0, 2]]


def test_what_one_group_gives_may_be_anything() -> None:
    assert GroupedDraw(TopKWithCountsDraw(SMALL, 1, "max"))(TWO_GROUPS, system()) == [[(0, 1)], [(1, 2)]]


@pytest.mark.parametrize("columns", [0, 1, 2])
def test_no_words_are_drawn_for_groups_with_fewer_candidates_than_winners(columns: int) -> None:
    draw = GroupedDraw(TopKDraw(ONE, 3, "max", "laplace"))
    with pytest.raises(TooFewCandidates):
        draw(np.zeros((4, columns), dtype=np.int64), untouchable())
    assert draw(np.zeros((0, columns), dtype=np.int64), untouchable()) == []


@pytest.mark.parametrize("columns", [5, 5000])
@pytest.mark.parametrize("k", [3, 100])
def test_groups_are_drawn_whatever_their_number_and_their_size(columns: int, k: int) -> None:
    table = np.zeros((3, columns), dtype=np.int64)
    table[:, [1, 3, 4]] = [90, 80, 70]
    winners = min(k, columns)
    drawn = GroupedDraw(TopKDraw(SMALL, winners, "max", "laplace"))(table, system())
    assert [best[:3] for best in drawn] == 3 * [[1, 3, 4]]
    assert all(len(set(best)) == winners for best in drawn)


# A sample.

LEADERS, FAR, GROUPS = [2, 1, 0], -60, 20_000


@pytest.mark.parametrize("noise", NOISES)
def test_a_sample_of_many_groups_fits_the_law_and_not_that_of_another_scale(noise: NoiseName) -> None:
    """Rows are taken as pairs: the two best of one, the best of the next.

    At 5/4 the mean of G is six deviations above the threshold.
    """
    table: Any = np.full((GROUPS, 25), FAR)
    table[:, [3, 4, 20]] = LEADERS
    places = {3: 0, 4: 1, 20: 2}
    drawn = [
        tuple(places[i] for i in best)
        for best in GroupedDraw(TopKDraw(ONE, 2, "max", noise))(table, system())
    ]
    counts = Counter((ours, theirs[0]) for ours, theirs in zip(drawn[::2], drawn[1::2], strict=True))

    def law(scale: Fraction) -> dict[tuple[Order, int], float]:
        two = {order: float(p.low) for order, p in LAWS[noise](LEADERS, 2, scale).items()}
        one = {i: sum(p for order, p in two.items() if order[0] == i) for i in range(3)}
        return {(order, i): p * q for order, p in two.items() for i, q in one.items()}

    right, wrong = law(ONE), law(Fraction(5, 4))
    sample = [counts[cell] for cell in right]
    assert sum(sample) == GROUPS // 2
    assert not rejects(sample, list(right.values()))
    assert rejects(sample, list(wrong.values()))
