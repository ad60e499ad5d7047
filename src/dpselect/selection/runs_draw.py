"""The exponential mechanism over runs: a point with probability proportional to weight * exp(score / scale).

>>> import numpy as np
>>> from fractions import Fraction
>>> from dpselect.exact.randomness import system
>>> from dpselect.selection.runs import Runs
>>> middle = Runs(starts=np.array([500]), counts=np.array([20]), scores=np.array([0]))
>>> rest = Runs(starts=np.array([0, 520]), counts=np.array([500, 2**62]), scores=np.array([-100, -100]))
>>> draw_output([middle, rest], Fraction(1), system()) in range(500, 520)
True

Proof: runs_draw.proof.md
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial

import numpy as np

from dpselect.exact.float_errors import ignore_float_errors
from dpselect.exact.randomness import Randomness
from dpselect.exact.samplers import draw_below, truncated_geometric
from dpselect.selection.runs import RunPoint, Runs, best_score
from dpselect.selection.runs_envelope import RunsEnvelope


def draw_output(groups: Sequence[Runs], scale: Fraction, randomness: Randomness) -> int:
    """Draw an output, as a whole number."""
    group, run, place = draw_from_runs(groups, scale, randomness)
    return groups[group].output(run, place)


@ignore_float_errors
def draw_from_runs(groups: Sequence[Runs], scale: Fraction, randomness: Randomness) -> RunPoint:
    """Draw a point of some runs, of which at least one has a point; with scale 0 the best, the least output.

    The cost depends on the number of runs, not of points. Whether a run is constant or falls does not show in
    the time: where both kinds are possible, the steps of both are made.
    """
    if not scale:
        return best_point(groups)
    envelope = RunsEnvelope(groups, scale, randomness.width)
    while True:
        randomness.mark(())
        chosen = envelope.one_accepted(randomness)
        if chosen is not None:
            break
    group, run = chosen
    return RunPoint(group, run, _draw_place(groups, group, run, scale, randomness))


def _draw_place(groups: Sequence[Runs], group: int, run: int, scale: Fraction, randomness: Randomness) -> int:
    """Draw a point of one run, the best being 0."""
    count, decay = groups[group].count(run), groups[group].drop(run) / scale
    uniform = partial(draw_below, 1 if count is None else count, randomness)
    if all(isinstance(runs.falls, int) for runs in groups):
        return uniform()
    if decay:
        place = truncated_geometric(decay, count, randomness)
        draw_below(2, randomness)
    else:
        place = uniform()
        truncated_geometric(Fraction(1), 2, randomness)
    return place


def best_point(groups: Sequence[Runs]) -> RunPoint:
    """Find the best score without noise; of points that tie, the least output."""
    present = [runs.has_points() for runs in groups]
    best = best_score(groups, [runs.top(some) for runs, some in zip(groups, present, strict=True)])
    tied = []
    for number, (runs, some) in enumerate(zip(groups, present, strict=True)):
        for run in np.flatnonzero(some).tolist():
            if runs.score(run) == best:
                downward = runs.step < 0 and not runs.drop(run)
                place = (runs.count(run) or 1) - 1 if downward else 0
                tied.append((runs.output(run, place), RunPoint(number, run, place)))
    return min(tied)[1]
