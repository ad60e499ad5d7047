"""Reading vectors: lists, tuples, arrays, and series of pandas, Polars and Arrow, none of which we import."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpselect.exact.numbers import score
from dpselect.silence import run_or_none

Values: TypeAlias = NDArray[Any] | Sequence[object]
"""A vector as it can be walked: a one-dimensional array of numbers, or a list or tuple."""


def as_vector(values: object) -> Values | None:
    """Read a list, a tuple, an array or a series as a vector; None for anything else.

    >>> as_vector((1, 2)), as_vector("12"), as_vector(np.zeros((2, 2)))
    ((1, 2), None, None)
    """
    if type(values) is np.ndarray and values.ndim == 1 and values.dtype.kind != "O":
        return values
    if isinstance(values, list | tuple):
        return values
    return run_or_none(partial(_of_series, values))


def _of_series(values: object) -> Values | None:
    """Convert what offers an array to one, or to a list where an array would lose something."""
    if isinstance(values, str | bytes) or not hasattr(values, "__array__"):
        return None
    if isinstance(values, np.ma.MaskedArray):
        return as_vector(values.tolist())
    array: NDArray[Any] | None = run_or_none(partial(np.asarray, values))
    if array is None:
        return _listed(values) if _declares_integers(values) else None
    if array.ndim == 1 and array.dtype.kind == "f" and _declares_integers(values):
        return [None if math.isnan(value) else int(value) for value in array.tolist()]
    return _walkable(array)


def _walkable(array: NDArray[Any]) -> Values | None:
    """Take an array of one dimension as it is; one of objects becomes a list."""
    if array.ndim != 1:
        return None
    return array.tolist() if array.dtype.kind == "O" else array


def _listed(series: Any) -> list[object]:
    """List integers that are too wide for an array."""
    return list(series.to_list())


def _declares_integers(series: object) -> bool:
    """Say whether a series has an integer type; one that arrives as floats nonetheless holds a null."""
    declared = getattr(series, "dtype", None) or getattr(series, "type", "")
    return str(declared).lower().startswith(("int", "uint"))


def exact_values(vector: Values) -> NDArray[Any] | list[Fraction | None]:
    """Put plain ints or plain floats into an array where that loses nothing; otherwise read them exactly.

    A list of a class of its own is read one by one: its author does not want the values to decide how.
    """
    if not isinstance(vector, list | tuple) or type(vector) not in (list, tuple):
        return [score(value) for value in vector]
    kinds = set(map(type, vector))
    if kinds == {float}:
        return np.array(vector)
    if kinds == {int}:
        try:
            return np.array(vector, dtype=np.int64)
        except OverflowError:
            pass
    return [score(value) for value in vector]
