"""Costs that no other program disturbs: calls of functions, and bytes of memory. No test asserts seconds."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable


def calls(act: Callable[[], object]) -> int:
    """Count the functions that are called, of Python and of C."""
    count = 0

    def on_event(_: object, event: str, __: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(on_event)
    try:
        act()
    finally:
        sys.setprofile(before)
    return count


def bytes_taken(act: Callable[[], object]) -> int:
    """Give the most memory, in bytes, that is held at once."""
    act()  # what is made once and kept is not counted
    tracemalloc.start()
    try:
        act()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
