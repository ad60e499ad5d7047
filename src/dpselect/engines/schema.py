"""Columns: what the public schema says of each, and how a public value is compared with it.

Exactly, with text, whole numbers and decimals; as the nearest float, with columns of floats.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, time
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np

from dpselect.errors import SHOWN_CHARACTERS, InvalidParameter, shown, visible

Kind: TypeAlias = Literal[
    "text", "integer", "decimal", "double", "single", "uuid", "date", "time", "timestamp", "boolean", "other"
]
ListedValue: TypeAlias = str | int | Decimal | float | date | time
"""What a column may hold, as a parameter of a query."""

WORDS: dict[Kind, str] = {
    "text": "text",
    "integer": "whole numbers",
    "decimal": "decimal numbers",
    "double": "floating-point numbers",
    "single": "floating-point numbers",
    "uuid": "UUIDs",
    "date": "dates",
    "time": "times of day",
    "timestamp": "times",
    "boolean": "truth values",
    "other": "values of another type",
}
SHOWN_COLUMNS = 12
"""Names of columns that a refusal lists."""
TEXT_WHOLES, TEXT_PARTS = 20, 18
"""Digits before and after the point of a number that is looked up in a column of text: 38 fit a DECIMAL."""


@dataclass(frozen=True)
class Column:
    """One column of the schema: its public name, what it holds, and what the engine calls it and its type."""

    name: str
    kind: Kind
    type: str
    reference: str = ""
    lowest: int = -(2**63)
    highest: int = 2**63 - 1
    precision: int | None = None
    scale: int | None = None
    characters: frozenset[str] | None = field(default=None, repr=False)
    """What text can be made of, if not of all Unicode."""
    decimal: str | None = None
    """The decimal sign of numbers in text; None where text is no number, unless a list of numbers says so."""
    hindrance: str = field(default="", repr=False)
    """Why the column cannot be asked for, if it cannot."""

    @property
    def known_as(self) -> str:
        """The name by which the engine knows the column."""
        return self.reference or self.name

    @property
    def holds_numbers(self) -> bool:
        """Say whether the values are numbers, or text in which numbers may be looked up."""
        return self.kind in ("integer", "decimal", "double", "single", "text")


@dataclass(frozen=True)
class Schema:
    """The columns of a table: public, and all that may be known before the charge."""

    columns: tuple[Column, ...]
    where: Any = field(default=None, repr=False)
    """The filter of the table's rows, a ``RowFilter``, if there is one."""
    separator: str | None = None
    """What stands between the fields of a CSV."""

    def read_with(self, sign: str | None) -> Schema:
        """Give the schema where text spells numbers with this decimal sign; None: where it spells none."""
        return replace(
            self,
            columns=tuple(
                replace(each, decimal=sign if each.kind == "text" else None) for each in self.columns
            ),
        )

    def column(self, name: str) -> Column:
        """Find a column by its exact name."""
        found = [column for column in self.columns if column.name == name]
        if len(found) == 1 and found[0].hindrance:
            raise InvalidParameter(found[0].hindrance)
        if len(found) == 1:
            return found[0]
        names = [column.name for column in self.columns]
        if found:
            raise InvalidParameter(
                f"column {shown(name)} must be in the table once; it is there {len(found)} times."
            )
        more = [] if len(names) <= SHOWN_COLUMNS else ["…"]
        listed = ", ".join([*map(_short, names[:SHOWN_COLUMNS]), *more])
        near = difflib.get_close_matches(name, names, n=1) or [
            other for other in names if other.casefold() == name.casefold()
        ]
        hint = f" Did you mean {shown(near[0])}?" if near else ""
        raise InvalidParameter(f"column {shown(name)} is not in the table; it has: {listed}.{hint}")

    def person(self, name: str) -> Column:
        """Find the column that identifies a person; it must hold text, whole numbers or UUIDs."""
        column = self.column(name)
        if column.kind in ("text", "integer", "uuid") or (column.kind == "decimal" and column.scale == 0):
            return column
        raise InvalidParameter(
            f"unit must be a column of text, whole numbers or UUIDs; {name!r} holds {WORDS[column.kind]}. "
            "Name a column that identifies each person exactly."
        )

    def numbers(self, name: str) -> Column:
        """Find a column of numbers; text is one where the table says that it is read so."""
        column = self.column(name)
        if column.kind == "text" and column.decimal is None:
            raise InvalidParameter(
                f"column {name!r} must hold numbers; it holds text. If the text spells numbers, say so: "
                "Table(..., numbers_in_text=True). What spells none is then left out."
            )
        if column.holds_numbers:
            return column
        raise InvalidParameter(
            f"column {name!r} must hold numbers; it holds {WORDS[column.kind]}. "
            "Name another column, or convert it to numbers first."
        )


def comparable(column: Column, values: Sequence[str] | Sequence[Fraction]) -> list[ListedValue | None]:
    """Turn public values into what the column can hold; None for one that it cannot, so never holds."""
    if not column.holds_numbers:
        raise InvalidParameter(
            f"column {column.name!r} must hold text or numbers; it holds {WORDS[column.kind]}. "
            "Convert it to text first."
        )
    texts = [value for value in values if isinstance(value, str)]
    if texts and column.kind != "text":
        raise InvalidParameter(
            f"candidates must be numbers, as column {column.name!r} holds {WORDS[column.kind]}; got text.",
            parameter="candidates",
        )
    if texts:
        known = column.characters
        return [text if known is None or known.issuperset(text) else None for text in texts]
    return [_READERS[column.kind](column, value) for value in values if not isinstance(value, str)]


def _as_whole(column: Column, value: Fraction) -> int | None:
    held = value.denominator == 1 and column.lowest <= value <= column.highest
    return value.numerator if held else None


def _as_decimal(column: Column, value: Fraction) -> Decimal | None:
    """Give the decimal, if the column's digits can spell it."""
    parts = _parts(value) if column.scale is None else column.scale
    digits = value * Fraction(10) ** parts
    held = digits.denominator == 1 and (column.precision is None or abs(digits) < 10**column.precision)
    return Decimal(f"{digits.numerator}e{-parts}") if held else None


def _parts(value: Fraction) -> int:
    """Say how many digits after the point spell the value, if any number of them does."""
    twos = (value.denominator & -value.denominator).bit_length() - 1
    fives, left = 0, value.denominator >> twos
    while left % 5 == 0:
        fives, left = fives + 1, left // 5
    return max(twos, fives)


def _as_text(column: Column, value: Fraction) -> Decimal | None:
    digits = TEXT_WHOLES + TEXT_PARTS
    return _as_decimal(Column(column.name, "decimal", "", precision=digits, scale=TEXT_PARTS), value)


def _as_double(column: Column, value: Fraction) -> float | None:
    del column
    near = nearest_double(value)
    return near if math.isfinite(near) else None


def _as_single(column: Column, value: Fraction) -> float | None:
    del column
    near = nearest_single(value)
    return near if math.isfinite(near) else None


def nearest_double(value: Fraction) -> float:
    """Give the nearest double, infinite where there is none."""
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def nearest_single(value: Fraction) -> float:
    """Give the single that is nearest to the nearest double, as a double."""
    with np.errstate(all="ignore"):
        return float(np.float32(nearest_double(value)))


_READERS: dict[Kind, Callable[[Column, Fraction], ListedValue | None]] = {
    "integer": _as_whole,
    "decimal": _as_decimal,
    "text": _as_text,
    "double": _as_double,
    "single": _as_single,
}


def _short(name: str) -> str:
    """Show the beginning of a column's name: where a header has lost its end, rows have run into it."""
    return visible(name if len(name) <= SHOWN_CHARACTERS else f"{name[: SHOWN_CHARACTERS - 1]}…")
