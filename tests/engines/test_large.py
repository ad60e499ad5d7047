"""A million rows: every engine counts the same, and as many as NumPy does."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet
import pytest

import dpselect
from dpselect import Table
from dpselect.problems import Problem
from tests.engines.asking import asked
from tests.servers.postgres import Server

ROWS, VOTERS = 1_000_000, 200_000
DISHES = [f"dish {number}" for number in range(500)]
APPROVAL = dpselect.approval_voting(candidate="dish", candidates=DISHES)
OTHERS = [
    dpselect.plurality(candidate="dish", candidates=DISHES),
    dpselect.quantile(value="price", at="1/2", between=(0, 20), step="0.01"),
]


def columns() -> dict[str, Any]:
    """A million votes that look random and are the same everywhere; some are for no dish."""
    number = np.arange(ROWS, dtype=np.uint64)
    scattered = (number * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)
    return {
        "voter": (scattered % np.uint64(VOTERS)).astype(np.int64),
        "dish": ((scattered >> np.uint64(9)) % np.uint64(520)).astype(np.int64),
        "price": ((scattered >> np.uint64(3)) % np.uint64(2500)).astype(np.int64) / 100,
    }


@pytest.fixture(scope="module")
def parquet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large") / "votes.parquet"
    votes = columns()
    names = pa.array([f"dish {number}" for number in range(520)])
    dishes = names.take(pa.array(votes["dish"]))
    pyarrow.parquet.write_table(pa.table({**votes, "dish": dishes}), path)
    return path


def expected() -> list[int]:
    votes = columns()
    pairs = np.unique(votes["voter"] * 520 + votes["dish"])
    counts = np.bincount(pairs % 520, minlength=520)
    return [int(counts[int(name.removeprefix("dish "))]) for name in APPROVAL.outputs]


def test_duckdb_counts_a_million_votes_as_numpy_does(parquet: Path) -> None:
    assert asked(APPROVAL, Table(parquet, unit="voter")) == expected()


@pytest.fixture(scope="module")
def in_postgresql(parquet: Path, postgres_server: Server) -> str:
    url = postgres_server.url()
    with psycopg.connect(url, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS votes")
        cursor.execute("CREATE TABLE votes (voter bigint, dish text, price double precision)")
        with cursor.copy("COPY votes FROM STDIN (FORMAT csv)") as copy:
            for chunk in written(parquet):
                copy.write(chunk)
    return url


def test_postgresql_counts_a_million_votes_as_numpy_does(in_postgresql: str) -> None:
    assert asked(APPROVAL, Table(in_postgresql, table="votes", unit="voter")) == expected()


@pytest.mark.slow
@pytest.mark.parametrize("problem", OTHERS, ids=lambda problem: problem.name)
def test_postgresql_draws_from_a_million_rows_as_duckdb_does(
    problem: Problem, in_postgresql: str, parquet: Path
) -> None:
    drawn = asked(problem, Table(in_postgresql, table="votes", unit="voter"))
    assert drawn == asked(problem, Table(parquet, unit="voter"))


def written(parquet: Path) -> Iterator[bytes]:
    """Give the rows as CSV, in pieces."""
    text = parquet.with_suffix(".text")
    with duckdb.connect() as connection:
        connection.read_parquet(str(parquet)).write_csv(str(text), header=False)
    with text.open("rb") as file:
        yield from iter(lambda: file.read(1 << 20), b"")


@pytest.mark.slow
def test_spark_counts_a_million_votes_as_duckdb_does(parquet: Path, spark_session: Any) -> None:
    frame = spark_session.read.parquet(str(parquet))
    for problem in (APPROVAL, *OTHERS):
        assert asked(problem, Table(frame, unit="voter")) == asked(problem, Table(parquet, unit="voter"))
