"""Columns of pandas as DuckDB is to see them: a column of objects is text, whatever it holds.

A value that is neither text nor one with an exact spelling (a number, a date, a time, a UUID) is NULL.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, time
from decimal import Decimal
from importlib import import_module
from typing import Any
from uuid import UUID

import numpy as np

SPELT = (int, float, Decimal, date, time, UUID, np.integer, np.floating)
"""What is written out, beside text itself; a time stamp is a date too."""


def is_readable(kind: Any) -> bool:
    """Say whether a column of this type can be looked up or compared; categories can if they are text."""
    categories = getattr(kind, "categories", None)
    if categories is not None:
        return _is_text(categories.dtype)
    return _is_text(kind) or _is_arrow(kind) or getattr(kind, "kind", "") in tuple("iufb") or _is_time(kind)


def columns(frame: Any, places: Sequence[int]) -> Any:
    """Give the columns at these places, named by them: as Arrow if one is of Arrow, otherwise as pandas."""
    found = {f"c{place}": frame.iloc[:, place] for place in places}
    read = {name: _texts(series) if _becomes_text(series.dtype) else series for name, series in found.items()}
    if not any(_is_arrow(series.dtype) for series in found.values()):
        return import_module("pandas").DataFrame(
            {
                name: np.array(column, dtype=object) if isinstance(column, list) else column.array
                for name, column in read.items()
            },
            copy=False,
        )
    arrow = import_module("pyarrow")
    return arrow.table(
        {
            name: arrow.array(column, arrow.string())
            if isinstance(column, list)
            else arrow.array(column.array)
            for name, column in read.items()
        }
    )


def _becomes_text(kind: Any) -> bool:
    return getattr(kind, "categories", None) is not None or _is_text(kind)


def _is_text(kind: Any) -> bool:
    return getattr(kind, "kind", "") == "O" and (
        isinstance(kind, np.dtype) or getattr(kind, "type", None) is str
    )


def _is_time(kind: Any) -> bool:
    """Say whether a column holds times without a zone."""
    return isinstance(kind, np.dtype) and kind.kind == "M"


def _is_arrow(kind: Any) -> bool:
    return type(kind).__name__ == "ArrowDtype"


def _texts(series: Any) -> list[str | None]:
    return [_text(value) for value in series.astype(object).to_numpy()]


def _text(value: Any) -> str | None:
    """Write a value out; None if it has no spelling, or one that UTF-8 does not have."""
    try:
        if not isinstance(value, str) and not (isinstance(value, SPELT) and value == value):  # noqa: PLR0124 - NaN, NaT
            return None
        text = str(value)
        text.encode()
    except Exception:  # noqa: BLE001 - lone surrogates, long integers, signalling NaN, types of the caller's
        return None
    return text
