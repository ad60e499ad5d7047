"""Candidates that are dates, times or truth values: compared with columns of their type, or as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any, Literal, TypeAlias

import numpy as np

from dpselect.engines.conditions import read_date, read_time, read_timestamp
from dpselect.engines.schema import WORDS, Column, ListedValue, comparable
from dpselect.errors import InvalidParameter, shown

TypedKind: TypeAlias = Literal["date", "time", "timestamp", "boolean"]
TYPED_KINDS = ("date", "time", "timestamp", "boolean")
EXAMPLES = {
    "date": "2024-01-31",
    "time": "18:30:00",
    "timestamp": "2024-01-31T18:30:00",
    "boolean": "true",
}
"""How a value of each kind is written."""
TRUTHS = {"true": True, "false": False}

_COARSE = {"TIMESTAMP_S": 1_000_000, "TIMESTAMP_MS": 1_000}
"""Microseconds in one step of a column that does not count microseconds."""

_YEARS_IN_NANOSECONDS = range(1678, 2262)
"""Years of which 64 bits hold every nanosecond."""


@dataclass(frozen=True)
class TypedValues:
    """Values of one type, in the order given."""

    kind: TypedKind
    labels: tuple[Any, ...]

    def canonical(self) -> Iterator[str]:
        """Give what the digest is made of."""
        yield from (f"{self.kind} {text_of(label)}" for label in sorted(self.labels))

    def held(self, column: Column) -> list[tuple[int, ListedValue]]:
        """Give the values that a column can hold, each with its place; in text each spelling is one."""
        if column.kind == "text":
            places, spellings = zip(*self._spellings(), strict=True)
            texts = zip(places, comparable(column, spellings), strict=True)
            return [(place, text) for place, text in texts if text is not None]
        if column.kind != self.kind:
            example = EXAMPLES.get(column.kind)
            way_out = "" if example is None else f" Write {example!r}, or a value of that type."
            raise InvalidParameter(
                f"candidates must be what column {column.name!r} holds, {WORDS[column.kind]}; "
                f"got {WORDS[self.kind]}.{way_out}",
                parameter="candidates",
            )
        return [(place, label) for place, label in enumerate(self.labels) if _fits(column, label)]

    def _spellings(self) -> Iterator[tuple[int, str]]:
        for place, label in enumerate(self.labels):
            text = text_of(label)
            forms = {text, text.title(), text.upper()} if self.kind == "boolean" else {text, str(label)}
            yield from ((place, form) for form in sorted(forms))


def text_of(label: Any) -> str:
    """Write a value in ISO form; a truth value as "true" or "false"."""
    return str(label).lower() if isinstance(label, bool) else str(label.isoformat())


def typed(items: Sequence[Any], name: str) -> TypedValues | None:
    """Read candidates that are all of one of these types; None if they are not."""
    kinds = {_kind(item) for item in items}
    kind = kinds.pop()
    if kinds or kind is None:
        return None
    labels = [_plain(item, name) for item in items]
    seen: set[Any] = set()
    for label in labels:
        if label in seen:
            raise InvalidParameter(
                f"{name} must be different from each other; got {shown(text_of(label))} twice.",
                parameter=name,
            )
        seen.add(label)
    return TypedValues(kind, tuple(labels))


def read_as(column: Column, texts: Sequence[str]) -> TypedValues:
    """Read names as values of the type that a column holds."""
    read: dict[str, Callable[[str], Any]] = {
        "date": read_date,
        "time": read_time,
        "timestamp": read_timestamp,
        "boolean": lambda text: TRUTHS[text.lower()],
    }
    values = []
    for text in texts:
        with suppress(ValueError, KeyError):
            values.append(read[column.kind](text))
    found = typed(values, "candidates") if len(values) == len(texts) else None
    if found is None:
        raise InvalidParameter(
            f"candidates must be {WORDS[column.kind]}, as column {column.name!r} holds them; got other text. "
            f"Write {EXAMPLES[column.kind]}.",
            parameter="candidates",
        )
    return found


def _kind(item: object) -> TypedKind | None:
    if isinstance(item, bool | np.bool_):
        return "boolean"
    if isinstance(item, datetime):
        return "timestamp"
    return "date" if isinstance(item, date) else "time" if isinstance(item, time) else None


def _plain(item: Any, name: str) -> Any:
    """Give a value as one of Python's own; what it would lose is refused."""
    if isinstance(item, bool | np.bool_):
        return bool(item)
    if getattr(item, "tzinfo", None) is not None or getattr(item, "nanosecond", 0) != 0:
        raise InvalidParameter(
            f"{name} must be times without a zone, in microseconds at most.", parameter=name
        )
    if isinstance(item, datetime):
        return datetime.combine(date(item.year, item.month, item.day), item.time())
    return item


def _fits(column: Column, label: Any) -> bool:
    if column.type == "TIMESTAMP_NS":
        return label.year in _YEARS_IN_NANOSECONDS
    return not (isinstance(label, datetime) and label.microsecond % _COARSE.get(column.type, 1))
