"""The law of a selection on PUBLIC scores, drawn as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpselect.exact.rounding import readable_number
from dpselect.utility.drawing import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    blank,
    cut_apart,
    drawn,
    finished,
    titled,
)
from dpselect.utility.selection_law import SelectionLaw, named
from dpselect.utility.side_by_side import SideBySide

if TYPE_CHECKING:
    from dpselect.utility.picture import Picture

HATCHES = ("", "//", "..", "xx")
COLOURS = (BLUE, ORANGE, GREEN, PURPLE)
MOST_BARS = 12
"""A plot has at most 12 bars."""
SMALLEST_SHOWN = 1e-9
"""A smaller probability is written "<1e-09"."""


def plot_law(law: SelectionLaw | SideBySide, *, most: int = MOST_BARS, score_unit: str = "points") -> Picture:
    """Plot the probabilities of the likeliest outputs as bars. The scores are public, so these are too."""
    laws = law.laws if isinstance(law, SideBySide) else (law,)
    first, *_ = laws
    shown = [output for output, _, _ in first.likeliest(most)]
    thickness = 0.8 / len(laws)
    (axes,) = blank(7, 1.6 + len(shown) * (0.32 if len(laws) == 1 else 0.16 * len(laws)))
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
            label=drawn(f"{each.mechanism} ({each.expected_error:.3g} {score_unit})"),
        )
        axes.bar_label(bars, [_chance(p) for p in heights], padding=3, fontsize=8, color=GREY)
    axes.set_yticks(range(len(shown)), cut_apart([named(output) for output in shown]))
    axes.invert_yaxis()
    axes.set(xlabel="probability of being chosen", xlim=(0, None))
    axes.margins(x=0.12)
    hidden = len(first.outputs) - len(shown)
    rest = f"; {hidden} more not shown" if hidden else ""
    if isinstance(law, SideBySide):
        about = f"epsilon {readable_number(law.epsilon)}, pure differential privacy"
    else:
        about = f"{law.title}; {law.expected_error:.3g} {score_unit} behind the best on average"
    titled(axes, "Which one is chosen", f"{about}\nexact law on public scores{rest}")
    return finished(axes, columns=2 if len(laws) > 1 else 0, title="in brackets: behind the best on average")


def _chance(p: float) -> str:
    return f"{p:.3g}" if p >= SMALLEST_SHOWN or p == 0 else f"<{SMALLEST_SHOWN:g}"
