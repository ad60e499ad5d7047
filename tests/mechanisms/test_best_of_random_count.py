"""The best of a random number of runs: its law, what counts as best, and what is refused.

What is under test: dpselect.mechanisms.best_of_random_count, with dpselect.mechanisms.scored_outputs.
"""

from __future__ import annotations

import inspect
import math
import signal
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpselect.audit import Law, enumerate_law
from dpselect.errors import InvalidParameter, MalformedRelease
from dpselect.exact.enclosures import Enclosure
from dpselect.exact.randomness import Randomness
from dpselect.mechanisms import (
    geometric,
    logarithmic,
    make_best_of_random_count,
    make_select_private_candidate,
    poisson,
    truncated_negative_binomial,
)
from dpselect.mechanisms.repetition_counts import Count
from dpselect.privacy import (
    Measurement,
    absolute_distance,
    atom_domain,
    max_divergence,
    range_divergence,
    renyi_divergence,
    user_measurement,
    vector_domain,
    zero_concentrated_divergence,
)
from tests.exact.laws import Walk, check
from tests.mechanisms.small_programs import (
    APPROXIMATE,
    Epsilon,
    Released,
    always,
    best_of,
    program,
    unmeasured,
    watched,
)
from tests.privacy.bad_inputs import HOUSE_SENTENCE
from tests.privacy.leaks import CANARIES, leaks

RELEASES = ((2, "best"), (2.0, "as good"), (1, "worse"), (math.nan, "worst"))
RANKS = (2, 2, 1, 0)
WEIGHTS = (1, 2, 3, 2)
TINY = Fraction(1, 2**100)


def name_of(m: Measurement, arg: int = 0) -> Callable[[Randomness], str | None]:
    def name(source: Randomness) -> str | None:
        release = m.draw(arg, source)
        return None if release is None else str(release[1])

    return name


COUNTS: list[tuple[Count, Fraction]] = [
    (geometric("2/3"), Fraction(1, 2**5)),
    (geometric("1/2"), Fraction(1, 2**4)),
    (logarithmic("1/2"), Fraction(1, 2**5)),
    (truncated_negative_binomial("-1/2", "1/3"), Fraction(1, 2**5)),
    (poisson("1/2"), Fraction(1, 2**7)),
    (poisson(1), Fraction(1, 2**5)),
]


@pytest.mark.parametrize(("count", "open_at_most"), COUNTS, ids=str)
def test_the_best_of_so_many_runs_is_released_and_the_first_among_equals(
    count: Count, open_at_most: Fraction
) -> None:
    m = make_best_of_random_count(program(RELEASES, WEIGHTS, WEIGHTS), count)
    law = best_of(count, [Fraction(weight, 8) for weight in WEIGHTS], RANKS)
    expected = dict(zip([*(name for _, name in RELEASES), None], law, strict=True))

    def probability(name: str | None) -> Enclosure:
        return Enclosure(
            max(Fraction(0), expected[name] - TINY), expected[name] + TINY * (expected[name] > 0)
        )

    check(name_of(m), probability, expected, Walk(18, 4 * open_at_most))


@pytest.mark.parametrize("count", [geometric("1/2"), poisson("3/2"), logarithmic("1/5")], ids=str)
def test_c3_the_number_of_runs_has_the_law_of_the_count_whatever_the_data(count: Count) -> None:
    def runs(arg: int) -> Law[int]:
        seen: list[int] = []
        base = program([(1, "yes"), (0, "no")], (1, 0), (0, 1))
        m = make_best_of_random_count(watched(base, seen), count)

        def number(source: Randomness) -> int:
            seen.clear()
            release = m.draw(arg, source)
            assert (release is None) == (not seen)
            assert seen == list(range(1, len(seen) + 1))
            return len(seen)

        return enumerate_law(number, 14)

    assert runs(0) == runs(1) == enumerate_law(count.draw, 14)


def with_the_count(base: Measurement, count: Count, arg: int) -> Law[tuple[int, str | None]]:
    """Walk the law of the release and of the number of runs beside it, which nothing of ours tells."""
    seen: list[int] = []
    name = name_of(make_best_of_random_count(watched(base, seen), count), arg)

    def both(source: Randomness) -> tuple[int, str | None]:
        seen.clear()
        best = name(source)
        return len(seen), best

    return enumerate_law(both, 16)


def test_c3_an_observer_of_the_count_learns_more_than_the_price_covers() -> None:
    """Negative: that is why no argument tells it. Two runs with nothing good have twice the loss of one."""
    assert "progress" not in inspect.signature(make_best_of_random_count).parameters
    base = program([(1, "good"), (0, "bad")], (3, 1), (1, 3))
    count = geometric("1/2")
    less, more = (with_the_count(base, count, arg) for arg in (0, 1))
    for law, probability in ((less, Fraction(1, 4**3)), (more, Fraction(9, 4**3))):
        assert law.allows((2, "bad"), probability, probability)
        assert law.lower[2, "bad"] > probability * Fraction(99, 100)
    price = make_best_of_random_count(base, count).map(1)
    assert math.log(9) > float(price) + 0.4  # type: ignore[arg-type]


def test_c3_forty_runs_with_nothing_good_have_a_loss_of_four_at_a_price_of_a_quarter() -> None:
    """P(count = 40 and nothing good) = P(40) q^40: the count's own probability is the same on both sides."""
    base = program([(1, "good"), (0, "bad")], (525, 475), (475, 525))
    one = math.log(525 / 475)
    price = float(make_best_of_random_count(base, geometric("1/20")).map(1))  # type: ignore[arg-type]
    assert one == pytest.approx(0.1, abs=1e-3)
    assert price == pytest.approx(0.281, abs=1e-3)
    assert math.log(Fraction(525, 1000) ** 40 / Fraction(475, 1000) ** 40) == pytest.approx(4.0, abs=1e-2)
    without_the_count = best_of(geometric("1/20"), [Fraction(475, 1000), Fraction(525, 1000)], (0, 1))
    other = best_of(geometric("1/20"), [Fraction(525, 1000), Fraction(475, 1000)], (0, 1))
    assert abs(math.log(without_the_count[0] / other[0])) <= price  # the best alone is within the price


ASCENDING: list[Any] = [
    math.nan,
    -math.inf,
    -(10**400),
    np.float32(-1),
    Fraction(-1, 3),
    0,
    Decimal("0.1"),
    0.1,
    np.float64(0.2),
    2**53,
    2**53 + 1,
    Decimal("1e400"),
    math.inf,
]


@pytest.mark.parametrize("place", range(len(ASCENDING) - 1))
def test_scores_are_compared_exactly_and_nan_is_below_every_number(place: int) -> None:
    """Both orders of arrival are walked: whenever the better one arrives at all, it is released."""
    worse, better = ASCENDING[place], ASCENDING[place + 1]
    m = make_best_of_random_count(program([(worse, "w"), (better, "b")], (1, 1), (1, 1)), geometric("1/2"))
    law = enumerate_law(name_of(m), 12)
    both = best_of(geometric("1/2"), [Fraction(1, 2)] * 2, (0, 1))
    assert law.allows("b", both[1], both[1])
    assert law.unresolved < Fraction(1, 8)


def test_equal_scores_of_different_kinds_tie() -> None:
    ones: list[Any] = [1, 1.0, Fraction(1), Decimal("1.00"), np.float32(1), np.int8(1)]
    m = make_best_of_random_count(
        program([(one, str(i)) for i, one in enumerate(ones)], (1,) * 6, (1,) * 6), geometric("1/2")
    )
    law = enumerate_law(name_of(m), 14)
    assert all(law.allows(str(i), Fraction(1, 6), Fraction(1, 6)) for i in range(6))


def test_the_first_to_arrive_wins_among_equals() -> None:
    for _ in range(20):
        runs: list[int] = []

        def next_run(_: object, runs: list[int] = runs) -> tuple[int, int]:
            runs.append(len(runs) + 1)
            return min(2, runs[-1]), runs[-1]

        base = user_measurement(
            input_domain=atom_domain(int),
            input_metric=absolute_distance(),
            output_measure=max_divergence(),
            function=next_run,
            privacy_map=Epsilon(),
        )
        assert make_best_of_random_count(base, geometric("1/10"))(0) == ((2, 2) if len(runs) > 1 else (1, 1))


def test_none_is_released_for_no_run_and_only_then() -> None:
    law = enumerate_law(name_of(make_best_of_random_count(always((math.nan, "x")), poisson(1))), 30)
    low, high = law.lower[None], law.lower[None] + law.unresolved
    assert float(low) <= math.exp(-1) <= float(high)
    assert law.unresolved < Fraction(1, 2**20)
    law = enumerate_law(name_of(make_best_of_random_count(always((math.nan, "x")), geometric("1/2"))), 30)
    assert law.lower.keys() == {"x"}


# Nested, and with others.


def test_the_best_of_selections_ranks_giving_up_below_everything() -> None:
    inner = make_select_private_candidate(
        program([(math.inf, "a"), (0, "n")], (1, 1), (1, 1)), "1/2", 1, iterations="hidden"
    )
    outer = make_best_of_random_count(inner, geometric("3/4"))
    gave_up = Fraction(1, 3)
    a, none, _ = best_of(geometric("3/4"), [1 - gave_up, gave_up], (1, 0))
    law = enumerate_law(name_of(outer), 15)
    assert law.allows("a", a, a)
    assert law.allows(None, none, none)
    assert law.unresolved < Fraction(1, 4)


def test_nested_prices_are_prices_of_prices() -> None:
    inner = make_best_of_random_count(always((1, "x")), geometric("1/10"))
    outer = make_best_of_random_count(inner, poisson(2))
    one = 1 + 2 * math.log((math.e + 0.1) / (1 + 0.1 * math.e))
    assert float(inner.map(1)) == pytest.approx(one, rel=1e-12)  # type: ignore[arg-type]
    assert float(outer.map(1)) == pytest.approx(one + 2 * math.tanh(one / 2), rel=1e-12)  # type: ignore[arg-type]
    assert outer.map(0) == 0
    assert (outer.input_domain, outer.input_metric) == (inner.input_domain, inner.input_metric)


def test_nested_curves_and_profiles_have_values() -> None:
    for measure in (renyi_divergence(), APPROXIMATE):
        m = program([(1, "a"), (0, "b")], (2, 3), (3, 2), measure)
        for _ in range(2):
            m = make_best_of_random_count(m, geometric("1/2"))
        found = m.map(1)(4) if measure == renyi_divergence() else m.map(1).epsilon("1e-6")  # type: ignore[operator, union-attr]
        assert math.log(1.5) < float(found) <= 9 * math.log(1.5) + 1
        assert m.map(0)(4) == 0 if measure == renyi_divergence() else m.map(0).delta(0) == 0  # type: ignore[operator, union-attr]


def test_a_poisson_count_may_give_nothing_and_a_selection_takes_that() -> None:
    inner = make_best_of_random_count(always((1, "x")), poisson("1/2"))
    law = enumerate_law(name_of(make_select_private_candidate(inner, "1/2", 1)), 16)
    assert law.lower.keys() == {"x", None}


def test_the_best_composes_with_what_follows() -> None:
    m = make_best_of_random_count(always((1, "x")), geometric("1/10"))
    assert (m >> (lambda release: release[1]))(0) == "x"
    assert m.check(1, 3)
    assert m == make_best_of_random_count(always((1, "x")), geometric(0.1))


# What is refused.


@pytest.mark.parametrize("release", [None, CANARIES[0], (CANARIES[0],), ("x", CANARIES[0]), [1, CANARIES[0]]])
def test_d6_a_malformed_release_is_an_error_without_a_value(release: Any) -> None:
    base = user_measurement(
        input_domain=vector_domain(atom_domain(float)),
        input_metric=absolute_distance(),
        output_measure=max_divergence(),
        function=lambda _: release,
        privacy_map=Epsilon(),
    )
    with pytest.raises(MalformedRelease) as caught:
        make_best_of_random_count(base, geometric("1/2"))([*CANARIES])
    assert leaks(caught.value) == []


@pytest.mark.parametrize("measure", [zero_concentrated_divergence(), range_divergence()], ids=str)
def test_a_measure_without_a_proved_bound_is_refused_with_the_way_out(measure: Any) -> None:
    base = Measurement(atom_domain(int), absolute_distance(), measure, Released((1, "x")), lambda _: 1)
    with pytest.raises(InvalidParameter, match=r"renyi_divergence\(\)") as caught:
        make_best_of_random_count(base, geometric("1/2"))
    assert HOUSE_SENTENCE.fullmatch(str(caught.value))


@pytest.mark.parametrize("count", [None, 10, "geometric", geometric, 0.5])
def test_a_count_that_is_not_random_is_refused(count: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        make_best_of_random_count(always((1, "x")), count)
    assert HOUSE_SENTENCE.fullmatch(str(caught.value))


def test_what_is_no_measurement_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="measurement must be"):
        make_best_of_random_count(print, geometric("1/2"))  # type: ignore[arg-type]


LONG = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a child of a background job would ignore it
from dpselect import *
from dpselect.mechanisms import geometric
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
m = make_best_of_random_count(base, geometric("1/10000"))
for _ in range(1000):
    m([8675309])
"""


def test_b10_ctrl_c_is_answered_between_two_runs() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", LONG],
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
