"""dpselect.accounting.ledger.filter: the exact sum, and the one conversion into another currency."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect.accounting.ledger.filter import total_after, zcdp_of_pure
from dpselect.exact.enclosures import Ball, enclose

PRICES = st.lists(st.fractions(min_value=0, max_value=1, max_denominator=60), max_size=12)
BUDGETS = st.fractions(min_value=Fraction(1, 60), max_value=5, max_denominator=60)


def accepted(prices: list[Fraction], budget: Fraction) -> list[Fraction]:
    """Play all charges, and give those that were accepted."""
    spent, paid = Fraction(0), []
    for price in prices:
        total = total_after(spent, price, budget)
        if total is not None:
            paid.append(price)
            assert total == spent + price
            spent = total
    return paid


@given(PRICES, BUDGETS)
def test_the_accepted_never_exceed_the_budget_and_the_refused_would_have(
    prices: list[Fraction], budget: Fraction
) -> None:
    paid = accepted(prices, budget)
    assert sum(paid) <= budget
    if paid != prices:
        assert sum(prices) > budget


@given(PRICES)
def test_a_budget_of_exactly_the_sum_affords_everything_in_every_order(prices: list[Fraction]) -> None:
    budget = sum(prices, Fraction(0))
    for order in (prices, prices[::-1], sorted(prices)):
        assert accepted(order, budget) == order


@given(BUDGETS)
def test_no_budget_affords_an_infinite_price(budget: Fraction) -> None:
    assert total_after(Fraction(0), math.inf, budget) is None


@pytest.mark.parametrize(
    "epsilon", [Fraction(1, 100), Fraction(1, 2), Fraction(2, 3), Fraction(1), Fraction(5)]
)
@pytest.mark.parametrize("alpha", [Fraction(11, 10), Fraction(3, 2), Fraction(2), Fraction(8), Fraction(64)])
def test_half_the_square_bounds_the_divergence_of_randomised_response(
    epsilon: Fraction, alpha: Fraction
) -> None:
    """Of all epsilon-private releases, randomised response has the largest divergence of every order."""

    def divergence(e: Ball, a: Ball) -> Ball:
        p, q = 1 / (1 + (-e).exp()), 1 / (1 + e.exp())
        moment = (a * p.log() + (1 - a) * q.log()).exp() + (a * q.log() + (1 - a) * p.log()).exp()
        return moment.log() / (a - 1)

    assert enclose(divergence, epsilon, alpha).high <= alpha * zcdp_of_pure(epsilon)


def test_half_the_square_is_nearly_attained_by_small_losses() -> None:
    """The Kullback-Leibler divergence of randomised response is epsilon * tanh(epsilon / 2)."""
    epsilon = Fraction(1, 100)
    kl = enclose(lambda e: e * (e.exp() - 1) / (e.exp() + 1), epsilon)
    assert zcdp_of_pure(epsilon) * Fraction(999, 1000) < kl.low < zcdp_of_pure(epsilon)
