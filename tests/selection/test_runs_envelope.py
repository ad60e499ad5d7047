"""Every run has units for all of its mass, floats decide only what is clear, and few proposals are rejected.

What is under test: dpselect.selection.runs_envelope.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect.exact.enclosures import enclose, expm1
from dpselect.exact.randomness import system
from dpselect.selection.runs import LEAST_FALL, MOST_POINTS, MOST_WEIGHT, Runs
from dpselect.selection.runs_envelope import FARTHEST, RunsEnvelope, multiples
from tests.exact.sources import Given, untouchable

ONE = Fraction(1)
WIDTHS = [1, 64]
NEARLY = Fraction(1, 2**60)


def whole(values: list[int], kind: Any = np.int64) -> Any:
    return np.array(values, dtype=kind)


def envelope_of(*groups: Runs, scale: Fraction = ONE, width: int = 64) -> RunsEnvelope:
    with np.errstate(all="ignore"):
        return RunsEnvelope(groups, scale, width)


def check_units(groups: list[Runs], scale: Fraction, width: int) -> None:
    """Each run with points has units for all of its mass, and hardly more; its estimate is right."""
    envelope = envelope_of(*groups, scale=scale, width=width)
    for group, runs in enumerate(groups):
        units = np.diff(envelope.cumulative_units[group], prepend=0).tolist()
        for run, count in enumerate(units):
            if runs.count(run) == 0:
                assert count == 0
                continue
            low, high = envelope.exact_margin(group, run, 0, 80)
            assert high <= count <= low * (1 + Fraction(1, 2**30)) + 1
            estimate = Fraction(float(envelope.estimates[group][run]))
            assert low * (1 - Fraction(1, 2**38)) <= estimate <= high * (1 + Fraction(1, 2**38)) or (
                max(high, estimate) < 1
            )
    assert envelope.total_units < 2**62
    assert width == 1 or envelope.total_units > 2**59


def mass(runs: Runs, run: int, best: Fraction, scale: Fraction) -> Fraction:
    """Bound the mass of a run from above: the sum over its points, one by one, to 100 bits."""
    gap, decay = (best - runs.score(run)) / scale, runs.drop(run) / scale
    return runs.weight * sum(
        enclose(lambda x, d: (-x - d).exp(), gap, decay * k, precision=100).high
        for k in range(runs.count(run) or 0)
    )


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("width", WIDTHS)
@given(
    st.lists(
        st.tuples(st.integers(0, 6), st.integers(-40, 5), st.integers(0, 3)), min_size=1, max_size=12
    ).filter(lambda those: any(count for count, _, _ in those)),
    st.sampled_from([Fraction(1), Fraction(7, 3), Fraction(1, 50)]),
)
def test_masses_are_the_sums_over_points(
    width: int, those: list[tuple[int, int, int]], scale: Fraction
) -> None:
    counts, scores, falls = zip(*those, strict=True)
    starts = whole([0] * len(those))
    runs = Runs(
        starts=starts, counts=whole([*counts]), scores=whole([*scores]), falls=whole([*falls]), fall=ONE / 3
    )
    envelope = envelope_of(runs, scale=scale, width=width)
    best = max(runs.score(i) for i, count in enumerate(counts) if count)
    first = next(i for i, count in enumerate(counts) if count and runs.score(i) == best)
    unit = envelope.exact_margin(0, first, 0, 80).low / mass(runs, first, best, scale)
    for i, count in enumerate(counts):
        if count:
            low, high = envelope.exact_margin(0, i, 0, 80)
            expected = unit * mass(runs, i, best, scale)
            assert low <= expected * (1 + NEARLY) + NEARLY
            assert expected <= high * (1 + NEARLY) + NEARLY


EXTREMES: dict[str, list[Runs]] = {
    "lengths 1 and 2**70": [
        Runs(starts=whole([0, 1], object), counts=whole([1, 2**70], object), scores=whole([0, 0]))
    ],
    "far behind": [
        Runs(starts=whole([0, 1, 2]), counts=whole([1, 1, 2**62]), scores=whole([0, -(2**40), -44]))
    ],
    "as far apart as 64 bits can say": [
        Runs(starts=whole([0, 1]), counts=1, scores=whole([2**63 - 1, -(2**63)]), unit=Fraction(1, 2**60))
    ],
    "unsigned": [Runs(starts=whole([0, 1]), counts=1, scores=whole([2**64 - 1, 2**64 - 9], np.uint64))],
    "a fall of 2**-80": [
        Runs(starts=whole([0]), counts=2**70, scores=whole([0]), falls=whole([1]), fall=Fraction(1, 2**80)),
        Runs(starts=whole([2**70], object), counts=2**70, scores=whole([0])),
    ],
    "falls that are fast, slow and none": [
        Runs(
            starts=whole([0, 0, 0, 0]),
            counts=whole([9, 2**60, 5, 7]),
            scores=whole([0, 1, 2, 2]),
            falls=whole([2**62, 1, 0, 3]),
            fall=Fraction(1, 2**40),
        )
    ],
    "infinitely many": [
        Runs(
            starts=whole([0, -1]),
            counts=None,
            scores=whole([0, -1]),
            falls=whole([1, 2**50]),
            fall=LEAST_FALL,
        )
    ],
    "the most points far behind": [
        Runs(
            starts=whole([0, 1], object),
            counts=whole([1, MOST_POINTS], object),
            scores=whole([0, -355]),
        )
    ],
    "weights far apart": [
        Runs(starts=whole([0]), counts=1, scores=whole([5]), weight=Fraction(1, MOST_WEIGHT)),
        Runs(starts=whole([1]), counts=1, scores=whole([-(10**6)])),
    ],
    "a unit below all floats": [
        Runs(
            starts=whole([0, 1, 2]),
            counts=1,
            scores=whole([0, -(10**1300), -(10**1302)], object),
            unit=Fraction(1, 10**1300),
        )
    ],
    "a tiny unit of 64 bits": [
        Runs(starts=whole([0, 1]), counts=3, scores=whole([0, -(2**62)]), unit=Fraction(1, 200000))
    ],
    "a huge unit": [Runs(starts=whole([0, 1]), counts=3, scores=whole([0, -1]), unit=Fraction(200000))],
    "scores beyond all floats": [
        Runs(starts=whole([0, 1]), counts=3, scores=whole([10**500, 10**500 - 2], object))
    ],
    "offsets that no float tells apart": [
        Runs(starts=whole([0]), counts=3, scores=whole([0]), offset=Fraction(200000)),
        Runs(starts=whole([3]), counts=3, scores=whole([0]), offset=200000 + Fraction(1, 3)),
    ],
    "a best run without points": [
        Runs(starts=whole([0, 0]), counts=whole([0, 3]), scores=whole([10**6, 0])),
        Runs(starts=whole([3]), counts=whole([0], object), scores=whole([7])),
        Runs(starts=whole([]), counts=whole([]), scores=whole([])),
    ],
}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("groups", EXTREMES.values(), ids=EXTREMES)
@pytest.mark.parametrize("scale", [ONE, Fraction(1, 3), Fraction(10**30)], ids=str)
def test_every_run_has_units_for_its_mass_and_hardly_more(
    groups: list[Runs], scale: Fraction, width: int
) -> None:
    check_units(groups, scale, width)


@pytest.mark.parametrize("base", [0, 2**61, -(2**61)])
def test_estimates_are_right_at_every_distance(base: int) -> None:
    gaps = np.arange(0, 6000, 7)
    runs = Runs(
        starts=gaps, counts=1 + (gaps * gaps) % 977, scores=base - gaps, unit=Fraction(1, 11), falls=gaps % 5
    )
    check_units([runs], Fraction(6, 7), 64)


def test_every_unit_is_proposed_once() -> None:
    first = Runs(starts=whole([0, 3, 4, 4]), counts=whole([3, 1, 0, 5]), scores=whole([0, 2, 9, 1]))
    second = Runs(starts=whole([9]), counts=2, scores=whole([1]), falls=whole([1]))
    envelope = envelope_of(first, second, width=1)
    found: Counter[tuple[int, int]] = Counter()
    asked: list[tuple[int, int, int]] = []
    for unit in range(envelope.total_units):
        proposal = envelope.propose(Given([unit], width=envelope.total_units.bit_length()))
        asked.append(proposal)
        found[proposal[:2]] += 1
    assert len(set(asked)) == envelope.total_units
    for (group, run), count in found.items():
        assert count == np.diff(envelope.cumulative_units[group], prepend=0)[run]
        assert sorted(level for g, r, level in asked if (g, r) == (group, run)) == list(range(count))


def test_words_of_64_bits_reject_hardly_a_proposal() -> None:
    scores = -(np.arange(2000) % 977)
    runs = Runs(starts=np.arange(2000), counts=1 + np.arange(2000), scores=scores)
    envelope = envelope_of(runs, scale=Fraction(50))
    total = sum(envelope.exact_margin(0, run, 0, 40).low for run in range(2000))
    assert 1 - total / envelope.total_units < Fraction(1, 2**29)


def test_where_the_estimate_is_clear_no_word_is_drawn() -> None:
    runs = Runs(starts=whole([0, 1]), counts=1, scores=whole([0, -1]))
    envelope = envelope_of(runs)
    low, high = envelope.exact_margin(0, 1, 0, 80)
    middle = math.floor(low)
    assert envelope.is_accepted(0, 1, middle - 2**29, untouchable())
    assert not envelope.is_accepted(0, 1, middle + 2**29, untouchable())
    drawn = Given([0], width=64)
    assert envelope.is_accepted(0, 1, middle, drawn)
    assert drawn.drawn == 1
    assert not envelope.is_accepted(0, 1, middle, Given([2**64 - 1]))
    assert high - low < Fraction(1, 2**70)


@pytest.mark.parametrize("off", [2.0**-37, -(2.0**-37)])
def test_the_level_in_which_the_mass_ends_is_compared_exactly_whatever_the_error(off: float) -> None:
    gaps = np.arange(1, 400)
    envelope = envelope_of(Runs(starts=gaps, counts=1, scores=-gaps, unit=Fraction(1, 16)), scale=ONE)
    envelope.estimates[0] *= 1 + off
    for run in range(399):
        level = math.floor(envelope.exact_margin(0, run, 0, 80).low)
        source = Given([system().word()])
        envelope.is_accepted(0, run, level, source)
        assert source.drawn == 1


def test_margins_are_enclosed_ever_more_closely() -> None:
    runs = Runs(starts=whole([0, 1]), counts=whole([1, 2**62]), scores=whole([0, -2000]))
    envelope = envelope_of(runs)
    for precision in (1, 40, 200):
        low, high = envelope.exact_margin(0, 1, 3, precision)
        assert (low, high) == (Fraction(-3), Fraction(1, 2**precision) - 3)
    low, high = envelope.exact_margin(0, 1, 0, 4000)
    assert 0 < low < high < low * (1 + Fraction(1, 2**1000))


def test_expm1_of_numpy_is_as_right_as_the_proof_assumes() -> None:
    points = np.concatenate([-np.geomspace(2.0**-1000, FARTHEST, 2000), -np.linspace(0.001, 40, 2000)])
    for x, estimate in zip(points.tolist(), np.expm1(points).tolist(), strict=True):
        low, high = expm1(Fraction(x), 80)
        assert low * (1 + Fraction(1, 2**45)) <= Fraction(estimate) <= high * (1 - Fraction(1, 2**45))


def test_exp_of_numpy_is_as_right_as_the_proof_assumes_for_numbers_that_far_behind() -> None:
    points = -np.linspace(0, FARTHEST, 4001)
    for x, estimate in zip(points.tolist(), np.exp(points).tolist(), strict=True):
        low, high = enclose(lambda ball: ball.exp(), Fraction(x), precision=80)
        assert low * (1 - Fraction(1, 2**45)) <= Fraction(estimate) <= high * (1 + Fraction(1, 2**45))


@pytest.mark.parametrize("unit", [ONE, Fraction(1, 10**500), Fraction(10**500), Fraction(1, 3)], ids=str)
def test_multiples_of_pythons_integers_are_close_or_far_too_large(unit: Fraction) -> None:
    numbers = [0, 1, 2**62, 10**200, 200099, 10**501, -5]
    with np.errstate(all="ignore"):
        found = multiples(whole(numbers, object), unit).tolist()
    for number, estimate in zip(numbers, found, strict=True):
        exact = max(number, 0) * unit
        assert (estimate > 2**300 and exact > 2**300) or abs(Fraction(estimate) - exact) <= exact / 2**50 + (
            Fraction(1, 2**590)
        )
