"""Run in a process of its own, on a Spark with its default logs: what reaches standard error, and what stays.

Writes a line of JSON for each deed: how often the canary was written, and whether the loggers are as before.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dpselect
from dpselect import Table
from dpselect.errors import InvalidParameter, TableUnreadable
from tests.engines.asking import asked

CANARY = "31337"
DISH = dpselect.approval_voting(candidate="dish", candidates=["soup", "pie"])
LATE = 1.0
"""Seconds in which a task that has just ended would tell its end."""
WORKING = "task launch worker for task"
"""How Spark names a thread while it works on a task."""


def started() -> Any:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.driver.host", "127.0.0.1")
    for name in ("spark.ui.enabled", "spark.ui.showConsoleProgress"):
        builder = builder.config(name, "false")
    return builder.getOrCreate()


class Driver:
    """A session, all that its process writes to standard error, and the loggers of its Java."""

    def __init__(self, session: Any, errors: Path) -> None:
        self.session = session
        self._errors = errors
        self._read = 0
        self.log4j = session._jvm.org.apache.logging.log4j  # noqa: SLF001 - no public way
        self.configuration = self.log4j.LogManager.getContext(False).getConfiguration()  # noqa: FBT003 - Java

    def written(self) -> str:
        """Give what was written since the last time."""
        text = self._errors.read_text(encoding="utf-8", errors="replace")[self._read :]
        self._read += len(text)
        return text

    def loggers(self) -> list[str]:
        """Show everything that decides what is logged."""
        named = self.configuration.getLoggers()
        levels = [f"{name} {named[name].getLevel()}" for name in sorted(named)]
        return [
            str(self.log4j.LogManager.getRootLogger().getLevel()),
            *levels,
            str(self.configuration.getFilter()),
        ]

    def frame(self, partitions: int) -> Any:
        """Give rows that cannot be read, each with the canary, in several tasks; the last are late."""
        rows = self.session.range(0, 40, 1, partitions)
        # Nothing that could be interrupted: a task that is told to stop ends when this is computed.
        slow = "aggregate(sequence(id, id + 4000000L), 0L, (sum, each) -> sum + each % 7)"
        late = f"CASE WHEN id >= 20 THEN {slow} END"
        texts = rows.selectExpr(
            "CAST(id AS STRING) AS voter", f"CONCAT('{CANARY} ', id, COALESCE({late}, '')) AS text"
        )
        return texts.selectExpr("voter", "CAST(CAST(text AS INT) AS STRING) AS dish")

    def fails(self, partitions: int = 2) -> None:
        try:
            asked(DISH, Table(self.frame(partitions), unit="voter"))
        except TableUnreadable:
            return
        raise AssertionError

    def succeeds(self) -> None:
        frame = self.session.range(0, 40, 1, 2).selectExpr("id AS voter", "'pie' AS dish")
        assert sorted(asked(DISH, Table(frame, unit="voter"))) == [0, 40]

    def fail_at_once(self) -> None:
        threads = [threading.Thread(target=self.fails) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def wait_for_tasks(self) -> None:
        """Wait until no thread of the executor works on a task: those that were told to stop end late."""
        threads = self.session._jvm.java.lang.Thread  # noqa: SLF001 - no public way
        while any(WORKING in thread.getName() for thread in threads.getAllStackTraces().keySet()):
            time.sleep(0.05)

    def level(self, name: str) -> None:
        self.log4j.core.config.Configurator.setLevel(name, self.log4j.Level.WARN)

    def accepting(self) -> Any:
        result = getattr(self.log4j.core.Filter, "Result")  # noqa: B009 - a class inside a class of Java
        return self.log4j.core.filter.ThresholdFilter.createFilter(
            self.log4j.Level.WARN, result.ACCEPT, result.NEUTRAL
        )

    def told(self, deed: str, act: Callable[[], Any]) -> None:
        """Act, wait for latecomers, and print what became of it."""
        self.written()
        before = self.loggers()
        act()
        self.wait_for_tasks()
        time.sleep(LATE)
        text = self.written()
        facts = {"deed": deed, "canaries": text.count(CANARY), "lines": len(text.splitlines())}
        tell({**facts, "as before": self.loggers() == before})

    def speak(self) -> None:
        """Fail outside of a release: Spark says so, as it did before."""
        try:
            self.frame(1).collect()
        except Exception:  # noqa: BLE001 - it is what we are after
            return

    def refused_when_stopped(self) -> bool:
        frame = self.frame(1)
        self.session.stop()
        try:
            asked(DISH, Table(frame, unit="voter"))
        except InvalidParameter:
            return True
        return False


def tell(facts: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def main(errors: Path) -> None:
    with errors.open("wb") as file:
        os.dup2(file.fileno(), 2)
    driver = Driver(started(), errors)
    driver.told("success", driver.succeeds)
    driver.told("after success", lambda: driver.session.range(10).count())
    driver.told("one partition", lambda: driver.fails(1))
    driver.told("two partitions", driver.fails)
    driver.told("eight partitions", lambda: driver.fails(8))
    driver.told("three at once", driver.fail_at_once)
    driver.level("org.apache.spark")
    driver.told("a logger of its own", driver.fails)
    accepting = driver.accepting()
    driver.configuration.addFilter(accepting)
    driver.told("a filter that accepts", driver.fails)
    driver.configuration.removeFilter(accepting)
    driver.told("outside of a release", driver.speak)
    tell({"deed": "stopped", "refused": driver.refused_when_stopped()})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
