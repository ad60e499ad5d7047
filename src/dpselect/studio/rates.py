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

    def take(self, name: Hashable, tokens: float = 1.0) -> bool:
        """Take tokens, if they are there."""
        with self._lock:
            now = time.monotonic()
            held, since = self._kept.pop(name, (self._burst, now))
            held = min(self._burst, held + (now - since) * self._per_second)
            enough = held >= tokens
            self._kept[name] = (held - tokens if enough else held), now
            if len(self._kept) > MOST_BUCKETS:
                self._kept.popitem(last=False)
            return enough

    def has(self, name: Hashable) -> bool:
        """Say whether one token is there; take none."""
        return self.take(name, 0.0) and self._kept[name][0] >= 1
