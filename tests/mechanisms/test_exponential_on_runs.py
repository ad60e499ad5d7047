"""dpselect.mechanisms.exponential_on_runs: its law is that of the listed mechanism, and so is its price."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from dpselect import (
    approximate,
    atom_domain,
    linf_distance,
    make_exponential_mechanism_on_runs,
    make_report_noisy_max_gumbel,
    make_report_noisy_top_k,
    max_divergence,
    range_distance,
    range_divergence,
    renyi_divergence,
    runs_domain,
    vector_domain,
    zero_concentrated_divergence,
)
from dpselect.audit.rounds import enumerate_rounds
from dpselect.errors import InvalidParameter, OutsideDomain
from tests.exact.sources import untouchable

DOMAIN = runs_domain(atom_domain(int), 4)
SCALE = Fraction(3, 2)


def softmax(scores: list[int]) -> list[float]:
    weights = [math.exp(score / float(SCALE)) for score in scores]
    return [weight / sum(weights) for weight in weights]


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize(
    ("runs", "scores"),
    [
        ([(1, 0), (2, 1), (1, 2)], [0, 1, 1, 2]),
        ([(1, 0), (1, 1), (0, 9), (1, 1), (1, 2)], [0, 1, 1, 2]),
        ([(4, 5)], [5, 5, 5, 5]),
    ],
)
def test_an_output_has_the_probability_of_the_exponential_mechanism(runs: Any, scores: list[int]) -> None:
    m = make_exponential_mechanism_on_runs(DOMAIN, range_distance(), SCALE)
    found = enumerate_rounds(lambda randomness: m.draw(runs, randomness), 14, 1)
    assert max(high - low for low, high in found.values()) < 0.04
    for output, probability in enumerate(softmax(scores)):
        assert (
            found[output].low - Fraction(1, 10**9) <= probability <= found[output].high + Fraction(1, 10**9)
        )


@pytest.mark.parametrize("distance", [Fraction(1), Fraction(7, 3)])
def test_it_costs_what_the_mechanism_on_a_list_costs_in_every_currency(distance: Fraction) -> None:
    scores, metric = vector_domain(atom_domain(int), 4), linf_distance()
    pure = make_exponential_mechanism_on_runs(DOMAIN, metric, SCALE)
    assert pure.map(distance) == make_report_noisy_max_gumbel(scores, metric, SCALE).map(distance)
    assert pure.output_measure == max_divergence()
    for measure in (zero_concentrated_divergence(), range_divergence()):
        ours = make_exponential_mechanism_on_runs(DOMAIN, metric, SCALE, privacy_measure=measure)
        assert ours.map(distance) == make_report_noisy_top_k(scores, metric, measure, 1, SCALE).map(distance)
    curve = make_exponential_mechanism_on_runs(DOMAIN, metric, SCALE, privacy_measure=renyi_divergence())
    listed = make_report_noisy_top_k(scores, metric, renyi_divergence(), 1, SCALE)
    assert curve.map(distance)(3) == listed.map(distance)(3)  # type: ignore[operator]
    m = make_exponential_mechanism_on_runs(
        DOMAIN, metric, SCALE, privacy_measure=approximate(max_divergence())
    )
    assert m.check(distance, (2 * distance / SCALE, 0))


def test_no_pair_of_neighbours_loses_more_than_the_price_and_one_loses_all_of_it_nearly() -> None:
    """All scores from 0 to 2 on four outputs; neighbours differ by at most 1 in range."""
    price = float(make_exponential_mechanism_on_runs(DOMAIN, range_distance(), SCALE).map(1))  # type: ignore[arg-type]
    laws = {scores: softmax(list(scores)) for scores in product((0, 1, 12), repeat=4)}
    worst = 0.0
    for scores, law in laws.items():
        for changes in product((0, 1), repeat=4):
            moved = softmax([score + change for score, change in zip(scores, changes, strict=True)])
            worst = max(worst, *(abs(math.log(p / q)) for p, q in zip(law, moved, strict=True)))
    assert 0.999 * price < worst <= price + 1e-12


def test_one_output_is_no_choice_and_no_noise_gives_the_first_of_the_best() -> None:
    alone = make_exponential_mechanism_on_runs(runs_domain(atom_domain(int), 1), range_distance(), 2)
    assert alone.map(5) == 0
    assert alone([(1, 3)]) == 0
    exact = make_exponential_mechanism_on_runs(DOMAIN, range_distance(), 0)
    assert exact.draw([(1, 0), (2, 8), (1, 8)], untouchable()) == 1
    assert (exact.map(0), exact.map(1)) == (0, math.inf)


def test_bad_arguments_are_refused() -> None:
    for arguments in (
        (vector_domain(atom_domain(int)), range_distance(), 1),
        (DOMAIN, max_divergence(), 1),
        (DOMAIN, range_distance(), -1),
    ):
        with pytest.raises(InvalidParameter):
            make_exponential_mechanism_on_runs(*arguments)
    with pytest.raises(InvalidParameter):
        make_exponential_mechanism_on_runs(DOMAIN, range_distance(), 1, privacy_measure="pure")  # type: ignore[arg-type]
    with pytest.raises(OutsideDomain):
        make_exponential_mechanism_on_runs(DOMAIN, range_distance(), 1)([(3, 1)])


def test_two_runs_of_a_huge_domain_are_hit_by_their_lengths() -> None:
    m = make_exponential_mechanism_on_runs(runs_domain(atom_domain(float), 2**80), range_distance(), 1)
    drawn = [m([(1, 0.5), (2**80 - 1, 0.5)]) for _ in range(60)]
    assert all(output > 2**50 for output in drawn)
