"""What repeated runs cost: never below exact worst cases, reached where tight, and beside dp-accounting.

What is under test: dpselect.accounting.repetition.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import dp_accounting  # type: ignore[import-untyped] # it comes without types
import pytest
from dp_accounting.rdp import RdpAccountant  # type: ignore[import-untyped] # the same

from dpselect.accounting.convert import LaplaceRenyi, RenyiProfile
from dpselect.accounting.repetition import ONE_RUN_ORDERS, RepeatedProfile, log_odds_shift, probability_shift
from dpselect.exact.enclosures import Ball, enclose
from dpselect.mechanisms import (
    geometric,
    logarithmic,
    make_best_of_random_count,
    poisson,
    truncated_negative_binomial,
)
from dpselect.mechanisms.repetition_counts import Count, Poisson
from dpselect.privacy import (
    Measurement,
    absolute_distance,
    atom_domain,
    max_divergence,
    renyi_divergence,
)
from dpselect.privacy.curves import RenyiCurve
from dpselect.privacy.profiles import PrivacyProfile
from tests.mechanisms.small_programs import (
    APPROXIMATE,
    Released,
    always,
    best_of,
    hockey_stick,
    max_divergence_between,
    program,
    renyi_between,
)

ALMOST = 1 - Fraction(1, 2**48)
"""Truths are known to about 2**-64, relatively."""

COUNTS: list[Count] = [
    geometric("1/10"),
    logarithmic("1/5"),
    truncated_negative_binomial("-1/2", "1/10"),
    truncated_negative_binomial(3, "1/3"),
    poisson("1/2"),
    poisson(1),
    poisson(5),
]
each_count = pytest.mark.parametrize("count", COUNTS, ids=str)

# Weights on two neighbours, worst outcome first: releases are ranked in this order.
PAIRS: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "two-point": ((3, 1), (1, 3)),
    "three-point": ((69, 30, 1), (38, 60, 2)),
    "far": ((900, 90, 10), (10, 90, 900)),
    "near": ((45, 50, 5), (46, 48, 6)),
    "uneven": ((500, 3, 497), (498, 9, 493)),
}
each_pair = pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)


def laws(count: Count, pair: tuple[tuple[int, ...], ...]) -> list[list[Fraction]]:
    """Give the exact laws of the best on the two neighbours, without what has probability zero."""
    both = (
        best_of(count, [Fraction(w, sum(weights)) for w in weights], range(len(weights))) for weights in pair
    )
    return [law if isinstance(count, Poisson) else law[:-1] for law in both]


def priced(count: Count, pair: tuple[tuple[int, ...], ...], measure: Any = None) -> Any:
    ours, theirs = pair
    releases = [(i, i) for i in range(len(ours))]
    return make_best_of_random_count(program(releases, ours, theirs, measure), count).map(1)


# Never below the truth.


@each_count
@each_pair
def test_the_pure_price_is_never_below_the_truth(count: Count, pair: Any) -> None:
    assert float(priced(count, pair)) >= max_divergence_between(*laws(count, pair))


@each_count
@each_pair
def test_the_curve_is_never_below_the_truth(count: Count, pair: Any) -> None:
    curve = priced(count, pair, renyi_divergence())
    for alpha in (Fraction(101, 100), Fraction(3, 2), Fraction(2), Fraction(5), Fraction(64)):
        p, q = laws(count, pair)
        assert curve(alpha) >= renyi_between(p, q, alpha) * ALMOST


@each_count
@each_pair
def test_the_profile_is_never_below_the_truth(count: Count, pair: Any) -> None:
    profile = priced(count, pair, APPROXIMATE)
    p, q = laws(count, pair)
    for epsilon in [Fraction(i, 4) for i in range(16)]:
        assert profile.delta(epsilon) >= hockey_stick(p, q, epsilon) * ALMOST
    for delta in ("1/10", "1/1000"):
        assert hockey_stick(p, q, profile.epsilon(delta)) * ALMOST <= Fraction(delta)


@each_count
def test_a_rare_failure_becomes_as_often_more_likely_as_there_are_runs(count: Count) -> None:
    """Something that one neighbour alone can release, and that is best: delta grows by the mean, and does."""
    pair = ((10**6 - 1, 1), (10**6, 0))
    profile = priced(count, pair, APPROXIMATE)
    p, q = laws(count, pair)
    true = hockey_stick(p, q, Fraction(5))
    assert true * ALMOST <= profile.delta(5) <= true * Fraction(1001, 1000)
    assert profile.delta(5) == count.mean / 10**6
    assert profile.epsilon(true / 2) == math.inf
    assert profile.epsilon(true * 2) < 1


@each_pair
def test_the_poisson_curve_is_nearly_reached_where_a_run_is_rare(pair: Any) -> None:
    curve = priced(poisson("1/100"), pair, renyi_divergence())
    p, q = laws(poisson("1/100"), pair)
    for alpha in (Fraction(2), Fraction(64)):
        assert curve(alpha) <= renyi_between(p, q, alpha) * Fraction(102, 100)


# Tight where it is said to be.


@pytest.mark.parametrize(
    "count", [count for count in COUNTS if count.mean > 1] + [poisson("1/2"), geometric("1/100")], ids=str
)
def test_the_pure_price_is_reached(count: Count) -> None:
    """A rare outcome between bad and good, which split at 1 / (1 + e^epsilon), with e^epsilon = 3."""
    many, rare = 10**12, 10**3
    pair = ((3 * many, 3 * rare, many + rare), (many, rare, 3 * many + 3 * rare))  # bad, rare, good
    true = max_divergence_between(*laws(count, pair))
    price = float(priced(count, pair))
    assert true <= price <= true * (1 + 1e-7)


@pytest.mark.parametrize(
    ("count", "figure"), [(geometric("1/100"), 2.953704234), (poisson(10), 5.621171573)], ids=str
)
def test_the_pure_price_has_the_figures_of_the_formula(count: Count, figure: float) -> None:
    price = make_best_of_random_count(always((1, "x")), count).map(1)
    assert float(price) == pytest.approx(figure, abs=1e-9)  # type: ignore[arg-type]


@pytest.mark.parametrize(("shape", "most"), [(1, 3), (0, 2), ("-1/2", "3/2"), (2, 4)])
def test_the_pure_price_is_below_that_of_the_papers_and_comes_close_for_many_runs(
    shape: Any,
    most: Any,
) -> None:
    count = truncated_negative_binomial(shape, "1e-9")
    price = make_best_of_random_count(always((1, "x"), Fraction(1, 7)), count).map(1)
    assert Fraction(most) / 7 * (1 - Fraction(1, 10**8)) < price < Fraction(most) / 7  # type: ignore[operator]


def test_prices_without_a_bound_stay_without() -> None:
    for count in (geometric("1/2"), poisson(2)):
        assert RenyiCurve(count.renyi(RenyiCurve({})))(2) == math.inf
        assert RenyiCurve(count.renyi(RenyiCurve({8: 0})))(4) == 0
        boundless = Measurement(
            atom_domain(int), absolute_distance(), max_divergence(), Released((1, "x")), lambda _: math.inf
        )
        assert make_best_of_random_count(boundless, count).map(1) == math.inf
        profile = PrivacyProfile(RepeatedProfile(PrivacyProfile({}), count))
        assert profile.delta(5) == 1
        assert profile.epsilon("1/2") == math.inf


def test_a_run_that_hardly_hides_anything_still_has_a_price() -> None:
    for count in (geometric("1/2"), poisson(2)):
        for one in (50, 2000):
            curve = RenyiCurve(count.renyi(RenyiCurve({8: one})))
            assert one < curve(2) < one + 20


def test_a_curve_known_at_one_order_only_bounds_those_below_it() -> None:
    for count in (geometric("1/2"), poisson(2)):
        curve = RenyiCurve(count.renyi(RenyiCurve({8: 1})))
        assert 0 < curve("3/2") <= curve(2) < math.inf
        assert curve(9) == math.inf


# The pieces.

GAMMAS = [Fraction(1, 100), Fraction(1, 3), Fraction(9, 10)]
DELTAS = [Fraction(0), Fraction(1, 10**6), Fraction(1, 10), Fraction(1)]


@pytest.mark.parametrize("gamma", GAMMAS, ids=str)
@pytest.mark.parametrize("delta", DELTAS, ids=str)
def test_the_shift_of_log_odds_bounds_all_tests_and_one_reaches_it(gamma: Fraction, delta: Fraction) -> None:
    """Over all s and the largest s' that (epsilon, delta) allows."""
    for epsilon in (0.0, 0.01, 1.0, 6.0):
        e = math.exp(epsilon)
        ratios = []
        for step in range(301):
            s = step / 300 if delta < 1 else 0.0
            s = (1 - float(delta)) / (1 + e) if step == 300 else s
            most = min(e * s + float(delta), 1 - (1 - s - float(delta)) / e, 1.0)
            ratios.append((gamma + (1 - gamma) * Fraction(most)) / (gamma + (1 - gamma) * Fraction(s)))
        bound = float(log_odds_shift(gamma, Fraction(epsilon), delta))
        assert math.log(max(ratios)) == pytest.approx(bound, abs=1e-9)


def test_the_shift_of_log_odds_is_never_above_its_plain_form() -> None:
    """The plain form is ln(e^epsilon + (1 - gamma) delta / gamma)."""
    for gamma in GAMMAS:
        for delta in DELTAS:
            for epsilon in (0.0, 0.01, 1.0, 6.0):
                plain = math.log(math.exp(epsilon) + float((1 - gamma) * delta / gamma))
                assert float(log_odds_shift(gamma, Fraction(epsilon), delta)) <= plain * (1 + 1e-12)


def test_the_shift_of_probabilities_is_the_total_variation() -> None:
    assert probability_shift(Fraction(0), Fraction(1, 3)) == Fraction(1, 3)
    assert float(probability_shift(Fraction(1), Fraction(0))) == pytest.approx(math.tanh(0.5))
    assert float(probability_shift(Fraction(1), Fraction(1, 10))) == pytest.approx(
        (math.e - 0.8) / (math.e + 1)
    )
    assert probability_shift(Fraction(5), Fraction(1)) == 1


def delta_by(order: Fraction, bound: Fraction, epsilon: Fraction) -> Fraction:
    """Canonne, Kamath & Steinke 2020, Proposition 12."""

    def delta(a: Ball, d: Ball, e: Ball) -> Ball:
        return ((a - 1) * (d - e + (1 - 1 / a).log()) - a.log()).exp()

    return enclose(delta, order, bound, epsilon).high


def papernot_steinke(curve: RenyiCurve, mean: Fraction, alpha: Fraction) -> tuple[Fraction, Fraction]:
    """Theorem 6 as printed, and the form that is safe for every mean; delta by the best order of a grid."""
    epsilon_hat = enclose(lambda a: (a / (a - 1)).log(), alpha).low
    delta = min(
        Fraction(1), *(delta_by(order, Fraction(curve(order)), epsilon_hat) for order in ONE_RUN_ORDERS)
    )

    def safe(a: Ball, e: Ball, d: Ball, m: Ball) -> Ball:
        return ((-m).exp() + m * ((a - 1) * (e + m * d)).exp()).log() / (a - 1)

    one = Fraction(curve(alpha))
    printed = one + mean * delta + enclose(lambda m, a: m.log() / (a - 1), mean, alpha).high
    return printed, enclose(safe, alpha, one, delta, mean).high


@pytest.mark.parametrize("mean", ["1/100", "1/2", "1", "3", "50"])
def test_the_poisson_curve_is_never_above_that_of_the_paper_or_the_safe_one(mean: str) -> None:
    gaussian = RenyiCurve(lambda alpha: alpha / 18)
    curve = RenyiCurve(poisson(mean).renyi(gaussian))
    for alpha in (Fraction(11, 10), Fraction(2), Fraction(8), Fraction(64)):
        printed, safe = papernot_steinke(gaussian, Fraction(mean), alpha)
        rounding = 1 + Fraction(1, 2**50)
        assert 0 < curve(alpha) <= safe * rounding
        if Fraction(mean) >= 1:
            assert curve(alpha) <= printed * rounding
    if mean == "1/100":
        assert papernot_steinke(gaussian, Fraction(mean), Fraction(11, 10))[0] < 0


# Beside dp-accounting.

GRID = [float(order) for order in ONE_RUN_ORDERS]
DP_EVENTS: dict[str, tuple[Any, RenyiCurve]] = {
    "gaussian": (dp_accounting.GaussianDpEvent(4.0), RenyiCurve(lambda alpha: alpha / 32)),
    "laplace": (dp_accounting.LaplaceDpEvent(5.0), RenyiCurve(LaplaceRenyi(Fraction(1, 5)))),
}


def theirs(event: Any, mean: float, shape: float, deltas: Sequence[float]) -> list[float]:
    accountant = RdpAccountant(GRID)
    accountant.compose(dp_accounting.dp_event.RepeatAndSelectDpEvent(event, mean, shape))
    return [accountant.get_epsilon(delta) for delta in deltas]


def ours(curve: RenyiCurve, count: Count, deltas: Sequence[float]) -> list[float]:
    profile = RenyiProfile(RenyiCurve(count.renyi(curve)), 1, Fraction(10**9))
    return [float(profile.epsilon(Fraction(repr(delta)))) for delta in deltas]


DELTAS_OF_USE = [1e-6, 1e-3]


@pytest.mark.parametrize("name", DP_EVENTS)
@pytest.mark.parametrize(
    "count",
    [geometric("1/10"), geometric("1/300"), logarithmic("1/50"), truncated_negative_binomial(2, "1/9")],
    ids=str,
)
def test_the_curve_is_that_of_dp_accounting_for_the_negative_binomial_family(name: str, count: Any) -> None:
    """The same theorem; ours is converted at the best order, theirs at the best of a grid."""
    event, curve = DP_EVENTS[name]
    found = ours(curve, count, DELTAS_OF_USE)
    reference = theirs(event, float(count.mean), float(count.shape), DELTAS_OF_USE)
    for our, their in zip(found, reference, strict=True):
        assert 0.99 * their < our < their * (1 + 1e-6)


@pytest.mark.parametrize(("name", "mean"), [("gaussian", 30), ("laplace", 1)])
def test_the_curve_of_a_poisson_count_is_not_above_that_of_dp_accounting(name: str, mean: int) -> None:
    """Theirs is Theorem 6 as printed; ours subtracts what the outcomes below the best leave unused."""
    event, curve = DP_EVENTS[name]
    for mine, other in zip(
        ours(curve, poisson(mean), DELTAS_OF_USE), theirs(event, mean, math.inf, DELTAS_OF_USE), strict=True
    ):
        assert 0.5 * other < mine <= other * (1 + 1e-9)


def test_dp_accounting_refuses_a_mean_below_one_and_we_price_it() -> None:
    event, curve = DP_EVENTS["gaussian"]
    with pytest.raises(ValueError, match="Mean"):
        theirs(event, 0.5, math.inf, [1e-6])
    assert 0 < ours(curve, poisson("1/2"), [1e-6])[0] < ours(curve, poisson(1), [1e-6])[0]


def test_the_profile_beats_the_curve_on_gaussian_noise() -> None:
    """Sigma 3, delta 1e-6, geometric with mean 10: 3.033 by Renyi, 2.654 by the profile."""

    def delta(epsilon: Fraction) -> Fraction:
        e, s = float(epsilon), 3.0
        above = [0.5 * math.erfc((e * s + sign * 0.5 / s) / math.sqrt(2)) for sign in (-1, 1)]
        return Fraction(max(0.0, above[0] - math.exp(e) * above[1]) * (1 + 1e-9)) if e < 20 else Fraction(0)

    profile = PrivacyProfile(RepeatedProfile(PrivacyProfile(delta), geometric("1/10")))
    by_curve = ours(RenyiCurve(lambda alpha: alpha / 18), geometric("1/10"), [1e-6])[0]
    assert by_curve == pytest.approx(3.033, abs=2e-3)
    assert float(profile.epsilon("1e-6")) < 2.654 < by_curve
