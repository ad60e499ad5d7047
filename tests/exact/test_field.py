"""A field finds the leaders, and gives every other candidate one place, however its scores are laid out.

What is under test: dpselect.exact.array_field and dpselect.exact.rational_field.
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

from dpselect.exact.array_field import ArrayField
from dpselect.exact.envelope import FEW, SORTED_FROM, STEPS, Envelope, ladder
from dpselect.exact.field import Field, Lead
from dpselect.exact.numbers import LARGEST
from dpselect.exact.randomness import system
from dpselect.exact.rational_field import RationalField
from tests.exact.sources import Given

Optimize = Literal["max", "min"]
DEPTHS = [1, 2, 4]
DTYPES = ["int8", "int64", "uint64", "float16", "float32", "float64"]


def fields(values: NDArray[Any], optimize: Optimize, depth: int) -> list[Field]:
    exact = [Fraction(value.item()) for value in values]
    return [ArrayField(values, optimize, depth), RationalField(exact, optimize)]


def places_of(field: Field, lead: Lead) -> Counter[int]:
    """Count the open places that each candidate stands in."""
    closed = set(lead.closed.tolist())
    if not field.columns:
        return Counter(i for i in range(field.size) if i not in closed)
    columns = [c for c in range(field.columns) if c not in closed]
    everybody = [c + r * field.columns for c in columns for r in range(field.depth)]
    inside = np.array([i for i in everybody if i < field.size], dtype=np.int64)
    if lead.above is None:
        return Counter(inside.tolist())
    stays = ~field.are_ahead(inside, lead.above.cut)
    return Counter([*lead.above.candidates.tolist(), *inside[stays].tolist()])


def check_units(field: Field, lead: Lead, size: int) -> None:
    """Walk all units: everybody who runs has each number of its share once, and nobody else has any."""
    envelope = Envelope(field, lead, Fraction(1), width=1)
    words = list(range(int(envelope.rate * envelope.unit)))
    found = list(zip(*(drawn.tolist() for drawn in envelope.propose(len(words), Given(words))), strict=True))
    if not field.columns:
        assert found == [envelope.propose_one(Given([word])) for word in words]
    numbers = [(candidate, -(-left // field.depth)) for candidate, left in found if candidate < size]
    assert len(set(numbers)) == len(numbers)
    shares = Counter(candidate for candidate, _ in numbers)
    assert set(shares) == set(range(size)) - set(lead.ahead.tolist())
    for candidate, share in shares.items():
        assert {number for who, number in numbers if who == candidate} == set(range(1, share + 1))
        behind = envelope.exactly_behind(candidate)
        assert behind is not None
        assert share >= envelope.unit * math.exp(-behind)


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=60),
    st.sampled_from(DTYPES),
    st.sampled_from(["max", "min"]),
    st.sampled_from(DEPTHS),
    st.data(),
)
def test_whoever_is_not_ahead_of_the_kth_best_stands_in_one_place(
    scores: list[int], dtype: str, optimize: Optimize, depth: int, data: st.DataObject
) -> None:
    k = data.draw(st.integers(1, len(scores)))
    sign = 1 if optimize == "max" else -1
    kth = sorted(scores, key=lambda x: -sign * x)[k - 1]
    ahead = {i for i, x in enumerate(scores) if sign * (x - kth) > 0}
    for field in fields(np.array(scores, dtype=dtype), optimize, depth):
        lead = field.leaders(k)
        assert lead is not None
        assert lead.base == kth
        assert set(lead.ahead.tolist()) == ahead
        assert places_of(field, lead) == Counter(i for i in range(len(scores)) if i not in ahead)
        everybody = np.array([i for i in range(len(scores)) if i not in ahead], dtype=np.int64)
        behind = [abs(scores[i] - kth) for i in everybody]
        assert field.gaps(everybody, lead.base).tolist() == behind
        assert [field.rough_gap(int(i), lead.base) for i in everybody] == behind
        assert [field.gap(int(i), lead.base) for i in everybody] == behind
        assert set(np.flatnonzero(field.are_ahead(np.arange(len(scores)), lead.base)).tolist()) == ahead
        level = field.are_level(everybody, lead.base).tolist()
        assert level == [field.is_level(int(i), lead.base) for i in everybody] == [gap == 0 for gap in behind]
        rungs = field.place_rungs(lead, 0.5, 100.0)
        for column in set(range(field.columns)) - set(lead.closed.tolist()):
            members = np.arange(column, len(scores), field.columns)
            assert len(members) <= field.depth
            if lead.above is not None:
                members = members[~field.are_ahead(members, lead.above.cut)]
            nearest = min(sign * (kth - scores[i]) for i in members)
            assert rungs[column] == 100 - nearest / 2


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=200),
    st.sampled_from(DEPTHS),
    st.integers(1, 3),
    st.sampled_from(["together", "one by one"]),
)
def test_a_proposal_is_of_somebody_who_runs(scores: list[int], depth: int, k: int, way: str) -> None:
    field = ArrayField(np.array(scores), "max", depth)
    lead = field.leaders(min(k, len(scores)))
    assert lead is not None
    envelope = Envelope(field, lead, Fraction(3, 2))
    if way == "together" or field.columns:
        candidates, left = (drawn.tolist() for drawn in envelope.propose(20, system()))
    else:
        candidates, left = zip(*(envelope.propose_one(system()) for _ in range(20)), strict=True)
    for candidate, units in zip(candidates, left, strict=True):
        assert 0 < units <= envelope.unit * field.depth
        assert candidate not in lead.ahead


@pytest.mark.parametrize("optimize", ["max", "min"])
@pytest.mark.parametrize("most", [3, 40, 10**6], ids=["many-ties", "ties", "hardly-any"])
def test_a_cut_is_found_among_very_many_columns(most: int, optimize: Optimize) -> None:
    """So many that groups of columns are looked at first; 2999 leaves the last row short."""
    scores = np.array([system().word() % most for _ in range(2999)])
    turned = scores if optimize == "max" else -scores
    for k in (2, 5, 9):
        field = ArrayField(scores, optimize, 2)
        lead = field.leaders(k)
        assert lead is not None
        assert lead.base == scores[np.argsort(-turned)[k - 1]]
        ahead = np.flatnonzero(turned > turned[scores == lead.base][0]).tolist()
        assert sorted(lead.ahead.tolist()) == ahead
        assert places_of(field, lead) == Counter(set(range(2999)) - set(ahead))
        assert lead.above is None or len(lead.above.columns) <= 4 * k


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("dtype", ["int64", "float64"])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_best_may_stand_in_the_last_row_that_most_columns_lack(k: int, dtype: str) -> None:
    """Of ten columns seven lack the eighth row; scores looked up there are those of the last, the best."""
    for _ in range(60):
        scores = np.array([*(system().word() % 20 for _ in range(72)), 25], dtype=dtype)
        field = ArrayField(scores, "max", 8)
        lead = field.leaders(k)
        assert lead is not None
        assert field.columns == 10
        assert lead.base == np.sort(scores)[-k]
        ahead = set(np.flatnonzero(scores > lead.base).tolist())
        assert set(lead.ahead.tolist()) == ahead
        assert places_of(field, lead) == Counter(set(range(73)) - ahead)
        check_units(field, lead, 73)


def test_an_envelope_outlives_the_columns_of_its_field() -> None:
    field = ArrayField(np.arange(80.0), "max", 8)
    lead = field.leaders(1)
    assert lead is not None
    envelope = Envelope(field, lead, Fraction(5))
    words = [system().word() for _ in range(200)]
    before = list(envelope.points(200, Given(words)))
    field.leaders(5)
    assert not field.columns
    assert before == list(envelope.points(200, Given(words)))
    assert before


@pytest.mark.parametrize("finest", [0, 1, 7, 33, 48])
def test_shares_are_the_least_that_cover_the_weights_of_their_rungs(finest: int) -> None:
    *found, above = ladder(finest)
    assert len(found) == STEPS * finest + 1
    for rung, share in enumerate(found):
        assert (share - 1) ** STEPS < 2**rung <= share**STEPS
    assert above == found[-1] == 2**finest


@pytest.mark.parametrize("size", [FEW, FEW + 1])
def test_one_proposal_is_like_each_of_many(size: int) -> None:
    field = ArrayField(np.arange(size) % 7, "max")
    lead = field.leaders(1)
    assert lead is not None
    envelope = Envelope(field, lead, Fraction(2))
    words = [system().word() >> 1 for _ in range(SORTED_FROM)]
    for together in (words, words[:10]):
        candidates, left = envelope.propose(len(together), Given(together))
        alone = [envelope.propose_one(Given([word])) for word in together]
        assert list(zip(candidates.tolist(), left.tolist(), strict=True)) == alone


@given(st.lists(st.integers(0, 12), min_size=1, max_size=24), st.sampled_from(DEPTHS), st.integers(1, 3))
def test_every_unit_is_proposed_once_and_everybody_has_a_unit_for_all_of_its_weight(
    scores: list[int], depth: int, k: int
) -> None:
    field = ArrayField(np.array(scores), "max", depth)
    lead = field.leaders(min(k, len(scores)))
    assert lead is not None
    check_units(field, lead, len(scores))


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(10**6), Fraction(1, 10**290)])
def test_log_weights_are_right_to_fifty_bits(scale: Fraction) -> None:
    scores = np.concatenate([np.linspace(-700, 3, 50), -np.geomspace(1e-300, 1e300, 50)])
    field = ArrayField(scores, "max")
    lead = field.leaders(1)
    assert lead is not None
    with np.errstate(all="ignore"):
        envelope = Envelope(field, lead, scale)
        together = envelope.log_weights(np.arange(100))
    for i in range(100):
        behind = envelope.exactly_behind(i)
        assert behind is not None
        for estimate in (float(together[i]), envelope.log_weight(i)):
            if estimate == -math.inf:
                assert behind > 2**1000
            else:
                assert abs(Fraction(estimate) + behind) <= behind / 2**50


WHOLE = st.integers(-(2**63), 2**63 - 1) | st.integers(-9, 9) | st.integers(2**62, 2**62 + 99)
REAL = st.floats(allow_nan=False, allow_infinity=False) | st.floats(-9, 9) | st.floats(1e15, 1e15 + 99)


@given(
    st.lists(WHOLE, min_size=1, max_size=9) | st.lists(REAL, min_size=1, max_size=9),
    st.sampled_from(["max", "min"]),
    st.floats(0, allow_infinity=False) | st.floats(0.1, 100),
    st.floats(1, 1023),
)
def test_rungs_are_not_too_low(scores: list[float], optimize: Optimize, slope: float, top: float) -> None:
    exact = [Fraction(score) for score in scores]
    for field in (ArrayField(np.array(scores), optimize), RationalField(exact, optimize)):
        lead = field.leaders(1)
        assert lead is not None
        with np.errstate(all="ignore"):
            rungs = field.place_rungs(lead, slope, top)
        for found, score in zip(rungs.tolist(), exact, strict=True):
            down = Fraction(slope) * abs(score - Fraction(lead.base))
            if math.isinf(found):
                assert found < 0
                assert top < down
            else:
                assert Fraction(found) >= top - down - Fraction(1, 2**12) - down / 2**50
                if down <= Fraction(slope) * Fraction(LARGEST):
                    assert Fraction(found) <= top - down + Fraction(1, 2**12) + down / 2**50


@pytest.mark.parametrize("size", [FEW, FEW + 1])
@pytest.mark.parametrize("exponent", [1015, 1030, 1078, 1100])
def test_a_share_covers_a_gap_beyond_all_floats(size: int, exponent: int) -> None:
    scores = np.full(size, -1.7e308)
    scores[0] = 1.7e308
    for field in (ArrayField(scores, "max"), RationalField([Fraction(x) for x in scores], "max")):
        lead = field.leaders(1)
        assert lead is not None
        with np.errstate(all="ignore"):
            envelope = Envelope(field, lead, Fraction(2**exponent))
        behind = envelope.exactly_behind(1)
        assert behind is not None
        assert envelope.rate >= 1 + (size - 1) * Fraction(math.exp(-behind)) * (1 - Fraction(1, 2**40))


def test_a_gap_too_small_for_floats_is_left_to_fractions() -> None:
    """Rounded to zero it would pass for a tie, whose coin is certain at any time."""
    tiny = Fraction(1, 10**400)
    field = RationalField([Fraction(0), -tiny, None], "max")
    lead = field.leaders(1)
    assert lead is not None
    assert math.isnan(field.rough_gap(1, lead.base))
    assert field.gap(1, lead.base) == tiny
    assert field.few_gaps(lead) == [0.0, 0.0, math.inf]
    assert field.gaps(np.array([0, 2]), lead.base).tolist() == [0.0, math.inf]
    assert not field.is_level(1, lead.base)


def test_small_gaps_of_places_are_rounded_down_but_not_away() -> None:
    gaps = [Fraction(3, 2**1001), Fraction(1, 3 * 2**1060), Fraction(7, 10) / 2**1074]
    field = RationalField([Fraction(0), *(-gap for gap in gaps)], "max")
    lead = field.leaders(1)
    assert lead is not None
    for found, gap in zip(field.few_gaps(lead)[1:], gaps, strict=True):
        assert Fraction(found) <= gap
        assert gap - Fraction(found) <= max(gap / 2**51, Fraction(1, 2**1073))
