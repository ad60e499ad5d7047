"""The price of several quantiles: dpselect.mechanisms.recursive_quantiles, by brute force over small data."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import pytest

from dpselect import (
    approximate,
    atom_domain,
    l1_distance,
    linf_distance,
    max_divergence,
    range_divergence,
    renyi_divergence,
    runs_domain,
    vector_domain,
    zero_concentrated_divergence,
)
from dpselect.accounting.closed_forms import bounded_range_rho
from dpselect.errors import InvalidParameter, OutsideDomain
from dpselect.mechanisms.recursive_quantiles import make_recursive_quantiles
from dpselect.selection.cells import Cut
from tests.selection.test_recursive_medians import QUARTILES, candidates, plain_law, rank

DOMAIN = runs_domain(atom_domain(int), 3)


def histogram(people: tuple[int, ...], size: int) -> list[int]:
    return [people.count(cell) for cell in range(size)]


def loss(one: dict[Any, float], other: dict[Any, float]) -> float:
    return max(abs(math.log(one[each] / other[each])) for each in one)


@pytest.mark.parametrize("epsilon", [1.0, 10.0, 40.0])
def test_no_data_set_of_up_to_three_people_loses_more_than_the_price(epsilon: float) -> None:
    scale, worst = 2 / epsilon, 0.0
    laws = {
        people: plain_law(histogram(people, 3), QUARTILES, scale, 2)
        for size in range(4)
        for people in combinations_with_replacement(range(3), size)
    }
    for people, law in laws.items():
        for person in range(3):
            joined = tuple(sorted((*people, person)))
            if joined in laws:
                worst = max(worst, loss(law, laws[joined]))
    assert 0.2 * epsilon < worst <= epsilon * (1 + 1e-9)


def level_law(
    people: list[int], pivot: tuple[int, Fraction], fractions: tuple[Fraction, Fraction], *, both: bool
) -> dict[Any, float]:
    """Give the law of the two draws of the second level, given the first cut; a mutant counts ties twice."""
    cell, share = pivot
    n, size = sum(people), len(people)
    cut = Cut(cell, share, rank(people, 0, cell, share))
    ends = Cut(0, Fraction(0), Fraction(0)), Cut(size - 1, Fraction(1), Fraction(n))
    sides = []
    for side, a in zip(((ends[0], cut), (cut, ends[1])), fractions, strict=True):
        left, right = side
        if both:
            whole = cut._replace(share=Fraction(1 if right is cut else 0))
            whole = whole._replace(rank=rank(people, 0, cell, whole.share))
            left, right = (left, whole) if right is cut else (whole, right)
        wanted = left.rank + a * (right.rank - left.rank)
        weights = {
            (at, k): math.exp(-abs(float(found - wanted)) / (2 * float(max(a, 1 - a))))
            for k, (at, _, found) in enumerate(candidates(people, 0, left, right, 4))
        }
        total = sum(weights.values())
        sides.append({each: weight / total for each, weight in weights.items()})
    return {(i, j): p * q for (i, p), (j, q) in product(sides[0].items(), sides[1].items())}


@pytest.mark.parametrize(
    ("fractions", "least"), [((Fraction(1, 2), Fraction(1, 2)), 0.6), ((Fraction(1, 5), Fraction(2, 3)), 0.6)]
)
def test_one_level_given_its_cut_has_bounded_range_one_over_the_scale(fractions: Any, least: float) -> None:
    """Scale 1: the losses of adding a person span at most 1, also for a person in the cell that was cut."""
    widest, doubled = 0.0, 0.0
    for people in product((0, 1, 5), repeat=3):
        for person, share in product(range(3), (Fraction(0), Fraction(1, 4), Fraction(1))):
            joined = [count + (cell == person) for cell, count in enumerate(people)]
            for both in (False, True):
                before, after = (
                    level_law(list(each), (1, share), fractions, both=both) for each in (people, joined)
                )
                losses = [math.log(before[each] / after[each]) for each in before]
                if both:
                    doubled = max(doubled, max(losses) - min(losses))
                else:
                    widest = max(widest, max(losses) - min(losses))
    assert least < widest <= 1 + 1e-9
    assert doubled > 1.05  # people of the cut cell who count on both sides are paid for once


def test_the_price_is_that_of_as_many_gumbel_draws_as_there_are_levels() -> None:
    def price(at: list[str], measure: Any = None) -> Any:
        return make_recursive_quantiles(DOMAIN, l1_distance(), at, 4, privacy_measure=measure).map(1)

    quartiles = ["1/4", "1/2", "3/4"]
    assert price(["1/2"]) == Fraction(1, 4)
    assert price(quartiles) == Fraction(1, 2)
    assert price([*quartiles, "7/8"]) == Fraction(3, 4)
    assert price(quartiles, zero_concentrated_divergence()) == 2 * bounded_range_rho(Fraction(1, 4))
    assert price(quartiles, renyi_divergence())(2) > 0
    assert price(quartiles, approximate(max_divergence())).delta(Fraction(1, 2)) == 0
    alone = make_recursive_quantiles(runs_domain(atom_domain(int), 1), l1_distance(), quartiles, 4)
    assert alone.map(1) == 0


def test_runs_of_people_are_read() -> None:
    m = make_recursive_quantiles(runs_domain(atom_domain(int), 2**70), l1_distance(), ["1/3", "2/3"], 1)
    assert m([(7, 0), (2, 500), (2**70 - 9, 0)]) == [7, 8]
    with pytest.raises(OutsideDomain):
        m([(7, 0), (2, -5), (2**70 - 9, 0)])
    with pytest.raises(OutsideDomain):
        m([(2**70, 1)])


def test_more_people_than_ranks_of_64_bits_hold_are_refused() -> None:
    m = make_recursive_quantiles(DOMAIN, l1_distance(), ["1/4", "3/4"], 1)
    assert m([(2, 2**61), (1, 0)]) == [0, 1]
    for people in (2**61 + 1, 2**62, 2**63, 2**70):
        with pytest.raises(OutsideDomain):
            m([(2, people), (1, 0)])


@pytest.mark.parametrize("at", [[], "1/2", ["1/2", "1/2"], ["1/2", "1/4"], [0, "1/2"], ["1/2", 1], ["x"]])
def test_fractions_that_do_not_ascend_are_refused(at: Any) -> None:
    with pytest.raises(InvalidParameter):
        make_recursive_quantiles(DOMAIN, l1_distance(), at, 1)


def test_bad_arguments_are_refused() -> None:
    for arguments in (
        (vector_domain(atom_domain(int)), l1_distance()),
        (runs_domain(atom_domain(float), 3), l1_distance()),
        (DOMAIN, linf_distance()),
    ):
        with pytest.raises(InvalidParameter):
            make_recursive_quantiles(arguments[0], arguments[1], ["1/2"], 1)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="range"):
        make_recursive_quantiles(DOMAIN, l1_distance(), ["1/2"], 1, privacy_measure=range_divergence())
