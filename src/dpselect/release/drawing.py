"""How the winners of a question are drawn: with which noise, and why; public numbers alone decide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from dpselect.exact.rounding import figure
from dpselect.mechanisms.report_noisy_top_k import chosen_noise, make_report_noisy_top_k, noise_for
from dpselect.privacy import Measurement, l1_distance, range_distance
from dpselect.privacy.domains import VectorDomain
from dpselect.privacy.measures import MaxDivergence, Measure
from dpselect.privacy.neighbours import Neighbours
from dpselect.problems.problem import Problem
from dpselect.selection.noise import NoiseName
from dpselect.utility.noise_plan import SURE, bounded, noise_for_epsilon
from dpselect.utility.worst_case import distance

NAMED = "named by the caller"
"""The reason of a noise that was not chosen here."""


@dataclass(frozen=True)
class Drawing:
    """What draws the winners at a scale in points, how far neighbours are in points, and why so."""

    noise: NoiseName
    why: str
    d_in: Fraction
    make: Callable[[Fraction], Measurement]


def drawing_of(  # noqa: PLR0913, PLR0917 - the question, and what is asked for beside
    problem: Problem,
    domain: VectorDomain,
    k: int,
    measure: Measure,
    neighbours: Neighbours,
    noise: NoiseName | None,
) -> Drawing:
    """Choose the noise, or take the one that is named; refuse one whose price is not proved here."""
    drawn, why = (noise, NAMED) if noise is not None else _best(problem, k, measure, neighbours)
    laplace = drawn == "laplace"
    reach = bounded(problem.l1(neighbours), "noise") if laplace else problem.d_range(neighbours)
    metric = l1_distance() if laplace else range_distance()
    checked = chosen_noise(drawn, metric, measure, k)

    def make(points: Fraction) -> Measurement:
        return make_report_noisy_top_k(domain, metric, measure, k, points, noise=checked)

    return Drawing(checked, why, reach / problem.unit, make)


def _best(problem: Problem, k: int, measure: Measure, neighbours: Neighbours) -> tuple[NoiseName, str]:
    """Choose the noise with the best proved accuracy for the measure; say why, in public numbers."""
    usual = noise_for(measure)
    if not isinstance(measure, MaxDivergence):
        return usual, "what this definition of privacy is paid in"
    n, reach, together = len(problem.outputs), problem.d_range(neighbours), problem.l1(neighbours)
    if together is None:
        return usual, "one person may move any number of scores, so Laplace noise has no price"
    best, draws = noise_for_epsilon(n, k, reach, together), min(k, n - 1)
    other: NoiseName = "laplace" if best == usual else usual
    if not draws or not reach:
        return best, "there is no choice to hide"
    costs = {"laplace": together, usual: draws * reach}
    times = costs[other] * distance(other, n, draws, 1 - SURE) / costs[best]
    ratio = times / distance(best, n, draws, 1 - SURE)
    return best, f"the more accurate: the promise of {other} noise would be {figure(ratio)} times as wide"
