"""Sessions: how the ledger speaks to a database. One small interface, one module for each database."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakSet, finalize

PATIENCE = 30
"""How long to wait for others who write, in seconds."""


class Session(Protocol):
    """A database that holds one ledger. Safe for threads and forks; lives until ``close``."""

    place: str
    """Where it is, as it may be shown: no password."""
    shared: bool
    """Whether users of other machines open it too: each has an anchor of their own."""
    lock: threading.RLock
    """Held by the one thread that writes; no fork happens meanwhile."""

    def writable(self) -> bool:
        """Say whether it might be charged; False of a copy that can only be looked at."""

    def exists(self) -> bool:
        """Say whether there is a ledger."""

    def create(self, header: Sequence[Any]) -> None:
        """Make the tables and write the header, in one transaction; refuse if there is a ledger."""

    def rows(self, query: str, *values: object) -> list[Any]:
        """Ask; each ? in the query stands for a value."""

    def extend(self, table: str, following: Callable[[list[Any]], Sequence[Any]]) -> None:
        """Add the row that follows the last two of a table, and commit durably; all other writers wait.

        ``following`` gets the newest first, and may ask more; what it raises rolls back.
        """

    def check(self) -> None:
        """Refuse a database whose tables, triggers or indexes are not those that ``create`` made."""

    def anchor(self) -> Path:
        """Say where the anchor is, unless somebody chose another place."""

    def close(self) -> None:
        """Let go of the database; the next call opens it again."""


C = TypeVar("C")


class Held(Generic[C]):
    """One connection, used by one thread at a time, opened when needed, never carried across a fork."""

    def __init__(self, connect: Callable[[], C], close: Callable[[C], None]) -> None:
        """Take the two functions that open and close."""
        self._connect, self._close = connect, close
        self._open: list[tuple[int, C]] = []
        self.lock = threading.RLock()
        finalize(self, _let_go, self._open, close)
        _all.add(self)

    def get(self) -> C:
        """Give the connection to somebody who has the lock."""
        if self._open and self._open[0][0] != os.getpid():  # a fork that Python was not told of
            _strays.append(self._open.pop())  # it is the parent's: neither use it nor close it
        if not self._open:
            self._open.append((os.getpid(), self._connect()))
        return self._open[0][1]

    def drop(self) -> None:
        """Close the connection, if there is one."""
        with self.lock:
            _let_go(self._open, self._close)


def _let_go(opened: list[tuple[int, C]], close: Callable[[C], None]) -> None:
    """Close what this process opened."""
    while opened:
        process, connection = opened.pop()
        if process == os.getpid():
            close(connection)
        else:
            _strays.append(connection)


_all: WeakSet[Held[Any]] = WeakSet()
_strays: list[object] = []
_waiting: list[Held[Any]] = []


def _before_fork() -> None:
    """Wait until nobody is in the middle of something, and close: databases do not survive a fork."""
    held = sorted(_all, key=id)
    for one in held:
        one.lock.acquire()
        one.drop()
    _waiting.extend(held)


def _after_fork() -> None:
    for one in _waiting:
        one.lock.release()
    _waiting.clear()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
