"""Sources of randomness that hand out what a test wants, or refuse to hand out anything."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from dpselect.exact.randomness import system


class Given:
    """Hands out the given words; a sampler that asks for more has drawn too many."""

    def __init__(self, words: Iterable[int], width: int = 64) -> None:
        self.width = width
        self.drawn = 0
        self._words: Iterator[int] = iter(words)

    def word(self) -> int:
        self.drawn += 1
        for word in self._words:
            return word
        raise AssertionError("a word too many was drawn")

    def words(self, n: int) -> NDArray[np.uint64]:
        return np.array([self.word() for _ in range(n)], dtype=np.uint64)

    def mark(self, key: Hashable) -> None:
        """Merge nothing."""


class Begun(Given):
    """Hands out the given words first, and then those of the system."""

    def word(self) -> int:
        for word in self._words:
            return word
        return system().word()


def untouchable() -> Given:
    """Hand out nothing: what is refused must be refused before the first word is drawn."""
    return Given([])
