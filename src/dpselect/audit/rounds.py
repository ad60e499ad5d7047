"""Programs of rounds, enumerated: walk one round to its end, and know the law of all.

A sampler by rejection repeats one round until a candidate is accepted. Rounds are independent and alike, so
the law of one gives the law of all: P(i) = p_i / (1 - p_again).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

import numpy as np
from numpy.typing import NDArray

from dpselect.audit.enumeration import Law, enumerate_law
from dpselect.errors import InvalidParameter
from dpselect.exact.enclosures import Enclosure
from dpselect.exact.randomness import Randomness


class Again(BaseException):
    """A round has ended, and no candidate was accepted. Not an error: no program should catch it."""


class OneRound:
    """Passes words on until a round ends: a sampler marks where each begins, with nothing to remember."""

    def __init__(self, source: Randomness) -> None:
        """Take the source of words."""
        self.width = source.width
        self._source = source
        self._begun = 0

    def word(self) -> int:
        """Give the next word."""
        return self._source.word()

    def words(self, n: int) -> NDArray[np.uint64]:
        """Give the next n words."""
        return self._source.words(n)

    def mark(self, key: Hashable) -> None:
        """Count the rounds; a round that remembers something of the one before is none."""
        if key != ():
            raise InvalidParameter("a round must remember nothing: its mark must be the empty tuple.")
        self._begun += 1
        if self._begun == 2:
            raise Again


def enumerate_rounds(
    program: Callable[[Randomness], int], depth: int, width: int = 1
) -> dict[int, Enclosure]:
    """Enclose the law of a program that repeats a round until a candidate is accepted."""

    def one(source: Randomness) -> int | None:
        try:
            return program(OneRound(source))
        except Again:
            return None

    return of_rounds(enumerate_law(one, depth, width))


def of_rounds(law: Law[int | None]) -> dict[int, Enclosure]:
    """Enclose the law of rounds that are repeated while they give None."""
    again, rest = law.lower.get(None, 0), law.unresolved
    return {
        i: Enclosure(low / (1 - again), (low + rest) / (1 - again - rest))
        for i, low in law.lower.items()
        if i is not None
    }
