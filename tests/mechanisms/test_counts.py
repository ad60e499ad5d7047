"""Winners with noisy counts: order and counts from one draw, whose law is walked; the price on neighbours.

What is under test: dpselect.selection.discrete_laplace, dpselect.selection.counts_draw, through
dpselect.mechanisms.report_noisy_top_k_with_counts.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from functools import partial
from itertools import permutations, product
from typing import Any, Literal

import numpy as np
import pytest

from dpselect.errors import InvalidParameter, OutsideDomain
from dpselect.exact.enclosures import Enclosure, enclose
from dpselect.exact.partial_floors import floor_of_difference
from dpselect.exact.partial_numbers import Known
from dpselect.exact.randomness import Randomness, system
from dpselect.mechanisms import make_report_noisy_top_k_with_counts
from dpselect.privacy import (
    Measurement,
    atom_domain,
    l1_distance,
    max_divergence,
    range_distance,
    vector_domain,
    zero_concentrated_divergence,
)
from dpselect.selection.array_scores import ArrayScores
from dpselect.selection.discrete_laplace import WholeLaplaceNoise
from dpselect.selection.top_k import top_k_noisy_scores
from tests.exact.laws import Rejected, Walk, check
from tests.mechanisms.race_checks import check_estimates
from tests.statistics import rejects

WHOLE = vector_domain(atom_domain(int))
ONE = Fraction(1)
Outcome = tuple[tuple[int, int], ...]
MOST = 40
"""Counts this far from the scores are left out of sums; they weigh less than e**-40."""


def counting(
    k: int = 1, scale: Any = ONE, optimize: Literal["max", "min"] = "max", grid: Any = None
) -> Measurement:
    return make_report_noisy_top_k_with_counts(
        WHOLE, l1_distance(), max_divergence(), k, scale, optimize, grid=grid
    )


# The law: independent discrete Laplace numbers, ties in a random order.


def mass(z: int, scale: float) -> float:
    decay = math.exp(-1 / scale)
    return decay ** abs(z) * (1 - decay) / (1 + decay)


def probability(scores: list[int], outcome: Outcome, scale: float = 1.0) -> float:
    """Of k winners with counts: the others are below the last, or tie with it and lose the lot."""
    counts = [count for _, count in outcome]
    if counts != sorted(counts, reverse=True):
        return 0.0
    winners = [i for i, _ in outcome]
    found = math.prod(mass(count - scores[i], scale) for i, count in outcome)
    last = counts[-1]
    ties = [1.0]
    for j in (j for j in range(len(scores)) if j not in winners):
        equal = mass(last - scores[j], scale)
        below = math.fsum(mass(z, scale) for z in range(-MOST - abs(last), last - scores[j]))
        ties = [
            (ties[t] if t < len(ties) else 0) * below + (ties[t - 1] if t else 0) * equal
            for t in range(len(ties) + 1)
        ]
    groups = Counter(counts)
    chance = 0.0
    tied = groups.pop(last)
    for extra, weight in enumerate(ties):
        chance += weight * math.factorial(extra) / math.factorial(tied + extra)
    return found * chance / math.prod(math.factorial(size) for size in groups.values())


def around(p: float) -> Enclosure:
    return Enclosure(Fraction(p) * Fraction("0.999999999"), Fraction(p) * Fraction("1.000000001"))


def drawn(m: Measurement, scores: Any, source: Randomness) -> Any:
    return tuple(m.draw(scores, source))


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("scores", [[0, 1], [2, 2]], ids=str)
@pytest.mark.parametrize("k", [1, 2])
def test_the_best_of_two_and_their_counts_have_the_law_of_two_whole_numbers(
    scores: list[int], k: int
) -> None:
    cells = [
        tuple(zip(order, counts, strict=True))
        for order in permutations(range(2), k)
        for counts in product(range(-1, 4), repeat=k)
        if list(counts) == sorted(counts, reverse=True)
    ]
    check(
        partial(drawn, counting(k, Fraction(2, 3)), scores),
        lambda outcome: around(probability(scores, outcome, 2 / 3)),
        cells,
        Walk(12, Fraction(1, 2)),
    )


@pytest.mark.usefixtures("unmeasured")
def test_the_walk_rejects_rounded_laplace_noise_and_ties_by_index() -> None:
    """The mutants: counts rounded from real noise, and a tie that the first always wins."""
    program = partial(drawn, counting(), [0, 0])

    def rounded(outcome: Outcome) -> Enclosure:
        ((i, count),) = outcome
        ours = 1 - math.exp(-0.5) if count == 0 else math.exp(-abs(count)) * math.sinh(0.5)
        return around(ours * probability([0, 0], ((i, count),)) / mass(count, 1.0))

    def by_index(outcome: Outcome) -> Enclosure:
        ((i, count),) = outcome
        below = math.fsum(mass(z, 1.0) for z in range(-MOST, count))
        return around(mass(count, 1.0) * (below + (mass(count, 1.0) if i == 0 else 0)))

    cells: list[Outcome] = [((i, count),) for i in range(2) for count in range(3)]
    for wrong in (rounded, by_index):
        with pytest.raises(Rejected, match="is wrong"):
            check(program, wrong, cells, Walk(15, ONE))


def cells_of(found: Counter[Any], scores: list[int]) -> tuple[list[int], list[float]]:
    """One winner with a count from -1 to 5, and all else."""
    cells: list[Outcome] = [((i, count),) for i in range(len(scores)) for count in range(-1, 6)]
    expected = [probability(scores, cell) for cell in cells]
    sample = [found[cell] for cell in cells]
    return [*sample, sum(found.values()) - sum(sample)], [*expected, 1 - math.fsum(expected)]


@pytest.mark.usefixtures("unmeasured")
def test_counts_of_a_race_of_many_have_the_same_law_and_a_score_off_by_one_is_rejected() -> None:
    scores = np.array([2, 0, 1, *[-90] * 60])
    assert WholeLaplaceNoise(ONE).threshold_rank(1) < len(scores)
    found = Counter(tuple(counting()(scores)) for _ in range(4000))
    assert not rejects(*cells_of(found, [2, 0, 1]))
    assert rejects(*cells_of(found, [2, 1, 1]))


class FewIndividual(WholeLaplaceNoise):
    """Has one individual candidate for each winner, so that the others race, or are drawn as well."""

    def threshold_rank(self, k: int) -> int:
        return k + 1


def test_candidates_that_race_have_the_counts_of_their_noise() -> None:
    vector = ArrayScores(np.array([1, 0, 1]), "max")
    found: Counter[Any] = Counter()
    for _ in range(4000):
        (best,) = top_k_noisy_scores(vector, 1, ONE, FewIndividual(ONE), system()) or []
        found[(best.candidate, floor_of_difference(best.number, Known(Fraction(0)), ONE)),] += 1
    assert not rejects(*cells_of(found, [1, 0, 1]))
    assert rejects(*cells_of(found, [1, 1, 1]))


@pytest.mark.usefixtures("unmeasured")
def test_parts_merge_to_the_law_of_the_whole() -> None:
    m = counting()
    found = Counter(
        tuple(m.over([np.array([2]), np.array([], dtype=int), np.array([0, 1])])) for _ in range(3000)
    )
    assert not rejects(*cells_of(found, [2, 0, 1]))


@pytest.mark.parametrize("scale", [ONE, Fraction(20), Fraction(1, 3), Fraction(1, 2000)])
def test_the_floats_of_the_filter_are_as_close_as_it_demands(scale: Fraction) -> None:
    check_estimates(WholeLaplaceNoise(scale))


def test_the_acceptance_is_that_of_a_candidate_that_arrives_with_its_probability() -> None:
    """Over all times the hazard adds up: P(arrived by t) = w (1 - e**-t) / (1 + p)."""
    noise, gap, at = WholeLaplaceNoise(Fraction(2, 3)), Fraction(3, 2), Fraction(1, 2)
    found = noise.acceptance_exactly(gap, Enclosure(at, at), 80)
    exact = enclose(
        lambda x, t, r: 1 / ((-x).exp() + (1 + (-r).exp() - (-x).exp()) * t.exp()), gap, at, Fraction(3, 2)
    )
    assert abs(float(found.low - exact.low)) < 1e-15
    assert found.low <= exact.high
    assert exact.low <= found.high


# What is given.


def test_counts_are_whole_and_turned_as_the_scores_are() -> None:
    quiet = Fraction(1, 1000)
    assert counting(2, quiet)([5, 1, 9]) == [(2, 9), (0, 5)]
    assert counting(2, quiet, "min")([5, 1, 9]) == [(1, 1), (0, 5)]
    assert counting(3, quiet)(np.array([5, -1, 9])) == [(2, 9), (0, 5), (1, -1)]
    assert counting(1, 0)([5, 1, 10**30]) == [(2, 10**30)]
    assert counting(1, quiet)([5, 1, 10**30]) == [(2, 10**30)]
    assert counting(2, quiet, grid=3)([5, 1, 9]) == [(2, 9, Fraction(3)), (0, 5, Fraction(3))]
    assert counting(2, quiet, "min", grid=1)([5, 1, 9]) == [(1, 1, Fraction(4)), (0, 5, Fraction(4))]
    many = np.zeros(30_000, dtype=np.int64)
    many[[5, 77]] = [10**6, 3 * 10**6]
    (first, above), (second, _) = counting(2, 3)(many)
    assert (first, second) == (77, 5)
    assert abs(above - 3 * 10**6) < 300


def test_what_is_not_free_is_refused() -> None:
    def make(domain: Any = WHOLE, metric: Any = None, measure: Any = None, **more: Any) -> Measurement:
        return make_report_noisy_top_k_with_counts(
            domain, metric or l1_distance(), measure or max_divergence(), more.pop("k", 1), 1, **more
        )

    with pytest.raises(InvalidParameter, match="whole numbers"):
        make(vector_domain(atom_domain(float)))
    with pytest.raises(InvalidParameter, match="l1_distance"):
        make(metric=range_distance())
    with pytest.raises(InvalidParameter, match="max_divergence"):
        make(measure=zero_concentrated_divergence())
    with pytest.raises(InvalidParameter, match="runner-up"):
        make(vector_domain(atom_domain(int), 2), k=2, grid=1)
    with pytest.raises(OutsideDomain, match="at least k candidates"):
        counting(3)([1, 2])
    with pytest.raises(OutsideDomain, match="a gap needs a runner-up"):
        counting(2, grid=1)([1, 2])


# The price.


def test_the_price_is_the_l1_distance_over_the_scale_also_of_a_single_candidate() -> None:
    for k in (1, 5):
        assert counting(k, "3/2").map(1) == Fraction(2, 3)
    alone = make_report_noisy_top_k_with_counts(
        vector_domain(atom_domain(int), 1), l1_distance(), max_divergence(), 1, 2
    )
    assert alone.map(1) == Fraction(1, 2)
    assert counting(1, 0).map(1) == math.inf
    assert counting(1, 0).map(0) == 0


@pytest.mark.parametrize("moves", [(1, 0), (0, 1), (1, -1), (-1, 1), (1, 1)], ids=str)
@pytest.mark.parametrize("k", [1, 2])
def test_no_neighbours_lose_more_than_the_price_and_some_reach_it(k: int, moves: tuple[int, ...]) -> None:
    """Of two candidates every order and all counts; one vote that goes from one to the other costs 2."""
    price: Any = counting(k).map(sum(map(abs, moves)))
    worst = 0.0
    for scores in ([0, 0], [2, 0], [0, 5]):
        theirs = [x + move for x, move in zip(scores, moves, strict=True)]
        for order in permutations(range(2), k):
            for counts in product(range(-4, 10), repeat=k):
                outcome = tuple(zip(order, counts, strict=True))
                ours, other = probability(scores, outcome), probability(theirs, outcome)
                if ours > 0:
                    worst = max(worst, abs(math.log(ours / other)))
    assert worst <= float(price) + 1e-9
    if k == 2:
        assert worst == pytest.approx(float(price))


def test_the_rho_of_laplace_noise_would_be_passed() -> None:
    """Why counts have no price in rho: whole noise is told apart better, 0.462 against 0.368 at eta 1."""
    divergence = math.fsum(mass(z, 1.0) * math.log(mass(z, 1.0) / mass(z - 1, 1.0)) for z in range(-300, 300))
    assert divergence == pytest.approx(math.tanh(0.5))
    assert divergence > 1 - 1 + math.exp(-1)
