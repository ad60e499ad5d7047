"""The noise that a question takes has the best proved accuracy; what is promised holds in simulations.

What is under test: dpselect.utility.noise_plan, dpselect.utility.worst_case (Laplace noise).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpselect import accuracy, counting, epsilon_for, lead_needed, plurality, pricing
from dpselect.accounting.closed_forms import laplace_rho
from dpselect.errors import InvalidParameter
from dpselect.utility import chance_of_best, expected_error, within
from dpselect.utility.noise_plan import noise_for_epsilon
from dpselect.utility.worst_case import laplace_failure

ONE = Fraction(1)
NAMES = [str(i) for i in range(2000)]


def test_the_top_hundred_of_a_plurality_are_promised_within_thirty_votes() -> None:
    votes = plurality(candidate="x", candidates=NAMES)
    found = accuracy(votes, epsilon=1, k=100)
    assert found.mechanism == "laplace"
    assert found.within <= 30
    assert accuracy(votes, epsilon=1, k=100, mechanism="exponential").within > 1200
    assert lead_needed(votes, epsilon=1, k=100) <= 30
    assert accuracy(votes, epsilon=1, k=100, neighbours="change_one").within == 2 * found.within
    needed = epsilon_for(votes, within=found.within, k=100)
    assert needed == 1
    assert accuracy(votes, epsilon=needed, k=100).within <= found.within


@pytest.mark.parametrize("n", [2, 3, 10, 2000])
@pytest.mark.parametrize("k", [1, 2, 3, 9, 100])
@pytest.mark.parametrize("together", ["1", "3/2", "5", "1000"])
def test_the_noise_that_is_taken_promises_the_most(n: int, k: int, together: str) -> None:
    if k >= n:
        return
    problem = counting(n, l1=together)
    taken = accuracy(problem, epsilon=1, k=k)
    each = [
        accuracy(problem, epsilon=1, k=k, mechanism="exponential"),
        accuracy(problem, epsilon=1, k=k, mechanism="laplace"),
    ]
    assert taken == min(each, key=lambda found: (found.within, found.mechanism))


def test_one_winner_takes_exponential_noise_and_an_unbounded_person_too() -> None:
    assert noise_for_epsilon(5, 1, ONE, ONE) == "exponential"
    assert noise_for_epsilon(5, 4, ONE, None) == "exponential"
    assert noise_for_epsilon(1, 1, ONE, ONE) == "exponential"
    assert accuracy(counting(50), epsilon=1, k=40).mechanism == "exponential"


def test_where_all_win_their_order_is_drawn_as_well_as_that_of_all_but_one() -> None:
    assert noise_for_epsilon(50, 50, ONE, ONE) == noise_for_epsilon(50, 49, ONE, ONE) == "laplace"


def test_the_choice_does_not_depend_on_how_sure_a_figure_is() -> None:
    problem = counting(10, l1=2)
    noises = {
        accuracy(problem, epsilon=1, k=4, confidence=sure).mechanism for sure in ("0.1", "0.9", "0.9999")
    }
    assert len(noises) == 1


def test_in_rho_gumbel_noise_is_taken_and_laplace_noise_may_be_named() -> None:
    problem = counting(100, l1=1)
    assert accuracy(problem, rho=1, k=10).mechanism == "gumbel"
    named = accuracy(problem, rho=1, k=10, mechanism="laplace")
    scale = named.within / within("laplace", 1, 100, 10)
    assert laplace_rho(1 / scale) <= 1 < laplace_rho(1 / (scale * Fraction("0.9999")))
    assert chance_of_best(problem, lead=30, rho=1, k=10, mechanism="laplace") > Fraction(99, 100)


def test_what_laplace_noise_cannot_be_asked_is_refused() -> None:
    for call in (accuracy, expected_error, lead_needed):
        with pytest.raises(InvalidParameter, match="needs a bound on how far one person moves all scores"):
            call(counting(9), epsilon=1, mechanism="laplace")
    with pytest.raises(InvalidParameter, match="needs a bound"):
        epsilon_for(counting(9), within=3, mechanism="laplace")
    with pytest.raises(InvalidParameter, match="needs a bound"):
        accuracy(counting(9), rho=1, mechanism="laplace")
    with pytest.raises(InvalidParameter, match="people is for one winner"):
        accuracy(pricing(value="x", prices=[1, 2, 3]), epsilon=1, mechanism="laplace", people=5)
    with pytest.raises(InvalidParameter, match="l1 must be at least the sensitivity"):
        counting(9, sensitivity=2, l1=1)


@pytest.mark.parametrize(("n", "k"), [(40, 1), (40, 5), (12, 11), (300, 30)])
def test_the_promise_of_laplace_noise_holds_in_the_worst_case_of_a_simulation(n: int, k: int) -> None:
    """k candidates tie at the top and all others lie just beyond the promise: 4,000 draws of floats."""
    promised = float(within("laplace", 1, n, k, confidence="0.9"))
    generator = np.random.default_rng(20261118)
    noisy = generator.laplace(size=(4000, n))
    noisy[:, k:] -= promised
    failed = (noisy[:, k:].max(axis=1) > noisy[:, :k].min(axis=1)).mean()
    assert failed <= 0.1 + 0.02
    closer = noisy[:, k:] + promised / 2
    assert (closer.max(axis=1) > noisy[:, :k].min(axis=1)).mean() > 0.1


@pytest.mark.parametrize(("n", "k"), [(2, 1), (40, 5), (12, 11), (3, 3), (200, 150)])
def test_the_failure_of_laplace_noise_is_bounded_at_every_distance(n: int, k: int) -> None:
    generator = np.random.default_rng(7)
    noisy = generator.laplace(size=(4000, n))
    least = noisy[:, :k].min(axis=1)
    most = noisy[:, k:].max(axis=1, initial=-np.inf)
    for t in (0, 1, 4, 9, 14):
        assert (most - t > least).mean() <= float(laplace_failure(Fraction(t), n, k)) + 0.02
    assert laplace_failure(Fraction(60), n, k) < Fraction(1, 10**9)


def test_a_chance_with_laplace_noise_is_a_bound_from_below_that_reaches_the_confidence() -> None:
    problem = counting(2000, l1=1)
    lead: Any = lead_needed(problem, epsilon=1, k=100)
    assert chance_of_best(problem, lead=lead, epsilon=1, k=100) >= Fraction(99, 100)
    assert chance_of_best(problem, lead=lead / 2, epsilon=1, k=100) < Fraction(99, 100)
