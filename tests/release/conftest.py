"""The servers that releases are tested with, and ledgers that keep to the folder of their test."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpselect import PureDP
from tests.release.elections import Watched
from tests.servers import spark
from tests.servers.postgres import postgres_server

__all__ = ["postgres_server"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep what a release leaves anywhere within the folder of its test."""
    for name in ("state", "tmp"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    return tmp_path


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Watched]:
    """A ledger with a budget of epsilon 1."""
    with Watched.create(tmp_path / "food.ledger", budget=PureDP(1)) as kept:
        yield kept


@pytest.fixture(scope="session")
def spark_session() -> Iterator[Any]:
    """A local Spark session; one that other tests of this process have started is used, and left to them."""
    spark.need_spark()
    from pyspark import SparkContext  # noqa: PLC0415 - not installed everywhere
    from pyspark.sql import SparkSession  # noqa: PLC0415

    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    # A few small queries: compiling them would take longer than running them.
    settings = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
    starting = spark.session(**settings)
    session = starting.__enter__()
    yield session
    if SparkContext._active_spark_context is not None:  # noqa: SLF001 - nothing public tells whether it runs
        starting.__exit__(None, None, None)
