"""Runs: stretches of a public grid, or of all integers, on which scores are constant or fall evenly.

A grid of 2**64 points is never listed. Its points with one score, or with scores on one line, are a *run*:
how many points, the score of the best of them, by how much the score falls from one to the next, and the base
measure of a point. Runs that agree in their public parts are held together, in arrays:

>>> import numpy as np
>>> from fractions import Fraction
>>> below, above = np.array([0, 6]), np.array([10, 2**40])
>>> Runs(starts=below, counts=above, scores=np.array([-3, -1]), unit=Fraction(1, 2))
<2 runs of private scores>

Whether an array holds 64 bits or Python's integers (``dtype=object``) is for public numbers to decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpselect.errors import InvalidParameter

WholeNumbers: TypeAlias = NDArray[Any]
"""Exact whole numbers: int64, uint64, or Python's integers in an array of objects."""

MOST_POINTS = 2**512
"""Points of a run that is not infinite: floats estimate its mass without overflow."""

LEAST_FALL = Fraction(1, 2**500)
"""Scales: by less a run of infinitely many points does not fall."""

MOST_WEIGHT = 2**128
"""How many times as heavy as another a point may be."""

_ZERO, _ONE = Fraction(0), Fraction(1)


def python_integers(whole_numbers: Sequence[int]) -> WholeNumbers:
    """Hold whole numbers of any length in an array."""
    held = np.empty(len(whole_numbers), dtype=object)
    held[:] = whole_numbers
    return held


class RunPoint(NamedTuple):
    """One point of a run: which group of runs, which run of the group, and which point, from the best on."""

    group: int
    run: int
    place: int


@dataclass(frozen=True, eq=False, repr=False)
class Runs:
    """A group of runs, which agree in all that is no array.

    Point k = 0, 1, ... of run i is the output starts[i] + step * k, and its score is
    offset + unit * scores[i] - fall * falls[i] * k.

    Precondition
        counts are from 0 to MOST_POINTS; falls are not negative                    claimed by the caller
        runs of infinitely many points fall by at least LEAST_FALL scales           claimed by the caller
        all but arrays and offset is public, and so is what kind of arrays they are  claimed by the caller
        arrays hold 64 bits or Python's integers, and units are positive            checked here
    """

    _: KW_ONLY
    starts: WholeNumbers
    """The output at the best end of each run."""
    counts: WholeNumbers | int | None
    """How many points each run has, or all of them; None if they go on for ever."""
    scores: WholeNumbers
    """The score of the best point, in units, less the offset."""
    unit: Fraction = _ONE
    offset: Fraction = _ZERO
    falls: WholeNumbers | Literal[0] = 0
    """By how much the score falls from one point to the next, in multiples of ``fall``."""
    fall: Fraction = _ONE
    weight: Fraction = _ONE
    """The base measure of each point, above zero."""
    step: Literal[1, -1] = 1
    """Whether a run goes up or down from its start."""

    def __post_init__(self) -> None:
        """Refuse, by public parts alone, what could not be drawn from."""
        for name in ("starts", "counts", "scores", "falls"):
            array = getattr(self, name)
            if isinstance(array, np.ndarray) and array.dtype not in (np.int64, np.uint64, object):
                raise InvalidParameter(f"{name} must hold 64-bit whole numbers, or be an array of objects.")
        if not (self.unit > 0 and self.fall > 0 and self.weight > 0):
            raise InvalidParameter("unit, fall and weight of runs must be positive.")
        if self.counts is None and isinstance(self.falls, int):
            raise InvalidParameter("scores of runs of infinitely many points must fall.")

    def __repr__(self) -> str:
        return f"<{len(self.scores)} runs of private scores>"

    def output(self, run: int, place: int) -> int:
        """Give a point of a run as an output."""
        return int(self.starts[run]) + self.step * place

    def score(self, run: int) -> Fraction:
        """Give the score of the best point of a run, exactly."""
        return self.offset + self.unit * int(self.scores[run])

    def count(self, run: int) -> int | None:
        """Say how many points a run has; None for infinitely many."""
        return int(self.counts[run]) if isinstance(self.counts, np.ndarray) else self.counts

    def drop(self, run: int) -> Fraction:
        """Say by how much the score falls from one point of a run to the next."""
        return self.fall * int(self.falls[run]) if isinstance(self.falls, np.ndarray) else _ZERO

    def has_points(self) -> NDArray[np.bool_]:
        """Say which runs have a point."""
        if isinstance(self.counts, np.ndarray):
            return np.asarray(self.counts > 0, dtype=bool)
        return np.full(len(self.scores), self.counts != 0)

    def top(self, has_points: NDArray[np.bool_]) -> int | None:
        """Give the best of ``scores`` among the runs that have points; None if there is none."""
        scores = self.scores[has_points]
        return int(scores.max()) if len(scores) else None


def best_score(groups: Sequence[Runs], tops: Sequence[int | None]) -> Fraction:
    """Give the best score of all, from the best ``scores`` of each group."""
    pairs = zip(groups, tops, strict=True)
    return max(runs.offset + runs.unit * top for runs, top in pairs if top is not None)
