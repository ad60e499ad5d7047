"""The probability that each candidate wins, on PUBLIC scores, for up to millions of candidates.

With p_i = exp(-gap_i / scale), Gumbel noise makes i win with probability p_i / sum(p), and exponential noise
with p_i times the integral over t = 0..1 of the product over the others of (1 - t p_j).

Reference: McSherry & Talwar 2007; McKenna & Sheldon 2020; Ding et al. 2021 (arXiv 2105.07260).
Proof:     laws.proof.md
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpselect.exact.numbers import Number
from dpselect.utility.public_scores import gaps, labels, spread_of
from dpselect.utility.selection_law import SelectionLaw

NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)
PANEL, END = 12, 48
"""Quadrature in panels of length at most 12 / sum(p), up to 48 / sum(p); the rest is below e**-47."""


def gumbel_law(
    public_scores: object, *, scale: Number, outputs: Sequence[object] | None = None
) -> SelectionLaw:
    """Give the law of report noisy max with Gumbel noise: the exponential mechanism. Public scores only.

    >>> gumbel_law([3, 2, 0], scale=1, outputs=["tea", "coffee", "cocoa"])
    Gumbel noise, scale 1; public scores
    output  behind  probability
    tea          0     0.705385
    coffee       1     0.259496
    cocoa        3     0.035119
    """
    spread = spread_of(scale)
    behind = gaps(public_scores, spread)
    weights = np.exp(-behind)
    return law_of("Gumbel noise", spread, behind, weights / weights.sum(), outputs)


def exponential_law(
    public_scores: object, *, scale: Number, outputs: Sequence[object] | None = None
) -> SelectionLaw:
    """Give the law of report noisy max with exponential noise: permute-and-flip. Public scores only.

    >>> law = exponential_law([3, 2, 0], scale=1, outputs=["tea", "coffee", "cocoa"])
    >>> round(law.probability("tea"), 9)
    0.797271958
    """
    spread = spread_of(scale)
    behind = gaps(public_scores, spread)
    return law_of("exponential noise", spread, behind, permute_and_flip(behind), outputs)


def law_of(
    mechanism: str,
    scale: Fraction,
    behind: NDArray[np.float64],
    probabilities: NDArray[np.float64],
    outputs: Sequence[object] | None,
) -> SelectionLaw:
    """Make a law: name the outputs, and turn gaps in scales into gaps in units of the score."""
    return SelectionLaw(
        mechanism,
        scale,
        labels(outputs, len(behind)),
        tuple((behind * float(scale)).tolist()),
        tuple(probabilities.tolist()),
    )


def permute_and_flip(behind: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the probabilities of winning with exponential noise, from the gaps in scales."""
    distinct, place, count = np.unique(behind, return_inverse=True, return_counts=True)
    p = np.exp(-distinct)
    total = float(np.dot(count, p))
    end = min(1.0, END / total)
    panels = int(np.ceil(end * total / PANEL))
    integral = np.zeros_like(p)
    for panel in range(panels):
        for node, weight in zip(NODES, WEIGHTS, strict=True):
            t = end * (panel + (node + 1) / 2) / panels
            product = np.exp(np.dot(count, np.log1p(-t * p)))
            integral += weight * end / (2 * panels) * product / (1 - t * p)
    return np.asarray((p * integral)[place])
