"""Asked in a process of its own: a cluster of two workers, one of which is killed in the middle.

A process has one Spark at a time, and the other tests of Spark have theirs.
"""

import json
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import dpselect
from dpselect import Table
from tests.engines.asking import asked
from tests.engines.test_large import DISHES
from tests.servers import spark

PROBLEMS = [
    dpselect.approval_voting(candidate="dish", candidates=DISHES),
    dpselect.plurality(candidate="dish", candidates=DISHES),
]
RESTLESS = {
    "spark.speculation": "true",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.3",
    "spark.sql.shuffle.partitions": "16",
    "spark.sql.adaptive.enabled": "true",
    "spark.default.parallelism": "4",
    "spark.executor.memory": "512m",
}


def answers(table: Table) -> list[list[int]]:
    return [asked(problem, table) for problem in PROBLEMS]


def wait_until(condition: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.01)


def executors(session: Any) -> int:
    """Count the executors; the driver is listed with them."""
    return int(session.sparkContext._jsc.sc().getExecutorMemoryStatus().size()) - 1  # noqa: SLF001 - not public


def running_tasks(session: Any) -> int:
    tracker = session.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    return sum(stage.numActiveTasks for stage in stages if stage is not None)


def main(path: str) -> dict[str, Any]:
    """Ask, kill a worker meanwhile, and ask again."""
    with spark.cluster(workers=2) as cluster, spark.session(cluster.url, **RESTLESS) as session:
        table = Table(session.read.parquet(path).repartition(24), unit="voter")
        wait_until(lambda: executors(session) == 2, 180)
        first: list[list[int]] = []
        asking = threading.Thread(target=lambda: first.extend(answers(table)))
        asking.start()
        wait_until(lambda: running_tasks(session) > 0, 180)
        time.sleep(1)
        in_the_middle = asking.is_alive()
        cluster.kill(1)
        asking.join(400)
        left = executors(session)
        return {"first": first, "in the middle": in_the_middle, "left": left, "second": answers(table)}


if __name__ == "__main__":
    sys.stdout.write("\n" + json.dumps(main(sys.argv[1])))
