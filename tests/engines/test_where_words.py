"""What looks like a word of a filter and is none: an exclamation mark, times in forms that only Python reads.

What is under test: dpselect.engines.where_text, dpselect.engines.conditions.
"""

import re
from datetime import date, datetime, time
from typing import Any

import pyarrow as pa
import pytest

from dpselect import Table, approval_voting
from dpselect.engines.conditions import MOMENTS
from dpselect.errors import InvalidParameter
from tests.engines.asking import asked

ROWS = pa.table(
    {
        "who": [0, 1, 2],
        "b": [True, False, None],
        "at": [datetime.fromisoformat("2024-01-31T18:30:00"), None, None],
    }
)
WHO = approval_voting(candidate="who", candidates=[0, 1, 2])


@pytest.mark.parametrize(
    "text", ["!b", "! b", "not !b", "b is ! null", "who ! in (1)", "who ! between 1 and 2", "b !"]
)
def test_an_exclamation_mark_is_not_the_word_not(text: str) -> None:
    with pytest.raises(InvalidParameter, match=r"must not have '!' alone\. Write NOT") as refused:
        asked(WHO, Table(ROWS, unit="who", where=text))
    assert refused.value.parameter == "where"


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("date", "20240131"),
        ("date", "2024-W05-3"),
        ("date", "2024-01-31T00:00"),
        ("time", "18"),
        ("time", "1830"),
        ("time", "T18:30"),
        ("time", "18:30,5"),
        ("time", "18:30.5"),
        ("time", "18:30:00.1234567"),
        ("time", "18:30:00+01:00"),
        ("timestamp", "2024-01-31x18:30"),
        ("timestamp", "2024-01-31 18"),
        ("timestamp", "2024-01-31 18:30.5"),
        ("timestamp", "2024-01-31 18:30:00,5"),
        ("timestamp", "2024-01-31 18:30:00.0000001"),
        ("timestamp", "20240131T183000"),
        ("timestamp", "2024-01-31 18:30:00Z"),
        ("timestamp", "2024-01-31 18:30:00\n"),
    ],
)
def test_a_time_is_read_in_one_form_and_whole(kind: str, text: str) -> None:
    with pytest.raises(ValueError, match=r"^$"):
        MOMENTS[kind][1](text)
    if kind != "time":
        where = f"at = {kind} '{text}'"
        with pytest.raises(InvalidParameter, match="must have dates and times in ISO form without a zone"):
            asked(WHO, Table(ROWS, unit="who", where=where))


def test_a_time_in_that_form_is_read() -> None:
    found: dict[str, Any] = {
        "date 2024-01-31": date(2024, 1, 31),
        "time 18:30": time(18, 30),
        "time 18:30:05": time(18, 30, 5),
        "time 18:30:05.25": time(18, 30, 5, 250_000),
        "timestamp 2024-01-31": datetime.fromisoformat("2024-01-31T00:00:00"),
        "timestamp 2024-01-31 18:30": datetime.fromisoformat("2024-01-31T18:30:00"),
        "timestamp 2024-01-31T18:30:05.000001": datetime.fromisoformat("2024-01-31T18:30:05.000001"),
    }
    for text, value in found.items():
        kind, _, written = text.partition(" ")
        assert MOMENTS[kind][1](written) == value
    assert asked(WHO, Table(ROWS, unit="who", where="at = timestamp '2024-01-31 18:30'")) == [1, 0, 0]


def test_candidates_are_times_in_the_same_form() -> None:
    at = ["2024-01-31 18:30:00.0000001"]
    with pytest.raises(InvalidParameter, match="candidates must be times"):
        asked(approval_voting(candidate="at", candidates=at), Table(ROWS, unit="who"))


def test_the_name_of_a_column_that_is_not_there_is_shown_in_part() -> None:
    name = "z" * 5000
    with pytest.raises(InvalidParameter, match=re.escape("z…")) as refused:
        asked(WHO, Table(ROWS, unit="who", where=f"{name} = 1"))
    assert len(str(refused.value)) < 500
