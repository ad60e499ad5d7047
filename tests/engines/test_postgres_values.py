"""No value makes a release fail: what does not fit the question drops its row, and no other."""

from collections.abc import Sequence
from typing import Any

import psycopg
import pyarrow as pa
import pytest
from psycopg import sql

import dpselect
from dpselect import Table
from dpselect.problems import Problem
from tests.engines.asking import asked
from tests.servers.postgres import Server

QUESTIONS: dict[str, Problem] = {
    "approval": dpselect.approval_voting(candidate="x", candidates=[0, 1, 2]),
    "common": dpselect.most_common(column="x", candidates=[0, 1, 2], rows_per_person=2),
    "borda": dpselect.borda(candidate="dish", rank="x", candidates=["pie", "tea"]),
    "pricing": dpselect.pricing(value="x", prices=[0, 1, 2]),
    "quantile": dpselect.quantile(value="x", at="1/2", candidates=[0, 1, 2]),
    "sums": dpselect.weighted_sum(candidate="dish", candidates=["pie", "tea"], value="x", bounds=(-1, 2)),
}
TEXTS = [
    *["1", "2", "0", "-1", "+1", "01", "1.", ".5", "1e0", "1E+3", "1e999", "1e-999", "1e1000", "9" * 201],
    *["", " ", " 1", "1 ", "1\n", "\t1", "1\r\n", "1,5", "1_000", "0x1F", "0b1", "1e", "e1", "--1", "+-1"],
    *["NaN", "nan", "Infinity", "-inf", "NULL", "null", "true", "1::int", "'1'", '"1"', "\\1", "1\\", "{1}"],
    *[
        "\uff11",
        "\u0663",
        "\u00b2",
        "1\u00a0",
        "\ufeff1",
        "1\u200b",
        "\U0001f371",
        "\x7f",
        "\x01",
        "x" * 100_000,
    ],
    *["9" * 100_000, "0." + "9" * 100_000, "1" + "0" * 40, "0" * 199 + "1", "1." + "0" * 200],
]
DECIMALS = [
    "0",
    "1",
    "-0",
    "NaN",
    "Infinity",
    "-Infinity",
    "1e131071",
    "-1e131071",
    "1e-16383",
    "0.5",
    "1.00",
]
DOUBLES = ["0", "-0", "1", "NaN", "Infinity", "-Infinity", "5e-324", "1.7976931348623157e308", "0.1"]
SINGLES = ["0", "-0", "1", "NaN", "Infinity", "-Infinity", "1e-45", "3.4028235e38", "0.1"]
COLUMNS = {"text": TEXTS, "numeric": DECIMALS, "double precision": DOUBLES, "real": SINGLES}


def filled(url: str, kind: str, values: Sequence[str]) -> Table:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS odd_values")
        connection.execute(
            sql.SQL("CREATE TABLE odd_values (who text, dish text, x {})").format(sql.SQL(kind))
        )
        rows = [(value or "-", "pie", value) for value in values]
        connection.cursor().executemany(
            sql.SQL("INSERT INTO odd_values VALUES (%s, %s, %s::text::{})").format(sql.SQL(kind)), rows
        )
    return Table(url, table="odd_values", unit="who", numbers_in_text=kind == "text")


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("problem", QUESTIONS.values(), ids=list(QUESTIONS))
def test_c5_no_value_makes_a_release_fail_or_moves_another_row(
    postgres_server: Server, kind: str, problem: Problem
) -> None:
    values = COLUMNS[kind]
    together = asked(problem, filled(postgres_server.url(), kind, values))
    if kind == "text":
        same = {"who": [value or "-" for value in values], "dish": ["pie"] * len(values), "x": values}
        assert together == asked(problem, Table(pa.table(same), unit="who", numbers_in_text=True))
    if problem.name == "quantile":  # not a sum over people
        return
    alone = [asked(problem, filled(postgres_server.url(), kind, [value])) for value in values[::5]]
    some = asked(problem, filled(postgres_server.url(), kind, values[::5]))
    assert some == [sum(scores) for scores in zip(*alone, strict=True)]


def test_c5_a_text_that_is_too_long_for_a_pattern_is_no_number(postgres_server: Server) -> None:
    table = filled(postgres_server.url(), "text", ["1", "2"])
    before: list[Any] = [asked(problem, table) for problem in QUESTIONS.values()]
    with psycopg.connect(postgres_server.url(), autocommit=True) as connection:
        connection.execute("INSERT INTO odd_values VALUES ('eve', 'pie', repeat('1', 270000000))")
    assert [asked(problem, table) for problem in QUESTIONS.values()] == before
    with psycopg.connect(postgres_server.url(), autocommit=True) as connection:
        connection.execute("DROP TABLE odd_values")
