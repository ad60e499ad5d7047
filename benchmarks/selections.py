"""The contestants of this process: dpselect, ``scores.max()`` and NumPy, on all patterns."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from benchmarks.numpy_one_liner import noisy_argmax
from benchmarks.patterns import FLOATS, PATTERNS, Pattern, Scores
from benchmarks.timing import Contestant, medians, peak_bytes
from dpselect.mechanisms import make_report_noisy_top_k
from dpselect.privacy import (
    atom_domain,
    l1_distance,
    linf_distance,
    max_divergence,
    vector_domain,
    zero_concentrated_divergence,
)
from dpselect.privacy.measures import Measure
from dpselect.selection.array_scores import block_size_for

MAXIMUM = "scores.max()"
ONE_LINER = "NumPy one-liner"
NOISES: dict[str, Measure] = {"Gumbel": zero_concentrated_divergence(), "exponential": max_divergence()}
LAPLACE = "Laplace"
SCALES = (1, 10)
WINNERS = (1, 10, 100)
LARGEST_FOR_ONE_LINERS = 10**6
"""Beyond this number of candidates the one-liner is timed once: its time does not depend on the scale."""


class Row(NamedTuple):
    """What was measured on one vector of scores: seconds and bytes of each contestant."""

    n: int
    pattern: str
    scale: int
    seconds: dict[str, float]
    extra: dict[str, float]
    """The peak of memory, as a share of the scores."""


def one_high_in_each_column(n: int, scale: int) -> Scores:
    """Give each of the columns that dpselect will see one candidate far ahead of the others."""
    del scale
    scores = np.full(n, -1e6)
    scores[: -(-n // block_size_for(n, 1))] = 0
    return scores


ALL_PATTERNS = [*PATTERNS, Pattern("one high in each column", one_high_in_each_column)]


def drawn(noise: str, k: int) -> str:
    """Name the contestant that draws k winners."""
    return f"{noise}, k = {k}"


def least(noise: str) -> str:
    """Name the contestant that draws one winner where the least score wins."""
    return f"{noise}, the least"


def selection(
    scores: Scores, noise: str, k: int, scale: int, optimize: Literal["max", "min"] = "max"
) -> Contestant:
    """Make the call that draws k winners."""
    domain = vector_domain(atom_domain(float if scores.dtype.kind == "f" else int))
    if noise == LAPLACE:
        made = make_report_noisy_top_k(
            domain, l1_distance(), max_divergence(), k, scale, optimize, noise="laplace"
        )
    else:
        made = make_report_noisy_top_k(domain, linf_distance(), NOISES[noise], k, scale, optimize)
    return partial(made, scores)


def measured(sizes: list[int]) -> Iterator[Row]:
    """Measure everything, one vector of scores after the other."""
    for n in sizes:
        for pattern in ALL_PATTERNS:
            scores = pattern.scores(n, SCALES[0])
            for scale in SCALES:
                if pattern.moves_with_scale:
                    scores = pattern.scores(n, scale)
                yield measured_on(scores, pattern.name, scale)


def measured_on(scores: Scores, pattern: str, scale: int) -> Row:
    """Measure all contestants on one vector; the one-liner, if it takes long, at the first scale only."""
    draws = {
        drawn(noise, k): selection(scores, noise, k, scale)
        for k in WINNERS
        for noise in NOISES
        if k < len(scores)
    }
    if (pattern, scale) == (FLOATS.name, SCALES[0]):
        draws |= {least(noise): selection(scores, noise, 1, scale, "min") for noise in NOISES}
    contestants: dict[str, Contestant] = {MAXIMUM: scores.max, **draws}
    if scale == SCALES[0] or len(scores) <= LARGEST_FOR_ONE_LINERS:
        contestants[ONE_LINER] = partial(noisy_argmax, scores, scale)
    extra = {name: peak_bytes(draw) / scores.nbytes for name, draw in draws.items()}
    return Row(len(scores), pattern, scale, medians(contestants), extra)
