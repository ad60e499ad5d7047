"""dpselect.ledger.budget: the exact sum, and the one conversion into another currency."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect.errors import InvalidParameter
from dpselect.exact.enclosures import enclose
from dpselect.ledger.budget import checked_budget, cost, total_after
from dpselect.privacy import ZCDP, PureDP

PRICES = st.lists(st.fractions(min_value=0, max_value=1, max_denominator=60), max_size=12)
BUDGETS = st.fractions(min_value=Fraction(1, 60), max_value=5, max_denominator=60)


def accepted(prices: list[Fraction], budget: Fraction) -> list[Fraction]:
    """Play all charges, and give those that were accepted."""
    spent, paid = Fraction(0), []
    for price in prices:
        total = total_after((spent,), (price,), (budget,))
        if total is not None:
            paid.append(price)
            assert total == (spent + price,)
            (spent,) = total
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
    assert total_after((Fraction(0),), (math.inf,), (budget,)) is None


def forged(kind: type[PureDP | ZCDP], amount: object) -> PureDP | ZCDP:
    """Make a loss behind the back of its constructor."""
    loss = object.__new__(kind)
    object.__setattr__(loss, "epsilon" if kind is PureDP else "rho", amount)
    return loss


@pytest.mark.parametrize("currency", [PureDP, ZCDP])
@pytest.mark.parametrize("amount", [-1, Fraction(-1, 2), -0.5, -math.inf, math.nan, "-1", None])
def test_e12_a_forged_loss_has_no_price(currency: type[PureDP | ZCDP], amount: object) -> None:
    with pytest.raises(InvalidParameter):
        cost(forged(currency, amount), currency)
    with pytest.raises(InvalidParameter):
        cost(forged(PureDP, amount), ZCDP)
    with pytest.raises(InvalidParameter):
        checked_budget(forged(currency, amount))


def test_e12_a_price_below_zero_is_afforded_by_no_budget() -> None:
    for price in (Fraction(-1), Fraction(-1, 10**9), -1, -math.inf, math.nan):
        assert total_after((Fraction(1, 2),), (price,), (Fraction(1),)) is None


def test_e12_a_loss_that_changes_its_mind_is_asked_once() -> None:
    class Fickle(PureDP):
        """Says one half, and from then on less than nothing."""

        def __getattribute__(self, name: str) -> object:
            if name == "epsilon":
                return amounts.pop(0)
            return super().__getattribute__(name)

    amounts = [Fraction(1, 2), Fraction(-1), Fraction(-1)]
    price = cost(Fickle(0), PureDP)
    assert (type(price), price.amount) == (PureDP, Fraction(1, 2))


@pytest.mark.parametrize(
    "epsilon", [Fraction(1, 100), Fraction(1, 2), Fraction(2, 3), Fraction(1), Fraction(5)]
)
def test_a_pure_loss_costs_the_divergence_of_randomised_response(epsilon: Fraction) -> None:
    """Of all epsilon-private releases it has the largest: epsilon * tanh(epsilon / 2), below epsilon² / 2."""
    rho = Fraction(cost(PureDP(epsilon), ZCDP).amount)
    divergence = enclose(lambda e: e * (e.exp() - 1) / (e.exp() + 1), epsilon, precision=100)
    assert divergence.low <= rho <= divergence.high * (1 + Fraction(1, 2**60))
    assert rho < epsilon**2 / 2
