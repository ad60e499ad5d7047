"""Plots: what epsilon buys, the law of a selection on PUBLIC scores, the charges of a ledger.

Each function gives a figure of matplotlib (extra ``[plot]``, loaded when first needed); save it with
``figure.savefig("name.svg")`` or ``"name.png"``. The colours are Okabe and Ito's, made for colour-blind
readers; lines and bars differ in style too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, cast

from dpselect.errors import InvalidParameter, MissingExtra
from dpselect.exact.numbers import Number, positive
from dpselect.exact.rounding import exact_text, rounded_up, to_float_up
from dpselect.privacy.losses import ZCDP, PureDP
from dpselect.privacy.neighbours import Neighbours
from dpselect.utility.accuracy import PlannableProblem, accuracy, expected_error
from dpselect.utility.promise import Accuracy
from dpselect.utility.selection_law import SelectionLaw, named
from dpselect.utility.side_by_side import SideBySide
from dpselect.utility.worst_case import Mechanism

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, PURPLE, GREY = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#595959"
PALE = "#C9DDEA"
HATCHES = ("", "//", "..", "xx")
COLOURS = (BLUE, ORANGE, GREEN, PURPLE)
EPSILONS = ("1/10", "1/5", "1/2", "1", "2")
MOST_BARS = 12
"""A plot has at most 12 bars."""

MOST_MARKS = 6
"""A curve has at most about 6 marks with a figure beside them."""

SMALLEST_SHOWN = 1e-9
"""A smaller probability is written "<1e-09"."""

LONGEST_LABEL = 24
"""A label is cut after 24 characters."""


class PlottedCharge(Protocol):
    """What a plot needs of an entry of a ledger."""

    @property
    def number(self) -> int:
        """Its place, from 1."""

    @property
    def total(self) -> Any:
        """What is spent with it."""

    @property
    def reason(self) -> str:
        """What it was for."""


def plot_accuracy(  # noqa: PLR0913 - each is part of the question
    problem: PlannableProblem,
    *,
    epsilons: Sequence[Number] = EPSILONS,
    k: int = 1,
    confidence: Number = "0.99",
    neighbours: Neighbours = "add_remove",
    score_unit: str = "units of the score",
) -> Figure:
    """Plot how far from the best the winners may be, against epsilon. No data is needed."""
    budgets = sorted({positive(epsilon, "epsilons") for epsilon in epsilons})
    if len(budgets) < 2:
        raise InvalidParameter("epsilons must be two or more different numbers.")

    def promised(mechanism: Mechanism) -> list[Accuracy]:
        return [
            accuracy(
                problem, epsilon=e, k=k, confidence=confidence, neighbours=neighbours, mechanism=mechanism
            )
            for e in budgets
        ]

    axes = _axes(7, 4.6)
    from matplotlib.ticker import LogLocator, NullLocator  # noqa: PLC0415 - only who plots needs it

    x = [float(e) for e in budgets]
    marked = _apart(x)
    lecture, gumbel, exponential = promised("lecture"), promised("gumbel"), promised("exponential")
    if not exponential[0].within:
        raise InvalidParameter("problem must leave a choice; here every winner is as good as the best.")
    sure = f"{exponential[0].sureness} sure"
    for figures, style, colour, width, name in (
        (gumbel, "o-", ORANGE, 3, f"Gumbel noise, {sure}"),
        (lecture, ":", "black", 1.2, f"the bound of Smith's lecture, {sure}"),
        (exponential, "s-", BLUE, 2, f"exponential noise, {sure}"),
    ):
        y = [to_float_up(each.within) for each in figures]
        axes.plot(x, y, style, color=colour, label=name, markersize=5, linewidth=width, markevery=marked)
    for i in marked:
        text, far = rounded_up(exponential[i].within, 2), to_float_up(exponential[i].within)
        axes.annotate(
            text, (x[i], far), (-4, -6), textcoords="offset points", ha="right", va="top", color=BLUE
        )
    if k == 1:
        mean = [
            to_float_up(expected_error(problem, epsilon=e, neighbours=neighbours, mechanism="exponential"))
            for e in budgets
        ]
        axes.plot(x, mean, "-.", color=GREEN, label="exponential noise, on average", linewidth=2)
    axes.set(xscale="log", yscale="log", xlabel="epsilon (pure differential privacy)")
    axes.set_xticks([x[i] for i in marked], [exact_text(budgets[i]) for i in marked])
    axes.set_xticks([], minor=True)
    axes.margins(x=0.12)
    mark = "the best score" if k == 1 else f"the score of rank {k}"
    axes.set_ylabel(f"at most so far below {mark}\n({score_unit})")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter("{x:g}")
    axes.grid(visible=True, color="#DDDDDD", linewidth=0.6)
    winners = "1 winner" if k == 1 else f"{k} winners"
    candidates = f"{len(problem.outputs)} candidates"
    _titled(
        axes,
        "What epsilon buys",
        f"{candidates}, {winners}, {neighbours}; holds for all data; lower is better",
    )
    return _finished(axes, columns=2)


def plot_law(law: SelectionLaw | SideBySide, *, most: int = MOST_BARS, score_unit: str = "points") -> Figure:
    """Plot the probabilities of the likeliest outputs as bars. The scores are public, so these are too."""
    laws = law.laws if isinstance(law, SideBySide) else (law,)
    first, *_ = laws
    shown = [output for output, _, _ in first.likeliest(most)]
    thickness = 0.8 / len(laws)
    axes = _axes(7, 1.6 + len(shown) * (0.32 if len(laws) == 1 else 0.16 * len(laws)))
    for place, each in enumerate(laws):
        heights = [each.probability(output) for output in shown]
        rows = [row + (place - (len(laws) - 1) / 2) * thickness for row in range(len(shown))]
        bars = axes.barh(
            rows,
            heights,
            thickness,
            color=COLOURS[place % len(COLOURS)],
            hatch=HATCHES[place % len(HATCHES)],
            edgecolor="white",
            linewidth=0.5,
            label=f"{each.mechanism} ({each.expected_error:.3g} {score_unit})",
        )
        axes.bar_label(bars, [_chance(p) for p in heights], padding=3, fontsize=8, color=GREY)
    axes.set_yticks(range(len(shown)), [_cut(named(output)) for output in shown])
    axes.invert_yaxis()
    axes.set(xlabel="probability of being chosen", xlim=(0, None))
    axes.margins(x=0.12)
    hidden = len(first.outputs) - len(shown)
    rest = f"; {hidden} more not shown" if hidden else ""
    if isinstance(law, SideBySide):
        about = f"epsilon {exact_text(law.epsilon)} (pure differential privacy)"
    else:
        about = f"{law.title}; {law.expected_error:.3g} {score_unit} behind the best on average"
    _titled(axes, "Who is chosen", f"{about}\nexact law on public scores{rest}")
    return _finished(axes, columns=2 if len(laws) > 1 else 0, title="in brackets: behind the best on average")


def plot_ledger(entries: Iterable[PlottedCharge], budget: PureDP | ZCDP) -> Figure:
    """Plot what a ledger has spent, charge by charge, and what is left of the budget."""
    if not isinstance(budget, PureDP | ZCDP):
        raise InvalidParameter.must_be("budget", "PureDP(...) or ZCDP(...)", got=budget)
    limit = to_float_up(budget.amount)
    charges = list(entries)
    totals = [to_float_up(charge.total.amount) for charge in charges]
    axes = _axes(7, 4.2)
    numbers = [charge.number for charge in charges]
    if len(charges) > MOST_BARS:
        axes.fill_between(numbers, totals, step="post", color=PALE, label="spent")
        axes.step(numbers, totals, where="post", color=BLUE, linewidth=1.5)
    else:
        before = [0.0, *totals][: len(totals)]
        own = [now - then for now, then in zip(totals, before, strict=True)]
        axes.bar(numbers, before, 0.8, color=PALE, label="spent before")
        axes.bar(numbers, own, 0.8, bottom=before, color=BLUE, label="this charge")
        reasons = [_cut(f"{charge.number} {charge.reason}") for charge in charges]
        axes.set_xticks(numbers, reasons, rotation=30, ha="right")
    axes.axhline(limit, color=ORANGE, linestyle="--", linewidth=2, label=f"budget, {budget}")
    axes.set(
        xlabel="charges, in their order",
        ylabel=f"{budget.symbol} spent (they add up)",
        ylim=(0, limit * 1.15),
    )
    spent = charges[-1].total if charges else budget.zero()
    left = type(budget)(Fraction(budget.amount) - Fraction(spent.amount))
    _titled(axes, "What is left", f"{left.left()} of {budget}, after {len(charges)} charges")
    return _finished(axes, columns=3)


def _apart(x: list[float]) -> list[int]:
    """Choose the marked points of a logarithmic axis, with room for a figure between them."""
    step, chosen = (x[-1] / x[0]) ** (1 / MOST_MARKS), [0]
    for i, place in enumerate(x):
        if place >= 0.999 * x[chosen[-1]] * step:
            chosen.append(i)
    return chosen


def _axes(width: float, height: float) -> Axes:
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - only who plots needs it
    except ImportError:
        raise MissingExtra(
            "plots need the package matplotlib; there is none. pip install 'dpselect[plot]'."
        ) from None
    axes = Figure(figsize=(width, height), dpi=150, layout="constrained").add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)
    return axes


def _finished(axes: Axes, *, columns: int, title: str | None = None) -> Figure:
    """Put the legend below the axes."""
    figure = cast("Figure", axes.figure)
    if columns:
        look = {"frameon": False, "fontsize": 9, "title_fontsize": 9}
        figure.legend(loc="outside lower center", ncols=columns, title=title, **look)
    return figure


def _titled(axes: Axes, title: str, subtitle: str) -> None:
    lines = "\n" * (1 + subtitle.count("\n"))
    axes.set_title(f"{title}{lines}", loc="left", fontweight="bold")
    axes.text(0, 1.02, subtitle, transform=axes.transAxes, fontsize=9, color=GREY)


def _chance(p: float) -> str:
    return f"{p:.3g}" if p >= SMALLEST_SHOWN or p == 0 else f"<{SMALLEST_SHOWN:g}"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"
