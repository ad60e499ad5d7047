"""Many discrete Laplace numbers at once: dpselect.exact.discrete_laplaces."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import pytest

from dpselect.exact.discrete_laplaces import discrete_laplaces
from dpselect.exact.enclosures import Enclosure, enclose
from dpselect.exact.randomness import Randomness, system
from tests.exact.laws import Rejected, Walk, check
from tests.exact.sources import Given
from tests.statistics import rejects

SCALE = Fraction(2, 3)


def law(z: int, scale: Fraction = SCALE) -> Enclosure:
    return enclose(
        lambda s: (-abs(z) / s).exp() * (1 - (-1 / s).exp()) / (1 + (-1 / s).exp()), scale, precision=256
    )


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("scale", [SCALE, Fraction(3)])
def test_one_of_them_has_the_discrete_laplace_law(width: int, scale: Fraction) -> None:
    def program(source: Randomness) -> int:
        (drawn,) = discrete_laplaces(scale, 1, source)
        return drawn

    walk = Walk(15, Fraction(1, 16), width)
    check(program, lambda z: law(z, scale), range(-3, 4), walk)
    with pytest.raises(Rejected):
        check(program, lambda z: law(z, scale + Fraction(1, 3)), range(-3, 4), walk)


def test_many_of_them_are_independent_and_have_it_too() -> None:
    drawn = Counter(discrete_laplaces(SCALE, 20_000, system()))
    cells = range(-3, 4)
    expected = [float(law(z).low) for z in cells]
    sample = [drawn[z] for z in cells]
    assert not rejects([*sample, 20_000 - sum(sample)], [*expected, 1 - math.fsum(expected)])
    assert rejects(
        [*sample, 20_000 - sum(sample)], [*(e * 0.9 for e in expected), 1 - 0.9 * math.fsum(expected)]
    )


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(50)])
def test_a_word_at_the_edge_of_a_whole_number_is_decided_exactly(scale: Fraction) -> None:
    """The word whose interval holds e**(-m/s) / c: with zeros behind it the floor is m, with ones m - 1."""
    m = 3
    edge = enclose(lambda s: (-m / s).exp() * 2 / (1 + (-1 / s).exp()), scale, precision=200).low
    word = math.floor(edge * 2**64)
    for behind, found in ((0, m), (2**64 - 1, m - 1)):
        assert discrete_laplaces(scale, 1, Given([word, 0, *[behind] * 9])) == [found]
        assert discrete_laplaces(scale, 1, Given([word, 1, *[behind] * 9])) == [-found]


def test_the_first_word_and_scales_beyond_floats_are_decided_exactly() -> None:
    (far,) = discrete_laplaces(Fraction(1), 1, Given([0, 0, 2**63, *[0] * 9]))
    assert far == math.floor(65 * math.log(2) - math.log((1 + math.exp(-1)) / 2))
    assert discrete_laplaces(Fraction(1, 2**600), 1, Given([2**63, 0])) == [0]
    (huge,) = discrete_laplaces(Fraction(2**600), 1, Given([2**62, 0, *[2**63] * 20]))
    assert huge == pytest.approx(2**600 * 2 * math.log(2), rel=1e-3)
