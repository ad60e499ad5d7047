"""The test of samplers is tested: what it calls wrong, what it lets pass, and how many draws it needs."""

import math
from collections.abc import Iterator
from fractions import Fraction

import pytest

from tests.statistics import g_statistic, rejects, tail, threshold

COIN = math.exp(-0.5)
"""The probability of heads."""

DRAWS = 200_000
"""Enough to see a coin that is wrong by 2 %, with a power of 99.9 %."""


def tossed(coin: float, deviations: float) -> tuple[int, int]:
    """Give the counts of that many tosses, ``deviations`` standard deviations above what is expected."""
    heads = round(DRAWS * coin + deviations * math.sqrt(DRAWS * coin * (1 - coin)))
    return heads, DRAWS - heads


@pytest.mark.parametrize(("cells", "figure"), [(2, 49.9), (4, 61.4), (10, 88.0)])
def test_the_threshold_is_the_one_of_the_finite_sample_bound(cells: int, figure: float) -> None:
    """Agrawal 2020, solved for 1e-9; the asymptotic law would give 37.3, 44.8 and 60.7."""
    assert round(threshold(cells), 1) == figure
    assert tail(threshold(cells), cells) <= 1e-9 < tail(threshold(cells) - 1e-6, cells)


@pytest.mark.parametrize("off", [0.98, 1.02])
def test_a_coin_that_is_wrong_by_two_percent_is_rejected(off: float) -> None:
    """Even 3.1 standard deviations towards the right coin: a sample is further off in 1 of 1000 cases."""
    towards = 3.1 if off < 1 else -3.1
    for deviations in (0.0, towards):
        assert rejects(tossed(COIN * off, deviations), (COIN, 1 - COIN))


def test_a_tenth_of_the_draws_would_not_do() -> None:
    heads, tails = tossed(COIN * 1.02, 0.0)
    assert not rejects((heads // 10, tails // 10), (COIN, 1 - COIN))


@pytest.mark.parametrize("deviations", [-5.0, -1.0, 0.0, 1.0, 5.0])
def test_the_right_coin_is_accepted(deviations: float) -> None:
    assert not rejects(tossed(COIN, deviations), (COIN, 1 - COIN))


def test_the_statistic_is_zero_for_a_perfect_sample_and_infinite_for_an_impossible_one() -> None:
    assert g_statistic((1, 2, 3), (Fraction(1, 6), Fraction(1, 3), Fraction(1, 2))) == 0
    assert g_statistic((5, 1), (1, 0)) == math.inf
    assert g_statistic((6, 0), (1, 0)) == 0
    assert g_statistic((3, 0), (Fraction(1, 2), Fraction(1, 2))) == pytest.approx(6 * math.log(2))


def samples(n: int, cells: int) -> Iterator[tuple[int, ...]]:
    if cells == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for rest in samples(n - first, cells - 1):
            yield first, *rest


@pytest.mark.parametrize(
    "law", [(0.5, 0.5), (0.1, 0.9), (0.01, 0.99), (0.2, 0.3, 0.5), (0.02, 0.08, 0.9)], ids=str
)
@pytest.mark.parametrize("n", [1, 5, 20])
def test_the_bound_holds_for_every_sample_however_small(law: tuple[float, ...], n: int) -> None:
    """Every possible sample with its exact probability: P(G >= g) <= tail(g) at every g that occurs."""
    chances = []
    for counts in samples(n, len(law)):
        ways = math.factorial(n) // math.prod(map(math.factorial, counts))
        chance = ways * math.prod(p**count for p, count in zip(law, counts, strict=True))
        chances.append((g_statistic(counts, law), chance))
    for g, _ in chances:
        at_least = math.fsum(chance for other, chance in chances if other >= g)
        assert at_least <= tail(g, len(law)) + 1e-12
