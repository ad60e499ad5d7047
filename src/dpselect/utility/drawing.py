"""What all plots share: colours, axes, titles, and labels that are drawn as they are read.

The colours are Okabe and Ito's, made for colour-blind readers; lines and bars differ in style too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from dpselect.errors import MissingExtra, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dpselect.utility.picture import Picture

BLUE, ORANGE, GREEN, PURPLE, GREY = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#595959"
PALE, PALE_GREY = "#C9DDEA", "#DDDDDD"
LONGEST_LABEL = 24
"""A label is cut after 24 characters, unless a plot has room for more."""
DOTS_PER_INCH = 110


def blank(width: float, height: float, *, panels: tuple[float, ...] = (1,)) -> list[Axes]:
    """Give empty axes, side by side in panels of these widths, on a picture; sizes are inches."""
    try:
        from dpselect.utility.picture import Picture  # noqa: PLC0415 - only who plots needs matplotlib
    except ImportError:
        raise MissingExtra(
            "plots need the package matplotlib; there is none. pip install 'dpselect[plot]'."
        ) from None
    picture = Picture(figsize=(width, height), dpi=DOTS_PER_INCH, layout="constrained")
    grid: Any = picture.subplots(1, len(panels), squeeze=False, width_ratios=panels)
    for axes in grid[0]:
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_axisbelow(True)
    return list(grid[0])


def gridded(axes: Axes) -> None:
    """Draw thin lines at the ticks, and begin both axes at zero."""
    axes.grid(visible=True, color=PALE_GREY, linewidth=0.6)
    axes.set(xlim=(0, None), ylim=(0, None))


def finished(axes: Axes, *, columns: int, title: str | None = None) -> Picture:
    """Put the legend below the axes; without columns there is none."""
    picture = cast("Picture", axes.figure)
    if columns:
        look: dict[str, Any] = {"frameon": False, "fontsize": 9, "title_fontsize": 9}
        picture.legend(loc="outside lower center", ncols=columns, title=title, **look)
    return picture


def titled(axes: Axes, title: str, subtitle: str) -> None:
    """Write a title, and a line or two below it in grey."""
    lines = "\n" * (1 + subtitle.count("\n"))
    axes.set_title(f"{title}{lines}", loc="left", fontweight="bold")
    axes.text(0, 1.02, drawn(subtitle), transform=axes.transAxes, fontsize=9, color=GREY)


def drawn(text: str) -> str:
    """Write text as it is: no formula of matplotlib's between dollars, and nothing that breaks an SVG."""
    lines = (visible(line) for line in text.split("\n"))
    return "\n".join(lines).replace("$", r"\$")


def cut(text: str, most: int = LONGEST_LABEL) -> str:
    """Shorten a text in its middle, so that labels with the same beginning are told apart."""
    plain = visible(text)
    if len(plain) <= most:
        return drawn(plain)
    head = (most - 1) // 2
    return drawn(f"{plain[:head]}…{plain[len(plain) - (most - 1 - head) :]}")


def cut_apart(texts: list[str], most: int = LONGEST_LABEL) -> list[str]:
    """Shorten texts; where two look the same then, all are numbered."""
    labels = [cut(text, most) for text in texts]
    if len({*labels}) == len(labels):
        return labels
    return [f"{number}  {label}" for number, label in enumerate(labels, start=1)]
