"""Progress, where a person looks: on a terminal or in a notebook, from the third second of a query on.

How fast it goes tells something of the table's size: docs/known-limits.md. Nothing depends on it: a display
that fails is silent, and a query never waits for it longer than a moment.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TextIO

from dpselect.engines.progress import RunningQuery, watched
from dpselect.silence import run_or_none

PATIENCE_SECONDS = 2.0
"""Seconds without a display."""
REFRESH_SECONDS = 0.25
"""Seconds from one line to the next."""
LAST_WAIT_SECONDS = 1.0
"""Seconds that a finished query waits for a terminal which does not take its last line."""
FEWEST_PER_CENT = 1.0
"""Below 1 per cent the time that is left is not guessed."""

USUAL_COLUMNS = 80
"""Characters of a line, where a terminal does not say how many there are."""


class Line(Protocol):
    """One line that is written again and again."""

    def write(self, text: str) -> None:
        """Show a text in place of the last one; "" shows nothing."""


@contextmanager
def progress_shown(*, wanted: bool | None) -> Iterator[None]:
    """Show how far the queries in the block are. None: where a person looks. False: never. True: always.

    The answer is paid for by now. A screen that cannot be asked, or a thread too many, must not cost it.
    """
    line = None if wanted is False else run_or_none(lambda: _line(anyway=wanted is True))
    if line is None:
        yield
        return
    done = threading.Event()
    with watched() as query:
        display = run_or_none(lambda: _started(line, query, done))
        try:
            yield
        finally:
            done.set()
            if display is not None:
                display.join(LAST_WAIT_SECONDS)


def _started(line: Line, query: RunningQuery, done: threading.Event) -> threading.Thread:
    display = threading.Thread(target=_display, args=(line, query, done), daemon=True)
    display.start()
    return display


def _display(line: Line, query: RunningQuery, done: threading.Event) -> None:
    if done.wait(PATIENCE_SECONDS):
        return
    with contextlib.suppress(Exception):
        while True:
            line.write(progress_text(query.share(), query.seconds))
            if done.wait(REFRESH_SECONDS):
                break
        line.write("")


def progress_text(share: float | None, seconds: float) -> str:
    """Say how much is done after some seconds, and about how long the rest takes.

    >>> progress_text(0.25, 5.0), progress_text(None, 75.0)
    ('reading the table: 25 %, about 15 s left', 'reading the table: 1 min 15 s so far')
    """
    if share is None:
        return f"reading the table: {_duration(seconds)} so far"
    if share * 100 < FEWEST_PER_CENT:
        return f"reading the table: 0 %, {_duration(seconds)} so far"
    rest = seconds * (1 - share) / share
    return f"reading the table: {int(share * 100)} %, about {_duration(max(rest, 1.0))} left"


def _duration(seconds: float) -> str:
    """Write two units at most."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


# ---- where a person looks --------------------------------------------------------------------------------


def _line(*, anyway: bool) -> Line | None:
    """Find a notebook, or a terminal at standard error; None if no person looks."""
    notebook = _notebook()
    if notebook is not None:
        return _NotebookLine(notebook)
    stream = sys.stderr
    if stream is None or not (anyway or stream.isatty()):
        return None
    return _TerminalLine(stream)


def _notebook() -> Any:
    """Give IPython's ``display`` if this process serves a notebook; nothing is loaded for it."""
    ipython = sys.modules.get("IPython")
    shell: Any = None if ipython is None else ipython.get_ipython()
    if getattr(shell, "kernel", None) is None:
        return None
    display: Callable[..., Any] = sys.modules["IPython"].display.display
    return display


class _TerminalLine:
    """A line of a terminal, or of another stream if a line is wanted in any case."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._width = stream, 0

    def write(self, text: str) -> None:
        """Write over the last text: spaces, not escape sequences, so that any terminal can do it."""
        most = self._columns() - 1
        text = text[:most]
        blank = f"\r{'':{min(self._width, most)}}" if len(text) < self._width else ""
        self._stream.write(f"{blank}\r{text}")
        self._stream.flush()
        self._width = len(text)

    def _columns(self) -> int:
        """Give the width of the terminal; some do not know theirs, and say 0."""
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or USUAL_COLUMNS
        except (OSError, ValueError):
            return USUAL_COLUMNS


class _NotebookLine:
    """An output of the cell that is replaced, and empty in the end."""

    def __init__(self, display: Callable[..., Any]) -> None:
        self._display, self._handle = display, None

    def write(self, text: str) -> None:
        """Show it, or update what is shown."""
        shown = {"text/plain": text}
        if self._handle is None:
            self._handle = self._display(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)
