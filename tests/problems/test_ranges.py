"""d_range, re-derived by brute force over all small data sets: dpselect.problems.votes and the others.

The scores are the problems' own, from counts that one person's bounded rows can make.
(dpselect.problems.pricing, dpselect.problems.quantile, dpselect.problems.weighted_sum)
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import chain, combinations, product
from typing import Any

import numpy as np
import pytest

import dpselect
from dpselect.engines.protocol import Counts
from dpselect.problems import Problem
from tests.problems.brute_force import Person, Scores, ranges, total

NAMES = ["a", "b", "c"]


def counts_of(rows: Sequence[tuple[Any, ...]], keys: int) -> Counts:
    """Group rows as an engine does."""
    groups = Counter(rows)
    columns = [np.array([group[key] for group in groups], dtype=object) for key in range(keys)]
    places = (
        columns[0].astype(np.int64)
        if keys == 2 or all(isinstance(row[0], int) for row in rows)
        else columns[0]
    )
    second = [
        column if any(isinstance(x, Fraction) for x in column) else column.astype(np.int64)
        for column in columns[1:]
    ]
    return Counts((places, *second), np.array(list(groups.values()), dtype=np.int64))


def scored(problem: Problem, keys: int, people: Sequence[Person]) -> Scores:
    """Score people, each of whom is a tuple of rows."""
    counts = counts_of(list(chain.from_iterable(people)), keys)
    return [int(score) * problem.unit for score in problem.scores(counts)]


def subsets(rows: Sequence[Any], largest: int) -> list[tuple[Any, ...]]:
    return [chosen for size in range(largest + 1) for chosen in combinations(rows, size)]


def found(
    problem: Problem, people: Sequence[Person], keys: int = 1, size: int = 3
) -> tuple[Fraction, Fraction]:
    return ranges(people, lambda some: scored(problem, keys, some), size)


def found_together(
    problem: Problem, people: Sequence[Person], keys: int = 1, size: int = 3
) -> tuple[Fraction, Fraction]:
    return ranges(people, lambda some: scored(problem, keys, some), size, total)


def claimed_together(problem: Problem) -> tuple[Fraction | None, Fraction | None]:
    return problem.l1("add_remove"), problem.l1("change_one")


def claimed(problem: Problem) -> tuple[Fraction, Fraction]:
    return problem.d_range("add_remove"), problem.d_range("change_one")


def pair(added: int | Fraction, changed: int | Fraction) -> tuple[Fraction, Fraction]:
    return Fraction(added), Fraction(changed)


def test_approval_voting_is_as_sensitive_as_it_says_however_many_are_named() -> None:
    problem = dpselect.approval_voting(candidate="x", candidates=NAMES)
    assert found(problem, subsets([(0,), (1,), (2,)], 3)) == claimed(problem) == pair(1, 2)
    assert claimed_together(problem) == (None, None)


def test_plurality_is_as_sensitive_as_it_says() -> None:
    problem = dpselect.plurality(candidate="x", candidates=NAMES)
    people = subsets([(0,), (1,), (2,)], 1)
    assert found(problem, people) == claimed(problem) == pair(1, 2)
    assert found_together(problem, people) == claimed_together(problem) == pair(1, 2)


@pytest.mark.parametrize("bound", [1, 2, 3])
def test_most_common_is_as_sensitive_as_its_bound_on_rows(bound: int) -> None:
    problem = dpselect.most_common(column="x", candidates=NAMES, rows_per_person=bound)
    people = [rows for size in range(bound + 1) for rows in product([(0,), (1,), (2,)], repeat=size)]
    assert found(problem, people, size=2) == claimed(problem) == pair(bound, 2 * bound)
    assert found_together(problem, people, size=2) == claimed_together(problem) == pair(bound, 2 * bound)


@pytest.mark.parametrize("names", [["a", "b"], NAMES, [*NAMES, "d"]])
def test_borda_is_as_sensitive_as_it_says_whatever_the_ballots_look_like(names: list[str]) -> None:
    problem = dpselect.borda(candidate="x", rank="r", candidates=names)
    size = len(names)
    # Each candidate has one rank or none: also ballots with equal ranks, which no honest voter hands in.
    ballots = [
        tuple((place, rank) for place, rank in enumerate(ranks) if rank is not None)
        for ranks in product([None, *range(size)], repeat=size)
        if size < 4 or len(set(ranks)) in (1, size)
    ]
    assert found(problem, ballots, keys=2, size=1) == claimed(problem) == pair(size - 1, 2 * (size - 1))
    together = pair(size * (size - 1), size * (size - 1))
    assert found_together(problem, ballots, keys=2, size=1) == claimed_together(problem) == together


@pytest.mark.parametrize(
    "prices", [[1, 2, 3], ["0.99", "1.99"], [5, 6, 7], [1, 10], ["1/3", "1/2", 2, "7/2"], [0, 1, 2], [0, 3]]
)
def test_pricing_is_as_sensitive_as_it_says(prices: list[Any]) -> None:
    problem = dpselect.pricing(value="x", prices=prices)
    exact = sorted(map(Fraction, prices))
    offers = [Fraction(-1), *exact, *(price + Fraction(1, 7) for price in exact)]
    people = [(), *(((offer,),) for offer in offers)]
    added, changed = found(problem, people)
    assert (added, changed) == claimed(problem)
    assert added == max(exact[-2], exact[-1] - exact[0])
    assert changed == exact[-1]
    assert (
        found_together(problem, people, size=1) == claimed_together(problem) == pair(sum(exact), sum(exact))
    )


def test_one_price_alone_is_not_priced_below_the_truth() -> None:
    problem = dpselect.pricing(value="x", prices=[5])
    added, changed = found(problem, [(), ((Fraction(9),),)])
    assert added <= problem.d_range("add_remove")
    assert changed <= problem.d_range("change_one")


@pytest.mark.parametrize(
    ("at", "size", "tight"),
    [
        ("1/2", 3, True),
        ("1/4", 4, True),
        ("3/4", 4, True),
        ("1/3", 3, True),
        ("0", 3, False),
        ("1", 3, False),
    ],
)
def test_a_quantile_is_as_sensitive_as_it_says(at: str, size: int, *, tight: bool) -> None:
    problem = dpselect.quantile(value="x", at=at, candidates=[1, 2, 3])
    people = [((Fraction(value),),) for value in (0, 1, "3/2", 2, 3, 4)]
    added, changed = found(problem, people, size=size)
    most = 2 * max(Fraction(at), 1 - Fraction(at))
    assert claimed(problem) == pair(most, 2)
    assert added <= most
    assert changed <= 2
    if tight:
        assert (added, changed) == pair(most, 2)
    together = found_together(problem, people, size=size)
    assert claimed_together(problem) == pair(3 * most / 2, 3)
    assert together[0] == 3 * most / 2
    assert together[1] <= 3


def test_a_quantile_near_the_end_reaches_its_range_in_larger_data() -> None:
    # One candidate's rank must be too low and another's too high by at least nine tenths.
    problem = dpselect.quantile(value="x", at="9/10", candidates=[1, 2, 3, 4, 5])
    at = {value: ((Fraction(value),),) for value in range(7)}
    crowds = [[at[0]] * low + [at[3]] * middle for low in range(3) for middle in range(9)]
    found = max(
        max(changes) - min(changes)
        for crowd in crowds
        for person in at.values()
        for changes in [
            [
                after - before
                for before, after in zip(
                    scored(problem, 1, crowd), scored(problem, 1, [*crowd, person]), strict=True
                )
            ]
        ]
    )
    assert found == problem.d_range("add_remove") == Fraction(9, 5)


@pytest.mark.parametrize("bounds", [(1, 5), (-2, 3), (-5, -1), (0, 1), ("-1/2", "1/3")])
def test_a_weighted_sum_is_as_sensitive_as_it_says(bounds: tuple[Any, Any]) -> None:
    problem = dpselect.weighted_sum(candidate="c", candidates=["a", "b"], value="x", bounds=bounds)
    low, high = map(Fraction, bounds)
    ratings = [None, low - 1, low, (low + high) / 2, high, high + 1]
    people = [
        tuple((place, rating) for place, rating in enumerate(pair) if rating is not None)
        for pair in product(ratings, repeat=2)
    ]
    truth = max(high, Fraction(0)) - min(low, Fraction(0))
    assert found(problem, people, keys=2, size=1) == claimed(problem) == pair(truth, 2 * truth)
    assert claimed_together(problem) == (None, None)


def test_a_claimed_sensitivity_becomes_a_range() -> None:
    names = ["a", "b"]
    assert claimed(dpselect.custom(candidates=names, sensitivity="1/2")) == pair(1, 1)
    assert claimed(dpselect.custom(candidates=names, sensitivity=3, monotonic=True)) == pair(3, 6)
    assert claimed(dpselect.custom(candidates=names, range_sensitivity=3)) == pair(3, 3)
    assert claimed(dpselect.counting(100, sensitivity=2)) == pair(2, 4)
    assert claimed_together(dpselect.counting(100)) == (None, None)
    assert claimed_together(dpselect.custom(candidates=names, sensitivity=1)) == (None, None)


def test_one_score_moves_no_further_than_is_said_if_one_person_answers_otherwise() -> None:
    """By brute force over one person's answers; what the lecture states its bounds in."""
    prices = dpselect.pricing(value="x", prices=[5, 6, 7])
    offers = [((Fraction(offer),),) for offer in (0, 5, 6, 7)]
    quarter = dpselect.quantile(value="x", at="1/4", candidates=[1, 2, 3])
    values = [((Fraction(value),),) for value in (0, 1, 2, 3, 4)]
    for problem, people, said in ((prices, offers, Fraction(7)), (quarter, values, Fraction(1))):
        moves = [
            abs(before - after)
            for others in ([], [people[0]] * 3)
            for one, other in product(people, repeat=2)
            for before, after in zip(
                scored(problem, 1, [*others, one]), scored(problem, 1, [*others, other]), strict=True
            )
        ]
        assert max(moves) == problem.d_linf == said
