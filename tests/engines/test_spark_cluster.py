"""A cluster that loses a worker in the middle, runs tasks twice and collects twice gives the same scores."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dpselect import Table
from tests.engines.losing_a_worker import answers
from tests.engines.test_large import parquet
from tests.servers.spark import need_spark

__all__ = ["parquet"]


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_changes_no_score(parquet: Path) -> None:
    need_spark()
    expected = answers(Table(parquet, unit="voter"))
    command = [sys.executable, "-m", "tests.engines.losing_a_worker", str(parquet)]
    told = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    cluster = json.loads(told.stdout.splitlines()[-1])
    assert cluster["in the middle"]
    assert cluster["first"] == expected
    # The second collection reads everything again, with one worker fewer.
    assert cluster["left"] == 1
    assert cluster["second"] == expected
