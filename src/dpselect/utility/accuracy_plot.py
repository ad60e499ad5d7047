"""What a budget buys: how far below the best a winner may be, drawn against epsilon on linear axes."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import Number, positive
from dpselect.exact.rounding import figure, number_column, to_float_up
from dpselect.privacy.losses import ZCDP, PureDP
from dpselect.privacy.neighbours import Neighbours
from dpselect.utility.chance_plot import draw_chance
from dpselect.utility.drawing import (
    BLUE,
    GREEN,
    ORANGE,
    PALE_GREY,
    blank,
    drawn,
    finished,
    gridded,
    titled,
)
from dpselect.utility.noise_plan import PlannableProblem
from dpselect.utility.planned_question import PlannedQuestion, the_price
from dpselect.utility.promise import Accuracy
from dpselect.utility.worst_case import Mechanism

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dpselect.utility.picture import Picture

EPSILONS = ("1/4", "1/2", "1", "3/2", "2")
STEPS_OF_A_CURVE = 48
"""Points of a curve, beside the marks."""
MOST_MARKS = 6
"""A curve has at most about 6 marks with a figure beside them."""
LONGEST_TICK = 4
"""Prices of more characters lean, so that they do not run into each other."""
HALVINGS_OF_THE_AXIS = 20
"""What is left of a ledger is found to a millionth of the axis."""
FACTORS_OF_A_PLAN = (Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4))
"""The prices of the small panel: half of the plan's, itself, ..."""


class LimitedBudget(Protocol):
    """What a plot asks of a ledger."""

    def affords(self, loss: object) -> bool:
        """Say whether a charge would be accepted now."""


def plot_accuracy(  # noqa: PLR0913 - each is part of the question
    problem: PlannableProblem,
    *,
    epsilons: Sequence[Number] = EPSILONS,
    k: int = 1,
    confidence: Number = "0.99",
    neighbours: Neighbours = "add_remove",
    score_unit: str | None = None,
    ledger: LimitedBudget | None = None,
) -> Picture:
    """Plot how far from the best the winners may be, against epsilon. No data is needed.

    With a ledger, prices that it could not pay now are grey.
    """
    budgets = sorted({positive(epsilon, "epsilons") for epsilon in epsilons})
    if len(budgets) < 2:
        raise InvalidParameter("epsilons must be two or more different numbers.")
    question = PlannedQuestion(problem, "epsilon", k, confidence, neighbours, score_unit)
    question.must_leave_a_choice(budgets[0])
    (axes,) = blank(7, 4.4)
    _draw_accuracy(axes, question, budgets, ledger)
    found = question.accuracy(budgets[0])
    titled(axes, "What epsilon buys", f"{question.summary}; holds for all data; lower is better")
    axes.set_ylabel(drawn(_promised(question, found)))
    x = _steps(budgets)
    others: list[tuple[Mechanism, str, str]] = [("gumbel", "--", ORANGE), ("lecture", ":", "black")]
    for mechanism, style, colour in others:
        promises = [question.accuracy(price, mechanism) for price in x]
        y = [to_float_up(each.within) for each in promises]
        name = f"{promises[0].source}, {found.sureness} sure"
        axes.plot([to_float_up(price) for price in x], y, style, color=colour, label=name, linewidth=1.4)
    return finished(axes, columns=2)


def plot_plan(  # noqa: PLR0913 - each is part of the question
    problem: PlannableProblem,
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    k: int = 1,
    confidence: Number = "0.99",
    neighbours: Neighbours = "add_remove",
    score_unit: str | None = None,
    ledger: LimitedBudget | None = None,
) -> Picture:
    """Plot both sides of a plan: the chance that the best one wins, and what less or more money would buy.

    The arguments are those of ``plot_chance``; with a ledger, prices that it could not pay now are grey.
    """
    symbol, price = the_price(epsilon, rho)
    question = PlannedQuestion(problem, symbol, k, confidence, neighbours, score_unit)
    found = question.must_leave_a_choice(price)
    wide, small = blank(10, 4.4, panels=(3, 2))
    draw_chance(wide, question, price)
    _draw_accuracy(small, question, [price * factor for factor in FACTORS_OF_A_PLAN], ledger)
    titled(small, f"What {symbol} buys", "lower is better")
    small.set_ylabel(drawn(_promised(question, found)))
    return finished(small, columns=3)


def _draw_accuracy(
    axes: Axes, question: PlannedQuestion, budgets: list[Fraction], ledger: LimitedBudget | None
) -> None:
    """Draw the noise that is paid for, figures at the prices that are named, and what a ledger has left."""
    x = _steps(budgets)
    places = [to_float_up(price) for price in x]
    found = [question.accuracy(price) for price in x]
    y = [to_float_up(each.within) for each in found]
    name = f"{found[0].source}, {found[0].sureness} sure"
    axes.plot(places, y, color=BLUE, linewidth=2.5, label=name)
    if question.k == 1:
        mean = [to_float_up(question.mean(price)) for price in x]
        axes.plot(places, mean, "-.", color=GREEN, label=f"{found[0].source}, on average", linewidth=2)
    marked = _apart(budgets)
    for price in marked:
        within = question.accuracy(price).within
        point = (to_float_up(price), to_float_up(within))
        axes.plot(*point, "s", color=BLUE, markersize=5)
        axes.annotate(figure(within), point, (5, 5), textcoords="offset points", color=BLUE)
    kind = "pure" if question.symbol == "epsilon" else "zero-concentrated"
    name, ticks = number_column(f"{question.symbol} ({kind} differential privacy)", marked)
    leaning: dict[str, Any] = {"rotation": 40, "ha": "right"} if max(map(len, ticks)) > LONGEST_TICK else {}
    axes.set_xticks([to_float_up(price) for price in marked], ticks, **leaning)
    axes.set_xlabel(name)
    gridded(axes)
    axes.set(xlim=(0, 1.15 * places[-1]), ylim=(0, 1.1 * y[0]))
    if ledger is not None:
        _shade(axes, question, ledger, 1.15 * places[-1])


def _shade(axes: Axes, question: PlannedQuestion, ledger: LimitedBudget, end: float) -> None:
    """Make the prices grey that a ledger could not pay now; what is left is rounded down."""
    loss = PureDP if question.symbol == "epsilon" else ZCDP
    paid, unpaid = Fraction(0), Fraction(end)
    if ledger.affords(loss(unpaid)):
        return
    for _ in range(HALVINGS_OF_THE_AXIS):
        between = (paid + unpaid) / 2
        paid, unpaid = (between, unpaid) if ledger.affords(loss(between)) else (paid, between)
    axes.axvspan(float(paid), end, color=PALE_GREY, zorder=0, label="more than is left")


def _promised(question: PlannedQuestion, found: Accuracy) -> str:
    """Say what the figures are: below the best score, or away from a rank."""
    word = question.unit_of(found)
    if found.target is not None:
        return f"rank of the answer:\nat most how far from {found.target}'s ({word})"
    mark = "the best score" if question.k == 1 else f"the score of rank {question.k}"
    return f"at most how far below {mark}\n({word})"


def _steps(budgets: list[Fraction]) -> list[Fraction]:
    """Give the prices that are named, and steps between them."""
    first, last = budgets[0], budgets[-1]
    return sorted(
        {*budgets, *(first + (last - first) * step / STEPS_OF_A_CURVE for step in range(STEPS_OF_A_CURVE))}
    )


def _apart(budgets: list[Fraction]) -> list[Fraction]:
    """Choose the prices with room for a figure between them."""
    step, chosen = (budgets[-1] - budgets[0]) / MOST_MARKS / 2, [budgets[0]]
    for price in budgets[1:]:
        if price >= chosen[-1] + step:
            chosen.append(price)
    return chosen
