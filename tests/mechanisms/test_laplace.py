"""Laplace noise on every score: its price is how far all scores move together, for any number of winners.

What is under test: dpselect.mechanisms.laplace_map, through dpselect.mechanisms.report_noisy_top_k, and
dpselect.selection.top_k by samples. Its law is walked in tests/mechanisms/test_laws.py.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from dpselect.accounting.closed_forms import LaplaceRenyi, laplace_rho
from dpselect.errors import InvalidParameter
from dpselect.exact.randomness import system
from dpselect.mechanisms import make_report_noisy_top_k
from dpselect.privacy import (
    Measurement,
    approximate,
    atom_domain,
    l1_distance,
    linf_distance,
    max_divergence,
    range_distance,
    range_divergence,
    renyi_divergence,
    vector_domain,
    zero_concentrated_divergence,
)
from dpselect.selection.array_scores import ArrayScores
from dpselect.selection.noise import LaplaceNoise
from dpselect.selection.top_k import top_k_indices
from dpselect.utility import enclosed_law, laplace_law
from tests.mechanisms.closed_forms import laplace_top_k
from tests.mechanisms.makers import laplace_top
from tests.statistics import rejects

ONE = Fraction(1)
Vector = tuple[int, ...]


def laplace(measure: Any, k: int, scale: Any = 1, size: int | None = None) -> Measurement:
    domain = vector_domain(atom_domain(int), size)
    return make_report_noisy_top_k(domain, l1_distance(), measure, k, scale, noise="laplace")


# The price.


@pytest.mark.parametrize("k", [1, 2, 3, 100])
def test_the_price_is_the_l1_distance_over_the_scale_for_any_number_of_winners(k: int) -> None:
    assert laplace(max_divergence(), k).map(1) == 1
    assert laplace(max_divergence(), k, Fraction(7, 3)).map(2) == Fraction(6, 7)
    assert laplace(zero_concentrated_divergence(), k, Fraction(7, 3)).map(2) == laplace_rho(Fraction(6, 7))
    curve: Any = laplace(renyi_divergence(), k).map(1)
    assert curve(3) == LaplaceRenyi(ONE)(Fraction(3))


def test_a_single_candidate_costs_nothing_and_no_noise_has_no_bound() -> None:
    assert laplace(max_divergence(), 1, size=1).map(5) == 0
    assert laplace(max_divergence(), 2, 0).map(1) == math.inf
    assert laplace(max_divergence(), 2, 0).map(0) == 0


def test_the_delta_is_that_of_the_curve_and_never_that_of_one_moved_score() -> None:
    """Two scores that move by a half each are told apart better at some epsilon than one that moves by 1."""
    profile: Any = laplace(approximate(max_divergence()), 2).map(1)
    assert profile.delta(1) == 0
    assert profile.epsilon(0) == 1
    grid = np.linspace(-20, 20, 4001)
    step = grid[1] - grid[0]
    density = np.exp(-np.abs(grid)) / 2 * step
    moved = np.exp(-np.abs(grid - 0.5)) / 2 * step
    for epsilon in (0.1, 0.4, 0.7):
        both = np.maximum(np.outer(density, density) - math.exp(epsilon) * np.outer(moved, moved), 0).sum()
        assert both <= profile.delta(str(epsilon)) + 1e-4


def law(scores: Vector, k: int) -> dict[tuple[int, ...], float]:
    """Give the law of any scores from that of their differences in order: the noise does not know more."""
    ranked = sorted(range(len(scores)), key=scores.__getitem__)
    of_ranks = law_of_differences(tuple(scores[i] - scores[ranked[0]] for i in ranked), k)
    return {tuple(ranked[rank] for rank in order): p for order, p in of_ranks.items()}


@cache
def law_of_differences(scores: Vector, k: int) -> dict[tuple[int, ...], float]:
    return {order: float(p.low) for order, p in laplace_top_k(scores, k, ONE).items()}


def loss(ours: Vector, theirs: Vector, k: int) -> float:
    return max(abs(math.log(law(ours, k)[order] / law(theirs, k)[order])) for order in law(ours, k))


GRID = [(0, 0, 0), (0, 1, 0), (1, 0, 0), (0, -2, 1)]


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("k", [1, 2])
def test_no_neighbours_lose_more_than_the_price_and_some_come_near_it(k: int) -> None:
    reached = 0.0
    for ours in GRID:
        for moves in ((1, 0, 0), (0, -1, 0), (1, -1, 0), (1, 1, 0)):
            theirs = tuple(x + move for x, move in zip(ours, moves, strict=True))
            price: Any = laplace(max_divergence(), k).map(sum(map(abs, moves)))
            found = loss(ours, theirs, k)
            assert found <= price + 1e-9
            reached = max(reached, found / float(price))
    assert reached > 0.5
    far = (-15, 0, 0) if k == 1 else (15, 0, 0)
    assert 0.93 < loss(far, (far[0] + 1, 0, 0), k) <= 1 + 1e-9


@pytest.mark.usefixtures("unmeasured")
def test_one_person_with_other_answers_moves_two_scores_and_pays_for_both() -> None:
    """One vote goes from the first to the second: a price with l1 = 1 would be passed."""
    far, changed = (9, -9, 0), (10, -10, 0)
    assert 1.8 < loss(far, changed, 2) <= 2
    assert laplace(max_divergence(), 2).map(2) == 2


@pytest.mark.parametrize("k", [2, 3])
def test_exponential_noise_at_this_scale_would_lose_k_times_as_much(k: int) -> None:
    """The mutant: of k + 1 tied candidates one is raised by 1. It is left out e**k times less often."""
    tied, raised = [0] * (k + 1), [1, *[0] * k]
    before, after = (enclosed_law(scores, noise="exponential", scale=1, k=k) for scores in (tied, raised))
    left_out = [order for order in before if 0 not in order]
    lost = max(math.log(before[order].low / after[order].high) for order in left_out)
    assert lost == pytest.approx(k, abs=1e-9)
    assert laplace(max_divergence(), k).map(1) == 1


# Refusals.


@pytest.mark.parametrize("metric", [linf_distance(), linf_distance(monotonic=True), range_distance()])
def test_laplace_noise_is_refused_with_another_metric(metric: Any) -> None:
    with pytest.raises(InvalidParameter, match="l1_distance"):
        make_report_noisy_top_k(
            vector_domain(atom_domain(int)), metric, max_divergence(), 2, 1, noise="laplace"
        )


def test_a_noise_without_a_proved_price_is_refused() -> None:
    scores = vector_domain(atom_domain(int))
    with pytest.raises(InvalidParameter, match="range divergence"):
        laplace(range_divergence(), 2)
    for measure, k in ((zero_concentrated_divergence(), 2), (range_divergence(), 1)):
        with pytest.raises(InvalidParameter, match="no proved price"):
            make_report_noisy_top_k(scores, range_distance(), measure, k, 1, noise="exponential")
    with pytest.raises(InvalidParameter, match="noise must be"):
        make_report_noisy_top_k(scores, range_distance(), max_divergence(), 1, 1, noise="gauss")  # type: ignore[arg-type]


def test_a_noise_may_be_named_where_its_price_is_proved() -> None:
    scores = vector_domain(atom_domain(int))
    gumbel = make_report_noisy_top_k(scores, range_distance(), max_divergence(), 3, 2, noise="gumbel")
    assert gumbel.map(1) == Fraction(3, 2)
    flipped = make_report_noisy_top_k(
        scores, l1_distance(), zero_concentrated_divergence(), 1, 1, noise="exponential"
    )
    assert flipped.map(1) == laplace_rho(ONE)
    usual = make_report_noisy_top_k(scores, l1_distance(), max_divergence(), 3, 2)
    assert usual.map(1) == Fraction(3, 2)


# Samples.


@pytest.mark.usefixtures("unmeasured")
def test_a_race_of_many_with_laplace_noise_passes_and_a_scale_off_by_a_quarter_fails() -> None:
    """Sixty candidates race: the winner is among the first ten, the next ten, or behind."""
    scores = -np.arange(60) / 4
    assert LaplaceNoise().threshold_rank(1) < len(scores)
    draws = Counter(laplace_top(1)(scores)[0] // 10 for _ in range(5000))

    def cells(scale: Fraction) -> list[float]:
        law = laplace_law(scores.tolist(), scale=scale)
        sums = [sum(law.probability(10 * cell + i) for i in range(10)) for cell in range(6)]
        return [sums[0], sums[1], math.fsum(sums[2:])]

    sample = [draws[0], draws[1], sum(draws[cell] for cell in range(2, 6))]
    assert not rejects(sample, cells(ONE))
    assert rejects(sample, cells(Fraction(5, 4)))
    assert rejects(sample, cells(Fraction(4, 5)))


@pytest.mark.usefixtures("unmeasured")
def test_parts_with_laplace_noise_merge_to_the_law_of_the_whole() -> None:
    scores = [0.0, 1.0, 2.0, 0.5]
    m = laplace_top(2)
    draws = Counter(tuple(m.over([np.array(scores[:1]), np.array(scores[1:])])) for _ in range(6000))
    expected = {order: float(p.low) for order, p in laplace_top_k(scores, 2, ONE).items()}
    assert not rejects([draws[order] for order in expected], list(expected.values()))


class Unlucky(LaplaceNoise):
    """Has one individual candidate for each winner: often too few of them exceed the threshold."""

    def threshold_rank(self, k: int) -> int:
        return k + 1


class DrawnTwice(Unlucky):
    """Says that all is well, however few exceed the threshold."""

    ties_arrive = True


def sampled(noise: LaplaceNoise, count: int = 6000) -> Counter[int]:
    vector = ArrayScores(np.array([2.0, 0.0, 1.0]), "max")
    return Counter((top_k_indices(vector, 1, ONE, noise, system()) or [9])[0] for _ in range(count))


@pytest.mark.usefixtures("unmeasured")
def test_where_too_few_exceed_the_threshold_the_law_is_kept() -> None:
    expected = [float(laplace_top_k([2, 0, 1], 1, ONE)[i,].low) for i in range(3)]
    drawn = sampled(Unlucky())
    assert not rejects([drawn[i] for i in range(3)], expected)
    wrong = sampled(DrawnTwice())
    assert rejects([wrong[i] for i in range(3)], expected)


@pytest.mark.parametrize("k", [1, 2, 5, 31, 100, 1000])
def test_fewer_than_k_individual_candidates_exceed_the_threshold_very_rarely(k: int) -> None:
    """Each exceeds it with probability one half at least: Binomial(rank - 1, 1/2) < k."""
    individual = LaplaceNoise().threshold_rank(k) - 1
    assert sum(math.comb(individual, i) for i in range(k)) < Fraction(2**individual, 2**25)


@pytest.mark.parametrize("scores", [[5, 1, 9], [Fraction(1, 3), 7, 2]])
def test_with_little_noise_the_best_win_in_either_direction(scores: list[Any]) -> None:
    assert laplace_top(2, Fraction(1, 10**6))(scores) == sorted(range(3), key=lambda i: -scores[i])[:2]
    assert laplace_top(3, Fraction(1, 10**6), "min")(scores) == sorted(range(3), key=lambda i: scores[i])


def test_far_more_candidates_than_winners_are_numbered_right() -> None:
    scores = np.zeros(20_011)
    scores[[7, 19_999, 20_010]] = [3e6, 1e6, 2e6]
    assert laplace_top(3)(scores) == [7, 20_010, 19_999]
    scores[100:] = -np.inf
    assert laplace_top(1)(scores) == [7]
    assert len(laplace_top(100)(scores)) == 100
