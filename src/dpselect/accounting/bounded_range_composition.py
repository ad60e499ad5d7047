"""The composition of bounded range: the profile of k releases whose windows move with earlier answers.

The worst window of each release is found by going backwards from the last, on a grid of epsilons. Floats do
the work; each step is pushed up by more than they can be wrong.

Reference: Dong, Durfee & Rogers 2020 for the question; the recursion is in the proof.
Proof:     bounded_range_composition.proof.md
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dpselect.accounting.closed_forms import BoundedRangeRenyi
from dpselect.accounting.renyi_orders import RenyiProfile
from dpselect.exact.bisection import bisect
from dpselect.exact.enclosures import Enclosure, enclose, exp, expm1

FloatArray = npt.NDArray[np.float64]

MOST_RUNS = 512
"""More runs are left to the Rényi curve: a grid for them takes too long."""

MOST_CELLS = 32
"""A window is cut into at most 32 cells."""

NARROWEST, WIDEST = Fraction(1, 2**12), 2
"""Lengths eta of the windows that are computed on a grid; for others the errors of floats are too large."""

_BITS = 32
"""An epsilon is at most a relative 2**-32 above the least one that the grid proves."""

SLOP = 2.0**-40
"""A step is increased by this, times a weight: many times the rounding error of floats."""

TINY = 2.0**-1000
"""Below this the errors of floats are no longer relative."""


@dataclass(frozen=True)
class BoundedRangeComposition:
    """The privacy profile of ``runs`` adaptive releases of bounded range: the better of grid and curve."""

    eta: Fraction
    runs: int

    def __call__(self, epsilon: Fraction) -> Fraction:
        """Bound delta."""
        if epsilon >= self.runs * self.eta:
            return Fraction(0)
        if epsilon < 0:
            return Fraction(1)
        return min(self._on_grid(epsilon), self._curve(epsilon))

    def epsilon(self, delta: Fraction) -> Fraction:
        """Bound epsilon: the inverse, by bisection below the bound of the curve."""
        enough = Fraction(self._curve.epsilon(delta))
        if delta == 0 or not self._has_grid:
            return enough
        if self._on_grid(Fraction(0)) <= delta:
            return Fraction(0)
        return bisect(
            lambda epsilon: self._on_grid(epsilon) <= delta, fails=Fraction(0), holds=enough, bits=_BITS
        ).holds

    @property
    def _curve(self) -> RenyiProfile:
        return RenyiProfile(BoundedRangeRenyi(self.eta), self.runs, self.runs * self.eta)

    @property
    def _has_grid(self) -> bool:
        return 1 <= self.runs <= MOST_RUNS and self.eta <= WIDEST

    def _on_grid(self, epsilon: Fraction) -> Fraction:
        """Interpolate: delta is convex in exp(epsilon), so a chord lies above it."""
        if not self._has_grid:
            return Fraction(1)
        window = max(self.eta, NARROWEST)
        deltas, step = delta_grid(window, self.runs), window / cells_of(self.runs)
        place = epsilon // step
        left, right = (Fraction(float(deltas[int(place) + move])) for move in (0, 1))
        rest = epsilon - place * step
        part = enclose(lambda h, r: r.expm1() / h.expm1(), step, rest).low if rest else Fraction(0)
        return left - (left - right) * part if right < left else right


def cells_of(runs: int) -> int:
    """Give the number of cells of a window: fewer for many runs, which take longer."""
    return min(MOST_CELLS, 2048 // runs)


@lru_cache(maxsize=64)
def delta_grid(eta: Fraction, runs: int) -> FloatArray:
    """Bound delta at 0, step, 2 * step, ..., runs * eta, where step = eta / cells.

    Each run keeps the length of the grid and moves its start up by eta: no value from below is needed.
    """
    cells = cells_of(runs)
    step = eta / cells
    ends = [(_float(exp(step * c)), _float(exp(-step * c))) for c in range(cells + 1)]
    least, window = ends[cells][1], _float(expm1(-eta)) * -1
    slop = SLOP * ends[cells][0] ** 4 / (window * (ends[cells - 1][1] - ends[cells][1]))
    count = runs * cells + 1
    deltas = np.array([-_float(expm1(-step * place)) if place else 0.0 for place in range(count - 1, -1, -1)])
    deltas = np.minimum(1.0, deltas * (1 + SLOP))
    for _ in range(runs):
        longer = np.concatenate([deltas, np.zeros(2 * cells)])
        worst = np.zeros(count)
        for c in range(cells):
            near, far = longer[cells - c - 1 :], longer[2 * cells - c - 1 :]
            around = near[1 : count + 1], near[:count], far[1 : count + 1], far[:count]
            np.maximum(worst, largest_in_cell(around, ends[c], ends[c + 1], least, window), out=worst)
        deltas = np.minimum(1.0, worst + slop * deltas + TINY)
        deltas[-1] = 0.0
        deltas = np.maximum.accumulate(deltas[::-1])[::-1]
    deltas.flags.writeable = False
    return deltas


def _float(bounds: Enclosure) -> float:
    """Give a float within a relative 2**-52 of the enclosed number."""
    return float(bounds.high)


def largest_in_cell(
    around: tuple[FloatArray, FloatArray, FloatArray, FloatArray],
    start: tuple[float, float],
    end: tuple[float, float],
    least: float,
    window: float,
) -> FloatArray:
    """Bound the mean of what follows, for all windows of a cell: its value at a point, and the rise."""
    v1, v2, v3, v4 = around
    (x0, u0), (x1, u1) = start, end
    width = u0 - u1
    rise = (v2 - v1) - least * (v4 - v3)
    fall = least * (u0 * (v2 - v4) - u1 * (v1 - v3))
    with np.errstate(divide="ignore", invalid="ignore"):
        x = np.nan_to_num(np.sqrt(np.maximum(rise, 0.0) / fall), nan=x1, posinf=x1)
    x = np.clip(x, x0, x1)
    high, low = (1 / x - u1) / width, (u0 - 1 / x) / width
    chance = (1 - x * least) / window
    value = chance * (high * v1 + low * v2) + (1 - chance) * (high * v3 + low * v4)
    slope = (rise / x**2 - fall) / (window * width)
    bend = np.maximum(0.0, -rise) * (x1 - x0) ** 2 / (window * width)
    mean: FloatArray = value + np.maximum(slope * (x1 - x), slope * (x0 - x)) + bend
    return mean
