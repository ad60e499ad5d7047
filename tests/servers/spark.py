"""A real Spark for tests, quiet, on loopback only: a local session, or a cluster with workers to kill."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

MISSING_JAVA = "Spark needs Java 17 or newer. On Debian and Ubuntu: sudo apt install openjdk-17-jre-headless"
MISSING_SPARK = "Spark is not installed. Run: pip install 'dpselect[spark]'"

QUIET = """
status = off
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %p %m%n%ex
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
"""


def need_spark() -> None:
    """Skip where Spark cannot run, with the sentence that helps."""
    if shutil.which("java") is None:
        pytest.skip(MISSING_JAVA)
    if find_spec("pyspark") is None:
        pytest.skip(MISSING_SPARK)


@contextmanager
def session(master: str = "local[2]", **settings: str) -> Iterator[Any]:
    """Start a session, and end it with its Java process."""
    need_spark()
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    folder = Path(tempfile.mkdtemp(prefix="dpselect-spark-"))
    (folder / "log4j2.properties").write_text(QUIET, encoding="utf-8")
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    builder = SparkSession.builder.master(master).appName("dpselect tests")
    for name, value in {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        # Compiled quickly rather than well: a test does not run long enough for the better code.
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile=file:{folder}/log4j2.properties "
        "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.default.parallelism": "1",
        "spark.sql.adaptive.enabled": "false",
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.shuffle.partitions": "1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **settings,
    }.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()
        gateway = SparkContext._gateway  # noqa: SLF001 - nothing public ends the Java process
        if gateway is not None:
            gateway.shutdown()
            gateway.proc.stdin.close()
            gateway.proc.wait(30)
            SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001 - as above
        shutil.rmtree(folder, ignore_errors=True)


class Cluster:
    """A master and workers in processes of their own, on loopback; each can be killed with its executors."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []
        self.port = _free_port()
        master = ["org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(self.port)]
        self._start([*master, "--webui-port", "0"])
        _wait_for(self.port)

    @property
    def url(self) -> str:
        return f"spark://127.0.0.1:{self.port}"

    def add_worker(self) -> int:
        """Start a worker with one core; give its number."""
        number = len(self._processes)
        place = [
            "--host",
            "127.0.0.1",
            "--webui-port",
            "0",
            "--work-dir",
            str(self._folder / f"work{number}"),
        ]
        self._start(
            ["org.apache.spark.deploy.worker.Worker", *place, "--cores", "1", "--memory", "1g", self.url]
        )
        return number

    def kill(self, number: int) -> None:
        """Kill a worker and its executors at once."""
        process = self._processes[number]
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(30)

    def kill_all(self) -> None:
        for number in reversed(range(len(self._processes))):
            self.kill(number)

    def _start(self, arguments: list[str]) -> None:
        spec = find_spec("pyspark")
        assert spec is not None
        assert spec.origin is not None
        home = Path(spec.origin).parent
        environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
        log = (self._folder / f"log{len(self._processes)}").open("wb")
        with log:
            self._processes.append(
                subprocess.Popen(
                    [home / "bin" / "spark-class", *arguments],
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            )


@contextmanager
def cluster(workers: int) -> Iterator[Cluster]:
    """Run a standalone cluster, and leave no process behind."""
    need_spark()
    folder = Path(tempfile.mkdtemp(prefix="dpselect-cluster-"))
    running = Cluster(folder)
    try:
        for _ in range(workers):
            running.add_worker()
        yield running
    finally:
        running.kill_all()
        shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise TimeoutError
