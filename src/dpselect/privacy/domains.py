"""Domains: which inputs a measurement accepts. An error says what is accepted, never what was seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpselect.errors import InvalidParameter, OutsideDomain, shown
from dpselect.exact.numbers import is_nan, is_real, is_whole, whole
from dpselect.privacy.vectors import Values, as_vector, exact_values
from dpselect.silence import takes_data

NOT_A_SCORE = "scores must be real numbers, without null, NaN and plus infinity."
"""One sentence for all three, so that an error does not tell which of them was seen, or where."""

NOT_A_VECTOR = "scores must be a one-dimensional array, a list, a tuple or a series of numbers."

LARGEST_ITEM = 8
"""Floats of more than 8 bytes are read exactly, one by one."""


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

        An array is taken as it is: the next reader must refuse NaN and plus infinity.
        """
        vector = as_vector(values)
        array = vector if isinstance(vector, np.ndarray) and vector.itemsize <= LARGEST_ITEM else None
        refusal = self._refusal(values) if array is None else self._schema_refusal(array)
        if refusal or vector is None:
            del values, vector, array
            raise OutsideDomain(refusal or NOT_A_VECTOR)
        if array is not None:
            return array
        return exact_values(vector)

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
