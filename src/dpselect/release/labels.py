"""Labels of winners: written for JSON with their kind, read again, and as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from dpselect.exact.rounding import exact_text, from_exact_text, written_number
from dpselect.problems.typed_values import TRUTHS, text_of

PlainLabel: TypeAlias = str | int | float | Decimal | Fraction | date | time
"""A label of a winner, as one of Python's own values."""


def plain_label(label: Any) -> PlainLabel:
    """Give a label as one of Python's own, of NumPy and of enumerations too."""
    if isinstance(label, bool | date | time):
        return label
    plain = label.item() if isinstance(label, np.generic) else label
    for kind in (str, int, float, Decimal):
        if isinstance(plain, kind):
            return kind(plain)
    return Fraction(*plain.as_integer_ratio())


def label_text(label: PlainLabel) -> str:
    """Write a name as it is, a number exactly, a date, a time or a truth value in its own form.

    >>> label_text("tea"), label_text(Fraction(8, 3)), label_text(True), label_text(date(2026, 5, 1))
    ('tea', '8/3', 'true', '2026-05-01')
    """
    if isinstance(label, str):
        return label
    if isinstance(label, bool | date | time):
        return text_of(label)
    return exact_text(Fraction(label)) if isinstance(label, int | Fraction) else str(label)


def readable_label(label: PlainLabel) -> str:
    """Write a label for people: a fraction as a decimal where that is exact. A name is never rounded.

    >>> readable_label(Fraction(1, 4)), readable_label(Fraction(8, 3))
    ('0.25', '8/3')
    """
    if not isinstance(label, Fraction):
        return label_text(label)
    found = written_number(label)
    return label_text(label) if found.rounding else found.text


def written_label(label: PlainLabel) -> str | dict[str, str]:
    """Write a name as it is, anything else with its kind."""
    return label if isinstance(label, str) else {type(label).__name__.lower(): label_text(label)}


def read_label(written: str | Mapping[str, str]) -> PlainLabel:
    """Read what ``written_label`` wrote."""
    if isinstance(written, str):
        return written
    ((kind, text),) = written.items()
    return _READERS[kind](text)


_READERS: Mapping[str, Callable[[str], PlainLabel]] = {
    "int": lambda text: int(from_exact_text(text)),
    "fraction": from_exact_text,
    "decimal": Decimal,
    "float": float,
    "bool": TRUTHS.__getitem__,
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
    "time": time.fromisoformat,
}
