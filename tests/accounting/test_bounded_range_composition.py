"""Adaptive bounded range, dpselect.accounting.bounded_range_composition: above every strategy."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath  # type: ignore[import-untyped] # it comes without types
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpselect.accounting.bounded_range_composition import (
    MOST_RUNS,
    NARROWEST,
    SLOP,
    TINY,
    BoundedRangeComposition,
    cells_of,
    delta_grid,
    largest_in_cell,
)
from dpselect.accounting.closed_forms import BoundedRangeProfile, BoundedRangeRenyi
from dpselect.accounting.renyi_orders import RenyiProfile
from tests.accounting.extremal_pairs import Pair, adaptive, delta, window

MILLIONTH = Fraction(1, 10**6)
OFF = Fraction(10**6, 10**6 + 7)

etas = st.fractions(min_value=Fraction(1, 20), max_value=2, max_denominator=20)
places = st.fractions(min_value=Fraction(1, 20), max_value=Fraction(19, 20), max_denominator=20)


def curve(eta: Fraction, runs: int) -> RenyiProfile:
    return RenyiProfile(BoundedRangeRenyi(eta), runs, runs * eta)


@settings(max_examples=20)
@given(etas, st.lists(places, min_size=7, max_size=7), places)
def test_no_strategy_of_moving_windows_costs_more(
    eta: Fraction, tops: list[Fraction], part: Fraction
) -> None:
    """Three releases; the window of each is any function of the answers before it."""

    def moved(number: int) -> Pair:
        return window(eta, eta * tops[number])

    second = [adaptive(moved(1), [moved(3), moved(4)]), adaptive(moved(2), [moved(5), moved(6)])]
    epsilon = 3 * eta * part * OFF
    assert delta(adaptive(moved(0), second), epsilon).high <= BoundedRangeComposition(eta, 3)(epsilon)


@settings(max_examples=20)
@given(etas, places)
def test_one_release_is_its_exact_profile_but_for_the_chords(eta: Fraction, part: Fraction) -> None:
    exact = BoundedRangeProfile(eta)(eta * part)
    bound = BoundedRangeComposition(eta, 1)(eta * part)
    assert exact <= bound <= exact + Fraction(1, 1000)


@pytest.mark.parametrize("eta", [Fraction(1, 100), Fraction(1, 3), Fraction(2)], ids=str)
def test_one_release_is_its_exact_profile_at_the_points_of_the_grid(eta: Fraction) -> None:
    """What is left below zero is 1 - exp(E), its own chord: nothing is lost but the push for rounding."""
    step = eta / cells_of(1)
    for place, found in enumerate(delta_grid(eta, 1)):
        exact = BoundedRangeProfile(eta)(place * step)
        assert exact <= Fraction(float(found)) <= exact + MILLIONTH


@pytest.mark.parametrize("eta", [Fraction(1, 100), Fraction(1, 3), Fraction(2)], ids=str)
def test_each_step_is_pushed_up_by_many_times_what_floats_can_be_wrong(eta: Fraction) -> None:
    """The proof needs 2^-46 exp(4 eta) v / (kappa w), with v what is left one eta below."""
    step = eta / cells_of(1)
    kappa, width = -math.expm1(-eta), math.exp(step - eta) - math.exp(-eta)
    for place, found in enumerate(delta_grid(eta, 1)[:-1]):
        push = 2**-41 * math.exp(4 * eta) / (kappa * width) * -math.expm1(place * step - eta)
        assert Fraction(float(found)) >= BoundedRangeProfile(eta)(place * step) + Fraction(push)


def best_of_two(eta: Fraction, epsilon: Fraction, steps: int) -> mpmath.mpf:
    """The recursion for two releases, by trying windows: a strategy, so never above the optimum."""
    e, goal = mpmath.mpf(eta.numerator) / eta.denominator, mpmath.mpf(epsilon.numerator) / epsilon.denominator
    norm = 1 - mpmath.exp(-e)

    def last(point: mpmath.mpf) -> mpmath.mpf:
        """What one release costs: its closed form, and below zero what it costs at the other side."""
        if point >= e:
            return mpmath.mpf(0)
        if point <= -e:
            return 1 - mpmath.exp(point)
        top = (point + e) / 2
        chance = (1 - mpmath.exp(top - e)) / norm
        return chance * (1 - mpmath.exp(point - top))

    best = mpmath.mpf(0)
    for step in range(steps + 1):
        top = e * step / steps
        chance = (1 - mpmath.exp(top - e)) / norm
        best = max(best, chance * last(goal - top) + (1 - chance) * last(goal - top + e))
    return best


@pytest.mark.parametrize("eta", [Fraction(1, 10), Fraction(1, 2), Fraction(3, 2)], ids=str)
@pytest.mark.parametrize("part", [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)], ids=str)
def test_two_releases_cost_their_optimum_and_hardly_more(eta: Fraction, part: Fraction) -> None:
    epsilon = 2 * eta * part
    bound = BoundedRangeComposition(eta, 2)(epsilon)
    with mpmath.workdps(30):
        best = best_of_two(eta, epsilon, 400)
        assert best <= mpmath.mpf(bound.numerator) / bound.denominator <= best * mpmath.mpf("1.03") + 1e-6


@pytest.mark.parametrize(
    ("k", "eta", "epsilon", "optimum"), [(3, "0.5", "0.2", "0.113132"), (10, "0.3", "1", "0.005477")]
)
def test_the_known_optima_are_met_from_above(k: int, eta: str, epsilon: str, optimum: str) -> None:
    """The recursion evaluated elsewhere; the non-adaptive optima are 0.111468 and 0.005181, too little."""
    bound = BoundedRangeComposition(Fraction(eta), k)(Fraction(epsilon))
    assert Fraction(optimum) - MILLIONTH / 2 <= bound <= Fraction(optimum) * Fraction(1005, 1000)


def test_a_hundred_releases_cost_less_than_their_curves_and_more_than_the_non_adaptive_optimum() -> None:
    """Eta 0.1, delta 1e-6: 2.2460 is the non-adaptive optimum, 2.4002 what Rényi curves give."""
    found = BoundedRangeComposition(Fraction(1, 10), 100).epsilon(MILLIONTH)
    assert Fraction("2.2460") < found < Fraction("2.26")
    assert BoundedRangeComposition(Fraction(1, 10), 100)(found) <= MILLIONTH


@settings(max_examples=10)
@given(
    etas, st.integers(2, 6), st.sampled_from([MILLIONTH, Fraction(1, 100), Fraction(1, 3), Fraction(9, 10)])
)
def test_delta_and_epsilon_are_inverse_and_never_above_the_curve(
    eta: Fraction, k: int, wanted: Fraction
) -> None:
    profile = BoundedRangeComposition(eta, k)
    found = profile.epsilon(wanted)
    assert profile(found) <= wanted
    assert found <= curve(eta, k).epsilon(wanted)
    if found:
        assert profile(found * Fraction(999, 1000)) > wanted or found == curve(eta, k).epsilon(wanted)


def test_the_grid_falls_to_zero_and_cannot_be_changed() -> None:
    deltas = delta_grid(Fraction(1, 2), 3)
    assert len(deltas) == 3 * cells_of(3) + 1
    assert list(deltas) == sorted(deltas, reverse=True)
    assert deltas[-1] == 0 < deltas[-2]
    with pytest.raises(ValueError, match="read-only"):
        deltas[0] = 0


@pytest.mark.parametrize(
    ("eta", "k"), [(Fraction(3), 2), (Fraction(1, 10**300), 5), (Fraction(1, 100), MOST_RUNS + 1)]
)
def test_very_wide_or_narrow_windows_and_very_many_releases_are_left_to_their_curve(
    eta: Fraction, k: int
) -> None:
    profile = BoundedRangeComposition(eta, k)
    assert profile.epsilon(MILLIONTH) == curve(eta, k).epsilon(MILLIONTH)
    assert profile(eta) == curve(eta, k)(eta)


def test_edges() -> None:
    profile = BoundedRangeComposition(Fraction(1, 2), 4)
    assert profile(Fraction(2)) == profile(Fraction(3)) == 0
    assert profile.epsilon(Fraction(0)) == 2
    assert profile.epsilon(Fraction(1)) == profile.epsilon(Fraction(99, 100)) == 0
    free = BoundedRangeComposition(Fraction(0), 4)
    assert free(Fraction(0)) == free.epsilon(Fraction(0)) == free.epsilon(MILLIONTH) == 0


@given(
    etas,
    st.integers(0, 3),
    st.lists(st.floats(0, 1, allow_subnormal=False), min_size=4, max_size=4).map(sorted),
)
def test_no_window_of_a_cell_gives_more_than_the_bound_of_the_cell(
    eta: Fraction, cell: int, values: list[float]
) -> None:
    """Whatever falls is allowed for, convex or not: the bound must not rest on what comes of recursion."""
    v3, v4, v1, v2 = values
    step = eta / 4
    (x0, u0), (x1, u1) = ((math.exp(step * c), math.exp(-step * c)) for c in (cell, cell + 1))
    least, kappa = math.exp(-eta), -math.expm1(-eta)
    around = tuple(np.array([v]) for v in (v1, v2, v3, v4))
    bound = largest_in_cell(around, (x0, u0), (x1, u1), least, kappa).item()  # type: ignore[arg-type]
    push = SLOP * math.exp(4 * eta) / (kappa * (u0 - u1)) * v2 + TINY
    for part in range(17):
        x = Fraction(x0) + (Fraction(x1) - Fraction(x0)) * part / 16
        chance = (1 - x * Fraction(least)) / (1 - Fraction(least))
        high = (1 / x - 1 / Fraction(x1)) / (1 / Fraction(x0) - 1 / Fraction(x1))
        near = high * Fraction(v1) + (1 - high) * Fraction(v2)
        far = high * Fraction(v3) + (1 - high) * Fraction(v4)
        assert chance * near + (1 - chance) * far <= Fraction(bound) + Fraction(push)


def test_what_is_too_small_for_floats_is_never_lost() -> None:
    deltas = delta_grid(Fraction(1, 100), 256)
    assert (deltas[:-1] >= 2.0**-1000).all()
    assert (np.diff(deltas) <= 0).all()


def test_a_narrower_window_costs_no_more() -> None:
    narrow, least = BoundedRangeComposition(NARROWEST * OFF, 64), BoundedRangeComposition(NARROWEST, 64)
    assert narrow.epsilon(MILLIONTH) <= least.epsilon(MILLIONTH) * (1 + Fraction(2, 2**32))
    assert narrow(Fraction(1, 1000)) <= least(Fraction(1, 1000))


def test_no_release_costs_nothing_and_below_zero_everything_may_be_lost() -> None:
    nothing = BoundedRangeComposition(Fraction(1, 2), 0)
    assert nothing.epsilon(MILLIONTH) == nothing(Fraction(0)) == 0
    assert BoundedRangeComposition(Fraction(1, 2), 3)(Fraction(-1, 4)) == 1
