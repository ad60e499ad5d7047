"""Columns that stand in the names of folders: the same value for every row of a file, as DuckDB reads it."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dpselect.engines.found_files import FoundFiles
from dpselect.engines.schema import Column
from dpselect.errors import InvalidParameter, shown

FILE = "file_index"
"""The place of a row's file among those that are read, which DuckDB adds if asked for."""


def partition_columns(found: FoundFiles, names: Sequence[str]) -> tuple[Column, ...]:
    """Describe the columns that partitions give to files with columns of these names."""
    for key in found.keys:
        if key in names:
            raise InvalidParameter(
                f"a partition must not be called as a column of the files is; {shown(key)} is. Name the "
                "files by a glob, such as 'folder/**/*.parquet': they have no partitions then."
            )
    taken = {name.casefold() for name in names}
    columns: list[Column] = []
    for place, key in enumerate(found.keys):
        reference = f"partition {place}"
        while reference in taken:
            reference += "'"
        columns.append(Column(key, "text", "VARCHAR", reference))
    return tuple(columns)


def with_partitions(
    rows: exp.Expression, found: FoundFiles, columns: Sequence[Column], *beside: str
) -> exp.Expression:
    """Give the rows with the columns of partitions, and those ``beside`` them that DuckDB adds if asked."""
    if not columns:
        return rows
    place = exp.Add(
        this=exp.cast(exp.column(FILE), exp.DataType.build("BIGINT")), expression=exp.Literal.number(1)
    )
    values = [
        exp.alias_(
            exp.Anonymous(this="list_extract", expressions=[_texts(of_files), place.copy()]),
            column.known_as,
            quoted=True,
        )
        for column, of_files in zip(columns, found.values, strict=True)
    ]
    return exp.select("*", *map(exp.column, beside), *values).from_(rows).subquery()


def _texts(values: Sequence[str | None]) -> exp.Expression:
    listed = [exp.null() if value is None else exp.Literal.string(value) for value in values]
    return exp.cast(exp.Array(expressions=listed), exp.DataType.build("TEXT[]", dialect="duckdb"))
