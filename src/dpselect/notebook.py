r"""What a notebook shows of a value: a card that takes its colours from the page, light or dark.

All text goes through ``shown_text``: markup is shown, not obeyed, and what would act on a screen is written
by its number. Where a notebook leaves out the style (untrusted ones do), plain tables remain.

>>> shown_text("<img src=x> and \u202e")
'&lt;img src=x&gt; and \\u202e'
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from dpselect.errors import visible

ACCENT = "#2f7dc0"
"""A blue that is told from white and from near-black alike: 4.2 to 1 and 4.4 to 1."""

STYLE = (
    "<style>"
    ".dpselect{color:inherit;max-width:48rem;overflow-x:auto;margin:.4em 0;padding:.1em 0 .1em .8em;"
    f"border-left:.25em solid {ACCENT};line-height:1.45}}"
    ".dpselect table{color:inherit;background:none;border:0;border-collapse:collapse;table-layout:auto;"
    "width:auto;margin:.2em 0;font-size:inherit}"
    ".dpselect p{color:inherit;text-align:left;margin:.4em 0 .2em;padding:0}"
    ".dpselect tr,.dpselect tbody tr:nth-child(n){background:none;border:0}"
    ".dpselect th,.dpselect td{color:inherit;background:none;border:0;border-bottom:1px solid #8884;"
    "padding:.25em 1em .25em 0;text-align:left;vertical-align:top;font-size:inherit;max-width:none;"
    "white-space:normal;overflow-wrap:anywhere}"
    ".dpselect th{font-weight:600;overflow-wrap:normal}"
    ".dpselect .numbers td{min-width:2em}.dpselect .numbers td:first-child{min-width:8em}"
    ".dpselect .numbers th+th,.dpselect .numbers td+td{text-align:right;font-variant-numeric:tabular-nums}"
    ".dpselect .numbers td+td{white-space:nowrap}"
    ".dpselect .winners{font-size:1.4em;font-weight:700;margin:.1em 0;padding:0;overflow-wrap:anywhere}"
    ".dpselect ol.winners{padding-left:1.6em}"
    f".dpselect .bar{{height:.7em;max-width:24rem;border:1px solid {ACCENT};margin:.4em 0}}"
    f".dpselect .bar div{{height:100%;background:{ACCENT}}}"
    "</style>"
)


def shown_text(text: str) -> str:
    """Write text for a page: as it is read, whatever it holds."""
    return escape(visible(text))


def card(*parts: str) -> str:
    """Put parts of a page, which are HTML, into a card."""
    return f'<div class="dpselect">{STYLE}{"".join(parts)}</div>'


def facts_table(facts: Iterable[tuple[str, str]]) -> str:
    """Write names and facts in two columns."""
    rows = (f"<tr><th>{shown_text(name)}</th><td>{shown_text(fact)}</td></tr>" for name, fact in facts)
    return f"<table>{''.join(rows)}</table>"


def numbers_table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], *, title: str = "", rest: str = ""
) -> str:
    """Write a table whose columns beside the first are numbers, with a title above and a line below."""

    def row(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{shown_text(cell)}</{tag}>" for cell in cells) + "</tr>"

    above = f"<p>{shown_text(title)}</p>" if title else ""
    body = "".join(row(cells, "td") for cells in rows)
    below = f"<p>{shown_text(rest)}</p>" if rest else ""
    return f'{above}<table class="numbers">{row(headings, "th")}{body}</table>{below}'


def winners_list(labels: Sequence[str], *, most: int = 20) -> str:
    """Write the winners large, the best first."""
    if len(labels) == 1:
        return f'<div class="winners">{shown_text(labels[0])}</div>'
    items = "".join(f"<li>{shown_text(label)}</li>" for label in labels[:most])
    rest = f"<p>... and {len(labels) - most} more</p>" if len(labels) > most else ""
    return f'<ol class="winners">{items}</ol>{rest}'


def share_bar(share: float, meaning: str) -> str:
    """Draw how much of a whole is used; ``meaning`` says it to those who do not see it."""
    width = f"{100 * min(max(share, 0.0), 1.0):.1f}%"
    label = shown_text(meaning)
    return f'<div class="bar" role="img" aria-label="{label}"><div style="width:{width}"></div></div>'
