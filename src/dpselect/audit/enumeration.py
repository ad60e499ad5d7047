"""Walk every path of a program through its random bits: the exact law of its output, up to a known remainder.

A program is a function of a ``Randomness``. Its paths form a tree: a run on a given tape of words either
returns a value, or asks for a word beyond the tape. Each run is replayed from the start, so nothing but
determinism is asked of the program.
"""

from __future__ import annotations

import inspect
import sys
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import FrameType, MappingProxyType
from typing import Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import whole
from dpselect.exact.randomness import Randomness

Value = TypeVar("Value", bound=Hashable)
Tape: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Law(Generic[Value]):
    """What an enumeration has proved: lower[v] <= P(v) <= lower[v] + unresolved, for every v."""

    lower: Mapping[Value, Fraction]
    unresolved: Fraction

    def allows(self, value: Value, low: Fraction, high: Fraction) -> bool:
        """Say whether all of [low, high] is within what was proved of P(value)."""
        proved = self.lower.get(value, Fraction(0))
        return proved <= low <= high <= proved + self.unresolved


def enumerate_law(program: Callable[[Randomness], Value], depth: int, width: int = 1) -> Law[Value]:
    """Walk all tapes of up to ``depth`` bits, in words of ``width`` bits.

    Tapes of equal length that end in equal marks are walked once, with the weight of both.

    >>> law = enumerate_law(lambda randomness: randomness.word() & randomness.word(), depth=2)
    >>> law.lower[1], law.unresolved
    (Fraction(1, 4), Fraction(0, 1))
    """
    if not callable(program):
        raise InvalidParameter.must_be("program", "a function of a Randomness", got=program)
    bits = whole(width, "width", least=1, most=16)
    longest = whole(depth, "depth", least=0) // bits
    returned: defaultdict[Value, Fraction] = defaultdict(Fraction)
    pending: list[list[tuple[Tape, int]]] = [[] for _ in range(longest + 2)]
    merged: list[dict[Hashable, tuple[Tape, int]]] = [{} for _ in range(longest + 2)]
    pending[0].append(((), 1))
    for length in range(longest + 1):
        for tape, weight in pending[length]:
            run = _Run(tape, bits, longest)
            try:
                value = program(run)
            except TapeEnd:
                first, so_far = merged[len(run.tape)].get(run.state, (tuple(run.tape), 0))
                merged[len(run.tape)][run.state] = (first, so_far + weight)
            else:
                returned[value] += Fraction(weight, 2 ** (bits * run.position))
            for at in range(length, len(run.tape)):
                prefix = tuple(run.tape[:at])
                pending[at + 1].extend(((*prefix, word), weight) for word in range(1, 2**bits))
        for tape, weight in merged[length].values():
            pending[length + 1].extend(((*tape, word), weight) for word in range(2**bits))
    return Law(MappingProxyType(dict(returned)), 1 - sum(returned.values(), Fraction(0)))


class TapeEnd(BaseException):
    """A run has reached a mark, or the depth. Not an error: no program should catch it."""


class _Run:
    """One run of a program: it reads a tape, then zeros until it marks, ends or is deep enough."""

    def __init__(self, tape: Tape, width: int, longest: int) -> None:
        self.width = width
        self.tape = list(tape)
        self.position = 0
        self.state: tuple[Tape, int, Hashable] | None = None
        self._longest = longest
        self._scopes: dict[FrameType, tuple[int, int]] = {}

    def word(self) -> int:
        if self.position == len(self.tape):
            if self.state is not None or self.position == self._longest:
                self._scopes.clear()
                raise TapeEnd
            self.tape.append(0)
        self.position += 1
        return self.tape[self.position - 1]

    def words(self, n: int) -> NDArray[np.uint64]:
        return np.array([self.word() for _ in range(n)], dtype=np.uint64)

    def mark(self, key: Hashable) -> None:
        """Merge on the key, on the call that marks, and on the tape up to where that call marked first.

        Runs with an equal tape up to there agree in everything outside that call, and in how many calls have
        marked before it; the key vouches for what is inside. So a sampler may mark without knowing who called
        it. A generator may not: its caller has seen what it yielded, so its marks are not heard.
        """
        frame = sys._getframe(1)  # noqa: SLF001 - the calling frame
        if frame.f_code.co_flags & inspect.CO_GENERATOR:
            return
        scope, call = self._scopes.setdefault(frame, (self.position, len(self._scopes)))
        if self.position == len(self.tape) and (self.state is None or scope < len(self.state[0])):
            self.state = (tuple(self.tape[:scope]), call, key)
