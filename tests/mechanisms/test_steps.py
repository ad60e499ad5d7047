"""Neighbours take the same steps: no branch that can be seen in the time of one call depends on a tie.

Steps are calls of Python functions, which can be counted; benchmarks/neighbours_in_time.py measures the time.
How many proposals fail is random, so what is compared is the least number of steps of some draws.

What is under test: dpselect.selection.draw, dpselect.selection.top_k,
dpselect.selection.top_k_by_levels and dpselect.selection.winner.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType

import numpy as np
import pytest
from numpy.typing import NDArray

from dpselect.exact import randomness
from dpselect.privacy import Measurement
from tests.mechanisms.makers import exponential_top, gumbel_top, laplace_top, peeling

Scores = NDArray[np.float64]

DRAWS = 15


def neighbours(n: int, k: int) -> list[tuple[Scores, Scores]]:
    """Give scores that one person turns into each other: by a tie more or less, anywhere."""
    tied, spread = np.full(n, 5.0), np.full(n, 1.0)
    spread[: k - 1] = 9
    spread[k - 1] = spread[-1] = 5
    ahead = np.where(np.arange(n) < k, 6.0, 5.0)
    return [
        (tied, changed(tied, n // 2, 1)),
        (spread, changed(spread, k - 1, 1)),
        (ahead, changed(ahead, k - 1, -1)),
    ]


def changed(scores: Scores, candidate: int, by: int) -> Scores:
    other = scores.copy()
    other[candidate] += by
    return other


def steps(m: Measurement, scores: Scores) -> int:
    """Give the least number of calls in one draw; when words are read from the system does not matter."""

    def note(frame: FrameType, event: str, arg: object) -> None:
        del arg
        counted["calls"] += event == "call" and frame.f_code.co_filename != randomness.__file__

    seen = []
    for _ in range(DRAWS):
        counted: Counter[str] = Counter()
        sys.setprofile(note)
        m(scores)
        sys.setprofile(None)
        seen.append(counted["calls"])
    return min(seen)


SHAPES = [(n, k) for n in (3, 16, 20, 50, 1000, 5120) for k in (1, 2, 3, 10) if k <= n]


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("make", [gumbel_top, exponential_top, laplace_top])
@pytest.mark.parametrize("kind", [np.int64, np.float64])
@pytest.mark.parametrize(("n", "k"), SHAPES)
def test_c1_a_tie_more_or_less_takes_the_same_steps(
    make: Callable[[int], Measurement], kind: type, n: int, k: int
) -> None:
    m = make(k)
    for ours, theirs in neighbours(n, k):
        assert steps(m, ours.astype(kind)) == steps(m, theirs.astype(kind))


@pytest.mark.parametrize(("n", "k"), [shape for shape in SHAPES if shape[0] <= 16])
def test_c1_so_it_does_where_permute_and_flip_is_peeled(n: int, k: int) -> None:
    for ours, theirs in neighbours(n, k):
        assert steps(peeling(k), ours) == steps(peeling(k), theirs)
