"""Plots: what a budget buys, the law of a selection on PUBLIC scores, the charges of a ledger.

Each function gives a figure of matplotlib (extra ``[plot]``, loaded when first needed), which shows itself as
the last value of a notebook's cell; ``figure.savefig("name.svg")`` or ``"name.png"`` saves it. None draws
data: all that is drawn is public.
"""

from dpselect.utility.accuracy_plot import plot_accuracy, plot_plan
from dpselect.utility.chance_plot import plot_chance
from dpselect.utility.law_plot import plot_law
from dpselect.utility.ledger_plot import plot_ledger
from dpselect.utility.summary_plot import plot_summary

__all__ = ["plot_accuracy", "plot_chance", "plot_law", "plot_ledger", "plot_plan", "plot_summary"]
