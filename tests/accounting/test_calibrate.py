"""Calibration, dpselect.accounting.calibrate: the scale fits the budget, and nothing much smaller does."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpselect.accounting import calibrate, compose, convert
from dpselect.accounting.calibrate import JUST_BELOW
from dpselect.accounting.closed_forms import bounded_range_rho
from dpselect.accounting.guarantees import BoundedRange
from dpselect.errors import IncomparableLosses, InvalidParameter
from dpselect.mechanisms import (
    make_exponential_mechanism,
    make_permute_and_flip,
    make_report_noisy_max,
    make_report_noisy_max_gumbel,
    make_report_noisy_top_k,
)
from dpselect.privacy import (
    ZCDP,
    ApproxDP,
    Measurement,
    PrivacyProfile,
    PureDP,
    RenyiDP,
    absolute_distance,
    approximate,
    atom_domain,
    linf_distance,
    max_divergence,
    range_distance,
    range_divergence,
    renyi_divergence,
    user_measurement,
    vector_domain,
    zero_concentrated_divergence,
)

SCORES = vector_domain(atom_domain(float))
METRIC = linf_distance()
Make = Callable[[Fraction], Measurement]

MEASURES: dict[str, Any] = {
    "pure": max_divergence(),
    "zcdp": zero_concentrated_divergence(),
    "renyi": renyi_divergence(),
    "approximate": approximate(max_divergence()),
    "range": range_divergence(),
}
BUDGETS: list[tuple[str, Any]] = [
    ("pure", PureDP("3/7")),
    ("pure", "0.3"),
    ("zcdp", ZCDP("1/50")),
    ("zcdp", ZCDP(3)),
    ("renyi", RenyiDP({2: "1/20", 16: "1/2"})),
    ("approximate", ApproxDP("1/2", "1e-6")),
    ("approximate", (0, "1/10")),
    ("approximate", ApproxDP("1/3", 0)),
    ("approximate", PrivacyProfile({1: "1e-6", 0: "1/3"})),
    ("range", "1/2"),
]
MAKERS: dict[str, Callable[[Any], Make]] = {
    "noisy max": lambda measure: lambda scale: make_report_noisy_max(SCORES, METRIC, measure, scale),
    "noisy top 3": lambda measure: lambda scale: make_report_noisy_top_k(SCORES, METRIC, measure, 3, scale),
    "permute and flip": lambda measure: (
        lambda scale: make_permute_and_flip(SCORES, METRIC, scale, privacy_measure=measure)
    ),
    "peeling": lambda measure: (
        lambda scale: make_permute_and_flip(SCORES, METRIC, scale, k=4, privacy_measure=measure)
    ),
}
EACH = [
    pytest.param(maker, measure, budget, id=f"{maker}-{measure}-{budget}"[:60])
    for maker in MAKERS
    for measure, budget in BUDGETS
    if measure != "range" or maker.startswith("noisy")
]


def assert_smallest(make: Make, budget: Any, d_in: Any, scale: Fraction) -> None:
    assert isinstance(scale, Fraction)
    assert make(scale).check(d_in, budget)
    assert not make(scale * Fraction(999, 1000)).check(d_in, budget)


@pytest.mark.parametrize(("maker", "measure", "budget"), EACH)
def test_the_scale_fits_and_a_thousandth_less_does_not(maker: str, measure: str, budget: Any) -> None:
    make = MAKERS[maker](MEASURES[measure])
    assert_smallest(make, budget, 2, calibrate(make, budget, 2))


@pytest.mark.parametrize(
    "make",
    [
        lambda scale: make_report_noisy_max_gumbel(SCORES, METRIC, scale),
        lambda scale: make_exponential_mechanism(SCORES, METRIC, ["tea", "coffee"], scale),
        lambda scale: make_exponential_mechanism(SCORES, METRIC, ["tea", "coffee"], scale) >> str,
    ],
)
def test_constructors_without_a_measure_are_pure(make: Make) -> None:
    assert calibrate(make, PureDP("1/3"), 1) == 6


# Closed forms, exactly.

amounts = st.fractions(min_value=Fraction(1, 1000), max_value=1000, max_denominator=1000)


@settings(max_examples=40)
@given(st.integers(1, 9), amounts, amounts, st.sampled_from(["one shot", "peeling"]))
def test_a_pure_budget_gives_k_times_d_over_epsilon(
    k: int, d_in: Fraction, epsilon: Fraction, way: str
) -> None:
    def make(scale: Fraction) -> Measurement:
        if way == "peeling":
            return make_permute_and_flip(SCORES, range_distance(), scale, k)
        return make_report_noisy_top_k(SCORES, range_distance(), max_divergence(), k, scale)

    assert calibrate(make, PureDP(epsilon), d_in) == k * d_in / epsilon


@settings(max_examples=40)
@given(st.integers(1, 9), amounts, amounts)
def test_a_rho_gives_the_scale_at_which_k_draws_of_bounded_range_cost_it(
    k: int, d_in: Fraction, rho: Fraction
) -> None:
    def make(scale: Fraction) -> Measurement:
        return make_report_noisy_top_k(SCORES, range_distance(), zero_concentrated_divergence(), k, scale)

    scale = calibrate(make, ZCDP(rho), d_in)
    assert k * bounded_range_rho(d_in / scale) <= rho < k * bounded_range_rho(d_in / (scale * JUST_BELOW))


@settings(max_examples=40)
@given(amounts, amounts)
def test_a_map_over_the_square_of_the_scale_gives_its_root(d_in: Fraction, eta: Fraction) -> None:
    """As of Gaussian noise: exact where the root is rational, close elsewhere."""

    def make(scale: Fraction) -> Measurement:
        return Measurement(
            SCORES,
            range_distance(),
            zero_concentrated_divergence(),
            lambda *_: None,
            lambda d: (d / scale) ** 2 / 8,
        )

    assert calibrate(make, ZCDP(eta**2 / 8), d_in) == d_in / eta
    scale = calibrate(make, ZCDP(eta), d_in)
    squared = d_in**2 / (8 * eta)
    assert squared <= scale**2 <= squared * (1 + Fraction(1, 2**60))


def test_a_budget_of_range_divergence_is_a_number() -> None:
    make = MAKERS["noisy top 3"](range_divergence())
    assert calibrate(make, "1/2", 1) == 20


def test_arguments_may_be_named() -> None:
    make = MAKERS["noisy max"](max_divergence())
    assert calibrate(make=make, budget=PureDP(1), d_in=1) == calibrate(make, PureDP(1), d_in=1) == 2


# What the scale means elsewhere.


def test_the_scale_of_a_budget_has_the_figures_of_the_closed_form() -> None:
    """Delta = (1 - exp((epsilon - eta) / 2))^2 / (1 - exp(-eta)) is a quadratic equation in exp(-eta/2)."""
    make = MAKERS["noisy max"](approximate(max_divergence()))
    epsilon, delta = 0.5, 1e-6
    c = math.exp(epsilon / 2)
    eta = -2 * math.log((c - math.sqrt(delta * (c**2 - 1 + delta))) / (c**2 + delta))
    assert float(calibrate(make, ApproxDP("1/2", "1e-6"), 1)) == pytest.approx(2 / eta, rel=2**-23)


def test_a_hundred_winners_for_2_401_need_no_more_noise_than_a_scale_of_ten() -> None:
    def make(scale: Fraction) -> Measurement:
        return make_report_noisy_top_k(SCORES, range_distance(), approximate(max_divergence()), 100, scale)

    scale = calibrate(make, ApproxDP("2.401", "1e-6"), 1)
    assert Fraction("9.98") < scale <= 10
    assert compose([BoundedRange(1 / scale)] * 100, ApproxDP, delta="1e-6") <= ApproxDP("2.401", "1e-6")


# A measurement of one's own: any map that falls as the scale grows.


def laplace(price: Callable[[Fraction, Fraction], Any], measure: Any = None) -> Make:
    def make(scale: Fraction) -> Measurement:
        return user_measurement(
            input_domain=atom_domain(float),
            input_metric=absolute_distance(),
            output_measure=measure or max_divergence(),
            function=lambda arg: arg,
            privacy_map=lambda d_in: price(d_in, scale),
        )

    return make


def test_a_map_of_ones_own_that_divides_by_the_scale_is_exact() -> None:
    assert calibrate(laplace(lambda d, scale: 3 * d / scale), PureDP("1/7"), 2) == 42


def test_a_map_of_ones_own_of_any_falling_shape_is_searched() -> None:
    for price in (
        lambda d, scale: d / scale**3,
        lambda d, scale: d / (1 + scale),
        lambda d, scale: d / scale + d / scale**2,
    ):
        make = laplace(price)
        assert_smallest(make, PureDP("1/7"), 2, calibrate(make, PureDP("1/7"), 2))


def test_gaussian_noise_is_calibrated_in_rho() -> None:
    make = laplace(lambda d, scale: d**2 / (2 * scale**2), zero_concentrated_divergence())
    assert calibrate(make, ZCDP("1/8"), 3) == 6


def test_a_map_with_steps_is_searched_to_its_step() -> None:
    """Ten is the smallest scale that fits; the guess of a closed form, 20, fits too and is not taken."""
    make = laplace(lambda _, scale: Fraction(1) if scale >= 10 else Fraction(20))
    scale = calibrate(make, PureDP(1), 1)
    assert 10 <= scale <= 10 * (1 + Fraction(1, 2**22))


@pytest.mark.parametrize("exponent", [-300, -12, 12, 300])
def test_budgets_of_all_sizes_are_met(exponent: int) -> None:
    make = laplace(lambda d, scale: d / scale**3)
    budget = PureDP(Fraction(10) ** exponent)
    assert_smallest(make, budget, 1, calibrate(make, budget, 1))


@settings(max_examples=15)
@given(amounts, st.sampled_from(["zcdp", "approximate", "renyi"]))
def test_less_privacy_never_takes_more_noise(factor: Fraction, measure: str) -> None:
    small: dict[str, Any] = {
        "zcdp": ZCDP(factor),
        "approximate": ApproxDP(factor, "1e-3"),
        "renyi": RenyiDP({4: factor}),
    }
    large: dict[str, Any] = {
        "zcdp": ZCDP(2 * factor),
        "approximate": ApproxDP(2 * factor, "1e-3"),
        "renyi": RenyiDP({4: 2 * factor}),
    }
    make = MAKERS["permute and flip"](MEASURES[measure])
    assert calibrate(make, large[measure], 1) < calibrate(make, small[measure], 1)


def test_a_pure_budget_converted_to_rho_is_kept_too() -> None:
    budget = convert(PureDP(1), ZCDP)
    make = MAKERS["noisy max"](zero_concentrated_divergence())
    assert_smallest(make, budget, 1, calibrate(make, budget, 1))


# No noise, and no way.


@pytest.mark.parametrize(("measure", "budget"), BUDGETS)
def test_neighbours_that_do_not_differ_need_no_noise(measure: str, budget: Any) -> None:
    assert calibrate(MAKERS["noisy max"](MEASURES[measure]), budget, 0) == 0


def test_a_single_candidate_needs_no_noise() -> None:
    one = vector_domain(atom_domain(int), 1)
    for budget in (PureDP(1), PureDP(0)):
        assert calibrate(lambda scale: make_permute_and_flip(one, METRIC, scale), budget, 5) == 0


def test_an_infinite_budget_needs_no_noise() -> None:
    assert calibrate(MAKERS["noisy max"](max_divergence()), PureDP(math.inf), 1) == 0


@pytest.mark.parametrize(
    ("measure", "budget", "named"),
    [
        ("pure", PureDP(0), "epsilon 0"),
        ("zcdp", ZCDP(0), "rho 0"),
        ("approximate", ApproxDP(0, 0), "epsilon 0 with delta 0"),
        ("renyi", RenyiDP({2: 0}), "a RenyiDP"),
        ("range", 0, "0"),
    ],
)
def test_a_budget_that_no_scale_reaches_is_refused(measure: str, budget: Any, named: str) -> None:
    make = MAKERS["noisy max"](MEASURES[measure])
    with pytest.raises(
        InvalidParameter, match=rf"^budget must be one .*; got {named}\. Give a larger budget\.$"
    ):
        calibrate(make, budget, 1)


def test_a_price_that_no_scale_changes_is_refused_or_free() -> None:
    with pytest.raises(InvalidParameter, match=r"^budget must be one that a scale up to"):
        calibrate(laplace(lambda *_: Fraction(2)), PureDP(1), 1)
    assert calibrate(laplace(lambda *_: Fraction(1)), PureDP(1), 1) == 0
    with pytest.raises(
        InvalidParameter, match=r"^make\(scale\) must cost more with less noise; .* Any scale"
    ):
        calibrate(laplace(lambda _, scale: 1 if scale else 1 / scale), PureDP(1), 1)


@pytest.mark.parametrize("budget", [ZCDP(1), ApproxDP(1, 0), RenyiDP({2: 1}), PrivacyProfile({1: 0})])
def test_a_budget_of_another_kind_is_refused(budget: Any) -> None:
    with pytest.raises(IncomparableLosses, match="this measure compares only with PureDP; got"):
        calibrate(MAKERS["noisy max"](max_divergence()), budget, 1)


def test_a_budget_that_cannot_be_compared_at_every_point_is_refused() -> None:
    make = MAKERS["noisy max"](renyi_divergence())
    with pytest.raises(IncomparableLosses, match="compare with a table of the points that matter"):
        calibrate(make, RenyiDP(lambda alpha: alpha), 1)


@pytest.mark.parametrize(
    ("make", "d_in", "sentence"),
    [
        (3, 1, r"^make must be a function from a scale to a measurement; got 3\. Write lambda scale"),
        (lambda scale: scale, 1, r"^make\(scale\) must be a Measurement; got 1\.$"),
        (MAKERS["noisy max"](max_divergence()), -1, r"^d_in must be zero or a positive number; got -1\.$"),
        (MAKERS["noisy max"](max_divergence()), math.nan, r"^d_in must be a finite number; got nan\."),
        (lambda scale: make_permute_and_flip(SCORES, METRIC, scale, k=0), 1, r"^k must be a whole number"),
    ],
)
def test_a_bad_argument_is_refused(make: Any, d_in: Any, sentence: str) -> None:
    with pytest.raises(InvalidParameter, match=sentence):
        calibrate(make, PureDP(1), d_in)
