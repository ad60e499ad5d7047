"""What the time of one call tells of its scores: neighbours, drawn from in turns without a pattern.

The figure is the probability that a call on the one takes longer than a call on the other (the area under the
curve, Mann and Whitney's statistic), turned so that it is at least one half: 0.5 tells nothing, 1 everything.
Twice the same scores are the control: they show what the machine alone makes of one half.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from time import perf_counter_ns
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.patterns import Scores, hashed
from benchmarks.selections import LAPLACE, NOISES, selection

SIZES = (3, 20, 50, 1000)
WINNERS = (1, 2, 3, 10)
KINDS = (np.int64, np.float64)
SCALE = 1
CALLS = 3000
"""Calls on each of two neighbours; half a percent of a figure is chance then."""

WARM_UP = 50
CONTROL = "twice the same"
TIMED = (*NOISES, LAPLACE)


class Pair(NamedTuple):
    """Two vectors of scores that one person may turn into each other."""

    name: str
    ours: Scores
    theirs: Scores


class TimeRow(NamedTuple):
    """How well the time of one call tells one of two neighbours from the other."""

    n: int
    k: int
    noise: str
    pair: str
    kind: str
    area: float


def pairs(n: int, k: int, kind: type) -> list[Pair]:
    """Give the neighbours to be told apart; the control comes first."""
    tied: Scores = np.full(n, 5, dtype=kind)
    best_ahead = scored(n, kind, {n // 2: 6}, rest=5)
    far_ahead = dict.fromkeys(range(k - 1), 9)
    kth_tied = scored(n, kind, far_ahead | {k - 1: 5, n - 1: 5}, rest=1)
    kth_ahead = scored(n, kind, far_ahead | {k - 1: 6, n - 1: 5}, rest=1)
    all_ahead = scored(n, kind, dict.fromkeys(range(k), 6), rest=5)
    one_less = scored(n, kind, dict.fromkeys(range(k - 1), 6), rest=5)
    return [
        Pair(CONTROL, best_ahead, best_ahead.copy()),
        Pair("all tied, or one ahead", tied, best_ahead),
        Pair("a tie at the k-th place, or nearly", kth_tied, kth_ahead),
        Pair("k ahead, or one of them with the rest", all_ahead, one_less),
    ]


def scored(n: int, kind: type, scores: dict[int, int], rest: int) -> Scores:
    """Give some candidates their scores, and the rest the same one."""
    vector: Scores = np.full(n, rest, dtype=kind)
    for candidate, score in scores.items():
        vector[candidate] = score
    return vector


def measured(calls: int = CALLS) -> Iterator[TimeRow]:
    """Measure every pair of neighbours."""
    for n in SIZES:
        for k in WINNERS:
            for noise in TIMED if k <= n else ():
                for kind in KINDS:
                    for pair in pairs(n, k, kind):
                        told = told_apart(pair, noise, k, calls)
                        yield TimeRow(n, k, noise, pair.name, np.dtype(kind).name, told)


def told_apart(pair: Pair, noise: str, k: int, calls: int) -> float:
    """Give the area for two neighbours: how often one call takes longer, on whichever it is more often.

    Both are written to the same place first: where an array stands in memory shows in the time, too.
    """
    turns = (hashed(np.arange(2 * calls, dtype=np.uint64)).argsort() % 2).tolist()
    place = pair.ours.copy()
    draw = selection(place, noise, k, SCALE)
    times: list[list[int]] = [[], []]
    gc.disable()
    for turn in [0, 1] * WARM_UP + turns:
        place[:] = pair.theirs if turn else pair.ours
        started = perf_counter_ns()
        draw()
        times[turn].append(perf_counter_ns() - started)
    gc.enable()
    found = area(*(np.array(those[WARM_UP:]) for those in times))
    return max(found, 1 - found)


def area(ours: NDArray[np.int64], theirs: NDArray[np.int64]) -> float:
    """Give the share of pairs in which ours is larger; those that tie count half."""
    theirs = np.sort(theirs)
    below, not_above = theirs.searchsorted(ours, "left"), theirs.searchsorted(ours, "right")
    return float((below + not_above).sum() / (2 * len(ours) * len(theirs)))


def worst(rows: Iterable[TimeRow]) -> float | None:
    """Give the largest figure but those of the control."""
    return max((row.area for row in rows if row.pair != CONTROL), default=None)


def lines(rows: list[TimeRow]) -> list[list[str]]:
    """Write a table: the worst figure over pairs and types, and beside it that of the control."""
    cells = [["n", "k", *(title for noise in TIMED for title in (noise, f"{noise}, {CONTROL}"))]]
    for n, k in dict.fromkeys((row.n, row.k) for row in rows):
        cells.append([str(n), str(k)])
        for noise in TIMED:
            ours = [row for row in rows if (row.n, row.k, row.noise) == (n, k, noise)]
            control = max(row.area for row in ours if row.pair == CONTROL)
            cells[-1] += [f"{worst(ours):.2f}", f"{control:.2f}"]
    return cells


def main() -> None:
    """Measure, print each figure, and the table."""
    rows = []
    for row in measured():
        told = f"{row.noise:11}  {row.kind:7}  {row.pair}"
        print(f"{row.area:.3f}  n = {row.n:4}  k = {row.k:2}  {told}", flush=True)
        rows.append(row)
    for cells in lines(rows):
        print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
