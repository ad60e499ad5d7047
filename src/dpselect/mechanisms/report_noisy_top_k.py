"""Report noisy top-k: which k candidates score highest once noise is added, the best first.

Noise:     exponential for max-divergence, Gumbel for every other measure, or the one that is named; all of it
           drawn once.
Reference: Durfee & Rogers 2019, Lemma 4.2 (Gumbel); functions.proof.md (exponential).
Proof:     report_noisy_top_k.proof.md
"""

from __future__ import annotations

from fractions import Fraction

from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import Number, not_negative
from dpselect.mechanisms.arguments import (
    a_measure,
    differing_draws,
    direction,
    number_of_winners,
    score_domain,
    score_metric,
)
from dpselect.mechanisms.functions import NoisyTopK
from dpselect.mechanisms.laplace_map import LaplaceMap
from dpselect.mechanisms.privacy_maps import ExponentialMap, GumbelMap, SelectionMap
from dpselect.privacy.domains import VectorDomain
from dpselect.privacy.measurement import Measurement
from dpselect.privacy.measures import MaxDivergence, Measure, RangeDivergence
from dpselect.privacy.metrics import L1Distance, ScoreMetric
from dpselect.selection.draw import TopKDraw
from dpselect.selection.noise import NoiseName
from dpselect.selection.scores import Optimize


def noise_for(privacy_measure: Measure) -> NoiseName:
    """Say which noise a measure is paid in: exponential for max-divergence, Gumbel for every other."""
    return "exponential" if isinstance(a_measure(privacy_measure), MaxDivergence) else "gumbel"


def chosen_noise(
    noise: NoiseName | None, input_metric: ScoreMetric, privacy_measure: Measure, k: int
) -> NoiseName:
    """Read which noise to add; refuse one whose price is not proved for the metric, the measure and k."""
    usual = noise_for(privacy_measure)
    if noise is None or noise in (usual, "gumbel"):
        return noise or usual
    if noise == "laplace":
        if not isinstance(input_metric, L1Distance):
            raise InvalidParameter.must_be(
                "input_metric",
                'l1_distance() for noise="laplace"',
                got=input_metric,
                way_out="Its price is how far all scores move together.",
            )
        if isinstance(privacy_measure, RangeDivergence):
            raise InvalidParameter('noise="laplace" has no price in range divergence. Write noise="gumbel".')
        return noise
    if noise == "exponential":
        if k > 1 or isinstance(privacy_measure, RangeDivergence):
            raise InvalidParameter(
                'noise="exponential" has no proved price in this measure. Write noise="gumbel", or '
                "max_divergence()."
            )
        return noise
    raise InvalidParameter.must_be("noise", '"exponential", "gumbel" or "laplace"', got=noise)


def privacy_map_of(
    noise: NoiseName, metric: ScoreMetric, measure: Measure, scale: Fraction, draws: int
) -> SelectionMap:
    """Give the map of a noise, where ``draws`` of the winners can differ."""
    if noise == "laplace":
        return LaplaceMap(metric, measure, scale, min(1, draws))
    kind = ExponentialMap if noise == "exponential" else GumbelMap
    return kind(metric, measure, scale, draws)


def make_report_noisy_top_k(  # noqa: PLR0913, PLR0917 - the order of its source (docs/sources.md)
    input_domain: VectorDomain,
    input_metric: ScoreMetric,
    privacy_measure: Measure,
    k: int,
    scale: Number,
    optimize: Optimize = "max",
    *,
    noise: NoiseName | None = None,
) -> Measurement:
    """Select the indices of the k best scores, the best first, after noise on each.

    Precondition
        scores hold no null, NaN or plus infinity   checked when drawn
        scale is finite and not negative            checked here
        neighbours' scores differ by at most d_in
        under ``input_metric``                      claimed by the caller

    Postcondition
        ``m(scores)`` has exactly the law of the k largest of score_i + scale * noise_i, given fair random
        bits: exponential noise for max-divergence (not the law of peeling; same price, better utility),
        Gumbel noise for the other measures (the law of peeling the exponential mechanism). ``noise`` names
        another: "gumbel" with any measure, "laplace" with ``l1_distance()``, at the price d_in / scale for
        every k, "exponential" for one winner.
        ``m.map(d_in)`` bounds the divergence between the outputs on any two score vectors within d_in.
        No error depends on the scores, but for the constant sentence of the domain.

    Runtime
        O(n) for n scores in an array: one pass, then O(k log k) expected proposals, whatever the scores.
        Numbers that no array holds exactly, such as fractions, are sorted: O(n log n).

    Utility
        With probability at least 1 - beta the scores of all k winners are within scale * ln(n / beta) of the
        k-th best score (exponential noise), or within scale * ln(n k / beta) (Gumbel noise), or within
        scale * (ln(n / beta) + ln(k / beta)) (Laplace noise).

    >>> from dpselect.privacy import atom_domain, linf_distance, max_divergence, vector_domain
    >>> m = make_report_noisy_top_k(vector_domain(atom_domain(int)), linf_distance(), max_divergence(), 3, 2)
    >>> m.map(1)
    Fraction(3, 1)
    >>> from dpselect.privacy import l1_distance
    >>> scores = vector_domain(atom_domain(int))
    >>> make_report_noisy_top_k(scores, l1_distance(), max_divergence(), 3, 2, noise="laplace").map(1)
    Fraction(1, 2)
    """
    domain, metric = score_domain(input_domain), score_metric(input_metric)
    winners, spread = number_of_winners(k, domain), not_negative(scale, "scale")
    drawn = chosen_noise(noise, metric, privacy_measure, winners)
    return Measurement(
        domain,
        metric,
        privacy_measure,
        NoisyTopK(domain, TopKDraw(spread, winners, direction(optimize), drawn)),
        privacy_map_of(drawn, metric, privacy_measure, spread, differing_draws(winners, domain)),
    )


def make_report_noisy_max(
    input_domain: VectorDomain,
    input_metric: ScoreMetric,
    privacy_measure: Measure,
    scale: Number,
    optimize: Optimize = "max",
) -> Measurement:
    """Select the index of the best score after noise on each: report noisy top-k with k = 1.

    Runtime
        O(n): one pass over the scores, then an expected number of proposals that is bounded, whatever n.

    Utility
        With probability at least 1 - beta the winner's score is within scale * ln(n / beta) of the best.

    >>> from dpselect.privacy import atom_domain, linf_distance, vector_domain, zero_concentrated_divergence
    >>> scores = vector_domain(atom_domain(int), 3)
    >>> m = make_report_noisy_max(scores, linf_distance(monotonic=True), zero_concentrated_divergence(), 0)
    >>> m([1, 7, 3]), m.map(0), m.map(1)
    (1, Fraction(0, 1), inf)
    """
    return (
        make_report_noisy_top_k(input_domain, input_metric, privacy_measure, 1, scale, optimize) >> the_only
    )


def the_only(winners: list[int]) -> int:
    """Take the winner out of a list of one."""
    (winner,) = winners
    return winner
