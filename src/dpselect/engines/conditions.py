"""What a filter says: a tree of comparisons, joined by AND, OR and NOT."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time
from fractions import Fraction
from typing import Literal, TypeAlias

from dpselect.errors import InvalidParameter

Operator: TypeAlias = Literal["=", "<>", "<", "<=", ">", ">="]
Constant: TypeAlias = str | Fraction | bool | date | time | datetime
MOMENTS: dict[str, tuple[type[Constant], Callable[[str], Constant], str]] = {
    "date": (date, date.fromisoformat, "DATE '2024-01-31'"),
    "time": (time, time.fromisoformat, "TIME '18:30:00'"),
    "timestamp": (datetime, datetime.fromisoformat, "TIMESTAMP '2024-01-31 18:30:00'"),
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
