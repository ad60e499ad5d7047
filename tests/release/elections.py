"""One question about dishes, many kinds of tables that hold the ballots, and a ledger that is watched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from dpselect import Ledger, Table, approval_voting
from dpselect.ledger import Entry
from tests.engines import loading, row_reads
from tests.engines.cases import VOTES
from tests.engines.row_reads import Children, Files
from tests.servers.postgres import Server

DISH = approval_voting(candidate="dish", candidates=["soup", "pie"])
ROWS = [{"voter": i, "dish": f"soup {i * i}" if i % 3 else "pie"} for i in range(200_000)]
FEW = 400_000
"""Bytes: more than a header, a footer, a catalogue and a ledger take; far less than the rows do."""
CODE = 5_000_000
"""Bytes: more than a process reads while it loads what reads a database; far less than the rows of one."""


class Watched(Ledger):
    """A real ledger that does something else just before each charge, and just after it."""

    before: Callable[[], object] = staticmethod(lambda: None)
    after: Callable[[], object] = staticmethod(lambda: None)

    def charge(self, loss: object, **facts: Any) -> Entry:
        self.before()
        entry = super().charge(loss, **facts)
        self.after()
        return entry


@dataclass
class Source:
    """A table of many rows, how much of it has been read, and how much one may read of the rest."""

    table: Table
    reads: Callable[[], int]
    few: int = 0
    at_charge: Callable[[], None] = field(default=lambda: None)


def of_files(load: Callable[..., Table]) -> Callable[[Path], Source]:
    def make(folder: Path) -> Source:
        return Source(load(VOTES, ROWS, "voter", folder), row_reads.Files(), FEW)

    return make


def of_a_database(folder: Path) -> Source:
    """Count what this process and its children read: a database file is read by a process of its own.

    That process loads a few megabytes of code, so the rows must be more.
    """
    rows = [{"voter": i, "dish": sha256(b"%d" % i).hexdigest()} for i in range(len(ROWS))]
    table, ours, theirs = loading.from_database(VOTES, rows, "voter", folder), Files(), Children()
    return Source(table, lambda: ours() + theirs(), FEW + CODE)


def stream(folder: Path) -> Source:
    del folder
    rows = row_reads.ArrowRows(loading.arrow(VOTES, ROWS))
    return Source(Table(rows.reader, unit="voter"), rows)


FILES: dict[str, Callable[[Path], Source]] = {
    "csv": of_files(loading.from_csv),
    "parquet": of_files(loading.from_parquet),
    "several files": of_files(loading.from_several),
    "json": of_files(loading.from_json),
    "database": of_a_database,
    "arrow file": of_files(loading.from_arrow_file),
    "duckdb relation": of_files(loading.from_relation),
    "polars, not collected": of_files(loading.from_lazy_polars),
    "arrow stream": stream,
}


def on_postgres(server: Server, name: str) -> Source:
    """Count by statistics, which tell of ended transactions, and by locks, which tell of open ones."""
    url = server.url()
    loading.to_postgres(url, name, VOTES, ROWS[:1000])

    def no_transaction_reads() -> None:
        with psycopg.connect(url) as connection:
            lock = sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE NOWAIT").format(sql.Identifier(name))
            connection.execute(lock)

    table = Table(url, table=name, unit="voter")
    return Source(table, row_reads.Postgres(url, name), at_charge=no_transaction_reads)


def on_spark(session: Any, folder: Path) -> Source:
    frame = session.read.parquet(str(loading.parquet(VOTES, ROWS[:1000], folder)))
    return Source(Table(frame, unit="voter"), row_reads.SparkJobs(session))
