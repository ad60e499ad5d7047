"""Public candidates: what can be chosen, given by the caller, in the order given.

They are never read from the data. Whether a name is on the list would tell that a person wrote it. Lists are
read here; numbers between bounds, which this module offers too, in ``grid.py``.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import date, time
from enum import Enum, EnumType
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpselect.engines.folded_text import LONGEST_FOLDED, WHITE_SPACE, folded
from dpselect.engines.schema import nearest_double
from dpselect.errors import InvalidParameter, shown
from dpselect.exact.numbers import Number, is_real, rational
from dpselect.exact.rounding import exact_text
from dpselect.problems.grid import Grid, grid, written
from dpselect.problems.typed_values import TypedValues, typed
from dpselect.silence import run_or_none

__all__ = [
    "PUBLIC",
    "Grid",
    "Label",
    "Numbers",
    "Texts",
    "grid",
    "listed",
    "must_be_parts",
    "must_differ_in_more_than_case",
    "named_order",
    "numbers",
    "numbers_or_grid",
    "written",
]

Label: TypeAlias = str | Number

PUBLIC = (
    "They are public and never read from the data, because a list taken from it would show what somebody "
    "wrote: write them out yourself."
)


@dataclass(frozen=True)
class Texts:
    """Names, in the order given; the digest takes them in the order of their code points in NFC."""

    labels: tuple[str, ...]

    def spellings(self, *, ignore_case: bool = False) -> Iterator[tuple[int, str]]:
        """Give the place of each spelling that means a candidate: as given, composed and decomposed."""
        for place, label in enumerate(self.labels):
            forms = {label, _nfc(label), unicodedata.normalize("NFD", label)}
            for spelling in sorted({folded(form) for form in forms} if ignore_case else forms):
                yield place, spelling

    def canonical(self) -> Iterator[str]:
        """Give what the digest is made of."""
        yield from (f"text {name}" for name in sorted(map(_nfc, self.labels)))


@dataclass(frozen=True)
class Numbers:
    """Numbers, in the order and form given; the digest takes them ascending."""

    labels: tuple[Label, ...]
    values: tuple[Fraction, ...]

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The least and the largest of them."""
        return min(self.values), max(self.values)

    def exact(self, start: int, stop: int) -> Sequence[Fraction]:
        """Give the values of some places."""
        return self.values[start:stop]

    @cached_property
    def denominator(self) -> int:
        """The least one that all of them have in common."""
        return math.lcm(*(value.denominator for value in self.values))

    @cached_property
    def numerators(self) -> tuple[int, ...]:
        """All of them, over the common denominator: computed once, also where many groups are scored."""
        bottom = self.denominator
        return tuple(value.numerator * (bottom // value.denominator) for value in self.values)

    @cached_property
    def _doubles(self) -> NDArray[np.float64]:
        return np.array([nearest_double(value) for value in self.values], dtype=np.float64)

    def doubles(self, start: int, stop: int) -> NDArray[np.float64]:
        """Give the nearest doubles of some places."""
        return self._doubles[start:stop].copy()

    def canonical(self) -> Iterator[str]:
        """Give what the digest is made of."""
        yield from (f"number {exact_text(value)}" for value in sorted(self.values))


def listed(given: object, name: str = "candidates") -> Texts | Numbers | TypedValues:
    """Read candidates that are names, numbers, dates, times or truth values: all of one kind, each once."""
    items = _items(given, name)
    if all(isinstance(item, str) for item in items):
        return _texts(items, name)
    values = typed(items, name)
    if values is not None:
        return values
    if any(isinstance(item, str) or not is_real(item) for item in items):
        raise InvalidParameter(f"{name} must be all text or all numbers; got a mixture, or something else.")
    return _numbers(items, name)


def numbers(given: object, name: str) -> Numbers:
    """Read candidates that are numbers, also where they are written as text."""
    return _numbers(_items(given, name), name)


def _numbers(items: Sequence[Any], name: str) -> Numbers:
    values = [rational(item, name) for item in items]
    if (again := _repeated(values)) is not None:
        raise InvalidParameter(f"{name} must be different from each other; got {shown(items[again])} twice.")
    return Numbers(tuple(items), tuple(values))


def _repeated(values: Sequence[object]) -> int | None:
    """Give the place of a value that was there before, if there is one."""
    seen: set[object] = set()
    for place, value in enumerate(values):
        if value in seen:
            return place
        seen.add(value)
    return None


def numbers_or_grid(
    asked: str, candidates: object, between: object, step: Number | None, name: str = "candidates"
) -> Numbers | Grid:
    """Read the numbers to choose from: listed, or a grid between bounds."""
    if (between is None and step is not None) or (between is not None and candidates is not None):
        raise InvalidParameter(
            f"{asked} takes {name}=[...], or between=(lo, hi) and, if you like, step=; give one of the two."
        )
    return numbers(candidates, name) if between is None else grid(between, step)


def _items(given: object, name: str) -> list[Any]:
    """List what was given, if it can be a public list at all; what has no order of its own is sorted."""
    items = _listed(given)
    if items is None:
        raise InvalidParameter.must_be(name, "a list of what can be chosen", got=given, way_out=PUBLIC)
    if not items:
        raise InvalidParameter(f"{name} must hold at least one; got none. {PUBLIC}")
    plain = [item.value if isinstance(item, Enum) else item for item in items]
    return sorted(plain, key=_canonical_place) if isinstance(given, AbstractSet) else plain


def _listed(given: object) -> list[Any] | None:
    """See a list, a set, a series of pandas, Polars or Arrow, an enumeration or a generator as a list."""
    if isinstance(given, list | tuple | range | AbstractSet | EnumType):
        return list(given)
    if isinstance(given, np.ndarray):
        return list(given) if given.ndim == 1 else None
    if isinstance(given, Iterator):
        return None if hasattr(given, "read") else list(given)  # a file is no list of names
    home = type(given).__module__.split(".")[0]
    convert = {"pandas": "tolist", "polars": "to_list", "pyarrow": "to_pylist"}.get(home, "")
    is_column = not hasattr(given, "columns") and hasattr(given, convert or "?")
    return list(getattr(given, convert)()) if is_column else None


def _canonical_place(item: object) -> tuple[str, Any]:
    """Order names by their code points in NFC, and numbers by their size."""
    if isinstance(item, str):
        return "text", _nfc(item)
    if isinstance(item, bool | date | time):
        return type(item).__name__, item
    return "number", rational(item, "candidates") if is_real(item) else 0  # type: ignore[arg-type] # a number


def _texts(items: Sequence[str], name: str) -> Texts:
    if not all(map(_is_writable, items)):
        raise InvalidParameter(
            f"{name} must be text that can be stored: no NUL character, no lone surrogate."
        )
    if (again := _repeated([*map(_nfc, items)])) is not None:
        raise InvalidParameter(
            f"{name} must be different from each other after Unicode normalisation (NFC); "
            f"got {shown(items[again])} twice."
        )
    return Texts(tuple(str(item) for item in items))


def must_be_parts(names: Texts | Numbers | TypedValues, split: str, *, ignore_case: bool) -> None:
    """Refuse a name that no part of a cell can be: one that would be cut, or has white space around it."""
    for label in names.labels if isinstance(names, Texts) else ():
        if split in label or (label != label.strip(WHITE_SPACE) and not ignore_case):
            raise InvalidParameter(
                f"candidates must be what stands between two {split!r}, without white space around it; "
                f"got {shown(label)}. No cell could name it: write it otherwise, or leave split out.",
                parameter="split",
            )


def must_differ_in_more_than_case(names: Texts | Numbers | TypedValues, name: str = "candidates") -> None:
    """Refuse candidates that are one where case and spaces are ignored, or that are not text."""
    if not isinstance(names, Texts):
        raise InvalidParameter(f"ignore_case is for {name} that are text; these are not. Leave it out.")
    seen: dict[str, int] = {}
    for place, spelling in names.spellings(ignore_case=True):
        label = names.labels[place]
        if seen.setdefault(spelling, place) != place:
            raise InvalidParameter(
                f"{name} must differ in more than ASCII letters' case and spaces, which ignore_case ignores; "
                f"got {shown(names.labels[seen[spelling]])} and {shown(label)}."
            )
        if len(label.encode()) > LONGEST_FOLDED:
            raise InvalidParameter(
                f"{name} must have {LONGEST_FOLDED} bytes at most where case is ignored; got more."
            )


def named_order(labels: Sequence[object], names: Sequence[object]) -> list[int] | None:
    """Give the place of each candidate among the names; None if they are not the candidates, each once.

    >>> named_order(["svm", "forest"], ["forest", "svm"])
    [1, 0]
    """
    places = {_identity(name): place for place, name in enumerate(names)}
    wanted = [_identity(label) for label in labels]
    if len(names) != len(wanted) or len(places) != len(wanted) or not all(each in places for each in wanted):
        return None
    return [places[each] for each in wanted]


def _identity(label: object) -> object:
    """Give what is equal for names that mean the same candidate; None for what is none."""
    if isinstance(label, str):
        return _nfc(label)
    if isinstance(label, bool | date | time):
        return type(label).__name__, label
    return run_or_none(lambda: rational(label, "name")) if is_real(label) else None  # type: ignore[arg-type] # a number


def _is_writable(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)
