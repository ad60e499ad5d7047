"""A score vector finds the k best, and puts every other candidate into one cell, however scores are laid out.

What is under test: dpselect.selection.array_scores and dpselect.selection.fraction_scores.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpselect.exact.randomness import system
from dpselect.exact.rounding import LARGEST_FLOAT
from dpselect.selection.array_scores import ArrayScores, block_size_for
from dpselect.selection.fraction_scores import FractionScores
from dpselect.selection.scores import ScoreVector
from tests.selection.cells import check_units, count_cells

Optimize = Literal["max", "min"]
BLOCK_SIZES = [1, 2, 4]
DTYPES = ["int8", "int64", "uint64", "float16", "float32", "float64"]


def vectors(values: NDArray[Any], optimize: Optimize, block_size: int) -> list[ScoreVector]:
    exact = [Fraction(value.item()) for value in values]
    return [ArrayScores(values, optimize, block_size), FractionScores(exact, optimize)]


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=60),
    st.sampled_from(DTYPES),
    st.sampled_from(["max", "min"]),
    st.sampled_from(BLOCK_SIZES),
    st.data(),
)
def test_each_candidate_that_is_not_individual_is_in_one_cell(
    scores: list[int], dtype: str, optimize: Optimize, block_size: int, data: st.DataObject
) -> None:
    k = data.draw(st.integers(1, len(scores)))
    sign = 1 if optimize == "max" else -1
    kth = sorted(scores, key=lambda x: -sign * x)[k - 1]
    above = {i for i, x in enumerate(scores) if sign * (x - kth) > 0}
    for vector in vectors(np.array(scores, dtype=dtype), optimize, block_size):
        threshold = vector.find_threshold(k)
        assert threshold is not None
        assert threshold.kth_best == kth
        individual = threshold.individual.tolist()
        assert len(individual) == len(set(individual)) == k - 1
        assert above <= set(individual) <= above | {i for i, x in enumerate(scores) if x == kth}
        assert count_cells(vector, threshold) == Counter(i for i in range(len(scores)) if i not in individual)
        others = np.array([i for i in range(len(scores)) if i not in individual], dtype=np.int64)
        expected = [abs(scores[i] - kth) for i in others]
        assert vector.float_gaps(others, threshold.kth_best).tolist() == expected
        assert [vector.float_gap(int(i), threshold.kth_best) for i in others] == expected
        assert [vector.gap(int(i), threshold.kth_best) for i in others] == expected
        equal = vector.are_tied(others, threshold.kth_best).tolist()
        assert (
            equal
            == [vector.is_tied(int(i), threshold.kth_best) for i in others]
            == [gap == 0 for gap in expected]
        )
        exponents = vector.cell_exponents(threshold, 0.5, 100.0)
        for block in set(range(vector.blocks)) - set(threshold.empty_cells.tolist()):
            members = np.arange(block, len(scores), vector.blocks)
            assert len(members) <= vector.block_size
            nearest = min(sign * (kth - scores[i]) for i in members)
            assert exponents[block] == 100 - nearest / 2
        if threshold.extracted is not None:
            extracted = zip(
                range(vector.blocks, len(exponents)), threshold.extracted.candidates.tolist(), strict=True
            )
            assert all(
                exponents[cell] == 100 - sign * (kth - scores[i]) / 2
                for cell, i in extracted
                if cell not in threshold.empty_cells
            )


@pytest.mark.parametrize("dtype", ["int64", "float64"])
@pytest.mark.parametrize("size", [1, 40, 64 * 14, 64 * 80, 64 * 150])
@pytest.mark.parametrize("k", [2, 3, 11])
def test_c2_as_many_candidates_are_read_whatever_the_scores(k: int, size: int, dtype: str) -> None:
    """Ties at the k-th best, or at the last extracted block, change no size; the last row is full."""
    size *= k
    tied, one_ahead, spread = np.full(size, 5), np.full(size, 5), np.arange(size) % 1009
    one_ahead[size // 2] = 6
    some_ahead = [np.where(np.arange(size) < some, 6, 5) for some in (k - 1, k, 2 * k, 2 * k + 1, size // 2)]
    shapes = set()
    for scores in (tied, one_ahead, spread, *some_ahead):
        threshold = ArrayScores(scores.astype(dtype), "max", block_size_for(size, k)).find_threshold(k)
        assert threshold is not None
        extracted = None if threshold.extracted is None else len(threshold.extracted.scores)
        shapes.add((len(threshold.individual), len(threshold.empty_cells), extracted))
    assert len(shapes) == 1


@pytest.mark.parametrize("optimize", ["max", "min"])
@pytest.mark.parametrize("most", [3, 40, 10**6], ids=["many-ties", "ties", "hardly-any"])
def test_the_best_are_found_among_very_many_blocks(most: int, optimize: Optimize) -> None:
    """With 1500 blocks, groups of blocks are searched first; 2999 candidates leave the last row short."""
    scores = np.array([system().word() % most for _ in range(2999)])
    oriented = scores if optimize == "max" else -scores
    for k in (2, 5, 9):
        vector = ArrayScores(scores, optimize, 2)
        threshold = vector.find_threshold(k)
        assert threshold is not None
        assert threshold.kth_best == scores[np.argsort(-oriented)[k - 1]]
        individual = set(threshold.individual.tolist())
        assert len(individual) == k - 1
        assert (
            set(np.flatnonzero(oriented > oriented[scores == threshold.kth_best][0]).tolist()) <= individual
        )
        assert min(oriented[threshold.individual]) >= oriented[scores == threshold.kth_best][0]
        assert count_cells(vector, threshold) == Counter(set(range(2999)) - individual)
        assert threshold.extracted is not None
        assert 4 * k - 2 <= len(threshold.extracted.scores) <= 4 * k


WHOLE = st.integers(-(2**63), 2**63 - 1) | st.integers(-9, 9) | st.integers(2**62, 2**62 + 99)
REAL = st.floats(allow_nan=False, allow_infinity=False) | st.floats(-9, 9) | st.floats(1e15, 1e15 + 99)


@given(
    st.lists(WHOLE, min_size=1, max_size=9) | st.lists(REAL, min_size=1, max_size=9),
    st.sampled_from(["max", "min"]),
    st.floats(0, allow_infinity=False) | st.floats(0.1, 100),
    st.floats(1, 1023),
)
def test_exponents_are_not_too_low(scores: list[float], optimize: Optimize, slope: float, top: float) -> None:
    exact = [Fraction(score) for score in scores]
    for vector in (ArrayScores(np.array(scores), optimize), FractionScores(exact, optimize)):
        threshold = vector.find_threshold(1)
        assert threshold is not None
        with np.errstate(all="ignore"):
            exponents = vector.cell_exponents(threshold, slope, top)
        for found, score in zip(exponents.tolist(), exact, strict=True):
            down = Fraction(slope) * abs(score - Fraction(threshold.kth_best))
            if math.isinf(found):
                assert found < 0
                assert top < down
            else:
                assert Fraction(found) >= top - down - Fraction(1, 2**12) - down / 2**50
                if down <= Fraction(slope) * Fraction(LARGEST_FLOAT):
                    assert Fraction(found) <= top - down + Fraction(1, 2**12) + down / 2**50


def test_a_gap_too_small_for_floats_is_left_to_fractions() -> None:
    """Rounded to zero it would pass for a tie, which is accepted at any time."""
    tiny = Fraction(1, 10**400)
    vector = FractionScores([Fraction(0), -tiny, None], "max")
    threshold = vector.find_threshold(1)
    assert threshold is not None
    assert math.isnan(vector.float_gap(1, threshold.kth_best))
    assert vector.gap(1, threshold.kth_best) == tiny
    assert vector.all_float_gaps(threshold) == [0.0, 0.0, math.inf]
    assert vector.float_gaps(np.array([0, 2]), threshold.kth_best).tolist() == [0.0, math.inf]
    assert not vector.is_tied(1, threshold.kth_best)


def test_small_gaps_are_rounded_down_but_not_away() -> None:
    gaps = [Fraction(3, 2**1001), Fraction(1, 3 * 2**1060), Fraction(7, 10) / 2**1074]
    vector = FractionScores([Fraction(0), *(-gap for gap in gaps)], "max")
    threshold = vector.find_threshold(1)
    assert threshold is not None
    for found, gap in zip(vector.all_float_gaps(threshold)[1:], gaps, strict=True):
        assert Fraction(found) <= gap
        assert gap - Fraction(found) <= max(gap / 2**51, Fraction(1, 2**1073))


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("dtype", ["int64", "float64"])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_best_may_be_in_the_last_row_that_most_blocks_lack(k: int, dtype: str) -> None:
    """Of ten blocks seven lack the eighth row; scores looked up there are those of the last, the best."""
    for _ in range(60):
        scores = np.array([*(system().word() % 20 for _ in range(72)), 25], dtype=dtype)
        vector = ArrayScores(scores, "max", 8)
        threshold = vector.find_threshold(k)
        assert threshold is not None
        assert vector.blocks == 10
        assert threshold.kth_best == np.sort(scores)[-k]
        individual = set(threshold.individual.tolist())
        assert set(np.flatnonzero(scores > threshold.kth_best).tolist()) <= individual
        assert len(individual) == k - 1
        assert count_cells(vector, threshold) == Counter(set(range(73)) - individual)
        check_units(vector, threshold, 73)


@pytest.mark.parametrize("k", [1, 2, 31, 32, 1000])
@pytest.mark.parametrize("size", [1, 4096, 4097, 10**6, 2_000_001, 10**8])
def test_the_size_of_blocks_is_a_power_of_two(size: int, k: int) -> None:
    assert block_size_for(size, k).bit_count() == 1


@pytest.mark.parametrize("sign", [1, -1])
def test_exponents_are_not_too_low_where_the_threshold_is_large(sign: int) -> None:
    scores = sign * 1e15 - np.arange(200.0) * 0.625
    vector = ArrayScores(scores, "max")
    threshold = vector.find_threshold(1)
    assert threshold is not None
    for slope in (0.3, 2.3, 3.7, 23.1):
        exponents = vector.cell_exponents(threshold, slope, 500.0).tolist()
        for found, score in zip(exponents, scores.tolist(), strict=True):
            down = Fraction(slope) * (Fraction(threshold.kth_best) - Fraction(score))
            assert Fraction(found) >= 500 - down - Fraction(1, 2**12)


def test_the_float_next_to_the_threshold_does_not_tie_with_it() -> None:
    vector = ArrayScores(np.array([1.0, math.nextafter(1.0, 0.0), 1.0]), "max")
    assert vector.are_tied(np.arange(3), 1.0).tolist() == [True, False, True]
    assert [vector.is_tied(i, 1.0) for i in range(3)] == [True, False, True]


def test_large_integers_one_apart_are_one_apart() -> None:
    vector = ArrayScores(np.array([2**62 + 1, 2**62]), "max")
    assert vector.float_gap(1, 2**62 + 1) == 1.0
    assert vector.float_gaps(np.arange(2), 2**62 + 1).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("exponent", [1001, 1010, 1030, 1055, 1060, 1061])
def test_a_small_gap_is_right_or_not_a_number(exponent: int) -> None:
    for gap in (Fraction(7, 3) / 2**exponent, Fraction(2**60 + 1, 3 * 2**60) / 2**exponent):
        found = FractionScores([Fraction(0), -gap], "max").float_gap(1, Fraction(0))
        assert math.isnan(found) or abs(Fraction(found) - gap) <= gap / 2**51


@pytest.mark.parametrize(("optimize", "oriented"), [("max", [-1.5, 2.5, 0.0]), ("min", [1.5, -2.5, 0.0])])
def test_float_scores_are_oriented(optimize: Optimize, oriented: list[float]) -> None:
    for vector in vectors(np.array([-1.5, 2.5, 0.0]), optimize, 1):
        assert vector.float_scores(np.arange(3)).tolist() == oriented


def test_float_scores_of_unsigned_integers_are_oriented_below_zero() -> None:
    for vector in vectors(np.array([1, 255], dtype="uint8"), "min", 1):
        assert vector.float_scores(np.arange(2)).tolist() == [-1.0, -255.0]


@pytest.mark.parametrize("optimize", ["max", "min"])
@pytest.mark.parametrize("size", [400, 397])
@pytest.mark.parametrize("step", [2, 3, -1, -2])
def test_an_array_with_strides_has_the_threshold_of_its_copy(
    optimize: Optimize, size: int, step: int
) -> None:
    seen = (np.arange(abs(step) * size) * 7919 % 1009)[::step]
    ours, theirs = (ArrayScores(scores, optimize, 4).find_threshold(3) for scores in (seen, seen.copy()))
    assert ours is not None
    assert ours.extracted is not None
    assert theirs is not None
    assert theirs.extracted is not None
    for one, other in zip((*ours[:3], *ours.extracted), (*theirs[:3], *theirs.extracted), strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("optimize", ["max", "min"])
@pytest.mark.parametrize("size", range(60, 76))
@pytest.mark.parametrize("most", [4, 12, 1000])
def test_the_candidates_of_an_extracted_block_are_in_cells_of_their_own(
    optimize: Optimize, size: int, most: int
) -> None:
    """The last row may be short."""
    for start in range(20):
        scores = (np.arange(start, start + size) * 7919) % 1009 % most
        vector = ArrayScores(scores, optimize, 4)
        threshold = vector.find_threshold(3)
        assert threshold is not None
        assert threshold.extracted is not None
        empty_cells = {cell for cell in threshold.empty_cells.tolist() if cell < vector.blocks}
        assert sorted(threshold.extracted.candidates) == [
            i for i in range(size) if i % vector.blocks in empty_cells
        ]
        assert threshold.extracted.scores.tolist() == scores[threshold.extracted.candidates].tolist()


def test_every_score_of_an_array_with_strides_is_looked_up() -> None:
    scores = np.arange(40.0)[::2]
    vector = ArrayScores(scores, "max")
    assert vector.float_gaps(np.arange(21), 38.0).tolist() == [*(38 - scores), 0.0]


@pytest.mark.parametrize(("optimize", "best"), [("max", 2**64 - 1), ("min", 0)])
def test_unsigned_integers_beyond_the_signed_ones_have_their_gaps_and_exponents(
    optimize: Optimize, best: int
) -> None:
    scores = [2**64 - 1, 2**64 - 3, 2**63, 5, 0]
    vector = ArrayScores(np.array(scores, dtype=np.uint64), optimize)
    threshold = vector.find_threshold(1)
    assert threshold is not None
    assert threshold.kth_best == best
    gaps = [abs(best - score) for score in scores]
    assert vector.float_gaps(np.arange(5), threshold.kth_best).tolist() == [float(gap) for gap in gaps]
    for slope in (2.0**-60, 1.0):
        exponents = vector.cell_exponents(threshold, slope, 100.0)
        assert exponents == pytest.approx([100 - slope * gap for gap in gaps], rel=2.0**-40)
