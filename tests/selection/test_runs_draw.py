"""A point of a run is drawn with a probability proportional to its weight times exp(score / scale), exactly.

What is under test: dpselect.selection.runs_draw.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from itertools import count, pairwise
from typing import Any

import numpy as np
import pytest

from dpselect.audit.rounds import enumerate_rounds
from dpselect.exact.randomness import Randomness, system
from dpselect.exact.samplers import draw_below, truncated_geometric
from dpselect.selection import runs_draw, runs_envelope
from dpselect.selection.runs import RunPoint, Runs
from dpselect.selection.runs_draw import best_point, draw_from_runs, draw_output
from dpselect.selection.runs_envelope import RunsEnvelope
from tests.exact.sources import Given, untouchable
from tests.selection.run_laws import law
from tests.statistics import g_statistic, threshold

SCALE = Fraction(3, 2)
HALF = Fraction(1, 2)


class Rejected(AssertionError):
    """The draw does not follow the law."""


def whole(values: list[int], kind: Any = np.int64) -> Any:
    return np.array(values, dtype=kind)


def constant(starts: list[int], counts: list[int], scores: list[int], **others: Any) -> Runs:
    return Runs(starts=whole(starts), counts=whole(counts), scores=whole(scores), **others)


CASES: dict[str, list[Runs]] = {
    "constant": [constant([0, 3, 4, 4], [3, 1, 0, 5], [0, 2, 9, 1])],
    "the best has no point": [constant([0, 0, 2], [0, 2, 1], [5, 0, 1]), constant([3], [0], [9])],
    "falling": [constant([0, 3], [3, 4], [0, 1], falls=whole([1, 2]), fall=HALF)],
    "rising": [constant([3], [4], [0], falls=whole([1]), step=-1)],
    "both kinds, and weights": [
        constant([2], [3], [0], falls=whole([1]), step=-1),
        constant([3, 5], [2, 2], [0, -1], weight=Fraction(2, 3), offset=Fraction(1, 4)),
    ],
    "a fall of nothing": [constant([0, 2], [2, 2], [0, 1], falls=whole([0, 3]))],
    "infinitely many": [Runs(starts=whole([0]), counts=None, scores=whole([0]), falls=whole([3]))],
    "pythons integers": [
        Runs(starts=whole([2**70, 0], object), counts=whole([1, 3], object), scores=whole([1, 0], object))
    ],
}


def check_enumeration(
    groups: Sequence[Runs], draw: Callable[[Randomness], int], depth: int, width: int, most_open: float
) -> None:
    """Walk one round: what it proves of all rounds must enclose the law, closely."""
    found = enumerate_rounds(draw, depth, width)
    widest = max(high - low for low, high in found.values())
    if not widest < most_open:
        raise Rejected(f"{float(widest):.3f} stays open")
    for output, (low, high) in law(groups, SCALE).items():
        if output not in found:
            if not high <= widest:
                raise Rejected(f"{output} is never drawn")
        elif not found[output].low <= low <= high <= found[output].high:
            raise Rejected(f"the probability of {output} is wrong")
    if strange := found.keys() - law(groups, SCALE).keys():
        raise Rejected(f"{strange} should never be drawn")


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize(
    ("width", "depth", "most_open"),
    [
        (1, 14, 0.04),
        (2, 12, 0.3),
        pytest.param(1, 19, 0.004, marks=pytest.mark.slow),
        pytest.param(3, 18, 0.05, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("groups", CASES.values(), ids=CASES)
def test_the_law_of_a_draw_is_the_exponential_mechanism(
    groups: list[Runs], width: int, depth: int, most_open: float
) -> None:
    check_enumeration(groups, partial(draw_output, groups, SCALE), depth, width, most_open)


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("at", [1, 2, 4])
@pytest.mark.parametrize("falls", [0, 1])
def test_cutting_a_run_in_two_changes_nothing(falls: int, at: int) -> None:
    """Both are walked, and compared with the law of the whole."""
    parts = {} if falls == 0 else {"falls": whole([1, 1])}
    halves = constant([0, at], [at, 5 - at], [0, -at * falls], **parts)
    whole_run = constant([0], [5], [0], **({} if falls == 0 else {"falls": whole([1])}))
    for groups in ([halves], [whole_run]):
        check_enumeration([whole_run], partial(draw_output, groups, SCALE), 13, 1, 0.1)


def test_a_point_is_named_by_its_group_its_run_and_its_place() -> None:
    groups = [constant([0, 9], [2, 3], [-900, -900]), constant([5], [1], [0])]
    assert draw_from_runs(groups, SCALE, system()) == RunPoint(group=1, run=0, place=0)
    assert draw_output(groups, SCALE, system()) == 5
    assert type(draw_output(groups, SCALE, system())) is int


# Mutants: each is wrong in one place.


def never_rejects(envelope: RunsEnvelope, *_: object) -> bool:
    return bool(envelope)


def rounds_down(estimates: Any, has_points: Any) -> Any:
    return np.add.accumulate(np.maximum(1, estimates.astype(np.int64)) * has_points)


def takes_the_best_of_all(runs: Runs, has_points: Any) -> int:
    del has_points
    return int(runs.scores.max())


def uniform_in_a_run_that_falls(decay: Fraction, count: int | None, randomness: Randomness) -> int:
    del decay
    return draw_below(count or 2, randomness)


def one_point_too_few(decay: Fraction, count: int | None, randomness: Randomness) -> int:
    return truncated_geometric(decay, None if count is None else max(1, count - 1), randomness)


def not_truncated(decay: Fraction, count: int | None, randomness: Randomness) -> int:
    del count
    return truncated_geometric(decay, None, randomness)


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize(
    ("place", "name", "mutant", "case"),
    [
        (RunsEnvelope, "is_accepted", never_rejects, "constant"),
        (runs_envelope, "units_of", rounds_down, "falling"),
        (runs_draw, "truncated_geometric", uniform_in_a_run_that_falls, "falling"),
        (runs_draw, "truncated_geometric", one_point_too_few, "rising"),
        (runs_draw, "truncated_geometric", not_truncated, "both kinds, and weights"),
    ],
)
def test_a_draw_that_is_wrong_in_one_place_is_rejected(
    monkeypatch: pytest.MonkeyPatch, place: Any, name: str, mutant: Any, case: str
) -> None:
    monkeypatch.setattr(place, name, mutant)
    with pytest.raises(Rejected, match=r"wrong|never"):
        check_enumeration(CASES[case], partial(draw_output, CASES[case], SCALE), 14, 1, 0.07)


@pytest.mark.usefixtures("unmeasured")
def test_a_draw_that_forgets_the_level_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    right = RunsEnvelope.is_accepted

    def forgetful(envelope: RunsEnvelope, group: int, run: int, level: int, randomness: Randomness) -> bool:
        del level
        return right(envelope, group, run, 0, randomness)

    monkeypatch.setattr(RunsEnvelope, "is_accepted", forgetful)
    with pytest.raises(Rejected, match="wrong"):
        check_enumeration(CASES["constant"], partial(draw_output, CASES["constant"], SCALE), 14, 1, 0.07)


@pytest.mark.usefixtures("unmeasured")
def test_a_base_without_a_point_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but the masses below it is lost, so the run that is never drawn must lie far below."""
    groups = [constant([0, 0, 2], [0, 2, 1], [2000, 0, 1])]
    check_enumeration(groups, partial(draw_output, groups, SCALE), 14, 1, 0.07)
    monkeypatch.setattr(Runs, "top", takes_the_best_of_all)
    with pytest.raises(Rejected):
        check_enumeration(groups, partial(draw_output, groups, SCALE), 14, 1, 0.07)


# The system's randomness, in words of 64 bits.


def g_of(groups: list[Runs], scale: Fraction, cells: list[int], draws: int) -> tuple[float, float]:
    """Draw outputs, count them between the given ones, and give the G statistic and its threshold."""
    with np.errstate(all="ignore"):
        outputs = np.array([draw_output(groups, scale, system()) for _ in range(draws)], dtype=object)
    exact = law(groups, scale)
    edges = [-(10**9), *cells, 10**9]
    counts = [int(((outputs >= low) & (outputs < high)).sum()) for low, high in pairwise(edges)]
    shares = [
        sum((p.low for output, p in exact.items() if low <= output < high), Fraction(0))
        for low, high in pairwise(edges)
    ]
    return g_statistic(counts, shares), threshold(len(counts))


STATISTICS: dict[str, tuple[list[Runs], Fraction, list[int]]] = {
    "mixture": (
        [
            constant([0, 40, 100], [40, 60, 400], [2, 3, 0]),
            constant([39, 600], [30, 100], [3, 2], falls=whole([1, 2]), fall=Fraction(1, 9), step=-1),
        ],
        Fraction(2),
        [0, 20, 40, 60, 100, 200, 510, 560, 590],
    ),
    "all integers": (
        [
            Runs(starts=whole([4]), counts=None, scores=whole([0]), falls=whole([1])),
            Runs(starts=whole([-2]), counts=None, scores=whole([-1]), falls=whole([2]), step=-1),
            constant([-1], [5], [0]),
        ],
        Fraction(3),
        [-4, -2, -1, 1, 4, 5, 7, 10],
    ),
    "a long run that rises": (
        [constant([299], [300], [0], falls=whole([1]), fall=Fraction(1, 40), step=-1)],
        Fraction(1),
        [50, 100, 150, 200, 250, 280],
    ),
}


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("case", STATISTICS)
def test_draws_with_the_systems_randomness_follow_the_law(case: str) -> None:
    found, most = g_of(*STATISTICS[case], 2000)
    assert found < most


def test_a_wrong_scale_is_seen() -> None:
    """The same comparison rejects draws whose scores fall three times as fast."""
    groups, scale, cells = STATISTICS["a long run that rises"]
    wrong = [constant([299], [300], [0], falls=whole([1]), fall=Fraction(1, 40) * 3, step=-1)]
    exact = law(groups, scale)
    outputs = [draw_output(wrong, scale, system()) for _ in range(600)]
    counts = [sum(output < cells[3] for output in outputs), sum(output >= cells[3] for output in outputs)]
    below = sum((p.low for output, p in exact.items() if output < cells[3]), Fraction(0))
    assert g_statistic(counts, [below, 1 - below]) > threshold(2)


def test_runs_of_equal_score_are_hit_by_their_lengths() -> None:
    long = Runs(starts=whole([0, 1], object), counts=whole([1, 2**70], object), scores=whole([0, 0]))
    outputs = [draw_output([long], SCALE, system()) for _ in range(200)]
    assert all(0 < output <= 2**70 for output in outputs)
    assert sum(output > 2**69 for output in outputs) in range(50, 151)


def test_a_fall_that_is_tiny_is_not_lost() -> None:
    """2**80 points that fall by 2**-80 scales each: half of the mass lies before 0.38 of them."""
    groups = [
        Runs(starts=whole([0]), counts=2**80, scores=whole([0]), falls=whole([1]), fall=Fraction(1, 2**80))
    ]
    early = sum(draw_output(groups, Fraction(1), system()) < 0.3799 * 2**80 for _ in range(400))
    assert early in range(120, 281)


# Without noise.


@pytest.mark.parametrize(
    ("groups", "best"),
    [
        ([constant([0, 3, 9], [3, 1, 5], [1, 7, 7])], 3),
        ([constant([9], [5], [7], step=-1), constant([20], [1], [7])], 5),
        ([constant([9], [5], [7], falls=whole([1]), step=-1), constant([0], [1], [6])], 9),
        ([constant([9], [5], [7], falls=whole([0]), step=-1)], 5),
        ([constant([0, 1], [0, 2], [9, 3]), constant([4], [1], [6], unit=HALF)], 1),
        ([constant([0], [0], [9]), constant([4], [1], [6])], 4),
        ([Runs(starts=whole([8]), counts=None, scores=whole([0]), falls=whole([1]), step=-1)], 8),
    ],
)
def test_without_noise_the_best_point_is_drawn_and_of_those_that_tie_the_least(
    groups: list[Runs], best: int
) -> None:
    group, run, place = best_point(groups)
    assert groups[group].output(run, place) == best
    assert draw_output(groups, Fraction(0), untouchable()) == best


def test_many_draws_find_every_point_of_a_small_grid() -> None:
    groups = [constant([0, 2], [2, 3], [0, 0])]
    assert set(Counter(draw_output(groups, SCALE, system()) for _ in range(400))) == set(range(5))


class Counted(Given):
    """Hands out eight bits at a time, the same in every run, and counts marks: one for each proposal."""

    def __init__(self) -> None:
        bits = random.Random(0)
        super().__init__((bits.getrandbits(8) for _ in count()), width=8)
        self.proposals = 0

    def mark(self, key: object) -> None:
        del key
        self.proposals += 1


@pytest.mark.parametrize("name", CASES)
def test_a_proposal_that_is_not_accepted_is_followed_by_another(name: str) -> None:
    """Few units stand for the masses here, so some of 300 draws meet a proposal that is not accepted."""
    groups, bits = CASES[name], Counted()
    drawn = {draw_output(groups, SCALE, bits) for _ in range(300)}
    assert drawn <= law(groups, SCALE).keys()
    assert bits.proposals > 300
