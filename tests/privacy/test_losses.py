"""What a release costs: exact sums, multiples and comparisons, within one kind."""

import copy
import dataclasses
import json
import math
import operator
import pickle
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import dpselect
from dpselect.errors import IncomparableLosses, InvalidParameter
from dpselect.privacy import ZCDP, ApproxDP, ApproxZCDP, PrivacyProfile, PureDP, RenyiCurve, RenyiDP
from dpselect.privacy.losses import loss_from_facts
from tests.privacy.bad_inputs import (
    HOUSE_SENTENCE,
    NEGATIVE,
    NOT_FINITE,
    NOT_NUMBERS,
    NOT_WHOLE,
    UNFIT,
    cases,
)


@dataclasses.dataclass(frozen=True)
class Line:
    """A Rényi divergence that grows with the order, as Gaussian noise gives."""

    slope: Fraction

    def __call__(self, alpha: Fraction) -> Fraction:
        return self.slope * alpha


amounts = st.fractions(min_value=0, max_value=1000) | st.just(math.inf)
deltas = st.fractions(min_value=0, max_value=1)
counts = st.integers(0, 1000)
lines = st.builds(Line, st.fractions(min_value=0, max_value=10, max_denominator=100))
tables = st.dictionaries(st.integers(2, 9), st.integers(0, 9) | st.just(math.inf), max_size=3)
KINDS: dict[str, st.SearchStrategy[Any]] = {
    "pure": st.builds(PureDP, amounts),
    "zcdp": st.builds(ZCDP, amounts),
    "approx": st.builds(ApproxDP, amounts, deltas),
    "approx-zcdp": st.builds(ApproxZCDP, amounts, deltas),
    "renyi": st.builds(RenyiDP, lines | tables),
}
ONE_OF_EACH: list[Any] = [
    PureDP(1),
    ZCDP(1),
    ApproxDP(1, 0),
    ApproxZCDP(1, 0),
    RenyiDP(Line(Fraction(1))),
    RenyiCurve(Line(Fraction(1))),
    PrivacyProfile({1: 0}),
]
ZERO = {
    "pure": PureDP(0),
    "zcdp": ZCDP(0),
    "approx": ApproxDP(0, 0),
    "approx-zcdp": ApproxZCDP(0, 0),
    "renyi": RenyiDP({}) * 0,
}

each_kind = pytest.mark.parametrize("kind", KINDS)


# Laws.


@each_kind
@settings(deadline=None, max_examples=40)
@given(st.data())
def test_sums_are_commutative_and_associative_and_zero_adds_nothing(kind: str, data: st.DataObject) -> None:
    a, b, c = (data.draw(KINDS[kind]) for _ in range(3))
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + ZERO[kind] == ZERO[kind] + a == a


@each_kind
@settings(deadline=None, max_examples=40)
@given(st.data())
def test_d12_n_runs_cost_n_times(kind: str, data: st.DataObject) -> None:
    loss, m, n = data.draw(KINDS[kind]), data.draw(counts), data.draw(counts)
    assert loss * m + loss * n == loss * (m + n)
    assert loss * n == n * loss
    assert loss * 1 == loss
    assert loss * 2 == loss + loss
    assert loss * 0 == ZERO[kind]
    if not kind.startswith("approx"):  # whose delta stops at one
        assert (loss * m) * n == loss * (m * n)


@each_kind
@settings(deadline=None, max_examples=40)
@given(st.data())
def test_a_multiple_distributes_over_a_sum(kind: str, data: st.DataObject) -> None:
    a, b, n = data.draw(KINDS[kind]), data.draw(KINDS[kind]), data.draw(counts)
    if kind.startswith("approx"):
        assume(a.delta + b.delta <= 1)
    assert (a + b) * n == a * n + b * n


@each_kind
@settings(deadline=None, max_examples=40)
@given(st.data())
def test_more_never_costs_less(kind: str, data: st.DataObject) -> None:
    a, b, n = data.draw(KINDS[kind]), data.draw(KINDS[kind]), data.draw(counts)
    assert ZERO[kind] <= a <= a * 1
    assert a * n <= a * (n + 1)
    if kind != "renyi":  # sums of formulas compare only run by run
        assert a <= a + b
        assert a + b >= b
        if a <= b:
            assert a * n <= b * n


@settings(deadline=None, max_examples=40)
@given(amounts, amounts)
def test_pure_and_concentrated_losses_are_ordered_like_their_numbers(a: Any, b: Any) -> None:
    for kind in (PureDP, ZCDP):
        for compare in (operator.le, operator.lt, operator.ge, operator.gt, operator.eq, operator.ne):
            assert compare(kind(a), kind(b)) is compare(a, b)


@settings(deadline=None, max_examples=40)
@given(amounts, deltas, amounts, deltas)
def test_an_approximate_loss_is_smaller_only_if_both_parts_are(a: Any, d: Any, b: Any, e: Any) -> None:
    kinds: list[Any] = [ApproxDP, ApproxZCDP]
    for kind in kinds:
        one, other = kind(a, d), kind(b, e)
        assert (one <= other) is (a <= b and d <= e)
        assert (one >= other) is (other <= one)
        assert (one < other) is (one <= other and one != other)
        assert (one > other) is (other < one)
        if one <= other <= one:
            assert one == other


def test_of_two_approximate_losses_neither_need_be_the_smaller() -> None:
    one, other = ApproxDP(1, "1e-6"), ApproxDP(2, 0)
    assert not one <= other
    assert not other <= one
    assert not one < other
    assert not one > other


def test_a13_ten_tenths_make_one() -> None:
    assert PureDP(0.1) * 10 == PureDP("1/10") * 10 == PureDP(1)
    assert sum([PureDP(0.1)] * 9, start=PureDP("0.1")) == PureDP(1)
    assert ZCDP(0.1) * 10 == ZCDP(1)
    assert ApproxDP(0.1, 1e-6) * 10 == ApproxDP(1, 1e-5)


def test_nothing_times_no_privacy_is_nothing() -> None:
    assert PureDP(math.inf) * 0 == PureDP(0)
    assert ZCDP(math.inf) * 0 == ZCDP(0)
    assert ApproxDP(math.inf, 1) * 0 == ApproxDP(0, 0)
    assert (RenyiDP({}) * 0).curve(2) == 0


def test_no_privacy_stays_no_privacy() -> None:
    assert PureDP(math.inf) + PureDP(1) == PureDP(math.inf) * 3 == PureDP(math.inf)
    assert PureDP(10**400) < PureDP(math.inf)
    assert not PureDP(math.inf) <= PureDP(10**400)
    assert PureDP(math.inf) <= PureDP(math.inf)


def test_no_privacy_swallows_prices_and_counts_beyond_every_float() -> None:
    assert PureDP(10**400) + PureDP(math.inf) == PureDP(math.inf) + PureDP(10**400) == PureDP(math.inf)
    assert PureDP(math.inf) * 10**400 == PureDP(math.inf)
    assert (RenyiDP({2: 10**400}) + RenyiDP({2: math.inf})).curve(2) == math.inf


@settings(deadline=None, max_examples=40)
@given(st.lists(deltas, min_size=1, max_size=5), counts)
def test_delta_is_a_probability_whatever_is_added(parts: list[Fraction], n: int) -> None:
    total = sum((ApproxDP(1, delta) for delta in parts), start=ApproxDP(0, 0))
    assert total == ApproxDP(len(parts), min(Fraction(1), sum(parts, Fraction(0))))
    assert (total * n).delta == min(1, total.delta * n)


@settings(deadline=None, max_examples=40)
@given(lines, tables, counts, st.integers(2, 12))
def test_a_renyi_loss_adds_order_by_order(line: Line, table: dict[int, int], n: int, order: int) -> None:
    loss, other = RenyiDP(line), RenyiDP(table)
    assert (loss + other).curve(order) == loss.curve(order) + other.curve(order)
    assert (loss * n).curve(order) == n * loss.curve(order)


def test_renyi_losses_compare_at_the_orders_of_a_table() -> None:
    loss = RenyiDP(Line(Fraction(1, 8)))
    assert loss * 2 <= RenyiDP({2: "1/2", 8: 2})
    assert not loss * 3 <= RenyiDP({2: "1/2", 8: 2})
    assert RenyiDP({2: "1/2"}) >= loss
    assert loss < RenyiDP({2: "1/2"})
    assert RenyiDP({2: "1/2"}) > loss


# One kind only.

VERBS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "<=": operator.le,
    "<": operator.lt,
    ">": operator.gt,
    ">=": operator.ge,
}
LOSSES = ONE_OF_EACH[:5]
PAIRS = [
    (a, b)
    for a in LOSSES
    for b in [*ONE_OF_EACH, 1, Fraction(1), "1", None, object()]
    if type(a) is not type(b)
]


@pytest.mark.parametrize("verb", VERBS.values(), ids=list(VERBS))
def test_losses_of_different_kinds_neither_add_nor_compare(verb: Callable[[Any, Any], Any]) -> None:
    for one, other in PAIRS:
        with pytest.raises(IncomparableLosses) as caught:
            verb(one, other)
        assert isinstance(caught.value, TypeError)
        assert "convert one of them first." in str(caught.value)
        with pytest.raises(TypeError):
            verb(other, one)


def test_losses_of_different_kinds_are_not_equal() -> None:
    for one, other in PAIRS:
        assert (one == other) is False
        assert (other == one) is False
        assert one != other


# Reading.


@pytest.mark.parametrize("half", [0.5, "0.5", "1/2", "5e-1", Decimal("0.5"), Fraction(1, 2), np.float16(0.5)])
def test_a_loss_is_read_exactly_from_every_kind_of_number(half: Any) -> None:
    assert PureDP(half).epsilon == ZCDP(half).rho == Fraction(1, 2)
    assert ApproxDP(half, half) == ApproxDP("1/2", "1/2")
    assert type(PureDP(half).epsilon) is type(ApproxDP(half, half).delta) is Fraction
    assert RenyiDP({2: half}).curve(2) == Fraction(1, 2)


def test_a_loss_may_be_infinite_or_huge() -> None:
    assert PureDP(math.inf).epsilon == PureDP(np.float64("inf")).epsilon == ZCDP(math.inf).rho == math.inf
    assert PureDP(10**5000).epsilon == 10**5000
    assert PureDP(0).epsilon == PureDP(-0.0).epsilon == 0


not_even_infinite = {"-inf": -math.inf, "decimal-inf": Decimal("Infinity"), "inf-as-text": "inf"}


@pytest.mark.parametrize("bad", **cases(NOT_NUMBERS, NEGATIVE, not_even_infinite))
def test_a10_what_is_no_loss_is_refused_by_every_kind(bad: Any) -> None:
    makers: list[tuple[str, Callable[[Any], object]]] = [
        ("epsilon", PureDP),
        ("rho", ZCDP),
        ("epsilon", lambda value: ApproxDP(value, 0)),
        ("delta", lambda value: ApproxDP(1, value)),
        ("rho", lambda value: ApproxZCDP(value, 0)),
        ("delta", lambda value: ApproxZCDP(1, value)),
    ]
    for name, make in makers:
        with pytest.raises(InvalidParameter, match=f"^{name} must be ") as caught:
            make(bad)
        assert HOUSE_SENTENCE.fullmatch(str(caught.value))
        assert len(str(caught.value)) < 250


@pytest.mark.parametrize("delta", [math.inf, 1.5, "1.0000001", 2, 10**400, np.float32("inf")])
def test_delta_is_a_probability(delta: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"^delta must be ") as caught:
        ApproxDP(1, delta)
    assert HOUSE_SENTENCE.fullmatch(str(caught.value))


no_curves = {
    name: bad for name, bad in NOT_NUMBERS.items() if not callable(bad) and not isinstance(bad, dict)
}


@pytest.mark.parametrize("bad", **cases(no_curves, NEGATIVE, NOT_FINITE, UNFIT, {"pure": PureDP(1)}))
def test_a10_what_makes_no_curve_makes_no_renyi_loss(bad: Any) -> None:
    with pytest.raises(InvalidParameter, match="must be a function or a table") as caught:
        RenyiDP(bad)
    assert HOUSE_SENTENCE.fullmatch(str(caught.value))


@pytest.mark.parametrize("bad", **cases(NOT_NUMBERS, NOT_FINITE, NEGATIVE, NOT_WHOLE, {"loss": PureDP(1)}))
def test_a_count_is_a_whole_number_of_zero_or_more(bad: Any) -> None:
    for loss in ONE_OF_EACH:
        with pytest.raises(InvalidParameter, match=r"^count must be a whole number of 0 or more; got "):
            loss * bad


def test_a_count_may_be_numpys() -> None:
    for loss in ONE_OF_EACH:
        assert loss * np.int64(3) == np.uint8(3) * loss == loss * 3


# Values.


def test_a_loss_shows_the_expression_that_makes_it() -> None:
    shown = [PureDP("1/2"), ZCDP(0.125), ApproxDP(1, "1e-6"), PureDP(math.inf), PureDP(3) * 7]
    assert list(map(repr, shown)) == [
        "PureDP('1/2')",
        "ZCDP('1/8')",
        "ApproxDP('1', '1/1000000')",
        "PureDP(inf)",
        "PureDP('21')",
    ]
    assert repr(RenyiDP(Line(Fraction(1)))) == "RenyiDP(RenyiCurve(Line(slope=Fraction(1, 1))))"


@settings(deadline=None, max_examples=40)
@given(KINDS["pure"] | KINDS["zcdp"] | KINDS["approx"] | KINDS["approx-zcdp"])
def test_the_repr_of_a_loss_makes_it_again(loss: object) -> None:
    kinds = (PureDP, ZCDP, ApproxDP, ApproxZCDP)
    names = {"inf": math.inf, **{kind.__name__: kind for kind in kinds}}
    assert eval(repr(loss), names) == loss  # noqa: S307 - the text is our own


def test_a_loss_reads_as_a_phrase() -> None:
    assert str(PureDP("1/2")) == "epsilon 0.5"
    assert str(ZCDP("1/8")) == "rho 0.125"
    assert str(ApproxDP(1, "1e-6")) == "epsilon 1 with delta 0.000001"
    assert str(ApproxZCDP("1/8", "1e-6")) == "rho 0.125 with delta 0.000001"
    assert str(PureDP(math.inf)) == "epsilon inf"
    assert str(RenyiDP({2: 1})) == f"Rényi divergence {RenyiCurve({2: 1})!r}"


def test_a_long_fraction_is_shown_rounded_up_and_says_so() -> None:
    assert str(PureDP(Fraction(10**30, 3 * 10**30 + 1))) == "epsilon 0.3334 (rounded up)"
    assert str(ZCDP(Fraction(1, 10**30))) == "rho 1e-30"
    assert str(ZCDP(Fraction(1, 3 * 10**30))) == "rho 3.334e-31 (rounded up)"


def test_what_is_left_is_rounded_down() -> None:
    assert PureDP(Fraction(10**30, 3 * 10**30 - 1)).left() == "epsilon 0.3333 (rounded down)"
    assert ZCDP(Fraction(1, 3 * 10**30)).left() == "rho 3.333e-31 (rounded down)"
    assert (PureDP("1/3").left(), ZCDP("1/7").left()) == (
        "epsilon 0.3333 (rounded down)",
        "rho 0.1428 (rounded down)",
    )
    assert (PureDP(math.inf).left(), ZCDP(math.inf).left()) == ("epsilon inf", "rho inf")
    assert repr(PureDP(Fraction(1, 3**60))) == f"PureDP('1/{3**60}')"


def test_both_parts_of_a_pair_are_rounded_outward() -> None:
    pair = ApproxZCDP(Fraction(10**30, 3 * 10**30 + 1), Fraction(1, 10**9 * 3))
    assert str(pair) == "rho 0.3334 (rounded up) with delta 3.334e-10 (rounded up)"
    assert pair.left() == "rho 0.3333 (rounded down) with delta 3.333e-10 (rounded down)"
    assert ApproxDP(1, "1e-6").readable() == "1 with delta 0.000001"


def test_a_loss_too_long_for_python_to_print_is_shown_exactly_or_rounded_up() -> None:
    digits = "1" + "0" * 5000  # Python refuses str() of an integer of more than 4300 digits
    for loss in (PureDP(10**5000), PureDP(1) * 10**5000):
        assert repr(loss) == f"PureDP('{digits}')"
        assert str(loss) == "epsilon 1e5000"


def test_losses_are_values() -> None:
    assert len({PureDP(1), PureDP("1"), PureDP(2), ZCDP(1), ApproxDP(1, 0), ApproxDP(1, 0.0)}) == 4
    assert hash(RenyiDP(Line(Fraction(1)))) == hash(RenyiDP(Line(Fraction(1))))
    assert RenyiDP(RenyiCurve({2: 1})) == RenyiDP({2: 1}) != RenyiDP({2: 2})


@pytest.mark.parametrize(
    ("loss", "field"),
    [
        (PureDP(1), "epsilon"),
        (ZCDP(1), "rho"),
        (ApproxDP(1, 0), "delta"),
        (RenyiDP({}), "curve"),
        (PureDP(1), "new"),
    ],
)
def test_losses_cannot_be_changed(loss: object, field: str) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(loss, field, 0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        delattr(loss, field)


@pytest.mark.parametrize(
    "loss",
    [*ONE_OF_EACH, PureDP(math.inf), RenyiDP({2: 1}) * 3 + RenyiDP({3: math.inf}), RenyiDP({}) * 0],
    ids=lambda loss: type(loss).__name__,
)
def test_b12_losses_survive_pickling_and_copying(loss: Any) -> None:
    for again in (pickle.loads(pickle.dumps(loss)), copy.copy(loss), copy.deepcopy(loss)):
        assert again == loss
        assert hash(again) == hash(loss)
        assert again * 2 == loss + loss


# A loss knows itself.


def test_a_loss_knows_its_symbol_its_measure_and_its_amount() -> None:
    assert (PureDP("1/2").symbol, PureDP("1/2").measure, PureDP("1/2").amount) == (
        "epsilon",
        "max_divergence",
        Fraction(1, 2),
    )
    assert (ZCDP(2).symbol, ZCDP(2).measure, ZCDP(2).amount) == ("rho", "zero_concentrated_divergence", 2)
    pair = ApproxDP(3, "1e-6")
    assert (pair.symbol, pair.measure, pair.amount) == ("epsilon", "approximate(max_divergence)", 3)
    concentrated = ApproxZCDP("1/8", "1e-6")
    assert (concentrated.symbol, concentrated.amount) == ("rho", Fraction(1, 8))
    assert concentrated.measure == "approximate(zero_concentrated_divergence)"
    assert (RenyiDP.symbol, RenyiDP.measure) == ("renyi", "renyi_divergence")
    assert PureDP(math.inf).amount == math.inf


def test_the_measure_of_a_loss_is_the_one_whose_prices_it_states() -> None:
    for loss, distance in ((PureDP(1), 1), (ZCDP(1), 1), (RenyiDP({2: 1}), {2: 1})):
        assert getattr(dpselect, loss.measure)().loss(distance) == loss
    profile = dpselect.approximate(dpselect.max_divergence()).loss((1, 0))
    assert profile.measure == ApproxDP.measure == "approximate(max_divergence)"
    assert isinstance(profile, PrivacyProfile)


def test_the_loss_of_no_release_is_zero_in_every_kind() -> None:
    for kind, zero in ZERO.items():
        assert type(zero).zero() == zero, kind
    assert PrivacyProfile.zero() + PrivacyProfile({1: 0}) == PrivacyProfile({1: 0})


def test_a_number_is_readable_without_its_symbol() -> None:
    assert (PureDP("1/3").readable(), ZCDP(math.inf).readable()) == ("0.3334 (rounded up)", "inf")
    long = ZCDP(Fraction(10**30, 3 * 10**30 + 1))
    assert long.readable() == "0.3334 (rounded up)"
    assert long.readable(rounded="down") == "0.3333 (rounded down)"


def test_a_loss_is_written_down_by_the_names_of_its_parts() -> None:
    assert PureDP(0.5).to_facts() == {"epsilon": "1/2"}
    assert ZCDP(3).to_facts() == {"rho": "3"}
    assert ApproxDP(math.inf, "1e-6").to_facts() == {"epsilon": "inf", "delta": "1/1000000"}
    assert RenyiDP({"3/2": "1/2", 8: math.inf}).to_facts() == {"renyi": {"3/2": "1/2", "8": "inf"}}
    assert PureDP(10**5000).to_facts() == {"epsilon": "1" + "0" * 5000}


@settings(deadline=None, max_examples=80)
@given(KINDS["pure"] | KINDS["zcdp"] | KINDS["approx"] | st.builds(RenyiDP, tables))
def test_what_is_written_down_is_read_back(loss: Any) -> None:
    again = loss_from_facts(json.loads(json.dumps(loss.to_facts())))
    assert again == loss == type(loss).from_facts(loss.to_facts())
    assert type(again) is type(loss)


@pytest.mark.parametrize(
    "loss",
    [RenyiDP(Line(Fraction(1))), RenyiDP({2: 1}) * 2, RenyiDP({2: 1}) + RenyiDP({3: 1}), RenyiDP.zero()],
)
def test_only_a_table_of_orders_is_written_down(loss: RenyiDP) -> None:
    with pytest.raises(InvalidParameter, match=r"^a Rényi budget must be a table \{order: epsilon\}, "):
        loss.to_facts()


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"epsilon": "2/4"},
        {"epsilon": "1/0"},
        {"epsilon": "0.5"},
        {"epsilon": "1e3"},
        {"epsilon": "-1"},
        {"epsilon": "-0"},
        {"epsilon": " 1"},
        {"epsilon": "1\n"},
        {"epsilon": "\u0661"},
        {"epsilon": "-inf"},
        {"epsilon": "nan"},
        {"epsilon": 1},
        {"epsilon": None},
        {"epsilon": ["1"]},
        {"epsilon": "1", "rho": "1"},
        {"epsilon": "1", "delta": "2"},
        {"epsilon": "1", "delta": "inf"},
        {"delta": "1"},
        {"curve": {"2": "1"}},
        {"renyi": {"1": "1"}},
        {"renyi": {"2": "1", "4/2": "1"}},
        {"renyi": {"inf": "1"}},
        {"renyi": ["2", "1"]},
        {"renyi": "1"},
        {1: "1"},
        ["epsilon"],
        "rho",
        None,
        PureDP(1),
    ],
    ids=repr,
)
def test_what_no_loss_wrote_is_no_loss(facts: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"^facts must be a loss, as to_facts\(\) writes it\.$"):
        loss_from_facts(facts)
    for kind in (PureDP, ZCDP, ApproxDP, RenyiDP):
        with pytest.raises(InvalidParameter, match=r"^facts must be a loss"):
            kind.from_facts(facts)


def test_a_kind_reads_its_own_facts_alone() -> None:
    with pytest.raises(InvalidParameter, match=r"^facts must be a loss"):
        PureDP.from_facts({"epsilon": "1", "delta": "0"})
    with pytest.raises(InvalidParameter, match=r"^facts must be a loss"):
        ZCDP.from_facts({"epsilon": "1"})
