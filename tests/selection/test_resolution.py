"""The numbers of an envelope that no score takes part in: units, the table of powers, slopes and limits.

What is under test: dpselect.selection.resolution.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect.exact.enclosures import log
from dpselect.exact.rounding import LARGEST_FLOAT
from dpselect.selection.resolution import (
    AT_A_TIME,
    CLIP_ABOVE,
    IN_PLACE_ABOVE,
    STEPS_PER_DOUBLING,
    float_scale,
    power_table,
    resolution,
)


@pytest.mark.parametrize("unit_bits", [0, 1, 7, 33, 48])
def test_the_table_holds_powers_rounded_up(unit_bits: int) -> None:
    *found, above = power_table(unit_bits)
    assert len(found) == STEPS_PER_DOUBLING * unit_bits + 1
    for step, unit_count in enumerate(found):
        assert (unit_count - 1) ** STEPS_PER_DOUBLING < 2**step <= unit_count**STEPS_PER_DOUBLING
    assert above == found[-1] == 2**unit_bits


def test_all_units_fit_a_signed_word() -> None:
    for bits, width in product(range(1, 61), (1, 8, 32, 64)):
        assert resolution((1, 1), bits, 1, width).units_of_one << bits <= 2**62


@given(st.fractions(min_value=Fraction(1, 10**320), max_value=10**320).filter(bool), st.integers(1, 61))
def test_the_slope_is_not_too_steep_and_the_limit_stays_within_the_table(scale: Fraction, bits: int) -> None:
    chosen = resolution(scale.as_integer_ratio(), bits, 1, 64)
    assert Fraction(chosen.slope) <= STEPS_PER_DOUBLING / (scale * log(2).low)
    assert 0 <= chosen.slope <= LARGEST_FLOAT
    last = len(chosen.units_at) - 1
    assert chosen.slope * chosen.gap_limit < last < chosen.top < last + 1
    assert chosen.units_at[last] == chosen.units_at[last - 1] == chosen.units_of_one


@pytest.mark.parametrize("cells", [1, CLIP_ABOVE + 1, IN_PLACE_ABOVE + 1, IN_PLACE_ABOVE + AT_A_TIME + 3])
def test_of_however_many_cells_each_has_the_units_of_its_own_exponent(cells: int) -> None:
    chosen = resolution((1, 1), 20, 1, 64)
    exponents = np.arange(cells, dtype=np.float64) * 7.25 % len(chosen.units_at)
    expected = [chosen.units_at[math.floor(each)] for each in exponents.tolist()]
    assert chosen.cell_units(exponents).tolist() == expected


def test_of_many_cells_one_that_is_far_behind_has_the_fewest_units() -> None:
    chosen = resolution((1, 1), 20, 1, 64)
    exponents = np.full(CLIP_ABOVE + 1, -math.inf)
    assert set(chosen.cell_units(exponents).tolist()) == {1}


def test_a_scale_beyond_what_floats_are_good_for_is_not_a_number() -> None:
    assert float_scale((1, 3)) == 1 / 3
    assert (float_scale((2**1000, 1)), float_scale((1, 2**1000))) == (2.0**1000, 2.0**-1000)
    assert math.isnan(float_scale((2**1000 + 1, 1)))
    assert math.isnan(float_scale((1, 2**1000 + 1)))
