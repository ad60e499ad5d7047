"""Reading the arguments that the selection constructors share."""

from __future__ import annotations

from typing import Any

from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import whole
from dpselect.privacy.domains import VectorDomain
from dpselect.privacy.measures import Measure, max_divergence
from dpselect.privacy.metrics import L1Distance, LInfDistance, RangeDistance, ScoreMetric
from dpselect.selection.scores import Optimize

LARGEST_K = 2**31 - 1
"""Winners, where the domain does not say how many candidates there are."""


def score_domain(input_domain: VectorDomain) -> VectorDomain:
    """Refuse what is no domain of scores without nulls."""
    if not isinstance(input_domain, VectorDomain):
        raise InvalidParameter.must_be(
            "input_domain",
            "a vector domain",
            got=input_domain,
            way_out="Write vector_domain(atom_domain(float)).",
        )
    if input_domain.element_domain.nullable:
        raise InvalidParameter("input_domain must not be nullable; got a nullable one. A null has no rank.")
    return input_domain


def score_metric(input_metric: ScoreMetric) -> ScoreMetric:
    """Refuse a metric that says nothing of how far scores move apart."""
    if not isinstance(input_metric, LInfDistance | RangeDistance | L1Distance):
        raise InvalidParameter.must_be(
            "input_metric", "linf_distance(), range_distance() or l1_distance()", got=input_metric
        )
    return input_metric


def a_measure(privacy_measure: Measure) -> Measure:
    """Refuse what is no privacy measure."""
    if not isinstance(privacy_measure, Measure):
        raise InvalidParameter.must_be("privacy_measure", "a privacy measure", got=privacy_measure)
    return privacy_measure


def measure_or_pure(privacy_measure: Measure | None) -> Measure:
    """Read the measure of a price: max-divergence, that of pure privacy, if none is given."""
    return max_divergence() if privacy_measure is None else a_measure(privacy_measure)


def number_of_winners(k: int, domain: VectorDomain) -> int:
    """Read k: a whole number, no larger than the domain."""
    return whole(k, "k", least=1, most=domain.size or LARGEST_K)


def direction(optimize: Any) -> Optimize:
    """Read which end of the scores is the better one."""
    end = optimize if isinstance(optimize, str) else None
    if end == "max":
        return "max"
    if end == "min":
        return "min"
    raise InvalidParameter.must_be("optimize", '"max" or "min"', got=optimize)


def differing_draws(k: int, domain: VectorDomain) -> int:
    """Count the draws that can differ: where all candidates win, the last one is no choice."""
    return k if domain.size is None else min(k, domain.size - 1)
