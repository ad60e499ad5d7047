"""Files read by a local Spark: what it says of itself goes nowhere, because it may show rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dpselect.engines import csv_files, files, rewritten_csv
from dpselect.engines.reading import ENCODINGS, Reading
from dpselect.engines.spark_logs import hush_for_good
from dpselect.errors import InvalidParameter, MissingExtra

FORMS = ("csv", "parquet")
CSV = {
    "header": True,
    "mode": "FAILFAST",
    "quote": '"',
    "escape": '"',
    "multiLine": True,
}
SESSION_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.eventLog.enabled": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.legacy.javaCharsets": "true",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
}
"""Whatever the machine's own settings say: nothing is shown or kept of rows, and nothing passed over."""


@dataclass(frozen=True, repr=False)
class FrameOfCsv:
    """A DataFrame of CSV files, whose text is read as that of the files."""

    frame: Any


@contextmanager
def frame_of(
    path: str, form: str, *, reading: Reading, after_start: Callable[[], None]
) -> Iterator[Any | FrameOfCsv]:
    """Give a DataFrame of CSV or Parquet files; CSV columns are text.

    ``after_start`` is called once Spark runs: PySpark sets a signal handler of its own.
    """
    if find_spec("pyspark") is None:
        raise MissingExtra.needed("--engine spark", extra="spark")
    paths = _readable(path)
    session = _session(after_start)
    try:
        frame = _read(session, paths, form, reading)
        if frame is None:
            raise InvalidParameter("PATH must be readable by Spark; it is not. Is it what its name says?")
        yield FrameOfCsv(frame) if form == "csv" else frame
    finally:
        session.stop()


def _readable(path: str) -> list[str]:
    """List the files; Spark passes over some names without a word, and takes others for patterns."""
    paths = files.matching(path)
    if any(Path(each).name[0] in "._" or set("*?[]{}\\") & set(each) for each in paths):
        raise InvalidParameter(
            "PATH must be files without *, ?, brackets, braces and backslashes in their paths, whose names "
            "do not begin with _ or a point: Spark passes over them. Rename them, or take --engine duckdb.",
            parameter="path",
        )
    return paths


def _session(after_start: Callable[[], None]) -> Any:
    builder = import_module("pyspark.sql").SparkSession.builder.master("local[*]").appName("dpselect")
    for name, value in SESSION_SETTINGS.items():
        builder = builder.config(name, value)
    session = None
    with _silent():
        try:
            session = builder.getOrCreate()
            hush_for_good(session)
            after_start()
        except Exception:  # noqa: BLE001 - Java is missing or too old: it says so in many lines
            session = None
    if session is None:
        raise MissingExtra(
            "--engine spark needs Java 17 or newer, which did not start. Run 'dpselect doctor'."
        )
    return session


def _read(session: Any, paths: list[str], form: str, reading: Reading) -> Any:
    try:
        if form == "parquet":
            return _parquet(session, paths)
        return csv_frame(session, paths, reading)
    except InvalidParameter:
        raise
    except Exception:  # noqa: BLE001 - its words may quote the file
        return None


def csv_frame(session: Any, paths: list[str], reading: Reading) -> Any:
    """Give a DataFrame of CSV files: columns of text, and an empty cell is NULL, in quotes too."""
    names, delimiter, _ = csv_files.header(paths, reading)
    if csv_files.unshown_fields(paths, reading) is not None:
        raise InvalidParameter(
            f"separator must be what the header shows, with Spark; {delimiter!r} is not. Take DuckDB, or put "
            "the names of the header in quotes.",
            parameter="separator",
        )
    columns = ", ".join(f"c{position} string" for position in range(len(names)))
    codec = _one_codec(paths, reading)
    reader = session.read.schema(columns).options(**CSV, sep=delimiter, maxColumns=len(names) + 1)
    frame = reader.option("encoding", ENCODINGS[codec]).csv(paths)
    return frame.selectExpr(*[f"nullif({name}, '') as {name}" for name in frame.columns]).toDF(*names)


def _one_codec(paths: list[str], reading: Reading) -> str:
    codecs = {rewritten_csv.codec_of(path, reading.codec) for path in paths}
    if len(codecs) != 1:
        raise InvalidParameter("source must be CSV files in one and the same encoding; theirs differ.")
    return codecs.pop()


def _parquet(session: Any, paths: list[str]) -> Any:
    """Read files of one schema: of several Spark takes one, and what the others lack is NULL."""
    if len({session.read.parquet(path).schema.json() for path in paths}) != 1:
        raise InvalidParameter("source must be Parquet files with the same columns and types; theirs differ.")
    return session.read.parquet(*paths)


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
