"""The one door to the system's randomness.

Everything random in dpselect is a function of the words that a ``Randomness`` hands out. Production passes
``system()``; tests pass sources with narrow words and walk every path.

Proof: randomness.proof.md
"""

from __future__ import annotations

import os
import struct
from collections.abc import Hashable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpselect.errors import InvalidParameter, RandomnessFailed
from dpselect.exact.numbers import whole


class Randomness(Protocol):
    """A source of independent, uniformly distributed words of ``width`` bits."""

    width: int

    def word(self) -> int:
        """Give the next word, 0 <= word < 2**width."""

    def words(self, n: int) -> NDArray[np.uint64]:
        """Give the next n words."""

    def mark(self, key: Hashable) -> None:
        """Note that all the calling function will do from here on is a function of ``key``.

        ... and of what was known when it called ``mark`` for the first time. Production ignores it;
        an enumeration merges paths with equal keys.
        """


class SystemRandomness:
    """Words of 64 bits from ``os.urandom``, read ahead in small blocks.

    A word leaves the block when it is handed out: ``list.pop`` is atomic, so no two threads get the same one.
    A forked child drops what its parent had read ahead.
    """

    __slots__ = ("_ahead", "_process")

    width = 64
    _BLOCK = 512

    def __init__(self) -> None:
        """Start with nothing read ahead."""
        self._ahead: list[int] = []
        self._process = os.getpid()
        os.register_at_fork(after_in_child=self._ahead.clear)

    def word(self) -> int:
        """Give the next word."""
        if self._process != os.getpid():  # a fork that Python was not told of
            self._process = os.getpid()
            self._ahead.clear()
        try:
            return self._ahead.pop()
        except IndexError:
            pass
        fresh: list[int] = list(struct.unpack(f"={self._BLOCK}Q", _read(8 * self._BLOCK)))
        word = fresh.pop()
        self._ahead.extend(fresh)
        return word

    def words(self, n: int) -> NDArray[np.uint64]:
        """Give the next n words, straight from the system."""
        return np.frombuffer(_read(8 * whole(n, "n", least=0)), dtype=np.uint64)

    def mark(self, key: Hashable) -> None:
        """Do nothing."""

    def __reduce__(self) -> str:
        """Pickle and copy as the name of the one source, never with what was read ahead."""
        return "_system"

    def __repr__(self) -> str:
        """Show no word."""
        return "<system randomness>"


def _read(size: int) -> bytes:
    """Read from the operating system, all of it or nothing."""
    try:
        fresh = os.urandom(size)
    except Exception:  # noqa: BLE001 - whatever failed there, the caller gets one constant sentence
        fresh = b""
    if len(fresh) != size:
        raise RandomnessFailed
    return fresh


_system = SystemRandomness()


def system() -> Randomness:
    """Give the operating system's randomness: one source for all threads of this process."""
    return _system


def is_source(randomness: object) -> bool:
    """Say whether an object can hand out random words."""
    return callable(getattr(randomness, "word", None))


def checked(randomness: Randomness) -> Randomness:
    """Refuse what is no source of random words."""
    if not is_source(randomness):
        raise InvalidParameter.must_be(
            "randomness", "a source of random words", got=randomness, way_out="Pass system()."
        )
    return randomness
