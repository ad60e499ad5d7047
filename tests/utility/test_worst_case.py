"""dpselect.utility.worst_case: no scores are worse than its worst cases, and some are as bad."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from fractions import Fraction
from typing import cast

import mpmath  # type: ignore[import-untyped] # it comes without types
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpselect.exact.enclosures import Enclosure, log
from dpselect.exact.rounding import rounded_up
from dpselect.utility import worst_case
from dpselect.utility.enclosed_laws import Order, enclosed_law
from dpselect.utility.laplace_law import laplace_law
from dpselect.utility.worst_case import FAR, Mechanism, Noise, distance, failure, mean_distance
from tests.exact.laws import permute_and_flip, softmax
from tests.mechanisms.closed_forms import exponential_top_k, gumbel_top_k

NOISES: list[Noise] = ["exponential", "gumbel"]
MECHANISMS: list[Mechanism] = ["exponential", "gumbel", "lecture"]
ONE = Fraction(1)
BETAS = [Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10), Fraction(1, 10**9)]


def shortfall(order: Order, scores: Sequence[Fraction]) -> Fraction:
    """Measure how far the worst winner lies below the k-th best score."""
    return sorted(scores, reverse=True)[len(order) - 1] - min(scores[i] for i in order)


def failing(law: dict[Order, Enclosure], scores: Sequence[Fraction], t: Fraction) -> Enclosure:
    """Add up the outcomes whose shortfall is t or more: for t > 0 the limit of those that are above t."""
    bad = [probability for order, probability in law.items() if shortfall(order, scores) >= t]
    return Enclosure(sum((p.low for p in bad), Fraction(0)), sum((p.high for p in bad), Fraction(0)))


def random_scores(n: int, seed: int) -> list[Fraction]:
    dice = random.Random(seed)
    return [-Fraction(dice.randrange(0, 60), 10) for _ in range(n)]


CASES = [(n, k, seed) for n in (2, 3, 4, 5) for k in range(1, min(n, 3) + 1) for seed in range(3)]


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(("n", "k", "seed"), CASES)
def test_no_scores_fail_more_often_than_the_worst_case(noise: Noise, n: int, k: int, seed: int) -> None:
    scores = random_scores(n, seed)
    law = enclosed_law(scores, noise=noise, scale=1, k=k)
    for t in {shortfall(order, scores) for order in law} - {Fraction(0)}:
        assert failing(law, scores, t).low <= failure(noise, t, n, k).high


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(("n", "k"), [(2, 1), (5, 1), (6, 1), (4, 2), (5, 2), (5, 3), (5, 4)])
@pytest.mark.parametrize("t", [Fraction(1, 3), Fraction(2), Fraction(7)])
def test_equal_rivals_at_the_distance_attain_the_worst_case(
    noise: Noise, n: int, k: int, t: Fraction
) -> None:
    scores = [Fraction(0)] * k + [-t] * (n - k)
    found, claimed = (
        failing(enclosed_law(scores, noise=noise, scale=1, k=k), scores, t),
        failure(noise, t, n, k),
    )
    assert found.low <= claimed.high
    assert claimed.low <= found.high
    assert found.high - found.low < found.high / 2**50


def test_the_worst_case_agrees_with_laws_from_other_formulas() -> None:
    t, scale = Fraction(3, 2), Fraction(1)
    single = [Fraction(0), -t, -t, -t]
    for noise, law in (("gumbel", softmax), ("exponential", permute_and_flip)):
        best = law(single, scale)[0]
        claimed = failure(noise, t, 4)  # type: ignore[arg-type] # a pair of literals is a pair of strings
        assert best.low <= 1 - claimed.low
        assert 1 - claimed.high <= best.high
    double = [Fraction(0), Fraction(0), -t, -t]
    for noise, top in (("gumbel", gumbel_top_k), ("exponential", exponential_top_k)):
        found = failing(top(double, 2, scale), double, t)
        claimed = failure(noise, t, 4, 2)  # type: ignore[arg-type] # the same
        assert found.low <= claimed.high
        assert claimed.low <= found.high


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize(
    ("n", "k"), [(1, 1), (2, 1), (2, 2), (3, 2), (7, 1), (7, 7), (100, 1), (100, 3), (10**6, 20)]
)
def test_at_the_distance_a_failure_is_as_rare_as_asked(
    mechanism: Mechanism, beta: Fraction, n: int, k: int
) -> None:
    t = distance(mechanism, n, k, beta)
    noises: Sequence[Noise] = NOISES if mechanism == "lecture" else [cast("Noise", mechanism)]
    for noise in noises:
        assert failure(noise, t, n, k).low <= beta


def laplace_failure(t: float, n: int, k: int) -> float:
    """P(one of n - k Laplace numbers exceeds one of k others by more than t), by quadrature."""

    def below(z: float) -> float:
        return math.exp(z) / 2 if z < 0 else 1 - math.exp(-z) / 2

    def success(z: float) -> float:
        return k * math.exp(-abs(z)) / 2 * (1 - below(z)) ** (k - 1) * below(z + t) ** (n - k)

    pieces = sorted({-60 - t, -2 * t, -t, 3 - t, 6 - t, -t / 2, 0.0, 1.0, 4.0, 60.0})
    return 1 - float(mpmath.quad(success, pieces))


@pytest.mark.parametrize("beta", [Fraction(9, 10), Fraction(1, 4), Fraction(1, 100), Fraction(1, 10**5)])
@pytest.mark.parametrize(("n", "k"), [(2, 1), (3, 1), (3, 2), (40, 1), (40, 30), (2000, 100)])
def test_with_laplace_noise_a_failure_is_as_rare_as_asked_and_the_distance_not_far_too_large(
    beta: Fraction, n: int, k: int
) -> None:
    t = float(distance("laplace", n, k, beta))
    assert laplace_failure(t, n, k) <= beta + 1e-9
    if beta <= Fraction(1, 100):
        assert laplace_failure(t - 1.5, n, k) > beta


@pytest.mark.parametrize("beta", [Fraction(9, 10), Fraction(1, 2), Fraction(1, 100), Fraction(1, 10**5)])
@pytest.mark.parametrize("n", [2, 3, 40, 2000, 10**6])
def test_for_one_winner_with_laplace_noise_no_smaller_distance_will_do(n: int, beta: Fraction) -> None:
    t = float(distance("laplace", n, 1, beta))
    if beta >= Fraction(n - 1, n):
        assert t == 0
    else:
        assert laplace_failure(t, n, 1) == pytest.approx(float(beta), rel=1e-6)
        assert float(worst_case.laplace_failure(Fraction(t), n, 1)) == pytest.approx(float(beta), rel=1e-9)


@pytest.mark.parametrize(("n", "gap"), [(10**6, 8.0), (10**6, 9.7), (1000, 2.7), (10**9, 16.5)])
def test_rivals_of_much_weight_win_nearly_always_with_laplace_noise(n: int, gap: float) -> None:
    """Of 64 rivals by weight or more the failure is not computed: it is above 9/10."""
    assert laplace_failure(gap, n, 1) > 0.9
    assert float(distance("laplace", n, 1, Fraction(9, 10))) > gap


def test_the_distances_of_laplace_noise_are_the_sums_over_pairs_and_over_both_reaches() -> None:
    """Two candidates: exp(-t) (2 + t) / 4 = 1/100 at t = 5.19182; two thousand, 100 winners: 18.39 scales."""
    assert float(distance("laplace", 2, 1, Fraction(1, 100))) == pytest.approx(5.19182, abs=1e-5)
    assert float(distance("laplace", 2000, 100, Fraction(1, 100))) == pytest.approx(18.38863, abs=1e-5)
    assert distance("laplace", 2, 1, Fraction(1, 2)) == distance("laplace", 5, 5, Fraction(1, 100)) == 0
    far = distance("laplace", 10**300, 10**150, Fraction(9, 10))
    assert float(far) == pytest.approx(450 * math.log(10) - 2 * math.log(0.9))


@pytest.mark.parametrize("n", [2, 3, 30])
def test_the_mean_distance_of_laplace_noise_is_not_exceeded(n: int) -> None:
    for gap in (0.5, 1.0, 2.0, 3.0, 4.0):
        found = laplace_law([gap, *[0.0] * (n - 1)], scale=1)
        assert found.expected_error <= mean_distance("laplace", n)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("n", [2, 3, 100, 12_345, 10**9])
def test_for_one_winner_no_smaller_distance_will_do(noise: Noise, beta: Fraction, n: int) -> None:
    t = distance(noise, n, 1, beta)
    if t == 0:
        assert beta >= Fraction(n - 1, n)
    else:
        assert failure(noise, t * (1 - Fraction(1, 2**58)), n, precision=256).low > beta


@pytest.mark.parametrize("beta", [Fraction(1, 100), Fraction(1, 10**9)])
@pytest.mark.parametrize(("n", "k"), [(3, 2), (100, 3), (100, 99), (1000, 10)])
def test_for_several_winners_the_exponential_bound_is_close(beta: Fraction, n: int, k: int) -> None:
    t = distance("exponential", n, k, beta)
    factor = log(1 + Fraction(1, k)).high  # the union over rivals ignores a factor of k / (k + 1)
    assert failure("exponential", t - factor - Fraction(1, 50), n, k).low > beta


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("beta", BETAS)
def test_the_lecture_is_never_below_the_sharp_figures(noise: Noise, beta: Fraction) -> None:
    for n, k in [(2, 1), (3, 2), (100, 1), (100, 7), (10**6, 100)]:
        assert distance("lecture", n, k, beta) >= distance(noise, n, k, beta)
    assert mean_distance("lecture", 100) > mean_distance(noise, 100)


@given(st.integers(2, 200), st.integers(1, 20), st.fractions(Fraction(1, 1000), Fraction(99, 100)))
@settings(max_examples=60, deadline=None)
def test_more_candidates_never_help(n: int, k: int, beta: Fraction) -> None:
    k = min(k, n)
    for mechanism in MECHANISMS:
        assert distance(mechanism, n, k, beta) <= distance(mechanism, n + 1, k, beta)
        assert mean_distance(mechanism, n) < mean_distance(mechanism, n + 1)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_where_all_win_none_is_behind(mechanism: Mechanism) -> None:
    assert distance(mechanism, 1, 1, Fraction(1, 100)) == distance(mechanism, 5, 5, Fraction(1, 100)) == 0
    assert mean_distance(mechanism, 1) == 0
    for noise in NOISES:
        assert failure(noise, Fraction(0), 5, 5) == Enclosure(Fraction(0), Fraction(0))


@pytest.mark.parametrize("noise", NOISES)
def test_at_distance_zero_all_sets_of_winners_are_alike(noise: Noise) -> None:
    low, high = failure(noise, Fraction(0), 6, 2)
    assert low <= Fraction(14, 15) <= high  # one set of 15


@pytest.mark.parametrize("noise", NOISES)
def test_far_away_a_bound_stands_for_the_value(noise: Noise) -> None:
    near, far = failure(noise, Fraction(FAR), 10, 2), failure(noise, Fraction(FAR) + 1, 10, 2)
    assert 0 < near.low <= near.high < Fraction(1, 2**5000)
    assert far.low == 0 < far.high < near.high * 2


# The mean. The figures are those of McKenna & Sheldon's expression and of Lambert's W, four digits.


@pytest.mark.parametrize(
    ("n", "gumbel", "exponential"),
    [
        (2, ".27846", ".18394"),
        (10, "1.1010", ".89323"),
        (100, "2.6287", "2.4279"),
        (10**4, "6.3602", "6.2399"),
    ],
)
def test_the_largest_mean_is_that_of_the_literature(n: int, gumbel: str, exponential: str) -> None:
    assert abs(mean_distance("gumbel", n) - Fraction(gumbel)) < Fraction(1, 10**4)
    assert abs(mean_distance("exponential", n) - Fraction(exponential)) < Fraction(1, 10**4)


def mean_of(noise: Noise, scores: Sequence[Fraction]) -> Fraction:
    """Bound the expected distance from the best score from below."""
    law = enclosed_law(scores, noise=noise, scale=1)
    return sum((probability.low * -scores[i] for (i,), probability in law.items()), Fraction(0))


@pytest.mark.parametrize("noise", NOISES)
def test_no_scores_have_a_larger_mean_and_equal_rivals_have_it(noise: Noise) -> None:
    grid = [Fraction(step, 4) for step in range(13)]
    for gaps in itertools.combinations_with_replacement(grid, 2):
        assert mean_of(noise, [Fraction(0), *(-gap for gap in gaps)]) <= mean_distance(noise, 3)
    for seed in range(40):
        scores = [Fraction(0), *random_scores(5, seed)]
        assert mean_of(noise, scores) <= mean_distance(noise, 6)
    with mpmath.workdps(30):
        for n in (2, 3, 6):
            peak = mpmath.findroot(lambda t, n=n: mpmath.diff(lambda u: u * _equal(noise, u, n), t), 1.5)
            at = Fraction(int(peak * 2**90), 2**90)
            attained = mean_of(noise, [Fraction(0), *[-at] * (n - 1)])
            assert 0 <= mean_distance(noise, n) - attained < Fraction(1, 2**60)


def _equal(noise: Noise, t: mpmath.mpf, n: int) -> mpmath.mpf:
    p = mpmath.exp(-t)
    return (n - 1) * p / (1 + (n - 1) * p) if noise == "gumbel" else 1 - (1 - (1 - p) ** n) / (n * p)


@pytest.mark.parametrize("n", [2, 3, 50, 10**7])
def test_the_figures_are_rounded_up_and_hardly_so(n: int) -> None:
    with mpmath.workdps(60):
        true = mpmath.lambertw((n - 1) / mpmath.e).real
        excess = (
            mpmath.mpf(mean_distance("gumbel", n).numerator) / mean_distance("gumbel", n).denominator / true
            - 1
        )
        assert 0 <= excess < mpmath.mpf(2) ** -60


def test_the_lectures_election_in_scales() -> None:
    doubt = Fraction(1, 100)
    assert [rounded_up(4 * distance(m, 100, 1, doubt), 2) for m in MECHANISMS] == ["34.01", "36.77", "36.85"]
