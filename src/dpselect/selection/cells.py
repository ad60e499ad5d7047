"""Cells: the points of a public grid with their people, and cuts between people, within a cell."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpselect.selection.runs import WholeNumbers

SHARES = 2**32
"""Into how many parts the people of a cell can be cut."""


class Cut(NamedTuple):
    """A place where people are split: within a cell, behind a share of its people, at a rank."""

    cell: int
    share: Fraction
    rank: Fraction


@dataclass(frozen=True, repr=False)
class Cells:
    """The cells that have people, in ascending order, of ``length``; and how many people there are."""

    length: int
    places: WholeNumbers
    up_to: NDArray[np.int64]
    """The people before the first of these cells, and up to each of them."""
    people: int
    """All people, with those behind the last cell."""
    shares: int = SHARES
    """Into how many parts the people of a cell can be cut."""

    def __repr__(self) -> str:
        return "<private cells>"

    def first_from(self, cell: int) -> int:
        """Say how many of the cells with people are before a cell."""
        if self.places.dtype == object:
            return int(np.searchsorted(self.places, cell))
        kind = self.places.dtype
        beyond = cell > np.iinfo(kind).max
        return len(self.places) if beyond else int(self.places.searchsorted(kind.type(cell)))

    def around(self, cell: int) -> tuple[int, int]:
        """Give the people before a cell, and those in it."""
        before = self.first_from(cell)
        is_there = before < len(self.places) and int(self.places[before]) == cell
        rank = int(self.up_to[before])
        return rank, int(self.up_to[before + 1]) - rank if is_there else 0

    def cut(self, cell: int, share: Fraction) -> Cut:
        """Cut a cell behind a share of its people."""
        before, inside = self.around(cell)
        return Cut(cell, share, before + share * inside)
