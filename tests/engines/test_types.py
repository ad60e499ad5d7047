"""Types and rules that only one engine has, and what becomes of them."""

import uuid
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pytest

import dpselect
from dpselect import Table
from dpselect.engines.protocol import Counts, counted
from dpselect.errors import InvalidParameter
from tests.engines.asking import asked
from tests.servers.postgres import Server

PEOPLE = [str(uuid.UUID(int=number)) for number in range(4)]


def run(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def in_duckdb(kind: str, values: Sequence[Any]) -> Table:
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE rows_of_a_type (who UUID, x {kind})")
    connection.executemany("INSERT INTO rows_of_a_type VALUES (?, ?)", list(zip(PEOPLE, values, strict=True)))
    return Table(connection.table("rows_of_a_type"), unit="who")


LARGE = 2**127 - 1


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("UBIGINT", [2**64 - 1, 0, 2**64 - 1, None]),
        ("UTINYINT", [255, 0, 255, 7]),
        ("TINYINT", [-128, 127, -128, None]),
    ],
)
def test_whole_numbers_of_every_width_are_compared_exactly(kind: str, values: list[int]) -> None:
    first, other = values[0], values[1]
    problem = dpselect.approval_voting(candidate="x", candidates=[first, other, LARGE, -LARGE, 0.5])
    scores = dict(zip(problem.outputs, asked(problem, in_duckdb(kind, values)), strict=True))
    assert scores == {first: 2, other: 1, LARGE: 0, -LARGE: 0, 0.5: 0}
    middle = dpselect.quantile(value="x", at="1/2", candidates=[first, other])
    assert len(asked(middle, in_duckdb(kind, values))) == 2


def test_people_may_be_uuids_and_types_without_meaning_are_refused() -> None:
    table = in_duckdb("BOOLEAN", [True, False, True, None])
    with pytest.raises(InvalidParameter, match=r"column 'x' must hold text or numbers"):
        asked(dpselect.approval_voting(candidate="x", candidates=[0, 1]), table)
    with pytest.raises(InvalidParameter, match=r"column 'who' must hold text or numbers; it holds UUIDs"):
        asked(dpselect.approval_voting(candidate="who", candidates=[1]), table)


def test_a_schema_of_arrow_is_no_table() -> None:
    with (
        pytest.raises(InvalidParameter, match="source must be a table with columns"),
        Table(pa.schema([("who", pa.int64())]), unit="who").open(),
    ):
        pass


def test_decimals_of_postgresql_without_a_scale_are_exact(postgres_server: Server) -> None:
    url = postgres_server.url()
    run(
        url,
        "DROP TABLE IF EXISTS free",
        "CREATE TABLE free (who uuid, x numeric, y uuid)",
        "INSERT INTO free SELECT gen_random_uuid(), x "
        "FROM unnest(ARRAY[0.1, 0.10000000000000000000000000000000001, 'NaN', 'Infinity']) AS x",
    )
    table = Table(url, table="free", unit="who")
    tenth, more = Decimal("0.1"), Decimal("0.10000000000000000000000000000000001")
    assert asked(dpselect.approval_voting(candidate="x", candidates=[tenth, more, 7]), table) == [1, 1, 0]
    third = dpselect.most_common(column="x", candidates=[Fraction(1, 3), tenth])
    assert asked(third, table) == [0, 1]
    # At least a tenth: the tenth, a little more, and the infinite one; NaN is no offer.
    assert asked(dpselect.pricing(value="x", prices=["0.1"]), table) == [3 * 10]
    assert asked(dpselect.pricing(value="x", prices=[more]), table) == [2 * (10**34 + 1)]


def test_text_of_postgresql_is_compared_and_ordered_by_its_bytes(postgres_server: Server) -> None:
    url = postgres_server.url()
    run(
        url,
        "DROP TABLE IF EXISTS odd",
        "DROP COLLATION IF EXISTS same_letters",
        "CREATE COLLATION same_letters (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
        "CREATE TABLE odd (who text COLLATE same_letters, dish text COLLATE same_letters)",
        "INSERT INTO odd SELECT w, d FROM unnest(ARRAY['a', 'A', 'b']) AS w, "
        "unnest(ARRAY['pie', 'PIE', '_x']) AS d",
    )
    rows = [(who, dish) for who in ("a", "A", "b") for dish in ("pie", "PIE", "_x")]
    same = pa.table({"who": [who for who, _ in rows], "dish": [dish for _, dish in rows]})
    for problem in (
        dpselect.approval_voting(candidate="dish", candidates=["pie", "PIE", "_x"]),
        dpselect.plurality(candidate="dish", candidates=["pie", "PIE", "_x"]),
        dpselect.most_common(column="dish", candidates=["pie"], rows_per_person=1),
    ):
        assert asked(problem, Table(url, table="odd", unit="who")) == asked(problem, Table(same, unit="who"))


def test_a_table_of_postgresql_is_found_by_its_name(postgres_server: Server) -> None:
    url = postgres_server.url()
    run(
        url,
        "CREATE SCHEMA IF NOT EXISTS two",
        "DROP TABLE IF EXISTS two.votes_of_two",
        "CREATE TABLE two.votes_of_two (who int, dish varchar(9))",
        "INSERT INTO two.votes_of_two VALUES (1, 'pie')",
    )
    pie = dpselect.approval_voting(candidate="dish", candidates=["pie"])
    assert asked(pie, Table(url, table="two.votes_of_two", unit="who")) == [1]
    for words, sentence in [
        (
            {"table": "votes_of_two"},
            "table must be the name of one table that you may read; got 'votes_of_two'",
        ),
        ({}, "table must be given with a PostgreSQL URL"),
        ({"table": "t", "columns": {"who": "text"}}, "columns must be given for JSON lines"),
    ]:
        with pytest.raises(InvalidParameter, match=sentence):
            asked(pie, Table(url, unit="who", **words))  # type: ignore[arg-type]  # words of all kinds


def test_nothing_is_written_to_postgresql(postgres_server: Server) -> None:
    url = postgres_server.url()
    run(url, "DROP TABLE IF EXISTS quiet", "CREATE TABLE quiet (who int, dish text)")
    with Table(url, table="quiet", unit="who").open() as engine:
        connection: Any = vars(engine)["connection"]
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            connection.execute("INSERT INTO public.quiet VALUES (1, 'pie')")


def test_spark_takes_frames_and_sessions_and_says_what_it_does_not_take(spark_session: Any) -> None:
    pie = dpselect.approval_voting(candidate="dish", candidates=["pie"])
    frame = spark_session.createDataFrame([(1, "pie"), (2, "PIE")], "who int, dish string")
    frame.createOrReplaceTempView("pies")
    assert asked(pie, Table(spark_session, table="pies", unit="who")) == [1]
    collated = spark_session.sql("SELECT who, dish COLLATE UTF8_LCASE AS dish FROM pies")
    for table, sentence in [
        (Table(spark_session, unit="who"), "table must be given with a Spark session"),
        (Table(spark_session, table="no pies", unit="who"), "that the Spark session knows; got 'no pies'"),
        (Table(frame, table="pies", unit="who"), "a Spark DataFrame, or a Spark session with table="),
        (Table(collated, unit="who"), "candidates must be numbers|must hold text"),
    ]:
        with pytest.raises(InvalidParameter, match=sentence):
            asked(pie, table)
    views = [row.viewName for row in spark_session.sql("SHOW VIEWS").collect()]
    assert not any("dpselect" in view for view in views)


def test_a_frame_of_spark_connect_is_refused_before_anything_is_read() -> None:
    frame = type("DataFrame", (), {"__module__": "pyspark.sql.connect.dataframe"})()
    with (
        pytest.raises(InvalidParameter, match="must belong to a classic Spark session"),
        Table(frame, unit="who").open(),
    ):
        pass


def test_numbers_too_large_for_64_bits_are_still_exact() -> None:
    table = Table(pa.table({"who": [1, 2, 3], "x": [1, 5, 9]}), unit="who")
    fine = dpselect.quantile(value="x", at=f"{10**30}/{10**30 * 2 + 1}", candidates=[4])
    (score,) = asked(fine, table)
    assert score == -abs((10**30 + 1) * 1 - 10**30 * 2)
    wide = dpselect.quantile(value="x", at="1/2", candidates=[10**40, f"1/{10**40}"])
    assert asked(wide, table) == [-3, -3]
    grid = dpselect.quantile(value="x", at="1/2", between=(0, 10**40), step=10**39)
    assert asked(grid, table)[:2] == [-3, -3]


def stop() -> Counts:
    raise KeyboardInterrupt


def test_an_interruption_is_not_taken_for_a_broken_table() -> None:
    with pytest.raises(KeyboardInterrupt):
        counted(stop)


@pytest.mark.parametrize("order", [1, -1])
def test_columns_of_one_arrow_type_are_told_apart_by_what_their_fields_say(order: int) -> None:
    """What DuckDB says of a type is kept: of eight bits it depends on the name that stands beside them."""
    truth = {"ARROW:extension:name": "arrow.bool8", "ARROW:extension:metadata": ""}
    fields = [pa.field("x", pa.int8()), pa.field("x", pa.int8(), metadata=truth)]
    for field in [*fields, *fields][::order]:
        rows = pa.table(
            [pa.array(PEOPLE), pa.array([0, 1, 1, None], pa.int8())],
            schema=pa.schema([pa.field("who", pa.string()), field]),
        )
        one = True if field.metadata else 1
        problem = dpselect.approval_voting(candidate="x", candidates=[one])
        assert asked(problem, Table(rows, unit="who")) == [2]
        with pytest.raises(InvalidParameter, match="column 'x'"):
            asked(
                dpselect.approval_voting(candidate="x", candidates=[1 if field.metadata else "1"]),
                Table(rows, unit="who"),
            )
