"""Counting row reads from outside the library: by the operating system, by PostgreSQL, by Spark, by Arrow.

Each counter answers how much of a table has been read so far; a test takes the difference.

- ``Files``: bytes read by this process, as the Linux kernel counts them. Make the file large: a header, a
  footer and a catalogue are a few kilobytes.
- ``Postgres``: rows that the server has read from a table, by its own statistics.
- ``SparkJobs``: jobs that the session has run; a schema needs none, every row needs one.
- ``ArrowRows``: rows pulled out of a stream of batches, which counts as it is pulled.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa


class Files:
    """Bytes that this process has read, from whatever file."""

    def __call__(self) -> int:
        return _bytes_read_by("self")


class Children:
    """Bytes that the child processes of this process have read, those that live."""

    def __call__(self) -> int:
        return sum(map(_bytes_read_by, living_children()))


def living_children() -> list[str]:
    tasks = Path("/proc/self/task").glob("*/children")
    return [child for task in tasks for child in task.read_text(encoding="ascii").split()]


def _bytes_read_by(process: str) -> int:
    lines = Path(f"/proc/{process}/io").read_text(encoding="ascii").splitlines()
    return int(dict(line.split(": ") for line in lines)["rchar"])


class Postgres:
    """Rows that the server has read from one table, by sequential and by index scans."""

    def __init__(self, url: str, table: str) -> None:
        self._url, self._table = url, table

    def __call__(self) -> int:
        # Backends report when they end, and at most once a second before: ask until two answers agree.
        before, now = -1, self._ask()
        while before != now:
            time.sleep(0.3)
            before, now = now, self._ask()
        return now

    def _ask(self) -> int:
        with psycopg.connect(self._url) as connection:
            row = connection.execute(
                "SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) "
                "FROM pg_stat_user_tables WHERE relname = %s",
                [self._table],
            ).fetchone()
        assert row is not None
        return int(row[0])


class SparkJobs:
    """Jobs that a session has run."""

    def __init__(self, session: Any) -> None:
        self._tracker = session.sparkContext.statusTracker()

    def __call__(self) -> int:
        return len(self._tracker.getJobIdsForGroup(None))


class ArrowRows:
    """A stream of batches that knows how many rows have been pulled out of it."""

    def __init__(self, table: Any, batch: int = 100) -> None:
        self._pulled = 0
        self.reader = pa.RecordBatchReader.from_batches(table.schema, self._batches(table, batch))

    def _batches(self, table: Any, batch: int) -> Iterator[Any]:
        for each in table.to_batches(max_chunksize=batch):
            self._pulled += each.num_rows
            yield each

    def __call__(self) -> int:
        return self._pulled
