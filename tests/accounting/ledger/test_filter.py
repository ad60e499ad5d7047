"""dpselect.accounting.ledger.filter: the exact sum, and the one conversion into another currency."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect.accounting.ledger.filter import cost, finite, total_after
from dpselect.exact.enclosures import enclose
from dpselect.privacy import ZCDP, PureDP

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
def test_a_pure_loss_costs_the_divergence_of_randomised_response(epsilon: Fraction) -> None:
    """Of all epsilon-private releases it has the largest: epsilon * tanh(epsilon / 2), below epsilon² / 2."""
    rho = finite(cost(PureDP(epsilon), ZCDP))
    divergence = enclose(lambda e: e * (e.exp() - 1) / (e.exp() + 1), epsilon, precision=100)
    assert divergence.low <= rho <= divergence.high * (1 + Fraction(1, 2**60))
    assert rho < epsilon**2 / 2
