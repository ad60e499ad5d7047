"""Guarantees that are functions: never below the truth, and n runs cost n times."""

import dataclasses
import math
import operator
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpselect.errors import IncomparableLosses, InvalidParameter
from dpselect.exact.enclosures import exp, expm1, log
from dpselect.privacy import PrivacyProfile, PureDP, RenyiCurve
from tests.privacy.bad_inputs import HOUSE_SENTENCE, NEGATIVE, NOT_FINITE, NOT_NUMBERS, UNFIT, cases

Truth = Callable[[Fraction], Fraction]


@dataclasses.dataclass(frozen=True)
class Line:
    """A divergence that grows with the order."""

    slope: Fraction

    def __call__(self, alpha: Fraction) -> Fraction:
        return self.slope * alpha


@dataclasses.dataclass(frozen=True)
class Ramp:
    """A delta that falls from one to zero."""

    end: Fraction

    def __call__(self, epsilon: Fraction) -> Fraction:
        return max(Fraction(0), 1 - epsilon / self.end)


@dataclasses.dataclass(frozen=True)
class Constant:
    """The same for every argument, sense or nonsense."""

    value: Any

    def __call__(self, point: Fraction) -> Any:
        del point
        return self.value


LINE, RAMP = Line(Fraction(1, 8)), Ramp(Fraction(4))

orders = st.fractions(min_value=1, max_value=20, max_denominator=10).filter(lambda order: order > 1)
epsilons = st.fractions(min_value=0, max_value=20, max_denominator=10)
deltas = st.fractions(min_value=0, max_value=1, max_denominator=20)
steps = st.lists(st.tuples(epsilons, deltas), max_size=4)
slacks = st.sampled_from([Fraction(0), Fraction(1, 7)])


# Tables are looked up on the safe side.


@settings(deadline=None, max_examples=40)
@given(steps, st.dictionaries(orders, slacks, max_size=4), orders)
def test_a_table_of_orders_is_never_below_a_true_curve_that_grows(
    rises: list[tuple[Fraction, Fraction]], known: dict[Fraction, Fraction], order: Fraction
) -> None:
    def truth(alpha: Fraction) -> Fraction:
        return sum((rise for start, rise in rises if start <= alpha), Fraction(0))

    curve = RenyiCurve({alpha: truth(alpha) + slack for alpha, slack in known.items()})
    assert curve(order) >= truth(order)
    if order in known:
        assert curve(order) <= truth(order) + known[order]
    assert (curve(order) == math.inf) is (order > max(known, default=0))


def falling(drops: list[tuple[Fraction, Fraction]]) -> Truth:
    def truth(epsilon: Fraction) -> Fraction:
        left = 1 - sum((drop for start, drop in drops if start <= epsilon), Fraction(0))
        return max(Fraction(0), left)

    return truth


@settings(deadline=None, max_examples=40)
@given(steps, st.dictionaries(epsilons, slacks, max_size=4), epsilons, deltas)
def test_a_table_of_deltas_is_never_below_a_true_profile_that_falls(
    drops: list[tuple[Fraction, Fraction]],
    known: dict[Fraction, Fraction],
    epsilon: Fraction,
    delta: Fraction,
) -> None:
    truth = falling(drops)
    table: dict[Any, Fraction] = {
        point: min(Fraction(1), truth(point) + slack) for point, slack in known.items()
    }
    profile = PrivacyProfile(table)
    assert truth(epsilon) <= profile.delta(epsilon) <= table.get(epsilon, 1)
    enough = profile.epsilon(delta)
    if enough == math.inf:
        assert all(most > delta for most in table.values())
    else:
        assert truth(Fraction(enough)) <= profile.delta(Fraction(enough)) <= delta


def test_a_table_says_nothing_beyond_its_last_order_and_before_its_first_epsilon() -> None:
    curve = RenyiCurve({2: 1, 4: 3})
    assert [curve("3/2"), curve(2), curve(3), curve(4), curve(5)] == [1, 1, 3, 3, math.inf]
    profile = PrivacyProfile({1: "1/10", 2: 0})
    assert [profile.delta(e) for e in (0, 1, 1.5, 2, 3)] == [1, Fraction(1, 10), Fraction(1, 10), 0, 0]
    assert [profile.epsilon(d) for d in (0, "1/20", "1/10", 1)] == [2, 2, 1, 1]
    assert RenyiCurve({})(2) == PrivacyProfile({}).epsilon("1/2") == math.inf
    assert PrivacyProfile({}).delta(10) == 1


def test_a_sum_is_no_privacy_if_one_part_is_however_large_the_others() -> None:
    assert (RenyiCurve({2: 10**400}) + RenyiCurve({2: math.inf}))(2) == math.inf
    assert (PrivacyProfile({}) * 10**400).epsilon(0.1) == math.inf


def test_a_table_that_contradicts_itself_is_read_as_all_its_claims_together() -> None:
    assert RenyiCurve({2: 5, 3: 1})(2) == 1
    assert PrivacyProfile({1: 0, 2: "1/2"}).delta(2) == 0


# Sums.


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(st.builds(Line, epsilons) | st.just({2: 1, 20: 7}), st.integers(0, 9)), max_size=4),
    orders,
)
def test_d12_n_runs_cost_n_times_at_every_order_formula_or_table(
    runs: list[tuple[Any, int]], order: Fraction
) -> None:
    total = RenyiCurve({}) * 0
    for bound, count in runs:
        total = total + RenyiCurve(bound) * count
    assert total(order) == sum(count * RenyiCurve(bound)(order) for bound, count in runs)


def test_no_run_costs_nothing() -> None:
    assert (RenyiCurve({}) * 0)(2) == 0
    assert (PrivacyProfile({}) * 0).delta(0) == 0
    assert (PrivacyProfile({}) * 0).epsilon(0) == 0


small_tables = st.dictionaries(
    st.integers(0, 4), st.sampled_from([Fraction(n, 8) for n in range(9)]), max_size=3
)


@settings(deadline=None, max_examples=40)
@given(st.lists(small_tables, min_size=1, max_size=3), st.integers(0, 13), deltas)
def test_a_sum_of_profiles_is_never_below_the_best_split_of_basic_composition(
    tables: list[dict[int, Fraction]], epsilon: int, delta: Fraction
) -> None:
    total = PrivacyProfile({}) * 0
    for table in tables:
        total = total + PrivacyProfile(table)
    splits = list(product(*([*table.items(), (0, Fraction(1))] for table in tables)))
    spent = [sum(d for _, d in split) for split in splits if sum(e for e, _ in split) <= epsilon]
    assert min([Fraction(1), *spent]) <= total.delta(epsilon) <= 1
    known = list(product(*(table.items() for table in tables)))
    enough = [sum(e for e, _ in split) for split in known if sum(d for _, d in split) <= delta]
    assert total.epsilon(delta) >= min([math.inf, *enough])


@settings(deadline=None, max_examples=40)
@given(st.builds(Ramp, st.integers(1, 9).map(Fraction)), st.integers(1, 5), epsilons, deltas)
def test_d12_n_runs_cost_at_most_n_times_an_equal_share(
    ramp: Ramp, n: int, epsilon: Fraction, delta: Fraction
) -> None:
    one, many = PrivacyProfile(ramp), PrivacyProfile(ramp) * n
    assert many.delta(n * epsilon) <= min(Fraction(1), n * one.delta(epsilon))
    assert many.epsilon(delta) <= n * one.epsilon(delta / n)
    assert many.delta(n * epsilon) >= one.delta(n * epsilon)
    enough = many.epsilon(delta)
    assert isinstance(enough, Fraction)
    assert many.delta(enough) <= delta


def test_a_sum_of_a_formula_and_a_table_uses_both() -> None:
    mixed = RenyiCurve(LINE) * 2 + RenyiCurve({4: 1})
    assert mixed(2) == 2 * Fraction(2, 8) + 1
    assert mixed(5) == math.inf
    profile = PrivacyProfile(RAMP) + PrivacyProfile({2: "1/8"})
    assert 0 < profile.delta(5) <= 1
    assert profile.delta(8) == Fraction(1, 8)


# The least epsilon of a delta.


@dataclasses.dataclass(frozen=True)
class ExponentialTail:
    """delta(e) = 1 - exp((e - epsilon) / 2), rounded up, and zero from epsilon on."""

    epsilon: Fraction

    def __call__(self, e: Fraction) -> Fraction:
        above = -expm1((e - self.epsilon) / 2, 160).low if e < self.epsilon else Fraction(0)
        return min(Fraction(1), above)


@pytest.mark.parametrize("epsilon", ["1/100", "1/2", 1, 3, "12.5", 1000])
@pytest.mark.parametrize("delta", [0, "1e-12", "1e-6", "1/1000", "1/4"])
def test_the_epsilon_of_a_delta_is_sound_and_within_2_to_the_minus_60_of_the_least(
    epsilon: str | int, delta: str | int
) -> None:
    bound, allowed = Fraction(epsilon), Fraction(delta)
    profile = PrivacyProfile(ExponentialTail(bound))
    enough = profile.epsilon(delta)
    assert isinstance(enough, Fraction)
    assert profile.delta(enough) <= allowed
    # The least one solves 1 - exp((e - epsilon) / 2) = delta, or is zero.
    least = max(Fraction(0), bound + 2 * log(1 - allowed, 200).low)
    assert enough <= least * (1 + Fraction(1, 2**60))


@settings(deadline=None, max_examples=50)
@given(st.fractions(min_value=Fraction(1, 2**60), max_value=2**60), deltas)
def test_the_epsilon_of_a_delta_is_found_from_tiny_to_huge(end: Fraction, delta: Fraction) -> None:
    profile = PrivacyProfile(Ramp(end))
    enough = profile.epsilon(delta)
    assert isinstance(enough, Fraction)
    assert profile.delta(enough) <= delta
    assert enough <= end * (1 - delta) * (1 + Fraction(1, 2**60))


def test_b11_a_delta_that_is_never_reached_ends_in_no_privacy() -> None:
    assert PrivacyProfile(Constant(Fraction(1, 2))).epsilon("1/4") == math.inf
    assert PrivacyProfile(Constant(Fraction(1, 2))).epsilon("1/2") == 0
    assert (PrivacyProfile(Constant(Fraction(1, 2))) * 3).delta(1) == 1
    slow = PrivacyProfile(lambda e: exp(-e, 64).high if e < 2**70 else Fraction(0))
    assert slow.epsilon(0) == math.inf


# Comparisons.


def test_a_guarantee_is_compared_at_the_points_of_a_table() -> None:
    assert RenyiCurve(LINE) <= RenyiCurve({2: "1/4", 8: 1})
    assert not RenyiCurve(LINE) <= RenyiCurve({2: "1/4", 8: "0.9"})
    assert RenyiCurve({2: "1/4"}) >= RenyiCurve(LINE)
    assert RenyiCurve(LINE) * 100 <= RenyiCurve({})
    assert RenyiCurve({2: 1}) * 2 <= RenyiCurve({2: 1}) * 2
    assert not RenyiCurve({2: 1}) * 3 <= RenyiCurve({2: 1}) * 2
    assert RenyiCurve({3: 1}) <= RenyiCurve({2: 1})
    assert not RenyiCurve({2: 1}) <= RenyiCurve({3: 1})
    assert RenyiCurve({2: math.inf}) >= RenyiCurve({})
    assert PrivacyProfile(RAMP) <= PrivacyProfile({2: "1/2", 4: 0})
    assert not PrivacyProfile(RAMP) * 2 <= PrivacyProfile({2: "1/2", 4: 0})
    assert PrivacyProfile({1: 0}) * 2 <= PrivacyProfile({2: 0})
    assert not PrivacyProfile({2: 0}) <= PrivacyProfile({1: 0})
    assert PrivacyProfile({1: "1/2"}) >= PrivacyProfile({1: 0})


@settings(deadline=None, max_examples=40)
@given(steps, small_tables, small_tables, epsilons)
def test_what_is_within_a_table_is_within_it_between_its_points_too(
    drops: list[tuple[Fraction, Fraction]],
    table: dict[int, Fraction],
    other: dict[int, Fraction],
    point: Fraction,
) -> None:
    large = PrivacyProfile(table)
    for small in (PrivacyProfile(falling(drops)), PrivacyProfile(other)):
        if small <= large:
            assert small.delta(point) <= large.delta(point)
    orders_of = {alpha + 2: bound for alpha, bound in table.items()}
    curve = RenyiCurve(orders_of)
    if RenyiCurve(LINE) <= curve:
        assert LINE(point + 2) <= curve(point + 2)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (RenyiCurve(LINE), RenyiCurve(Line(Fraction(1)))),
        (PrivacyProfile(RAMP), PrivacyProfile(Ramp(Fraction(9)))),
    ],
)
def test_formulas_are_compared_run_by_run(one: Any, other: Any) -> None:
    assert one <= one * 2
    assert one * 2 >= one
    assert one * 2 <= one * 2
    assert not one * 2 <= one
    assert one <= one + other
    assert one + other <= one * 2 + other
    assert one * 0 <= other
    comparisons: list[Callable[[], object]] = [
        lambda: one <= other,
        lambda: one + other <= one,
        lambda: one <= one * 0,
        lambda: one * 2 + other <= one + other * 2,
        lambda: one >= other,
    ]
    for incomparable in comparisons:
        with pytest.raises(
            IncomparableLosses, match="compare with a table of the points that matter"
        ) as caught:
            incomparable()
        assert isinstance(caught.value, TypeError)


def test_an_incomparable_pair_is_told_which_table_would_help() -> None:
    with pytest.raises(IncomparableLosses, match=r"at every order; .* RenyiCurve\(\{order: epsilon\}\)\."):
        _ = RenyiCurve(LINE) <= RenyiCurve(Line(Fraction(1)))
    with pytest.raises(
        IncomparableLosses, match=r"at every epsilon; .* PrivacyProfile\(\{epsilon: delta\}\)\."
    ):
        _ = PrivacyProfile(RAMP) <= PrivacyProfile(Ramp(Fraction(1)))


@pytest.mark.parametrize("other", [1, "1", None, Fraction(1), [1], PureDP(1)], ids=repr)
def test_a_curve_neither_adds_nor_compares_with_anything_else(other: Any) -> None:
    curves: list[Any] = [RenyiCurve(LINE), PrivacyProfile(RAMP)]
    for curve in curves:
        with pytest.raises(TypeError):
            curve + other
        with pytest.raises(TypeError):
            other + curve
        for compare in (operator.lt, operator.le, operator.ge, operator.gt):
            with pytest.raises(TypeError):
                compare(curve, other)
            with pytest.raises(TypeError):
                compare(other, curve)
        assert (curve == other) is False


@pytest.mark.parametrize("verb", [operator.add, operator.le, operator.ge])
def test_a_curve_and_a_profile_neither_add_nor_compare(verb: Callable[[Any, Any], Any]) -> None:
    for one, other in permutations([RenyiCurve(LINE), PrivacyProfile(RAMP)]):
        with pytest.raises(TypeError):
            verb(one, other)


# Reading.

no_bounds = {
    name: bad for name, bad in NOT_NUMBERS.items() if not callable(bad) and not isinstance(bad, dict)
}
losses = {"pure": PureDP(1), "curve": RenyiCurve(LINE), "profile": PrivacyProfile(RAMP)}


@pytest.mark.parametrize("bad", **cases(no_bounds, NEGATIVE, NOT_FINITE, UNFIT, losses))
def test_a10_a_bound_is_a_function_or_a_table(bad: Any) -> None:
    for kind in (RenyiCurve, PrivacyProfile):
        with pytest.raises(InvalidParameter) as caught:
            kind(bad)
        assert str(caught.value).startswith(
            f"the bound of a {kind.__name__} must be a function or a table {{point: bound}}; got "
        )
        assert HOUSE_SENTENCE.fullmatch(str(caught.value))


def is_hashable(value: object) -> bool:
    return type(value).__hash__ is not None and not isinstance(value, tuple)


points = {name: bad for name, bad in NOT_NUMBERS.items() if is_hashable(bad) and name != "decimal-snan"}


@pytest.mark.parametrize("bad", **cases(points, NEGATIVE, NOT_FINITE))
def test_a10_the_points_of_a_table_are_numbers(bad: Any) -> None:
    for kind, name in ((RenyiCurve, "alpha"), (PrivacyProfile, "epsilon")):
        with pytest.raises(InvalidParameter, match=f"^{name} must be ") as caught:
            kind({bad: 0})
        assert HOUSE_SENTENCE.fullmatch(str(caught.value))


@pytest.mark.parametrize("bad", **cases(NOT_NUMBERS, NEGATIVE))
def test_a10_the_bounds_of_a_table_are_numbers(bad: Any) -> None:
    for kind, name in ((RenyiCurve, "epsilon"), (PrivacyProfile, "delta")):
        with pytest.raises(InvalidParameter, match=f"^{name} must be ") as caught:
            kind({2: bad})
        assert HOUSE_SENTENCE.fullmatch(str(caught.value))


@pytest.mark.parametrize("bad", **cases(NOT_NUMBERS, NEGATIVE))
def test_a7_a_formula_that_gives_nonsense_is_refused_where_it_is_used(bad: Any) -> None:
    curve, profile = RenyiCurve(lambda _: bad), PrivacyProfile(lambda _: bad)
    uses: list[Callable[[], object]] = [
        lambda: curve(2),
        lambda: (curve * 3 + RenyiCurve(LINE))(2),
        lambda: curve <= RenyiCurve({2: 1}),
        lambda: profile.delta(1),
        lambda: profile.epsilon("1/2"),
        lambda: profile <= PrivacyProfile({2: 1}),
    ]
    for use in uses:
        with pytest.raises(InvalidParameter, match=r"^the bound must be ") as caught:
            use()
        assert HOUSE_SENTENCE.fullmatch(str(caught.value))


@pytest.mark.parametrize("delta", [2, "1.01", math.inf, 10**400])
def test_a_table_with_a_delta_above_one_is_refused(delta: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"^delta must be "):
        PrivacyProfile({1: delta})


def test_a_formula_may_give_any_kind_of_number_and_an_infinite_divergence() -> None:
    assert (
        RenyiCurve(lambda _: 0.1)(2) == PrivacyProfile(lambda _: Fraction(1, 10)).delta(1) == Fraction(1, 10)
    )
    assert RenyiCurve(lambda _: math.inf)(2) == math.inf
    assert type(RenyiCurve(lambda alpha: alpha)(2)) is Fraction


@pytest.mark.parametrize(
    "bad", **cases(NOT_NUMBERS, NOT_FINITE, NEGATIVE, {"1": 1, "0.5": 0.5, "1/1": "1/1"})
)
def test_an_order_is_a_number_above_one(bad: Any) -> None:
    for curve in (RenyiCurve(LINE), RenyiCurve({2: 1}), RenyiCurve({}) * 0):
        with pytest.raises(InvalidParameter, match=r"^alpha must be ") as caught:
            curve(bad)
        assert HOUSE_SENTENCE.fullmatch(str(caught.value))


@pytest.mark.parametrize("bad", **cases(NOT_NUMBERS, NOT_FINITE, NEGATIVE))
def test_a_profile_is_asked_at_numbers_only(bad: Any) -> None:
    for profile in (PrivacyProfile(RAMP), PrivacyProfile({1: 0}), PrivacyProfile({}) * 0):
        with pytest.raises(InvalidParameter, match=r"^epsilon must be ") as caught:
            profile.delta(bad)
        assert HOUSE_SENTENCE.fullmatch(str(caught.value))
        with pytest.raises(InvalidParameter, match=r"^delta must be ") as caught:
            profile.epsilon(bad)
        assert HOUSE_SENTENCE.fullmatch(str(caught.value))


def test_a_profile_is_asked_for_the_epsilon_of_a_probability() -> None:
    with pytest.raises(InvalidParameter, match="delta must be a probability from 0 to 1; got 2"):
        PrivacyProfile({1: 0}).epsilon(2)


# Values.


def test_curves_are_values() -> None:
    assert RenyiCurve(LINE) == RenyiCurve(Line(Fraction(1, 8))) != RenyiCurve(LINE) * 2
    assert RenyiCurve({2: 1, 3: 2}) == RenyiCurve({"3": 2.0, "2": "1"})
    assert len({RenyiCurve(LINE), RenyiCurve(LINE), RenyiCurve({2: 0}), PrivacyProfile({2: 0})}) == 3


def test_a_curve_shows_what_was_run_and_how_often() -> None:
    assert repr(RenyiCurve(LINE) * 3 + RenyiCurve({2: 1})) == (
        "RenyiCurve(Line(slope=Fraction(1, 8)) * 3 + {'2': '1'})"
    )
    assert repr(PrivacyProfile(RAMP) * 0) == "PrivacyProfile(0)"


def test_the_repr_of_a_table_makes_it_again() -> None:
    curve = RenyiCurve({"3/2": "1/2", 8: math.inf})
    assert repr(curve) == "RenyiCurve({'3/2': '1/2', '8': inf})"
    assert eval(repr(curve), {"RenyiCurve": RenyiCurve, "inf": math.inf}) == curve  # noqa: S307 - our own


def test_the_runs_of_a_curve_cannot_be_changed() -> None:
    for curve in (RenyiCurve(LINE), PrivacyProfile(RAMP)):
        with pytest.raises(dataclasses.FrozenInstanceError):
            curve.runs = frozenset()  # type: ignore[misc]
        with pytest.raises(dataclasses.FrozenInstanceError):
            del curve.runs


@pytest.mark.parametrize("field", ["new", "delta"])
def test_nothing_can_be_put_on_a_curve(field: str) -> None:
    for curve in (RenyiCurve(LINE), PrivacyProfile(RAMP)):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(curve, field, 1)


@dataclasses.dataclass(frozen=True)
class HoldsAList:
    values: list[int]

    def __call__(self, alpha: Fraction) -> Fraction:
        return alpha


def test_a_formula_that_cannot_be_hashed_is_refused() -> None:
    with pytest.raises(InvalidParameter):
        RenyiCurve(HoldsAList([1]))
