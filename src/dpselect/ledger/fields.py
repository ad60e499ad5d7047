"""What a field of a stored record may be: a line of text, an answer, a time, an exact number.

People read texts, so they are short and printable. Times are whole minutes: they inform, they order nothing.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import MAXYEAR, MINYEAR, UTC, datetime
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from dpselect.errors import InvalidParameter
from dpselect.ledger.budget import MOST_DIGITS_OF_TOTAL, Parts

MOST_CHARACTERS_OF_REASON, MOST_CHARACTERS_OF_NAME = 1_000, 200
"""Characters of what an entry says; of a name: of a data set, a unit, a request, an account."""
LONE_SURROGATE = re.compile("[\ud800-\udfff]")
"""A character that is half of one: no database stores it."""
MOST_CHARACTERS_OF_ANSWER = 1_000_000
"""Characters of a stored answer, which is JSON."""

Clock: TypeAlias = Callable[[], datetime]
"""A function that gives the time now: a datetime with a time zone."""

_FIRST_TIME, _LAST_TIME = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
_RATIONAL = re.compile(rf"(?a:(\d{{1,{MOST_DIGITS_OF_TOTAL}}})(?:/(\d{{1,{MOST_DIGITS_OF_TOTAL}}}))?)")


# ---- texts -----------------------------------------------------------------------------------------------


def reason_text(value: object) -> str:
    """Read the reason of a charge: one printable line."""
    return _line(value, "reason", MOST_CHARACTERS_OF_REASON)


def name_text(value: object, parameter: str) -> str:
    """Read the name of a request, a data set or a unit: one short printable line."""
    return _line(value, parameter, MOST_CHARACTERS_OF_NAME)


def optional_name(value: object, parameter: str) -> str | None:
    """Read a name, or None."""
    return None if value is None else name_text(value, parameter)


def _line(value: object, parameter: str, most: int) -> str:
    if isinstance(value, str) and 1 <= len(value) <= most and value.isprintable():
        return str(value)
    raise InvalidParameter.must_be(
        parameter, f"one line of printable text, of 1 to {most} characters", got=_printable(value)
    )


def answer_text(value: object) -> str:
    """Read an answer: any text that every database can hold. No error shows it."""
    if not isinstance(value, str):
        problem = f"; got {type(value).__name__}. Write it as text, for example by json.dumps"
    elif len(value) > MOST_CHARACTERS_OF_ANSWER:
        problem = f" of at most {MOST_CHARACTERS_OF_ANSWER} characters; got {len(value)}"
    elif "\0" in value or LONE_SURROGATE.search(value):
        problem = "; got characters that are no text. Write it without NUL and surrogates"
    else:
        return str(value)
    raise InvalidParameter(f"answer must be text{problem}.")


def _printable(value: object) -> object:
    return value if not isinstance(value, str) or value.isprintable() else ascii(value)


# ---- times -----------------------------------------------------------------------------------------------


def system_clock() -> datetime:
    """Give the system's time, to the minute.

    ``datetime.now`` counts nanoseconds, which end in 2262, so ``time.gmtime`` is asked. A year that no
    datetime can hold becomes the first or the last one.
    """
    year, month, day, hour, minutes = time.gmtime()[:5]
    if not MINYEAR <= year <= MAXYEAR:
        return (_FIRST_TIME if year < MINYEAR else _LAST_TIME).replace(second=0, microsecond=0)
    return datetime(year, month, day, hour, minutes, tzinfo=UTC)


def minute_now(clock: Clock) -> datetime:
    """Ask a clock, and cut its time to the minute, in UTC."""
    now = clock()
    if not isinstance(now, datetime) or now.tzinfo is None:
        raise InvalidParameter("clock must give a datetime with a time zone. Write datetime.now(UTC).")
    now = _in_utc(now)
    return now.replace(second=0, microsecond=0) if now.second or now.microsecond else now


def _in_utc(now: datetime) -> datetime:
    if now.tzinfo is UTC:
        return now
    try:
        return now.astimezone(UTC)
    except OverflowError:  # within hours of the first or the last time that a datetime can hold
        return _FIRST_TIME if now.year == MINYEAR else _LAST_TIME


@lru_cache(maxsize=64)
def time_text(time: datetime) -> str:
    """Write a time as the ledger stores it: 2026-05-01T12:00Z."""
    return time.isoformat(timespec="minutes").replace("+00:00", "Z")


@lru_cache(maxsize=64)
def time_from_text(text: str) -> datetime:
    """Read what ``time_text`` wrote; a ValueError if it is no time."""
    found = datetime.fromisoformat(text).replace(tzinfo=UTC)
    if time_text(found) != text:
        raise ValueError
    return found


# ---- numbers ---------------------------------------------------------------------------------------------


def parts_text(parts: Parts) -> str:
    """Write the numbers of a loss as the ledger stores them: "3", "1/3", "1/3 1/1000000"."""
    return " ".join(map(str, parts))


@lru_cache(maxsize=1024)
def parts_from_text(text: str, count: int) -> Parts:
    """Read a count of numbers, as ``parts_text`` wrote them; a ValueError if they are not."""
    parts = tuple(map(_rational, text.split(" ")))
    if len(parts) != count or parts_text(parts) != text:
        raise ValueError
    return parts


def _rational(text: str) -> Fraction:
    found = _RATIONAL.fullmatch(text)
    if not found or not int(found[2] or 1):
        raise ValueError
    return Fraction(int(found[1]), int(found[2] or 1))
