"""Several quantiles: every draw has the law of its definition. dpselect.selection.recursive_medians."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect.audit.rounds import enumerate_rounds
from dpselect.exact.randomness import system
from dpselect.selection import cells as cells_module
from dpselect.selection import recursive_medians
from dpselect.selection.cells import SHARES, Cells, Cut
from dpselect.selection.recursive_medians import (
    draw_pivot,
    levels,
    parts_between,
    recursive_quantiles,
)
from tests.statistics import g_statistic, threshold

QUARTILES = [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]


def cells_of(
    people: Sequence[int], outside: tuple[int, int] = (0, 0), kind: Any = np.int64, shares: int = SHARES
) -> Cells:
    before, behind = outside
    places = [cell for cell, count in enumerate(people) if count]
    held = np.array(places, dtype=kind)
    up_to = np.cumsum([before, *(people[cell] for cell in places)], dtype=np.int64)
    return Cells(len(people), held, up_to, before + sum(people) + behind, shares)


def ends(cells: Cells) -> tuple[Cut, Cut]:
    return Cut(0, Fraction(0), Fraction(0)), Cut(cells.length - 1, Fraction(1), Fraction(cells.people))


# The definition, without runs: people are a list, cuts are pairs of a cell and a share.


def rank(people: Sequence[int], before: int, cell: int, share: Fraction) -> Fraction:
    return before + sum(people[:cell]) + share * people[cell]


def candidates(
    people: Sequence[int], before: int, left: Cut, right: Cut, shares: int
) -> Iterator[tuple[int, Fraction, Fraction]]:
    """Give each cell and share between two cuts, with its rank."""
    for cell in range(left.cell, right.cell + 1):
        low = left.share if cell == left.cell else Fraction(0)
        high = right.share if cell == right.cell else Fraction(1)
        for k in range(shares + 1):
            share = low + (high - low) * Fraction(k, shares)
            yield cell, share, rank(people, before, cell, share)


def plain_law(
    people: Sequence[int], at: Sequence[Fraction], scale: float, shares: int, before: int = 0
) -> dict[tuple[int, ...], float]:
    """Give the law of all answers in floats, by trying every cut of every level."""
    n = before + sum(people)

    def solve(
        indices: tuple[int, int], fractions: Any, left: Cut, right: Cut
    ) -> dict[tuple[int, ...], float]:
        start, stop = indices
        if start == stop:
            return {(): 1.0}
        middle, (low, high) = (start + stop) // 2, fractions
        a = (at[middle] - low) / (high - low)
        wanted = left.rank + a * (right.rank - left.rank)
        weights = {
            (cell, share): math.exp(-abs(float(found - wanted)) / (2 * float(max(a, 1 - a)) * scale))
            for cell, share, found in candidates(people, before, left, right, shares)
        }
        multiplicity = Counter(
            (cell, share) for cell, share, _ in candidates(people, before, left, right, shares)
        )
        total = sum(weights[each] * multiplicity[each] for each in weights)
        found: defaultdict[tuple[int, ...], float] = defaultdict(float)
        for (cell, share), weight in weights.items():
            p = weight * multiplicity[cell, share] / total
            pivot = Cut(cell, share, rank(people, before, cell, share))
            for one, p_one in solve((start, middle), (low, at[middle]), left, pivot).items():
                for other, p_other in solve((middle + 1, stop), (at[middle], high), pivot, right).items():
                    found[(*one, cell, *other)] += p * p_one * p_other
        return found

    outer = Cut(0, Fraction(0), Fraction(0)), Cut(len(people) - 1, Fraction(1), Fraction(n))
    return solve((0, len(at)), (Fraction(0), Fraction(1)), *outer)


SHARE = st.integers(0, 6).map(lambda k: Fraction(k, 6))


@given(
    people=st.lists(st.integers(0, 4), min_size=1, max_size=7),
    outside=st.tuples(st.integers(0, 3), st.integers(0, 3)),
    cuts=st.none() | st.tuples(st.integers(0, 6), SHARE, st.integers(0, 6), SHARE),
    at=st.fractions("1/9", "8/9", max_denominator=9),
    form=st.tuples(st.sampled_from([np.int64, np.uint64, object]), st.integers(1, 4)),
)
def test_every_cell_and_share_between_two_cuts_is_there_once_with_its_score(
    people: list[int],
    outside: tuple[int, int],
    cuts: tuple[int, Fraction, int, Fraction] | None,
    at: Fraction,
    form: tuple[Any, int],
) -> None:
    (before, _), shares = outside, form[1]
    cells = cells_of(people, outside, *form)
    left, right = ends(cells)
    if cuts is not None:
        pairs = sorted([(min(cuts[0], len(people) - 1), cuts[1]), (min(cuts[2], len(people) - 1), cuts[3])])
        left, right = (cells.cut(cell, share) for cell, share in pairs)
    wanted = left.rank + at * (right.rank - left.rank)
    found: defaultdict[tuple[int, Fraction], Fraction] = defaultdict(Fraction)
    for part in parts_between(cells, left, right, wanted):
        runs = part.runs
        for run in range(len(runs.scores)):
            for place in range(runs.count(run) or 0):
                score, output = runs.score(run) - place * runs.drop(run), runs.output(run, place)
                cell = output if part.cells is None else int(part.cells[run])
                found[cell, score] += runs.weight
    expected: defaultdict[tuple[int, Fraction], Fraction] = defaultdict(Fraction)
    for cell, _, at_rank in candidates(people, before, left, right, shares):
        expected[cell, -abs(at_rank - wanted)] += Fraction(1, shares + 1)
    assert found == expected


@pytest.mark.usefixtures("unmeasured")
def test_the_law_of_one_draw_is_its_definition() -> None:
    people, shares, a, scale = [1, 0, 2], 2, Fraction(1, 3), Fraction(3, 2)
    cells = cells_of(people, shares=shares)
    left, right = ends(cells)
    wanted = a * 3
    weights: defaultdict[int, float] = defaultdict(float)
    for cell, _, found in candidates(people, 0, left, right, shares):
        weights[cell] += math.exp(-abs(float(found - wanted)) / float(2 * (1 - a) * scale))
    walked = enumerate_rounds(
        lambda randomness: draw_pivot(cells, (left, right), a, scale, randomness).cell, 13, 1
    )
    assert max(high - low for low, high in walked.values()) < 0.3
    for cell, weight in weights.items():
        p = weight / sum(weights.values())
        assert walked[cell].low - Fraction(1, 10**9) <= p <= walked[cell].high + Fraction(1, 10**9)


def drawn_and_expected(scale: Fraction, draws: int) -> tuple[list[int], list[float]]:
    people, shares = [2, 0, 3], 3
    law = plain_law(people, QUARTILES, 2.0, shares, before=1)
    cells = cells_of(people, (1, 0), shares=shares)
    found = Counter(tuple(recursive_quantiles(cells, QUARTILES, scale, system())) for _ in range(draws))
    assert found.keys() <= law.keys()
    return [found[each] for each in law], list(law.values())


@pytest.mark.usefixtures("unmeasured")
def test_all_answers_together_follow_the_law_of_the_recursion() -> None:
    counts, law = drawn_and_expected(Fraction(2), 700)
    assert g_statistic(counts, law) < threshold(len(law))


@pytest.mark.usefixtures("unmeasured")
def test_a_draw_at_a_quarter_of_the_scale_is_rejected() -> None:
    counts, law = drawn_and_expected(Fraction(1, 2), 700)
    assert g_statistic(counts, law) > threshold(len(law))


def test_ties_that_go_to_one_side_pull_the_later_quantiles_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """90 % of people share a cell: with shares all deciles below the last are that cell."""
    cells = cells_of([50_000, 900_000, *[500] * 100])
    deciles = [Fraction(tenth, 10) for tenth in range(1, 10)]
    assert recursive_quantiles(cells, deciles, Fraction(4), system()) == [1] * 9
    right = Cells.cut
    monkeypatch.setattr(cells_module.Cells, "cut", lambda self, cell, _: right(self, cell, Fraction(0)))
    assert recursive_quantiles(cells, deciles, Fraction(4), system()) != [1] * 9


def test_people_of_the_cell_that_is_cut_count_on_one_side_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """If they counted on both sides, one person would move two draws, and the quartiles would be off."""
    cells = cells_of([300, 400, 300])
    assert recursive_quantiles(cells, QUARTILES, Fraction(2), system()) == [0, 1, 2]
    draws: list[tuple[tuple[Cut, Cut], Fraction, Cut]] = []

    def recorded(cells: Cells, between: tuple[Cut, Cut], at: Fraction, scale: Fraction, source: Any) -> Cut:
        pivot = draw_pivot(cells, between, at, scale, source)
        draws.append((between, at, pivot))
        return pivot

    monkeypatch.setattr(recursive_medians, "draw_pivot", recorded)
    recursive_quantiles(cells, [Fraction(1, 10), Fraction(1, 2), Fraction(3, 5)], Fraction(2), system())
    (whole, half, first), *others = draws
    left, right = whole
    assert (left.rank, right.rank, half) == (Fraction(0), Fraction(1000), Fraction(1, 2))
    assert first == cells.cut(first.cell, first.share)
    assert [(between, at) for between, at, _ in others] == [
        ((left, first), Fraction(1, 5)),
        ((first, right), Fraction(1, 5)),
    ]


def test_answers_ascend_and_one_of_many_cells_costs_no_more() -> None:
    wide = Cells(2**80, np.array([5, 2**70], dtype=object), np.array([0, 40, 100]), 100)
    for _ in range(5):
        answers = recursive_quantiles(wide, QUARTILES, Fraction(3), system())
        assert answers == sorted(answers)
    longer_than_64_bits = Cells(2**64 + 5, np.array([5, 9], dtype=np.uint64), np.array([0, 4, 10]), 12)
    assert len(recursive_quantiles(longer_than_64_bits, QUARTILES, Fraction(3), system())) == 3
    assert "private" in repr(wide)


def test_no_people_are_a_draw_from_the_grid() -> None:
    empty = Cells(10**6, np.array([], dtype=np.int64), np.array([0]), 0)
    drawn = [recursive_quantiles(empty, [Fraction(1, 2)], Fraction(1), system())[0] for _ in range(30)]
    assert len(set(drawn)) > 20


def test_without_noise_the_quantiles_themselves_are_given() -> None:
    cells = cells_of([1] * 11)
    assert recursive_quantiles(cells, [Fraction(1, 2)], Fraction(0), system()) == [5]


@pytest.mark.parametrize(("count", "depth"), [(1, 1), (2, 2), (3, 2), (4, 3), (7, 3), (9, 4), (99, 7)])
def test_there_are_as_many_levels_as_binary_digits(count: int, depth: int) -> None:
    assert levels(count) == depth
