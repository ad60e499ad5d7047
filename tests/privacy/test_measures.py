"""The currencies of a guarantee: each reads a distance and turns it into a loss."""

import copy
import dataclasses
import math
import pickle
from fractions import Fraction
from typing import Any, get_args

import pytest

from dpselect.errors import IncomparableLosses, InvalidParameter
from dpselect.privacy import (
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    PrivacyProfile,
    PureDP,
    RenyiCurve,
    RenyiDP,
    approximate,
    max_divergence,
    range_divergence,
    renyi_divergence,
    zero_concentrated_divergence,
)
from dpselect.privacy.losses import WritableLoss
from dpselect.privacy.measures import Measure, measure_of
from tests.privacy.bad_inputs import HOUSE_SENTENCE, NEGATIVE, NOT_FINITE, NOT_NUMBERS, cases

NUMBERS: dict[str, Any] = {
    "epsilon": max_divergence(),
    "rho": zero_concentrated_divergence(),
    "eta": range_divergence(),
}
MEASURES: list[Measure] = [
    *NUMBERS.values(),
    renyi_divergence(),
    approximate(max_divergence()),
    approximate(zero_concentrated_divergence()),
]
LOSSES: list[Any] = [
    PureDP(1),
    ZCDP(1),
    RenyiDP({2: 1}),
    ApproxDP(1, 0),
    ApproxZCDP(1, 0),
    PrivacyProfile({1: 0}),
]
BOUNDS: list[Any] = [*LOSSES, RenyiCurve({2: 1})]


def eighth(alpha: Fraction) -> Fraction:
    return alpha / 8


def test_a_number_is_read_exactly_and_may_be_infinite() -> None:
    for measure in NUMBERS.values():
        assert measure.distance(0.1) == measure.distance("1/10") == Fraction(1, 10)
        assert type(measure.distance(1)) is Fraction
        assert measure.distance(math.inf) == math.inf


def test_every_loss_that_can_be_a_price_names_the_one_measure_that_reads_it() -> None:
    prices = [loss for loss in LOSSES if isinstance(loss, WritableLoss)]
    assert {type(loss) for loss in prices} == {*get_args(WritableLoss)}
    for loss in prices:
        measure_of(loss).distance(loss)
        for other in set(MEASURES) - {measure_of(loss)}:
            with pytest.raises(IncomparableLosses):
                other.distance(loss)


def test_a_number_becomes_a_loss_and_a_loss_is_read_as_its_number() -> None:
    assert max_divergence().loss(Fraction(1, 2)) == PureDP("1/2")
    assert max_divergence().distance(PureDP("1/2")) == Fraction(1, 2)
    assert max_divergence().distance(PureDP(math.inf)) == math.inf
    assert zero_concentrated_divergence().loss(Fraction(1, 8)) == ZCDP("1/8")
    assert zero_concentrated_divergence().distance(ZCDP("1/8")) == Fraction(1, 8)


def test_a_curve_becomes_a_loss_and_is_read_from_whatever_makes_one() -> None:
    measure = renyi_divergence()
    for makes_it in (eighth, RenyiCurve(eighth), RenyiDP(eighth)):
        assert measure.distance(makes_it) == RenyiCurve(eighth)
    assert measure.loss(RenyiCurve(eighth)) == RenyiDP(eighth)
    assert measure.distance({2: 1}) == RenyiCurve({2: 1})


def test_a_profile_is_its_own_loss_and_is_read_from_whatever_makes_one() -> None:
    measure = approximate(max_divergence())
    table = PrivacyProfile({1: "1e-6"})
    for makes_it in (table, {1: "1e-6"}, (1, "1e-6"), ("1", 1e-6), ApproxDP(1, "1e-6")):
        assert measure.distance(makes_it) == measure.loss(makes_it) == table
    assert measure.distance(eighth) == PrivacyProfile(eighth)


def test_every_profile_is_within_an_infinite_budget() -> None:
    measure = approximate(max_divergence())
    for unlimited in (ApproxDP(math.inf, 0), (math.inf, 0)):
        assert measure.distance((1, 0)) <= measure.distance(unlimited)
        assert measure.distance(unlimited).delta(10**400) == 1


def test_range_divergence_has_no_price_because_it_does_not_add() -> None:
    with pytest.raises(
        InvalidParameter, match=r"^range divergence has no price, because it does not add; build"
    ):
        range_divergence().loss(Fraction(1))


@pytest.mark.parametrize("measure", MEASURES, ids=repr)
@pytest.mark.parametrize("loss", BOUNDS, ids=repr)
def test_a_measure_reads_only_losses_of_its_own_kind(measure: Measure, loss: object) -> None:
    kinds: dict[str, list[type]] = {
        "MaxDivergence": [PureDP],
        "ZeroConcentratedDivergence": [ZCDP],
        "RangeDivergence": [],
        "RenyiDivergence": [RenyiDP, RenyiCurve],
        "Approximate": [ApproxDP, PrivacyProfile],
        "ApproximateConcentrated": [ApproxZCDP],
    }
    own = kinds[type(measure).__name__]
    if type(loss) in own:
        measure.distance(loss)
        return
    with pytest.raises(IncomparableLosses, match=f"; got {type(loss).__name__}") as caught:
        measure.distance(loss)
    assert isinstance(caught.value, TypeError)
    assert not own or own[0].__name__ in str(caught.value)


not_even_infinite = {name: bad for name, bad in NOT_FINITE.items() if bad != math.inf}


@pytest.mark.parametrize("bad", **cases(NOT_NUMBERS, NEGATIVE, not_even_infinite))
def test_a10_what_is_no_number_is_no_distance(bad: Any) -> None:
    for name, measure in NUMBERS.items():
        with pytest.raises(InvalidParameter, match=f"^{name} must be ") as caught:
            measure.distance(bad)
        assert HOUSE_SENTENCE.fullmatch(str(caught.value))


no_curves = {
    name: bad for name, bad in NOT_NUMBERS.items() if not callable(bad) and not isinstance(bad, dict)
}


@pytest.mark.parametrize("bad", **cases(no_curves, NEGATIVE, NOT_FINITE, {"1": 1, "three": (1, 0, 0)}))
def test_a10_what_makes_no_function_is_no_curve_and_no_profile(bad: Any) -> None:
    for measure in MEASURES[3:5]:
        with pytest.raises(InvalidParameter, match="must be a function or a table") as caught:
            measure.distance(bad)
        assert HOUSE_SENTENCE.fullmatch(str(caught.value))


@pytest.mark.parametrize(
    "pair", [(-1, 0), (1, 2), (1, None), ("x", 0), (math.nan, 0), (1, math.nan), (1, True), ([1], 0)]
)
def test_a_pair_is_a_number_and_a_delta(pair: object) -> None:
    for measure in (approximate(max_divergence()), approximate(zero_concentrated_divergence())):
        with pytest.raises(InvalidParameter, match=r"^(epsilon|rho|delta) must be "):
            measure.distance(pair)


def test_a_pair_of_rho_and_delta_is_its_own_loss() -> None:
    measure = approximate(zero_concentrated_divergence())
    for makes_it in (("1/8", "1e-6"), (0.125, 1e-6), ApproxZCDP("1/8", "1e-6")):
        assert measure.distance(makes_it) == measure.loss(makes_it) == ApproxZCDP("1/8", "1e-6")
    assert measure.distance((math.inf, 0)) == ApproxZCDP(math.inf, 0)


@pytest.mark.parametrize("bad", **cases(NOT_NUMBERS, NEGATIVE, NOT_FINITE, {"1": 1, "three": (1, 0, 0)}))
def test_a10_what_is_no_pair_is_no_distance_of_rho_and_delta(bad: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"^a distance must be a pair of rho and delta; got "):
        approximate(zero_concentrated_divergence()).distance(bad)


@pytest.mark.parametrize("bad", **cases(NOT_NUMBERS, NEGATIVE, {"renyi": renyi_divergence()}))
def test_only_pure_and_concentrated_privacy_can_be_approximate(bad: Any) -> None:
    sentence = r"^measure must be max_divergence\(\) or zero_concentrated_divergence\(\); got "
    with pytest.raises(InvalidParameter, match=sentence) as caught:
        approximate(bad)
    assert HOUSE_SENTENCE.fullmatch(str(caught.value))


def test_measures_are_values() -> None:
    again = [
        max_divergence(),
        zero_concentrated_divergence(),
        range_divergence(),
        renyi_divergence(),
        approximate(max_divergence()),
        approximate(zero_concentrated_divergence()),
    ]
    assert again == MEASURES
    assert len({*again, *MEASURES}) == 6
    assert [repr(measure) for measure in MEASURES] == [
        "MaxDivergence()",
        "ZeroConcentratedDivergence()",
        "RangeDivergence()",
        "RenyiDivergence()",
        "Approximate(measure=MaxDivergence())",
        "ApproximateConcentrated()",
    ]


@pytest.mark.parametrize("measure", MEASURES, ids=repr)
def test_measures_cannot_be_changed(measure: Any) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        measure.measure = None


@pytest.mark.parametrize("measure", MEASURES, ids=repr)
def test_b12_measures_survive_pickling_and_copying(measure: Measure) -> None:
    for again in (pickle.loads(pickle.dumps(measure)), copy.copy(measure), copy.deepcopy(measure)):
        assert again == measure
