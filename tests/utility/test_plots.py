"""Plots: every figure is drawn for real, says what it shows, and can be saved as SVG and PNG."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from xml.parsers import expat

import numpy as np
import pytest
from matplotlib.figure import Figure

from dpselect import Ledger, lead_needed, quantile
from dpselect.errors import InvalidParameter, visible
from dpselect.ledger.budget import Currency
from dpselect.privacy import ZCDP, ApproxDP, ApproxZCDP, PureDP
from dpselect.utility import exponential_law, side_by_side, top_k_law
from dpselect.utility.plots import plot_accuracy, plot_chance, plot_law, plot_ledger, plot_plan
from tests.utility.lecture_problems import approval_voting, pricing

SCORES = [148, 147, 146, 100, *range(30)]


@dataclass(frozen=True)
class Entry:
    """As much of a ledger's entry as a plot looks at."""

    number: int
    loss: Currency
    total: Currency
    reason: str


def charges(count: int) -> list[Entry]:
    loss = PureDP("1/50")
    return [
        Entry(i, loss, loss * i, f"question {i}, which is a rather long one") for i in range(1, count + 1)
    ]


def words(figure: Figure, folder: Path) -> str:
    """Save the figure; give the text of the drawing."""
    figure.savefig(folder / "figure.svg")
    drawing = (folder / "figure.svg").read_text(encoding="utf-8")
    assert drawing.startswith("<?xml")
    return drawing


def must_be_well_formed(drawing: str) -> None:
    assert "<svg" in drawing
    expat.ParserCreate().Parse(drawing, True)  # noqa: FBT003 - expat's own signature


def test_accuracy_against_epsilon_names_its_guarantee(tmp_path: Path) -> None:
    figure = plot_accuracy(approval_voting(100), neighbours="change_one", score_unit="votes")
    said = words(figure, tmp_path)
    for claim in (
        "34.01",
        "100 candidates, 1 winner, change_one",
        "(votes)",
        "0.99 sure",
        "on average",
        "epsilon",
    ):
        assert claim in said
    (axes,) = figure.axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("linear", "linear")
    curves = {str(line.get_label()): np.asarray(line.get_data()) for line in axes.lines}
    (x, sure), (_, mean) = curves["exponential noise, 0.99 sure"], curves["exponential noise, on average"]
    place = list(x).index(0.5)
    assert abs(sure[place] - 34.002) < 0.001
    assert (mean < sure).all()
    figure.savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


def grey(figure: Figure) -> list[float]:
    """Give where the prices begin that a ledger could not pay."""
    (axes,) = figure.axes
    shades = [each for each in axes.patches if each.get_label() == "more than is left"]
    return [float(each.get_x()) for each in shades]  # type: ignore[attr-defined] # rectangles


@pytest.mark.parametrize(("budget", "left"), [(PureDP("5/4"), 1.25), (ZCDP("1/2"), None)])
def test_prices_that_a_ledger_cannot_pay_are_grey(
    budget: PureDP | ZCDP, left: float | None, tmp_path: Path
) -> None:
    """The grey begins where the ledger itself says no, in whichever currency it counts."""
    with Ledger.create(tmp_path / "town.ledger", budget=budget) as ledger:
        (begins,) = grey(plot_accuracy(approval_voting(9), ledger=ledger))
        assert ledger.affords(PureDP(Fraction(begins)))
        assert not ledger.affords(PureDP(Fraction(begins) + Fraction(1, 10_000)))
        if left is not None:
            assert abs(begins - left) < 1e-4
    with Ledger.create(tmp_path / "rich.ledger", budget=PureDP(9)) as ledger:
        assert grey(plot_accuracy(approval_voting(9), ledger=ledger)) == []
    assert grey(plot_accuracy(approval_voting(9))) == []


def test_of_a_quantile_the_axis_speaks_of_ranks(tmp_path: Path) -> None:
    median = quantile(value="pay", at="1/2", candidates=list(range(50)))
    for figure in (plot_accuracy(median), plot_plan(median, epsilon=1)):
        said = words(figure, tmp_path)
        assert "at most how far from the median's (people)" in said
        assert "best score" not in said


def curve(figure: Figure, name: str) -> tuple[list[float], list[float]]:
    (line,) = [each for axes in figure.axes for each in axes.lines if each.get_label() == name]
    x, y = np.asarray(line.get_data())
    return list(x), list(y)


def test_the_chance_against_the_lead_is_the_exact_worst_case(tmp_path: Path) -> None:
    """One winner: (1 - (1 - p)**n) / (n p) with p = exp(-lead), McKenna & Sheldon 2020."""
    figure = plot_chance(approval_voting(10), epsilon=1)
    leads, chances = curve(figure, "epsilon 1")
    for lead, chance in zip(leads, chances, strict=True):
        p = math.exp(-lead)
        assert math.isclose(chance, 100 * (1 - (1 - p) ** 10) / (10 * p), rel_tol=1e-9)
    assert math.isclose(chances[0], 10)
    assert chances == sorted(chances)
    said = words(figure, tmp_path)
    for claim in (
        "a lead of 7 is enough",
        "chance that the best one wins",
        "from half the price to the double",
    ):
        assert claim in said
    assert lead_needed(approval_voting(10), epsilon=1) == 7
    (band,) = figure.axes[0].collections
    ends = band.get_paths()[0].vertices
    assert np.asarray(ends)[:, 1].max() <= 100


def test_a_plan_has_both_pictures_in_either_currency(tmp_path: Path) -> None:
    for figure, name in (
        (plot_plan(approval_voting(20), epsilon="1/2", k=3), "epsilon"),
        (plot_plan(approval_voting(20), rho="1/8"), "rho"),
    ):
        assert len(figure.axes) == 2
        assert f"What {name} buys" in words(figure, tmp_path)
    for one in (None, 1):
        with pytest.raises(InvalidParameter, match="exactly one of epsilon and rho must be given"):
            plot_plan(approval_voting(20), epsilon=one, rho=one)
    for plot in (plot_plan, plot_chance):
        with pytest.raises(InvalidParameter, match="problem must leave a choice"):
            plot(approval_voting(3), epsilon=1, k=3)


def test_a_picture_shows_itself_in_a_notebook_and_opens_no_window() -> None:
    figure = plot_chance(approval_voting(10), epsilon=1)
    assert figure._repr_png_().startswith(b"\x89PNG")
    must_be_well_formed(figure._repr_svg_())
    assert "matplotlib.pyplot" not in sys.modules


@pytest.mark.parametrize("label", ["$\\frac$", "$5 or $6", "\x00\x1b[31m\u202e", "<b>&amp;", "--> -- ]]>"])
def test_labels_are_drawn_as_they_are_read(label: str) -> None:
    law = exponential_law([2, 1], scale=1, outputs=[label, "tea"])
    figure = plot_law(law, score_unit=label)
    must_be_well_formed(figure._repr_svg_())
    (axes,) = figure.axes
    drawn = axes.get_yticklabels()[0]
    assert drawn.get_text().replace(r"\$", "$") == visible(label)
    entry = Entry(1, PureDP(1), PureDP(1), label)
    must_be_well_formed(plot_ledger([entry], PureDP(2))._repr_svg_())


def test_accuracy_of_several_winners_has_no_mean(tmp_path: Path) -> None:
    figure = plot_accuracy(pricing(), k=3, epsilons=[2, "1/2", 0.5, 1], confidence="0.9")
    said = words(figure, tmp_path)
    assert "3 winners" in said
    assert "the score of rank 3" in said
    assert "on average" not in said
    with pytest.raises(InvalidParameter, match="epsilons must be two or more different numbers"):
        plot_accuracy(pricing(), epsilons=["1/2", 0.5])
    with pytest.raises(InvalidParameter, match="problem must leave a choice"):
        plot_accuracy(approval_voting(3), k=3)


def test_a_law_is_drawn_as_bars_of_its_probabilities(tmp_path: Path) -> None:
    law = exponential_law(SCORES, scale=2, outputs=[f"candidate number {i} of the list" for i in range(34)])
    figure = plot_law(law, most=5, score_unit="votes")
    (axes,) = figure.axes
    assert [bar.get_width() for bar in axes.patches] == sorted(law.probabilities, reverse=True)[:5]  # type: ignore[attr-defined] # bars
    said = words(figure, tmp_path)
    for claim in (
        "exponential noise, scale 2",
        "votes behind the best on average",
        "public scores; 29 more not shown",
    ):
        assert claim in said
    assert "1  candidate n… of the list" in said
    assert "5  candidate n… of the list" in said


def test_laws_side_by_side_share_a_picture(tmp_path: Path) -> None:
    figure = plot_law(side_by_side(SCORES, epsilon="1/2"), most=4)
    (axes,) = figure.axes
    assert len(axes.patches) == 16
    said = words(figure, tmp_path)
    for claim in ("epsilon 0.5", "Gumbel noise", "Laplace noise", "all scores released", "1e-09"):
        assert claim in said
    assert len({bar.get_hatch() for bar in axes.patches}) == 4


def test_several_winners_can_be_drawn(tmp_path: Path) -> None:
    law = top_k_law([3, 2, 0], noise="gumbel", scale=1, k=2, outputs=["tea", "coffee", "cocoa"])
    assert "tea, coffee" in words(plot_law(law), tmp_path)


@pytest.mark.parametrize("count", [0, 1, 12, 13, 50])
def test_a_ledger_over_time_says_what_is_left(count: int, tmp_path: Path) -> None:
    said = words(plot_ledger(charges(count), PureDP(1)), tmp_path)
    left = PureDP(1 - PureDP("1/50").parts()[0] * count)
    assert f"{left} is left" in said
    assert f"of epsilon 1, after {count} charge" in said
    assert "after 1 charges" not in said
    assert ("1  question 1" in said) == (1 <= count <= 12)


def test_charges_with_the_same_beginning_are_told_apart() -> None:
    names = [f"approval_voting of {'the same long beginning ' * 3}{end}" for end in "ab"]
    reasons = [f"{name}, 1 of 9, epsilon 1, add_remove, question {'0' * 64}" for name in names]
    entries = [Entry(i, PureDP(1), PureDP(i), reason) for i, reason in enumerate(reasons, start=1)]
    (axes,) = plot_ledger(entries, PureDP(2)).axes
    first, second = (label.get_text() for label in axes.get_yticklabels())
    assert first[1:] != second[1:]
    assert "epsilon" not in first


def test_a_plot_of_a_ledger_says_what_each_charge_cost(tmp_path: Path) -> None:
    third, quarter = PureDP("1/3"), PureDP("1/4")
    entries = [Entry(1, third, third, "dish"), Entry(2, quarter, third + quarter, "song")]
    said = words(plot_ledger(entries, PureDP("4/3")), tmp_path)
    for claim in ("0.3334", "0.25", "epsilon 0.75 is left", "of epsilon 1.334 (rounded up), after 2 charges"):
        assert claim in said


def test_long_prices_are_rounded_once_for_the_axis(tmp_path: Path) -> None:
    said = words(plot_accuracy(approval_voting(9), epsilons=["1/3", "2/3", 1]), tmp_path)
    assert "epsilon (pure differential privacy), rounded up" in said
    assert "0.3334" in said
    assert "0.3334 (" not in said


def test_a_ledger_of_rho_is_labelled_so(tmp_path: Path) -> None:
    entry = Entry(1, ZCDP("1/8"), ZCDP("1/8"), "median")
    assert "rho spent" in words(plot_ledger(iter([entry]), ZCDP("1/2")), tmp_path)
    with pytest.raises(InvalidParameter, match=r"budget must be a loss, PureDP or ZCDP or .*; got 1"):
        plot_ledger([], 1)  # type: ignore[arg-type] # that is the point


@pytest.mark.parametrize("delta", ["1e-6", 0])
@pytest.mark.parametrize("count", [0, 3, 20])
def test_both_parts_of_a_budget_with_a_delta_are_drawn(count: int, delta: str | int, tmp_path: Path) -> None:
    price = ApproxDP("1/50", "1e-8" if delta else 0)
    entries = [Entry(i, price, price * i, f"question {i}") for i in range(1, count + 1)]
    budget = ApproxDP(1, delta)
    picture = plot_ledger(entries, budget)
    first, second = picture.axes
    said = words(picture, tmp_path)
    left = ApproxDP(*(a - b * count for a, b in zip(budget.parts(), price.parts(), strict=True)))
    assert f"{left.left()} is left" in said
    assert f"of {budget}, after {count} charges" in said
    assert said.count(f"budget, {budget}") == 1
    seen = first.get_xlabel() + first.get_ylabel(), second.get_xlabel() + second.get_ylabel()
    assert ("epsilon spent" in seen[0], "delta spent" in seen[1]) == (True, True)


def test_a_plot_of_a_ledger_leaves_out_what_costs_nothing_and_bears_a_lowered_budget(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "a.ledger", budget=ApproxZCDP(2, "1e-6")) as ledger:
        ledger.open_account("ada", share=ApproxZCDP(1, "1e-6"))
        ledger.charge(ZCDP(1), reason="dish", account="ada")
        ledger.change_budget(ApproxZCDP("1/2", "1e-7"), reason="less")
        said = words(plot_ledger(ledger.entries(), ledger.budget), tmp_path)
    assert "rho 0 with delta 1e-7 is left" in said
    assert "after 1 charge" in said
    assert "an account is opened" not in said


WITHOUT_MATPLOTLIB = """
import sys
sys.modules["matplotlib"] = None
from dpselect.errors import MissingExtra
from dpselect.utility import gumbel_law
from dpselect.utility.plots import plot_law
try:
    plot_law(gumbel_law([1, 0], scale=1))
except MissingExtra as missing:
    print(missing)
"""


def test_without_matplotlib_the_way_out_is_said() -> None:
    said = subprocess.run(
        [sys.executable, "-c", WITHOUT_MATPLOTLIB], check=True, capture_output=True, text=True
    ).stdout
    assert said == "plots need the package matplotlib; there is none. pip install 'dpselect[plot]'.\n"


def test_utility_loads_no_matplotlib_before_a_plot_is_asked_for() -> None:
    code = "import sys, dpselect.utility.plots; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
