"""Medians of running times, and peaks of memory.

The contestants take turns, so that a slow moment of the machine hits them all alike; a contestant that is
timed less often is timed as late as the others. Before short calls are timed, one call is made that is not:
the contestant before has filled the caches, and one that is timed two calls at a time would seem slower
than one that is timed thirty at a time.
"""

from __future__ import annotations

import gc
import math
import re
import statistics
import tracemalloc
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias

Contestant: TypeAlias = Callable[[], Any]

SHORT = 0.02
"""A call of fewer seconds notices caches."""

SHORTEST = 0.005
"""Calls are timed together, as many as take this long, in seconds."""

ROUNDS = [(0.001, 51), (SHORT, 11), (1.0, 5), (3.0, 3), (math.inf, 1)]
"""How often a contestant is timed, by how many seconds it takes."""


class Timings:
    """The times of one contestant; a first call warms it up, unless it is slow: then it counts."""

    def __init__(self, contestant: Contestant) -> None:
        """Call it once or twice, and plan how often to time it, and how many calls at a time."""
        self._contestant = contestant
        once = seconds(contestant, 1)
        self.times = [once] if once >= 1 else []
        once = once if once >= 1 else seconds(contestant, 1)
        self.rounds = next(rounds for limit, rounds in ROUNDS if once < limit)
        self._calls = max(1, round(SHORTEST / once))
        self._is_short = once < SHORT

    def add(self) -> None:
        """Time it once more, if it has not been timed often enough."""
        if len(self.times) < self.rounds:
            if self._is_short:
                self._contestant()
            self.times.append(seconds(self._contestant, self._calls))


def medians(contestants: Mapping[str, Contestant]) -> dict[str, float]:
    """Give the median time of one call of each contestant, in seconds."""
    timings = {name: Timings(contestant) for name, contestant in contestants.items()}
    turns = max(timing.rounds for timing in timings.values())
    for turn in range(turns):
        for timing in timings.values():
            if turn * timing.rounds % turns < timing.rounds:
                timing.add()
    return {name: statistics.median(timing.times) for name, timing in timings.items()}


def seconds(contestant: Contestant, calls: int) -> float:
    """Time some calls; give the time of one."""
    gc.disable()
    started = perf_counter()
    for _ in range(calls):
        contestant()
    taken = perf_counter() - started
    gc.enable()
    return taken / calls


def peak_bytes(contestant: Contestant) -> int:
    """Give the most memory that one call holds at a time, beyond what was there before."""
    contestant()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    contestant()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak - before


def peak_of_this_process() -> int:
    """Give the most bytes that this process has held; not ``ru_maxrss``, which begins with the parent's."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * int(re.search(r"VmHWM:\s*(\d+) kB", status)[1])  # type: ignore[index] # it is there
