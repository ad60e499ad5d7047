"""The demonstration: made-up tables as data sets, with lists, a budget, and an analyst who has a share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dpselect.studio.app import Studio
from dpselect.studio.data_sets import NewDataSet

DEMO_ANALYST = "ada"
DEMO_BUDGET, DEMO_SHARE = "6", "4"


@dataclass(frozen=True)
class DemoTable:
    """A made-up table: its file, the column of its people, what it is about, its public lists and bounds."""

    path: Path
    unit: str
    about: str
    lists: Mapping[str, Sequence[str]]
    bounds: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def set_up(studio: Studio, tables: Mapping[str, DemoTable]) -> str | None:
    """Register what is not there yet; give the analyst's key if it is new."""
    known = {each.name for each in studio.data_sets.all()}
    secret = None
    if studio.keys.named(DEMO_ANALYST) is None:
        secret = studio.keys.create(DEMO_ANALYST, "analyst")
    for name, table in tables.items():
        if name in known:
            continue
        made = studio.data_sets.register(
            NewDataSet(
                name=name, path=str(table.path), unit=table.unit, epsilon=DEMO_BUDGET, about=table.about
            )
        )
        studio.data_sets.share(made, DEMO_ANALYST, DEMO_SHARE)
        for column, labels in table.lists.items():
            studio.data_sets.set_list(made, column, labels)
        for column, bounds in table.bounds.items():
            studio.data_sets.set_bounds(made, column, bounds)
    return secret
