"""Which row of a person is kept: dpselect.engines.row_choice, dpselect.engines.priorities,
dpselect.engines.text_words.

Each value equally often, whatever ids and values look like.
"""

import math
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from sqlglot import exp

import dpselect
from dpselect import Table
from dpselect.engines import CountsRequest
from dpselect.engines.duckdb import DuckDBDialect
from dpselect.engines.postgres_dialect import DIALECT
from dpselect.engines.protocol import AmountKey
from dpselect.engines.queries import Unnested, rendered
from dpselect.engines.schema import Column
from tests.engines import loading
from tests.engines.asking import asked
from tests.engines.reference import SALT, turn
from tests.servers.postgres import Server
from tests.statistics import rejects

PEOPLE = 12_000
WHO_IN_TEXT = Column("who", "text", "VARCHAR")
WHOLE = Column("x", "integer", "BIGINT", lowest=-(2**63), highest=2**63 - 1)
IDS: dict[str, list[Any]] = {
    "in a row": [*range(PEOPLE)],
    "in steps, some negative": [4096 * (i - 500) for i in range(PEOPLE)],
    "in the high bits": [i << 40 for i in range(PEOPLE)],
    "in text": [f"person {i}" for i in range(PEOPLE)],
}
VALUES: dict[str, list[Any]] = {
    "two": [0, 1],
    "three in a row": [0, 1, 2],
    "around zero": [-1, 0, 1],
    "far apart": [-(2**63), 5, 2**62, 2**63 - 1],
    "eight powers": [2**i for i in range(8)],
    "floats": [0.0, 0.1, 102.4, -102.4, 1e-9, 1e9],
    "floats of all sizes": [1e-38, -1e-38, 2.0**-1074, math.inf, 1e30, 1.0, 1024.0],
    "decimals in text": ["0.5", "0.50", "1e3", "7", "-7"],
}


def kept(ids: Sequence[Any], values: Sequence[Any], salt: bytes = SALT) -> dict[Any, int]:
    """Give how many people keep each value, if everybody has all of them."""
    rows = pa.table(
        {"who": [each for each in ids for _ in values], "x": [*values] * len(ids)},
    )
    with Table(rows, unit="who").open() as engine:
        person, amount = engine.schema.columns
        request = CountsRequest(person, (AmountKey(amount),), distinct=True, most=1)
        counts = engine.counts(request, salt)
    return dict(zip(counts.keys[0].tolist(), counts.sizes.tolist(), strict=True))


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("values", VALUES)
def test_each_of_a_persons_values_is_kept_equally_often(ids: str, values: str) -> None:
    found = kept(IDS[ids], VALUES[values])
    counts = [found.get(value, 0) for value in VALUES[values]]
    assert sum(counts) == PEOPLE
    assert not rejects(counts, [1 / len(counts)] * len(counts))


def test_a_priority_that_all_people_share_would_be_rejected() -> None:
    shared = kept(["one"] * PEOPLE, [0, 1])
    assert sum(shared.values()) == 1  # everybody is one person here: one choice for all
    assert rejects([PEOPLE * value for value in (shared.get(0, 0), shared.get(1, 0))], [1 / 2, 1 / 2])


def test_people_choose_independently_of_their_neighbours() -> None:
    """Pairs of people next to each other: all four ways are equally frequent."""
    for salt in (SALT, bytes(16)):
        first = [turn(i, (0,), (), salt) > turn(i, (1,), (), salt) for i in range(PEOPLE)]
        for apart in (1, 2, 3, 64):
            pairs = [(first[i], first[i + apart]) for i in range(0, PEOPLE - apart, 2 * apart)]
            ways = [pairs.count(way) for way in ((False, False), (False, True), (True, False), (True, True))]
            assert not rejects(ways, [1 / 4] * 4)


def test_one_person_keeps_each_value_under_equally_many_salts() -> None:
    counts = [0, 0, 0]
    for number in range(3000):
        salt = number.to_bytes(16)
        turns = [turn("ann", (place,), (), salt) for place in range(3)]
        counts[turns.index(min(turns))] += 1
    assert not rejects(counts, [1 / 3] * 3)


def test_rows_that_are_repeated_or_in_another_order_change_nothing() -> None:
    values = [1.5, -0.0, 0.0, 7.25, 1e300, -1e300]
    once = kept(range(300), values)
    assert kept(range(300), [*values[::-1], *values]) == once
    assert sum(once.values()) == 300


KINDS = {"who": "text", "x": "text"}
ODD = ["0", "-0", "7", "07", "+7", "7.0", "-7", "9223372036854775807", "9223372036854775808", "1e3", ".5"]
PEOPLE_IN_TEXT = [*ODD, "", " 7", ":", "9" * 40, "é", "-9223372036854775808", "ann"]


def test_text_that_spells_numbers_is_chosen_alike_on_all_engines(
    postgres_server: Server, spark_session: Any, tmp_path: Any
) -> None:
    rows = [{"who": who, "x": x} for who in PEOPLE_IN_TEXT for x in ODD]
    problem = dpselect.quantile(value="x", at="1/2", candidates=[-7, 0, 1, 7, 1000, 2**63 - 1])
    here = asked(problem, Table(loading.arrow(KINDS, rows), unit="who", numbers_in_text=True))
    url = postgres_server.url()
    loading.to_postgres(url, "spelt", KINDS, rows)
    assert asked(problem, Table(url, table="spelt", unit="who", numbers_in_text=True)) == here
    frame = spark_session.read.parquet(str(loading.parquet(KINDS, rows, tmp_path)))
    assert asked(problem, Table(frame, unit="who", numbers_in_text=True)) == here


def test_a_column_of_digits_keeps_the_rows_that_a_column_of_numbers_keeps() -> None:
    values = [3, 14, 159, 26535]
    numbers = kept(range(2000), values)
    digits = kept([str(i) for i in range(2000)], [str(value) for value in values])
    assert {int(value): size for value, size in digits.items()} == numbers


def test_the_hash_of_text_is_computed_once_for_each_row() -> None:
    """A priority has a person twice, and engines copy expressions into each place of a name."""
    request = CountsRequest(WHO_IN_TEXT, (AmountKey(WHOLE),), distinct=True, most=1)
    here = rendered(request, "salt", DuckDBDialect("duckdb", exp.to_table("rows"), []))
    assert here.count("MD5_NUMBER(") == 1
    there = rendered(request, "salt", Unnested(DIALECT, exp.to_table("rows"), []))
    assert there.count("< ':'") + there.count("(pg_catalog.<) ':'") == 1
    assert 'FROM counted OFFSET 0) AS worded GROUP BY "person"' in there


def test_postgresql_sorts_by_people_where_one_row_of_each_is_kept(postgres_server: Server) -> None:
    loading.to_postgres(
        postgres_server.url(), "sorted", {"who": "text", "x": "integer"}, [{"who": "a", "x": 1}]
    )
    with Table(postgres_server.url(), table="sorted", unit="who").open() as engine:
        shown = engine.connection.execute  # type: ignore[attr-defined] # that of PostgreSQL
        person, amount = engine.schema.columns
        for most, setting in ((2, "on"), (1, "off")):
            counts = engine.counts(
                CountsRequest(person, (AmountKey(amount),), distinct=True, most=most), SALT
            )
            assert counts.sizes.tolist() == [1]
            assert shown("SHOW enable_hashagg").fetchone() == (setting,)
