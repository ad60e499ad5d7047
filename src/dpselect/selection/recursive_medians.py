"""Several quantiles at once: the middle one first, then those on either side of it, level by level.

Cells are the points of a public grid, each with a whole number of people. A draw is a cell v and a share t of
its people that counts as below: so people who share a cell are split between the two sides, and ties do not
pull the later quantiles away. Its score is minus the distance between the rank U(v) + t n(v) and the rank
that is asked for; the shares are 0, 1/S, ..., 1, together of base measure one for each cell.

Reference: Kaplan, Schnapp & Stemmer 2022, Algorithm 1, with shares of cells, and prices by range.
Proof:     recursive_medians.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpselect.exact.randomness import Randomness
from dpselect.selection.cells import Cells, Cut
from dpselect.selection.runs import Runs, WholeNumbers, python_integers
from dpselect.selection.runs_draw import draw_from_runs

_ZERO, _ONE = Fraction(0), Fraction(1)


class Part(NamedTuple):
    """What the draw may choose from in one group of runs: cells, and shares of them."""

    runs: Runs
    cells: WholeNumbers | None
    """The cell of each run; None where the points of a run are cells."""
    low: Fraction = _ZERO
    high: Fraction = _ONE
    """The shares of the cells that are between the cuts."""


def recursive_quantiles(
    cells: Cells, at: Sequence[Fraction], scale: Fraction, randomness: Randomness
) -> list[int]:
    """Draw a cell for each fraction, which ascend; so do the cells."""
    ends = Cut(0, _ZERO, _ZERO), Cut(cells.length - 1, _ONE, Fraction(cells.people))
    answers = [0] * len(at)
    waiting = [(0, len(at), (_ZERO, _ONE), ends)]
    while waiting:
        start, stop, (low, high), (left, right) = waiting.pop()
        if start == stop:
            continue
        middle = (start + stop) // 2
        inner = (at[middle] - low) / (high - low)
        pivot = draw_pivot(cells, (left, right), inner, scale, randomness)
        answers[middle] = pivot.cell
        waiting.append((middle + 1, stop, (at[middle], high), (pivot, right)))
        waiting.append((start, middle, (low, at[middle]), (left, pivot)))
    return answers


def levels(count: int) -> int:
    """Say on how many levels quantiles are drawn, of which there are ``count``."""
    return count.bit_length()


def draw_pivot(
    cells: Cells, between: tuple[Cut, Cut], at: Fraction, scale: Fraction, randomness: Randomness
) -> Cut:
    """Draw where the people between two cuts are split, with noise for a range of one."""
    left, right = between
    wanted = left.rank + at * (right.rank - left.rank)
    parts = parts_between(cells, left, right, wanted)
    group, run, place = draw_from_runs([part.runs for part in parts], 2 * max(at, 1 - at) * scale, randomness)
    part = parts[group]
    output = part.runs.output(run, place)
    if part.cells is None:
        return cells.cut(output, _ZERO)
    share = part.low + (part.high - part.low) * Fraction(output, cells.shares)
    return cells.cut(int(part.cells[run]), share)


def parts_between(cells: Cells, left: Cut, right: Cut, wanted: Fraction) -> list[Part]:
    """Give all cells from one cut to another, in groups of runs; which groups there are is public."""
    shares = cells.shares
    first, last = cells.first_from(left.cell + 1), cells.first_from(right.cell)
    if left.cell == right.cell:
        ends = [_cell(cells, left.cell, (left.share, right.share), wanted, shares), *_no_cell(shares)]
        first = last = cells.first_from(left.cell)
    else:
        ends = [
            _cell(cells, left.cell, (left.share, _ONE), wanted, shares),
            _cell(cells, right.cell, (_ZERO, right.share), wanted, shares),
        ]
    places = cells.places[first:last]
    before, after = cells.up_to[first:last], cells.up_to[first + 1 : last + 1]
    # Cells up to ``below`` end before the wanted rank; those from ``above`` on begin behind it.
    below = int(np.searchsorted(after, math.floor(wanted), "right"))
    above = max(below, int(np.searchsorted(before, math.ceil(wanted), "left")))
    (middle,) = _no_cell(shares)
    if below < above:
        middle = _cell(cells, int(places[below]), (_ZERO, _ONE), wanted, shares)
    return [
        *(part for three in (*ends[:2], middle) for part in three),
        _cells_before(places[:below], before[:below], after[:below], wanted, shares),
        _cells_behind(places[above:], before[above:], after[above:], wanted, shares),
        *_empty_cells(places, after, wanted),
        *_outer_empty_cells(cells, left, right, (first, last), wanted),
    ]


def _cell(
    cells: Cells, cell: int, between: tuple[Fraction, Fraction], wanted: Fraction, shares: int
) -> tuple[Part, Part]:
    """Give the shares of one cell that lie before the wanted rank, and those behind it."""
    (low, high), (before, inside) = between, cells.around(cell)
    start, slope = before + low * inside - wanted, (high - low) * inside / shares
    behind = math.ceil(-start / slope) if slope else 0 if start >= 0 else shares + 1
    behind = min(max(behind, 0), shares + 1)
    top, bottom = slope.as_integer_ratio()
    held = python_integers([cell])

    def part(first: int, count: int, step: int) -> Part:
        runs = Runs(
            starts=python_integers([first]),
            counts=python_integers([count]),
            scores=python_integers([0]),
            offset=-abs(start + slope * first),
            falls=python_integers([top]),
            fall=Fraction(1, bottom),
            weight=Fraction(1, shares + 1),
            step=1 if step > 0 else -1,
        )
        return Part(runs, held, low, high)

    return part(behind - 1, behind, -1), part(behind, shares + 1 - behind, 1)


def _no_cell(shares: int) -> list[tuple[Part, Part]]:
    """Give what stands for a cell where there is none: runs without points."""
    nothing = Runs(
        starts=python_integers([0]),
        counts=python_integers([0]),
        scores=python_integers([0]),
        falls=python_integers([0]),
        weight=Fraction(1, shares + 1),
    )
    return [(Part(nothing, python_integers([0])), Part(nothing, python_integers([0])))]


def _cells_before(
    places: WholeNumbers, before: NDArray[np.int64], after: NDArray[np.int64], wanted: Fraction, shares: int
) -> Part:
    """Give cells all of whose people are before the wanted rank: the more of them are below, the better."""
    runs = Runs(
        starts=np.full(len(places), shares, dtype=np.int64),
        counts=np.full(len(places), shares + 1, dtype=np.int64),
        scores=after,
        offset=-wanted,
        falls=after - before,
        fall=Fraction(1, shares),
        weight=Fraction(1, shares + 1),
        step=-1,
    )
    return Part(runs, places)


def _cells_behind(
    places: WholeNumbers, before: NDArray[np.int64], after: NDArray[np.int64], wanted: Fraction, shares: int
) -> Part:
    """Give cells all of whose people are behind the wanted rank: the fewer of them are below, the better."""
    runs = Runs(
        starts=np.zeros(len(places), dtype=np.int64),
        counts=np.full(len(places), shares + 1, dtype=np.int64),
        scores=-before,
        offset=wanted,
        falls=after - before,
        fall=Fraction(1, shares),
        weight=Fraction(1, shares + 1),
    )
    return Part(runs, places)


def _empty_cells(places: WholeNumbers, after: NDArray[np.int64], wanted: Fraction) -> list[Part]:
    """Give the cells without people between those that have some: before the wanted rank, and behind it."""
    ranks = after[:-1]
    starts = places[:-1] + places.dtype.type(1) if places.dtype != object else places[:-1] + 1
    counts = places[1:] - starts
    cut = int(np.searchsorted(ranks, math.ceil(wanted), "left"))
    return [
        Part(Runs(starts=starts[:cut], counts=counts[:cut], scores=ranks[:cut], offset=-wanted), None),
        Part(Runs(starts=starts[cut:], counts=counts[cut:], scores=-ranks[cut:], offset=wanted), None),
    ]


def _outer_empty_cells(
    cells: Cells, left: Cut, right: Cut, between: tuple[int, int], wanted: Fraction
) -> list[Part]:
    """Give the cells without people next to the cuts."""
    first, last = between
    if left.cell == right.cell or first == last:
        stretches = [(left.cell + 1, right.cell, first), (right.cell, right.cell, last)]
    else:
        stretches = [
            (left.cell + 1, int(cells.places[first]), first),
            (int(cells.places[last - 1]) + 1, right.cell, last),
        ]
    return [
        Part(
            Runs(
                starts=python_integers([start]),
                counts=python_integers([max(0, stop - start)]),
                scores=python_integers([0]),
                offset=-abs(int(cells.up_to[index]) - wanted),
            ),
            None,
        )
        for start, stop, index in stretches
    ]
