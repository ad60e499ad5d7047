"""Finding scores in an error: in its text, its past, and the frames of the library that it went through."""

import re
import traceback
from array import array
from collections import UserDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, ValuesView
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import FrameType, FunctionType, GeneratorType, ModuleType
from typing import Any

import numpy as np

import dpselect

LIBRARY = Path(dpselect.__file__).parent
GENERATED = "<string>"
"""Where the methods are that a dataclass writes by itself."""

CANARIES = (31337.25, 8675309)
"""Scores that nothing else would say by chance."""

FRAMES: dict[str, Callable[[Any], list[object]]] = {
    "numpy": lambda array: list(array.ravel().tolist()) if hasattr(array, "ravel") else [],
    "pandas": lambda frame: list(frame.to_numpy().ravel().tolist()) if hasattr(frame, "to_numpy") else [],
    "polars": lambda frame: list(frame.to_numpy().ravel().tolist()) if hasattr(frame, "to_numpy") else [],
    "pyarrow": lambda frame: list(frame.to_pylist()) if hasattr(frame, "to_pylist") else [],
}
"""Tables and columns, which keep their rows where nothing else looks."""

_WRITTEN = re.compile(r"(?<![0-9A-Za-z])(31337|8675309|125349)(?![0-9A-Za-z])")
"""A canary as text; 31337.25 is 125349/4. Not as part of an address in memory, which has more digits."""


def leaks(error: BaseException, library: Path = LIBRARY) -> list[str]:
    """Say where a canary can be found, starting from nothing but the error."""
    return [*_in_errors(error, library), *_in_shown_locals(error, library)]


def _in_errors(error: BaseException, library: Path) -> Iterator[str]:
    """Walk the error and all errors behind it, also those that a traceback would not show."""
    waiting, walked = [error], set[int]()
    while waiting:
        one = waiting.pop()
        if id(one) in walked:
            continue
        walked.add(id(one))
        name = type(one).__name__
        for place, value in {
            "str": str(one),
            "repr": repr(one),
            "args": one.args,
            "notes": getattr(one, "__notes__", []),
            "attributes": vars(one),
        }.items():
            if holds_a_canary(value):
                yield f"{place} of {name}"
        for frame, _ in traceback.walk_tb(one.__traceback__):
            if _is_ours(frame, library):
                for local, value in frame.f_locals.items():
                    if holds_a_canary(value):
                        yield f"{local} in {frame.f_code.co_qualname} under {name}"
        waiting += [behind for behind in (one.__cause__, one.__context__) if behind is not None]


def _is_ours(frame: FrameType, library: Path) -> bool:
    """Say whether a frame is of a file of the library, or of code that was generated for a class of it."""
    if frame.f_code.co_filename == GENERATED:
        return str(frame.f_globals.get("__name__")).partition(".")[0] == LIBRARY.name
    return Path(frame.f_code.co_filename).is_relative_to(library)


def _in_shown_locals(error: BaseException, library: Path) -> Iterator[str]:
    """Read what a reporter of crashes would send home."""
    told: traceback.TracebackException | None = traceback.TracebackException(
        type(error), error, error.__traceback__, capture_locals=True
    )
    while told is not None:
        for frame in told.stack:
            if Path(frame.filename).is_relative_to(library) or frame.filename == GENERATED:
                for local, text in (frame.locals or {}).items():
                    if _WRITTEN.search(text):
                        yield f"{local} of {frame.name} as shown"
        told = told.__cause__ or told.__context__


def holds_a_canary(value: object) -> bool:
    """Look through containers, arrays, attributes and slots."""
    waiting, walked = [value], dict[int, object]()
    while waiting:
        one = waiting.pop()
        if id(one) in walked:
            continue
        walked[id(one)] = one  # kept alive, so that no id is used twice
        if _is_a_canary(one):
            return True
        waiting += _inside(one)
    return False


def _is_a_canary(value: object) -> bool:
    match value:
        case str():
            return _WRITTEN.search(value) is not None
        case bytes() | bytearray() | memoryview():
            return _WRITTEN.search(bytes(value).decode("latin-1")) is not None
        case Decimal():
            return value.is_finite() and value in map(Decimal, CANARIES)
        case int() | float() | complex() | Fraction() | np.number():
            return value in CANARIES
        case _:
            return False


def _inside(value: Any) -> Iterable[object]:
    if rows := FRAMES.get(type(value).__module__.partition(".")[0]):
        return rows(value)
    match value:
        case str() | bytes() | type() | ModuleType() | FunctionType():
            return []  # what a caller's own function refers to is the caller's
        case Mapping():
            held = value.data if isinstance(value, UserDict) else value  # its own methods may complain
            return [*held.keys(), *held.values()]
        case list() | tuple() | set() | frozenset() | deque() | array() | ValuesView():
            return list(value)
        case GeneratorType():
            return list(value.gi_frame.f_locals.values()) if value.gi_frame else []
    slots = [getattr(kind, "__slots__", ()) for kind in type(value).__mro__]
    names = [name for slot in slots for name in ([slot] if isinstance(slot, str) else slot)]
    return [*getattr(value, "__dict__", {}).values(), *(getattr(value, name, None) for name in names)]
