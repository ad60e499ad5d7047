"""The samplers over arrays follow their laws exactly, and the float filter never decides wrongly."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from dpselect.errors import InvalidParameter
from dpselect.exact import enclosures
from dpselect.exact.enclosures import Enclosure
from dpselect.exact.partial_numbers import Uniform
from dpselect.exact.randomness import Randomness, system
from dpselect.exact.vector_samplers import SLACK, bernoulli_successes, bernoullis, is_below, uniforms_below
from tests.exact import laws
from tests.exact.adversary import TOP, check_filter, coins_around, curves, estimate, rational, scaled_exp
from tests.exact.laws import Curve, Walk, below
from tests.exact.sources import Given, untouchable

Coins = Callable[[NDArray[np.float64], Callable[[int], Curve], Randomness], NDArray[np.bool_]]


def one_by_one(
    estimates: NDArray[np.float64], exactly: Callable[[int], Curve], randomness: Randomness
) -> NDArray[np.bool_]:
    """Draw the coins of an array one after the other."""
    drawn = bernoulli_successes(estimates.tolist(), exactly, randomness)
    return np.isin(np.arange(len(estimates)), drawn)


# Uniform integers.


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_b3_uniforms_below_gives_every_integer_the_same_probability(width: int) -> None:
    """Of T tries that are possible, T mod n are thrown away: after k tries, (T mod n / T)**k is open."""
    for n in range(1, 18):
        words_each = next(k for k in range(1, 6) if 2 ** (k * width) >= n)
        possible = 2 ** (words_each * width)
        thrown_away = possible % n
        tries = next((k for k in range(1, 20) if thrown_away ** (k + 1) > 100), 20)
        open_then = Fraction(thrown_away, possible) ** tries
        walk = Walk(tries * words_each * width, open_then + Fraction(1, 2**80), width)
        laws.check_uniforms_below(uniforms_below, n, 1, walk)


@pytest.mark.parametrize("width", [1, 3])
def test_b3_uniforms_below_draws_independent_integers(width: int) -> None:
    for n, count, depth in [(2, 3, 12), (3, 2, 16), (6, 2, 15)]:
        laws.check_uniforms_below(uniforms_below, n, count, Walk(depth, Fraction(1, 2**3), width))


@pytest.mark.parametrize("n", [2**64, 2**64 - 1, 2**63 + 1, 2**63, 10, 1])
def test_uniforms_below_takes_every_n_that_fits_a_word(n: int) -> None:
    values = uniforms_below(n, 1000, system())
    assert values.dtype == np.uint64
    assert values.shape == (1000,)
    assert max(values.tolist()) < n


def test_words_of_the_incomplete_last_cycle_are_thrown_away() -> None:
    """2**64 = 10 * 1844674407370955161 + 6: the last six words are no fair digits."""
    source = Given([TOP - 1, TOP - 6, TOP - 7, 0, 13, 9])
    assert uniforms_below(10, 3, source).tolist() == [9, 0, 3]
    assert source.drawn == 5


def test_words_too_narrow_for_n_are_joined() -> None:
    assert uniforms_below(2**64, 1, Given(range(8), width=8)).tolist() == [0x0001020304050607]
    assert uniforms_below(2**64, 1, Given([6, *[0] * 20, 7], width=3)).tolist() == [7]
    assert uniforms_below(2**7, 1, Given([15, 1], width=4)).tolist() == [0xF1 % 2**7]


def test_no_integers_draw_nothing() -> None:
    values = uniforms_below(10, 0, untouchable())
    assert values.dtype == np.uint64
    assert values.tolist() == []


# Coins: the law.


CURVES: list[Curve] = [
    rational(Fraction(0)),
    rational(Fraction(1)),
    rational(Fraction(1, 2)),
    rational(Fraction(5, 8)),
    rational(Fraction(2, 3)),
    rational(Fraction(1, 10**6)),
    scaled_exp(Fraction(2, 3), 0),
    scaled_exp(Fraction(4, 5), 1),
    scaled_exp(Fraction(9), 12),
]


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("sampler", [bernoullis, one_by_one])
@pytest.mark.parametrize("width", [1, 2, 3, 8])
def test_a_coin_is_true_with_exactly_its_probability(sampler: Coins, width: int) -> None:
    for curve in CURVES:
        laws.check_bernoullis(sampler, [estimate(curve)], [curve], below(50, spare=2 + width, width=width))


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("sampler", [bernoullis, one_by_one])
def test_coins_fall_independently(sampler: Coins) -> None:
    curves = [CURVES[6], CURVES[3], CURVES[7]]
    laws.check_bernoullis(sampler, [estimate(c) for c in curves], curves, Walk(20, Fraction(1, 2**12), 2))


@pytest.mark.parametrize("sampler", [bernoullis, one_by_one])
def test_an_estimate_that_is_no_number_is_decided_exactly(sampler: Coins) -> None:
    for curve in CURVES[2:]:
        laws.check_bernoullis(sampler, [math.nan], [curve], below(50))


def test_no_coins_draw_nothing() -> None:
    assert bernoullis(np.empty(0), lambda _: CURVES[0], untouchable()).tolist() == []


# Coins: the filter, on words chosen to mislead it.


@pytest.mark.usefixtures("unmeasured")
def test_next_to_the_boundary_every_coin_is_looked_at_closely_and_decided_rightly() -> None:
    coins = [coin for curve in curves() for coin in coins_around(curve, range(3))]
    assert len(coins) > 2000
    assert check_filter(bernoullis, coins) == len(coins)


def test_at_the_reach_of_the_slack_no_coin_is_decided_wrongly() -> None:
    """The slack of 2**-32 is 2**32 words: some are left to the fallback here, some to the filter."""
    coins = [coin for curve in curves()[::20] for coin in coins_around(curve, [2**k for k in range(8, 45)])]
    assert len(coins) > 2000
    assert 0 < check_filter(bernoullis, coins) < len(coins)


def test_a_single_coin_is_filtered_like_many() -> None:
    for curve in curves()[::20]:
        for coin in coins_around(curve, [0, 1, 2**13, 2**24, 2**30, 2**33]):
            (drawn,) = one_by_one(np.array([coin.estimate]), {0: curve}.__getitem__, Given(coin.words))
            assert drawn == coin.truth


def test_far_from_the_boundary_a_float_is_enough() -> None:
    coins = list(coins_around(rational(Fraction(1, 2)), [2**60, 2**62, 2**63 - 1]))
    assert len(coins) > 10
    assert check_filter(bernoullis, coins) == 0


# What vector_samplers.proof.md assumes of the mathematical library.


@pytest.mark.parametrize("stride", [1, 2, 3])
def test_the_exp_of_numpy_is_right_to_far_more_than_45_bits(stride: int) -> None:
    """On arrays and slices, because the two may take different paths through the library."""
    grid = np.concatenate(
        [-np.linspace(0, 700, 701), -np.geomspace(1e-300, 1, 300), -np.linspace(0, 1, 1000)]
    )
    values = np.exp(np.repeat(grid, stride)[::stride])
    for x, value in zip(grid.tolist(), values.tolist(), strict=True):
        low, high = enclosures.exp(Fraction(x), 100)
        error = max(abs(Fraction(value) - low), abs(Fraction(value) - high))
        assert error * 2**50 < low, x


ON_GAPS = [-1e-300, -1e-9, -0.3, -1.0, -37.5, -700.0]


@pytest.mark.parametrize(
    ("approximate", "enclosed", "grid"),
    [
        (math.exp, enclosures.exp, ON_GAPS),
        (math.expm1, enclosures.expm1, ON_GAPS),
        (math.log1p, enclosures.log1p, [-x for x in ON_GAPS]),
    ],
    ids=["exp", "expm1", "log1p"],
)
def test_the_mathematical_functions_of_python_are_right_to_far_more_than_45_bits(
    approximate: Callable[[float], float], enclosed: Callable[[Fraction, int], Enclosure], grid: list[float]
) -> None:
    for x in grid:
        low, high = enclosed(Fraction(x), 100)
        value = Fraction(approximate(x))
        assert max(abs(value - low), abs(value - high)) * 2**50 < abs(low), x


def test_what_encloses_must_be_a_function() -> None:
    with pytest.raises(InvalidParameter, match=r"^exactly must be "):
        bernoullis(np.array([0.5]), None, system())  # type: ignore[arg-type]


def test_a_number_that_may_have_been_compared_before_is_filtered_like_a_fresh_one() -> None:
    for curve in curves()[::20]:
        for coin in coins_around(curve, [0, 1, 2**13, 2**24, 2**28, 2**30, 2**31, 2**33]):
            for said in (coin.estimate, math.nan):
                first, *later = coin.words
                assert is_below(Uniform.begun(first, Given(later)), said, curve) == coin.truth


def test_the_slack_has_room_for_all_that_the_proofs_allow_an_estimate() -> None:
    assert SLACK / 2 >= 2.0**-42


def test_words_whose_width_does_not_divide_64_are_joined_to_64_bits_and_no_more() -> None:
    """The try 2**63 + 2 lies in the incomplete last cycle of 2**63 + 1 below 2**64: it is thrown away."""
    thrown_away = [(2**63 + 2) >> 3 * (21 - i) & 7 for i in range(22)]
    words = [*thrown_away, *[0] * 21, 5]
    assert uniforms_below(2**63 + 1, 1, Given(words, width=3)).tolist() == [5]
