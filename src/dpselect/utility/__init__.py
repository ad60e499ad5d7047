"""What epsilon buys: the accuracy of a selection before it is paid for, and exact laws on public scores.

>>> from dpselect import counting
>>> from dpselect.utility import accuracy, exponential_law
>>> print(accuracy(counting(100), epsilon=1))
within 8.51 (rounded up) of the best score, with probability 0.99 or more (exponential noise)
>>> round(exponential_law([3, 2, 0], scale=1, outputs=["tea", "coffee", "cocoa"]).probability("tea"), 3)
0.797
"""

from dpselect.utility.accuracy import (
    accuracy,
    epsilon_for,
    expected_error,
    lead_needed,
    within,
)
from dpselect.utility.chance import chance_of_best
from dpselect.utility.enclosed_laws import enclosed_law, top_k_law
from dpselect.utility.laplace_law import laplace_law
from dpselect.utility.laws import exponential_law, gumbel_law
from dpselect.utility.noise_plan import PlannableProblem
from dpselect.utility.plots import plot_accuracy, plot_chance, plot_law, plot_ledger, plot_plan, plot_summary
from dpselect.utility.promise import Accuracy
from dpselect.utility.selection_law import SelectionLaw
from dpselect.utility.side_by_side import SideBySide, side_by_side
from dpselect.utility.worst_case import Mechanism, Noise, failure

__all__ = [
    "Accuracy",
    "Mechanism",
    "Noise",
    "PlannableProblem",
    "SelectionLaw",
    "SideBySide",
    "accuracy",
    "chance_of_best",
    "enclosed_law",
    "epsilon_for",
    "expected_error",
    "exponential_law",
    "failure",
    "gumbel_law",
    "laplace_law",
    "lead_needed",
    "plot_accuracy",
    "plot_chance",
    "plot_law",
    "plot_ledger",
    "plot_plan",
    "plot_summary",
    "side_by_side",
    "top_k_law",
    "within",
]
