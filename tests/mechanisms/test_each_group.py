"""All groups together: their law, and a price that covers a person who moves. dpselect.mechanisms.each_group.

And dpselect.privacy.groups_domain. The pair that a price of one draw does not cover is worked out here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpselect
from dpselect import (
    approximate,
    atom_domain,
    l1_distance,
    max_divergence,
    range_distance,
    range_divergence,
    renyi_divergence,
    vector_domain,
    zero_concentrated_divergence,
)
from dpselect.errors import InvalidParameter, OutsideDomain
from dpselect.exact.enclosures import Enclosure
from dpselect.mechanisms import make_report_noisy_top_k
from dpselect.mechanisms.each_group import make_draw_of_each_group
from dpselect.mechanisms.recursive_quantiles import make_recursive_quantiles
from dpselect.privacy.groups_domain import groups_domain
from dpselect.privacy.measures import Measure
from dpselect.utility import enclosed_law
from tests.exact.laws import Walk, check, product

PURE = max_divergence()
MEASURES = [
    PURE,
    zero_concentrated_divergence(),
    renyi_divergence(),
    approximate(PURE),
    approximate(zero_concentrated_divergence()),
]


def one_of(candidates: int, measure: Measure = PURE, scale: Any = 1, k: int = 1, **noise: Any) -> Any:
    metric = l1_distance() if noise.get("noise") == "laplace" else range_distance()
    scores = vector_domain(atom_domain(int), candidates)
    return make_report_noisy_top_k(scores, metric, measure, k, scale, **noise)


def each_of(
    one: Any, moves: tuple[Any, Any], groups: int = 2, g: int = 1, *, neighbours: Any = "change_one"
) -> Any:
    return make_draw_of_each_group(one, groups, neighbours=neighbours, moves=moves, per_person=g)


# ---- the law ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", ["gumbel", "exponential"])
def test_two_groups_are_drawn_independently_each_as_if_it_were_alone(noise: Any) -> None:
    groups = [np.array([1, 0]), np.array([0, 2])]
    m = each_of(one_of(2, noise=noise), (1, 2))
    laws = [enclosed_law(scores.tolist(), noise=noise, scale=1) for scores in groups]
    both = {(a, b): product([laws[0][a], laws[1][b]]) for a, b in itertools.product(*laws)}
    depth, open_mass = (20, Fraction(1, 2**5)) if noise == "gumbel" else (20, Fraction(1, 2**10))
    walk = Walk(depth, open_mass)
    check(lambda source: tuple(m.draw(groups, source)), both.__getitem__, both, walk)


def test_scores_of_all_kinds_are_drawn_in_the_order_of_the_groups() -> None:
    m = each_of(one_of(3, scale="1/1000", k=2), (1, 2), groups=4)
    arrays = [np.array([0, 900, 500]), [2**80, 0, 2**79], np.array([1, 2, 3], dtype=np.int32), [5, 1, 9]]
    assert m(arrays) == m(iter(arrays)) == [(1, 2), (0, 2), (2, 1), (2, 0)]


def test_quantiles_of_each_group_are_tuples() -> None:
    domain = dpselect.runs_domain(atom_domain(int), 100)
    one = make_recursive_quantiles(domain, l1_distance(), ["1/4", "3/4"], "1/1000")
    m = each_of(one, (1, 2))
    assert m([[(10, 0), (1, 900), (89, 0)], [(40, 0), (1, 900), (59, 0)]]) == [(10, 10), (40, 40)]


@pytest.mark.parametrize("number", [1, 3])
def test_another_number_of_inputs_than_groups_is_refused(number: int) -> None:
    with pytest.raises(OutsideDomain, match="one input for each group"):
        each_of(one_of(2), (1, 2))([[1, 2]] * number)
    with pytest.raises(OutsideDomain, match="one input for each group"):
        groups_domain(vector_domain(atom_domain(int), 2), 2).check([[1, 2]] * number)


# ---- the price -------------------------------------------------------------------------------------------

PRICES = (1, 2, 3)
CITIES = [([26, 4, 3], [25, 2, 0]), ([18, 36, 18], [19, 38, 18])]
"""City A without a person who would pay 3, and city B with a person who would pay 2."""


def revenues(values: Sequence[int]) -> list[int]:
    return [price * sum(value >= price for value in values) for price in PRICES]


def test_the_two_cities_differ_in_one_person() -> None:
    assert revenues([1] * 24 + [2, 3]) == CITIES[0][0]
    assert revenues([1] * 24 + [2]) == CITIES[0][1]
    assert revenues([2] * 12 + [3] * 6) == CITIES[1][0]
    assert revenues([2] * 12 + [3] * 6 + [2]) == CITIES[1][1]


def loss(pairs: Sequence[tuple[list[int], list[int]]], noise: Any, scale: Any = 1) -> Enclosure:
    """Enclose the largest loss of independent draws from pairs of scores: one way, or the other."""
    sums = []
    for sign in (1, -1):
        total = [0.0, 0.0]
        for pair in pairs:
            laws = [enclosed_law(scores, noise=noise, scale=scale) for scores in pair[::sign]]
            ends = [(laws[0][out], laws[1][out]) for out in laws[0]]
            ratios = [(one.low / other.high, one.high / other.low) for one, other in ends]
            total = [a + math.log(b) for a, b in zip(total, max(ratios), strict=True)]
        sums.append(total)
    low, high = max(sums)
    return Enclosure(Fraction(low), Fraction(high))


def test_a_person_who_moves_loses_what_two_draws_lose_and_the_price_covers_it() -> None:
    """Prices 1, 2, 3: a person who leaves one city and enters another loses 4, not 3, at scale 1."""
    found = loss(CITIES, "gumbel")
    assert 3 < Fraction("3.9999") < found.low <= found.high < Fraction("4.000001")
    pricing = dpselect.pricing(value="x", prices=list(PRICES))
    moves = pricing.d_range("add_remove"), pricing.d_range("change_one")
    assert list(moves) == [2, 3]
    assert each_of(one_of(3, noise="gumbel"), moves).map(1) == 4


def test_a_person_who_moves_loses_more_than_one_draw_costs_for_a_quantile_too() -> None:
    """The quarter of the people: leaving and entering lose up to 3 in all, other answers in one group 2."""
    quarter = dpselect.quantile(value="x", at="1/4", candidates=[*range(6)])
    moves = quarter.d_range("add_remove"), quarter.d_range("change_one")
    assert list(moves) == [Fraction(3, 2), 2]

    def scores(people: Sequence[int]) -> list[Fraction]:
        below = [sum(people[:c]) for c in range(6)]
        upto = [sum(people[: c + 1]) for c in range(6)]
        rank = Fraction(sum(people), 4)
        return [-max(low - rank, rank - high, Fraction(0)) for low, high in zip(below, upto, strict=True)]

    def worst(pairs: list[tuple[list[int], list[int]]]) -> float:
        found = 0.0
        for before, after in pairs:
            laws = [enclosed_law(scores(each), noise="exponential", scale=1) for each in (before, after)]
            p, q = ([float(each.low) for each in law.values()] for law in laws)
            found = max(found, *(math.log(a / b) for a, b in zip(p, q, strict=True)))
        return found

    crowds = [[0, 0, 0, 0, 0, n] for n in (4, 16)] + [[n, 0, 0, 0, 0, 0] for n in (4, 16)]
    crowds += [[a, 0, b, 0, c, 0] for a, b, c in itertools.product((0, 3, 12), repeat=3)]
    joined = [
        (crowd, [size + (place == new) for place, size in enumerate(crowd)])
        for crowd in crowds
        for new in (0, 5)
    ]
    left = [(after, before) for before, after in joined]
    both = worst(joined) + worst(left)
    price = each_of(one_of(6, noise="exponential"), moves).map(1)
    assert 2 < both <= price == 3


def test_votes_cost_a_person_who_moves_no_more_than_one_draw_and_the_price_is_attained() -> None:
    one = one_of(2, noise="exponential")
    assert each_of(one, (1, 2)).map(1) == one.map(2) == 2
    far = [([0, 40], [1, 40]), ([1, 40], [0, 40])]  # the one enters, the other leaves
    entered = loss(far[:1], "exponential").high
    assert Fraction(99, 100) < entered <= 1


@pytest.mark.parametrize("measure", MEASURES, ids=str)
@pytest.mark.parametrize("neighbours", ["add_remove", "change_one"])
def test_two_groups_a_person_cost_twice_as_much(measure: Measure, neighbours: Any) -> None:
    one = one_of(3, measure, scale=4, noise="gumbel")
    prices = [each_of(one, (2, 3), 3, g, neighbours=neighbours).map(1) for g in (1, 2)]
    if measure == approximate(PURE):
        assert prices[0].delta("2/5") < prices[1].delta("2/5")
        assert prices[0].epsilon("1e-6") < prices[1].epsilon("1e-6")
    elif measure == renyi_divergence():
        assert all(prices[1](alpha) == 2 * prices[0](alpha) for alpha in ("3/2", 2, 64))
    else:
        amounts = [getattr(price, "rho", price) for price in prices]
        assert amounts[1] == 2 * amounts[0] > 0


@pytest.mark.parametrize("moves", [(2, 3), (1, 3)])
@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_other_answers_cost_the_larger_of_one_draw_and_two(moves: Any, measure: Measure) -> None:
    one = one_of(3, measure, scale=4, noise="gumbel")
    price = each_of(one, moves).map(1)
    added, changed = map(one.map, moves)
    match price:
        case dpselect.PrivacyProfile():
            assert price.epsilon(0) == Fraction(max(2 * moves[0], moves[1]), 4)
        case dpselect.RenyiCurve():
            assert all(price(a) == max(2 * added(a), changed(a)) for a in (Fraction(3, 2), 2, 9, 200))
        case dpselect.ApproxZCDP():
            assert price.rho == max(2 * added.rho, changed.rho)
        case _:
            assert price == max(2 * added, changed)


def exact_delta(pairs: Sequence[tuple[list[int], list[int]]], epsilon: float) -> float:
    """Give delta of independent Gumbel draws of scale 1 from pairs of scores."""
    laws = [
        [[float(p.low) for p in enclosed_law(scores, noise="gumbel", scale=1).values()] for scores in pair]
        for pair in pairs
    ]
    before, after = (
        [math.prod(each) for each in itertools.product(*(law[side] for law in laws))] for side in (0, 1)
    )
    return sum(max(0.0, p - math.exp(epsilon) * q) for p, q in zip(before, after, strict=True))


def test_a_profile_of_one_draw_would_not_cover_a_person_who_moves() -> None:
    """And the one that is stated does, at every epsilon that is tried."""
    one = one_of(3, approximate(PURE), noise="gumbel")
    stated, of_one_draw = each_of(one, (2, 3)).map(1), one.map(3)
    swapped = [(after, before) for before, after in CITIES]
    missed = 0
    for epsilon in (Fraction(1, 2), 1, 2, 3, Fraction(7, 2)):
        found = max(exact_delta(pairs, float(epsilon)) for pairs in (CITIES, swapped))
        assert found <= stated.delta(epsilon)
        missed += found > of_one_draw.delta(epsilon)
    assert missed
    assert stated.delta(4) == 0 < stated.delta(Fraction(399, 100))


def test_one_more_person_in_one_group_has_the_profile_of_one_draw() -> None:
    one = one_of(3, approximate(PURE), noise="gumbel")
    assert each_of(one, (2, 3), neighbours="add_remove").map(1) == one.map(2)


def test_laplace_noise_is_priced_by_how_far_all_scores_move_together() -> None:
    borda = dpselect.borda(candidate="a", rank="b", candidates=[1, 2, 3])
    totals = borda.l1("add_remove"), borda.l1("change_one")
    assert list(totals) == [6, 6]
    one = one_of(3, scale=6, noise="laplace", k=2)
    assert each_of(one, totals).map(1) == 2
    assert each_of(one, totals, neighbours="add_remove").map(1) == 1
    assert each_of(one, totals, 3, 3).map(1) == 6


@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_no_person_costs_nothing_and_nothing_is_claimed_of_two(measure: Measure) -> None:
    m = each_of(one_of(3, measure, noise="gumbel"), (2, 3))
    none, two = m.map(0), m.map(2)
    match measure:
        case dpselect.privacy.measures.Approximate():
            assert none.delta(0) == 0
            assert two.epsilon("1/2") == math.inf
        case dpselect.privacy.measures.RenyiDivergence():
            assert (none(2), two(2)) == (0, math.inf)
        case _:
            assert [getattr(each, "rho", each) for each in (none, two)] == [0, math.inf]


@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_without_noise_everything_is_told(measure: Measure) -> None:
    price = each_of(one_of(3, measure, scale=0, noise="gumbel"), (2, 3)).map(1)
    match price:
        case dpselect.PrivacyProfile():
            assert price.delta(1) == 1
        case dpselect.RenyiCurve():
            assert price(2) == math.inf
        case _:
            assert getattr(price, "rho", price) == math.inf


def test_what_has_no_price_for_groups_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="range divergence"):
        each_of(one_of(3, range_divergence()), (1, 2))
    with pytest.raises(InvalidParameter, match="a selection from scores"):
        each_of("one", (1, 2))
    with pytest.raises(InvalidParameter, match="per_person"):
        each_of(one_of(3), (1, 2), 2, 3)
