"""A connection that survives forks and threads: it belongs to the process and the thread that use it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar
from weakref import WeakSet, finalize

_C = TypeVar("_C")


class ForkSafeConnection(Generic[_C]):
    """One connection. One thread uses it at a time; it opens when needed; no fork carries it along."""

    def __init__(self, connect: Callable[[], _C], close: Callable[[_C], None]) -> None:
        """Take the functions that open and close the connection."""
        self._connect, self._close = connect, close
        self._open: list[tuple[int, _C]] = []
        self.lock = threading.RLock()
        finalize(self, _close_own, self._open, close)
        _living.add(self)

    def get(self) -> _C:
        """Give the connection to a caller that holds the lock."""
        if self._open and self._open[0][0] != os.getpid():  # a fork that bypassed Python's hooks
            _parents_connections.append(self._open.pop())  # neither used nor closed here
        if not self._open:
            self._open.append((os.getpid(), self._connect()))
        return self._open[0][1]

    def drop(self) -> None:
        """Close the connection, if there is one."""
        with self.lock:
            _close_own(self._open, self._close)


def _close_own(opened: list[tuple[int, _C]], close: Callable[[_C], None]) -> None:
    """Close the connection if this process opened it; leave it alone if the parent did."""
    while opened:
        process, connection = opened.pop()
        if process == os.getpid():
            close(connection)
        else:
            _parents_connections.append(connection)


_living: WeakSet[ForkSafeConnection[Any]] = WeakSet()
_parents_connections: list[object] = []
"""Connections of the process that forked this one. They are kept here, so that no destructor closes them."""
_locked_for_fork: list[ForkSafeConnection[Any]] = []


def _before_fork() -> None:
    """Wait until no connection is in use, then close them all: databases do not survive a fork."""
    connections = sorted(_living, key=id)
    for each in connections:
        each.lock.acquire()
        each.drop()
    _locked_for_fork.extend(connections)


def _after_fork() -> None:
    for each in _locked_for_fork:
        each.lock.release()
    _locked_for_fork.clear()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
