"""Columns that stand in the names of folders: the same value for every row of a file, as DuckDB reads it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from dpselect.engines.found_files import FoundFiles
from dpselect.engines.schema import Column

FILE = "file_index"
"""The place of a row's file among those that are read, which DuckDB adds if asked for."""


@dataclass(frozen=True)
class Partition:
    """A column, and its value for each file."""

    column: Column
    values: tuple[str | None, ...]


def partitions_of(found: FoundFiles, names: Sequence[str]) -> tuple[Partition, ...]:
    """Give the partitions of files with columns of these names; a column of the files goes before one."""
    taken = {name.casefold() for name in names}
    partitions: list[Partition] = []
    for place, key in enumerate(found.keys):
        reference = f"partition {place}"
        while reference in taken:
            reference += "'"
        if key not in names:
            partitions.append(Partition(Column(key, "text", "VARCHAR", reference), found.values[place]))
    return tuple(partitions)


def with_partitions(rows: exp.Expression, partitions: Sequence[Partition], *beside: str) -> exp.Expression:
    """Give the rows with the columns of partitions, and those ``beside`` them that DuckDB adds if asked."""
    if not partitions:
        return rows
    place = exp.Add(
        this=exp.cast(exp.column(FILE), exp.DataType.build("BIGINT")), expression=exp.Literal.number(1)
    )
    values = [
        exp.alias_(
            exp.Anonymous(this="list_extract", expressions=[_texts(each.values), place.copy()]),
            each.column.known_as,
            quoted=True,
        )
        for each in partitions
    ]
    return exp.select("*", *map(exp.column, beside), *values).from_(rows).subquery()


def _texts(values: Sequence[str | None]) -> exp.Expression:
    listed = [exp.null() if value is None else exp.Literal.string(value) for value in values]
    return exp.cast(exp.Array(expressions=listed), exp.DataType.build("TEXT[]", dialect="duckdb"))
