"""Winners with gaps: their law is walked, their price is compared with exact laws of neighbours.

What is under test: dpselect.selection.gaps_draw, dpselect.exact.partial_floors, dpselect.mechanisms.gaps_map,
through dpselect.mechanisms.report_noisy_top_k_with_gaps.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import permutations, product
from typing import Any, Literal

import numpy as np
import pytest

from dpselect.accounting.closed_forms import bounded_range_rho, laplace_rho
from dpselect.accounting.logistic import LogisticRenyi, logistic_rho
from dpselect.errors import InvalidParameter, OutsideDomain
from dpselect.exact.enclosures import Enclosure
from dpselect.exact.randomness import Randomness
from dpselect.mechanisms import make_report_noisy_top_k_with_gaps
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
from dpselect.utility import enclosed_law
from tests.exact.laws import Rejected, Walk, check
from tests.mechanisms.closed_forms import laplace_top_k
from tests.statistics import rejects

ONE, TWO_THIRDS = Fraction(1), Fraction(2, 3)
SCORES = vector_domain(atom_domain(float))
Noise = Literal["exponential", "gumbel", "laplace"]
Order = tuple[int, ...]
Outcome = tuple[tuple[int, Fraction], ...]


def gaps(  # noqa: PLR0913 - what a test varies
    noise: Noise | None = None,
    k: int = 1,
    scale: Any = ONE,
    grid: Any = ONE,
    *,
    measure: Any = None,
    optimize: Literal["max", "min"] = "max",
) -> Measurement:
    metric = l1_distance() if noise == "laplace" else range_distance()
    return make_report_noisy_top_k_with_gaps(
        SCORES, metric, measure or max_divergence(), k, scale, grid, optimize, noise=noise
    )


# The law in closed form: leads of more than g are orders at lowered scores.


@cache
def orders(noise: Noise, scores: tuple[Fraction, ...], scale: Fraction, k: int) -> dict[Order, Enclosure]:
    if noise == "laplace":
        return laplace_top_k(scores, k, scale)
    return enclosed_law(list(scores), noise=noise, scale=scale, k=k)


def beyond(
    noise: Noise, scores: Sequence[Any], order: Order, leads: Sequence[Fraction], scale: Fraction
) -> Enclosure:
    """Enclose the probability of an order whose gaps all exceed the leads."""
    lowered = [Fraction(score) for score in scores]
    for place, winner in enumerate(order):
        lowered[winner] -= sum(leads[place:])
    return orders(noise, tuple(lowered), scale, len(order))[order]


def probability(
    noise: Noise, scores: Sequence[Any], outcome: Outcome, scale: Fraction = ONE, grid: Fraction = ONE
) -> Enclosure:
    """Enclose the probability of winners with their gaps, by inclusion and exclusion over cells."""
    order = tuple(winner for winner, _ in outcome)
    low = high = Fraction(0)
    for corner in product((0, 1), repeat=len(outcome)):
        leads = [gap + grid * upper for (_, gap), upper in zip(outcome, corner, strict=True)]
        part = beyond(noise, scores, order, leads, scale)
        if sum(corner) % 2:
            low, high = low - part.high, high - part.low
        else:
            low, high = low + part.low, high + part.high
    return Enclosure(max(low, Fraction(0)), high)


def drawn(m: Measurement, scores: Any, source: Randomness) -> Outcome:
    return tuple(m.draw(scores, source))


def few_cells(n: int, k: int, grid: Fraction, most: int = 3) -> list[Outcome]:
    return [
        tuple(zip(order, (grid * step for step in steps), strict=True))
        for order in permutations(range(n), k)
        for steps in product(range(most), repeat=k)
    ]


NOISES: list[Noise] = ["exponential", "gumbel", "laplace"]


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(("scores", "optimize"), [([0, 1], "max"), ([Fraction(1, 3), 0], "min")], ids=str)
def test_the_winner_of_two_and_its_gap_have_the_law_of_two_noisy_scores(
    noise: Noise, scores: list[Any], optimize: Literal["max", "min"]
) -> None:
    oriented = [score if optimize == "max" else -score for score in scores]
    check(
        partial(drawn, gaps(noise, grid=TWO_THIRDS, optimize=optimize), scores),
        lambda outcome: probability(noise, oriented, outcome, grid=TWO_THIRDS),
        few_cells(2, 1, TWO_THIRDS),
        Walk(12, Fraction(1, 2)),
    )


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("noise", ["exponential", "gumbel"])
def test_the_winners_of_three_and_their_gaps_have_the_law_of_three_noisy_scores(noise: Noise) -> None:
    scores = [2, 0, 1]
    for k in (1, 2):
        check(
            partial(drawn, gaps(noise, k, TWO_THIRDS, 2), scores),
            lambda outcome: probability(noise, scores, outcome, TWO_THIRDS, Fraction(2)),
            few_cells(3, k, Fraction(2), 2),
            Walk(10, Fraction(19, 20)),
        )


@pytest.mark.usefixtures("unmeasured")
def test_the_walk_rejects_a_gap_of_other_noise_and_of_other_scores() -> None:
    """The mutants: exponential noise for Gumbel noise, a score that is off by a third, a grid that is."""
    program = partial(drawn, gaps("exponential"), [0, 1])
    wrong: list[Any] = [
        lambda outcome: probability("gumbel", [0, 1], outcome),
        lambda outcome: probability("exponential", [0, Fraction(4, 3)], outcome),
        lambda outcome: probability("exponential", [0, 1], outcome, grid=Fraction(4, 3)),
    ]
    for law in wrong:
        with pytest.raises(Rejected, match="is wrong"):
            check(program, law, few_cells(2, 1, ONE), Walk(12, ONE))


def cell(outcome: Outcome, most: int = 3) -> tuple[tuple[int, int], ...]:
    return tuple((winner, min(int(gap), most)) for winner, gap in outcome)


def sampled(m: Measurement, scores: Any, count: int = 3000) -> Counter[Any]:
    return Counter(cell(tuple(m(scores))) for _ in range(count))


def capped(noise: Noise, scores: Sequence[Any], outcome: tuple[tuple[int, int], ...], most: int = 3) -> float:
    """The probability of one winner with a gap, all gaps from ``most`` on in one."""
    ((winner, gap),) = outcome
    ahead = beyond(noise, scores, (winner,), [Fraction(gap)], ONE).low
    return float(
        ahead - (0 if gap == most else beyond(noise, scores, (winner,), [Fraction(gap + 1)], ONE).low)
    )


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("noise", ["exponential", "gumbel"])
def test_gaps_of_a_race_of_many_have_the_law_of_their_numbers(noise: Noise) -> None:
    """Three matter, forty far behind make it a race; a gap that is one step off is rejected."""
    scores = np.array([2.0, 0.0, 1.0, *[-60.0] * 40])
    found = sampled(gaps(noise), scores)
    cells = [((i, gap),) for i in range(3) for gap in range(4)]
    expected = [capped(noise, [2, 0, 1], outcome) for outcome in cells]
    assert not rejects([found[outcome] for outcome in cells], expected)
    moved = [capped(noise, [2, 0, Fraction(3, 2)], outcome) for outcome in cells]
    assert rejects([found[outcome] for outcome in cells], moved)


@pytest.mark.usefixtures("unmeasured")
def test_gaps_of_chunks_have_the_law_of_the_whole() -> None:
    m = gaps("exponential")
    chunks = [np.array([2.0, 0.0]), np.array([1.0])]
    found = Counter(cell(tuple(m.over(chunks))) for _ in range(3000))
    cells = [((i, gap),) for i in range(3) for gap in range(4)]
    assert not rejects(
        [found[outcome] for outcome in cells], [capped("exponential", [2, 0, 1], each) for each in cells]
    )


def test_chunks_of_lists_and_of_arrays_are_one_row_of_scores() -> None:
    m = gaps(k=2, measure=zero_concentrated_divergence())
    (first, lead), (second, _) = m.over([[0, Fraction(2 * 10**9)], np.array([10.0**9, -math.inf])])
    assert (first, second) == (1, 2)
    assert abs(lead - 10**9) < 10**6


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("chunked", [False, True])
def test_two_winners_in_rho_are_drawn_in_rounds_with_fresh_noise(*, chunked: bool) -> None:
    """The gap of the first is to the runner-up of its round, who need not win the next."""
    m = gaps(k=2, measure=zero_concentrated_divergence())
    scores = [2, 0, 1]
    found: Counter[Any] = Counter()
    for _ in range(4000):
        outcome = m.over([[2, 0], [Fraction(1)]]) if chunked else m(scores)
        found[cell(tuple(outcome), 1)] += 1
    expected = {}
    for first, second in permutations(range(3), 2):
        left = [scores[i] for i in range(3) if i != first]
        place = [i for i in range(3) if i != first].index(second)
        for ours, theirs in product(range(2), repeat=2):
            expected[(first, ours), (second, theirs)] = capped(
                "gumbel", scores, ((first, ours),), 1
            ) * capped("gumbel", left, ((place, theirs),), 1)
    assert not rejects([found[each] for each in expected], list(expected.values()))
    at_once = {each: float(probability_from(scores, each)) for each in expected}
    assert rejects([found[each] for each in expected], list(at_once.values()))


def probability_from(scores: list[int], outcome: tuple[tuple[int, int], ...]) -> Fraction:
    """The probability if all noise were drawn once; gaps of 1 or more are one cell."""
    order = tuple(winner for winner, _ in outcome)
    total = Fraction(0)
    for corner in product((0, 1), repeat=2):
        leads, sign = [], 1
        for (_, gap), upper in zip(outcome, corner, strict=True):
            if gap and upper:
                sign = 0
            leads.append(Fraction(gap + upper))
        total += sign * (-1) ** sum(corner) * beyond("gumbel", scores, order, leads, ONE).low
    return total


# What is given.


def test_gaps_are_exact_multiples_of_the_grid_rounded_down() -> None:
    quiet = Fraction(1, 10**6)
    assert gaps(k=2, scale=quiet, grid="5/4")([10, 0, 4]) == [(0, Fraction(5)), (2, Fraction(15, 4))]
    assert gaps(k=1, scale=quiet, grid=5, optimize="min")([10, -7, 4]) == [(1, Fraction(10))]
    assert gaps(k=2, scale=0, grid=4)([10, 1, 4]) == [(0, Fraction(4)), (2, Fraction(0))]
    assert gaps(k=1, scale=0)([3, 3]) == [(0, Fraction(0))]
    peeled = gaps(k=2, scale=quiet, measure=zero_concentrated_divergence(), grid=4)
    assert peeled([10, 1, 4]) == [(0, Fraction(4)), (2, Fraction(0))]
    many = np.zeros(30_000, dtype=np.int64)
    many[[5, 77, 29_999]] = [10**6, 3 * 10**6, 2 * 10**6]
    assert [i for i, _ in gaps("laplace", 3, 1)(many)] == [77, 29_999, 5]


def test_candidates_that_may_not_win_are_left_out() -> None:
    quiet = Fraction(1, 10**6)
    scores = np.array([-np.inf, 1.0, 0.0])
    for optimize, winner in (("max", 1), ("min", 2)):
        assert gaps(scale=quiet, grid="1/2", optimize=optimize)(scores)[0][0] == winner  # type: ignore[arg-type]
    peeled = gaps(k=2, scale=quiet, measure=zero_concentrated_divergence(), optimize="min")
    assert [i for i, _ in peeled(np.array([5.0, -np.inf, 1.0, 0.0]))] == [3, 2]
    assert [i for i, _ in peeled([5, -math.inf, Fraction(1), 0])] == [3, 2]
    mixed = peeled.over([np.array([5, 9]), np.array([-np.inf, 1.0])])
    assert [i for i, _ in mixed] == [3, 0]


RUNNER_UP = "a gap needs a runner-up"


def test_a_gap_needs_a_runner_up() -> None:
    for size, k in ((3, 3), (1, 1)):
        with pytest.raises(InvalidParameter, match="so that there is a runner-up"):
            make_report_noisy_top_k_with_gaps(
                vector_domain(atom_domain(int), size), range_distance(), max_divergence(), k, 1, 1
            )
    for m in (gaps(k=2), gaps(k=2, measure=zero_concentrated_divergence())):
        for scores in ([1, 2], np.array([1.0, 2.0, -np.inf]), [Fraction(1), 2, -math.inf]):
            with pytest.raises(OutsideDomain, match=RUNNER_UP):
                m(scores)
        with pytest.raises(OutsideDomain, match=RUNNER_UP):
            m.over([[1], [2]])
        with pytest.raises(OutsideDomain, match="NaN"):
            m(np.array([1.0, 2.0, math.nan]))
    least = gaps(k=2, measure=zero_concentrated_divergence(), optimize="min")
    with pytest.raises(OutsideDomain, match=RUNNER_UP):
        least(np.array([1.0, 2.0, -np.inf]))


def test_what_has_no_proved_price_is_refused() -> None:
    def make(metric: Any, measure: Any, noise: Any, k: int = 1, grid: Any = 1) -> Measurement:
        return make_report_noisy_top_k_with_gaps(SCORES, metric, measure, k, 1, grid, noise=noise)

    rho = zero_concentrated_divergence()
    for metric, measure, noise, sentence in (
        (range_distance(), range_divergence(), None, "no proved price in range divergence"),
        (range_distance(), rho, "exponential", "no proved price in this measure"),
        (range_distance(), max_divergence(), "laplace", "l1_distance"),
        (range_distance(), max_divergence(), "gauss", "noise must be"),
    ):
        with pytest.raises(InvalidParameter, match=sentence):
            make(metric, measure, noise)
    for grid in (0, -1, "inf"):
        with pytest.raises(InvalidParameter, match="grid must be"):
            make(range_distance(), rho, None, grid=grid)


# The price.


def test_gaps_are_free_in_pure_privacy_and_cost_the_logistic_pair_otherwise() -> None:
    for k in (1, 2, 5):
        assert gaps(k=k, scale="3/2").map(1) == gaps("gumbel", k, "3/2").map(1) == k * TWO_THIRDS
        rho: Any = gaps(k=k, scale="3/2", measure=zero_concentrated_divergence()).map(1)
        assert rho == k * logistic_rho(TWO_THIRDS) > k * bounded_range_rho(TWO_THIRDS)
        curve: Any = gaps(k=k, scale="3/2", measure=renyi_divergence()).map(1)
        assert curve(3) == k * LogisticRenyi(TWO_THIRDS)(Fraction(3))
        assert gaps("laplace", k, "3/2").map(1) == TWO_THIRDS
        assert gaps("laplace", k, "3/2", measure=zero_concentrated_divergence()).map(1) == laplace_rho(
            TWO_THIRDS
        )
    monotone = make_report_noisy_top_k_with_gaps(SCORES, linf_distance(), max_divergence(), 2, 1, 1)
    assert monotone.map(1) == 4
    profile: Any = gaps(measure=approximate(max_divergence())).map(1)
    assert profile.delta(1) == 0
    assert gaps(scale=0).map(1) == math.inf


MOVES = {"one-up": (1, 0, 0), "others-up": (0, 1, 1), "two-up": (1, 1, 0), "last-up": (0, 0, 1)}


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("moves", MOVES.values(), ids=MOVES)
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("noise", ["exponential", "gumbel"])
def test_no_neighbours_lose_more_than_the_pure_price_in_any_cell(
    noise: Noise, k: int, moves: tuple[int, ...]
) -> None:
    grid = Fraction(1, 2)
    for scores in ((0, 0, 0), (2, 0, 1)):
        theirs = tuple(x + move for x, move in zip(scores, moves, strict=True))
        for outcome in few_cells(3, k, grid, 4):
            before = probability(noise, scores, outcome, grid=grid)
            after = probability(noise, theirs, outcome, grid=grid)
            assert before.low <= math.exp(k + 1e-9) * float(after.high)
            assert after.low <= math.exp(k + 1e-9) * float(before.high)


def test_the_pure_price_is_reached() -> None:
    outcome: Outcome = ((0, Fraction(0)), (1, Fraction(0)))
    far, moved = (0, 0, 12), (0, 0, 13)
    lost = probability("exponential", far, outcome).low / probability("exponential", moved, outcome).high
    assert math.log(lost) == pytest.approx(2, abs=1e-3)


def kullback_leibler(scores: Any, moves: Any) -> float:
    """Of winner and gap with Gumbel noise: p is uniform on (0, p_i) for each winner, by quadrature."""
    weights, theirs = np.exp(scores), np.exp(np.add(scores, moves))
    total = 0.0
    v = (np.arange(20_000) + 0.5) / 20_000
    for ours, moved in zip(weights, theirs, strict=True):
        rest, rest_moved = weights.sum() - ours, theirs.sum() - moved
        p = v * ours / weights.sum()
        odds = p / (1 - p) * (moved / ours) * (rest / rest_moved)
        q = odds / (1 + odds)
        total += (ours / weights.sum()) * np.log(p * (1 - p) / (q * (1 - q))).mean()
    return total


def test_rho_of_the_winner_alone_would_be_passed_and_that_of_the_pair_is_reached_by_two() -> None:
    """Two candidates, eta 1: 0.163953 is above 1/8 and above the constant of bounded range."""
    found = kullback_leibler([0.3, 0.0], [1.0, 0.0])
    assert found == pytest.approx(0.163953, abs=2e-5)
    assert found > 1 / 8 > bounded_range_rho(ONE)
    assert found <= logistic_rho(ONE) + 1e-5
    generator = np.random.default_rng(5)
    for n in (3, 4, 5):
        for _ in range(20):
            scores, moves = generator.normal(size=n) * 2, generator.integers(0, 2, n)
            assert kullback_leibler(scores, moves) <= float(logistic_rho(ONE)) + 1e-5
