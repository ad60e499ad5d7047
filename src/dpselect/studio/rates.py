"""Token buckets: how often a key may ask, and how often an address may try a wrong key."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Hashable

MOST_BUCKETS = 10_000
"""Names whose buckets are kept."""


class Buckets:
    """A bucket for each name: it holds ``burst`` tokens, and gets ``per_second`` new ones.

    Time is the steady clock's: setting the clock changes nothing. Of many names the oldest are forgotten.
    """

    def __init__(self, *, burst: float, per_second: float) -> None:
        """Begin with full buckets."""
        self._burst, self._per_second = burst, per_second
        self._lock, self._kept = threading.Lock(), OrderedDict[Hashable, tuple[float, float]]()

    def take(self, name: Hashable) -> bool:
        """Take a token, if there is one."""
        with self._lock:
            now = time.monotonic()
            held, since = self._kept.pop(name, (self._burst, now))
            held = min(self._burst, held + (now - since) * self._per_second)
            enough = held >= 1
            self._kept[name] = (held - 1 if enough else held), now
            if len(self._kept) > MOST_BUCKETS:
                self._kept.popitem(last=False)
            return enough

    def give_back(self, name: Hashable) -> None:
        """Give a token back that was taken for nothing."""
        with self._lock:
            if name in self._kept:
                held, since = self._kept[name]
                self._kept[name] = min(self._burst, held + 1), since
