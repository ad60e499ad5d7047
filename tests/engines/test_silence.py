"""An engine that fails on rows says one constant sentence, and nothing of the rows gets out."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pytest

from dpselect import Scores, Table, approval_voting
from dpselect.engines.spark_logs import TALKATIVE
from dpselect.errors import InvalidParameter, TableUnreadable
from tests.engines import loading
from tests.engines.asking import asked
from tests.engines.cases import VOTES
from tests.privacy.leaks import leaks
from tests.servers.postgres import Server

DISH = approval_voting(candidate="dish", candidates=["soup", "pie"])
ROWS = [{"voter": 8675309, "dish": "31337"}, {"voter": 1, "dish": "pie"}]


def failure(table: Table) -> BaseException:
    with pytest.raises(TableUnreadable) as caught:
        asked(DISH, table)
    return caught.value


def broken_csv(folder: Path) -> Table:
    (folder / "rows.csv").write_text("voter,dish\n8675309,31337\n8675309,31337,31337\n", encoding="utf-8")
    return Table(folder / "rows.csv", unit="voter")


def broken_json(folder: Path) -> Table:
    (folder / "rows.jsonl").write_text('{"voter": 8675309, "dish": "31337" 31337}\n', encoding="utf-8")
    return Table(folder / "rows.jsonl", unit="voter", columns={"voter": "integer", "dish": "text"})


def broken_parquet(folder: Path) -> Table:
    rows = [{"voter": 8675309, "dish": f"31337 {i}"} for i in range(5000)]
    path = loading.parquet(VOTES, rows, folder)
    content = bytearray(path.read_bytes())
    footer = int.from_bytes(content[-8:-4], "little") + 8
    content[4:-footer] = bytes(len(content) - footer - 4)
    path.write_bytes(content)
    return Table(path, unit="voter")


def broken_relation(folder: Path) -> Table:
    connection = duckdb.connect()
    connection.register("given", pa.table({"voter": ["SSN 8675309"], "dish": ["31337"]}))
    (folder / "unused").touch()
    return Table(connection.sql("SELECT voter::INT AS voter, dish FROM given"), unit="voter")


def broken_stream(folder: Path) -> Table:
    (folder / "unused").touch()
    table = loading.arrow(VOTES, ROWS)

    def batches() -> Iterator[Any]:
        yield from table.to_batches()
        raise ValueError("31337")

    return Table(pa.RecordBatchReader.from_batches(table.schema, batches()), unit="voter")


@pytest.mark.parametrize("load", [broken_csv, broken_json, broken_parquet, broken_relation, broken_stream])
def test_what_duckdb_says_of_a_row_is_not_repeated(
    load: Any,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    error = failure(load(tmp_path))
    assert leaks(error) == []
    assert error.__context__ is None
    assert said(capfd, caplog) == ""


def said(capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> str:
    output = capfd.readouterr()
    return output.out + output.err + caplog.text


def test_what_postgresql_says_of_a_row_is_not_repeated(
    postgres_server: Server, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    url = postgres_server.url()
    loading.to_postgres(
        url, "texts", {"voter": "text", "dish": "text"}, [{"voter": "8675309", "dish": "31337 x"}]
    )
    with psycopg.connect(url) as connection:
        connection.execute(
            "CREATE OR REPLACE VIEW casts AS SELECT voter, dish::integer::text AS dish FROM texts"
        )
    error = failure(Table(url, table="casts", unit="voter"))
    assert leaks(error) == []
    assert error.__context__ is None
    assert said(capfd, caplog) == ""


def test_what_spark_says_of_a_row_is_not_repeated(
    spark_session: Any,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    frame = spark_session.createDataFrame([("8675309", "31337 x")], "voter string, dish string")
    casts = frame.selectExpr("voter", "CAST(CAST(dish AS INT) AS STRING) AS dish")
    error = failure(Table(casts, unit="voter"))
    assert leaks(error) == []
    assert error.__context__ is None
    assert "31337" not in said(capfd, caplog)
    assert not any(logging.getLogger(name).disabled for name in TALKATIVE)


def test_a_server_that_cannot_be_reached_is_told_without_the_password() -> None:
    with (
        pytest.raises(InvalidParameter, match="a PostgreSQL server that lets you in") as caught,
        Table("postgresql://me:31337@127.0.0.1:1/db", table="t", unit="voter").open(),
    ):
        pass
    assert "31337" not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_key_that_ends_the_program_ends_it() -> None:
    table = loading.arrow(VOTES, ROWS)

    def batches() -> Iterator[Any]:
        yield from table.to_batches()
        raise KeyboardInterrupt

    with pytest.raises((KeyboardInterrupt, TableUnreadable)) as caught:
        asked(DISH, Table(pa.RecordBatchReader.from_batches(table.schema, batches()), unit="voter"))
    assert leaks(caught.value) == []


def test_scores_show_their_number_and_are_not_pickled() -> None:
    assert repr(Scores([31337.25, 8675309])) == "<2 private scores>"
    assert repr(Scores(lambda: [31337])) == "<private scores>"
    with pytest.raises(TypeError, match="not pickled"):
        __import__("pickle").dumps(Scores([1]))
    with pytest.raises(InvalidParameter) as caught:
        Scores("31337")
    assert leaks(caught.value) == []
