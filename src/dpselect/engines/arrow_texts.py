"""Columns of Arrow, each validated whole: text that is not UTF-8 is NULL, anything else that is wrong fails.

A broken value drops its own row this way, as a NULL does, and the rows beside it count as before.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dpselect.silence import run_or_none

RAW = {"string": "binary", "large_string": "large_binary", "string_view": "binary_view"}
"""For each type of text, the type of the same bytes."""


def validated(column: Any) -> Any:
    """Give a column without the text in it that is not UTF-8; raise where its offsets or types are wrong."""
    if run_or_none(lambda: _checked(column)) is not None:
        return column
    if hasattr(column, "dictionary"):
        return _without_broken_entries(column)
    if str(column.type) not in RAW:
        raise ValueError
    return _decoded(column)


def _checked(column: Any) -> Any:
    column.validate(full=True)
    return column


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
