"""What a release asks of an engine: bounded grouped counts, and nothing else.

Drop rows with a NULL, a NaN or a value that is not on the public list; drop duplicates; keep at most
``most`` rows of each person, in the order of a keyed hash; group; count. Only whole numbers come back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpselect.engines.schema import Column, ListedValue, Schema
from dpselect.errors import InvalidParameter, TableUnreadable
from dpselect.silence import holds_data, run

SALT_BYTES = 16
"""Bytes of the random key of the hash."""
BATCH_ROWS = 100_000
"""Groups that are fetched from an engine at a time."""
LOWEST, HIGHEST = -(2**63), 2**63 - 1
"""The whole numbers of 64 bits."""


@dataclass(frozen=True)
class Listed:
    """Group by the place that a column's value has on a public list; what is not on it is dropped.

    ``folded``: text is compared after ``folded_text.folded``, as the labels are already. ``split``: a cell is
    cut there, and each part is looked up by itself; parts of one cell on one place are one. ``optional``:
    what is not on the list is at NO_PLACE, and a row counts if one of such keys is on its list.
    """

    column: Column
    labels: tuple[ListedValue, ...] = field(repr=False)
    places: tuple[int, ...] = field(repr=False)
    folded: bool = False
    others: int | None = None
    """The place of everything that is present and not on the list; None drops it."""
    split: str | None = None
    optional: bool = False

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that it reads."""
        return (self.column,)


@dataclass(frozen=True)
class AmountKey:
    """Group by a column's value itself; NULL, NaN and text that is no number are dropped."""

    column: Column

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that it reads."""
        return (self.column,)


@dataclass(frozen=True)
class Ticked:
    """Group by the place of each of several columns whose cell is ticked; a row may have many.

    A cell is ticked unless it is NULL, NaN, empty, zero, false or "no".
    """

    columns: tuple[Column, ...]


Key: TypeAlias = Listed | AmountKey | Ticked
NO_PLACE = 0
"""Of an optional key that is not on its list; the places of one that is are counted from 1."""


class RowFilter(Protocol):
    """Which rows are there at all: a condition on each row by itself."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that it looks at."""

    def node(self, dialect: Any) -> Any:
        """Give the condition for an engine's dialect, as a node of a query."""


@dataclass(frozen=True)
class CountsRequest:
    """How many people (or rows) there are of each combination of the keys.

    ``distinct``: a person's equal rows are one row. ``most``: the rows that are kept of each person, or of
    each person and each value of the keys whose numbers are ``within``; None keeps all. Where ``person`` is
    None every row is a person, and counts as it is. ``where``: the rows that are there; None: all of them.
    ``groups_per_person``: the last key is a group, and the number of groups in which a person's rows
    are kept; None keeps them in all.
    """

    person: Column | None
    keys: tuple[Key, ...]
    distinct: bool
    most: int | None
    within: tuple[int, ...] = ()
    where: RowFilter | None = field(default=None, repr=False)
    groups_per_person: int | None = None

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns that are read."""
        people = () if self.person is None else (self.person,)
        filtered = () if self.where is None else self.where.columns
        return tuple(
            dict.fromkeys((*people, *(column for key in self.keys for column in key.columns), *filtered))
        )


@holds_data
@dataclass(frozen=True, repr=False)
class Counts:
    """What came back: for each group its keys (a place, or a value as the engine gave it) and its size.

    Places, sizes and amounts of whole numbers of 64 bits are int64; other amounts are floats as wide as their
    column, or exact objects. The column's public type decides, never a value.
    """

    keys: tuple[NDArray[Any], ...]
    sizes: NDArray[np.int64]

    def __repr__(self) -> str:
        """Show nothing: how many groups there are depends on the rows."""
        return "<private counts>"

    def __reduce__(self) -> str:
        raise TypeError("private counts are not pickled.")


class Engine(Protocol):
    """A table that is open: its schema has been read, its rows have not."""

    @property
    def schema(self) -> Schema:
        """The public columns."""

    def counts(self, request: CountsRequest, salt: bytes) -> Counts:
        """Read the rows, and count. A release looks at data here alone; it fails with a constant sentence."""

    def rows_for_owner(self, columns: Sequence[Column], query: Callable[[Any], Any]) -> list[tuple[Any, ...]]:
        """Answer a query about columns that shows data, built for the engine's dialect.

        Only the owner's check calls it.
        """


def checked_salt(salt: bytes) -> str:
    """Write the key of the hash as a parameter of the query: 32 hexadecimal digits."""
    if not isinstance(salt, bytes) or len(salt) != SALT_BYTES:
        raise InvalidParameter.must_be(
            "salt", f"{SALT_BYTES} random bytes", got=salt if isinstance(salt, int) else type(salt).__name__
        )
    return salt.hex()


def counted(count: Callable[[], Counts]) -> Counts:
    """Count, or say that the table is unreadable, from a frame that holds no row."""
    return run(count, lambda _: TableUnreadable())


def answered(ask: Callable[[], list[tuple[Any, ...]]]) -> list[tuple[Any, ...]]:
    """Give the rows of an answer, or say that the table is unreadable, likewise."""
    return run(ask, lambda _: TableUnreadable())


def gathered(request: CountsRequest, batches: Iterable[Sequence[tuple[Any, ...]]]) -> Counts:
    """Put the rows of a result, batch by batch, into arrays; nothing is rounded on the way."""
    parts: list[list[NDArray[Any]]] = [[] for _ in range(len(request.keys) + 1)]
    for batch in batches:
        for kind, part, values in zip([*request.keys, None], parts, zip(*batch, strict=True), strict=False):
            part.append(_column(kind, values))
    empty = [_column(kind, ()) for kind in [*request.keys, None]]
    *keys, sizes = [np.concatenate([first, *part]) for first, part in zip(empty, parts, strict=True)]
    return Counts(tuple(keys), sizes)


def of_columns(columns: Iterable[NDArray[Any]], request: CountsRequest) -> Counts:
    """Take a result column by column, where all of it is in the arrays of ``array_type``."""
    kinds = [array_type(key) for key in (*request.keys, None)]
    taken = [
        np.asarray(column).astype(kind, casting="safe", copy=False)
        for column, kind in zip(columns, kinds, strict=True)
    ]
    *keys, sizes = taken
    return Counts(tuple(keys), sizes)


def array_type(key: Key | None) -> type[Any]:
    """Give the type of the array of a key, or of the sizes: object for what 64 bits do not hold."""
    if not isinstance(key, AmountKey):
        return np.int64
    if key.column.kind in ("double", "single"):
        return np.float64 if key.column.kind == "double" else np.float32
    fits = key.column.kind == "integer" and key.column.lowest >= LOWEST and key.column.highest <= HIGHEST
    return np.int64 if fits else np.object_


def _column(key: Key | None, values: Sequence[Any]) -> NDArray[Any]:
    """Give one column of a batch: whole numbers, floats, or whatever else the engine gave, as it is."""
    kind = array_type(key)
    if kind is not np.object_:
        return np.array(values, dtype=kind)
    exact = np.empty(len(values), dtype=object)
    exact[:] = values
    return exact
