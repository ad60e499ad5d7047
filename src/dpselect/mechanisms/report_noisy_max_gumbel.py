"""Report noisy max with Gumbel noise: which candidate scores highest, with the exponential mechanism's law.

Noise:     Gumbel(scale).
Reference: McSherry & Talwar 2007; Durfee & Rogers 2019, Lemma 4.2.
Proof:     report_noisy_max_gumbel.proof.md
"""

from __future__ import annotations

from dpselect.exact.numbers import Number, not_negative
from dpselect.mechanisms.arguments import differing_draws, direction, score_domain, score_metric
from dpselect.mechanisms.functions import NoisyTopK
from dpselect.mechanisms.privacy_maps import GumbelMap
from dpselect.mechanisms.report_noisy_top_k import the_only
from dpselect.privacy.domains import VectorDomain
from dpselect.privacy.measurement import Measurement
from dpselect.privacy.measures import max_divergence
from dpselect.privacy.metrics import ScoreMetric
from dpselect.selection.draw import TopKDraw
from dpselect.selection.scores import Optimize


def make_report_noisy_max_gumbel(
    input_domain: VectorDomain,
    input_metric: ScoreMetric,
    scale: Number,
    optimize: Optimize = "max",
) -> Measurement:
    """Select the index of the best score, after Gumbel noise on each.

    Precondition
        as in ``make_report_noisy_top_k``

    Postcondition
        ``m(scores)`` is i with probability exactly exp(s_i / scale) / sum_j exp(s_j / scale), given fair
        random bits. ``m.map(d_in)`` bounds the max-divergence between the outputs on any two score vectors
        within d_in.

    Runtime
        as ``make_report_noisy_top_k`` with k = 1: O(n)

    Utility
        With probability at least 1 - beta the winner's score is within scale * ln(n / beta) of the best.

    >>> from dpselect.privacy import atom_domain, linf_distance, vector_domain
    >>> scores, votes = vector_domain(atom_domain(int)), linf_distance(monotonic=True)
    >>> make_report_noisy_max_gumbel(scores, votes, scale=2).map(1)
    Fraction(1, 2)
    """
    domain, metric, spread = (
        score_domain(input_domain),
        score_metric(input_metric),
        not_negative(scale, "scale"),
    )
    draw = NoisyTopK(domain, TopKDraw(spread, 1, direction(optimize), "gumbel"))
    price = GumbelMap(metric, max_divergence(), spread, differing_draws(1, domain))
    return Measurement(domain, metric, max_divergence(), draw, price) >> the_only
