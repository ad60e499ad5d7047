"""A real Spark for tests: a local session with two threads, quiet, on loopback only."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
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
    from pyspark import SparkContext  # noqa: PLC0415 - not installed everywhere
    from pyspark.sql import SparkSession  # noqa: PLC0415

    folder = Path(tempfile.mkdtemp(prefix="dpselect-spark-"))
    (folder / "log4j2.properties").write_text(QUIET, encoding="utf-8")
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    builder = SparkSession.builder.master(master).appName("dpselect tests")
    for name, value in {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile=file:{folder}/log4j2.properties",
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.shuffle.partitions": "2",
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
            SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001
        shutil.rmtree(folder, ignore_errors=True)
