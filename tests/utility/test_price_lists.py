"""dpselect.utility.price_lists: with few people a longer list of prices costs no accuracy."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

from dpselect import Release, Table, counting, prepare, pricing, quantile, select
from dpselect.errors import InvalidParameter, UnmeteredRelease
from dpselect.exact.rounding import rounded_up
from dpselect.problems.candidates import numbers
from dpselect.utility import accuracy, lead_needed
from dpselect.utility.price_lists import (
    EvenPrices,
    Losing,
    PriceList,
    UnevenPrices,
    price_list,
    revenue_failure,
    revenue_lead,
    revenue_within,
)

FAILS: dict[Losing, Callable[[float, float], bool]] = {
    "more than": lambda lost, loss: lost > loss,
    "at least": lambda lost, loss: lost >= loss,
}
"""What a failure is; money is in whole numbers here, so that floats compare it exactly."""


def listing(prices: Sequence[int]) -> PriceList:
    return price_list(numbers(list(prices), "prices"))


def demand_curves(prices: int, people: int) -> Iterator[list[int]]:
    """Give every way in which a number of people may buy: fewer, or as many, at a higher price."""
    if prices == 0:
        yield []
        return
    for buyers in range(people + 1):
        yield from ([buyers, *rest] for rest in demand_curves(prices - 1, buyers))


def worst_failure(prices: Sequence[int], people: int, scale: float, loss: float, losing: Losing) -> float:
    """Find the demand at which a draw of the exponential mechanism fails most often."""
    worst = 0.0
    for buyers in demand_curves(len(prices), people):
        earned = [price * count for price, count in zip(prices, buyers, strict=True)]
        best = max(earned)
        weights = [math.exp((each - best) / scale) for each in earned]
        bad = [w for w, each in zip(weights, earned, strict=True) if FAILS[losing](best - each, loss)]
        worst = max(worst, sum(bad) / sum(weights))
    return worst


LISTS: list[tuple[list[int], int]] = [
    ([1, 2, 3, 4], 6),
    ([2, 4, 6, 8], 5),
    ([3, 4, 5, 6, 7], 5),
    ([5, 6, 7], 8),
    ([1, 2, 4, 8], 6),
    ([1, 5, 6, 7], 6),
    ([0, 1, 2, 3], 6),
]


@pytest.mark.parametrize("losing", ["more than", "at least"])
@pytest.mark.parametrize(("prices", "people"), LISTS)
def test_no_demand_curve_fails_more_often_than_the_bound_says(
    prices: list[int], people: int, losing: Losing
) -> None:
    listed = listing(prices)
    ratios = []
    for scale in (Fraction(1), Fraction(3), Fraction(10)):
        for loss in (1, 2, 3, 5, 6, 8, 12, 20):
            found = worst_failure(prices, people, float(scale), loss, losing)
            bound = float(revenue_failure(listed, people, scale, Fraction(loss), losing).high)
            assert found <= bound * (1 + 1e-12)
            ratios += [found / bound] if bound else []
    assert max(ratios) > 0.75  # it is no idle bound


def broken_even_form(prices: EvenPrices) -> EvenPrices:
    """Take the even form for a list that starts above one step, as if it started at one."""
    return EvenPrices(prices.step, prices.step, prices.count)


def violations(prices: list[int], people: int, claimed: PriceList, losing: Losing, claims: Losing) -> int:
    return sum(
        worst_failure(prices, people, float(scale), loss, losing)
        > float(revenue_failure(claimed, people, scale, Fraction(loss), claims).high) * (1 + 1e-9)
        for scale in (Fraction(1), Fraction(3), Fraction(10), Fraction(30))
        for loss in range(1, 30)
    )


def test_the_even_form_is_wrong_for_a_list_that_starts_higher() -> None:
    prices = [3, 4, 5, 6, 7]
    listed = listing(prices)
    assert isinstance(listed, EvenPrices)
    assert violations(prices, 5, listed, "more than", "more than") == 0
    assert violations(prices, 5, broken_even_form(listed), "more than", "more than") > 0


def test_losing_exactly_as_much_is_another_claim_than_losing_more() -> None:
    prices = [1, 2, 3, 4]
    listed = listing(prices)
    assert violations(prices, 6, listed, "at least", "at least") == 0
    assert violations(prices, 6, listed, "at least", "more than") > 0


@pytest.mark.parametrize("losing", ["more than", "at least"])
@pytest.mark.parametrize("first", ["1/3", "1", "7/2", "0"])
def test_the_closed_form_is_the_maximum_over_all_prices(first: str, losing: Losing) -> None:
    even = EvenPrices(Fraction(first), Fraction(1), 12)
    listed = UnevenPrices(tuple(even.first + place for place in range(12)))
    for loss in ("1/2", "3", "14/3", "40", "65", "1000"):
        for scale in (Fraction(2), Fraction(17, 3)):
            one = revenue_failure(even, 6, scale, Fraction(loss), losing)
            other = revenue_failure(listed, 6, scale, Fraction(loss), losing)
            assert one.low <= other.high
            assert other.low <= one.high


@pytest.mark.parametrize(
    ("people", "short", "fine"), [(50, "29.46", "29.69"), (200, "35.29", "36.23"), (1000, "38.94", "42.89")]
)
def test_the_songs_of_the_lecture_may_have_prices_in_hundredths_of_a_cent(
    people: int, short: str, fine: str
) -> None:
    # Lecture: tau = 2 * 1.99; without people the loss is 39.34 for 199 prices and 57.69 for 19,900.
    for step, expected, without in ((Fraction(1, 100), short, "39.34"), (Fraction(1, 10_000), fine, "57.69")):
        count = int(Fraction(199, 100) / step)
        prices = EvenPrices(step, step, count)
        found = revenue_within(prices, people, Fraction(398, 100), Fraction(1, 100))
        assert rounded_up(found, 2) == expected
        song = pricing(value="offer", prices=[step * place for place in range(1, count + 1)])
        question: dict[str, Any] = {"scale": Fraction(398, 100), "mechanism": "gumbel"}
        assert accuracy(song, **question, people=people).within == found
        assert rounded_up(accuracy(song, **question).within, 2) == without


def test_more_people_never_make_it_sharper_and_many_say_nothing_more() -> None:
    song = pricing(value="offer", prices=[Fraction(place, 100) for place in range(1, 200)])
    figures = [accuracy(song, epsilon=1, people=people).within for people in (0, 1, 10, 100, 10**6, 2**34)]
    assert figures == sorted(figures)
    assert figures[0] == 0
    assert figures[1] < Fraction(2)
    assert figures[-1] == accuracy(song, epsilon=1).within
    leads = [lead_needed(song, epsilon=1, people=people) for people in (1, 10, 100, 10**6)]
    assert leads == sorted(leads)
    assert leads[-1] <= lead_needed(song, epsilon=1)
    assert all(lead % song.unit == 0 for lead in leads)


def test_a_figure_that_needs_a_bound_on_people_says_so() -> None:
    song = pricing(value="offer", prices=[Fraction(place, 100) for place in range(1, 200)])
    few, any_number = accuracy(song, epsilon=1, people=1500), accuracy(song, epsilon=1)
    condition = "of the best score, on every data set of up to 1,500 people"
    assert (few.people, condition in str(few), condition in str(any_number)) == (1500, True, False)
    assert "on every data set of up to 1,500 people" in few._repr_html_()
    assert any_number.people is None


def test_a_question_tells_the_figure_for_people_before_it_is_paid_and_stores_it() -> None:
    song = pricing(value="offer", between=(0, 2), step="0.0001")
    offers = Table(pa.table({"who": range(40), "offer": [1.5] * 40}), unit="who")
    with prepare(song, offers, epsilon=5, people=40) as question:
        assert question.quote.accuracy == accuracy(song, epsilon=5, people=40)
    assert question.quote.accuracy.within < Fraction(7, 10) * accuracy(song, epsilon=5).within
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnmeteredRelease)
        release = select(song, offers, epsilon=5, people=40)
    assert release.accuracy == question.quote.accuracy
    assert "on every data set of up to 40 people" in repr(release)
    assert Release.from_json(release.to_json()) == release
    assert release.to_dict()["people"] == 40
    without = release.to_json().replace('"people": 40', '"people": -40')
    with pytest.raises(InvalidParameter, match="as to_json"):
        Release.from_json(without)


def test_a_question_of_other_scores_or_with_a_quorum_takes_no_people() -> None:
    song = pricing(value="offer", prices=[1, 2])
    offers = Table(pa.table({"who": [1, 2], "offer": [1, 2]}), unit="who")
    with pytest.raises(InvalidParameter, match="quorum does not go with people"):
        prepare(song, offers, epsilon=1, people=2, quorum=3)
    for problem, more in ((song, {"k": 2}), (quantile(value="offer", at="1/2", between=(0, 9)), {})):
        with pytest.raises(InvalidParameter, match="people is for one winner of pricing"):
            prepare(problem, offers, epsilon=1, people=2, **more)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="people must be"):
        prepare(song, offers, epsilon=1, people=-1)


def test_a_lead_is_of_the_claim_that_counts_equal_losses() -> None:
    for prices, people, scale in (([1, 2, 3, 4], 6, 1), ([1, 2, 3, 4], 6, 4), ([1, 2], 2, 2), ([1, 2], 3, 4)):
        lead = revenue_lead(listing(prices), people, Fraction(scale), Fraction(1, 10), Fraction(1))
        assert worst_failure(prices, people, scale, int(lead), "at least") <= 0.1


def test_people_are_for_one_winner_of_a_price_list() -> None:
    song = pricing(value="offer", prices=[1, 2])
    others: list[tuple[Any, dict[str, Any]]] = [
        (counting(3), {}),
        (song, {"k": 2}),
        (song, {"mechanism": "lecture"}),
    ]
    for problem, more in others:
        with pytest.raises(InvalidParameter, match="people"):
            accuracy(problem, epsilon=1, people=10, **more)
    with pytest.raises(InvalidParameter, match="people must be"):
        accuracy(song, epsilon=1, people=-1)
