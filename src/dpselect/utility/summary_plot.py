"""A box plot of five quantiles that were released: public, as a release is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpselect.errors import InvalidParameter
from dpselect.exact.rounding import rounded_up, short_decimal
from dpselect.utility.drawing import BLUE, GREY, PALE, blank, drawn, finished, titled

if TYPE_CHECKING:
    from dpselect.utility.picture import Picture

FIVE = 5
"""Quantiles of a box: its two ends, its two sides, and the line in it."""


def plot_summary(release: Any, *, unit: str = "") -> Picture:
    """Plot five quantiles as a box: the middle half of people, the median in it, and nine tenths of them.

    ``release`` is what ``summary`` gives, or ``select`` of five ``quantiles``.
    """
    accuracy, labels = getattr(release, "accuracy", None), getattr(release, "labels", ())
    if accuracy is None or len(getattr(accuracy, "at", ())) != FIVE or len(labels) != FIVE:
        raise InvalidParameter("release must have five quantiles, as summary(...) gives them.")
    low, start, middle, stop, high = map(float, labels)
    (axes,) = blank(7, 2.2)
    axes.hlines([0, 0], [low, stop], [start, high], color=GREY, linewidth=1.5)
    axes.vlines([low, high], -0.12, 0.12, color=GREY, linewidth=1.5)
    axes.barh([0], [stop - start], 0.5, left=[start], color=PALE, edgecolor=BLUE, linewidth=1.5)
    axes.vlines([middle], -0.25, 0.25, color=BLUE, linewidth=3)
    for label, x in zip(labels, (low, start, middle, stop, high), strict=True):
        axes.text(x, 0.34, drawn(str(label)), ha="center", fontsize=8, color=GREY)
    axes.set(yticks=[], ylim=(-0.5, 0.6), xlabel=drawn(unit))
    axes.spines["left"].set_visible(False)
    within = rounded_up(accuracy.within, 2)
    shares = ", ".join(f"{short_decimal(100 * at)} %" for at in accuracy.at)
    titled(
        axes, f"quantiles: {shares}", f"ranks within {within} people, with probability {accuracy.sureness}"
    )
    return finished(axes, columns=0)
