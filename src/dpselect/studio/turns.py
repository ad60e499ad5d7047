"""Turns: of each key some requests are answered at once, and of all not too many; the others wait.

A key that asks much would otherwise hold all the threads that answer, and everybody would wait for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from dpselect.studio.refusals import Refused

AT_ONCE_OF_ONE = 8
"""Requests of one name that are answered at once."""
MOST_OF_ONE, MOST_OF_ALL = 256, 1024
"""Requests that are answered or wait; more are told to come again."""


@dataclass
class _Turn:
    free: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE_OF_ONE))
    present: int = 0


class Turns:
    """Who is being answered, and who waits. It belongs to one event loop."""

    def __init__(self) -> None:
        """Begin without one."""
        self._all: dict[Hashable, _Turn] = {}
        self._present = 0

    @asynccontextmanager
    async def turn_of(self, name: Hashable) -> AsyncIterator[None]:
        """Wait until it is the turn of one request more of this name."""
        turn = self._all.setdefault(name, _Turn())
        if turn.present >= MOST_OF_ONE or self._present >= MOST_OF_ALL:
            self._leave(name, turn)
            raise Refused(429, "too many requests at once. Come again in a moment.")
        turn.present += 1
        self._present += 1
        try:
            async with turn.free:
                yield
        finally:
            turn.present -= 1
            self._present -= 1
            self._leave(name, turn)

    def _leave(self, name: Hashable, turn: _Turn) -> None:
        """Forget a name of which no request is here."""
        if not turn.present:
            self._all.pop(name, None)
