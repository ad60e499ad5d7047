"""Plots: every figure is drawn for real, says what it shows, and can be saved as SVG and PNG."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from dpselect.errors import InvalidParameter
from dpselect.privacy import ZCDP, PureDP
from dpselect.utility import exponential_law, side_by_side, top_k_law
from dpselect.utility.plots import plot_accuracy, plot_law, plot_ledger
from tests.utility.lecture_problems import approval_voting, pricing

SCORES = [148, 147, 146, 100, *range(30)]


@dataclass(frozen=True)
class Entry:
    """As much of a ledger's entry as a plot looks at."""

    number: int
    loss: PureDP | ZCDP
    total: PureDP | ZCDP
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
    curves = {str(line.get_label()): np.asarray(line.get_ydata()) for line in axes.lines}
    assert len(curves) == 4
    assert abs(curves["exponential noise, 0.99 sure"][2] - 34.002) < 0.001
    assert curves["exponential noise, on average"][2] < curves["exponential noise, 0.99 sure"][2]
    figure.savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


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
    assert "candidate number 0 of t…" in said


def test_laws_side_by_side_share_a_picture(tmp_path: Path) -> None:
    figure = plot_law(side_by_side(SCORES, epsilon="1/2"), most=4)
    (axes,) = figure.axes
    assert len(axes.patches) == 16
    said = words(figure, tmp_path)
    for claim in ("epsilon 1/2", "Gumbel noise", "Laplace noise", "all scores released", "1e-09"):
        assert claim in said
    assert len({bar.get_hatch() for bar in axes.patches}) == 4


def test_several_winners_can_be_drawn(tmp_path: Path) -> None:
    law = top_k_law([3, 2, 0], noise="gumbel", scale=1, k=2, outputs=["tea", "coffee", "cocoa"])
    assert "tea, coffee" in words(plot_law(law), tmp_path)


@pytest.mark.parametrize("count", [0, 1, 12, 13, 50])
def test_a_ledger_over_time_says_what_is_left(count: int, tmp_path: Path) -> None:
    said = words(plot_ledger(charges(count), PureDP(1)), tmp_path)
    left = PureDP(1 - PureDP("1/50").parts()[0] * count)
    assert f"{left} of epsilon 1, after {count} charges" in said
    assert ("1 question 1, which is" in said) == (1 <= count <= 12)


def test_a_ledger_of_rho_is_labelled_so(tmp_path: Path) -> None:
    entry = Entry(1, ZCDP("1/8"), ZCDP("1/8"), "median")
    assert "rho spent" in words(plot_ledger(iter([entry]), ZCDP("1/2")), tmp_path)
    with pytest.raises(InvalidParameter, match=r"budget must be PureDP\(\.\.\.\) or ZCDP\(\.\.\.\); got 1"):
        plot_ledger([], 1)  # type: ignore[arg-type] # that is the point


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
