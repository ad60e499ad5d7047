"""Permute-and-flip: visit the candidates in random order, flip a coin for each, the first head wins.

Noise:     exponential, drawn anew for each of k winners (peeling).
Reference: McKenna & Sheldon 2020; Ding, Kifer et al. 2021, arXiv 2105.07260.
Proof:     permute_and_flip.proof.md
"""

from __future__ import annotations

from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import Number, not_negative
from dpselect.mechanisms.arguments import (
    differing_draws,
    direction,
    number_of_winners,
    score_domain,
    score_metric,
)
from dpselect.mechanisms.functions import NoisyTopK, PeeledTopK
from dpselect.mechanisms.privacy_maps import ExponentialMap
from dpselect.privacy.domains import VectorDomain
from dpselect.privacy.measurement import Draw, Measurement
from dpselect.privacy.measures import (
    Approximate,
    ApproximateConcentrated,
    MaxDivergence,
    Measure,
    RenyiDivergence,
    ZeroConcentratedDivergence,
    max_divergence,
)
from dpselect.privacy.metrics import ScoreMetric
from dpselect.selection.draw import PeeledDraw, TopKDraw
from dpselect.selection.scores import Optimize

PURE = max_divergence()
PRICED = MaxDivergence | ZeroConcentratedDivergence | RenyiDivergence | Approximate | ApproximateConcentrated


def make_permute_and_flip(  # noqa: PLR0913, PLR0917 - the order of its source (docs/sources.md)
    input_domain: VectorDomain,
    input_metric: ScoreMetric,
    scale: Number,
    k: int = 1,
    optimize: Optimize = "max",
    privacy_measure: Measure = PURE,
) -> Measurement:
    """Select the indices of k candidates, one after the other, each by permute-and-flip among the rest.

    Precondition
        as in ``make_report_noisy_top_k``

    Postcondition
        ``m(scores)`` has exactly the law of k rounds of permute-and-flip, given fair random bits. For k = 1
        it is that of report noisy max with exponential noise; for k > 1 ``make_report_noisy_top_k`` draws all
        noise at once: another law, at the same price, with better utility.
        ``m.map(d_in)`` bounds the max-divergence (by default), or what the Laplace mechanism would cost in
        the zero-concentrated, Rényi or approximate measure, once for each round.

    Runtime
        O(k n): each round is one pass over the scores that are left.

    Utility
        With probability at least 1 - beta the scores of all k winners are within scale * ln(n k / beta) of
        the k-th best score. For k = 1 the expected distance from the best score is never larger than that of
        the exponential mechanism with the same scale (McKenna & Sheldon 2020).

    >>> from dpselect.privacy import atom_domain, linf_distance, vector_domain
    >>> make_permute_and_flip(vector_domain(atom_domain(int)), linf_distance(), 2, k=3).map(1)
    Fraction(3, 1)
    """
    if not isinstance(privacy_measure, PRICED):
        raise InvalidParameter.must_be(
            "privacy_measure",
            "max, zero-concentrated, Rényi or approximate",
            got=privacy_measure,
            way_out="No bound on the range of permute-and-flip is proved; use make_report_noisy_max.",
        )
    domain, metric = score_domain(input_domain), score_metric(input_metric)
    rounds, spread = number_of_winners(k, domain), not_negative(scale, "scale")
    draw: Draw = PeeledTopK(domain, PeeledDraw(spread, rounds, direction(optimize)))
    if rounds == 1:
        draw = NoisyTopK(domain, TopKDraw(spread, 1, direction(optimize), "exponential"))
    price = ExponentialMap(metric, privacy_measure, spread, differing_draws(rounds, domain))
    return Measurement(domain, metric, privacy_measure, draw, price)
