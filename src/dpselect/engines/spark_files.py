"""Files read by a local Spark: what it says of itself goes nowhere, because it may show rows."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dpselect.engines import csv_files, rewritten_csv
from dpselect.engines.found_files import FoundFiles, found_files
from dpselect.engines.partitions import partitions_of
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
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
}
"""Whatever the machine's own settings say: of rows nothing is shown, kept, passed over or guessed."""
_READ_OTHERWISE = re.compile(r"=/|%[89A-F][0-9A-F]|%00", re.IGNORECASE)
"""What Spark makes another value of in the name of a partition, or fails on."""


@dataclass(frozen=True, repr=False)
class FrameOfCsv:
    """A DataFrame of CSV files, whose text is read as that of the files."""

    frame: Any


@contextmanager
def frame_of(
    source: str | Sequence[str], *, reading: Reading, after_start: Callable[[], None]
) -> Iterator[Any | FrameOfCsv]:
    """Give a DataFrame of CSV or Parquet files; CSV columns are text.

    ``after_start`` is called once Spark runs: PySpark sets a signal handler of its own.
    """
    if find_spec("pyspark") is None:
        raise MissingExtra.needed("--engine spark", extra="spark")
    found = _readable(source, reading)
    session = _session(after_start)
    try:
        frame = frame_of_files(session, found, reading)
        if frame is None:
            raise InvalidParameter("PATH must be readable by Spark; it is not. Is it what its name says?")
        yield FrameOfCsv(frame) if found.form == "csv" else frame
    finally:
        session.stop()


def _readable(source: str | Sequence[str], reading: Reading) -> FoundFiles:
    """List the files; Spark passes over some names without a word, and takes others for patterns."""
    found = found_files(source, reading)
    if found.form not in FORMS:
        raise InvalidParameter(
            "PATH must be CSV or Parquet files with --engine spark; take --engine duckdb for this file.",
            parameter="path",
        )
    if any(Path(each).name[0] in "._" or set("*?[]{}\\") & set(each) for each in found.paths):
        raise InvalidParameter(
            "PATH must be files without *, ?, brackets, braces and backslashes in their paths, whose names "
            "do not begin with _ or a point: Spark passes over them. Rename them, or take --engine duckdb.",
            parameter="path",
        )
    inside = [path.removeprefix(found.folder or "") for path in found.paths]
    if found.keys and (found.folder is None or any(map(_READ_OTHERWISE.search, inside))):
        raise InvalidParameter(
            "PATH must be one folder, if there are partitions in it, with a value for each and no letters "
            "beyond ASCII written as %C3%A9: Spark reads them otherwise. Take --engine duckdb.",
            parameter="path",
        )
    return found


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


def frame_of_files(session: Any, found: FoundFiles, reading: Reading) -> Any:
    """Give a DataFrame of files, with their partitions last; None if Spark cannot read them."""
    try:
        frame = _parquet(session, found) if found.form == "parquet" else csv_frame(session, found, reading)
    except InvalidParameter:
        raise
    except Exception:  # noqa: BLE001 - its words may quote the file
        return None
    return frame if set(found.keys) <= set(frame.columns) else None


def _to_be_read(found: FoundFiles, names: Sequence[str]) -> FoundFiles:
    """Leave partitions out that are columns of the files as well; Spark reads all of them, or none."""
    partitions = partitions_of(found, names)
    if partitions and len(partitions) != len(found.keys):
        raise InvalidParameter(
            "source must be files with none of the partitions among their columns, or all of them, with "
            "Spark. Take DuckDB."
        )
    return found if partitions else replace(found, keys=(), values=(), folder=None)


def _reader(session: Any, found: FoundFiles) -> Any:
    """Give a reader that takes partitions below the folder alone."""
    return session.read if found.folder is None else session.read.option("basePath", found.folder)


def csv_frame(session: Any, found: FoundFiles, reading: Reading) -> Any:
    """Give a DataFrame of CSV files: columns of text, and an empty cell is NULL, in quotes too."""
    paths = list(found.paths)
    names, delimiter, _ = csv_files.header(paths, reading)
    found = _to_be_read(found, names)
    if csv_files.unshown_fields(paths, reading) is not None:
        raise InvalidParameter(
            f"separator must be what the header shows, with Spark; {delimiter!r} is not. Take DuckDB, or put "
            "the names of the header in quotes.",
            parameter="separator",
        )
    columns = ", ".join(f"c{position} string" for position in range(len(names)))
    codec = _one_codec(paths, reading)
    reader = _reader(session, found).schema(columns).options(**CSV, sep=delimiter, maxColumns=len(names) + 1)
    frame = reader.option("encoding", ENCODINGS[codec]).csv(paths)
    return frame.selectExpr(*[f"nullif({name}, '') as {name}" for name in frame.columns]).toDF(
        *names, *found.keys
    )


def _one_codec(paths: list[str], reading: Reading) -> str:
    codecs = {rewritten_csv.codec_of(path, reading.codec) for path in paths}
    if len(codecs) != 1:
        raise InvalidParameter("source must be CSV files in one and the same encoding; theirs differ.")
    return codecs.pop()


def _parquet(session: Any, found: FoundFiles) -> Any:
    """Read files of one schema: of several Spark takes one, and what the others lack is NULL."""
    schemas = [session.read.parquet(path).schema for path in found.paths]
    if len({schema.json() for schema in schemas}) != 1:
        raise InvalidParameter("source must be Parquet files with the same columns and types; theirs differ.")
    return _reader(session, _to_be_read(found, schemas[0].names)).parquet(*found.paths)


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
