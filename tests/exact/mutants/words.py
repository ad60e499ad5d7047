"""Wrong sources of words."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

# A generator that is seeded once: a forked child goes on as its parent does.
A_SHARED_GENERATOR = """
    import numpy, random
    class Source:
        generator = random.Random()
        def word(self):
            return self.generator.getrandbits(64)
        def words(self, n):
            return numpy.array([self.word() for _ in range(n)], dtype=numpy.uint64)
    source = Source()
"""


class InTwoSteps:
    """A word is looked at, and then crossed out: between the two, another thread may look at it as well."""

    width = 64

    def __init__(self) -> None:
        self._next = 0

    def word(self) -> int:
        word = self._next
        time.sleep(0)  # the other threads run now, as they might at any time
        self._next = word + 1
        return word

    def words(self, n: int) -> NDArray[np.uint64]:
        return np.array([self.word() for _ in range(n)], dtype=np.uint64)

    def mark(self, key: object) -> None:
        """Merge nothing."""
