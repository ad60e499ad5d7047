"""The best of a random number of runs of a private program, at little more than the price of one.

Reference: Liu & Talwar 2019; Papernot & Steinke 2022, arXiv 2110.03620.
Proof:     best_of_random_count.proof.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpselect.accounting.repetition import RepeatedProfile
from dpselect.errors import InvalidParameter
from dpselect.exact.randomness import Randomness
from dpselect.mechanisms.repetition_counts import Count, Poisson, TruncatedNegativeBinomial
from dpselect.mechanisms.scored_outputs import Rank, candidates, may_give_up, ranked_draw
from dpselect.privacy.curves import RenyiCurve
from dpselect.privacy.measurement import Measurement
from dpselect.privacy.measures import Approximate, Distance, MaxDivergence, RenyiDivergence
from dpselect.privacy.profiles import PrivacyProfile


def make_best_of_random_count(measurement: Measurement, count: Count) -> Measurement:
    """Run the measurement a random number of times and release the best (score, candidate).

    Precondition
        ``measurement`` is priced in max, Rényi or approximate divergence            checked here
        it releases tuples (score, candidate); the score is a real number            checked when drawn
        ``count`` was chosen without looking at the data                             claimed by the caller

    Postcondition
        The number of runs has exactly the law of ``count`` and does not depend on the data; it stays secret,
        because the price is that of the best alone: with the number known, all runs would have to be paid.
        The release is the one with the largest score, NaN below every number, the first to arrive among
        equals. It is None only if there was no run (``poisson``), or if every run was one of ours that gave
        up.
        ``m.map(d_in)`` bounds the measure of ``measurement``: epsilon + (1 + shape) ln((e^epsilon + gamma) /
        (1 + gamma e^epsilon)), for ``poisson`` epsilon + mean tanh(epsilon / 2), and the corresponding bounds
        in Rényi and approximate divergence.

    Runtime
        as many runs of ``measurement`` as ``count`` draws, one after the other

    Utility
        If a single run scores s or more with probability q, the release does so with probability
        1 - E[(1 - q)^K], K the number of runs: 1 - gamma (1 - q) / (gamma + (1 - gamma) q) for ``geometric``.

    >>> from dpselect.mechanisms import geometric
    >>> from dpselect.privacy import atom_domain, linf_distance, max_divergence, user_measurement
    >>> rounded = user_measurement(
    ...     input_domain=atom_domain(int),
    ...     input_metric=linf_distance(),
    ...     output_measure=max_divergence(),
    ...     function=lambda x: (1.0, "always this"),
    ...     privacy_map=lambda d_in: d_in,
    ... )
    >>> best = make_best_of_random_count(rounded, geometric("1/100"))
    >>> best(7), best.map(1) < 3
    ((1.0, 'always this'), True)
    """
    one = candidates(
        measurement,
        (MaxDivergence, RenyiDivergence, Approximate),
        "max_divergence(), renyi_divergence() or approximate(max_divergence())",
    )
    if not isinstance(count, TruncatedNegativeBinomial | Poisson):
        raise InvalidParameter.must_be(
            "count",
            "a random count",
            got=count,
            way_out="Write geometric, logarithmic, truncated_negative_binomial or poisson; "
            "a fixed number of runs costs as much as all of them.",
        )
    draw = BestOfRandomCount(one, count)
    return Measurement(one.input_domain, one.input_metric, one.output_measure, draw, RepeatedMap(one, count))


@dataclass(frozen=True)
class BestOfRandomCount:
    """Draw the count, run as often, keep the best."""

    measurement: Measurement
    count: Count

    @property
    def may_give_up(self) -> bool:
        """Whether the release may be None."""
        return isinstance(self.count, Poisson) or may_give_up(self.measurement)

    def __call__(self, arg: object, randomness: Randomness) -> Any:
        """Draw."""
        randomness.mark(())
        runs = self.count.draw(randomness)
        best: tuple[Rank, Any] | None = None
        for number in range(1, runs + 1):
            randomness.mark((runs, number, best))
            latest = ranked_draw(self.measurement, arg, randomness)
            if best is None or latest[0] > best[0]:
                best = latest
        return None if best is None else best[1]


@dataclass(frozen=True)
class RepeatedMap:
    """What the best of a random number of runs costs."""

    measurement: Measurement
    count: Count

    def __call__(self, d_in: Fraction) -> Distance:
        """Price neighbours at a distance of d_in."""
        one = self.measurement.map(d_in)
        match one:
            case RenyiCurve():
                return RenyiCurve(self.count.renyi(one))
            case PrivacyProfile():
                return PrivacyProfile(RepeatedProfile(one, self.count))
            case Fraction():
                return one + self.count.repetition_cost(one, Fraction(0))
            case _:
                return math.inf
