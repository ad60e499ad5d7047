"""The chance of the best: the exact worst case, which meets what a lead is said to be enough for."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest

from dpselect import counting, lead_needed
from dpselect.errors import InvalidParameter
from dpselect.utility import Noise, top_k_law
from dpselect.utility.chance import chance_of_best


@pytest.mark.parametrize("noise", ["exponential", "gumbel"])
@pytest.mark.parametrize(("n", "k"), [(2, 1), (5, 1), (4, 2), (5, 3)])
def test_it_is_the_law_of_the_worst_scores(noise: Noise, n: int, k: int) -> None:
    """k candidates at one score and all others a lead below: nothing is worse, by worst_case.proof.md."""
    for lead in (1, 3):
        law = top_k_law([lead] * k + [0] * (n - k), noise=noise, scale=k, k=k)
        orders = [order for order in law.outputs if isinstance(order, tuple) and {*order} == {*range(k)}]
        best = math.fsum(law.probability(order) for order in orders)
        found = chance_of_best(counting(n), lead=lead, epsilon=1, k=k, mechanism=noise)
        assert best - 1e-11 <= float(found) <= best + 1e-11


def test_a_lead_that_is_enough_has_the_confidence() -> None:
    for n, k, sure in itertools.product((2, 50), (1, 2), ("0.9", "0.99")):
        if k == n:
            continue
        lead = lead_needed(counting(n), epsilon="1/3", k=k, confidence=sure)
        assert chance_of_best(counting(n), lead=lead, epsilon="1/3", k=k) >= Fraction(sure)
    lead = lead_needed(counting(50), epsilon="1/3")
    assert chance_of_best(counting(50), lead=lead - 1, epsilon="1/3") < Fraction("0.99")


def test_without_noise_the_best_win_unless_they_tie() -> None:
    assert chance_of_best(counting(5), lead=1, scale=0) == 1
    assert chance_of_best(counting(5), lead=0, scale=0) == 0
    assert (
        chance_of_best(counting(5), lead=0, scale=0, k=5)
        == chance_of_best(counting(5), lead=0, epsilon=1, k=5)
        == 1
    )


def test_what_cannot_be_asked_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="lead must"):
        chance_of_best(counting(5), lead=-1, epsilon=1)
    with pytest.raises(InvalidParameter, match='mechanism must be "exponential", "gumbel" or "laplace"'):
        chance_of_best(counting(5), lead=1, epsilon=1, mechanism="lecture")
    with pytest.raises(InvalidParameter, match="exactly one of epsilon, rho and scale"):
        chance_of_best(counting(5), lead=1)
