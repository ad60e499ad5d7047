"""Ctrl-C, noticed also where an engine swallows it and reports a failure of its own."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupts:
    """Whether somebody has asked us to stop."""

    happened = False


@contextmanager
def noticed() -> Iterator[Interrupts]:
    """Notice interruptions while something runs; elsewhere than in the main thread there are none."""
    seen = Interrupts()
    if threading.current_thread() is not threading.main_thread():
        yield seen
        return

    def stop(number: int, frame: FrameType | None) -> None:
        seen.happened = True
        signal.default_int_handler(number, frame)

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, before)
