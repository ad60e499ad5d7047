"""What a curator offers of the columns of a data set, publicly: candidates to choose from, bounds of numbers.

Both are written by the curator from what is public. Nothing here reads a table.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import positive
from dpselect.problems.candidates import grid, listed
from dpselect.studio.state import State

BOUNDS = ("low", "high", "step")
"""The fields of bounds: the least answer, the largest one, and their distance, "" for one that fits."""
LONGEST_BOUND = 60
"""Characters of a bound."""


@dataclass(frozen=True)
class PublicWords:
    """What is offered of one data set, by its columns."""

    lists: Mapping[str, Sequence[str]]
    bounds: Mapping[str, Mapping[str, str]]


class Offered:
    """The public lists and bounds of all data sets, by their names."""

    def __init__(self, state: State) -> None:
        """Keep them in the studio's state."""
        self._state = state

    def set_list(self, data_set: str, column: str, labels: Sequence[str]) -> None:
        """Offer the candidates of a column."""
        listed(list(labels))
        self._state.write(
            "insert or replace into lists values (?, ?, ?)",
            [data_set, column, json.dumps(list(labels), ensure_ascii=False)],
        )

    def lists(self, data_set: str) -> dict[str, list[str]]:
        """Give the candidates of each column that has some."""
        rows = self._state.rows("select * from lists where data_set = ?", [data_set])
        return {row["column_name"]: json.loads(row["labels"]) for row in rows}

    def set_bounds(self, data_set: str, column: str, bounds: Mapping[str, str]) -> None:
        """Offer what answers about a column of numbers may be."""
        words = [bounds.get(name, "").strip() for name in BOUNDS]
        for name, word in zip(BOUNDS, words, strict=True):
            if len(word) > LONGEST_BOUND or (not word and name != "step"):
                raise InvalidParameter(
                    f"{name} must be a number of at most {LONGEST_BOUND} characters.", parameter=name
                )
        low, high, step = words
        if step:
            positive(step, "step")
        grid((low, high), step or None)
        self._state.write(
            "insert or replace into bounds values (?, ?, ?, ?, ?)", [data_set, column, low, high, step]
        )

    def bounds(self, data_set: str) -> dict[str, dict[str, str]]:
        """Give the bounds of each column that has some."""
        rows = self._state.rows("select * from bounds where data_set = ?", [data_set])
        return {row["column_name"]: {name: row[name] for name in BOUNDS} for row in rows}
