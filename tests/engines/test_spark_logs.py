"""Nothing of a row reaches the logs of Spark's driver, and the logs are left as they were."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.servers.spark import need_spark


@pytest.fixture(scope="module")
def deeds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Do everything once, in a process with Spark's default logs."""
    need_spark()
    folder = tmp_path_factory.mktemp("spark")
    run = subprocess.run(
        [sys.executable, "-m", "tests.engines.spark_in_silence", str(folder / "errors")],
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": str(folder)},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, (folder / "errors").read_text(encoding="utf-8")[-2000:]
    return {each["deed"]: each for each in map(json.loads, run.stdout.splitlines())}


@pytest.mark.parametrize(
    "deed",
    [
        "one partition",
        "two partitions",
        "eight partitions",
        "three at once",
        "a logger of its own",
        "a filter that accepts",
    ],
)
def test_d8_a_row_that_fails_is_not_logged_and_the_loggers_are_as_before(
    deeds: dict[str, Any], deed: str
) -> None:
    assert deeds[deed]["canaries"] == 0
    # A line without the canary is one too many: it was written by a task that ended after the silence.
    assert deeds[deed]["lines"] == 0
    assert deeds[deed]["as before"]


def test_a_release_leaves_spark_as_quiet_as_it_was(deeds: dict[str, Any]) -> None:
    assert deeds["success"]["as before"]
    assert deeds["success"]["lines"] == 0
    assert deeds["after success"]["lines"] == 0


def test_spark_speaks_again_after_a_release(deeds: dict[str, Any]) -> None:
    assert deeds["outside of a release"]["canaries"] > 0


def test_a_session_that_has_been_stopped_is_refused_before_the_charge(deeds: dict[str, Any]) -> None:
    assert deeds["stopped"]["refused"]
