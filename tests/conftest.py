"""What all tests share: the same examples in every run, one Spark in a process, long walks unmeasured."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

import run
from tests.servers import spark

settings.register_profile("the same everywhere", derandomize=True, deadline=None)
settings.load_profile("the same everywhere")

ON_SPARK = {"spark_session", "deeds"}
"""Fixtures that take half a minute: a session, and all that tests/engines/test_spark_logs.py looks at."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let tests/browser/test_pictures.py write the pictures of the docs."""
    parser.addoption("--pictures", action="store_true", help="take the pictures of the docs anew")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell run.py how many tests were skipped, for the last line that it prints."""
    if run.SKIPPED in os.environ:
        skipped = len(terminalreporter.stats.get("skipped", []))
        Path(os.environ[run.SKIPPED]).write_text(str(skipped), encoding="utf-8")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with Spark: what comes first stays with one worker, and only that one starts a machine."""
    items.sort(key=lambda item: ON_SPARK.isdisjoint(getattr(item, "fixturenames", ())))


@pytest.fixture
def unmeasured() -> Iterator[None]:
    """Keep coverage out of a long walk, which would take four times as long; shorter ones are measured."""
    measuring = sys.gettrace()
    sys.settrace(None)
    yield
    sys.settrace(measuring)


@pytest.fixture(scope="session")
def spark_session() -> Iterator[Any]:
    """A local Spark session; the test is skipped where there is no Java."""
    # Hundreds of small queries: what is not compiled need not be compiled again for each of them.
    uncompiled = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
    with spark.session(**uncompiled) as session:
        yield session
