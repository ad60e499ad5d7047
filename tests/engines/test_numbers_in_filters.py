"""A filter reads what counts as a number, whatever its length, and reads it once for a whole list.

What is under test: dpselect.engines.comparisons, dpselect.engines.number_texts.
"""

from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from sqlglot import exp

from dpselect import Table, approval_voting
from dpselect.engines.duckdb import DuckDBDialect
from dpselect.engines.schema import Column, Schema
from dpselect.engines.where import fitted_where
from tests.engines.asking import asked
from tests.servers.postgres import Server

NUMBERS = {
    "1e400": float("inf"),
    "-1E+309": float("-inf"),
    "1.7976931348623158e308": 1.7976931348623157e308,
    "1e-400": 0.0,
    "-1e-999": 0.0,
    "2.4703282292062327e-324": 0.0,
    "2.4703282292062328e-324": 5e-324,
    "5e005": 500_000.0,
    " 0e999 ": 0.0,
    "9" * 200 + "." + "9" * 200: 1e200,
    "0." + "0" * 199 + "1": 1e-200,
    "1" * 50: float("1" * 50),
}
OTHERS = ["9" * 201, "1e1000", "0x1F", "1e", "\u0661\u0662", "1_0", "NaN", "inf", "5\n", "\t5", "", "1,5"]
TEXTS = [*NUMBERS, *OTHERS]
WHO = approval_voting(candidate="who", candidates=list(range(len(TEXTS))))
FILTERS: dict[str, Callable[[float], bool]] = {
    "x > 1e5": lambda number: number > 1e5,
    "x = 0": lambda number: number == 0,
    "not x < 1e309": lambda number: not number < float("inf"),
    "x <= -1e308": lambda number: number <= -1e308,
    "x in (500000, 0, 1e200)": lambda number: number in (500_000, 0, 1e200),
    "x not in (0.5)": lambda number: number != 0.5,
    "x between 1e-323 and 1e308": lambda number: 1e-323 <= number <= 1e308,
}


@pytest.mark.parametrize("where", FILTERS)
def test_what_counts_as_a_number_is_one_in_a_filter(where: str, tmp_path: Path) -> None:
    expected = [int(FILTERS[where](number)) for number in NUMBERS.values()] + [0] * len(OTHERS)
    path = tmp_path / "rows.csv"
    lines = [f'{place},"{text}"' for place, text in enumerate(TEXTS)]
    path.write_text("\n".join(["who,x", *lines, ""]), encoding="utf-8", newline="")
    assert asked(WHO, Table(path, unit="who", where=where)) == expected


def test_what_counts_as_a_number_is_one_in_a_filter_on_postgresql(postgres_server: Server) -> None:
    url = postgres_server.url()
    with psycopg.connect(url) as connection:
        connection.execute("DROP TABLE IF EXISTS spelt")
        connection.execute("CREATE TABLE spelt (who int, x text)")
        connection.cursor().executemany("INSERT INTO spelt VALUES (%s, %s)", list(enumerate(TEXTS)))
    for where, holds in FILTERS.items():
        expected = [int(holds(number)) for number in NUMBERS.values()] + [0] * len(OTHERS)
        assert asked(WHO, Table(url, table="spelt", unit="who", where=where)) == expected, where


def test_a_list_of_numbers_reads_text_once_however_long_it_is() -> None:
    schema = Schema((Column("x", "text", "VARCHAR", decimal="."),))
    patterns = []
    for length in (2, 500):
        filtered = fitted_where(f"x in ({', '.join(map(str, range(length)))}, 'a', 'b')", schema)
        node = filtered.node(DuckDBDialect("duckdb", exp.to_table("rows"), []))
        patterns.append(len([*node.find_all(exp.RegexpLike)]))
    assert patterns[0] == patterns[1]
