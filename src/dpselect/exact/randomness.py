"""The one door to the system's randomness.

Everything random in dpselect is a function of the words that a ``Randomness`` hands out. Production passes
``system()``; tests pass sources with narrow words and walk every path.

Proof: randomness.proof.md
"""

from __future__ import annotations

import os
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
    """Words of 64 bits from ``os.urandom``, read ahead in small pieces: a call of the system takes long.

    What is handed out leaves its list: ``list.pop`` is atomic, so no two threads get the same word.
    A forked child drops what its parent had read ahead.
    """

    __slots__ = ("_pieces", "_process", "_words")

    width = 64
    _PIECE = 128
    """The number of words in a piece: they are handed out together, or one by one."""
    _PIECES = 17
    """The number of pieces that are read at a time. It is prime: of calls that take turns, each takes as
    many pieces, and none of the sides does all the reading."""

    def __init__(self) -> None:
        """Start with nothing read ahead."""
        self._words: list[int] = []
        self._pieces: list[NDArray[np.uint64]] = []
        self._process = os.getpid()
        os.register_at_fork(after_in_child=self._forget)

    def word(self) -> int:
        """Give the next word."""
        if self._process != os.getpid():
            self._notice_fork()
        try:
            return self._words.pop()
        except IndexError:
            pass
        fresh: list[int] = self._piece().tolist()
        word = fresh.pop()
        self._words.extend(fresh)
        return word

    def words(self, n: int) -> NDArray[np.uint64]:
        """Give the next n words; many, straight from the system."""
        if type(n) is not int or n < 0:
            n = whole(n, "n", least=0)
        if n == 0 or n > self._PIECE:
            return _read(n)
        piece = self._piece()
        return piece if n == self._PIECE else piece[:n]

    def _piece(self) -> NDArray[np.uint64]:
        if self._process != os.getpid():
            self._notice_fork()
        try:
            return self._pieces.pop()
        except IndexError:
            pass
        block = _read(self._PIECES * self._PIECE).reshape(self._PIECES, self._PIECE)
        piece, *others = [row.copy() for row in block]
        self._pieces.extend(others)
        return piece

    def _notice_fork(self) -> None:
        """Drop what was read ahead: there was a fork that Python was not told of."""
        self._forget()
        self._process = os.getpid()

    def _forget(self) -> None:
        self._words.clear()
        self._pieces.clear()

    def mark(self, key: Hashable) -> None:
        """Do nothing."""

    def __reduce__(self) -> str:
        """Pickle and copy as the name of the one source, never with what was read ahead."""
        return "_system"

    def __repr__(self) -> str:
        """Show no word."""
        return "<system randomness>"


def _read(n: int) -> NDArray[np.uint64]:
    """Read words from the operating system, all of them or nothing."""
    try:
        fresh = os.urandom(8 * n)
    except Exception:  # noqa: BLE001 - whatever failed there, the caller gets one constant sentence
        fresh = b""
    if len(fresh) != 8 * n:
        raise RandomnessFailed
    return np.frombuffer(fresh, np.uint64)


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
