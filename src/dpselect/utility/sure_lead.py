"""What a released gap says of the true lead: at least the gap, less a margin that is known beforehand.

Proof: sure_lead.proof.md
"""

from __future__ import annotations

from fractions import Fraction

from dpselect.exact.enclosures import log
from dpselect.selection.noise import NoiseName
from dpselect.utility.worst_case import laplace_distance, whole_laplace_distance


def whole_lead_margin(n: int, k: int, beta: Fraction) -> Fraction:
    """Bound the same for the gaps of noisy counts, which have discrete Laplace noise."""
    return whole_laplace_distance(n, 2 if k == 1 else n, beta)


def lead_margin(noise: NoiseName, n: int, k: int, beta: Fraction, *, fresh: bool = False) -> Fraction:
    """Bound, in scales, by how much k gaps among n candidates may exceed the true leads.

    All k true leads are at least their gaps less this margin, with probability 1 - beta or more, whatever the
    scores. ``fresh``: each of several winners is drawn with noise of its own.

    >>> from dpselect.exact.rounding import rounded_up
    >>> [rounded_up(lead_margin("exponential", n, 1, Fraction(1, 100)), 2) for n in (2, 100)]
    ['4.61', '8.52']
    """
    if noise == "exponential":
        return log(n / (2 * beta) if k == 1 else n / beta).high
    if noise == "gumbel":
        pairs = n if k == 1 else k * n if fresh else n * (n - 1)
        return log(pairs / beta - 1).high
    return laplace_distance(n, 2 if k == 1 else n, beta)
