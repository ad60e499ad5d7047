"""Columns of Arrow, each validated whole: a value that its type does not have is NULL, other faults fail.

Such a value is text that is not UTF-8, a time beyond the day (DuckDB has 24:00:00), or a decimal with more
digits than its type (DuckDB hands whole numbers of 128 bits over so).
A broken value drops its own row this way, as a NULL does, and the rows beside it count as before.
"""

from __future__ import annotations

from decimal import Decimal
from importlib import import_module
from typing import Any

from dpselect.silence import run_or_none

RAW = {"string": "binary", "large_string": "large_binary", "string_view": "binary_view"}
"""For each type of text, the type of the same bytes."""


def validated(column: Any) -> Any:
    """Give a column without the values in it that are none; raise where its offsets or types are wrong."""
    if run_or_none(lambda: _checked(column)) is not None:
        return column
    if hasattr(column, "dictionary"):
        return _without_broken_entries(column)
    return _decoded(column) if str(column.type) in RAW else _within(column, *_ends(column.type))


def _checked(column: Any) -> Any:
    column.validate(full=True)
    arrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    if arrow.types.is_decimal(column.type):
        # Arrow takes the least whole number of 128 bits, which DuckDB fails on, for one of few digits.
        least, _ = _ends(column.type)
        if compute.any(compute.less(column, least)).as_py():
            raise ValueError
    return column


def _ends(kind: Any) -> tuple[Any, Any]:
    """Give the least and the greatest value of a type of times or decimals."""
    arrow = import_module("pyarrow")
    if arrow.types.is_decimal(kind):
        nines = (9,) * kind.precision
        return tuple(arrow.scalar(Decimal((sign, nines, -kind.scale)), kind) for sign in (1, 0))
    if arrow.types.is_time(kind):
        per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
        whole = arrow.int32() if arrow.types.is_time32(kind) else arrow.int64()
        return tuple(arrow.scalar(end, whole).cast(kind) for end in (0, 86_400 * per_second - 1))
    raise ValueError


def _within(column: Any, least: Any, greatest: Any) -> Any:
    arrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    beyond = compute.or_(compute.less(column, least), compute.greater(column, greatest))
    return _checked(compute.if_else(beyond, arrow.scalar(None, column.type), column))


def _decoded(column: Any) -> Any:
    arrow = import_module("pyarrow")
    raw = _checked(column.cast(getattr(arrow, RAW[str(column.type)])()))
    return arrow.array([_text(value) for value in raw.to_pylist()], column.type)


def _without_broken_entries(column: Any) -> Any:
    """Let what points to a broken entry of a dictionary point nowhere."""
    arrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    entries = _decoded(column.dictionary)
    broken = compute.indices_nonzero(entries.is_null()).cast(column.indices.type)
    pointing = compute.is_in(column.indices, value_set=broken)
    indices = compute.if_else(pointing, arrow.scalar(None, column.indices.type), column.indices)
    return _checked(
        arrow.DictionaryArray.from_arrays(indices, entries.fill_null(""), ordered=column.type.ordered)
    )


def _text(value: bytes | None) -> str | None:
    return None if value is None else run_or_none(value.decode)
