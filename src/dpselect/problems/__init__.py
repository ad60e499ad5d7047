"""Selection problems: outputs, score, sensitivity.

>>> vote = approval_voting(candidate="dish", candidates=["tea", "soup"])
>>> list(vote.outputs), vote.d_range("add_remove"), vote.d_range("change_one")
(['tea', 'soup'], Fraction(1, 1), Fraction(2, 1))
"""

from dpselect.problems.own_scores import Scores, counting, custom
from dpselect.problems.pricing import pricing
from dpselect.problems.problem import Problem
from dpselect.problems.quantile import quantile
from dpselect.problems.quantiles import quantiles
from dpselect.problems.threshold import threshold
from dpselect.problems.votes import approval_voting, borda, most_common, plurality
from dpselect.problems.weighted_sum import weighted_sum
from dpselect.problems.window import window

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
    "quantiles",
    "threshold",
    "weighted_sum",
    "window",
]
