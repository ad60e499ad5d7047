"""Reading public scores: how far each candidate lies behind the best, exactly and as floats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import Number, positive, score
from dpselect.privacy.domains import AtomDomain, VectorDomain

LARGEST_AS_FLOAT = 10**300
"""Larger scores are read as fractions, not floats; scales above it, or below 1 / it, are refused."""

BEHIND_ALL = 1e6
"""A candidate 1e6 scales behind has a probability below e**-1e6, which is 0 as a float."""


def spread_of(scale: Number) -> Fraction:
    """Read the scale of a noise whose law is wanted."""
    spread = positive(scale, "scale")
    if not Fraction(1, LARGEST_AS_FLOAT) <= spread <= LARGEST_AS_FLOAT:
        raise InvalidParameter.must_be("scale", "from 1e-300 to 1e300 for a table of a law", got=scale)
    return spread


def exact_scores(public_scores: object) -> list[Fraction | None]:
    """Read scores as the exact numbers that they are; None for a candidate that may not win."""
    values = _read(public_scores)
    exact = [score(value) for value in values.tolist()] if isinstance(values, np.ndarray) else values
    if all(value is None for value in exact):
        raise InvalidParameter("public_scores must have a candidate that may win; got none.")
    return exact


def exact_gaps(public_scores: object) -> list[Fraction | None]:
    """Give how far each candidate lies behind the best, exactly."""
    exact = exact_scores(public_scores)
    best = max(value for value in exact if value is not None)
    return [None if value is None else best - value for value in exact]


def gaps(public_scores: object, scale: Fraction) -> NDArray[np.float64]:
    """Give how many scales each candidate lies behind the best, to a relative 2**-50; infinity for never."""
    values = _read(public_scores)
    if isinstance(values, np.ndarray) and values.size:
        if values.dtype.kind in "iu":
            # Differences of 64-bit integers fit into 64 bits without a sign, and wrap around to the truth.
            unsigned = values.astype(np.int64 if values.dtype.kind == "i" else np.uint64).astype(np.uint64)
            return np.asarray((unsigned[values.argmax()] - unsigned) / float(scale))
        wide = values.astype(np.float64)
        best = wide.max()
        if np.abs(wide[np.isfinite(wide)]).max(initial=0) < float(LARGEST_AS_FLOAT) and np.isfinite(best):
            return np.asarray((best - wide) / float(scale))
    return np.array([_in_scales(gap, scale) for gap in exact_gaps(public_scores)])


def _in_scales(gap: Fraction | None, scale: Fraction) -> float:
    return math.inf if gap is None or gap > BEHIND_ALL * scale else float(gap / scale)


def labels(outputs: Sequence[object] | None, n: int) -> tuple[object, ...]:
    """Name the candidates: by the given outputs, or by their places."""
    named = tuple(range(n) if outputs is None else outputs)
    if len(named) != n:
        raise InvalidParameter.must_be("outputs", f"{n}, one for each score", got=len(named))
    if outputs is not None and len(set(named)) != n:
        raise InvalidParameter("outputs must differ from each other.")
    return named


def _read(public_scores: object) -> NDArray[Any] | list[Fraction | None]:
    domain = VectorDomain(AtomDomain(float))
    domain.check(public_scores)
    return domain.read(public_scores)
