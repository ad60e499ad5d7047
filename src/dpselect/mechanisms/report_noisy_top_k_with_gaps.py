"""Report noisy top-k with gaps: the k best candidates, and by how much each of them leads.

Noise:     exponential for max-divergence, drawn once; Gumbel for the others, fresh for each winner; or one
           that is named.
Reference: Ding, Wang, Zhang & Kifer 2019, Free Gap Information (Laplace and exponential noise, pure privacy).
Proof:     report_noisy_top_k_with_gaps.proof.md
"""

from __future__ import annotations

from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import Number, not_negative, positive
from dpselect.mechanisms.arguments import direction, number_of_winners, score_domain, score_metric
from dpselect.mechanisms.functions import NoisyTopK
from dpselect.mechanisms.gaps_map import GumbelGapsMap
from dpselect.mechanisms.laplace_map import LaplaceMap
from dpselect.mechanisms.privacy_maps import ExponentialMap, SelectionMap
from dpselect.mechanisms.report_noisy_top_k import chosen_noise
from dpselect.privacy.domains import VectorDomain
from dpselect.privacy.measurement import Measurement
from dpselect.privacy.measures import MaxDivergence, Measure, RangeDivergence
from dpselect.privacy.metrics import ScoreMetric
from dpselect.selection.gaps_draw import PeeledWithGapsDraw, TopKWithGapsDraw
from dpselect.selection.noise import NoiseName
from dpselect.selection.scores import Optimize


def noise_with_gaps(
    noise: NoiseName | None, input_metric: ScoreMetric, privacy_measure: Measure, k: int
) -> NoiseName:
    """Read which noise to add; refuse one whose price with gaps is not proved."""
    if isinstance(privacy_measure, RangeDivergence):
        raise InvalidParameter("gaps have no proved price in range divergence. Write max_divergence().")
    drawn = chosen_noise(noise, input_metric, privacy_measure, k)
    if drawn == "exponential" and not isinstance(privacy_measure, MaxDivergence):
        raise InvalidParameter(
            'gaps with noise="exponential" have no proved price in this measure. Write noise="gumbel", or '
            "max_divergence()."
        )
    return drawn


def rounds_are_fresh(noise: NoiseName, privacy_measure: Measure, k: int) -> bool:
    """Say whether each winner is drawn with noise of its own: where gaps of one draw have no proved price."""
    return noise == "gumbel" and k > 1 and not isinstance(privacy_measure, MaxDivergence)


def make_report_noisy_top_k_with_gaps(  # noqa: PLR0913, PLR0917 - the order of report noisy top-k
    input_domain: VectorDomain,
    input_metric: ScoreMetric,
    privacy_measure: Measure,
    k: int,
    scale: Number,
    grid: Number,
    optimize: Optimize = "max",
    *,
    noise: NoiseName | None = None,
) -> Measurement:
    """Select the indices of the k best scores after noise on each, the best first, each with its gap.

    Precondition
        scores hold no null, NaN or plus infinity   checked when drawn
        scores are more than k                      checked here if the domain says, else when drawn
        scale is finite and not negative            checked here
        neighbours' scores differ by at most d_in
        under ``input_metric``                      claimed by the caller

    Postcondition
        ``m(scores)`` is a list of (index, gap). Gaps are multiples of ``grid``, rounded down, as
        ``Fraction``. With noise that is drawn once (all noise in max-divergence, Laplace noise, one winner) a
        gap is that to the next noisy score: of the last winner, to the runner-up. Otherwise each winner is
        drawn among those that are left with fresh Gumbel noise, and its gap is to the runner-up of its round.
        ``m.map(d_in)`` bounds the divergence between the outputs on any two score vectors within d_in: in
        max-divergence gaps are free; with Gumbel noise rho is k (eta coth(eta/2) - 2), eta = d / scale. No
        error depends on the scores, but for the constant sentences of the domain.

    Runtime
        As report noisy top-k for k + 1 winners; with fresh noise, k passes.

    Utility
        The winners are as good as without gaps at the same scale. A true lead is at least the gap less
        scale * ln(n / (2 beta)) with probability 1 - beta (one winner, exponential noise).

    >>> from dpselect.privacy import atom_domain, max_divergence, range_distance, vector_domain
    >>> domain, metric = vector_domain(atom_domain(int)), range_distance()
    >>> m = make_report_noisy_top_k_with_gaps(domain, metric, max_divergence(), 1, "1/1000", 10)
    >>> m([305, 100, 203]), m.map(1)
    ([(0, Fraction(100, 1))], Fraction(1000, 1))
    """
    domain, metric = score_domain(input_domain), score_metric(input_metric)
    winners = number_of_winners(k, domain)
    if winners == domain.size:
        raise InvalidParameter.must_be(
            "k",
            "below the number of candidates, so that there is a runner-up",
            got=k,
            way_out=f"Ask for {winners - 1}." if winners > 1 else "Leave the gap out.",
        )
    spread, step, end = not_negative(scale, "scale"), positive(grid, "grid"), direction(optimize)
    drawn = noise_with_gaps(noise, metric, privacy_measure, winners)
    if rounds_are_fresh(drawn, privacy_measure, winners):
        draw: PeeledWithGapsDraw | TopKWithGapsDraw = PeeledWithGapsDraw(spread, winners, step, end)
    else:
        draw = TopKWithGapsDraw(spread, winners, step, end, drawn)
    price: SelectionMap
    if drawn == "laplace":
        price = LaplaceMap(metric, privacy_measure, spread, 1)
    else:
        kind = ExponentialMap if drawn == "exponential" else GumbelGapsMap
        price = kind(metric, privacy_measure, spread, winners)
    return Measurement(domain, metric, privacy_measure, NoisyTopK(domain, draw), price)
