"""What a filter says: a tree of comparisons, joined by AND, OR and NOT."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time
from fractions import Fraction
from typing import Literal, TypeAlias

from dpselect.errors import InvalidParameter

Operator: TypeAlias = Literal["=", "<>", "<", "<=", ">", ">="]
Constant: TypeAlias = str | Fraction | bool | date | time | datetime
_DAY, _CLOCK = r"[0-9]{4}-[0-9]{2}-[0-9]{2}", r"[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?"
_DATE, _TIME = re.compile(_DAY), re.compile(_CLOCK)
_TIMESTAMP = re.compile(f"{_DAY}([ T]{_CLOCK})?")


def read_date(text: str) -> date:
    """Read 2024-01-31, or fail."""
    return date.fromisoformat(_whole(_DATE, text))


def read_time(text: str) -> time:
    """Read 18:30, 18:30:05 or 18:30:05.123456, or fail."""
    return time.fromisoformat(_whole(_TIME, text))


def read_timestamp(text: str) -> datetime:
    """Read a date, or a date and a time with a space or a T between them, or fail."""
    return datetime.fromisoformat(_whole(_TIMESTAMP, text))


def _whole(form: re.Pattern[str], text: str) -> str:
    """Give what has this form; Python reads more, and drops what is finer than a microsecond."""
    if not form.fullmatch(text):
        raise ValueError
    return text


MOMENTS: dict[str, tuple[type[Constant], Callable[[str], Constant], str]] = {
    "date": (date, read_date, "DATE '2024-01-31'"),
    "time": (time, read_time, "TIME '18:30:00'"),
    "timestamp": (datetime, read_timestamp, "TIMESTAMP '2024-01-31 18:30:00'"),
}
"""Dates and times, by the kind of their column: the class, what reads its ISO form, and an example."""


@dataclass(frozen=True)
class Name:
    """The name of a column."""

    text: str


@dataclass(frozen=True)
class Comparison:
    """A column compared with a constant or with another column."""

    column: Name
    operator: Operator
    other: Name | Constant


@dataclass(frozen=True)
class Membership:
    """A column that is one of several constants."""

    column: Name
    listed: tuple[Constant, ...]


@dataclass(frozen=True)
class IsNull:
    """Whether a column has no value."""

    column: Name


@dataclass(frozen=True)
class Flag:
    """A column of truth values, by itself."""

    column: Name


@dataclass(frozen=True)
class Negation:
    """What is true if another condition is false."""

    of: Condition


@dataclass(frozen=True)
class Connection:
    """Conditions of which all must be true, or any."""

    word: Literal["AND", "OR"]
    parts: tuple[Condition, ...]


Condition: TypeAlias = Comparison | Membership | IsNull | Flag | Negation | Connection


def not_a_filter(words: str) -> InvalidParameter:
    """Say what is wrong with a filter."""
    return InvalidParameter(f"where {words}", parameter="where")
