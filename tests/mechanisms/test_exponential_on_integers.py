"""dpselect.mechanisms.exponential_on_integers: the law of clipped scores, walked, and its price."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise, product
from typing import Any

import pytest

from dpselect import (
    atom_domain,
    l1_distance,
    linf_distance,
    make_exponential_mechanism_on_integers,
    make_report_noisy_max_gumbel,
    make_report_noisy_top_k,
    range_distance,
    range_divergence,
    runs_domain,
    steps_domain,
    vector_domain,
    zero_concentrated_divergence,
)
from dpselect.audit.rounds import enumerate_rounds
from dpselect.errors import InvalidParameter, OutsideDomain
from dpselect.exact.enclosures import Enclosure, enclose
from dpselect.mechanisms import exponential_on_integers
from dpselect.mechanisms.exponential_on_integers import ScoreEnvelope
from dpselect.selection.runs import Runs
from tests.exact.sources import untouchable
from tests.statistics import g_statistic, threshold

Steps = Sequence[tuple[Any, Any]]

WHOLE, REAL = steps_domain(atom_domain(int)), steps_domain(atom_domain(float))
SCALE = Fraction(3, 2)
FAR = 60
"""Integers from -60 to 60 are listed; beyond, all steps of these tests lie above the envelope."""


class Rejected(AssertionError):
    """The draw does not follow the law."""


def score_at(steps: Steps, y: int) -> Fraction:
    return Fraction([score for begin, score in steps if begin is None or begin <= y][-1])


def clipped(steps: Steps, envelope: ScoreEnvelope, y: int) -> Fraction:
    return min(score_at(steps, y), envelope.height - envelope.slope * abs(y - envelope.centre))


def law(steps: Steps, envelope: ScoreEnvelope, scale: Fraction) -> dict[int, Enclosure]:
    """Enclose the probabilities by the sum of all weights: those listed, and two geometric series beyond."""
    fall = envelope.slope / scale
    weights = {y: clipped(steps, envelope, y) / scale for y in range(-FAR, FAR + 1)}
    assert all(clipped(steps, envelope, y) < score_at(steps, y) for y in (-FAR, FAR))
    ends = [weights[-FAR] - fall, weights[FAR] - fall]
    listed = {y: enclose(lambda x: x.exp(), weight, precision=120) for y, weight in weights.items()}
    tails = [enclose(lambda x, d: x.exp() / (1 - (-d).exp()), end, fall, precision=120) for end in ends]
    low = sum((each.low for each in [*listed.values(), *tails]), Fraction(0))
    high = sum((each.high for each in [*listed.values(), *tails]), Fraction(0))
    return {y: Enclosure(each.low / high, each.high / low) for y, each in listed.items()}


ROOF = ScoreEnvelope(Fraction(3), 1, Fraction(2))
CASES: dict[str, tuple[Steps, ScoreEnvelope]] = {
    "one score for all": ([(None, 0)], ROOF),
    "a step in the middle": ([(None, -1), (0, 2), (3, 0)], ROOF),
    "steps above the envelope": ([(None, 9), (1, 9), (2, -4), (4, 9)], ROOF),
    "an empty step": ([(None, 0), (2, 50), (2, 1)], ScoreEnvelope(Fraction(1), -1, Fraction(3, 2))),
    "scores that are no integers": (
        [(None, 0.25), (0, Fraction(5, 3))],
        ScoreEnvelope(Fraction(7, 5), 0, Fraction(4)),
    ),
    "the best is far from the centre": ([(None, -6), (2, 0)], ScoreEnvelope(Fraction(0), 0, Fraction(2))),
}


def mechanism(envelope: ScoreEnvelope, scale: Fraction = SCALE, domain: Any = REAL, **others: Any) -> Any:
    return make_exponential_mechanism_on_integers(
        domain,
        linf_distance(),
        scale,
        height=envelope.height,
        centre=envelope.centre,
        slope=envelope.slope,
        **others,
    )


def check_enumeration(case: str, width: int, depth: int, most_open: float) -> None:
    """Walk one round: what it proves of all rounds must enclose the law, closely."""
    steps, envelope = CASES[case]
    found = enumerate_rounds(partial(mechanism(envelope).draw, steps), depth, width)
    widest = max(high - low for low, high in found.values())
    if not widest < most_open:
        raise Rejected(f"{float(widest):.3f} stays open")
    for y, (low, high) in law(steps, envelope, SCALE).items():
        if y not in found:
            if not high <= widest:
                raise Rejected(f"{y} is never drawn")
        elif not found[y].low <= low <= high <= found[y].high:
            raise Rejected(f"the probability of {y} is wrong")


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize(
    ("width", "depth", "most_open"),
    [
        (1, 12, 0.35),
        pytest.param(2, 14, 0.3, marks=pytest.mark.slow),
        pytest.param(1, 19, 0.01, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("case", CASES)
def test_an_integer_has_the_probability_of_its_clipped_score(
    case: str, width: int, depth: int, most_open: float
) -> None:
    check_enumeration(case, width, depth, most_open)


@pytest.mark.parametrize("case", CASES)
def test_runs_are_the_lesser_of_steps_and_envelope_at_every_integer(case: str) -> None:
    steps, envelope = CASES[case]
    found: dict[int, Fraction] = {}
    for runs in envelope.clip(REAL.read(steps)):
        for run in range(len(runs.scores)):
            count = runs.count(run)
            for place in range(200 if count is None else count):
                assert (
                    found.setdefault(runs.output(run, place), runs.score(run) - place * runs.drop(run))
                    is (found[runs.output(run, place)])
                )
    for y in range(-FAR, FAR + 1):
        assert found[y] == clipped(steps, envelope, y)


@pytest.mark.parametrize("case", CASES)
def test_every_integer_lies_in_one_run(case: str) -> None:
    steps, envelope = CASES[case]
    seen: Counter[int] = Counter()
    for runs in envelope.clip(REAL.read(steps)):
        for run in range(len(runs.scores)):
            count = runs.count(run)
            seen.update(runs.output(run, place) for place in range(200 if count is None else count))
    assert {seen[y] for y in range(-FAR, FAR + 1)} == {1}


# Mutants: each is wrong in one place.


def reaches_one_too_far(envelope: ScoreEnvelope, score: Fraction) -> int:
    return max(-1, math.floor((envelope.height - score) / envelope.slope)) + 1


def never_clips(envelope: ScoreEnvelope, score: Fraction) -> int:
    del envelope, score
    return 2


def forgets_what_is_below_the_centre(envelope: ScoreEnvelope, runs: Any, step: Any) -> Runs:
    made = RIGHT(envelope, runs, step)
    return RIGHT(envelope, [(10**6, 0)], step) if step < 0 and made.counts is not None else made


RIGHT = ScoreEnvelope._falling  # noqa: SLF001 - a mutant is made of it
MUTANTS: Mapping[str, tuple[str, Any, str]] = {
    "reaches one too far": ("reach", reaches_one_too_far, "a step in the middle"),
    "never clips": ("reach", never_clips, "steps above the envelope"),
    "forgets a side": ("_falling", forgets_what_is_below_the_centre, "a step in the middle"),
}


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_draw_that_is_wrong_in_one_place_is_rejected(monkeypatch: pytest.MonkeyPatch, mutant: str) -> None:
    name, wrong, case = MUTANTS[mutant]
    monkeypatch.setattr(exponential_on_integers.ScoreEnvelope, name, wrong)
    with pytest.raises(Rejected, match=r"wrong|never"):
        check_enumeration(case, 1, 12, math.inf)


# The system's randomness, in words of 64 bits.

LONG: Steps = [(None, -3), (-4, 0), (2, 1), (7, -9), (9, 1)]
HILL = ScoreEnvelope(Fraction(2), 1, Fraction(1, 3))
CELLS = [-12, -4, -2, 0, 2, 4, 7, 9, 12]


def g_of(exact: Mapping[int, Enclosure], draw: Callable[[], int], draws: int) -> tuple[float, float]:
    outputs = [draw() for _ in range(draws)]
    edges = [-math.inf, *CELLS, math.inf]
    counts = [sum(low <= y < high for y in outputs) for low, high in pairwise(edges)]
    inner = [
        sum((p.low for y, p in exact.items() if low <= y < high), Fraction(0))
        for low, high in pairwise(CELLS)
    ]
    below = sum((p.low for y, p in exact.items() if y < CELLS[0]), Fraction(0))
    return g_statistic(counts, [below, *inner, 1 - below - sum(inner)]), threshold(len(counts))


def test_draws_with_the_systems_randomness_follow_the_law_and_no_other() -> None:
    m = mechanism(HILL, Fraction(2))
    exact = law(LONG, HILL, Fraction(2))
    found, most = g_of(exact, lambda: m(LONG), 800)
    assert found < most
    steeper = mechanism(ScoreEnvelope(HILL.height, HILL.centre, 3 * HILL.slope), Fraction(2))
    wrong, most = g_of(exact, lambda: steeper(LONG), 800)
    assert wrong > most


def test_two_far_steps_of_2_to_the_200_are_no_more_work() -> None:
    m = make_exponential_mechanism_on_integers(
        WHOLE, linf_distance(), 1, height=2**200, centre=-(2**200), slope=Fraction(1, 2**200)
    )
    drawn = {m([(None, -(2**200)), (2**200, 2**200)]) for _ in range(20)}
    assert all(y >= 2**200 for y in drawn)
    assert len(drawn) == 20


# The price.


def float_law(scores: Sequence[float]) -> list[float]:
    weights = [math.exp(score / float(SCALE)) for score in scores]
    return [weight / sum(weights) for weight in weights]


@pytest.mark.parametrize("monotonic", [True, False])
def test_no_pair_of_neighbours_loses_more_than_the_price_and_one_loses_all_of_it_nearly(
    *, monotonic: bool
) -> None:
    """Scores of the integers 0 to 3 are 0, 1 or 12, below -40 elsewhere; the envelope cuts some of them."""
    metric = linf_distance(monotonic=monotonic)
    m = make_exponential_mechanism_on_integers(WHOLE, metric, SCALE, height=12, centre=1, slope=8)
    price = float(m.map(1))  # type: ignore[arg-type]
    roof = [12 - 8 * abs(y - 1) for y in range(-20, 24)]

    def losses(one: Sequence[int], other: Sequence[int]) -> float:
        laws = [
            float_law([min(b, s) for b, s in zip(roof, [-40] * 20 + list(inner) + [-40] * 20, strict=True)])
            for inner in (one, other)
        ]
        return max(abs(math.log(p / q)) for p, q in zip(*laws, strict=True))

    worst = 0.0
    for scores in product((0, 1, 12), repeat=4):
        for changes in product((0, 1) if monotonic else (-1, 0, 1), repeat=4):
            moved = [score + change for score, change in zip(scores, changes, strict=True)]
            worst = max(worst, losses(scores, moved))
    assert 0.98 * price < worst <= price + 1e-9


def test_the_factor_of_two_is_not_saved_where_scores_are_clipped() -> None:
    """The score -3 |y - x| of the geometric mechanism, whole or clipped at -2 |y - 3|: x is -3 or -2."""
    outputs = range(-40, 41)
    whole = [float_law([-3 * abs(y - x) for y in outputs]) for x in (-3, -2)]
    cut = [float_law([min(-2 * abs(y - 3), -3 * abs(y - x)) for y in outputs]) for x in (-3, -2)]
    losses = [max(abs(math.log(p / q)) for p, q in zip(*laws, strict=True)) for laws in (whole, cut)]
    assert losses[0] == pytest.approx(3 / SCALE)
    assert 1.5 * losses[0] < losses[1] <= 6 / SCALE


def test_it_costs_what_the_mechanism_on_a_list_costs_in_every_currency() -> None:
    scores, metric = vector_domain(atom_domain(int), 9), linf_distance()
    assert mechanism(ROOF).map(2) == make_report_noisy_max_gumbel(scores, metric, SCALE).map(2)
    for measure in (zero_concentrated_divergence(), range_divergence()):
        ours = mechanism(ROOF, privacy_measure=measure)
        assert ours.map(2) == make_report_noisy_top_k(scores, metric, measure, 1, SCALE).map(2)
    summed = make_exponential_mechanism_on_integers(WHOLE, l1_distance(), 2, height=0, centre=0, slope=1)
    assert summed.map(3) == Fraction(3, 2)


def test_without_noise_the_best_is_given_and_of_those_that_tie_the_least() -> None:
    exact = mechanism(ROOF, Fraction(0))
    assert exact.draw([(None, 0)], untouchable()) == 0
    assert exact.draw([(None, 9)], untouchable()) == 1
    assert exact.draw([(None, -2), (5, -1)], untouchable()) == -1
    assert (exact.map(0), exact.map(1)) == (0, math.inf)


def test_bad_arguments_are_refused() -> None:
    right: dict[str, Any] = {
        "input_domain": WHOLE,
        "input_metric": linf_distance(),
        "scale": 1,
        "height": 0,
        "centre": 0,
        "slope": 1,
    }
    for name, wrong in (
        ("input_domain", runs_domain(atom_domain(int), 5)),
        ("input_metric", range_distance()),
        ("input_metric", "linf"),
        ("scale", -1),
        ("scale", 2**501),
        ("height", 2**201),
        ("centre", "1/2"),
        ("centre", 2**201),
        ("slope", 0),
        ("slope", 2**201),
        ("slope", Fraction(1, 2**201)),
        ("privacy_measure", "pure"),
    ):
        with pytest.raises(InvalidParameter):
            make_exponential_mechanism_on_integers(**{**right, name: wrong})
    with pytest.raises(OutsideDomain):
        make_exponential_mechanism_on_integers(**right)([(0, 1)])
