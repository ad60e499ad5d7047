"""The G-test with a bound that holds for every sample size, so that no cell is too small.

Reference: Agrawal 2020, Finite-sample concentration of the multinomial in relative entropy.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

ALPHA = 1e-9
"""How often a right sampler may be called wrong."""


def g_statistic(counts: Sequence[int], probabilities: Sequence[float | Fraction]) -> float:
    """Give 2 * sum(count * ln(count / expected)); infinite if the impossible was seen."""
    n = sum(counts)
    terms = []
    for count, probability in zip(counts, probabilities, strict=True):
        if count and not probability > 0:
            return math.inf
        if count:
            terms.append(count * math.log(count / (n * float(probability))))
    return 2 * math.fsum(terms)


def tail(g: float, cells: int) -> float:
    """Bound P(G >= g) by exp(-g/2) (e g / (2(k-1)))^(k-1); up to 2(k-1) it says nothing."""
    freedom = cells - 1
    if not g > 2 * freedom:
        return 1.0
    return math.exp(-g / 2 + freedom * (1 + math.log(g / (2 * freedom))))


def threshold(cells: int, alpha: float = ALPHA) -> float:
    """Give the g from which on a sample is called wrong: tail(g) <= alpha."""
    low, high = 2.0 * (cells - 1), 4.0 * (cells - 1)
    while tail(high, cells) > alpha:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle, cells) > alpha else (low, middle)
    return high


def rejects(counts: Sequence[int], probabilities: Sequence[float | Fraction], alpha: float = ALPHA) -> bool:
    """Say whether the counts are too far from the probabilities to be their sample."""
    return g_statistic(counts, probabilities) >= threshold(len(counts), alpha)
