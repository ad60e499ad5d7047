"""A setting of another program that is changed while a release needs it, and then put back.

Releases are counted: of two that overlap, the second does not take the change for what was there before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock


class Hold:
    """What ``change`` changes; what it returns puts everything back."""

    def __init__(self, change: Callable[[], Callable[[], None]]) -> None:
        self._change = change
        self._lock = Lock()
        self._holders = 0
        self._put_back: Callable[[], None] | None = None

    def take(self) -> None:
        """Hold it; the first who does changes it."""
        with self._lock:
            if self._put_back is None:
                self._put_back = self._change()
            self._holders += 1

    def let_go(self) -> None:
        """Hold it no longer; the last one puts everything back."""
        with self._lock:
            self._holders -= 1
            if not self._holders and self._put_back is not None:
                put_back, self._put_back = self._put_back, None
                put_back()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold it for a while."""
        self.take()
        try:
            yield
        finally:
            self.let_go()
