"""The owner's check tells what a question makes of a table; the counts of small tables are known by hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import dpselect
from dpselect import Table, approval_voting, borda, check, most_common, quantile, threshold
from dpselect.engines.protocol import SALT_BYTES
from dpselect.errors import InvalidParameter, TableUnreadable
from dpselect.owner import ColumnCheck, TableCheck
from dpselect.problems import Problem
from tests.engines import loading
from tests.engines.cases import Kinds
from tests.engines.reference import Row
from tests.engines.test_contract import EMBEDDED, Loader
from tests.servers.postgres import Server

KINDS: Kinds = {"guest": "text", "dish": "text", "stars": "double", "age": "integer"}
ROWS: list[Row] = [
    {"guest": guest, "dish": dish, "stars": stars, "age": age}
    for guest, dish, stars, age in [
        ("ann", "tea", 1.0, 30),
        ("ann", "tea", 2.0, 31),
        ("ann", "soup", math.nan, 32),
        ("bob", "Tea", 3.0, 40),
        ("bob", "Tea", 3.0, 40),
        ("bob", "pie ", None, None),
        ("eve", None, 5.0, 50),
        (None, "tea", 1.0, 60),
    ]
]
DISH = approval_voting(candidate="dish", candidates=["tea", "soup"])
MATCHED_DISH = ColumnCheck(
    "dish", 4, missing=1, no_number=0, not_listed=3, unmatched=(("Tea", 2), ("pie ", 1))
)
EXPECTED: list[tuple[Problem, TableCheck]] = [
    (DISH, TableCheck(8, 3, 1, (MATCHED_DISH,), matched=3, repeated=1, over_the_bound=0)),
    (
        most_common(column="dish", candidates=["tea", "soup"], rows_per_person=2),
        TableCheck(8, 3, 1, (MATCHED_DISH,), matched=3, repeated=0, over_the_bound=1),
    ),
    (
        quantile(value="stars", at="1/2", between=(0, 10), step=1),
        TableCheck(
            8,
            3,
            1,
            (ColumnCheck("stars", 6, missing=1, no_number=1, not_listed=0, unmatched=(("NaN", 1),)),),
            matched=5,
            repeated=1,
            over_the_bound=1,
        ),
    ),
    (
        borda(candidate="dish", rank="age", candidates=["tea", "soup"]),
        TableCheck(
            8,
            3,
            1,
            (
                MATCHED_DISH,
                ColumnCheck(
                    "age",
                    0,
                    missing=1,
                    no_number=0,
                    not_listed=7,
                    unmatched=(("40", 2), ("30", 1), ("31", 1), ("32", 1), ("50", 1), ("60", 1)),
                ),
            ),
            matched=0,
            repeated=0,
            over_the_bound=0,
        ),
    ),
]


KINDS_OF_READER = (loading.from_parquet, loading.from_arrow, loading.from_database)
"""A file, a table in memory, and a process of its own; the others read as one of these."""


def held(problem: Problem, table: Table, expected: TableCheck) -> None:
    """Compare, but for the spelling of NaN, which is each engine's own."""
    found = check(problem, table, owner=True)
    assert str(found).lower() == str(expected).lower()
    assert found.counted == expected.counted


@pytest.mark.parametrize(
    "load",
    [load if load in KINDS_OF_READER else pytest.param(load, marks=pytest.mark.slow) for load in EMBEDDED],
    ids=lambda load: load.__name__,
)
@pytest.mark.parametrize(("problem", "expected"), EXPECTED, ids=lambda each: getattr(each, "name", ""))
def test_what_duckdb_tells_is_so(
    load: Loader, problem: Problem, expected: TableCheck, tmp_path: Path
) -> None:
    if load is loading.from_pandas and problem.name == "quantile":
        return  # pandas writes NULL and NaN alike
    held(problem, load(KINDS, ROWS, "guest", tmp_path), expected)


def test_what_postgresql_tells_is_so(postgres_server: Server) -> None:
    url = postgres_server.url()
    loading.to_postgres(url, "ballots", KINDS, ROWS)
    for problem, expected in EXPECTED:
        held(problem, Table(url, table="ballots", unit="guest"), expected)


@pytest.mark.parametrize(
    ("problem", "expected"),
    [EXPECTED[0], *(pytest.param(*each, marks=pytest.mark.slow) for each in EXPECTED[1:])],
    ids=lambda each: getattr(each, "name", ""),
)
def test_what_spark_tells_is_so(
    problem: Problem, expected: TableCheck, spark_session: Any, tmp_path: Path
) -> None:
    frame = spark_session.read.parquet(str(loading.parquet(KINDS, ROWS, tmp_path)))
    held(problem, Table(frame, unit="guest"), expected)


def test_numbers_in_text_are_told_from_other_text(tmp_path: Path) -> None:
    table = loading.from_csv({"age": "text"}, [{"age": "30"}, {"age": "n/a"}, {"age": "7,5"}], None, tmp_path)
    (column,) = check(quantile(value="age", at="1/2", between=(0, 9), step=1), table, owner=True).columns
    assert (column.matched, column.no_number, column.unmatched) == (1, 2, (("7,5", 1), ("n/a", 1)))


def test_labels_that_are_not_yes_count_as_no_and_are_not_called_uncounted(tmp_path: Path) -> None:
    rows: list[Row] = [
        {"age": "30", "passed": "yes"},
        {"age": "7", "passed": "no"},
        {"age": "8", "passed": None},
    ]
    table = loading.from_csv({"age": "text", "passed": "text"}, rows, None, tmp_path)
    found = check(threshold(value="age", label="passed", yes="yes", between=(0, 9)), table, owner=True)
    (label,) = (column for column in found.columns if column.column == "passed")
    assert (label.matched, label.missing, label.not_listed, label.unmatched) == (2, 1, 0, ())
    assert "that do not count" not in str(found)


def test_where_each_row_is_a_person_there_are_as_many_people_as_rows(tmp_path: Path) -> None:
    found = check(DISH, loading.from_parquet(KINDS, ROWS, None, tmp_path), owner=True)
    assert (found.rows, found.people, found.matched, found.repeated) == (8, 8, 4, 0)


def test_what_is_counted_is_what_a_release_scores(tmp_path: Path) -> None:
    table = loading.from_parquet(KINDS, ROWS, "guest", tmp_path)
    with table.open() as engine:
        request = DISH.request(engine.schema, unit="guest")
        scores = DISH.scores(engine.counts(request, bytes(SALT_BYTES)))
    assert sum(scores) == check(DISH, table, owner=True).counted


def test_the_first_line_says_that_it_is_not_private(tmp_path: Path) -> None:
    found = check(DISH, loading.from_parquet(KINDS, ROWS, "guest", tmp_path), owner=True)
    assert str(found).splitlines()[0].startswith("Not private")
    assert "</style><p><strong>Not private" in found._repr_html_()


def test_d8_values_are_shown_so_that_no_screen_obeys_them(tmp_path: Path) -> None:
    rows: list[Row] = [{"dish": "\x1b[31m<b>red</b>"}]
    found = check(DISH, loading.from_parquet({"dish": "text"}, rows, None, tmp_path), owner=True)
    assert "\x1b" not in str(found)
    assert "<b>" not in found._repr_html_()


@pytest.mark.parametrize("owner", [False, None, 1, "yes"])
def test_a_caller_who_does_not_claim_to_be_the_owner_sees_nothing(owner: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="owner must be True"):
        check(DISH, Table(tmp_path / "no such file.csv", unit="guest"), owner=owner)


def test_scores_of_your_own_have_no_table_to_check() -> None:
    with pytest.raises(InvalidParameter, match="check takes a problem and a Table"):
        check(DISH, dpselect.Scores([1, 2]), owner=True)  # type: ignore[arg-type] # refused when called


def test_a_broken_table_is_called_unreadable(tmp_path: Path) -> None:
    path = loading.parquet(KINDS, ROWS, tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[:4] + b"\xff" * 200 + whole[204:])
    with pytest.raises((TableUnreadable, InvalidParameter)) as refused:
        check(DISH, Table(path, unit="guest"), owner=True)
    assert "ann" not in str(refused.value)
