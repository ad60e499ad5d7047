"""dpselect.utility.accuracy: the lecture's figures, what they promise, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpselect
from dpselect.errors import InvalidParameter
from dpselect.exact.rounding import rounded_up
from dpselect.mechanisms import make_report_noisy_top_k
from dpselect.privacy import ZCDP, atom_domain, max_divergence, range_distance, vector_domain
from dpselect.privacy import zero_concentrated_divergence as zcdp
from dpselect.privacy.neighbours import Neighbours
from dpselect.utility import (
    Accuracy,
    accuracy,
    enclosed_law,
    epsilon_for,
    expected_error,
    lead_needed,
    within,
)
from dpselect.utility.worst_case import Mechanism, distance
from tests.utility.lecture_problems import StandIn, approval_voting, pricing

NAMES = approval_voting(100)
HALF = Fraction(1, 2)
MECHANISMS: list[Mechanism] = ["exponential", "gumbel", "lecture"]
RELATIONS: list[Neighbours] = ["add_remove", "change_one"]


@pytest.mark.parametrize(
    ("mechanism", "votes"), [("exponential", "34.01"), ("gumbel", "36.77"), ("lecture", "36.85")]
)
def test_the_mascot_election_of_the_lecture(mechanism: Mechanism, votes: str) -> None:
    found = accuracy(NAMES, epsilon="1/2", neighbours="change_one", mechanism=mechanism)
    assert rounded_up(found.within, 2) == votes
    assert (found.confidence, found.mechanism, found.unit, found.k) == (
        Fraction(99, 100),
        mechanism,
        Fraction(1),
        1,
    )
    added = accuracy(NAMES, epsilon=0.5, mechanism=mechanism)
    assert added.within == found.within / 2


def test_the_price_of_my_corona() -> None:
    def dollars(neighbours: Neighbours, mechanism: Mechanism) -> float:
        error = expected_error(pricing(), epsilon=1, neighbours=neighbours, mechanism=mechanism)
        return round(float(error), 2)

    assert dollars("change_one", "lecture") == 25.05  # not 31, as the lecture has it
    assert dollars("change_one", "gumbel") == 6.25
    assert dollars("add_remove", "gumbel") == 6.22
    halved = expected_error(pricing(), epsilon=2, neighbours="change_one", mechanism="lecture")
    assert round(float(2 * halved), 2) == 25.05


def test_without_the_change_of_single_scores_the_lecture_uses_the_range() -> None:
    prices = pricing()
    ranges = [prices.d_range(relation) for relation in ("add_remove", "change_one")]
    plain = StandIn(tuple(prices.outputs), prices.unit, *ranges)
    error = expected_error(plain, epsilon=1, neighbours="change_one", mechanism="lecture")
    assert round(float(error), 2) == 12.52
    for relation in RELATIONS:
        kept = expected_error(plain, epsilon=1, neighbours=relation, mechanism="gumbel")
        assert kept == expected_error(prices, epsilon=1, neighbours=relation, mechanism="gumbel")


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("n", "k"), [(100, 1), (100, 3), (4, 3), (4, 4), (2, 2)])
def test_the_accuracy_is_that_of_the_scale_that_epsilon_pays_for(
    relation: Neighbours, n: int, k: int
) -> None:
    problem = approval_voting(n)
    found = accuracy(problem, epsilon="1/3", k=k, neighbours=relation, confidence="0.9")
    reach = problem.d_range(relation)
    scale = min(k, n - 1) * reach * 3
    domain = vector_domain(atom_domain(int), n)
    measurement = make_report_noisy_top_k(domain, range_distance(), max_divergence(), k, scale)
    assert measurement.map(reach) == Fraction(1, 3)
    assert found.within == within("exponential", scale, n, k, "0.9")


@pytest.mark.parametrize(("n", "k"), [(100, 1), (100, 4), (3, 3)])
def test_rho_pays_for_gumbel_noise(n: int, k: int) -> None:
    problem = approval_voting(n)
    found = accuracy(problem, rho="1/8", k=k, mechanism="gumbel", neighbours="change_one")
    domain = vector_domain(atom_domain(int), n)
    unit_scale = distance("gumbel", n, k, Fraction(1, 100))
    scale = found.within / unit_scale if unit_scale else Fraction(10)
    measurement = make_report_noisy_top_k(domain, range_distance(), zcdp(), k, scale)
    if k < n:
        price = measurement.price(2)
        assert isinstance(price, ZCDP)
        assert Fraction(1, 8) * (1 - Fraction(1, 2**22)) <= price.rho <= Fraction(1, 8)
    assert (found.within == 0) == (k == n)
    assert lead_needed(problem, rho="1/8", k=k, mechanism="gumbel") >= 0
    assert expected_error(approval_voting(1), rho=1, mechanism="gumbel") == 0


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("scores", [[9, 4, 4, 0], [5, 5, 5, 5], [20, 0, 0, 0], [8, 7, 6, 5], [3, 3, -9, -9]])
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_no_winner_is_further_behind_than_promised(mechanism: Mechanism, scores: list[int], k: int) -> None:
    problem, doubt = approval_voting(4), Fraction(1, 5)
    budget = Fraction(3, 4)
    found = accuracy(problem, epsilon=budget, k=k, confidence=1 - doubt, mechanism=mechanism)
    rank = sorted(scores, reverse=True)[k - 1]
    for noise in ("exponential", "gumbel"):
        if mechanism in (noise, "lecture"):
            law = enclosed_law(scores, noise=noise, scale=min(k, 3) / budget, k=k)
            failing = sum(
                p.high for order, p in law.items() if min(scores[i] for i in order) < rank - found.within
            )
            assert failing <= doubt


@given(st.integers(2, 300), st.integers(1, 5), st.fractions(Fraction(1, 50), 50), st.sampled_from(MECHANISMS))
@settings(max_examples=50, deadline=None)
def test_epsilon_for_is_the_inverse_of_accuracy(
    n: int, k: int, wanted: Fraction, mechanism: Mechanism
) -> None:
    k = min(k, n)
    problem = approval_voting(n)
    epsilon = epsilon_for(problem, within=wanted, k=k, mechanism=mechanism)
    if epsilon == 0:
        assert n == k
        return
    assert accuracy(problem, epsilon=epsilon, k=k, mechanism=mechanism).within <= wanted
    less = epsilon * (1 - Fraction(1, 2**40))
    assert accuracy(problem, epsilon=less, k=k, mechanism=mechanism).within > wanted


def test_epsilon_for_the_lectures_election() -> None:
    epsilon = epsilon_for(NAMES, within="34.01", neighbours="change_one")
    assert Fraction("0.499") < epsilon < HALF
    assert epsilon_for(approval_voting(2), within=1, confidence="1/2") == 0  # a coin is as good


def test_half_the_budget_is_half_as_accurate() -> None:
    once, twice = accuracy(NAMES, epsilon="1/4"), accuracy(NAMES, epsilon="1/2")
    assert once.within == 2 * twice.within


def test_the_lead_that_is_needed_is_a_whole_number_of_votes() -> None:
    assert lead_needed(NAMES, epsilon=HALF, neighbours="change_one") == 35
    assert lead_needed(NAMES, epsilon=HALF, neighbours="change_one", mechanism="gumbel") == 37
    assert lead_needed(pricing(), epsilon=1) % Fraction(1, 100) == 0


@pytest.mark.parametrize("noise", ["exponential", "gumbel"])
@pytest.mark.parametrize("k", [1, 2])
def test_with_the_lead_the_best_win(noise: Any, k: int) -> None:
    problem = approval_voting(5)
    lead = lead_needed(problem, epsilon=1, k=k, confidence="0.9", mechanism=noise)
    for scores in ([lead] * k + [Fraction(0)] * (5 - k), [lead + 3, lead][:k] + [Fraction(0)] * (5 - k)):
        law = enclosed_law(scores, noise=noise, scale=k, k=k)
        assert sum(p.low for order, p in law.items() if set(order) == set(range(k))) >= Fraction(9, 10)
    short = [lead - 1] * k + [Fraction(0)] * (5 - k)
    if k == 1:
        law = enclosed_law(short, noise=noise, scale=1)
        assert law[0,].high < Fraction(9, 10)


def test_one_candidate_is_always_the_best() -> None:
    alone = approval_voting(1)
    assert accuracy(alone, epsilon=1).within == expected_error(alone, epsilon=1) == 0
    assert lead_needed(alone, epsilon=1) == epsilon_for(alone, within=1) == 0


def test_an_accuracy_speaks_for_itself() -> None:
    found = accuracy(NAMES, epsilon="1/2", neighbours="change_one")
    assert (
        str(found)
        == "within 34.01 (rounded up) of the best score, with probability 0.99 or more (exponential noise)"
    )
    assert repr(found) == f"<{found}>"
    three = accuracy(NAMES, epsilon="1/2", k=3, mechanism="lecture")
    assert "of the score of rank 3" in str(three)
    assert "(McSherry and Talwar's bound of 2007)" in str(three)
    assert "<td>34.01 (rounded up)</td>" in found._repr_html_()
    assert "score of rank 3" in three._repr_html_()
    assert found == Accuracy(
        found.within, Fraction("0.99"), "exponential", Fraction(1), n=100, measured_in="votes"
    )
    assert {found, replace(found)} == {found}
    assert "with probability 0.6666 (rounded down) or more" in str(
        accuracy(NAMES, epsilon=1, confidence="2/3")
    )


@pytest.mark.parametrize("mechanism", ["exponential", "gumbel", "lecture"])
def test_where_all_candidates_win_only_the_order_is_random(mechanism: Mechanism) -> None:
    everyone = accuracy(NAMES, epsilon=1, k=100, mechanism=mechanism)
    assert str(everyone) == "all 100 candidates win: only their order is random"
    assert "only their order is random" in everyone._repr_html_()
    assert "0.00" not in everyone._repr_html_()
    assert str(accuracy(NAMES, epsilon=1, k=99)).startswith("within ")


def test_the_names_are_public() -> None:
    assert dpselect.accuracy is accuracy
    assert dpselect.Accuracy is Accuracy
    assert dpselect.epsilon_for is epsilon_for
    assert dpselect.expected_error is expected_error
    assert dpselect.lead_needed is lead_needed


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "exactly one of epsilon, rho and scale must be given; got 0."),
        ({"epsilon": 1, "rho": 1}, "exactly one of epsilon, rho and scale must be given; got 2."),
        ({"epsilon": 1, "rho": 1, "scale": 1}, "exactly one of epsilon, rho and scale must be given; got 3."),
        ({"scale": -1}, "scale must be zero or a positive number; got -1."),
        ({"epsilon": "0,5"}, "epsilon must be a finite number; got '0,5'."),
        ({"epsilon": 0}, "epsilon must be a positive number; got 0."),
        ({"rho": 0, "mechanism": "gumbel"}, "rho must be a positive number; got 0."),
        (
            {"rho": 1, "mechanism": "exponential"},
            "mechanism must be \"gumbel\" where rho is the budget; got 'exponential'.",
        ),
        ({"epsilon": 1, "k": 0}, "k must be a whole number from 1 to 100; got 0."),
        ({"epsilon": 1, "k": 101}, "k must be a whole number from 1 to 100; got 101."),
        ({"epsilon": 1, "confidence": 1}, "confidence must be between 0 and 1, not at either end; got 1."),
        (
            {"epsilon": 1, "confidence": "0"},
            "confidence must be between 0 and 1, not at either end; got '0'.",
        ),
        ({"epsilon": 1, "confidence": 99}, "confidence must be a probability from 0 to 1; got 99."),
        (
            {"epsilon": 1, "neighbours": "add"},
            'neighbours must be "add_remove" or "change_one"; got \'add\'.',
        ),
        ({"epsilon": 1, "mechanism": "laplace"}, 'mechanism="laplace" needs a bound'),
        ({"epsilon": 1, "mechanism": "cauchy"}, '"laplace" or "lecture"; got \'cauchy\'.'),
        ({"epsilon": 1, "mechanism": ["gumbel"]}, 'or "lecture"; got a list.'),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidParameter) as refused:
        accuracy(NAMES, **arguments)
    assert sentence in str(refused.value)


def test_what_is_no_problem_is_refused() -> None:
    for wrong in (None, 100, ["a", "b"]):
        with pytest.raises(InvalidParameter, match="problem must be a selection problem"):
            accuracy(wrong, epsilon=1)  # type: ignore[arg-type] # that is the point
    with pytest.raises(
        InvalidParameter, match="the number of candidates must be a whole number of 1 or more"
    ):
        accuracy(StandIn((), Fraction(1), Fraction(1), Fraction(2)), epsilon=1)
    with pytest.raises(InvalidParameter, match="within must be a positive number"):
        epsilon_for(NAMES, within=0)
    with pytest.raises(InvalidParameter, match="scale must be zero or a positive number"):
        within("gumbel", -1, 3)


def test_a_known_scale_needs_no_budget() -> None:
    by_budget = accuracy(NAMES, epsilon="1/2", k=2, neighbours="change_one")
    assert accuracy(NAMES, scale=8, k=2) == by_budget
    assert expected_error(NAMES, scale=2) == expected_error(NAMES, epsilon="1/2")
    assert lead_needed(NAMES, scale=4, mechanism="gumbel") == 37
    assert "Gumbel noise" in str(accuracy(NAMES, scale=4, mechanism="gumbel"))


def test_without_noise_the_best_wins() -> None:
    assert accuracy(NAMES, scale=0).within == 0
    assert within("exponential", 0, 100) == 0
