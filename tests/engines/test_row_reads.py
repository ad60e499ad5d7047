"""Opening a table and checking a question reads the schema, and no row; counting reads them."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpselect import Table, approval_voting
from tests.engines import loading, row_reads
from tests.engines.cases import VOTES
from tests.engines.reference import SALT
from tests.servers.postgres import Server

DISH = approval_voting(candidate="dish", candidates=["soup", "pie"])
ROWS = [{"voter": i, "dish": f"soup {i * i}" if i % 3 else "pie"} for i in range(200_000)]
FEW = 400_000
"""Bytes: more than any header, footer or catalogue takes (DuckDB's in 256 KiB), less than the rows."""


def reads_of_rows(table: Table, reads: Callable[[], int]) -> tuple[int, int]:
    """Give what was read before the question was found good, and what afterwards."""
    before = reads()
    with table.open() as engine:
        request = DISH.request(engine.schema, unit=table.unit)
        checked = reads()
        engine.counts(request, SALT)
        return checked - before, reads() - checked


on_linux = pytest.mark.skipif(
    sys.platform != "linux", reason="run it on Linux: only there a process is told how much it has read"
)


@on_linux
@pytest.mark.parametrize(
    "load",
    [
        loading.from_csv,
        loading.from_parquet,
        loading.from_json,
        loading.from_arrow_file,
    ],
)
def test_of_a_file_no_row_is_read_before_the_counts(load: Any, tmp_path: Path) -> None:
    for name in ("warm", "measured"):  # modules are loaded the first time, and read from files too
        (tmp_path / name).mkdir()
        table = load(VOTES, ROWS, "voter", tmp_path / name)
        before, after = reads_of_rows(table, row_reads.Files())
    assert before < FEW < after


@on_linux
def test_of_a_database_no_row_is_read_before_the_counts(tmp_path: Path) -> None:
    before, after = {}, {}
    for size in (10, len(ROWS)):  # the process that reads a database reads its own modules first
        (tmp_path / str(size)).mkdir()
        table = loading.from_database(VOTES, ROWS[:size], "voter", tmp_path / str(size))
        before[size], after[size] = reads_of_rows(table, row_reads.Children())
    assert before[len(ROWS)] - before[10] < FEW < after[len(ROWS)]


def test_of_a_stream_no_row_is_pulled_before_the_counts() -> None:
    stream = row_reads.ArrowRows(loading.arrow(VOTES, ROWS))
    assert reads_of_rows(Table(stream.reader, unit="voter"), stream) == (0, len(ROWS))


def test_of_a_postgresql_table_no_row_is_read_before_the_counts(postgres_server: Server) -> None:
    url = postgres_server.url()
    loading.to_postgres(url, "few", VOTES, ROWS[:1000])
    before = row_reads.Postgres(url, "few")()
    with Table(url, table="few", unit="voter").open() as engine:
        DISH.request(engine.schema, unit="voter")
    assert row_reads.Postgres(url, "few")() == before
    with Table(url, table="few", unit="voter").open() as engine:
        engine.counts(DISH.request(engine.schema, unit="voter"), SALT)
    assert row_reads.Postgres(url, "few")() == before + 1000


def test_of_a_spark_table_no_row_is_read_before_the_counts(spark_session: Any, tmp_path: Path) -> None:
    frame = spark_session.read.parquet(str(loading.parquet(VOTES, ROWS[:1000], tmp_path)))
    frame.createOrReplaceTempView("few")
    for table in (Table(frame, unit="voter"), Table(spark_session, table="few", unit="voter")):
        before, after = reads_of_rows(table, row_reads.SparkJobs(spark_session))
        assert before == 0
        assert after > 0
