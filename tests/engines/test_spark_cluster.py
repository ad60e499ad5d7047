"""A cluster that loses a worker in the middle, runs tasks twice and collects twice gives the same scores."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest

import dpselect
from dpselect import Table
from tests.engines.asking import asked
from tests.engines.test_large import DISHES, parquet
from tests.servers import spark

__all__ = ["parquet"]

PROBLEMS = [
    dpselect.approval_voting(candidate="dish", candidates=DISHES),
    dpselect.plurality(candidate="dish", candidates=DISHES),
]


def running_tasks(session: Any) -> int:  # noqa: ANN401 - Spark is not installed everywhere
    tracker = session.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    return sum(stage.numActiveTasks for stage in stages if stage is not None)


def wait_until(condition: Any, seconds: float) -> None:  # noqa: ANN401 - a function that says whether
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.01)


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_changes_no_score(parquet: Path) -> None:
    expected = [asked(problem, Table(parquet, unit="voter")) for problem in PROBLEMS]
    with (
        spark.cluster(workers=2) as cluster,
        spark.session(
            cluster.url,
            **{
                "spark.speculation": "true",
                "spark.speculation.multiplier": "1.1",
                "spark.speculation.quantile": "0.3",
                "spark.sql.shuffle.partitions": "16",
                "spark.sql.adaptive.enabled": "true",
                "spark.default.parallelism": "4",
                "spark.executor.memory": "512m",
            },
        ) as session,
    ):
        frame = session.read.parquet(str(parquet)).repartition(24)
        context = session.sparkContext
        wait_until(lambda: context._jsc.sc().getExecutorMemoryStatus().size() == 3, 120)  # noqa: SLF001
        answers: list[list[int]] = []
        asking = threading.Thread(
            target=lambda: answers.extend(asked(problem, Table(frame, unit="voter")) for problem in PROBLEMS)
        )
        asking.start()
        wait_until(lambda: running_tasks(session) > 0, 120)
        time.sleep(1)
        assert asking.is_alive()
        cluster.kill(1)
        asking.join(400)
        assert answers == expected
        # A second collection reads everything again, with one worker fewer.
        assert context._jsc.sc().getExecutorMemoryStatus().size() == 2  # noqa: SLF001
        assert [asked(problem, Table(frame, unit="voter")) for problem in PROBLEMS] == expected
