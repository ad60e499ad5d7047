"""Selection problems: outputs, score, sensitivity."""

from dpselect.problems.own_scores import Scores, counting, custom
from dpselect.problems.pricing import pricing
from dpselect.problems.problem import Problem
from dpselect.problems.quantile import quantile
from dpselect.problems.votes import approval_voting, borda, most_common, plurality
from dpselect.problems.weighted_sum import weighted_sum

__all__ = [
    "Problem",
    "Scores",
    "approval_voting",
    "borda",
    "counting",
    "custom",
    "most_common",
    "plurality",
    "pricing",
    "quantile",
    "weighted_sum",
]
