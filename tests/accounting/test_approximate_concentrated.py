"""A rho and a delta, in dpselect.accounting.convert and compose: the definition, held against exact laws."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpselect.accounting import BoundedRange, LaplaceDominated, compose, convert
from dpselect.accounting.shifted import Shifted
from dpselect.errors import InvalidParameter
from dpselect.exact.enclosures import Ball, Enclosure, enclose, exp
from dpselect.mechanisms import make_permute_and_flip, make_report_noisy_max
from dpselect.privacy import (
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    PrivacyProfile,
    PureDP,
    RenyiDP,
    approximate,
    atom_domain,
    linf_distance,
    vector_domain,
    zero_concentrated_divergence,
)
from tests.accounting.extremal_pairs import Pair, delta, randomized_response

MILLIONTH = Fraction(1, 10**6)
prices = st.fractions(min_value=Fraction(1, 50), max_value=5, max_denominator=50)
parts = st.fractions(min_value=Fraction(1, 20), max_value=Fraction(19, 20), max_denominator=20)
orders = st.fractions(min_value=Fraction(51, 50), max_value=30, max_denominator=50)
laws = st.lists(st.integers(0, 6), min_size=3, max_size=5)


def moment(p: list[Fraction], q: list[Fraction], alpha: Fraction) -> Enclosure:
    """Enclose the sum of p^alpha q^(1 - alpha), of measures of any mass."""

    def total(a: Ball) -> Ball:
        found = [
            (a * _ball(x).log() + (1 - a) * _ball(y).log()).exp() for x, y in zip(p, q, strict=True) if x
        ]
        return sum(found[1:], start=found[0])

    return enclose(total, alpha, precision=120)


def _ball(x: Fraction) -> Ball:
    return Ball(x.numerator) / x.denominator


def parted(p: list[Fraction], q: list[Fraction], ratio: Fraction) -> tuple[list[Fraction], list[Fraction]]:
    """Cut both laws as the proof does: to where neither exceeds the other by a ratio, and to one mass."""
    ours = [min(x, ratio * y) for x, y in zip(p, q, strict=True)]
    theirs = [min(y, ratio * x) for x, y in zip(p, q, strict=True)]
    if sum(ours) < sum(theirs):
        theirs, ours = parted_down(theirs, ours, ratio)
    else:
        ours, theirs = parted_down(ours, theirs, ratio)
    return ours, theirs


def parted_down(
    more: list[Fraction], less: list[Fraction], ratio: Fraction
) -> tuple[list[Fraction], list[Fraction]]:
    floor = [y / ratio for y in less]
    surplus, room = sum(more) - sum(less), sum(more) - sum(floor)
    t = Fraction(surplus / room) if room else Fraction(0)
    return [(1 - t) * x + t * low for x, low in zip(more, floor, strict=True)], less


@settings(max_examples=60, deadline=None)
@given(laws, laws, st.integers(5, 60), orders)
def test_a_pair_of_laws_has_the_parts_that_the_proof_cuts(
    a: list[int], b: list[int], tenths: int, alpha: Fraction
) -> None:
    n = min(len(a), len(b))
    a, b = a[:n], b[:n]
    assume(sum(a) and sum(b))
    p, q = ([Fraction(x, sum(law)) for x in law] for law in (a, b))
    ratio = Fraction(tenths, 4)  # e^epsilon, kept rational so that all of this is exact
    lost = max(
        sum(max(Fraction(0), x - ratio * y) for x, y in zip(one, other, strict=True))
        for one, other in ((p, q), (q, p))
    )
    assume(lost < 1)
    ours, theirs = parted(p, q, ratio)
    assert sum(ours) == sum(theirs) >= 1 - lost
    for part, whole in ((ours, p), (theirs, q)):
        assert all(0 <= x <= y for x, y in zip(part, whole, strict=True))
    epsilon = enclose(lambda r: r.log(), ratio).high
    rho = Fraction(convert(ApproxDP(epsilon, lost), ApproxZCDP).rho)
    most = exp(alpha * (alpha - 1) * rho).high
    assert moment(ours, theirs, alpha).low <= most
    assert moment(theirs, ours, alpha).low <= most


def test_what_enters_costs_what_is_proved() -> None:
    for number in ("1/100", 1, 5):
        rho = convert(PureDP(number), ZCDP).rho
        assert convert(PureDP(number), ApproxZCDP) == ApproxZCDP(rho, 0)
        assert convert(ApproxDP(number, MILLIONTH), ApproxZCDP) == ApproxZCDP(rho, MILLIONTH)
        assert convert(ZCDP(number), ApproxZCDP) == ApproxZCDP(number, 0)
        for guarantee in (BoundedRange(number), LaplaceDominated(number)):
            assert convert(guarantee, ApproxZCDP) == ApproxZCDP(convert(guarantee, ZCDP).rho, 0)
    for source in (ApproxDP(math.inf, 0), PureDP(math.inf)):
        assert convert(source, ApproxZCDP) == ApproxZCDP(math.inf, 0)


def test_a_curve_or_a_profile_enters_at_a_delta_that_is_named() -> None:
    curve: Any
    for curve in (RenyiDP({2: 1, 32: 2}), PrivacyProfile({1: MILLIONTH})):
        point = convert(curve, ApproxDP, delta=MILLIONTH)
        expected = ApproxZCDP(convert(PureDP(point.epsilon), ZCDP).rho, MILLIONTH)
        assert convert(curve, ApproxZCDP, delta=MILLIONTH) == expected
        with pytest.raises(InvalidParameter, match="at one delta or at one epsilon; got neither"):
            convert(curve, ApproxZCDP)
    for loss in (PureDP(1), ZCDP(1), ApproxDP(1, 0), ApproxZCDP(1, 0)):
        with pytest.raises(InvalidParameter, match="must be left out for ApproxZCDP"):
            convert(loss, ApproxZCDP, delta=MILLIONTH)


@settings(max_examples=30, deadline=None)
@given(prices, st.fractions(min_value=0, max_value=12, max_denominator=10))
def test_deltas_add_when_a_rho_with_a_delta_becomes_an_epsilon(rho: Fraction, epsilon: Fraction) -> None:
    alone = convert(ZCDP(rho), ApproxDP, epsilon=epsilon)
    beside = convert(ApproxZCDP(rho, MILLIONTH), ApproxDP, epsilon=epsilon)
    assert beside == ApproxDP(epsilon, min(Fraction(1), alone.delta + MILLIONTH))
    at = convert(ApproxZCDP(rho, MILLIONTH), ApproxDP, delta=3 * MILLIONTH)
    assert at.epsilon == convert(ZCDP(rho), ApproxDP, delta=2 * MILLIONTH).epsilon


def test_a_delta_that_is_all_spent_buys_no_epsilon() -> None:
    loss = ApproxZCDP("1/8", MILLIONTH)
    for delta_asked in (0, MILLIONTH / 2, MILLIONTH):
        assert convert(loss, ApproxDP, delta=delta_asked).epsilon == math.inf
    assert convert(ApproxZCDP(0, MILLIONTH), ApproxDP, delta=MILLIONTH) == ApproxDP(0, MILLIONTH)
    assert convert(ApproxZCDP("1/8", 0), PrivacyProfile) == convert(ZCDP("1/8"), PrivacyProfile)
    assert convert(loss, ApproxZCDP) is loss


def test_a_profile_beside_a_pair_is_moved_by_both_parts_of_it() -> None:
    both = Shifted(PrivacyProfile({1: 0, "1/2": "1/4"}), ApproxDP("1/2", "1/8"))
    points = [Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(3, 2)]
    assert [both(point) for point in points] == [1, 1, Fraction(3, 8), Fraction(1, 8)]
    deltas = [Fraction(1, 16), Fraction(1, 8), Fraction(3, 8)]
    assert [both.epsilon(each) for each in deltas] == [math.inf, Fraction(3, 2), 1]


@pytest.mark.parametrize("kind", [PureDP, ZCDP, RenyiDP])
def test_nothing_without_a_delta_follows_from_a_loss_with_one(kind: Any) -> None:
    with pytest.raises(InvalidParameter, match="must be converted to PrivacyProfile or ApproxDP; got"):
        convert(ApproxZCDP(1, MILLIONTH), kind)


# ---- several, each chosen in view of the answers before ----------------------------------------------------


def adaptive(first: ApproxDP, after: dict[int, ApproxDP]) -> Pair:
    """Randomized response that may tell the truth; what is asked next depends on its answer."""

    def outcomes() -> list[tuple[Ball, Ball]]:
        found = []
        for answer, (p, q) in enumerate(_response(first)()):
            then = _response(after[answer])()
            found += [(p * more, q * fewer) for more, fewer in then]
        return found

    return outcomes


def _response(loss: ApproxDP) -> Pair:
    return randomized_response(Fraction(loss.epsilon), loss.delta)


TENTH, FIFTH = Fraction(1, 10), Fraction(1, 5)
LOSSES = [ApproxDP(1, TENTH), ApproxDP("1/2", FIFTH), ApproxDP(2, TENTH)]


@pytest.mark.parametrize("second", list(itertools.product(LOSSES, repeat=2)), ids=str)
def test_prices_that_depend_on_answers_stay_below_their_largest_sums(second: tuple[ApproxDP, ...]) -> None:
    """The first answer decides between two questions: the sums of the costlier path bound both paths."""
    first = ApproxDP(1, TENTH)
    pair = adaptive(first, {0: second[0], 1: second[1], 2: second[0], 3: second[1]})
    rho, lost = (
        max(getattr(convert(first, ApproxZCDP) + convert(each, ApproxZCDP), part) for each in second)
        for part in ("rho", "delta")
    )
    whole = ApproxZCDP(rho, lost)
    for epsilon in [Fraction(n, 4) for n in range(16)]:
        assert delta(pair, epsilon).low <= convert(whole, ApproxDP, epsilon=epsilon).delta
        assert delta(pair, epsilon).low <= 1
    most = max(Fraction((first + each).epsilon) for each in second)
    assert delta(pair, most + Fraction(1, 2**40)).low <= max((first + each).delta for each in second)


def test_a_mixed_list_adds_rho_and_delta() -> None:
    losses: list[Any] = [PureDP(1), ZCDP("1/8"), ApproxDP("1/2", MILLIONTH), ApproxZCDP("1/4", MILLIONTH)]
    assert compose(losses) == sum((convert(loss, ApproxZCDP) for loss in losses), start=ApproxZCDP.zero())
    assert compose(losses).delta == 2 * MILLIONTH  # type: ignore[union-attr]


def test_a_list_at_one_point_is_the_curve_of_its_rhos_beside_its_deltas() -> None:
    together = compose([ApproxZCDP("1/8", MILLIONTH), ZCDP("1/8")], ApproxDP, delta=3 * MILLIONTH)
    assert together.epsilon == convert(ZCDP("1/4"), ApproxDP, delta=2 * MILLIONTH).epsilon
    assert compose([ApproxZCDP("1/8", MILLIONTH)] * 2, ApproxDP, delta=MILLIONTH).epsilon == math.inf


# ---- mechanisms ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [make_report_noisy_max, make_permute_and_flip])
def test_a_selection_needs_no_delta_beside_its_rho(make: Any) -> None:
    scores, metric = vector_domain(atom_domain(int), 3), linf_distance(monotonic=True)

    def made(measure: Any, scale: int) -> Any:
        if make is make_permute_and_flip:
            return make(scores, metric, scale, privacy_measure=measure)
        return make(scores, metric, measure, scale)

    approximately, exactly = approximate(zero_concentrated_divergence()), zero_concentrated_divergence()
    assert made(approximately, 2).map(1) == ApproxZCDP(made(exactly, 2).map(1), 0)
    assert made(approximately, 0).map(1) == ApproxZCDP(math.inf, 0)
    assert made(approximately, 2).map(0) == ApproxZCDP(0, 0)
