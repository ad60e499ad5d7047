"""Report noisy top-k with counts: the k best of whole scores, each with its noisy score.

Noise:     discrete Laplace on every score; order and counts come from the same noise.
Reference: Ghosh, Roughgarden & Sundararajan 2012 (the geometric mechanism).
Proof:     report_noisy_top_k_with_counts.proof.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import Number, not_negative, positive
from dpselect.mechanisms.arguments import direction, number_of_winners, score_domain, score_metric
from dpselect.mechanisms.functions import NoisyTopK
from dpselect.privacy.amounts import Amount
from dpselect.privacy.domains import VectorDomain
from dpselect.privacy.measurement import Measurement
from dpselect.privacy.measures import MaxDivergence, Measure
from dpselect.privacy.metrics import L1Distance, ScoreMetric
from dpselect.selection.counts_draw import TopKWithCountsDraw
from dpselect.selection.scores import Optimize


@dataclass(frozen=True)
class CountsMap:
    """The pure price of all noisy counts together: the l1 distance over the scale."""

    scale: Fraction

    def __call__(self, d_in: Fraction) -> Amount:
        """Bound the output distance of neighbours whose scores together move by d_in."""
        if not d_in:
            return Fraction(0)
        return d_in / self.scale if self.scale else math.inf


def make_report_noisy_top_k_with_counts(  # noqa: PLR0913, PLR0917 - the order of report noisy top-k
    input_domain: VectorDomain,
    input_metric: ScoreMetric,
    privacy_measure: Measure,
    k: int,
    scale: Number,
    optimize: Optimize = "max",
    *,
    grid: Number | None = None,
) -> Measurement:
    """Select the indices of the k best whole scores, the best first, each with its noisy count.

    Precondition
        scores are whole numbers                    checked here, by the domain
        scale is finite and not negative            checked here
        neighbours' scores differ by at most d_in
        under ``l1_distance()``                     claimed by the caller

    Postcondition
        ``m(scores)`` is a list of (index, count): the k largest of score_i + Z_i, P(Z = z) in proportion to
        exp(-|z| / scale); equal counts come in a random order. With a ``grid``, of (index, count, gap): the
        gap is how far the count is above the next one, of the last winner above the runner-up's, rounded
        down to a multiple of the grid; scores must then be more than k.
        ``m.map(d_in)`` is d_in / scale, for every k. No error depends on the scores, but for the constant
        sentences of the domain.

    Runtime
        As report noisy top-k with Laplace noise.

    Utility
        With probability at least 1 - beta the scores of all k winners are within
        scale * (ln(2 n / beta) + ln(2 k / beta)) of the k-th best score.

    >>> from dpselect.privacy import atom_domain, l1_distance, max_divergence, vector_domain
    >>> domain, metric = vector_domain(atom_domain(int)), l1_distance()
    >>> m = make_report_noisy_top_k_with_counts(domain, metric, max_divergence(), 2, "1/1000")
    >>> m([305, 100, 203]), m.map(1)
    ([(0, 305), (2, 203)], Fraction(1000, 1))
    """
    domain, metric = score_domain(input_domain), score_metric(input_metric)
    if domain.element_domain.kind is not int:
        raise InvalidParameter("input_domain must be of whole numbers: vector_domain(atom_domain(int)).")
    if not isinstance(metric, L1Distance):
        raise InvalidParameter.must_be(
            "input_metric",
            "l1_distance()",
            got=metric,
            way_out="The price of counts is how far all scores move together.",
        )
    if not isinstance(privacy_measure, MaxDivergence):
        raise InvalidParameter.must_be("privacy_measure", "max_divergence()", got=privacy_measure)
    winners = number_of_winners(k, domain)
    step = None if grid is None else positive(grid, "grid")
    if step is not None and winners == domain.size:
        raise InvalidParameter.must_be(
            "k", "below the number of candidates, so that there is a runner-up", got=k
        )
    spread = not_negative(scale, "scale")
    draw = TopKWithCountsDraw(spread, winners, direction(optimize), step)
    return Measurement(domain, metric, privacy_measure, NoisyTopK(domain, draw), CountsMap(spread))
