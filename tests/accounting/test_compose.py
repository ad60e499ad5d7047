"""Composition, dpselect.accounting.compose: laws, upper bounds on exact compositions, and refusals."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpselect.accounting import BoundedRange, LaplaceDominated, compose, convert
from dpselect.errors import InvalidParameter
from dpselect.privacy import ZCDP, ApproxDP, ApproxZCDP, PrivacyProfile, PureDP, RenyiDP
from tests.accounting.extremal_pairs import (
    Pair,
    adaptive,
    delta,
    kullback_leibler,
    laplace_cells,
    product,
    randomized_response,
    renyi,
    window,
)

MILLIONTH = Fraction(1, 10**6)
ALPHA = Fraction(7, 2)

prices = st.fractions(min_value=Fraction(1, 20), max_value=3, max_denominator=20)
parts = st.fractions(min_value=Fraction(1, 10), max_value=Fraction(9, 10), max_denominator=10)
small = st.sampled_from([Fraction(0), MILLIONTH, Fraction(1, 1000)])

KINDS: dict[str, st.SearchStrategy[Any]] = {
    "pure": st.builds(PureDP, prices),
    "zcdp": st.builds(ZCDP, prices),
    "renyi": st.builds(lambda price: convert(LaplaceDominated(price), RenyiDP), prices),
    "range": st.builds(BoundedRange, prices),
    "laplace": st.builds(LaplaceDominated, prices),
    "approx": st.builds(ApproxDP, prices, small),
    "profile": st.builds(lambda price: convert(BoundedRange(price), PrivacyProfile), prices),
}
LOSSES = st.one_of(*KINDS.values())


# Laws.


@pytest.mark.parametrize("kind", ["pure", "zcdp", "renyi", "approx", "profile"])
@settings(max_examples=20)
@given(st.data(), st.integers(1, 200))
def test_n_runs_of_a_loss_cost_n_times(kind: str, data: st.DataObject, n: int) -> None:
    loss = data.draw(KINDS[kind])
    assert compose([loss] * n) == loss * n


@pytest.mark.parametrize("kind", ["range", "laplace"])
@pytest.mark.parametrize("to", [PureDP, ZCDP, RenyiDP], ids=lambda to: to.__name__)
@settings(max_examples=10)
@given(st.data(), st.integers(1, 200))
def test_n_runs_of_a_guarantee_cost_n_times_what_one_converts_to(
    kind: str,
    to: Any,
    data: st.DataObject,
    n: int,
) -> None:
    guarantee = data.draw(KINDS[kind])
    assert compose([guarantee] * n, to) == convert(guarantee, to) * n


@settings(max_examples=40)
@given(st.lists(LOSSES, max_size=5), st.randoms(use_true_random=False))
def test_order_does_not_matter(losses: list[Any], shuffler: Any) -> None:
    shuffled = list(losses)
    shuffler.shuffle(shuffled)
    assert compose(losses) == compose(shuffled)
    assert compose(losses, PrivacyProfile) == compose(iter(shuffled), PrivacyProfile)


@settings(max_examples=15)
@given(
    st.lists(st.one_of(KINDS["zcdp"], KINDS["renyi"]), min_size=2, max_size=4),
    st.sampled_from(["1e-3", "1e-6", "1e-12"]),
)
def test_composing_what_was_converted_never_undercuts_converting_what_was_composed(
    losses: list[Any], total_delta: str
) -> None:
    """One conversion at the end: each alone, with its share of delta, and then added, is never less."""
    share = Fraction(total_delta) / len(losses)
    one_by_one: Any = compose([convert(loss, ApproxDP, delta=share) for loss in losses])
    together = compose(losses, ApproxDP, delta=total_delta)
    assert together <= one_by_one
    profiles: Any = compose([convert(loss, PrivacyProfile) for loss in losses])
    assert together.epsilon <= profiles.epsilon(total_delta)


@settings(max_examples=25)
@given(st.lists(st.one_of(KINDS["pure"], KINDS["range"], KINDS["laplace"]), min_size=1, max_size=4))
def test_a_weaker_kind_never_claims_more_than_a_stronger_one_proves(losses: list[Any]) -> None:
    """In the same words: a sum of curves is within the sum of rhos, and within that of epsilons."""
    pure, concentrated, curve = compose(losses, PureDP), compose(losses, ZCDP), compose(losses, RenyiDP)
    for alpha in (Fraction(9, 8), Fraction(3), Fraction(40)):
        assert curve.curve(alpha) <= pure.epsilon
        assert curve.curve(alpha) <= alpha * Fraction(concentrated.rho) * (1 + Fraction(1, 2**60))
    assert compose(losses, ApproxDP, delta="1e-6").epsilon <= pure.epsilon


# Upper bounds on exact compositions.


def worst(loss: Any, place: Fraction) -> Pair:
    match loss:
        case PureDP(epsilon=Fraction() as most):
            return randomized_response(most)
        case BoundedRange(eta=Fraction() as most):
            return window(most, most * place)
        case LaplaceDominated(shift=Fraction() as most):
            return laplace_cells(most, 3, reach=20)
        case ApproxDP(epsilon=Fraction() as most, delta=truth):
            return randomized_response(most, truth)
    raise AssertionError


@settings(max_examples=20)
@given(
    st.lists(
        st.tuples(st.one_of(*(KINDS[kind] for kind in ("pure", "range", "laplace"))), parts),
        min_size=2,
        max_size=4,
    ),
    parts,
)
def test_a_mixed_list_bounds_the_exact_divergences_of_its_worst_pairs(
    drawn: list[tuple[Any, Fraction]], part: Fraction
) -> None:
    losses = [loss for loss, _ in drawn]
    pair = product(*(worst(loss, place) for loss, place in drawn))
    pure = Fraction(compose(losses, PureDP).epsilon)
    assert kullback_leibler(pair).high <= compose(losses, ZCDP).rho
    assert renyi(pair, ALPHA).high <= compose(losses, RenyiDP).curve(ALPHA)
    epsilon = pure * part * Fraction(10**6, 10**6 + 7)
    exact = delta(pair, epsilon).high
    assert exact <= compose(losses, PrivacyProfile).delta(epsilon)
    assert exact <= compose(losses, ApproxDP, epsilon=epsilon).delta


@settings(max_examples=20)
@given(
    st.lists(st.tuples(st.one_of(KINDS["pure"], KINDS["range"]), parts), min_size=1, max_size=2),
    st.lists(KINDS["approx"], min_size=1, max_size=2),
    st.integers(0, 1),
    parts,
)
def test_curves_pairs_and_profiles_together_bound_the_exact_delta(
    smooth: list[tuple[Any, Fraction]], pairs: list[Any], profiles: int, part: Fraction
) -> None:
    losses: list[Any] = [loss for loss, _ in smooth] + pairs
    worst_pairs = [worst(loss, place) for loss, place in smooth] + [worst(loss, part) for loss in pairs]
    if profiles:
        losses.append(convert(BoundedRange(1), PrivacyProfile))
        worst_pairs.append(window(Fraction(1), part))
    most = sum(Fraction(getattr(loss, "epsilon", getattr(loss, "eta", 1))) for loss in losses[: len(smooth)])
    epsilon = (most + sum(Fraction(pair.epsilon) for pair in pairs)) * part * Fraction(10**6, 10**6 + 7)
    exact = delta(product(*worst_pairs), epsilon).high
    composed = compose(losses, PrivacyProfile)
    assert exact <= composed.delta(epsilon)
    found = composed.epsilon("1/10")
    assert found == math.inf or delta(
        product(*worst_pairs), Fraction(found) + MILLIONTH / 7
    ).high <= Fraction(1, 10)


@settings(max_examples=40)
@given(prices, parts, st.lists(parts, min_size=2, max_size=2), parts)
def test_bounded_range_is_safe_when_windows_move_with_earlier_answers(
    eta: Fraction, first: Fraction, then: list[Fraction], part: Fraction
) -> None:
    pair = adaptive(window(eta, eta * first), [window(eta, eta * place) for place in then])
    twice = [BoundedRange(eta)] * 2
    epsilon = 2 * eta * part * Fraction(10**6, 10**6 + 7)
    assert delta(pair, epsilon).high <= compose(twice, ApproxDP, epsilon=epsilon).delta
    assert renyi(pair, ALPHA).high <= compose(twice, RenyiDP).curve(ALPHA)
    assert kullback_leibler(pair).high <= compose(twice, ZCDP).rho


def test_a_hundred_releases_of_bounded_range_cost_at_most_2_401() -> None:
    """Eta 0.1, delta 1e-6: 2.4002 by the best order; the non-adaptive optimum is 2.2460, pure is 10."""
    hundred = [BoundedRange("0.1")] * 100
    least = compose(hundred, ApproxDP, delta="1e-6").epsilon
    assert Fraction("2.2460") <= least <= Fraction("2.26") <= Fraction("2.401")
    by_curves = convert(compose(hundred), ApproxDP, delta="1e-6").epsilon
    assert Fraction("2.4001") <= by_curves <= Fraction("2.4003")
    assert compose(hundred, ApproxDP, delta=0) == ApproxDP(10, 0)


@pytest.mark.parametrize(
    ("k", "eta", "epsilon", "optimum"), [(3, "0.5", "0.2", "0.113132"), (10, "0.3", "1", "0.005477")]
)
def test_the_adaptive_optimum_of_bounded_range_is_never_undercut(
    k: int, eta: str, epsilon: str, optimum: str
) -> None:
    """Figures of the recursion over the best window at each step; the non-adaptive formula gives less."""
    bound = compose([BoundedRange(eta)] * k, ApproxDP, epsilon=epsilon).delta
    assert Fraction(optimum) - Fraction(1, 10**6) <= bound <= 6 * Fraction(optimum)


def test_a_hundred_pure_releases_cost_their_optimum() -> None:
    """Epsilon 0.1, delta 1e-6: 4.7746 (Kairouz, Oh & Viswanath 2015, Theorem 3.3)."""
    bound = compose([PureDP("0.1")] * 100, ApproxDP, delta="1e-6")
    assert Fraction("4.7745") < bound.epsilon < Fraction("4.7747")
    assert compose([PureDP("0.1")] * 100, ApproxDP, delta=0) == ApproxDP(10, 0)


def test_pure_releases_of_too_many_kinds_are_composed_by_their_curves() -> None:
    """Ten different epsilons, twice each, have 3^10 ways to lie."""
    many = [PureDP(Fraction(n, 100)) for n in range(1, 11)] * 2
    bound = compose(many, ApproxDP, delta="1e-6")
    assert bound == convert(compose(many, RenyiDP), ApproxDP, delta="1e-6")
    few = [PureDP("0.1")] * 20
    optimum = compose(few, ApproxDP, delta="1e-6").epsilon
    assert optimum <= convert(compose(few, RenyiDP), ApproxDP, delta="1e-6").epsilon


def test_an_infinite_epsilon_among_pure_ones_promises_nothing() -> None:
    assert compose([PureDP(math.inf), PureDP(1)], PrivacyProfile).epsilon("1e-6") == math.inf


# The kind that a list shares.

ONE_OF_EACH: dict[str, Any] = {
    "pure": PureDP(1),
    "zcdp": ZCDP(1),
    "renyi": RenyiDP({2: 1}),
    "range": BoundedRange(1),
    "laplace": LaplaceDominated(1),
    "approx": ApproxDP(1, MILLIONTH),
    "approx-zcdp": ApproxZCDP(1, MILLIONTH),
    "profile": PrivacyProfile({1: MILLIONTH}),
}
SHARED: list[tuple[set[str], type]] = [
    ({"pure"}, PureDP),
    ({"pure", "zcdp"}, ZCDP),
    ({"pure", "approx"}, ApproxDP),
    ({"pure", "zcdp", "approx", "approx-zcdp"}, ApproxZCDP),
    ({"pure", "zcdp", "renyi", "range", "laplace"}, RenyiDP),
    (set(ONE_OF_EACH), PrivacyProfile),
]


@pytest.mark.parametrize("names", list(itertools.combinations(ONE_OF_EACH, 2)))
def test_a_list_is_composed_in_the_strongest_kind_that_it_shares(names: tuple[str, ...]) -> None:
    expected = next(kind for members, kind in SHARED if set(names) <= members)
    assert type(compose([ONE_OF_EACH[name] for name in names])) is expected


def test_a_mixed_list_is_the_sum_of_its_conversions() -> None:
    assert compose([PureDP(1), ZCDP(1)]) == convert(PureDP(1), ZCDP) + ZCDP(1)
    assert compose([PureDP(1), ApproxDP(2, MILLIONTH)]) == ApproxDP(3, MILLIONTH)
    assert compose([PureDP(1), BoundedRange(2)]) == convert(PureDP(1), RenyiDP) + convert(
        BoundedRange(2), RenyiDP
    )
    assert compose([PureDP(1), BoundedRange(2)], PureDP) == PureDP(3)


@pytest.mark.parametrize("to", [None, PureDP, ZCDP, RenyiDP, ApproxDP, PrivacyProfile])
def test_no_release_costs_nothing(to: Any) -> None:
    nothing = compose([]) if to is None else compose([], to)
    assert isinstance(nothing, to or PureDP)
    assert nothing == nothing * 7
    assert compose([], ApproxDP, delta=0) == ApproxDP(0, 0)


def test_pairs_pay_for_themselves_and_leave_the_rest_of_delta_to_the_others() -> None:
    """Equal shares would give the pair half of the delta that it needs, and so cost everything."""
    losses: list[Any] = [ZCDP("1/8"), ApproxDP(1, MILLIONTH)]
    least = compose(losses, ApproxDP, delta=2 * MILLIONTH)
    assert least.epsilon == 1 + Fraction(convert(ZCDP("1/8"), ApproxDP, delta=MILLIONTH).epsilon)
    assert compose(losses, ApproxDP, delta=MILLIONTH / 2).epsilon == math.inf
    assert compose(losses, ApproxDP, epsilon="1/2").delta == 1
    alone = convert(ZCDP("1/8"), ApproxDP, epsilon="3/2").delta
    assert compose(losses, ApproxDP, epsilon="5/2").delta == alone + MILLIONTH
    assert compose([PureDP(1), ApproxDP(1, MILLIONTH)], ApproxDP, delta=MILLIONTH) == ApproxDP(2, MILLIONTH)
    assert compose([ApproxDP(1, MILLIONTH)] * 2, ApproxDP, delta=2 * MILLIONTH) == ApproxDP(2, 2 * MILLIONTH)


def test_a_single_release_keeps_its_exact_profile() -> None:
    for loss in (PureDP(1), BoundedRange(1), LaplaceDominated(1), ApproxDP(1, MILLIONTH)):
        assert compose([loss], PrivacyProfile) == convert(loss, PrivacyProfile)


# Refused.


@pytest.mark.parametrize("bad", [PureDP(1), "PureDP(1)", {PureDP(1): 2}, None, 3])
def test_what_is_no_list_is_refused(bad: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"^losses must be a list of losses; got .*\. Write \["):
        compose(bad)


@pytest.mark.parametrize("bad", [[1], [PureDP(1), "1"], [None], [[PureDP(1)]]])
def test_a_list_with_something_that_is_no_guarantee_is_refused(bad: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"^loss must be a privacy loss"):
        compose(bad)


REFUSALS: list[tuple[Callable[[], Any], str]] = [
    (lambda: compose([ZCDP(1), PureDP(1)], PureDP), r"a ZCDP must be converted to"),
    (lambda: compose([PrivacyProfile({1: 0}), ZCDP(1)], ZCDP), r"a PrivacyProfile must be converted to"),
    (lambda: compose([ApproxDP(1, 0), RenyiDP({2: 1})], RenyiDP), r"an ApproxDP must be converted to"),
    (lambda: compose([ZCDP(1)], ApproxDP), r"ApproxDP must be asked for at one delta"),
    (lambda: compose([ZCDP(1)], BoundedRange), r"to must be PureDP or"),  # type: ignore[type-var]
    (lambda: compose([ZCDP(1)], delta="1e-6"), r"delta and epsilon must come with to=ApproxDP"),  # type: ignore[call-overload]
    (lambda: compose([ZCDP(1)], ZCDP, delta="1e-6"), r"delta and epsilon must be left out for ZCDP"),
]


@pytest.mark.parametrize(("ask", "sentence"), REFUSALS)
def test_what_cannot_be_composed_is_refused_with_a_way_out(ask: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(InvalidParameter, match=sentence):
        ask()
