"""The exponential mechanism on runs: one of any number of outputs, at the cost of the runs of equal score.

Noise:     Gumbel, on every output; no output is listed.
Reference: McSherry & Talwar 2007, for outputs with a base measure.
Proof:     exponential_on_runs.proof.md
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import Number, not_negative
from dpselect.exact.randomness import Randomness
from dpselect.mechanisms.arguments import measure_or_pure, score_metric
from dpselect.mechanisms.privacy_maps import GumbelMap
from dpselect.privacy.measurement import Measurement
from dpselect.privacy.measures import Measure
from dpselect.privacy.metrics import ScoreMetric
from dpselect.privacy.runs_domain import RunsDomain
from dpselect.selection.runs_draw import draw_output


@dataclass(frozen=True)
class OutputOfRuns:
    """An output, with probability proportional to exp(score / scale)."""

    domain: RunsDomain
    scale: Fraction

    checks_domain: ClassVar = True

    def __call__(self, arg: object, randomness: Randomness) -> int:
        """Read the runs, and draw."""
        return draw_output(self.domain.read(arg), self.scale, randomness)


def make_exponential_mechanism_on_runs(
    input_domain: RunsDomain,
    input_metric: ScoreMetric,
    scale: Number,
    *,
    privacy_measure: Measure | None = None,
) -> Measurement:
    """Select one of the outputs 0, 1, ..., size - 1, whose scores are given as runs of equal ones.

    Precondition
        runs cover the outputs, in their order      checked when drawn
        scale is finite and not negative            checked here
        neighbours' scores differ by at most d_in
        under ``input_metric``, output by output    claimed by the caller

    Postcondition
        ``m(runs)`` is y with probability exactly exp(s_y / scale) / sum_z exp(s_z / scale), given fair random
        bits; s_y is the score of the run that holds y. Where runs end may depend on data.
        ``m.map(d_in)`` bounds the divergence between the outputs on any two score vectors within d_in, in
        ``privacy_measure``: max-divergence, unless another is given.

    Runtime
        O(r) for r runs, whatever the number of outputs.

    Utility
        With probability at least 1 - beta the winner's score is within scale * ln(size / beta) of the best.

    >>> from dpselect.privacy import atom_domain, range_distance, runs_domain
    >>> domain = runs_domain(atom_domain(int), 2**64)
    >>> m = make_exponential_mechanism_on_runs(domain, range_distance(), scale=2)
    >>> m([(10, 0), (5, 900), (2**64 - 15, 0)]) in range(10, 15), m.map(1)
    (True, Fraction(1, 2))
    """
    if not isinstance(input_domain, RunsDomain):
        raise InvalidParameter.must_be(
            "input_domain",
            "a domain of runs",
            got=input_domain,
            way_out="Write runs_domain(atom_domain(int), size).",
        )
    metric, spread = score_metric(input_metric), not_negative(scale, "scale")
    measure = measure_or_pure(privacy_measure)
    price = GumbelMap(metric, measure, spread, min(1, input_domain.size - 1))
    return Measurement(input_domain, metric, measure, OutputOfRuns(input_domain, spread), price)
