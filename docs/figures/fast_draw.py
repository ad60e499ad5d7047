"""Draw ``fast-draw.svg``, the figure of docs/explanation/how-the-fast-draw-works.md.

Run it from the root of a checkout: ``.venv/bin/python docs/figures/fast_draw.py``. It uses no randomness:
darts and times are digests of their numbers, so that the same picture comes out every time.
"""

import hashlib
import math
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

SCORES = [7, 5, 6, 9, 12, 10, 4, 11, 8, 10, 3, 9]
"""Twelve made-up candidates, in three blocks of four."""
SCALE = 3.0
BLOCK = 4
DARTS = 24
PICTURE = 71
"""Another number, another picture."""
STEPS_PER_DOUBLING = 4
"""The library has 16 steps in each doubling; the picture has 4, so that the room above a block shows."""

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#7A7A7A"

BEST = max(SCORES)
WEIGHTS = [math.exp((score - BEST) / SCALE) for score in SCORES]


class Dart(NamedTuple):
    """One proposal: where it falls, whose it is, and when it comes."""

    x: float
    y: float
    candidate: int
    time: float

    @property
    def accepted(self) -> bool:
        """Whether it falls below the weight of its candidate."""
        return self.y < WEIGHTS[self.candidate]


def heights() -> list[float]:
    """Give the height of the envelope over each candidate: the best weight of its block, rounded up."""
    best = [max(WEIGHTS[first : first + BLOCK]) for first in range(0, len(WEIGHTS), BLOCK)]
    rounded = [2 ** (math.ceil(math.log2(w) * STEPS_PER_DOUBLING) / STEPS_PER_DOUBLING) for w in best]
    return [rounded[i // BLOCK] for i in range(len(WEIGHTS))]


def fraction(purpose: str, i: int) -> float:
    """Give a number between 0 and 1 that looks random, and is always the same."""
    digest = hashlib.sha256(f"{PICTURE} {purpose} {i}".encode()).digest()
    return (int.from_bytes(digest[:4]) + 0.5) / 2**32


def thrown() -> list[Dart]:
    """Throw all darts, uniformly under the envelope, one at each time of a Poisson process."""
    ends = list(accumulate(heights()))
    darts, time = [], 0.0
    for i in range(1, DARTS + 1):
        at = fraction("where", i) * ends[-1]
        candidate = next(place for place, end in enumerate(ends) if at < end)
        height = heights()[candidate]
        inside = 1 - (ends[candidate] - at) / height
        time -= math.log(fraction("when", i)) / ends[-1]
        darts.append(Dart(candidate + inside * 0.8 + 0.1, fraction("height", i) * height, candidate, time))
    return darts


def name(candidate: int) -> str:
    """Give a candidate a letter."""
    return "abcdefghijkl"[candidate]


def draw_darts(axes: Axes, darts: list[Dart]) -> None:
    """Show the weights, the envelope over them, and the darts."""
    for i, (weight, height) in enumerate(zip(WEIGHTS, heights(), strict=True)):
        axes.add_patch(Rectangle((i, 0), 1, height, facecolor="#F1F1F1", edgecolor="none"))
        axes.add_patch(Rectangle((i + 0.06, 0), 0.88, weight, facecolor="#BBD7EA", edgecolor=BLUE, lw=0.8))
    for first in range(0, len(WEIGHTS), BLOCK):
        height = heights()[first]
        axes.plot([first, first, first + BLOCK, first + BLOCK], [0, height, height, 0], color="black", lw=1.4)
        axes.text(first + BLOCK / 2, height + 0.02, f"block {first // BLOCK + 1}", ha="center", va="bottom")
    winner = next(dart for dart in darts if dart.accepted)
    for dart in darts:
        if dart.accepted:
            axes.plot(dart.x, dart.y, "o", color=GREEN, ms=6.5, mec="white", mew=0.6, zorder=3)
        else:
            axes.plot(dart.x, dart.y, "x", color=ORANGE, ms=6, mew=1.5, zorder=3)
    axes.plot(winner.x, winner.y, "o", color="none", mec="black", ms=13, mew=1.5, zorder=4)
    axes.set_xlim(-0.2, len(WEIGHTS) + 0.2)
    axes.set_ylim(0, 1.14)
    axes.set_xticks([i + 0.5 for i in range(len(WEIGHTS))], [name(i) for i in range(len(WEIGHTS))])
    axes.tick_params(axis="x", length=0)
    axes.set_yticks([0, 0.5, 1])
    axes.set_ylabel("weight")
    axes.set_title("1   Throw darts under the envelope, keep those below a weight", loc="left", pad=10)
    axes.legend(
        handles=[
            Line2D([], [], color="black", lw=1.4, label="envelope"),
            Rectangle((0, 0), 1, 1, facecolor="#BBD7EA", edgecolor=BLUE, lw=0.8, label="weight"),
            Line2D([], [], color=ORANGE, marker="x", ls="", mew=1.5, label="thrown away"),
            Line2D([], [], color=GREEN, marker="o", ls="", label="kept"),
            Line2D([], [], color="none", marker="o", mec="black", mew=1.5, ms=10, ls="", label="first kept"),
        ],
        loc="upper center",
        bbox_to_anchor=(0.5, -0.09),
        ncols=5,
        frameon=False,
        handletextpad=0.4,
        columnspacing=1.4,
    )


def draw_times(axes: Axes, darts: list[Dart]) -> None:
    """Show when the darts come, and how high a noisy score the time of a first one means."""
    last, floor = darts[-1].time * 1.04, -1.7
    curve = [last * (i + 1) / 400 for i in range(400)]
    axes.plot(curve, [-math.log(t) for t in curve], color=BLUE, lw=1.5)
    axes.text(0.04 * last, 3.05, "noisy score = \N{MINUS SIGN}ln(time)", color=BLUE, va="top")
    axes.axhline(floor, color=GREY, lw=0.8)
    seen: list[int] = []
    for dart in darts:
        is_first = dart.accepted and dart.candidate not in seen
        if not dart.accepted:
            axes.plot(dart.time, floor, "x", color=ORANGE, ms=6, mew=1.5)
        elif not is_first:
            axes.plot(dart.time, floor, "o", color="white", mec=GREEN, ms=6, zorder=3)
        else:
            seen.append(dart.candidate)
            height = -math.log(dart.time)
            axes.plot([dart.time, dart.time], [floor, height], color=GREY, lw=0.9, ls=":")
            axes.plot([0, dart.time], [height, height], color=GREY, lw=0.9, ls=":")
            axes.plot(
                [dart.time] * 2, [floor, height], "o", color=GREEN, ms=6.5, mec="white", mew=0.6, zorder=3
            )
            axes.text(
                dart.time + 0.008 * last, height + 0.1, name(dart.candidate), weight="bold", va="bottom"
            )
    axes.set_xlim(0, last)
    axes.set_ylim(-2.1, 3.4)
    axes.set_xticks([])
    axes.set_xlabel("time: one dart at each point of a Poisson process")
    axes.set_ylabel("noisy score above the best\nscore, in scales")
    order = ", ".join(map(name, seen))
    axes.set_title(f"2   Candidates arrive in the order of their noisy scores: {order}", loc="left", pad=10)
    axes.legend(
        handles=[
            Line2D([], [], color=ORANGE, marker="x", ls="", mew=1.5, label="thrown away"),
            Line2D([], [], color=GREEN, marker="o", ls="", label="first dart kept: the candidate arrives"),
            Line2D([], [], color="white", marker="o", mec=GREEN, ls="", label="has arrived already"),
        ],
        loc="upper right",
        frameon=False,
    )


def figure() -> Figure:
    """Put both panels below each other."""
    darts = thrown()
    made = Figure(figsize=(8.2, 8.4), layout="constrained")
    upper, lower = made.subplots(2, 1, height_ratios=[1.15, 1])
    for axes in (upper, lower):
        axes.spines[["top", "right"]].set_visible(False)
    draw_darts(upper, darts)
    draw_times(lower, darts)
    return made


if __name__ == "__main__":
    mpl.rcParams.update({"svg.hashsalt": "dpselect", "svg.fonttype": "path", "font.size": 10.5})
    figure().savefig(
        Path(__file__).with_name("fast-draw.svg"), metadata={"Date": None, "Creator": None}, facecolor="white"
    )
