"""True leads are at least their gaps less the margin, in simulations: dpselect.utility.sure_lead."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pytest

from dpselect.utility.sure_lead import lead_margin, whole_lead_margin

BETA = Fraction(1, 10)
DRAWS = 6000
Noise = Literal["exponential", "gumbel", "laplace"]


def noisy(noise: Noise, scores: np.ndarray[Any, Any]) -> Any:
    generator = np.random.default_rng(20261118)
    return scores + getattr(generator, noise)(size=(DRAWS, len(scores)))


def failures(noise: Noise, scores: Any, k: int, margin: float) -> float:
    """The share of draws in which some gap exceeds its true lead by more than the margin."""
    x = np.asarray(scores, dtype=float)
    drawn = noisy(noise, x)
    order = np.argsort(-drawn, axis=1)
    failed = np.zeros(DRAWS, dtype=bool)
    for place in range(k):
        ours = order[:, place]
        rows = np.arange(DRAWS)
        gap = drawn[rows, ours] - drawn[rows, order[:, place + 1]]
        rest = x[order[:, place + 1 :]].max(axis=1) if place == k - 1 else x[order[:, place + 1]]
        failed |= gap > x[ours] - rest + margin
    return float(failed.mean())


CASES = [[0, 0], [3, 0], [0] * 10, [4.6, *[0.0] * 9], [5, 5, 4, 3, 0, 0]]


@pytest.mark.parametrize("noise", ["exponential", "gumbel", "laplace"])
@pytest.mark.parametrize("scores", CASES, ids=str)
@pytest.mark.parametrize("k", [1, 2])
def test_no_gap_promises_more_than_the_true_lead(noise: Noise, scores: list[float], k: int) -> None:
    if k < len(scores):
        margin = float(lead_margin(noise, len(scores), k, BETA))
        assert failures(noise, scores, k, margin) <= 0.1 + 0.02


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(8)], ids=str)
@pytest.mark.parametrize("n", [2, 3, 10])
@pytest.mark.parametrize("k", [1, 2])
def test_no_gap_of_counts_promises_more_than_the_true_lead(scale: Fraction, n: int, k: int) -> None:
    """Tied candidates: every gap is a difference of whole noise, and every true lead is 0."""
    if k >= n:
        return
    generator = np.random.default_rng(20261118)
    decay = 1 - math.exp(-1 / float(scale))
    counts = generator.geometric(decay, (DRAWS, n)) - generator.geometric(decay, (DRAWS, n))
    counts = -np.sort(-counts, axis=1)
    largest = (counts[:, :k] - counts[:, 1 : k + 1]).max(axis=1)
    margin = float(whole_lead_margin(n, k, BETA, scale))
    assert (largest > margin).mean() <= 0.1 + 0.02
    assert (largest > margin / 4 - 1).mean() > 0.1


def test_for_two_candidates_the_margin_is_sharp() -> None:
    margin = float(lead_margin("exponential", 2, 1, BETA))
    assert margin == pytest.approx(math.log(10))
    assert failures("exponential", [0, 0], 1, margin) == pytest.approx(0.1, abs=0.02)
    assert failures("exponential", [0, 0], 1, 0.8 * margin) > 0.13
    assert failures("gumbel", [0, 0], 1, float(lead_margin("gumbel", 2, 1, BETA))) == pytest.approx(
        0.1, abs=0.02
    )


@pytest.mark.parametrize("n", [2, 3, 50, 10**6])
def test_the_margin_of_exponential_noise_is_at_most_that_of_the_largest_noise(n: int) -> None:
    assert float(lead_margin("exponential", n, 1, BETA)) <= math.log(n / 0.1)
    assert float(lead_margin("exponential", n, 2, BETA)) == pytest.approx(math.log(n / 0.1))


def test_fresh_noise_pays_for_each_round() -> None:
    assert float(lead_margin("gumbel", 9, 3, BETA, fresh=True)) == pytest.approx(math.log(270 - 1))
    assert float(lead_margin("gumbel", 9, 3, BETA)) == pytest.approx(math.log(720 - 1))
    assert lead_margin("gumbel", 9, 1, BETA, fresh=True) == lead_margin("gumbel", 9, 1, BETA)
