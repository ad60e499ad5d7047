"""Privacy profiles of several different runs, and of formulas that know their inverse."""

import dataclasses
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpselect.errors import InvalidParameter
from dpselect.exact.enclosures import exp, log
from dpselect.privacy import PrivacyProfile
from dpselect.privacy.amounts import Amount
from dpselect.privacy.profiles import LEAST_DELTA
from tests.privacy.bad_inputs import HOUSE_SENTENCE, NEGATIVE, NOT_NUMBERS, cases

SLACK = 1 + Fraction(1, 2**16)
"""How far above the least delta a search may end, as ``profiles`` says."""


@dataclasses.dataclass(frozen=True)
class Tail:
    """delta(e) = exp(-rate * e), rounded up: never zero."""

    rate: Fraction

    def __call__(self, e: Fraction) -> Fraction:
        return min(Fraction(1), exp(-self.rate * e, 64).high)


@dataclasses.dataclass(frozen=True)
class InvertibleTail(Tail):
    """The same, and it knows for which epsilon a delta is enough."""

    def epsilon(self, delta: Fraction) -> Amount:
        return -log(delta, 64).low / self.rate if delta else math.inf


@dataclasses.dataclass(frozen=True, eq=False)
class InverseOnly:
    """Answers with its inverse, whatever it is; to be asked for nothing else."""

    answer: Any

    def __call__(self, e: Fraction) -> Fraction:
        text = f"asked for the delta of {e}"
        raise AssertionError(text)

    def epsilon(self, delta: Fraction) -> Any:
        del delta
        return self.answer


deltas = st.fractions(min_value=0, max_value=1, max_denominator=1000)
rates = st.integers(1, 5).map(Fraction)
tables = st.dictionaries(st.integers(0, 4), st.sampled_from([Fraction(n, 12) for n in range(13)]), max_size=3)
runs = st.lists(
    st.tuples(tables | st.builds(InvertibleTail, rates), st.integers(1, 3)), min_size=1, max_size=3
)


# Formulas that know their inverse.


@pytest.mark.parametrize(("answer", "epsilon"), [("1/3", Fraction(1, 3)), (0, 0), (math.inf, math.inf)])
def test_a_formula_with_an_inverse_is_asked_and_not_searched(answer: Any, epsilon: Amount) -> None:
    profile = PrivacyProfile(InverseOnly(answer))
    assert profile.epsilon("1/10") == epsilon
    assert (profile * 3).epsilon("1/10") == 3 * epsilon


@pytest.mark.parametrize("bad", **cases(NOT_NUMBERS, NEGATIVE))
def test_a7_an_inverse_that_gives_nonsense_is_refused_where_it_is_used(bad: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"^the bound must be ") as caught:
        PrivacyProfile(InverseOnly(bad)).epsilon("1/2")
    assert HOUSE_SENTENCE.fullmatch(str(caught.value))


@settings(deadline=None, max_examples=40)
@given(rates, st.integers(1, 4), deltas.filter(bool))
def test_the_inverse_and_the_search_find_the_same_epsilon(rate: Fraction, n: int, delta: Fraction) -> None:
    asked = (PrivacyProfile(InvertibleTail(rate)) * n).epsilon(delta)
    searched = (PrivacyProfile(Tail(rate)) * n).epsilon(delta)
    assert abs(Fraction(asked) - Fraction(searched)) <= Fraction(1, 2**50)


def test_a_field_called_epsilon_is_no_inverse() -> None:
    @dataclasses.dataclass(frozen=True)
    class Pure:
        epsilon: Fraction

        def __call__(self, e: Fraction) -> Fraction:
            return Fraction(e < self.epsilon)

    assert PrivacyProfile(Pure(Fraction(1, 2))).epsilon(0) == Fraction(1, 2)


# Several different runs.


def total(parts: list[tuple[Any, int]]) -> PrivacyProfile:
    return sum((PrivacyProfile(bound) * n for bound, n in parts), PrivacyProfile({}) * 0)


def test_different_pure_runs_add_their_epsilons() -> None:
    both = PrivacyProfile({1: 0}) + PrivacyProfile({3: 0})
    assert both.epsilon(0) == 4
    assert both.delta(4) == 0
    assert both.delta("3.99") == 1
    assert both <= PrivacyProfile({4: 0})
    assert not both <= PrivacyProfile({"3.99": 0})


def test_no_run_at_all_costs_nothing_and_an_empty_table_everything() -> None:
    nothing, everything = PrivacyProfile({}) * 0, PrivacyProfile({})
    assert nothing.epsilon(0) == nothing.delta(0) == 0
    assert nothing + PrivacyProfile({1: 0}) == PrivacyProfile({1: 0})
    for profile in (everything, everything + PrivacyProfile({1: 0})):
        assert profile.epsilon("0.999") == math.inf
        assert profile.delta(10**400) == 1


@settings(deadline=None, max_examples=60)
@given(runs, deltas)
def test_the_delta_of_the_epsilon_of_a_delta_is_that_delta_but_for_the_end_of_the_search(
    parts: list[tuple[Any, int]], delta: Fraction
) -> None:
    profile = total(parts)
    enough = profile.epsilon(delta)
    if isinstance(enough, Fraction):
        assert profile.delta(enough) <= delta * SLACK


@settings(deadline=None, max_examples=40)
@given(runs, st.fractions(min_value=0, max_value=12, max_denominator=4))
def test_a_delta_that_is_searched_for_is_sound(parts: list[tuple[Any, int]], epsilon: Fraction) -> None:
    """Either share is one of basic composition: equal epsilons, or equal deltas."""
    profile, count = total(parts), sum(n for _, n in parts)
    delta = profile.delta(epsilon)
    equal = sum(n * PrivacyProfile(bound).delta(epsilon / count) for bound, n in parts)
    assert delta == min(Fraction(1), equal) or profile.epsilon(delta) <= epsilon


def test_b11_the_search_for_a_delta_ends_at_the_least_one() -> None:
    """exp(-1000) is about 2**-1443; an equal share of epsilon would give 2**-721."""
    both = PrivacyProfile(InvertibleTail(Fraction(1))) + PrivacyProfile(InvertibleTail(Fraction(1000)))
    assert exp(Fraction(-1000), 64).high < both.delta(1000) <= LEAST_DELTA


@pytest.mark.parametrize("above", [1 + Fraction(1, 2**100), math.inf], ids=["rounded-up", "infinite"])
def test_a_formula_above_one_means_one(above: Amount) -> None:
    assert PrivacyProfile(lambda _: above).delta(1) == 1


def test_mixed_profiles_reach_the_exact_delta_of_basic_composition() -> None:
    both = PrivacyProfile({1: "1/3"}) + PrivacyProfile({3: "1/3"})
    assert both.delta(4) == Fraction(2, 3)
    assert both <= PrivacyProfile({4: "2/3"})
