"""Every public value that a notebook shows, with labels that would like to do harm."""

from __future__ import annotations

import functools
import tempfile
import warnings
from pathlib import Path
from typing import Any

from dpselect import (
    Ledger,
    PureDP,
    Scores,
    Table,
    accuracy,
    approval_voting,
    check,
    custom,
    prepare,
    select,
    top_k,
)
from dpselect.utility import exponential_law, side_by_side

MARKUP = "<img src=x onerror=\"document.title='run'\"><b>bold</b>&amp;<script>document.title='run'</script>"
SCREEN = "\u202egpj\x1b[31m\u2066\x07"
SHOWN_SCREEN = r"\u202egpj\x1b[31m\u2066\x07"
EVIL = MARKUP + SCREEN
LONG = "Donaudampfschifffahrtsgesellschaft" * 8
LABELS = ["tea", "soup", EVIL, LONG]
DISH = custom(candidates=LABELS, sensitivity=1, monotonic=True)


@functools.cache
def pages() -> dict[str, str]:
    """Give the HTML of each value by its name."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: value._repr_html_() for name, value in _values(Path(folder)).items()}


def _values(folder: Path) -> dict[str, Any]:
    path = folder / "ballots.csv"
    path.write_text('voter,dish\n1,tea\n2,"<b>x</b>"\n3,tea\n', encoding="utf-8")
    table = Table(str(path), unit="voter", dataset="<b>town</b>")
    with Ledger.create(folder / "town.ledger", budget=PureDP(2), dataset="<b>town</b>") as ledger:
        for number in range(13):
            ledger.charge(PureDP("1/9"), reason=f"approval <b>voting</b> {number}", request_id=f"r{number}")
        shown = ledger._repr_html_()
    votes = approval_voting(candidate="dish", candidates=["tea", "soup"])
    return {
        "quote": prepare(votes, table, epsilon="1/2").quote,
        "release": select(DISH, Scores([0, 0, 90_000, 0]), epsilon="1/2"),
        "winners": top_k(DISH, Scores([5, 0, 90_000, 60_000]), k=3, epsilon="1/2"),
        "accuracy": accuracy(DISH, epsilon="1/3"),
        "law": exponential_law([9, 8, 3, 1], scale=2, outputs=LABELS),
        "laws": side_by_side(list(range(25)), epsilon=1),
        "ledger": _Shown(shown),
        "check": check(votes, table, owner=True),
    }


class _Shown(str):
    """A page that was made while its value was there."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)
