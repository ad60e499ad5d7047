"""Selecting from private candidates: the law of the runs and of the release, the price, and what is refused.

What is under test: dpselect.mechanisms.select_private_candidate, with dpselect.mechanisms.scored_outputs.
"""

from __future__ import annotations

import inspect
import math
import signal
import subprocess
import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from dpselect.audit import Law, enumerate_law
from dpselect.errors import InvalidParameter, MalformedRelease, MayNeverEnd, ReleaseFailed
from dpselect.exact.enclosures import Enclosure, exp
from dpselect.exact.randomness import Randomness, system
from dpselect.mechanisms import geometric, make_best_of_random_count, make_select_private_candidate, poisson
from dpselect.mechanisms.select_private_candidate import StopCoin
from dpselect.privacy import (
    Measurement,
    PureDP,
    absolute_distance,
    atom_domain,
    max_divergence,
    range_divergence,
    renyi_divergence,
    user_measurement,
    vector_domain,
    zero_concentrated_divergence,
)
from tests.exact.laws import Walk, check, exactly
from tests.mechanisms.small_programs import (
    APPROXIMATE,
    Epsilon,
    Released,
    always,
    hockey_stick,
    max_divergence_between,
    program,
    unmeasured,
    watched,
)
from tests.privacy.bad_inputs import HOUSE_SENTENCE, NEGATIVE, NOT_FINITE, NOT_NUMBERS, NOT_WHOLE, cases
from tests.privacy.leaks import CANARIES, leaks

Way = Literal["early", "hidden"]
WAYS: list[Way] = ["early", "hidden"]
each_way = pytest.mark.parametrize("way", WAYS)
GAMMAS = ["1/2", "1/10", "1/100", "9/10"]


def until_success(measurement: Measurement, threshold: Any = 1) -> Measurement:
    with pytest.warns(MayNeverEnd, match="may never end"):
        return make_select_private_candidate(measurement, 0, threshold, iterations="until_success")


# The number of runs.


class Enough(BaseException):
    """The next run begins."""


class Continued:
    """Hands out given bits, then those of another source; ends when a run beyond the given number begins."""

    width = 1

    def __init__(self, given: Sequence[int], source: Randomness, most: int) -> None:
        self.drawn: list[int] = []
        self._given, self._source, self._most = given, source, most

    def word(self) -> int:
        at = len(self.drawn)
        self.drawn.append(self._given[at] if at < len(self._given) else self._source.word())
        return self.drawn[-1]

    def words(self, n: int) -> NDArray[np.uint64]:
        return np.array([self.word() for _ in range(n)], dtype=np.uint64)

    def mark(self, key: Hashable) -> None:
        if key == self._most + 1:
            raise Enough


def flips(gamma: str, way: Way, cap: int | None, most: int) -> Iterator[Law[int | None]]:
    """Walk one flip after the other: the law of the number of runs if it stops, of None if it goes on.

    What a flip does is a function of its number (that is what a mark says), so one path up to it will do.
    """
    path: list[int] = []
    for number in range(1, most + 1):
        step = Flip(gamma, way, cap, number, path)
        yield enumerate_law(step, 24)
        path = step.on


class Flip:
    """A selection that never succeeds, on a given path up to a flip; it counts the runs."""

    def __init__(self, gamma: str, way: Way, cap: int | None, number: int, path: list[int]) -> None:
        self.on: list[int] = []
        self._number, self._path, self._runs = number, path, list[int]()
        self._selection = make_select_private_candidate(
            watched(always((0, "x")), self._runs), gamma, 1, cap, iterations=way
        )

    def __call__(self, source: Randomness) -> int | None:
        self._runs.clear()
        tape = Continued(self._path, source, self._number)
        try:
            assert self._selection.draw(0, tape) is None
        except Enough:
            self.on = tape.drawn
            return None
        assert self._runs == list(range(1, len(self._runs) + 1))
        return len(self._runs)


@each_way
@pytest.mark.parametrize("gamma", GAMMAS)
def test_b4_the_number_of_runs_is_that_of_flips_until_the_first_stop(gamma: str, way: Way) -> None:
    """P(T = t) = gamma (1 - gamma)^(t-1): 1/gamma runs on average, not 1/(1 - gamma)."""
    stop = Fraction(gamma)
    low = high = Fraction(1)
    for t, law in enumerate(flips(gamma, way, None, 50), start=1):
        assert law.unresolved < Fraction(1, 2**22)
        assert law.lower.keys() == {t, None}
        assert low * law.lower[t] <= stop * (1 - stop) ** (t - 1) <= high * (law.lower[t] + law.unresolved)
        low, high = low * law.lower[None], high * (law.lower[None] + law.unresolved)
    assert high - low < Fraction(1, 2**16)


@each_way
@pytest.mark.parametrize(("gamma", "cap"), [("1/2", 3), ("1/10", 6), ("1/100", 40), ("2/3", 2)])
def test_b10_a_cap_ends_the_runs_there(gamma: str, cap: int, way: Way) -> None:
    for t, law in enumerate(flips(gamma, way, cap, cap - 1), start=1):
        assert law.allows(t, Fraction(gamma), Fraction(gamma))
        assert law.unresolved < Fraction(1, 2**22)
        assert law.lower.keys() - {t} <= ({None} if t < cap - 1 else {None, cap})


@each_way
@pytest.mark.parametrize("gamma", ["1/2", "2/3", "9/10", "1/10"])
def test_b4_all_flips_walked_together_have_the_law_of_the_first_stop(gamma: str, way: Way) -> None:
    stop = Fraction(gamma)

    def runs(source: Randomness) -> int:
        seen: list[int] = []
        m = make_select_private_candidate(watched(always((0, "x")), seen), gamma, 1, 8, iterations=way)
        m.draw(0, source)
        return len(seen)

    def probability(t: int) -> Enclosure:
        return exactly(stop * (1 - stop) ** (t - 1) if t < 8 else (1 - stop) ** 7)

    check(runs, probability, range(1, 9), Walk(28, Fraction(1, 2**6)))


def test_b4_a_small_stop_probability_means_many_runs() -> None:
    """The peer makes 1.0 runs on average at stop probability 0.01; P(sum of 50 < 1000) is below 1e-30."""
    seen: list[int] = []
    m = make_select_private_candidate(watched(always((0, "x")), seen), "1/100", 1)
    for _ in range(50):
        m(0)
    assert len(seen) > 50 * 20


# The law of the release.

RELEASES = ((2, "a"), (Fraction(3, 2), "b"), (1, "c"), (math.nan, "d"))
WEIGHTS = (1, 2, 3, 2), (2, 2, 2, 2)


def closed_form(gamma: Fraction, law: list[Fraction], passing: int, cap: int | None) -> list[Fraction]:
    """P(y) for each y that passes, then P(None), by the sum over the runs, with S = 1 + r + ... + r^(T-1)."""
    p = sum(law[:passing])
    r = (1 - p) * (1 - gamma)
    runs = (1 - r**cap if cap else 1) / (1 - r)
    return [*(mass * runs for mass in law[:passing]), 1 - p * runs]


def release_law(m: Measurement, arg: int) -> Callable[[Randomness], str | None]:
    def name(source: Randomness) -> str | None:
        release = m.draw(arg, source)
        return None if release is None else str(release[1])

    return name


@each_way
@pytest.mark.parametrize("cap", [None, 4])
@pytest.mark.parametrize("gamma", ["1/2", "3/4"])
@pytest.mark.parametrize("arg", [0, 1])
def test_early_and_hidden_have_the_law_of_the_paper(arg: int, gamma: str, cap: int | None, way: Way) -> None:
    base = program(RELEASES, *WEIGHTS)
    m = make_select_private_candidate(base, gamma, 1.5, cap, iterations=way)
    law = [Fraction(weight, 8) for weight in WEIGHTS[arg]]
    *passing, gave_up = closed_form(Fraction(gamma), law, 2, cap)
    expected = {"a": passing[0], "b": passing[1], None: gave_up}
    walk = Walk(30, Fraction(1, 2**5))
    check(release_law(m, arg), lambda y: exactly(expected[y]), expected, walk)


def test_without_a_stop_probability_the_first_success_is_released() -> None:
    m = until_success(program(RELEASES, *WEIGHTS), threshold=1.5)
    expected: dict[str | None, Fraction] = {"a": Fraction(1, 3), "b": Fraction(2, 3)}
    check(release_law(m, 0), lambda y: exactly(expected[y]), expected, Walk(40, Fraction(1, 2**8)))


def test_c3_the_number_of_hidden_runs_does_not_depend_on_the_data() -> None:
    """Success is certain on 0 and impossible on 1: early tells them apart, hidden runs equally often."""

    def runs(arg: int, way: Way) -> Law[int]:
        base = program([(1, "yes"), (0, "no")], (1, 0), (0, 1))
        seen: list[int] = []
        m = make_select_private_candidate(watched(base, seen), "1/4", 1, iterations=way)

        def count(source: Randomness) -> int:
            seen.clear()
            m.draw(arg, source)
            return len(seen)

        return enumerate_law(count, 20)

    assert runs(0, "hidden") == runs(1, "hidden")
    assert runs(0, "hidden").lower.keys() > {1, 2, 3, 4}
    assert runs(0, "early").lower == {1: 1}
    assert runs(1, "early") == runs(1, "hidden")


@each_way
def test_the_first_success_is_the_one_that_is_released(way: Way) -> None:
    for _ in range(20):
        runs: list[int] = []

        def next_run(_: object, runs: list[int] = runs) -> tuple[int, int]:
            runs.append(len(runs) + 1)
            return int(runs[-1] >= 2), runs[-1]

        base = user_measurement(
            input_domain=atom_domain(int),
            input_metric=absolute_distance(),
            output_measure=max_divergence(),
            function=next_run,
            privacy_map=Epsilon(),
        )
        release = make_select_private_candidate(base, "1/10", 1, iterations=way)(0)
        assert release == ((1, 2) if len(runs) > 1 else None)
        assert way == "hidden" or len(runs) <= 2


# What passes.

BINARY_TENTH = "0.1000000000000000055511151231257827021181583404541015625"


@pytest.mark.parametrize(
    ("threshold", "passing", "failing"),
    [
        (
            1,
            [1, 1.0, Fraction(1), Decimal(1), np.float32(1), math.inf],
            [1 - 2**-53, math.nan, -math.inf, -1],
        ),
        (
            0.1,
            [0.1, Fraction(0.1), 0.2, Decimal(BINARY_TENTH)],
            [Fraction(1, 10), Decimal("0.1"), np.float64(0)],
        ),
        (Fraction(1, 10), [Fraction(1, 10), 0.1, Decimal("0.1")], [np.float64(0.09), 0]),
        (np.float32(0.1), [np.float32(0.1)], [0.1, Fraction(1, 10)]),
        (2**60 + 1, [2**60 + 1, np.int64(2**60 + 1)], [2**60, float(2**60 + 1)]),
        (Decimal("-0.5"), [-0.5, 0, np.longdouble(-0.5)], [Decimal("NaN"), Decimal("sNaN"), Decimal("-Inf")]),
    ],
    ids=["one", "float", "fraction", "float32", "large", "decimal"],
)
def test_a_threshold_is_compared_as_a_score_is(
    threshold: Any,
    passing: list[Any],
    failing: list[Any],
) -> None:
    for score in passing:
        assert make_select_private_candidate(always((score, "x")), "1/2", threshold)(0) == (score, "x")
    for score in failing:
        assert make_select_private_candidate(always((score, "x")), "1/2", threshold)(0) is None


# The price.

THIRD = 10**12
RARE = 10**3


@pytest.mark.parametrize("gamma", ["1/100", "1/10", "1/2", "9/10"])
def test_the_pure_price_is_never_below_the_truth_and_is_reached(gamma: str) -> None:
    """A rare y that passes, the rest split at 1 / (1 + e^epsilon), with e^epsilon = 3."""
    ours = (3 * RARE, THIRD - 3 * RARE, 3 * THIRD)
    theirs = (RARE, 3 * THIRD - 9 * RARE, THIRD + 8 * RARE)
    base = program([(1, "rare"), (1, "common"), (0, "bad")], ours, theirs)
    stop = Fraction(gamma)
    p, q = (
        closed_form(stop, [Fraction(w, sum(weights)) for w in weights], 2, None) for weights in (ours, theirs)
    )
    price = float(make_select_private_candidate(base, gamma, 1).map(1))  # type: ignore[arg-type]
    assert price >= max_divergence_between(p, q)
    assert price == pytest.approx(max_divergence_between(p, q), rel=1e-8)
    assert price == pytest.approx(math.log(3) + math.log((3 + float(stop)) / (1 + float(stop) * 3)), rel=1e-9)


@pytest.mark.parametrize(("gamma", "figure"), [(".01", 1.976852117), (".1", 1.795672039), (".5", 1.31055009)])
def test_the_pure_price_has_the_figures_of_the_formula(gamma: str, figure: float) -> None:
    price = make_select_private_candidate(always((1, "x")), gamma, 1).map(1)
    assert isinstance(price, Fraction)
    assert float(price) == pytest.approx(figure, abs=1e-9)
    assert price < 2


def test_the_price_is_exactly_twice_epsilon_without_a_stop_probability() -> None:
    for epsilon in (Fraction(1, 3), Fraction(7), Fraction(0)):
        assert until_success(always((1, "x"), epsilon)).map(1) == 2 * epsilon


@pytest.mark.parametrize(("gamma", "cap"), [("1/2", 2), ("1/10", 5), ("1/100", 38), ("1/100", 500)])
def test_the_price_with_a_cap_is_that_of_the_paper(gamma: str, cap: int) -> None:
    price = make_select_private_candidate(always((1, "x"), Fraction(1, 3)), gamma, 1, cap).map(1)
    low, high = exp(-Fraction(gamma) * cap)
    assert Fraction(2, 3) + 2 * low <= price <= (Fraction(2, 3) + 2 * high) * (1 + Fraction(1, 2**60))  # type: ignore[operator]


@pytest.mark.parametrize(("gamma", "cap"), [("1/2", 2), ("1/10", 5), ("1/100", 38)])
def test_the_price_with_a_cap_is_never_below_the_truth(gamma: str, cap: int) -> None:
    for bad in (1, 30, 300, 900, 990, 999):
        ours = (1000 - bad, bad)
        for theirs in ((1000 - bad // 2, bad // 2), (max(1, (1000 - bad) // 3), 1000)):
            total = sum(theirs)
            scaled = tuple(w * total for w in ours)
            other = tuple(w * 1000 for w in theirs)
            if 0 in other:
                continue
            base = program([(1, "y"), (0, "n")], scaled, other)
            p, q = (
                closed_form(Fraction(gamma), [Fraction(w, sum(law)) for w in law], 1, cap)
                for law in (scaled, other)
            )
            price = make_select_private_candidate(base, gamma, 1, cap).map(1)
            assert float(price) >= max_divergence_between(p, q)  # type: ignore[arg-type]


def test_a_cap_that_is_too_low_for_the_bound_would_break_it() -> None:
    law, other = [Fraction(1, 100), Fraction(99, 100)], [Fraction(93, 100), Fraction(7, 100)]
    p, q = (closed_form(Fraction(1, 10**6), one, 1, 50) for one in (law, other))
    assert max_divergence_between(p, q) > 2 * max_divergence_between(law, other) + 2
    with pytest.raises(InvalidParameter, match="Give 36789 or more"):
        make_select_private_candidate(always((1, "x")), "1e-5", 1, 50)


PAIRS = {
    "two-point": ([(1, "y"), (0, "n")], (1, 3), (3, 1)),
    "three-point": ([(1, "a"), (1, "b"), (0, "n")], (1, 30, 69), (2, 60, 38)),
    "nearly-equal": ([(1, "a"), (0, "b"), (0, "n")], (5, 50, 45), (6, 48, 46)),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
@pytest.mark.parametrize(("gamma", "cap"), [("1/2", None), ("1/10", None), ("1/2", 3), ("1/10", 20)])
def test_the_profile_is_never_below_the_truth(pair: Any, gamma: str, cap: int | None) -> None:
    releases, ours, theirs = pair
    m = make_select_private_candidate(program(releases, ours, theirs, APPROXIMATE), gamma, 1, cap)
    passing = sum(score == 1 for score, _ in releases)
    p, q = (
        closed_form(Fraction(gamma), [Fraction(w, sum(weights)) for w in weights], passing, cap)
        for weights in (ours, theirs)
    )
    profile = m.map(1)
    for epsilon in [Fraction(i, 8) for i in range(24)]:
        assert profile.delta(epsilon) >= hockey_stick(p, q, epsilon) * (1 - Fraction(1, 2**50))  # type: ignore[union-attr, operator]
    for delta in ("1/10", "1/100", "1e-6"):
        assert hockey_stick(p, q, profile.epsilon(delta)) <= Fraction(delta) * (1 + Fraction(1, 2**50))  # type: ignore[union-attr, arg-type]


def test_the_profile_of_a_pure_program_has_no_delta_at_its_pure_price() -> None:
    releases, ours, theirs = PAIRS["two-point"]
    for gamma in ("1/2", "1/100"):
        pure = make_select_private_candidate(program(releases, ours, theirs), gamma, 1).map(1)
        profile = make_select_private_candidate(program(releases, ours, theirs, APPROXIMATE), gamma, 1).map(1)
        assert profile.delta(pure * Fraction(1001, 1000)) == 0  # type: ignore[union-attr, operator]


def test_the_profile_of_a_table_is_that_of_its_point() -> None:
    """By its proof, delta at e1 + ln(e^e2 + (1 - gamma) delta / gamma) is at most delta / gamma."""
    base = Measurement(
        atom_domain(int), absolute_distance(), APPROXIMATE, Released((1, "x")), lambda _: (1, "1e-6")
    )
    profile = make_select_private_candidate(base, "1/100", 1).map(1)
    plain = 1 + math.log(math.e + 99e-6)
    assert profile.delta(Fraction(plain)) == Fraction(1, 10**4)  # type: ignore[union-attr, operator]
    assert 1.97 < float(profile.epsilon("1e-4")) <= plain  # type: ignore[union-attr]
    assert profile.delta(1) == 1  # type: ignore[union-attr, operator]
    assert profile.epsilon("1e-9") == math.inf  # type: ignore[union-attr]
    assert profile.epsilon(1) == 0  # type: ignore[union-attr]


def test_neighbours_at_no_distance_cost_nothing_and_no_bound_stays_none() -> None:
    for cap in (None, 100):
        m = make_select_private_candidate(always((1, "x")), "1/10", 1, cap)
        assert m.map(0) == 0
        assert PureDP(1) <= m.price(1)  # type: ignore[operator]
    boundless = Measurement(
        atom_domain(int), absolute_distance(), max_divergence(), Released((1, "x")), lambda _: math.inf
    )
    assert make_select_private_candidate(boundless, "1/10", 1).map(1) == math.inf


# Nested, and with others.


def test_a_selection_from_selections_pays_the_price_of_the_price() -> None:
    inner = make_select_private_candidate(always((1, "x")), "1/10", 1)
    outer = make_select_private_candidate(inner, "1/100", 1)
    one = float(inner.map(1))  # type: ignore[arg-type]
    assert float(outer.map(1)) == pytest.approx(  # type: ignore[arg-type]
        one + math.log((math.exp(one) + 0.01) / (1 + 0.01 * math.exp(one))), rel=1e-12
    )
    assert (outer.input_domain, outer.input_metric, outer.output_measure) == (
        inner.input_domain,
        inner.input_metric,
        inner.output_measure,
    )
    assert outer(0) == (1, "x")


def test_a_run_that_gave_up_does_not_pass_and_is_no_malformed_release() -> None:
    """Inner: P(None) = 1/2 (the coin after a failure), or "a" passes; outer: again and again."""
    inner = make_select_private_candidate(program([(1, "a"), (0, "n")], (1, 1), (1, 1)), "1/3", 1)
    outer = make_select_private_candidate(inner, "1/2", 1)
    (a, _) = closed_form(Fraction(1, 3), [Fraction(1, 2)] * 2, 1, None)
    passes, gives_up = closed_form(Fraction(1, 2), [a, 1 - a], 1, None)
    expected = {"a": passes, None: gives_up}
    check(release_law(outer, 0), lambda y: exactly(expected[y]), expected, Walk(22, Fraction(1, 2**5)))


def test_what_a_postprocessed_selection_makes_of_giving_up_is_its_own() -> None:
    never = make_select_private_candidate(always((0, "x")), "1/2", 1)
    assert make_select_private_candidate(never >> (lambda _: (5, "gave up")), "1/2", 1)(0) == (5, "gave up")
    with pytest.raises(MalformedRelease):
        make_select_private_candidate(never >> (lambda release: release), "1/2", 1)(0)


def test_a_selection_composes_with_what_follows() -> None:
    m = make_select_private_candidate(always((1, "x")), "1/10", 1)
    assert (m >> (lambda release: release[1]))(0) == "x"
    assert (m >> str).map(1) == m.map(1)
    assert m.check(1, 2)
    assert m == make_select_private_candidate(always((1, "x")), 0.1, Fraction(1))
    assert make_best_of_random_count(m, poisson(3)).output_measure == max_divergence()


# What is malformed.

MALFORMED: dict[str, Any] = {
    "None": None,
    "a-score": CANARIES[0],
    "three": (CANARIES[0], "x", 1),
    "one": (CANARIES[0],),
    "empty": (),
    "list": [CANARIES[0], "x"],
    "text": "ab",
    "swapped": ("x", CANARIES[0]),
    "score-None": (None, CANARIES[0]),
    "score-bool": (True, CANARIES[1]),
    "score-complex": (1j, CANARIES[1]),
    "score-text": (str(CANARIES[0]), "x"),
    "score-array": (np.array([CANARIES[0]]), "x"),
}


@pytest.mark.parametrize("release", MALFORMED.values(), ids=MALFORMED)
@each_way
def test_d6_a_malformed_release_is_an_error_without_a_value(release: Any, way: Way) -> None:
    base = user_measurement(
        input_domain=vector_domain(atom_domain(float)),
        input_metric=absolute_distance(),
        output_measure=max_divergence(),
        function=lambda _: release,
        privacy_map=Epsilon(),
    )
    m = make_select_private_candidate(base, "1/2", 1, iterations=way)
    calls: list[Callable[[], Any]] = [lambda: m([*CANARIES]), lambda: m.draw([*CANARIES], system())]
    for call in calls:
        with pytest.raises(MalformedRelease) as caught:
            call()
        assert leaks(caught.value) == []
        assert "(score, candidate)" in str(caught.value)


def test_d6_a_malformed_release_deep_inside_is_told_as_such() -> None:
    inner = make_select_private_candidate(always("not a pair"), "1/2", 1)
    with pytest.raises(MalformedRelease):
        make_select_private_candidate(make_best_of_random_count(inner, geometric("1/2")), "1/2", 1)(0)


def test_d6_a_failing_program_ends_the_selection_without_a_word_of_its_own() -> None:
    def fails(_: object) -> None:
        raise ValueError(CANARIES[0])

    base = user_measurement(
        input_domain=vector_domain(atom_domain(float)),
        input_metric=absolute_distance(),
        output_measure=max_divergence(),
        function=fails,
        privacy_map=Epsilon(),
    )
    for m in (base, base >> fails):
        with pytest.raises(ReleaseFailed) as caught:
            make_select_private_candidate(m, "1/2", 1)([*CANARIES])
        assert leaks(caught.value) == []


def test_d6_a_step_that_fails_on_a_release_that_was_not_selected_does_not_tell_it() -> None:
    def tells(release: tuple[float, str]) -> None:
        from dpselect.errors import OutsideDomain

        raise OutsideDomain(release[0])

    base = user_measurement(
        input_domain=vector_domain(atom_domain(float)),
        input_metric=absolute_distance(),
        output_measure=max_divergence(),
        function=lambda scores: (scores[0], "x"),
        privacy_map=Epsilon(),
    )
    with pytest.raises(ReleaseFailed) as caught:
        make_select_private_candidate(base >> tells, "1/2", 1)([*CANARIES])
    assert leaks(caught.value) == []


# What is refused.


def refused(**changes: Any) -> str:
    arguments = {"measurement": always((1, "x")), "stop_probability": "1/10", "threshold": 1, **changes}
    with pytest.raises(InvalidParameter) as caught:
        make_select_private_candidate(**arguments)
    return str(caught.value)


@pytest.mark.parametrize("gamma", **cases({"1": 1, "3/2": "3/2"}, NEGATIVE, NOT_FINITE, NOT_NUMBERS))
def test_a_stop_probability_outside_the_unit_interval_is_refused(gamma: Any) -> None:
    assert HOUSE_SENTENCE.fullmatch(refused(stop_probability=gamma))
    assert HOUSE_SENTENCE.fullmatch(refused(stop_probability=gamma, iterations="until_success"))


@each_way
def test_b10_a_stop_probability_of_zero_needs_its_own_word(way: Way) -> None:
    assert "until_success" in refused(stop_probability=0, iterations=way)
    assert "until_success" in refused(stop_probability=0.0, iterations=way, max_iterations=10)


def test_until_success_takes_neither_a_stop_probability_nor_a_cap_nor_a_delta() -> None:
    assert "0 until success" in refused(iterations="until_success")
    assert "None until success" in refused(
        stop_probability=0, max_iterations=10**6, iterations="until_success"
    )
    base = program([(1, "x"), (0, "y")], (1, 1), (1, 1), APPROXIMATE)
    assert "max_divergence()" in refused(measurement=base, stop_probability=0, iterations="until_success")


@pytest.mark.parametrize(
    "threshold", **cases(NOT_FINITE, NOT_NUMBERS, {"text": "1", "many": 10**400 * Decimal("1e10000")})
)
def test_a_threshold_that_is_no_finite_score_is_refused(threshold: Any) -> None:
    assert HOUSE_SENTENCE.fullmatch(refused(threshold=threshold))


@pytest.mark.parametrize("cap", **cases({"0": 0, "1": 1, "4": 4}, NEGATIVE, NOT_FINITE, NOT_WHOLE))
def test_a_cap_below_the_bound_of_the_paper_is_refused(cap: Any) -> None:
    assert HOUSE_SENTENCE.fullmatch(refused(max_iterations=cap))


@pytest.mark.parametrize(("gamma", "least"), [("1/10", 5), ("1/100", 38), ("9/10", 2), ("1/3", 3)])
def test_the_least_cap_is_told_and_welcome(gamma: str, least: int) -> None:
    sentence = refused(stop_probability=gamma, max_iterations=least - 1)
    assert f"Give {least} or more" in sentence
    assert math.ceil(1 + 1 / (math.e * Fraction(gamma))) == least
    make_select_private_candidate(always((1, "x")), gamma, 1, least)


@pytest.mark.parametrize("way", ["EARLY", "", None, 1, True, ["early"], "late"], ids=str)
def test_an_unknown_way_to_count_is_refused(way: Any) -> None:
    assert HOUSE_SENTENCE.fullmatch(refused(iterations=way))


@pytest.mark.parametrize(
    "measure", [zero_concentrated_divergence(), range_divergence(), renyi_divergence()], ids=str
)
def test_a_measure_without_a_proved_bound_is_refused_with_the_way_out(measure: Any) -> None:
    base = Measurement(atom_domain(int), absolute_distance(), measure, Released((1, "x")), lambda _: 1)
    sentence = refused(measurement=base)
    assert HOUSE_SENTENCE.fullmatch(sentence)
    assert "max_divergence() or approximate(max_divergence())" in sentence


def test_what_is_no_measurement_is_refused() -> None:
    for thing in (None, lambda: (1, "x"), "m", 5):
        assert HOUSE_SENTENCE.fullmatch(refused(measurement=thing))


def test_c3_the_number_of_runs_is_not_released() -> None:
    """No run passes, and it is known that three hidden runs were made: three times the loss of one run."""
    assert "progress" not in inspect.signature(make_select_private_candidate).parameters
    base = program([(1, "good"), (0, "bad")], (3, 1), (1, 3))
    seen: list[int] = []
    m = make_select_private_candidate(watched(base, seen), "1/2", 1, iterations="hidden")

    def both(arg: int) -> Callable[[Randomness], tuple[int, bool]]:
        def draw(source: Randomness) -> tuple[int, bool]:
            seen.clear()
            release = m.draw(arg, source)
            return len(seen), release is None

        return draw

    less, more = (enumerate_law(both(arg), 16) for arg in (0, 1))
    assert (less.lower[3, True], more.lower[3, True]) == (Fraction(1, 2**9), Fraction(27, 2**9))
    assert math.log(27) > float(m.map(1)) + 1.8  # type: ignore[arg-type]


# Ctrl-C.

FOREVER = """
import signal, warnings
signal.signal(signal.SIGINT, signal.default_int_handler)  # a child of a background job would ignore it
warnings.simplefilter("ignore")
from dpselect import *
runs = []
def run(scores):
    runs.append(1)
    if len(runs) == 100:
        print("running", flush=True)
    return 0, max(scores)
base = user_measurement(
    input_domain=vector_domain(atom_domain(int)), input_metric=range_distance(),
    output_measure=max_divergence(), function=run, privacy_map=lambda d: d,
)
m = make_select_private_candidate(base, {gamma}, 1, iterations="{way}")
m([8675309])
"""


@pytest.mark.parametrize(
    ("gamma", "way"), [("0", "until_success"), ("'1e-12'", "early"), ("'1e-5'", "hidden")], ids=str
)
def test_b10_ctrl_c_is_answered_between_two_runs(gamma: str, way: str) -> None:
    """The peer loops for ever and ignores the signal."""
    code = FOREVER.format(gamma=gamma, way=way)
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=unmeasured(),
    ) as child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == "running\n"
            child.send_signal(signal.SIGINT)
            _, told = child.communicate(timeout=60)
        finally:
            child.kill()
    assert child.returncode != 0
    assert "KeyboardInterrupt" in told
    assert "8675309" not in told.replace("m([8675309])", "")


def test_the_law_of_an_early_release_is_the_same_in_wider_words() -> None:
    m = make_select_private_candidate(program([(1, "a"), (0, "n")], (1, 2), (1, 2)), "1/4", 1)
    law = enumerate_law(release_law(m, 0), 27, 3)
    p, gave_up = closed_form(Fraction(1, 4), [Fraction(1, 3), Fraction(2, 3)], 1, None)
    assert law.allows("a", p, p)
    assert law.allows(None, gave_up, gave_up)
    assert law.unresolved < Fraction(1, 12)


@pytest.mark.parametrize(("cap", "excess"), [(1_000, exp(-10).low), (10**6, Fraction(1, 2**128))])
def test_a_cap_adds_no_more_than_it_must(cap: int, excess: Fraction) -> None:
    assert excess <= StopCoin(Fraction(1, 100), cap).excess <= excess * (1 + Fraction(1, 2**30))
