"""A measurement is a draw and its price, kept together."""

import copy
import dataclasses
import math
import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpselect.errors import IncomparableLosses, InvalidParameter, OutsideDomain
from dpselect.exact.randomness import Randomness, system
from dpselect.privacy import (
    ZCDP,
    ApproxDP,
    Measurement,
    PrivacyProfile,
    PureDP,
    RenyiCurve,
    RenyiDP,
    approximate,
    atom_domain,
    linf_distance,
    max_divergence,
    range_distance,
    range_divergence,
    renyi_divergence,
    symmetric_distance,
    user_measurement,
    vector_domain,
    zero_concentrated_divergence,
)
from tests.privacy.bad_inputs import HOUSE_SENTENCE, NEGATIVE, NOT_FINITE, NOT_NUMBERS, cases

SCORES = vector_domain(atom_domain(int))


class Words:
    """A source whose words are all the same, for a draw that must show where its words come from."""

    width = 8

    def __init__(self, value: int) -> None:
        self.value = value

    def word(self) -> int:
        return self.value

    def words(self, n: int) -> NDArray[np.uint64]:
        return np.full(n, self.value, dtype=np.uint64)

    def mark(self, key: object) -> None:
        """Do nothing."""


@dataclasses.dataclass(frozen=True)
class Noisy:
    """A draw that tells its input and its words apart."""

    scale: int

    def __call__(self, scores: Any, randomness: Randomness, /) -> tuple[int, int]:
        return len(scores), randomness.word() % self.scale


@dataclasses.dataclass(frozen=True)
class ChecksByItself:
    """A draw that promises to refuse what its domain excludes."""

    checks_domain = True

    def __call__(self, scores: Any, randomness: Randomness, /) -> object:
        del randomness
        return scores


@dataclasses.dataclass(frozen=True)
class Per:
    """The map d_in / scale."""

    scale: int

    def __call__(self, d_in: Fraction) -> Fraction:
        return d_in / self.scale


@dataclasses.dataclass(frozen=True)
class Line:
    """A divergence that grows with the order."""

    slope: Fraction

    def __call__(self, alpha: Fraction) -> Fraction:
        return self.slope * alpha


def make(output_measure: Any = None, privacy_map: Callable[[Fraction], Any] | None = None) -> Measurement:
    return Measurement(
        SCORES, linf_distance(), output_measure or max_divergence(), Noisy(200), privacy_map or Per(2)
    )


# Drawing.


def test_a_call_draws_with_the_systems_randomness() -> None:
    measurement = make()
    drawn = {measurement([1, 2, 3]) for _ in range(400)}  # all alike with probability 200**-399
    assert {length for length, _ in drawn} == {3}
    assert len(drawn) > 1


def test_a_draw_uses_the_source_that_it_is_given() -> None:
    assert make().draw([1, 2, 3], Words(7)) == (3, 7)
    assert make().draw(np.array([1]), Words(9)) == (1, 9)


def test_a_users_function_is_called_with_the_data_alone() -> None:
    measurement = user_measurement(
        input_domain=SCORES,
        input_metric=range_distance(),
        output_measure=max_divergence(),
        function=sum,
        privacy_map=Per(1),
    )
    assert measurement([3, 4]) == measurement.draw((3, 4), system()) == 7


def test_what_is_outside_the_domain_never_reaches_the_function() -> None:
    seen: list[object] = []
    measurement = user_measurement(
        input_domain=SCORES,
        input_metric=range_distance(),
        output_measure=max_divergence(),
        function=seen.append,
        privacy_map=Per(1),
    )
    for outside in (None, [0.5], [None], "12", 3):
        with pytest.raises(OutsideDomain):
            measurement(outside)
        with pytest.raises(OutsideDomain):
            (measurement >> str).draw(outside, Words(0))
    assert seen == []


def test_a_draw_that_checks_its_domain_by_itself_is_trusted_to() -> None:
    measurement = dataclasses.replace(make(), function=ChecksByItself())
    assert measurement("anything") == "anything"


@pytest.mark.parametrize("bad", **cases(NOT_NUMBERS, NEGATIVE))
def test_a10_what_gives_no_words_is_no_randomness(bad: Any) -> None:
    with pytest.raises(
        InvalidParameter, match=r"^randomness must be a source of random words; got "
    ) as caught:
        make().draw([1], bad)
    assert HOUSE_SENTENCE.fullmatch(str(caught.value))


# Pricing: one row for each measure.


def table(d_in: Fraction) -> dict[int, Fraction]:
    return {2: d_in, 8: 4 * d_in}


PRICES: dict[str, tuple[Any, Callable[[Fraction], Any], Any, Any]] = {
    "pure": (max_divergence(), Per(2), Fraction(3, 2), PureDP("3/2")),
    "zcdp": (zero_concentrated_divergence(), Per(8), Fraction(3, 8), ZCDP("3/8")),
    "renyi-formula": (renyi_divergence(), Line, RenyiCurve(Line(Fraction(3))), RenyiDP(Line(Fraction(3)))),
    "renyi-table": (renyi_divergence(), table, RenyiCurve({2: 3, 8: 12}), RenyiDP({2: 3, 8: 12})),
    "renyi-loss": (renyi_divergence(), lambda d: RenyiDP({2: d}), RenyiCurve({2: 3}), RenyiDP({2: 3})),
    "approx-pair": (
        approximate(max_divergence()),
        lambda d: (d, "1e-6"),
        PrivacyProfile({3: "1e-6"}),
        PrivacyProfile({3: "1e-6"}),
    ),
    "approx-table": (
        approximate(max_divergence()),
        lambda d: {d: 0, 0: "1/2"},
        PrivacyProfile({3: 0, 0: "1/2"}),
        PrivacyProfile({3: 0, 0: "1/2"}),
    ),
    "pure-infinite": (max_divergence(), lambda _: math.inf, math.inf, PureDP(math.inf)),
    "pure-loss": (max_divergence(), PureDP, Fraction(3), PureDP(3)),
}


@pytest.mark.parametrize(("measure", "privacy_map", "distance", "price"), PRICES.values(), ids=list(PRICES))
def test_the_map_is_the_distance_and_the_price_is_the_loss(
    measure: Any,
    privacy_map: Callable[[Fraction], Any],
    distance: object,
    price: object,
) -> None:
    measurement = make(measure, privacy_map)
    assert measurement.map(3) == measurement.map("3") == distance
    assert measurement.price(3) == price
    assert type(measurement.map(3)) is type(distance)
    assert type(measurement.price(3)) is type(price)
    if not (isinstance(price, RenyiDP) and "Line" in repr(price)):
        assert measurement.check(3, distance)
        assert measurement.check(3, price)


def test_range_divergence_has_a_map_and_no_price() -> None:
    measurement = make(range_divergence(), Per(2))
    assert measurement.map(1) == Fraction(1, 2)
    assert measurement.check(1, "1/2")
    assert not measurement.check(1, "0.49")
    with pytest.raises(InvalidParameter, match=r"^range divergence has no price, because it does not add"):
        measurement.price(1)


Case = tuple[str, Any, Any, bool]
CHECKS: list[Case] = [
    ("pure", "3/2", 3, True),
    ("pure", 1.5, 3, True),
    ("pure", PureDP(2), 3, True),
    ("pure", math.inf, 3, True),
    ("pure", PureDP("1.49"), 3, False),
    ("pure", 0, 3, False),
    ("pure", 0, 0, True),
    ("pure-infinite", 10**400, 0, False),
    ("pure-infinite", math.inf, 0, True),
    ("zcdp", "3/8", 3, True),
    ("zcdp", ZCDP("0.374"), 3, False),
    ("renyi-formula", {2: 6}, 3, True),
    ("renyi-formula", {2: 6, 8: 20}, 3, False),
    ("renyi-formula", RenyiDP({2: 6}), 3, True),
    ("renyi-formula", RenyiCurve({2: 5}), 3, False),
    ("renyi-formula", Line(Fraction(3)), 3, True),
    ("renyi-table", {2: 3}, 3, True),
    ("renyi-table", {9: 100}, 3, False),
    ("approx-pair", (3, "1e-6"), 3, True),
    ("approx-pair", (3, "1e-7"), 3, False),
    ("approx-pair", ("2.9", "1e-6"), 3, False),
    ("approx-pair", ApproxDP(4, "1e-5"), 3, True),
    ("approx-pair", ApproxDP(4, 0), 3, False),
    ("approx-pair", {3: "1e-6", 0: 1}, 3, True),
    ("approx-pair", PrivacyProfile({3: "1e-6"}), 3, True),
    ("approx-table", (0, "1/2"), 3, True),
    ("approx-table", (0, "1/3"), 3, False),
    ("approx-table", (3, 0), 3, True),
]


@pytest.mark.parametrize(("name", "d_out", "d_in", "within"), CHECKS)
def test_a_check_compares_the_map_with_a_distance_a_loss_or_a_pair(
    name: str,
    d_out: Any,
    d_in: int,
    *,
    within: bool,
) -> None:
    measure, privacy_map, _, _ = PRICES[name]
    assert make(measure, privacy_map).check(d_in, d_out) is within


def test_a_check_of_two_formulas_asks_for_a_table() -> None:
    with pytest.raises(IncomparableLosses, match="compare with a table of the points that matter"):
        make(renyi_divergence(), Line).check(3, Line(Fraction(4)))


@pytest.mark.parametrize(
    ("name", "d_out"),
    [
        ("pure", ZCDP(1)),
        ("pure", ApproxDP(1, 0)),
        ("zcdp", PureDP(1)),
        ("renyi-table", PureDP(1)),
        ("renyi-table", PrivacyProfile({1: 0})),
        ("approx-pair", PureDP(1)),
        ("approx-pair", RenyiDP({2: 1})),
    ],
)
def test_a_check_against_a_loss_of_another_kind_is_refused(name: str, d_out: object) -> None:
    measure, privacy_map, _, _ = PRICES[name]
    with pytest.raises(IncomparableLosses, match="this measure compares only with"):
        make(measure, privacy_map).check(1, d_out)


def test_a_range_divergence_compares_with_no_loss() -> None:
    with pytest.raises(IncomparableLosses, match="this measure compares with no loss; got PureDP"):
        make(range_divergence()).check(1, PureDP(1))


@pytest.mark.parametrize("bad", **cases(NOT_NUMBERS, NOT_FINITE, NEGATIVE))
def test_a10_what_is_no_distance_is_refused_by_map_price_and_check(bad: Any) -> None:
    measurement = make()
    for ask in (measurement.map, measurement.price, lambda d_in: measurement.check(d_in, 1)):
        with pytest.raises(InvalidParameter, match=r"^d_in must be ") as caught:
            ask(bad)
        assert HOUSE_SENTENCE.fullmatch(str(caught.value))


not_even_infinite = {name: bad for name, bad in NOT_FINITE.items() if bad != math.inf}


@pytest.mark.parametrize("bad", **cases(NOT_NUMBERS, NEGATIVE, not_even_infinite))
def test_a7_a_map_that_gives_nonsense_and_a_limit_that_is_nonsense_are_refused(bad: Any) -> None:
    for measure in (max_divergence(), zero_concentrated_divergence(), range_divergence()):
        nonsense = make(measure, lambda _: bad)
        for ask in (
            nonsense.map,
            nonsense.price,
            lambda d, m=nonsense: m.check(d, 1),
            lambda d, m=measure: make(m).check(d, bad),
        ):
            with pytest.raises(InvalidParameter, match=r"^(epsilon|rho|eta) must be ") as caught:
                ask(1)
            assert HOUSE_SENTENCE.fullmatch(str(caught.value))


no_curves = {
    name: bad for name, bad in NOT_NUMBERS.items() if not callable(bad) and not isinstance(bad, dict)
}


@pytest.mark.parametrize("bad", **cases(no_curves, NEGATIVE, NOT_FINITE))
def test_a7_a_map_that_gives_no_curve_is_refused(bad: Any) -> None:
    for measure in (renyi_divergence(), approximate(max_divergence())):
        nonsense = make(measure, lambda _: bad)
        for ask in (nonsense.map, nonsense.price, lambda d, m=nonsense: m.check(d, {2: 1})):
            with pytest.raises(InvalidParameter, match="must be a function or a table") as caught:
                ask(1)
            assert HOUSE_SENTENCE.fullmatch(str(caught.value))


def test_the_map_is_given_the_distance_as_an_exact_number() -> None:
    given: list[Fraction] = []

    def privacy_map(d_in: Fraction) -> Fraction:
        given.append(d_in)
        return d_in

    make(privacy_map=privacy_map).map(0.1)
    assert given == [Fraction(1, 10)]
    assert type(given[0]) is Fraction


def test_a_map_is_asked_without_any_data_and_its_own_errors_show_normally() -> None:
    def privacy_map(d_in: Fraction) -> Fraction:
        text = f"no bound at {d_in}"
        raise LookupError(text)

    with pytest.raises(LookupError, match="no bound at 3"):
        make(privacy_map=privacy_map).price(3)


def test_the_metric_reads_the_distance() -> None:
    people = dataclasses.replace(make(), input_metric=symmetric_distance())
    with pytest.raises(InvalidParameter, match="whole number of people"):
        people.map("1/2")


# Post-processing.


def test_what_follows_a_draw_changes_the_output_and_keeps_the_price() -> None:
    measurement = make()
    chained = measurement >> list >> len >> str
    assert chained.draw([1, 2, 3], Words(7)) == "2"
    assert chained.map(3) == measurement.map(3)
    assert chained.price(3) == measurement.price(3)
    assert chained.input_domain == measurement.input_domain


def test_what_follows_runs_in_the_order_it_is_written() -> None:
    chained = make() >> (lambda output: [*output, "first"]) >> (lambda output: [*output, "second"])
    assert chained.draw([1], Words(0)) == [1, 0, "first", "second"]
    assert chained.function([1], Words(0)) == [1, 0, "first", "second"]


def test_a_long_chain_of_steps_runs() -> None:
    chained = make()
    for _ in range(2000):
        chained = chained >> tuple
    assert chained.draw([1], Words(0)) == (1, 0)


@pytest.mark.parametrize(
    "bad", **cases({name: bad for name, bad in NOT_NUMBERS.items() if not callable(bad)}, NEGATIVE)
)
def test_a10_what_follows_must_be_a_function(bad: Any) -> None:
    with pytest.raises(
        InvalidParameter, match=r"^what follows >> must be a function of the output; got "
    ) as caught:
        make() >> bad
    assert HOUSE_SENTENCE.fullmatch(str(caught.value))


# Making and comparing.

PARTS = {
    "input_domain": SCORES,
    "input_metric": linf_distance(),
    "output_measure": max_divergence(),
    "function": Noisy(2),
    "privacy_map": Per(2),
}
not_callable = {name: bad for name, bad in NOT_NUMBERS.items() if not callable(bad)}


@pytest.mark.parametrize("part", PARTS)
def test_a10_a_part_of_the_wrong_kind_is_refused_by_its_name(part: str) -> None:
    for bad in [*not_callable.values(), *NEGATIVE.values()]:
        parts: dict[str, Any] = {**PARTS, part: bad}
        for construct in (Measurement, user_measurement):
            with pytest.raises(InvalidParameter, match=f"^{part} must be a ") as caught:
                construct(**parts)
            assert HOUSE_SENTENCE.fullmatch(str(caught.value))


def test_parts_in_the_wrong_places_are_refused() -> None:
    wrong: list[tuple[str, Any]] = [
        ("input_domain", linf_distance()),
        ("input_domain", atom_domain),
        ("input_metric", max_divergence()),
        ("input_metric", linf_distance),
        ("output_measure", SCORES),
        ("output_measure", max_divergence),
    ]
    for part, bad in wrong:
        parts: dict[str, Any] = {**PARTS, part: bad}
        with pytest.raises(InvalidParameter, match=f"^{part} must be "):
            Measurement(**parts)


def test_a_users_measurement_names_all_its_parts() -> None:
    with pytest.raises(TypeError, match="positional"):
        user_measurement(*PARTS.values())  # type: ignore[call-arg]
    for part in PARTS:
        parts: dict[str, Any] = {name: value for name, value in PARTS.items() if name != part}
        with pytest.raises(TypeError, match=part):
            user_measurement(**parts)


def test_measurements_made_of_equal_parts_are_equal() -> None:
    assert make() == make()
    assert hash(make()) == hash(make())
    assert make() != make(privacy_map=Per(3))
    assert make() != make(zero_concentrated_divergence())
    assert dataclasses.replace(make(), function=Noisy(3)) != make()
    assert make() >> len == make() >> len
    assert make() >> len != make() >> str
    assert make() >> len != make()
    parts: dict[str, Any] = {**PARTS, "function": sum}
    assert user_measurement(**parts) == user_measurement(**parts)


def test_a_measurement_shows_its_parts() -> None:
    assert repr(make()) == (
        "Measurement(input_domain=VectorDomain(element_domain=AtomDomain(kind=<class 'int'>, nullable=False),"
        " size=None), input_metric=LInfDistance(monotonic=False), output_measure=MaxDivergence(), "
        "function=Noisy(scale=200), privacy_map=Per(scale=2))"
    )


@pytest.mark.parametrize("field", [*PARTS, "new"])
def test_a_measurement_cannot_be_changed(field: str) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(make(), field, None)


def test_b12_a_measurement_of_small_frozen_parts_survives_pickling_and_copying() -> None:
    measurement = make() >> len
    for again in (
        pickle.loads(pickle.dumps(measurement)),
        copy.copy(measurement),
        copy.deepcopy(measurement),
    ):
        assert again == measurement
        assert again.draw([1], Words(0)) == 2
