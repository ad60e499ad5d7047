"""The law of report noisy max with Laplace noise on PUBLIC scores: for comparison, no mechanism of ours.

A candidate's noisy score is y with density exp(-|y - score| / scale) / (2 scale); the law is an integral over
the largest noisy score, by Gauss-Legendre quadrature between the points where the integrand is not smooth.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import Number
from dpselect.utility.laws import NODES, WEIGHTS, law_of
from dpselect.utility.public_scores import gaps, spread_of
from dpselect.utility.selection_law import SelectionLaw

MOST_DIFFERENT = 2000
"""The time grows with the square of the number of different scores; 2000 take seconds."""

MARGIN = 36
"""The largest noisy score is further than this below the best score with probability exp(-36) / 2."""

STEP = 0.5
"""The longest interval of the quadrature, in scales."""


def laplace_law(
    public_scores: object, *, scale: Number, outputs: Sequence[object] | None = None
) -> SelectionLaw:
    """Give the law of report noisy max with Laplace noise. Public scores only.

    >>> round(laplace_law([1, 0], scale=1).probability(1), 9)  # exp(-1) (2 + 1) / 4
    0.275909581
    """
    spread = spread_of(scale)
    behind = gaps(public_scores, spread)
    return law_of("Laplace noise", spread, behind, noisy_max(behind), outputs)


def noisy_max(behind: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the probabilities of winning with Laplace noise, from the gaps in scales."""
    distinct, place, count = np.unique(behind, return_inverse=True, return_counts=True)
    if len(distinct) > MOST_DIFFERENT:
        raise InvalidParameter(
            f"public_scores must have at most {MOST_DIFFERENT} different values for this noise. Take fewer."
        )
    probabilities = np.zeros_like(distinct)
    ends = _ends(distinct, len(behind))
    for start, end in pairwise(ends):
        above = start + (end - start) * (NODES[:, None] + 1) / 2 + distinct
        half = np.exp(-np.abs(above)) / 2
        below = np.where(above < 0, -np.abs(above) - np.log(2), np.log1p(-half))
        rate = np.where(above < 0, 1.0, half / (1 - half))
        probabilities += (end - start) / 2 * WEIGHTS * np.exp(below @ count) @ rate
    return np.asarray(probabilities[place])


def _ends(distinct: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Cut the line at every score that matters, and so finely that a polynomial is close in between."""
    top = MARGIN + np.log(n)
    steps = np.linspace(-MARGIN, top, 1 + int(np.ceil((top + MARGIN) / STEP)))
    return np.union1d(steps, -distinct[distinct < MARGIN])
