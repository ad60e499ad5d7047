"""Files read by a local Spark: what it says of itself goes nowhere, because it may show rows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from dpselect.cli import interrupts
from dpselect.cli.refusals import BAD_TABLE, WRONG, Refused

FORMS = ("csv", "parquet")


@contextmanager
def frame_of(path: str, form: str) -> Iterator[Any]:
    """Give a DataFrame of CSV or Parquet files; CSV columns are text."""
    from dpselect.errors import MissingExtra

    if form not in FORMS:
        raise Refused("--engine spark reads CSV and Parquet; take --engine duckdb for this file.")
    if find_spec("pyspark") is None:
        raise MissingExtra.needed("--engine spark", extra="spark")
    session = _session()
    try:
        frame = _read(session, path, form)
        if frame is None:
            raise Refused("PATH must be readable by Spark; it is not. Is it what its name says?", BAD_TABLE)
        yield frame
    finally:
        session.stop()


def _session() -> Any:  # noqa: ANN401 - pyspark is an extra
    builder = import_module("pyspark.sql").SparkSession.builder.master("local[*]").appName("dpselect")
    session = None
    with _silent():
        try:
            session = builder.config("spark.ui.enabled", "false").getOrCreate()
            session.sparkContext.setLogLevel("OFF")
            interrupts.heed_again()  # Spark has set its own handler
        except Exception:  # noqa: BLE001 - Java is missing or too old: it says so in many lines
            session = None
    if session is None:
        raise Refused(
            "--engine spark needs Java 17 or newer, which did not start. Run 'dpselect doctor'.", WRONG
        )
    return session


def _read(session: Any, path: str, form: str) -> Any:  # noqa: ANN401
    try:
        if form == "parquet":
            return session.read.parquet(path)
        separator = "\t" if ".tsv" in path else ","
        return session.read.option("mode", "FAILFAST").csv(path, header=True, sep=separator, escape='"')
    except Exception:  # noqa: BLE001 - its words may quote the file
        return None


@contextmanager
def _silent() -> Iterator[None]:
    """Start a process whose standard error goes nowhere."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
