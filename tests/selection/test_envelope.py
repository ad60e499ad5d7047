"""The envelope covers every weight, each of its units is proposed once, and floats decide only what is clear.

What is under test: dpselect.selection.envelope.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect.exact import enclosures
from dpselect.exact.enclosures import Enclosure
from dpselect.exact.randomness import Randomness, system
from dpselect.exact.samplers import bernoulli_enclosed
from dpselect.selection import envelope as envelope_module
from dpselect.selection.array_scores import ArrayScores
from dpselect.selection.envelope import LISTS_UP_TO, SORT_FROM, Envelope, float_weights
from dpselect.selection.fraction_scores import FractionScores
from dpselect.selection.resolution import CLIP_ABOVE, IN_PLACE_ABOVE, STEPS_PER_DOUBLING, resolution
from dpselect.selection.scores import ScoreVector
from tests.exact.sources import Given
from tests.selection.cells import check_units, envelope_of

BLOCK_SIZES = [1, 2, 4]


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=200),
    st.sampled_from(BLOCK_SIZES),
    st.integers(1, 3),
    st.sampled_from(["together", "one by one"]),
)
def test_no_individual_candidate_is_proposed(scores: list[int], block_size: int, k: int, way: str) -> None:
    vector = ArrayScores(np.array(scores), "max", block_size)
    threshold = vector.find_threshold(min(k, len(scores)))
    assert threshold is not None
    envelope = Envelope(vector, threshold, Fraction(3, 2))
    if way == "together" or vector.blocks:
        candidates, remainder = (drawn.tolist() for drawn in envelope.propose(20, system()))
    else:
        candidates, remainder = zip(*(envelope.propose_one(system()) for _ in range(20)), strict=True)
    for candidate, units in zip(candidates, remainder, strict=True):
        assert 0 < units <= envelope.units_of_one * vector.block_size
        assert candidate not in threshold.individual


def test_an_envelope_outlives_the_blocks_of_its_vector() -> None:
    vector = ArrayScores(np.arange(80.0), "max", 8)
    threshold = vector.find_threshold(1)
    assert threshold is not None
    envelope = Envelope(vector, threshold, Fraction(5))
    words = [system().word() for _ in range(200)]
    before = list(envelope.each_accepted(200, Given(words)))
    vector.find_threshold(5)
    assert not vector.blocks
    assert before == list(envelope.each_accepted(200, Given(words)))
    assert before


@pytest.mark.parametrize("size", [LISTS_UP_TO, LISTS_UP_TO + 1])
def test_one_proposal_is_like_each_of_many(size: int) -> None:
    vector = ArrayScores(np.arange(size) % 7, "max")
    threshold = vector.find_threshold(1)
    assert threshold is not None
    envelope = Envelope(vector, threshold, Fraction(2))
    words = [system().word() >> 1 for _ in range(SORT_FROM)]
    for together in (words, words[:10]):
        candidates, remainder = envelope.propose(len(together), Given(together))
        single = [envelope.propose_one(Given([word])) for word in together]
        assert list(zip(candidates.tolist(), remainder.tolist(), strict=True)) == single


@given(st.lists(st.integers(0, 12), min_size=1, max_size=24), st.sampled_from(BLOCK_SIZES), st.integers(1, 3))
def test_every_unit_is_proposed_once_and_each_candidate_has_units_for_all_of_its_weight(
    scores: list[int], block_size: int, k: int
) -> None:
    vector = ArrayScores(np.array(scores), "max", block_size)
    threshold = vector.find_threshold(min(k, len(scores)))
    assert threshold is not None
    check_units(vector, threshold, len(scores))


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(10**6), Fraction(1, 10**290)])
def test_log_weights_are_right_to_fifty_bits(scale: Fraction) -> None:
    scores = np.concatenate([np.linspace(-700, 3, 50), -np.geomspace(1e-300, 1e300, 50)])
    vector = ArrayScores(scores, "max")
    threshold = vector.find_threshold(1)
    assert threshold is not None
    with np.errstate(all="ignore"):
        envelope = Envelope(vector, threshold, scale)
        together = envelope.log_weights(np.arange(100))
    for i in range(100):
        gap_in_scales = envelope.exact_gap_in_scales(i)
        assert gap_in_scales is not None
        for estimate in (float(together[i]), envelope.log_weight(i)):
            if estimate == -math.inf:
                assert gap_in_scales > 2**1000
            else:
                assert abs(Fraction(estimate) + gap_in_scales) <= gap_in_scales / 2**50


@pytest.mark.parametrize("size", [LISTS_UP_TO, LISTS_UP_TO + 1])
@pytest.mark.parametrize("exponent", [1015, 1030, 1078, 1100])
def test_a_candidate_with_a_gap_beyond_all_floats_has_units_for_its_weight(size: int, exponent: int) -> None:
    scores = np.full(size, -1.7e308)
    scores[0] = 1.7e308
    for vector in (ArrayScores(scores, "max"), FractionScores([Fraction(x) for x in scores], "max")):
        threshold = vector.find_threshold(1)
        assert threshold is not None
        with np.errstate(all="ignore"):
            envelope = Envelope(vector, threshold, Fraction(2**exponent))
        gap_in_scales = envelope.exact_gap_in_scales(1)
        assert gap_in_scales is not None
        assert envelope.rate >= 1 + (size - 1) * Fraction(math.exp(-gap_in_scales)) * (1 - Fraction(1, 2**40))


@pytest.mark.parametrize("base", [0.0, 2.9e9, -2.9e9, 2.0**45, -(2.0**45)])
def test_every_candidate_has_units_for_its_weight(base: float) -> None:
    """Beside one at the threshold there are forty that tie, so the rate tells how many units one has."""
    for step in range(480):
        gap_in_scales = step / 16
        envelope = envelope_of([base, *[base - gap_in_scales] * 40])
        unit_count = (envelope.rate - 1) / 40
        exact = enclosures.exp(-Fraction(gap_in_scales), 100)
        assert exact.high <= unit_count + Fraction(1, 2**90)
        assert unit_count <= Fraction(21, 20) * exact.low + Fraction(1, envelope.units_of_one)


@pytest.mark.parametrize("base", [2**61 + 3**power for power in range(31, 39)])
def test_a_candidate_has_units_for_its_weight_where_rounding_the_exponent_is_hardest(base: int) -> None:
    """The threshold is as large as it may be, no double, and the exponent is just above a whole number."""
    slope = Fraction(95 * 2**36, 100 * base)
    scale = Fraction(STEPS_PER_DOUBLING / math.log(2)) / slope
    for step, exponent in product(range(1, 200, 5), (18, 20)):
        score = round(base - (step - Fraction(1, 2**exponent)) / slope)
        envelope = envelope_of([base, *[score] * 40], scale)
        unit_count = (envelope.rate - 1) / 40
        assert unit_count >= enclosures.exp((score - base) / scale, 100).low


@pytest.mark.parametrize("many", [CLIP_ABOVE, IN_PLACE_ABOVE])
def test_very_many_cells_have_units_for_their_weights_and_few_more(many: int) -> None:
    scores = -np.arange(many + 1.0) / 1000
    total = float(np.exp(scores).sum())
    assert total <= float(envelope_of(scores.tolist()).rate) <= 1.05 * total


@pytest.mark.parametrize("width", [1, 64])
def test_the_float_rate_is_the_rate(width: int) -> None:
    envelope = envelope_of((np.arange(40.0) / 7).tolist(), width=width)
    assert envelope.float_rate == pytest.approx(float(envelope.rate), rel=1e-15)


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(7, 3)])
def test_float_weights_are_close(scale: Fraction) -> None:
    gaps = np.linspace(0, 50, 300).tolist()
    for gap, weight in zip(gaps, float_weights(gaps, scale), strict=True):
        low, high = enclosures.exp(-Fraction(gap) / scale, 100)
        assert low - Fraction(1, 2**40) <= Fraction(weight) <= high + Fraction(1, 2**40)


@pytest.mark.parametrize("block_size", [1, 4])
def test_the_unit_in_which_the_weight_ends_is_decided_exactly_whatever_the_error_of_the_estimate(
    block_size: int,
) -> None:
    envelope = envelope_of([0.0, *(-np.linspace(0.01, 20, 997)).tolist()], block_size=block_size)
    chosen = resolution((1, 1), (block_size * 250 if block_size > 1 else 998).bit_length(), block_size, 64)
    assert chosen.units_of_one == envelope.units_of_one
    for candidate in range(1, 998):
        gap_in_scales = envelope.exact_gap_in_scales(candidate)
        assert gap_in_scales is not None
        number = math.floor(envelope.units_of_one * enclosures.exp(-gap_in_scales, 100).low)
        estimate = chosen.units_of_full_block * math.exp(envelope.log_weight(candidate))
        for off, row in product((0.0, 2.0**-33, -(2.0**-33)), (1, block_size)):
            margin = estimate + off * chosen.units_of_full_block - (block_size * number + row)
            assert chosen.reject_below < margin < chosen.accept_above


@pytest.mark.parametrize(
    ("scores", "scale"),
    [
        ([1e-323, 5e-324, 0.0], Fraction(3, 2**1075)),
        ([1e-323, 5e-324, 0.0], Fraction(7, 3 * 2**1072)),
        ([1.7e308, 1.5e308, -1.7e308], Fraction(8 * 10**307)),
    ],
)
def test_at_the_ends_of_floats_a_log_weight_is_right_or_not_a_number(
    scores: list[float], scale: Fraction
) -> None:
    envelope = envelope_of(scores, scale)
    with np.errstate(all="ignore"):
        together = envelope.log_weights(np.arange(3)).tolist()
    for i, estimates in enumerate(zip(together, map(envelope.log_weight, range(3)), strict=True)):
        gap_in_scales = envelope.exact_gap_in_scales(i)
        assert gap_in_scales is not None
        for estimate in estimates:
            if estimate == -math.inf:
                assert gap_in_scales > 2**20
            else:
                assert (
                    math.isnan(estimate) or abs(Fraction(estimate) + gap_in_scales) <= gap_in_scales / 2**50
                )


@pytest.mark.parametrize("size", [33, 40, 60, 80, 100, 150, 200, 300, 600])
def test_units_too_large_to_carry_their_positions_are_looked_up_as_well(size: int) -> None:
    envelope = envelope_of((np.arange(size) % 2).tolist(), width=100)
    words = [system().word() % int(envelope.rate * envelope.units_of_one) for _ in range(600)]
    candidates, remainder = envelope.propose(600, Given(words))
    single = [envelope.propose_one(Given([word])) for word in words]
    assert list(zip(candidates.tolist(), remainder.tolist(), strict=True)) == single


TINY = Fraction(1, 10**400)
"""As a gap it is none for a float."""


@pytest.mark.parametrize(
    ("vector", "scale"),
    [
        (FractionScores([-i * TINY for i in range(40)], "max"), 5 * TINY),
        (ArrayScores(-np.arange(40.0), "max"), Fraction(5)),
        (ArrayScores(-np.arange(400.0) / 10, "max", 4), Fraction(5)),
    ],
)
@pytest.mark.parametrize("width", [1, 64])
def test_all_accepted_are_those_accepted_one_by_one(vector: ScoreVector, scale: Fraction, width: int) -> None:
    threshold = vector.find_threshold(1)
    assert threshold is not None
    words = [system().word() for _ in range(3000)]
    with np.errstate(all="ignore"):
        envelope = Envelope(vector, threshold, scale, width)
        one_by_one = list(envelope.each_accepted(300, Given(words)))
        candidates, numbers = envelope.all_accepted(300, Given(words))
    assert one_by_one == list(zip(candidates.tolist(), numbers.tolist(), strict=True))
    assert 20 < len(one_by_one) < 299


@pytest.mark.usefixtures("unmeasured")
def test_margins_that_floats_do_not_decide_are_enclosed_ever_more_closely(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    vector = FractionScores([-i * TINY for i in range(120)], "max")
    threshold = vector.find_threshold(1)
    assert threshold is not None
    with np.errstate(all="ignore"):
        envelope = Envelope(vector, threshold, TINY, width=1)
    seen = []

    def compared(exactly: partial[Enclosure], randomness: Randomness) -> bool:
        candidate, below = exactly.args
        weight = enclosures.exp(Fraction(-candidate), 400)
        for precision in (1, 30, 64, 80):
            low, high = exactly(precision)
            assert (
                low
                <= envelope.units_of_one * weight.low - below
                <= envelope.units_of_one * weight.high - below
                <= high
            )
        seen.append(candidate)
        return bernoulli_enclosed(exactly, randomness)

    monkeypatch.setattr(envelope_module, "bernoulli_enclosed", compared)
    with np.errstate(all="ignore"):
        list(envelope.each_accepted(3000, system()))
    assert len(seen) > 2000
    assert max(seen) > 60
