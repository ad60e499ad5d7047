"""Progress of a query: told while it runs, by whichever thread asks, and never afterwards."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import duckdb
import pytest

from dpselect import Table
from dpselect.engines.progress import RunningQuery, telling, watched
from dpselect.engines.protocol import SALT_BYTES
from dpselect.problems import approval_voting

DISHES = [f"d{number}" for number in range(50)]
PROBLEM = approval_voting(candidate="dish", candidates=DISHES)
MOST_QUERIES = 50
ROWS = "SELECT i % 500000 AS voter, 'd' || (hash(i) % 50) AS dish FROM range(1000000) t(i)"


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same rows in three forms, many enough to be counted for a moment."""
    folder = tmp_path_factory.mktemp("tables")
    with duckdb.connect(folder / "votes.duckdb") as connection:
        connection.execute(f"CREATE TABLE votes AS {ROWS}")
        for name in ("votes.csv", "votes.parquet"):
            connection.execute(f"COPY votes TO '{folder / name}'")
    return folder


def asked(query: RunningQuery, done: threading.Event, heard: list[float | None]) -> None:
    while not done.wait(0.001):
        heard.append(query.share())


@pytest.mark.parametrize(
    ("name", "table"), [("votes.csv", None), ("votes.parquet", None), ("votes.duckdb", "votes")]
)
def test_every_file_tells_how_far_its_query_is(name: str, table: str | None, tables: Path) -> None:
    """Asked again until it tells: a query may be over before its engine has a word to say."""
    told: list[float] = []
    with Table(str(tables / name), unit="voter", table=table).open() as engine:
        request = PROBLEM.request(engine.schema, unit="voter")
        for _ in range(MOST_QUERIES):
            done, heard = threading.Event(), list[float | None]()
            with watched() as query:
                other = threading.Thread(target=asked, args=(query, done, heard))
                other.start()
                counts = engine.counts(request, bytes(SALT_BYTES))
                assert query.share() is None
                done.set()
                other.join()
            assert counts.sizes.sum() > 0
            told = [share for share in heard if share]
            assert all(0 < share <= 1 for share in told)
            assert told == sorted(told)
            if told:
                return
    pytest.fail(f"{MOST_QUERIES} queries told nothing")


def test_without_a_display_nothing_is_asked(tables: Path) -> None:
    with telling(lambda: 1 / 0), watched() as query:
        assert query.share() is None
    with Table(str(tables / "votes.parquet"), unit=None).open() as engine:
        assert engine.counts(PROBLEM.request(engine.schema, unit=None), bytes(SALT_BYTES)).sizes.sum() > 0


@pytest.mark.parametrize("told", [-1.0, 100.5, float("nan")])
def test_what_is_no_share_is_none(told: float) -> None:
    with watched() as query, telling(lambda: told):
        assert query.share() is None


def test_an_engine_that_fails_to_tell_tells_nothing() -> None:
    with watched() as query, telling(lambda: 1 / 0):
        assert query.share() is None


def test_a_query_ends_only_when_its_last_telling_has_ended() -> None:
    """Otherwise a connection would be asked while it is closed, which crashes DuckDB."""
    asking, ended = threading.Event(), list[float]()

    def slow() -> float:
        asking.set()
        time.sleep(0.1)
        ended.append(time.monotonic())
        return 50.0

    with watched() as query:
        with telling(slow):
            other = threading.Thread(target=query.share)
            other.start()
            assert asking.wait(10)
        assert ended
        assert query.share() is None
        other.join()


def test_the_time_of_a_query_begins_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    opened, begun, asked = 100.0, 107.0, 109.0
    times = iter([opened, begun, asked])
    monkeypatch.setattr("dpselect.engines.progress.monotonic", lambda: next(times))
    with watched() as query, telling(lambda: 1.0):
        assert query.seconds == asked - begun


IN_A_NOTEBOOK = """
import sys
from types import ModuleType, SimpleNamespace

notebook = ModuleType("IPython")
notebook.get_ipython = lambda: SimpleNamespace(config={"IPKernelApp": {}})
sys.modules["IPython"], sys.modules["ipywidgets"] = notebook, None

import duckdb

try:
    duckdb.connect().execute("SET enable_progress_bar = true")
except duckdb.Error:
    print("refused")

from dpselect import Table
from dpselect.engines.protocol import SALT_BYTES
from dpselect.problems import approval_voting

problem = approval_voting(candidate="dish", candidates=["d1", "d2"])
with Table(sys.argv[1], unit="voter").open() as engine:
    print(engine.counts(problem.request(engine.schema, unit="voter"), bytes(SALT_BYTES)).sizes.sum() > 0)
"""


def test_a_notebook_without_widgets_gets_its_counts(tables: Path) -> None:
    """There DuckDB refuses to keep count of what is done: a question does without."""
    command = [sys.executable, "-c", IN_A_NOTEBOOK, str(tables / "votes.parquet")]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["refused", "True"]
