"""Where the values of a column lie on a public grid, at the cost of the values, however many points it has.

For each value two numbers: how many points of the grid lie below it, and how many are not above it. They are
equal for a value between two points. Whole, decimal and written numbers are compared exactly; floats with the
nearest floats of the points, as on a list of candidates.

Proof: grid_ranks.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpselect.engines.protocol import HIGHEST, LOWEST
from dpselect.problems.candidates import Grid
from dpselect.problems.ranks import digits_of, multiplied
from dpselect.selection.cells import Cells
from dpselect.selection.runs import Runs, WholeNumbers, python_integers
from dpselect.selection.scores import Indices

NUMBERS_IN_64_BITS = 2**64
MOST_IN_64_BITS = 2**62
"""Points of a grid whose places are held as signed numbers of 64 bits."""
SAFE_NUMERATOR = 2**51
"""Numerators up to here give doubles that differ, by one correctly rounded division."""
FINER_THAN_DOUBLES = 2**52
"""Points: between its ends a grid of more is finer than doubles can tell."""
LAST_DOUBLE_PLACE = 2**64 - 2048
"""The largest double that is a whole number of 64 bits."""
NO_SINGLE = 2.0**128
"""What would follow the largest single."""


class GridPlaces(NamedTuple):
    """For each value the points below it, and the points not above it."""

    below: WholeNumbers
    not_above: WholeNumbers


@dataclass(frozen=True, repr=False)
class GridRanks:
    """Distinct places of values in ascending order, and how many people there are up to each of them.

    The points between two places that follow each other form a stretch: stretch 2 k lies between value k
    and the next, stretch 2 k - 1 holds the points that are equal to value k; values are counted from 1. With
    U the people up to each value, U[k] people are below the points of stretch 2 k, and as many are not above
    them; of stretch 2 k - 1 these are U[k - 1] and U[k].
    """

    grid: Grid
    places: GridPlaces
    up_to: NDArray[np.int64]

    def __repr__(self) -> str:
        return "<private ranks on a grid>"

    @property
    def people(self) -> int:
        """How many there are in all."""
        return int(self.up_to[-1])

    def runs(self, scores: WholeNumbers, unit: Fraction) -> tuple[Runs, ...]:
        """Give the stretches, with a score each, as runs."""
        below, not_above = self.places
        edges = np.zeros(2 * len(below) + 1, dtype=below.dtype)
        edges[1::2], edges[2::2] = below, not_above
        return constant_runs(self.grid, edges, scores, unit)

    def cells(self) -> Cells:
        """Give the people at each point; a person between two points is at the higher one."""
        below, not_above = self.places
        is_before = int(((below == 0) & (not_above == 0)).sum())
        # Places of 64 bits are all within a grid that has more.
        wide = below.dtype != object and self.grid.length >= NUMBERS_IN_64_BITS
        stop = len(below) if wide else int((below < self.grid.length).sum())
        places, up_to = below[is_before:stop], self.up_to[is_before + 1 : stop + 1]
        is_last = np.ones(len(places), dtype=bool)
        is_last[:-1] = places[1:] != places[:-1]
        people = np.concatenate([self.up_to[is_before : is_before + 1], up_to[is_last]])
        return Cells(self.grid.length, places[is_last], people, self.people)


def constant_runs(grid: Grid, edges: WholeNumbers, scores: WholeNumbers, unit: Fraction) -> tuple[Runs, ...]:
    """Give the stretches of a grid that begin at ascending places, the first of them at 0, as runs.

    The last stretch is a group of its own, of Python's integers: it may have more points than 64 bits count.
    Places without sign are modulo 2**64: the last of them may be 2**64, and then is below the one before.
    """
    last = int(edges[-1])
    if len(edges) > 1 and last < int(edges[-2]):
        last += NUMBERS_IN_64_BITS
    return (
        Runs(starts=edges[:-1], counts=np.diff(edges), scores=scores[:-1], unit=unit),
        Runs(
            starts=python_integers([last]),
            counts=python_integers([grid.length - last]),
            scores=python_integers([int(scores[-1])]),
            unit=unit,
        ),
    )


def grid_ranks(grid: Grid, values: NDArray[Any], sizes: NDArray[np.int64]) -> GridRanks:
    """Sort values as an engine gave them, place them on the grid, and add their sizes up."""
    if values.dtype.kind == "O":
        kept, places = _exact_places(grid, values)
        sizes = sizes[kept]
        order = np.argsort(places.not_above, kind="stable")
        order = order[np.argsort(places.below[order], kind="stable")]
        places = GridPlaces(*(each[order] for each in places))
    else:
        order = np.argsort(values)
        places = places_of(grid, values[order], wraps=True)
    up_to = np.cumsum(sizes[order], dtype=np.int64)
    is_last = np.ones(len(up_to), dtype=bool)
    is_last[:-1] = (places.below[1:] != places.below[:-1]) | (places.not_above[1:] != places.not_above[:-1])
    places = GridPlaces(*(each[is_last] for each in places))
    return GridRanks(grid, places, np.concatenate([[0], up_to[is_last]]))


def places_of(grid: Grid, values: NDArray[Any], *, wraps: bool = False) -> GridPlaces:
    """Place whole numbers of 64 bits, or floats; with ``wraps`` a place of 2**64 may be given as 0."""
    if values.dtype.kind == "i":
        whole = _whole_number_places(grid, values, wraps=wraps)
        return _long_number_places(grid, values.astype(object)) if whole is None else whole
    with np.errstate(all="ignore"):
        return _float_places(grid, values)


def points_not_above(grid: Grid, values: NDArray[Any]) -> tuple[list[int] | Indices | slice, WholeNumbers]:
    """Say which values are numbers; and of each of them, in their order, how many points are not above it.

    Numbers of 64 bits are given in ascending order, which makes it cheap to sort their places.
    """
    if values.dtype.kind == "O":
        kept, places = _exact_places(grid, values)
        return kept, places.not_above
    order = np.argsort(values)
    return order, places_of(grid, values[order]).not_above


# ---- whole, decimal and written numbers --------------------------------------------------------------------


def _over_one_denominator(grid: Grid) -> tuple[int, int, int]:
    """Give F, S, D: point j of the grid is (F + S j) / D."""
    bottom = math.lcm(grid.first.denominator, grid.step.denominator)
    return int(grid.first * bottom), int(grid.step * bottom), bottom


def _whole_number_places(grid: Grid, values: NDArray[np.int64], *, wraps: bool) -> GridPlaces | None:
    """Place whole numbers in 64 bits without sign; None if the grid asks for more."""
    first, step, bottom = _over_one_denominator(grid)
    low = max(LOWEST, math.ceil(grid.first) - 1)
    high = min(HIGHEST, math.floor(grid.ends[1]) + 1)
    if low >= high or max((high - low) * bottom, step, high * bottom - first) >= NUMBERS_IN_64_BITS:
        return None
    is_longest = (high * bottom - first) // step + 1 == NUMBERS_IN_64_BITS
    if is_longest and not (wraps and step == 1 and grid.length >= NUMBERS_IN_64_BITS):
        return None
    short = (np.clip(values, low, high).view(np.uint64) - np.uint64(low % NUMBERS_IN_64_BITS)).astype(
        np.uint64
    )
    is_inside = (short > 0) | (low * bottom >= first)
    short *= np.uint64(bottom)
    short -= np.uint64((first - low * bottom) % NUMBERS_IN_64_BITS)
    place, rest = (short, np.uint64(0)) if step == 1 else np.divmod(short, np.uint64(step))
    below, not_above = (place + (rest > 0)) * is_inside, (place + np.uint64(1)) * is_inside
    if grid.length < NUMBERS_IN_64_BITS:
        most = np.uint64(grid.length)
        below, not_above = np.minimum(below, most), np.minimum(not_above, most)
    if grid.length <= MOST_IN_64_BITS:
        return GridPlaces(below.view(np.int64), not_above.view(np.int64))
    return GridPlaces(below, not_above)


def _long_number_places(grid: Grid, values: NDArray[Any]) -> GridPlaces:
    """Place whole numbers of any length."""
    first, step, bottom = _over_one_denominator(grid)
    short = values * bottom - first
    place = short // step
    return GridPlaces(_clamped(grid, place + (short % step > 0)), _clamped(grid, place + 1))


def _clamped(grid: Grid, places: NDArray[Any]) -> WholeNumbers:
    """Clamp places to the grid, and hold them in 64 bits if it is not longer than that."""
    clamped: NDArray[Any] = np.minimum(np.maximum(places, 0), grid.length)
    return clamped.astype(np.int64 if grid.length <= MOST_IN_64_BITS else object)


def _exact_places(grid: Grid, values: NDArray[Any]) -> tuple[list[int] | slice, GridPlaces]:
    """Place every value that is a number, one by one unless all are whole; say which those are."""
    listed = values.tolist()
    if set(map(type, listed)) == {int}:
        return slice(None), _long_number_places(grid, values)
    first, step, bottom = _over_one_denominator(grid)
    digits, found = digits_of(*grid.ends), []
    for index, value in enumerate(listed):
        product = multiplied(value, bottom, digits)
        if product is None:
            continue
        if isinstance(product, float):
            below = not_above = grid.length if product > 0 else 0
        else:
            place, rest = divmod(product[0] - first, step)
            not_above = place + 1
            below = place + (rest > 0 or product[1])
        found.append((index, below, not_above))
    kept = [index for index, _, _ in found]
    columns = (python_integers([each[column] for each in found]) for column in (1, 2))
    return kept, GridPlaces(*(_clamped(grid, places) for places in columns))


# ---- floats ------------------------------------------------------------------------------------------------


def _float_places(grid: Grid, values: NDArray[Any]) -> GridPlaces:
    """Place floats: what is below a value x are the points whose nearest float is below x."""
    if values.dtype == np.float64:
        none = np.zeros(len(values), dtype=bool)
        return GridPlaces(_counted(grid, values, none), _counted(grid, values, ~none))
    wide, odd = values.astype(np.float64), values.view(np.uint32) % 2 == 1
    below, above = (_next_single(values, towards) for towards in (-np.inf, np.inf))
    return GridPlaces(_counted(grid, (wide + below) / 2, odd), _counted(grid, (wide + above) / 2, ~odd))


def _next_single(values: NDArray[np.float32], towards: float) -> NDArray[np.float64]:
    """Give the next singles as doubles; beyond the last one, what would follow it."""
    following = np.nextafter(values, np.float32(towards)).astype(np.float64)
    return np.clip(following, -NO_SINGLE, NO_SINGLE)


def _counted(grid: Grid, doubles: NDArray[np.float64], including: NDArray[np.bool_]) -> WholeNumbers:
    """Count the points whose nearest double is below each number; or equal to it, where that is included."""
    first, step, bottom = _over_one_denominator(grid)
    last = first + step * (grid.length - 1)
    if max(abs(first), abs(last), bottom) <= SAFE_NUMERATOR:
        return _counted_by_division(grid, doubles, including)
    if FINER_THAN_DOUBLES < grid.length <= LAST_DOUBLE_PLACE + 4096:
        return _counted_roughly(grid, doubles, including)
    return _clamped(grid, python_integers(list(_counted_exactly(grid, doubles, including.tolist()))))


def _counted_by_division(
    grid: Grid, doubles: NDArray[np.float64], including: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Count from a float estimate on, by four comparisons with points that are a division each."""
    first, step, bottom = _over_one_denominator(grid)
    step = step if grid.length > 1 else 1

    def point(place: NDArray[np.int64]) -> NDArray[np.float64]:
        return (first + step * place).astype(np.float64) / float(bottom)

    estimate = np.clip((doubles * bottom - first) / step, 0.0, float(grid.length))
    place = np.maximum(estimate.astype(np.int64) - 6, 0)
    for more in (8, 4, 2, 1):
        further = np.minimum(place + more, grid.length)
        place = np.where(point(further - 1) < doubles, further, place)
    is_there = (place < grid.length) & (point(place) == doubles)
    return np.asarray(place + (is_there & including), dtype=np.int64)


def _counted_roughly(grid: Grid, doubles: NDArray[np.float64], including: NDArray[np.bool_]) -> WholeNumbers:
    """Place numbers on a grid that is finer than they are, each at the point that doubles compute."""
    low, high = (float(end) for end in grid.ends)
    most = float(min(grid.length - 1, LAST_DOUBLE_PLACE))
    steps = np.rint((np.clip(doubles, low, high) - low) / float(grid.step))
    place = np.clip(steps, 0.0, most).astype(np.uint64)
    inside = (doubles >= low) & (doubles <= high)
    end = np.uint64(min(grid.length, LAST_DOUBLE_PLACE))
    place = np.where(doubles > high, end, np.minimum(place + (inside & including), end))
    return place.view(np.int64) if grid.length <= MOST_IN_64_BITS else place


def _counted_exactly(grid: Grid, doubles: NDArray[np.float64], including: list[bool]) -> Iterator[int]:
    """Count by the ends of the interval whose numbers have the given nearest double."""
    for double, included in zip(doubles.tolist(), including, strict=True):
        if math.isinf(double):
            yield grid.length if double > 0 else 0
            continue
        end = math.nextafter(double, math.inf) if included else double
        before = math.nextafter(end, -math.inf)
        if math.isinf(end) or math.isinf(before):
            yield grid.length if double > 0 else 0
            continue
        middle = (Fraction(end) + Fraction(before)) / 2
        steps = (middle - grid.first) / grid.step
        goes_down = np.float64(end).view(np.int64) % 2 == 1
        yield math.floor(steps) + 1 if goes_down else math.ceil(steps)
