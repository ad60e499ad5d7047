"""The clock of a ledger is an argument. It orders nothing, numbers do; its times are coarse."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import MAXYEAR, MINYEAR, UTC, datetime
from functools import lru_cache
from typing import TypeAlias

from dpselect.errors import InvalidParameter

Clock: TypeAlias = Callable[[], datetime]
"""What says the time: a datetime with a time zone."""
EARLIEST, LATEST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


def system_clock() -> datetime:
    """Ask the system, to the minute.

    Not by ``datetime.now``: it counts nanoseconds, which end in 2262. Years that no datetime has become the
    first or the last one.
    """
    year, month, day, hour, minutes = time.gmtime()[:5]
    if not MINYEAR <= year <= MAXYEAR:
        return (EARLIEST if year < MINYEAR else LATEST).replace(second=0, microsecond=0)
    return datetime(year, month, day, hour, minutes, tzinfo=UTC)


def minute(clock: Clock) -> datetime:
    """Ask a clock, to the minute, in UTC."""
    now = clock()
    if not isinstance(now, datetime) or now.tzinfo is None:
        raise InvalidParameter("clock must give a datetime with a time zone. Write datetime.now(UTC).")
    return _in_utc(now).replace(second=0, microsecond=0)


def _in_utc(now: datetime) -> datetime:
    if now.tzinfo is UTC:
        return now
    try:
        return now.astimezone(UTC)
    except OverflowError:  # within hours of the first or the last time that there is
        return EARLIEST if now.year == MINYEAR else LATEST


@lru_cache(maxsize=64)
def written(time: datetime) -> str:
    """Write a time as the ledger stores it."""
    return time.isoformat(timespec="minutes").replace("+00:00", "Z")


def read(text: str) -> datetime:
    """Read a time as the ledger stores it; a ValueError if it is none."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
