"""Domains: which inputs a measurement accepts. An error says what is accepted, never what was seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpselect.errors import InvalidParameter, OutsideDomain, shown
from dpselect.exact.numbers import is_nan, is_real, is_whole, score, whole
from dpselect.silence import run_or_none, takes_data

NOT_A_SCORE = "scores must be real numbers, without null, NaN and plus infinity."
"""Said of any of the three, anywhere. Beside it only the number of those that may win depends on values."""

NOT_A_VECTOR = "scores must be a one-dimensional array, a list, a tuple or a series of numbers."

LARGEST_ITEM = 8
"""Wider floats are read exactly, one by one."""

Values: TypeAlias = NDArray[Any] | Sequence[object]
"""A vector as it can be walked: a one-dimensional array of numbers, or a list or tuple."""


@dataclass(frozen=True)
class AtomDomain:
    """One number: of ``int``, the whole numbers; of ``float``, every exact real number and minus infinity."""

    kind: type[int | float]
    nullable: bool = False

    @takes_data
    def check(self, value: object) -> None:
        """Refuse a value outside the domain."""
        if refusal := self.refusal([value]):
            raise OutsideDomain(refusal)

    def refusal(self, values: Sequence[object]) -> str | None:
        """Say what is wrong with some of the values, wherever they stand: first of types, then of values."""
        if not all(is_null(value) or self._is_number(value) for value in values):
            return self.wanted
        return NOT_A_SCORE if any(map(self._is_excluded, values)) else None

    @property
    def wanted(self) -> str:
        """What an element must be, as a sentence."""
        if self.kind is int:
            return "scores must be whole numbers; use atom_domain(float) for others."
        return "scores must be real numbers: int, float, Decimal or Fraction."

    def _is_number(self, value: object) -> bool:
        return is_real(value) if self.kind is float else is_whole(value) or is_nan(value)

    def _is_excluded(self, value: object) -> bool:
        if is_null(value) or is_nan(value):
            return not self.nullable
        return value == math.inf


@dataclass(frozen=True)
class VectorDomain:
    """A vector of elements of one atom domain, of a public size where one is given."""

    element_domain: AtomDomain
    size: int | None = None

    @takes_data
    def check(self, values: object) -> None:
        """Refuse a vector outside the domain."""
        if refusal := self._refusal(values):
            raise OutsideDomain(refusal)

    def read(self, values: object) -> NDArray[Any] | list[Fraction | None]:
        """Read a vector for a mechanism, None standing for minus infinity.

        An array is taken as it is: whoever walks it next must look for NaN and plus infinity on the way.
        """
        vector = as_vector(values)
        array = vector if isinstance(vector, np.ndarray) and vector.itemsize <= LARGEST_ITEM else None
        refusal = self._refusal(values) if array is None else self._schema_refusal(array)
        if refusal or vector is None:
            del values, vector, array
            raise OutsideDomain(refusal or NOT_A_VECTOR)
        if array is not None:
            return array
        # A list of a kind of its own is read one by one: its maker does not want its values to decide.
        plain = vector if isinstance(vector, list | tuple) and type(vector) in (list, tuple) else None
        return [score(value) for value in vector] if plain is None else _as_array(plain)

    @property
    def wanted_size(self) -> str:
        """How many scores there must be, as a sentence."""
        return f"scores must be {shown(self.size)} in number, as the domain says."

    def _schema_refusal(self, vector: Values) -> str | None:
        """Say what is wrong with the length, or with the type of an array."""
        if self.size is not None and len(vector) != self.size:
            return self.wanted_size
        kinds = "iu" if self.element_domain.kind is int else "iuf"
        if isinstance(vector, np.ndarray) and vector.dtype.kind not in kinds:
            return self.element_domain.wanted
        return None

    def _refusal(self, values: object) -> str | None:
        """Say what is wrong, in a sentence made of the domain alone."""
        vector = as_vector(values)
        if vector is None:
            return NOT_A_VECTOR
        if refusal := self._schema_refusal(vector):
            return refusal
        return (
            self._array_refusal(vector)
            if isinstance(vector, np.ndarray)
            else self.element_domain.refusal(vector)
        )

    def _array_refusal(self, array: NDArray[Any]) -> str | None:
        if array.dtype.kind == "f" and array.size:
            excluded = np.isposinf(array).any() or (
                np.isnan(array).any() and not self.element_domain.nullable
            )
            return NOT_A_SCORE if excluded else None
        return None


def is_null(value: object) -> bool:
    """Say whether a value stands for a missing one: None, or the NA of pandas, which we do not import."""
    return value is None or type(value).__name__ == "NAType"


def _as_array(vector: Sequence[Any]) -> NDArray[Any] | list[Fraction | None]:
    """Put plain ints or plain floats into an array where that loses nothing; otherwise read them exactly."""
    kinds = set(map(type, vector))
    if kinds == {float}:
        return np.array(vector)
    if kinds == {int}:
        try:
            return np.array(vector, dtype=np.int64)
        except OverflowError:
            pass
    return [score(value) for value in vector]


def as_vector(values: object) -> Values | None:
    """See a list, a tuple, an array or a series as something to walk; None for anything else."""
    if type(values) is np.ndarray and values.ndim == 1 and values.dtype.kind != "O":
        return values
    if isinstance(values, list | tuple):
        return values
    return run_or_none(partial(_of_series, values))


def _of_series(values: object) -> Values | None:
    """See what can be converted to an array as one, or as a list, where an array would lose something."""
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
    """Take an array of one dimension as it is, unless it holds objects."""
    if array.ndim != 1:
        return None
    return array.tolist() if array.dtype.kind == "O" else array


def _listed(series: Any) -> list[object]:
    """List integers that are too wide for an array."""
    return list(series.to_list())


def _declares_integers(series: object) -> bool:
    """Say whether a series of pandas, Polars or Arrow is one of integers: come as floats, it holds a null."""
    declared = getattr(series, "dtype", None) or getattr(series, "type", "")
    return str(declared).lower().startswith(("int", "uint"))


def atom_domain(kind: type[int | float], *, nullable: bool = False) -> AtomDomain:
    """Give the domain of whole numbers (``int``) or of exact real numbers (``float``).

    >>> atom_domain(int)
    AtomDomain(kind=<class 'int'>, nullable=False)
    """
    if kind is not int and kind is not float:
        raise InvalidParameter.must_be("kind", "int or float, the type itself", got=kind)
    if not isinstance(nullable, bool):
        raise InvalidParameter.must_be("nullable", "True or False", got=nullable)
    return AtomDomain(kind, nullable)


def vector_domain(atom_domain: AtomDomain, size: int | None = None) -> VectorDomain:
    """Give the domain of vectors whose elements are of one atom domain."""
    if not isinstance(atom_domain, AtomDomain):
        raise InvalidParameter.must_be(
            "atom_domain",
            "a domain of numbers",
            got=atom_domain,
            way_out="Write atom_domain(int) or atom_domain(float).",
        )
    return VectorDomain(atom_domain, None if size is None else whole(size, "size", least=1))
