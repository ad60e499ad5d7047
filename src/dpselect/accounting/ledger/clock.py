"""The clock of a ledger is an argument. It orders nothing, numbers do; its times are coarse."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import TypeAlias

from dpselect.errors import InvalidParameter

Clock: TypeAlias = Callable[[], datetime]
"""What says the time: a datetime with a time zone."""


def system_clock() -> datetime:
    """Ask the system."""
    return datetime.now(UTC)


def minute(clock: Clock) -> datetime:
    """Ask a clock, to the minute, in UTC."""
    now = clock()
    if not isinstance(now, datetime) or now.tzinfo is None:
        raise InvalidParameter("clock must give a datetime with a time zone. Write datetime.now(UTC).")
    in_utc = now if now.tzinfo is UTC else now.astimezone(UTC)
    return in_utc.replace(second=0, microsecond=0)


@lru_cache(maxsize=64)
def written(time: datetime) -> str:
    """Write a time as the ledger stores it."""
    return time.isoformat(timespec="minutes").replace("+00:00", "Z")


def read(text: str) -> datetime:
    """Read a time as the ledger stores it; a ValueError if it is none."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
