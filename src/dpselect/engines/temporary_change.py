"""A setting of another program that is changed while a release needs it, and then put back.

Releases are counted: of two that overlap, the second does not take the change for what was there before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock


class TemporaryChange:
    """What ``change`` changes; what it returns puts everything back."""

    def __init__(self, change: Callable[[], Callable[[], None]]) -> None:
        self._change = change
        self._lock = Lock()
        self._users = 0
        self._put_back: Callable[[], None] | None = None

    def begin(self) -> None:
        """Need the change; the first release that does makes it."""
        with self._lock:
            if self._put_back is None:
                self._put_back = self._change()
            self._users += 1

    def end(self) -> None:
        """Need it no longer; the last release puts everything back."""
        with self._lock:
            self._users -= 1
            if not self._users and self._put_back is not None:
                put_back, self._put_back = self._put_back, None
                put_back()

    @contextmanager
    def lasting(self) -> Iterator[None]:
        """Need it for as long as the block lasts."""
        self.begin()
        try:
            yield
        finally:
            self.end()
