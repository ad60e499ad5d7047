"""Bounds on the ranks of several quantiles, against draws: dpselect.utility.quantile_accuracy."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpselect
from dpselect.errors import InvalidParameter
from dpselect.exact.randomness import system
from dpselect.selection.cells import Cells
from dpselect.selection.recursive_medians import recursive_quantiles
from dpselect.utility.quantile_accuracy import own_error, rank_errors, root_above

TENTH, ONE = Fraction(1, 100), Fraction(1)


@pytest.mark.parametrize(("m", "most"), [(1, 28), (3, 86), (9, 333), (19, 513), (99, 1090)])
def test_figures_are_those_of_the_formula(m: int, most: int) -> None:
    """2e5 points, 1e5 people, epsilon 1, 99 %: computed once with another program."""
    at = tuple(Fraction(i, m + 1) for i in range(1, m + 1))
    found = rank_errors(at, 200_001, Fraction(m.bit_length()), TENTH, 100_000)
    assert abs(max(found.within) - most) < 1


Shares = dict[int, Fraction]
"""Of whose own errors, and how much of each, an error is the sum."""


def own_errors_in(at: tuple[Fraction, ...]) -> dict[int, tuple[Fraction, Shares]]:
    """Say for each quantile how far between its ends it lies, and which own errors are in its error."""
    found: dict[int, tuple[Fraction, Shares]] = {}

    def draw(start: int, stop: int, ends: tuple[Fraction, Fraction], errors: tuple[Shares, Shares]) -> None:
        if start == stop:
            return
        middle, (low, high), (left, right) = (start + stop) // 2, ends, errors
        a = (at[middle] - low) / (high - low)
        shares = {i: (1 - a) * left.get(i, 0) + a * right.get(i, 0) for i in {*left, *right}} | {middle: ONE}
        found[middle] = a, shares
        draw(start, middle, (low, at[middle]), (left, shares))
        draw(middle + 1, stop, (at[middle], high), (shares, right))

    draw(0, len(at), (Fraction(0), ONE), ({}, {}))
    return found


@pytest.mark.parametrize("at", [("1/2",), ("1/10", "1/5", "1/2"), tuple(f"{i}/20" for i in range(1, 20))])
def test_the_typical_error_is_that_of_independent_laplace_errors_of_all_draws(at: tuple[str, ...]) -> None:
    """Cuts on either side of a draw have errors in common: their variances alone would not add up."""
    fractions, scale = tuple(map(Fraction, at)), Fraction(3)
    found = own_errors_in(fractions)
    own = {i: 2 * (2 * max(a, 1 - a) * scale) ** 2 for i, (a, _) in found.items()}
    typical = rank_errors(fractions, 1000, scale, TENTH, 1000).typical
    for place, (_, shares) in found.items():
        assert typical[place] == root_above(
            sum((share**2 * own[i] for i, share in shares.items()), Fraction(0))
        )


@pytest.mark.parametrize("shape", ["tied", "spread", "two"])
def test_no_draw_of_many_is_further_off_than_promised(shape: str) -> None:
    """Twenty draws at a confidence of 0.99: with a true bound, five misses have a probability below 1e-5."""
    people = {"tied": [3, 900, 0, 5, 92], "spread": [1] * 1000, "two": [500, *[0] * 50, 500]}[shape]
    places = np.flatnonzero(people)
    up_to = np.cumsum([0, *(people[place] for place in places)])
    cells = Cells(len(people), places, up_to, 1000)
    at = tuple(Fraction(i, 10) for i in range(1, 10))
    bound = rank_errors(at, len(people), Fraction(4), TENTH, 1000)
    missed = 0
    for _ in range(20):
        for answer, fraction, most in zip(
            recursive_quantiles(cells, at, Fraction(4), system()), at, bound.within, strict=True
        ):
            low = sum(people[:answer])
            missed += max(low - fraction * 1000, fraction * 1000 - low - people[answer]) > most
    assert missed < 5


def test_the_bound_holds_where_a_later_draw_wants_a_rank_that_no_number_has() -> None:
    """Half of all people lie before the grid, and the first quantile asked for is just the one half."""
    cells, at = Cells(1000, np.arange(1000), np.arange(1000, 2001), 2000), (Fraction(1, 2), Fraction(3, 5))
    bound = rank_errors(at, 1000, Fraction(30), TENTH, 2000)
    missed = 0
    for _ in range(20):
        first, second = recursive_quantiles(cells, at, Fraction(30), system())
        missed += first + 1 > bound.within[0] or abs(second - 200) > bound.within[1] + 1
    assert missed < 5


def test_accuracy_says_of_how_many_people_it_speaks() -> None:
    problem = dpselect.quantiles(value="x", at=["1/4", "1/2", "3/4"], between=(0, 120))
    few, any_number = (dpselect.accuracy(problem, epsilon=1, people=people) for people in (1000, None))
    assert few.within < any_number.within
    assert "up to 1,000 people" in str(few)
    assert "up to 17,179,869,184 people" in str(any_number)
    assert "typically about 3.2" in str(few)
    assert (few.k, few.n, few.mechanism) == (3, 121, "gumbel")
    assert dpselect.accuracy(problem, rho="1/8", people=1000).within < few.within
    assert dpselect.accuracy(problem, scale=2, people=1000).within == few.within
    assert dpselect.accuracy(problem, epsilon=1, neighbours="change_one", people=900).within > few.within
    wrong: list[dict[str, Any]] = [
        {},
        {"epsilon": 1, "rho": 1},
        {"epsilon": 1, "k": 2},
        {"epsilon": 1, "mechanism": "laplace"},
        {"epsilon": 1, "people": -1},
    ]
    for words in wrong:
        with pytest.raises(InvalidParameter):
            dpselect.accuracy(problem, **words)


def test_what_is_proved_of_candidates_with_scores_is_refused_for_several_quantiles() -> None:
    problem = dpselect.quantiles(value="x", at=["1/4", "1/2"], between=(0, 120))
    for ask in (
        lambda: dpselect.expected_error(problem, epsilon=1),
        lambda: dpselect.lead_needed(problem, epsilon=1),
        lambda: dpselect.chance_of_best(problem, lead=10, epsilon=1),
        lambda: dpselect.plot_accuracy(problem),
        lambda: dpselect.plot_chance(problem, epsilon=1),
        lambda: dpselect.plot_plan(problem, epsilon=1),
    ):
        with pytest.raises(InvalidParameter, match="several quantiles at once have no best candidate"):
            ask()


def test_ends_of_the_formulas() -> None:
    half = (Fraction(1, 2),)
    assert rank_errors(half, 1, Fraction(1), TENTH, 10).within == (Fraction(0),)
    assert own_error(5, Fraction(0), TENTH, 2**32) == 1
    assert root_above(Fraction(0)) == 0
    assert 0 <= root_above(Fraction(2)) ** 2 - 2 < Fraction(1, 2**28)


@pytest.mark.parametrize("neighbours", ["add_remove", "change_one"])
@pytest.mark.parametrize("wanted", [Fraction(1, 2), Fraction(30), Fraction(999)])
def test_epsilon_for_is_the_least_that_is_accurate_enough(neighbours: Any, wanted: Fraction) -> None:
    problem = dpselect.quantiles(value="x", at=["1/4", "1/2", "3/4"], between=(0, 120))
    question: dict[str, Any] = {"neighbours": neighbours, "people": 1000}
    epsilon = dpselect.epsilon_for(problem, within=wanted, **question)
    assert dpselect.accuracy(problem, epsilon=epsilon, **question).within <= wanted
    less = epsilon * (1 - Fraction(1, 2**22))
    assert dpselect.accuracy(problem, epsilon=less, **question).within > wanted


def test_what_no_budget_buys_and_what_needs_none() -> None:
    problem = dpselect.quantiles(value="x", at=["1/4", "1/2"], between=(0, 120))
    with pytest.raises(InvalidParameter, match="Give people=") as refused:
        dpselect.epsilon_for(problem, within=1)
    assert "within must be more than" in str(refused.value)
    with pytest.raises(InvalidParameter, match=r"more than .* people"):
        dpselect.epsilon_for(problem, within="1e-9", people=100)
    assert dpselect.epsilon_for(problem, within=100, people=100) == 0
    assert dpselect.accuracy(problem, epsilon="1e-9", people=100).within == 100
    alone = dpselect.quantiles(value="x", at=["1/4", "1/2"], between=(7, 7))
    assert dpselect.epsilon_for(alone, within=1, people=100) == 0


def test_a_bound_on_people_makes_the_epsilon_of_a_price_smaller() -> None:
    problem = dpselect.pricing(value="x", prices=[f"{cent}/100" for cent in range(1, 200)])
    few = dpselect.epsilon_for(problem, within=20, people=100)
    assert few < dpselect.epsilon_for(problem, within=20)
    assert dpselect.accuracy(problem, epsilon=few, people=100).within <= 20
    blind = dpselect.epsilon_for(problem, within=200, people=100)
    assert 0 < blind <= Fraction(1, 2**64)
