"""People with numbers on a grid, and how far the ranks of answers are from those that were asked for."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from time import process_time
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Numbers: TypeAlias = NDArray[np.int64]
Ask: TypeAlias = Callable[[], Any]
"""Asks once for all quantiles; gives numbers near the grid, one for each."""

SIZES = (10**3, 10**4, 10**6)
"""People."""
HOW_MANY = (1, 3, 9, 19, 99)
"""Quantiles asked for at once, at even distances: the median, the quartiles, the deciles, ..."""
POINTS = {"smooth": 200_001, "tied": 121}
"""Points of the grid: the numbers 0, 1, 2, ..."""
MOST_RUNS, PATIENCE = 100, 1.5
"""Runs of one case, which ends after that many seconds of processor time, but not before the second run."""


class Error(NamedTuple):
    """What one contestant did in one case."""

    contestant: str
    data: str
    people: int
    asked: int
    mean: float
    runs: int


def fractions(m: int) -> tuple[Fraction, ...]:
    """Give m fractions at even distances."""
    return tuple(Fraction(i, m + 1) for i in range(1, m + 1))


def numbers(data: str, people: int) -> Numbers:
    """Draw numbers of people, the same in every run: a bell curve on a fine grid, or ages."""
    generator = np.random.default_rng(19)
    if data == "smooth":
        drawn = generator.normal(100_000, 20_000, people)
    else:
        drawn = 100 * generator.beta(1.3, 1.7, people)
    kept: Numbers = np.clip(np.rint(drawn), 0, POINTS[data] - 1).astype(np.int64)
    return kept


def far_numbers(count: int) -> Numbers:
    """Draw whole numbers of 63 bits, the same in every run: hardly two of them are equal."""
    return np.random.default_rng(19).integers(0, 2**63 - 1, count)


def mean_rank_error(answers: Any, ordered: Numbers, at: tuple[Fraction, ...]) -> float:
    """Average over the quantiles how many people lie between the answer and what was asked for.

    An answer has all ranks from the people below it to the people not above it.
    """
    nearest = np.rint(np.asarray(answers, dtype=np.float64)).astype(np.int64)
    below, not_above = (ordered.searchsorted(nearest, side) for side in ("left", "right"))
    wanted = np.array([float(a * len(ordered)) for a in at])
    return float(np.maximum(0, np.maximum(below - wanted, wanted - not_above)).mean())


def measured(
    contestant: str, data: str, people: int, asked: int, make: Callable[[Numbers, int, int], Ask]
) -> Error:
    """Ask again and again, and average."""
    values = numbers(data, people)
    ask, ordered = make(values, POINTS[data], asked), np.sort(values)
    started, errors = process_time(), list[float]()
    while len(errors) < 2 or (len(errors) < MOST_RUNS and process_time() - started < PATIENCE):
        errors.append(mean_rank_error(ask(), ordered, fractions(asked)))
    return Error(contestant, data, people, asked, float(np.mean(errors)), len(errors))
