"""How much of a running query is done: an engine that knows tells it, a display asks. Nothing depends on it.

The engine offers a function while its query runs; the display calls it from a thread of its own. Where no
display is open, nothing is kept.

>>> with watched() as query:
...     with telling(lambda: 25.0):
...         during = query.share()
...     during, query.share()
(0.25, None)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from time import monotonic

from dpselect.silence import run_or_none


class RunningQuery:
    """The query that runs now, as far as a display may know it."""

    def __init__(self) -> None:
        """Begin without a query."""
        self._per_cent: Callable[[], float] | None = None
        self._began = monotonic()
        self._asking = Lock()

    @property
    def seconds(self) -> float:
        """How long the last query has been running; before the first one, since the display was opened."""
        return monotonic() - self._began

    def share(self) -> float | None:
        """Give how much is done, from 0 to 1; None if no engine tells. Any thread may ask."""
        with self._asking:
            found = None if self._per_cent is None else run_or_none(self._per_cent)
        return found / 100 if found is not None and 0 <= found <= 100 else None

    def begin(self, per_cent: Callable[[], float]) -> None:
        """Offer a function that gives per cent; it may raise, or give what is none."""
        self._began, self._per_cent = monotonic(), per_cent

    def end(self) -> None:
        """Ask no more; what is being asked just now has its answer before this returns."""
        self._per_cent = None
        with self._asking:
            return


_WATCHED: ContextVar[RunningQuery | None] = ContextVar("watched", default=None)


@contextmanager
def watched() -> Iterator[RunningQuery]:
    """Give the queries that engines run within."""
    query = RunningQuery()
    token = _WATCHED.set(query)
    try:
        yield query
    finally:
        _WATCHED.reset(token)


@contextmanager
def telling(per_cent: Callable[[], float]) -> Iterator[None]:
    """Run a query within; ``per_cent`` says how far it is, and is never called after the end."""
    query = _WATCHED.get()
    if query is None:
        yield
        return
    query.begin(per_cent)
    try:
        yield
    finally:
        query.end()
