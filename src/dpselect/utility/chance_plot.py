"""The chance that the best one wins, drawn against its lead."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from dpselect.exact.numbers import Number
from dpselect.exact.rounding import figure, readable_number, to_float_down, to_float_up
from dpselect.privacy.neighbours import Neighbours
from dpselect.utility.drawing import BLUE, GREY, ORANGE, PALE, blank, drawn, finished, gridded, titled
from dpselect.utility.noise_plan import PlannableProblem
from dpselect.utility.planned_question import PlannedQuestion, the_price

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dpselect.utility.picture import Picture

POINTS_OF_A_CURVE = 60
"""Leads for which the chance is computed, with straight lines between."""
HALF, DOUBLE = Fraction(1, 2), Fraction(2)


def plot_chance(  # noqa: PLR0913 - each is part of the question
    problem: PlannableProblem,
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    k: int = 1,
    confidence: Number = "0.99",
    neighbours: Neighbours = "add_remove",
    score_unit: str | None = None,
) -> Picture:
    """Plot the chance that the best one wins against its lead, in the worst case. No data is needed.

    The band reaches from half the price to the double. The mark is the lead that is enough for the
    confidence. The noise is the one that a release would take; with Laplace noise the curve is a bound.
    """
    symbol, price = the_price(epsilon, rho)
    question = PlannedQuestion(problem, symbol, k, confidence, neighbours, score_unit)
    question.must_leave_a_choice(price)
    (axes,) = blank(7, 4.4)
    draw_chance(axes, question, price)
    return finished(axes, columns=3)


def draw_chance(axes: Axes, question: PlannedQuestion, price: Fraction) -> None:
    """Draw the curve, its band and its mark."""
    found, k = question.must_leave_a_choice(price), question.k
    last = question.accuracy(price * HALF).within
    leads = [last * step / POINTS_OF_A_CURVE for step in range(POINTS_OF_A_CURVE + 1)]
    x = [to_float_up(lead) for lead in leads]
    low, middle, high = (
        [100 * to_float_down(question.chance(price * factor, lead)) for lead in leads]
        for factor in (HALF, Fraction(1), DOUBLE)
    )
    axes.fill_between(x, low, high, color=PALE, label="from half the price to the double")
    name = f"{question.symbol} {readable_number(price)}"
    axes.plot(x, middle, color=BLUE, linewidth=2.5, label=name)
    lead = math.ceil(found.within / found.unit) * found.unit
    mark = (to_float_up(lead), 100 * to_float_down(found.confidence))
    axes.plot([mark[0]], [mark[1]], "o", color=ORANGE, markersize=8, label=f"{found.sureness} sure")
    enough = drawn(f"a lead of {lead if lead.denominator == 1 else figure(lead)} is enough")
    axes.annotate(enough, mark, (6, -16), textcoords="offset points", color=GREY)
    gridded(axes)
    axes.set(
        xlim=(0, x[-1]),
        ylim=(0, 104),
        xlabel=drawn(f"lead over the {'next one' if k == 1 else 'rest'} ({question.unit_of(found)})"),
        ylabel="chance that the best one wins" if k == 1 else f"chance that the {k} best win",
    )
    axes.yaxis.set_major_formatter("{x:.0f} %")
    title = "Does the best one win?" if k == 1 else "Do the best ones win?"
    case = "a bound for all data" if found.mechanism == "laplace" else "the exact worst case"
    titled(axes, title, f"{question.summary}; {case}")
