"""The maps: what a selection costs in each measure, never below the truth, and reached by some neighbours.

What is under test: dpselect.accounting.closed_forms, dpselect.accounting.renyi_orders and
dpselect.mechanisms.privacy_maps, through the constructors
dpselect.mechanisms.report_noisy_max_gumbel, dpselect.mechanisms.report_noisy_top_k,
dpselect.mechanisms.permute_and_flip and dpselect.mechanisms.exponential.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped] # it comes without types
import pytest

from dpselect.accounting import convert
from dpselect.accounting.closed_forms import (
    BoundedRangeProfile,
    BoundedRangeRenyi,
    LaplaceProfile,
    LaplaceRenyi,
    laplace_rho,
)
from dpselect.accounting.guarantees import BoundedRange
from dpselect.accounting.renyi_orders import ORDERS, RenyiProfile
from dpselect.mechanisms import (
    make_exponential_mechanism,
    make_permute_and_flip,
    make_report_noisy_max,
    make_report_noisy_max_gumbel,
    make_report_noisy_top_k,
)
from dpselect.privacy import (
    ZCDP,
    Measurement,
    approximate,
    atom_domain,
    linf_distance,
    max_divergence,
    range_distance,
    range_divergence,
    renyi_divergence,
    vector_domain,
    zero_concentrated_divergence,
)
from dpselect.privacy.profiles import PrivacyProfile
from tests.mechanisms.closed_forms import gumbel_top_k

SCORES = vector_domain(atom_domain(float))
APPROXIMATE = approximate(max_divergence())
ONE = Fraction(1)
ETAS = [Fraction(1, 10), Fraction(1, 2), ONE, Fraction(4), Fraction(30)]
ALPHAS = [Fraction(101, 100), Fraction(3, 2), Fraction(2), Fraction(4), Fraction(32), Fraction(500)]


def top_k(measure: Any, k: int, scale: Any, size: int | None = None) -> Measurement:
    domain = vector_domain(atom_domain(float), size)
    return make_report_noisy_top_k(domain, range_distance(), measure, k, scale)


def flip(measure: Any, k: int, scale: Any, size: int | None = None) -> Measurement:
    domain = vector_domain(atom_domain(float), size)
    return make_permute_and_flip(domain, range_distance(), scale, k, privacy_measure=measure)


# The number of draws that can differ.


@pytest.mark.parametrize("maker", [top_k, flip])
@pytest.mark.parametrize(
    ("k", "size", "draws"), [(1, None, 1), (3, None, 3), (3, 4, 3), (3, 3, 2), (1, 2, 1)]
)
def test_max_divergence_costs_eta_for_each_draw_that_can_differ(
    maker: Callable[..., Measurement], k: int, size: int | None, draws: int
) -> None:
    assert maker(max_divergence(), k, Fraction(7, 3), size).map(2) == draws * Fraction(6, 7)


@pytest.mark.parametrize(
    ("k", "size", "price"), [(1, None, 1), (2, None, 3), (3, None, 5), (3, 3, 3), (2, 2, 1)]
)
def test_range_divergence_costs_an_odd_number_of_etas(k: int, size: int | None, price: int) -> None:
    assert top_k(range_divergence(), k, Fraction(7, 3), size).map(2) == price * Fraction(6, 7)


@pytest.mark.parametrize(("k", "size", "draws"), [(1, None, 1), (5, None, 5), (5, 5, 4)])
def test_zero_concentrated_divergence_costs_the_sharp_constant_of_bounded_range(
    k: int, size: int | None, draws: int
) -> None:
    """The largest Kullback-Leibler divergence at eta 6/7, which two candidates reach."""
    price = top_k(zero_concentrated_divergence(), k, Fraction(7, 3), size).map(2)
    assert isinstance(price, Fraction)
    with mpmath.workdps(40):
        eta = mpmath.mpf(6) / 7
        r = eta / mpmath.expm1(eta)
        sharp = draws * (r - 1 - mpmath.log(r))
        assert sharp <= number(price) <= sharp * (1 + mpmath.mpf(2) ** -60)
    assert price < draws * Fraction(6, 7) ** 2 / 8


def test_a_draw_is_charged_what_its_bounded_range_converts_to() -> None:
    """At eta 4 that is 1.670, where an eighth of eta squared is 2."""
    for eta in (Fraction(1, 10), ONE, Fraction(4), Fraction(50)):
        price = top_k(zero_concentrated_divergence(), 1, 1 / eta, None).price(1)
        assert price == convert(BoundedRange(eta), to=ZCDP)
    four = top_k(zero_concentrated_divergence(), 1, Fraction(1, 4), None).map(1)
    assert isinstance(four, Fraction)
    assert Fraction("1.669") < four < Fraction("1.671")


def test_the_range_of_the_two_best_is_three_etas_not_two() -> None:
    """Candidates a, b, B, C at 0, 0, 60, 120; a and C are raised by 1: L(B, b) = 2, L(C, a) = -1."""
    ours, theirs = [0, 0, 60, 120], [1, 0, 60, 121]
    p, q = gumbel_top_k(ours, 2, ONE), gumbel_top_k(theirs, 2, ONE)
    least = {order: p[order].low / q[order].high for order in p}
    most = {order: p[order].high / q[order].low for order in p}
    proved = math.log(max(least.values()) / min(most.values()))
    assert proved > 2.999
    assert top_k(range_divergence(), 2, 1).map(1) == 3
    assert max(abs(math.log(ratio)) for ratio in least.values()) <= 2
    assert top_k(max_divergence(), 2, 1).map(1) == 2


# Bounded range: the curve and the profile, against two candidates.


def two_candidates(eta: Fraction, steps: int = 2000) -> Iterator[tuple[mpmath.mpf, mpmath.mpf]]:
    """Give P(first) before and after its gap changes by eta, for gaps on a grid about the worst ones."""
    e = mpmath.mpf(eta.numerator) / eta.denominator
    for step in range(steps + 1):
        gap = -e - 8 + (e + 16) * step / steps
        yield 1 / (1 + mpmath.exp(-gap)), 1 / (1 + mpmath.exp(-gap - e))


def renyi(p: mpmath.mpf, q: mpmath.mpf, alpha: Fraction) -> mpmath.mpf:
    a = mpmath.mpf(alpha.numerator) / alpha.denominator
    return mpmath.log(p**a * q ** (1 - a) + (1 - p) ** a * (1 - q) ** (1 - a)) / (a - 1)


def number(x: Fraction) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator


@pytest.mark.parametrize("eta", ETAS, ids=str)
def test_the_renyi_curve_is_never_below_two_candidates_and_is_reached_by_some(eta: Fraction) -> None:
    with mpmath.workdps(80):
        pairs = list(two_candidates(eta, 200))
        for alpha in ALPHAS:
            bound = number(BoundedRangeRenyi(eta)(alpha))
            directly = max(max(renyi(p, q, alpha), renyi(q, p, alpha)) for p, q in pairs)
            assert directly <= bound
            assert worst_of_two(eta, alpha) <= bound <= worst_of_two(eta, alpha) * (1 + mpmath.mpf("1e-6"))


def worst_of_two(eta: Fraction, alpha: Fraction) -> mpmath.mpf:
    """The divergence at the t* of the closed form: a pair that two candidates can have."""
    e, a = number(eta), number(alpha)
    t = mpmath.log((a - 1) * (1 - mpmath.exp(-a * e)) / (a * (mpmath.exp(-e) - mpmath.exp(-a * e))))
    q = (mpmath.exp(-t) - mpmath.exp(-e)) / (1 - mpmath.exp(-e))
    return renyi(mpmath.exp(t) * q, q, alpha)


@pytest.mark.parametrize(("eta", "alpha", "figure"), [(1, 4, 0.4295334408), (4, 2, 2.6500)])
def test_the_renyi_curve_has_the_published_figures(eta: int, alpha: int, figure: float) -> None:
    assert float(top_k(renyi_divergence(), 1, 1).map(eta)(alpha)) == pytest.approx(figure, abs=6e-5)  # type: ignore[operator]


def test_several_draws_cost_several_curves() -> None:
    curve: Any = top_k(renyi_divergence(), 3, 1).map(1)
    assert curve(4) == 3 * BoundedRangeRenyi(ONE)(Fraction(4))


@pytest.mark.parametrize("eta", ETAS, ids=str)
def test_the_profile_is_never_below_two_candidates_and_is_reached_by_some(eta: Fraction) -> None:
    with mpmath.workdps(40):
        pairs = list(two_candidates(eta, 400))
        for epsilon in (Fraction(0), eta / 5, eta / 2, eta * 99 / 100):
            bound, factor = number(BoundedRangeProfile(eta)(epsilon)), mpmath.exp(number(epsilon))
            for p, q in pairs:
                for ours, theirs in ((p, q), (q, p), (1 - p, 1 - q), (1 - q, 1 - p)):
                    assert ours - factor * theirs <= bound
            middle = mpmath.exp(-(number(epsilon) + number(eta)) / 2)
            q = (middle - mpmath.exp(-number(eta))) / (1 - mpmath.exp(-number(eta)))
            reached = q / middle - factor * q
            assert reached <= bound <= reached * (1 + mpmath.mpf("1e-9"))


@pytest.mark.parametrize("eta", [Fraction(1, 10), Fraction(3, 7), ONE, 2 * ONE, 8 * ONE], ids=str)
def test_the_epsilon_of_a_delta_has_that_delta(eta: Fraction) -> None:
    """Both are rounded up, but not so that they contradict each other."""
    flip = make_permute_and_flip(SCORES, range_distance(), 1 / eta, privacy_measure=APPROXIMATE)
    for m in (top_k(APPROXIMATE, 1, 1 / eta), flip):
        for delta in (Fraction(j, 10**power) for power in (1, 2, 3, 6, 9, 30) for j in (1, 3, 7)):
            profile: Any = m.map(1)
            assert m.check(1, (profile.epsilon(delta), delta))


def test_the_profile_has_the_published_figure_and_an_inverse() -> None:
    """Eta = 1, epsilon = 0.3: 0.137962803354."""
    profile: Any = top_k(APPROXIMATE, 1, 1).map(1)
    delta = profile.delta("0.3")
    assert float(delta) == pytest.approx(0.137962803354, abs=1e-12)
    assert Fraction(3, 10) <= profile.epsilon(delta) + Fraction(1, 2**50)
    assert profile.epsilon(delta) == pytest.approx(0.3, abs=1e-12)
    assert profile.delta(1) == 0
    assert profile.delta(0) >= math.tanh(0.25) - 1e-15
    assert profile.epsilon(0) == 1
    assert profile.epsilon(1) == 0


@pytest.mark.parametrize(
    "formula",
    [BoundedRangeProfile(ONE), LaplaceProfile(ONE), RenyiProfile(BoundedRangeRenyi(ONE), 3, Fraction(3))],
    ids=["range", "laplace", "renyi"],
)
@pytest.mark.parametrize("delta", ["1e-9", "1e-3", "0.1", "0.9"])
def test_the_inverse_of_a_profile_suffices_for_its_delta(formula: Any, delta: str) -> None:
    wanted = Fraction(delta)
    epsilon = formula.epsilon(wanted)
    assert formula(epsilon + Fraction(1, 2**40)) <= wanted


def test_a_hundred_draws_cost_no_more_than_the_best_simple_bound() -> None:
    """Between the non-adaptive optimum 2.2460 and the figure 2.4008 of the conversion on a grid of orders."""
    profile: Any = top_k(APPROXIMATE, 100, 10).map(1)
    assert 2.2460 <= profile.epsilon("1e-6") <= 2.401
    assert profile.delta(profile.epsilon("1e-6")) <= Fraction("1.001e-6")
    assert profile.epsilon(0) == 10
    assert profile.delta(10) == 0
    assert profile.delta(0) <= 1
    assert profile.epsilon(1) == 0
    assert profile.epsilon("1e-300") <= 10


def test_the_orders_are_public_and_above_one() -> None:
    assert list(ORDERS) == sorted(set(ORDERS))
    assert min(ORDERS) > 1
    far: Any = top_k(APPROXIMATE, 2, Fraction(1, 1000)).map(1)
    assert far.delta(1) == 1
    assert far.epsilon("1e-6") <= 2000


# Permute-and-flip, priced as the Laplace mechanism.


def flipped(gap: mpmath.mpf) -> mpmath.mpf:
    """P(first) of two candidates whose scores differ by so much: the Laplace distribution function."""
    return mpmath.exp(gap) / 2 if gap < 0 else 1 - mpmath.exp(-gap) / 2


def flips(eps: Fraction, steps: int = 400) -> Iterator[tuple[mpmath.mpf, mpmath.mpf]]:
    e = number(eps)
    for step in range(steps + 1):
        gap = -e - 6 + (e + 12) * step / steps
        yield flipped(gap), flipped(gap + e)


@pytest.mark.parametrize("eps", ETAS[:4], ids=str)
def test_permute_and_flip_is_priced_above_two_candidates(eps: Fraction) -> None:
    rho = number(laplace_rho(eps))
    with mpmath.workdps(40):
        for p, q in flips(eps):
            for alpha in ALPHAS:
                divergence = max(renyi(p, q, alpha), renyi(q, p, alpha))
                assert divergence <= number(LaplaceRenyi(eps)(alpha))
                assert divergence <= rho * number(alpha)
            for epsilon in (Fraction(0), eps / 2):
                for ours, theirs in ((p, q), (q, p), (1 - p, 1 - q), (1 - q, 1 - p)):
                    delta = ours - mpmath.exp(number(epsilon)) * theirs
                    assert delta <= number(LaplaceProfile(eps)(epsilon))


def test_the_laplace_profile_is_reached_by_two_candidates() -> None:
    """Delta(epsilon') = 1 - exp((epsilon' - epsilon) / 2)."""
    profile: Any = flip(APPROXIMATE, 1, 1).map(1)
    assert float(profile.delta("0.3")) == pytest.approx(-math.expm1(-0.35), abs=1e-15)
    with mpmath.workdps(40):
        reached = max(q - mpmath.exp("0.3") * p for p, q in flips(ONE, 4000))
        assert reached <= number(profile.delta("0.3")) <= reached + mpmath.mpf("1e-5")
    assert profile.delta(1) == profile.epsilon(1) == 0
    assert profile.epsilon(0) == 1
    assert profile.epsilon(profile.delta("0.3")) == pytest.approx(0.3, abs=1e-12)


def test_the_laplace_prices_have_the_published_forms() -> None:
    """Mironov 2017, Proposition 6; rho = eps - 1 + exp(-eps)."""
    assert float(flip(zero_concentrated_divergence(), 1, 1).map(1)) == pytest.approx(math.exp(-1), abs=1e-15)  # type: ignore[arg-type]
    curve: Any = flip(renyi_divergence(), 1, 1).map(1)
    mironov = math.log(2 / 3 * math.exp(1) + 1 / 3 * math.exp(-2))
    assert float(curve(2)) == pytest.approx(mironov, abs=1e-14)
    assert flip(zero_concentrated_divergence(), 3, 1).map(1) == 3 * laplace_rho(ONE)
    assert flip(renyi_divergence(), 3, 1, 3).map(1)(2) == 2 * LaplaceRenyi(ONE)(Fraction(2))  # type: ignore[operator]


def test_an_eighth_of_epsilon_squared_would_be_too_low_for_permute_and_flip() -> None:
    """Two candidates reach 0.32966 at epsilon 1, where an eighth is 0.125: only Gumbel noise costs that."""
    with mpmath.workdps(30):
        alpha = Fraction(1001, 1000)
        reached = max(max(renyi(p, q, alpha), renyi(q, p, alpha)) for p, q in flips(ONE)) / number(alpha)
    assert 0.329 < reached < 0.3297
    price = flip(zero_concentrated_divergence(), 1, 1).map(1)
    assert ONE / 8 < reached <= price


def test_two_draws_cost_less_than_twice_one_where_a_delta_is_given() -> None:
    """Basic composition would be a bound too, and a worse one."""
    for make in (top_k, flip):
        one, two = (make(APPROXIMATE, k, 10).map(1) for k in (1, 2))
        assert isinstance(one, PrivacyProfile)
        assert isinstance(two, PrivacyProfile)
        assert one.epsilon("1e-6") < two.epsilon("1e-6") < 2 * one.epsilon("5e-7")


# The edges.

MEASURES = {
    "max": max_divergence(),
    "zero-concentrated": zero_concentrated_divergence(),
    "renyi": renyi_divergence(),
    "approximate": APPROXIMATE,
    "range": range_divergence(),
}


def figures(distance: Any) -> list[Any]:
    """Look at a price wherever it can be looked at."""
    if hasattr(distance, "delta"):
        return [distance.delta(0), distance.epsilon(0), distance.epsilon("1e-9")]
    return [distance(2), distance("1.5")] if callable(distance) else [distance]


def all_kinds(k: int, scale: Any, size: int | None = None) -> Iterator[Measurement]:
    for name, measure in MEASURES.items():
        yield top_k(measure, k, scale, size)
        if name != "range":
            yield flip(measure, k, scale, size)


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("scale", [0, 1, "1/3"])
def test_neighbours_that_do_not_differ_cost_nothing(k: int, scale: Any) -> None:
    for m in all_kinds(k, scale):
        assert figures(m.map(0)) == [0] * len(figures(m.map(0)))


@pytest.mark.parametrize("scale", [0, 1])
def test_a_single_candidate_costs_nothing(scale: int) -> None:
    for m in all_kinds(1, scale, 1):
        assert figures(m.map(5)) == [0] * len(figures(m.map(5)))
        assert m([3]) in (0, [0])


@pytest.mark.parametrize("k", [1, 2])
def test_without_noise_the_price_is_infinite(k: int) -> None:
    for m in all_kinds(k, 0):
        seen = figures(m.map(1))
        assert seen in ([math.inf], [math.inf] * 2, [1, math.inf, math.inf]), m


@pytest.mark.parametrize("k", [1, 2])
def test_a_monotonic_score_costs_half_as_much(k: int) -> None:
    def price(*, monotonic: bool) -> Any:
        metric = linf_distance(monotonic=monotonic)
        return make_report_noisy_top_k(SCORES, metric, max_divergence(), k, 3).map(1)

    assert price(monotonic=False) == 2 * price(monotonic=True) == 2 * k * Fraction(1, 3)


def test_all_constructors_read_the_same_price() -> None:
    metric = linf_distance()
    assert make_report_noisy_max_gumbel(SCORES, metric, 4).map(1) == Fraction(1, 2)
    assert make_report_noisy_max(SCORES, metric, max_divergence(), 4).map(1) == Fraction(1, 2)
    assert make_exponential_mechanism(SCORES, metric, ["a", "b"], 4).map(1) == Fraction(1, 2)
    assert make_exponential_mechanism(SCORES, metric, ["a"], 4).map(1) == 0
    assert make_permute_and_flip(SCORES, metric, 4).map(1) == Fraction(1, 2)
    assert make_report_noisy_top_k(SCORES, metric, max_divergence(), 1, 4).map(1) == Fraction(1, 2)


def test_the_figures_are_rounded_outward() -> None:
    with mpmath.workdps(80):
        for eta, alpha in itertools.product(ETAS, ALPHAS):
            assert number(BoundedRangeRenyi(eta)(alpha)) >= min(number(eta), worst_of_two(eta, alpha))
            assert BoundedRangeRenyi(eta)(alpha) <= eta
            assert LaplaceRenyi(eta)(alpha) <= eta
            assert number(laplace_rho(eta)) >= number(eta) - 1 + mpmath.exp(-number(eta))
            half = number(eta) / 4
            assert number(LaplaceProfile(eta)(eta / 2)) >= 1 - mpmath.exp(-half)


def test_a_price_below_the_map_does_not_pass_the_check() -> None:
    m = top_k(max_divergence(), 2, 3)
    assert m.check(1, Fraction(2, 3))
    assert not m.check(1, Fraction(2, 3) - Fraction(1, 10**30))
