"""Scores to select from, made by formulas: the same on every machine, in every process.

What looks random here is a hash of the index (the finaliser of Vigna's splitmix64).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Scores: TypeAlias = NDArray[Any]

CHUNK = 2**20
STEP = 0x9E3779B97F4A7C15


class Pattern(NamedTuple):
    """A name, and the formula: from the number of scores and the scale of the noise."""

    name: str
    scores: Callable[[int, int], Scores]
    moves_with_scale: bool = False


def hashed(indices: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the bits of each index."""
    mixed = (indices + np.uint64(1)) * np.uint64(STEP)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def uniforms(indices: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Give a number strictly between 0 and 1 for each index."""
    return ((hashed(indices) >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


def filled(n: int, dtype: type, formula: Callable[[NDArray[np.uint64]], Scores]) -> Scores:
    """Compute a formula of the indices below n, in pieces that stay in the cache."""
    scores: Scores = np.empty(n, dtype=dtype)
    for start in range(0, n, CHUNK):
        stop = min(start + CHUNK, n)
        scores[start:stop] = formula(np.arange(start, stop, dtype=np.uint64))
    return scores


def uniform_counts(n: int, scale: int) -> Scores:
    """Give counts from 0 to 9999, each as likely."""
    del scale
    return filled(n, np.int64, lambda indices: hashed(indices) % np.uint64(10_000))


def zipf_counts(n: int, scale: int) -> Scores:
    """Give counts of which one in c is above c."""
    del scale
    return filled(n, np.int64, lambda indices: 1 / uniforms(indices))


def normal_floats(n: int, scale: int) -> Scores:
    """Give standard normal numbers, after Box and Muller."""
    del scale

    def normals(indices: NDArray[np.uint64]) -> Scores:
        radii = np.sqrt(-2 * np.log(uniforms(2 * indices)))
        turns = uniforms(2 * indices + np.uint64(1))
        normal: Scores = radii * np.cos(math.tau * turns)
        return normal

    return filled(n, np.float64, normals)


def all_ties(n: int, scale: int) -> Scores:
    """Give everybody the same count."""
    del scale
    return np.full(n, 100, dtype=np.int64)


def all_behind_but_one(n: int, scale: int) -> Scores:
    """Give one candidate a lead with which it wins about every second time."""
    scores = np.full(n, 1000 - scale * math.log(n))
    scores[n // 2] = 1000
    return scores


INTEGERS = Pattern("uniform counts", uniform_counts)
FLOATS = Pattern("normal floats", normal_floats)
PATTERNS = [
    INTEGERS,
    Pattern("Zipf counts", zipf_counts),
    FLOATS,
    Pattern("all ties", all_ties),
    Pattern("all behind but one", all_behind_but_one, moves_with_scale=True),
]
