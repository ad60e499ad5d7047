"""What a released gap says of the true lead: at least the gap, less a margin that is known beforehand.

Proof: sure_lead.proof.md
"""

from __future__ import annotations

from fractions import Fraction

from dpselect.exact.enclosures import log
from dpselect.selection.noise import NoiseName
from dpselect.utility.worst_case import laplace_distance, laplace_pairs_distance, whole_laplace_reach


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


def whole_lead_margin(n: int, k: int, beta: Fraction, scale: Fraction) -> Fraction:
    """Bound, in counts, the same for the gaps of noisy counts, which have discrete Laplace noise.

    >>> from dpselect.exact.rounding import rounded_up
    >>> rounded_up(whole_lead_margin(5, 3, Fraction(1, 100), Fraction(1)), 2)
    '9.58'
    """
    by_reach = scale * whole_laplace_reach(n, 2 if k == 1 else n, beta)
    by_pairs = scale * laplace_pairs_distance(n if k == 1 else n * (n - 1), beta) + 1
    return min(by_reach, by_pairs)
