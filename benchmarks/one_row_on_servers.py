"""One row of each person on PostgreSQL and Spark: through the library, against the bare query of each.

Set-up is not counted: servers, sessions, connections and schemas are there before. Processor time is that of
this process, of the server, and of all that they have started.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

import duckdb

from dpselect import Table
from dpselect.engines import Engine
from dpselect.problems import Problem

Contestants: TypeAlias = tuple[Callable[[], Any], Callable[[], Any]]
Asked: TypeAlias = Mapping[str, tuple[str, str, Problem]]
"""For each question the person, the value, and the problem."""
COLUMNS = "person bigint, name text, number bigint, x double precision, dish text"
NAMES = "person, name, number, x, dish"


@contextmanager
def on_postgres(path: Path, query: str, asked: Asked) -> Iterator[tuple[dict[str, Contestants], list[int]]]:
    """Give the contestants of each question, bare and ours, and the processes whose time counts."""
    psycopg = import_module("psycopg")
    with ExitStack() as stack:
        server = stack.enter_context(import_module("tests.servers.postgres").running())
        url = server.url()
        connection = stack.enter_context(psycopg.connect(url, autocommit=True))
        connection.execute(f"CREATE TABLE rows ({COLUMNS})")
        rows = duckdb.connect().execute(f"SELECT {NAMES} FROM read_parquet($1)", [str(path)])
        with connection.cursor().copy("COPY rows FROM STDIN") as copy:
            while batch := rows.fetchmany(100_000):
                copy.write("".join("\t".join(map(str, row)) + "\n" for row in batch))
        connection.execute("VACUUM ANALYZE rows")
        first = (server.folder / "data/postmaster.pid").read_text(encoding="ascii").split()[0]
        pairs: dict[str, Contestants] = {}
        for name, (person, value, problem) in asked.items():
            # PostgreSQL has any_value from version 16 on.
            text = query.format(person=person, value=value, rows="rows").replace("any_value", "min")
            engine = stack.enter_context(Table(url, table="rows", unit=person).open())
            pairs[name] = (partial(_fetched, connection, text), partial(_scores, engine, person, problem))
        yield pairs, [int(first), os.getpid()]


@contextmanager
def on_spark(path: Path, query: str, asked: Asked) -> Iterator[tuple[dict[str, Contestants], list[int]]]:
    """Give the same for a session of Spark with two threads."""
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = import_module("pyspark.sql").SparkSession.builder.master("local[2]")
    for name in ("spark.ui.enabled", "spark.ui.showConsoleProgress"):
        builder = builder.config(name, "false")
    session = builder.config("spark.driver.memory", "4g").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    with ExitStack() as stack:
        stack.callback(session.stop)
        frame = session.read.parquet(str(path))
        frame.createOrReplaceTempView("rows")
        pairs: dict[str, Contestants] = {}
        for name, (person, value, problem) in asked.items():
            text = query.format(person=person, value=value, rows="rows")
            engine = stack.enter_context(Table(frame, unit=person).open())
            pairs[name] = (partial(_collected, session, text), partial(_scores, engine, person, problem))
        yield pairs, [os.getpid()]


SERVERS = {"PostgreSQL": on_postgres, "Spark, local[2]": on_spark}


def missing(server: str) -> str:
    """Say what a server needs and this machine has not; nothing if it can run."""
    if server != "PostgreSQL":
        return "" if shutil.which("java") else "Java is not installed"
    return "" if import_module("tests.servers.postgres").binaries() else "PostgreSQL is not installed"


def _fetched(connection: Any, text: str) -> Any:
    return connection.execute(text).fetchall()


def _collected(session: Any, text: str) -> Any:
    return session.sql(text).collect()


def _scores(engine: Engine, person: str, problem: Problem) -> Any:
    return problem.scores(engine.counts(problem.request(engine.schema, unit=person), bytes(16)))


def processor_seconds_of(processes: list[int]) -> float:
    """Give the time that processes and all that they have started have spent so far."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            try:
                stat = (each / "stat").read_text(encoding="ascii", errors="replace")
            except OSError:  # it has ended
                continue
            facts = stat.rpartition(")")[2].split()
            parents[int(each.name)], ticks[int(each.name)] = int(facts[1]), sum(map(int, facts[11:15]))
    theirs = [number for number in ticks if _descends(number, parents, processes)]
    return sum(ticks[number] for number in theirs) / os.sysconf("SC_CLK_TCK")


def _descends(number: int, parents: Mapping[int, int], processes: list[int]) -> bool:
    while number > 1:
        if number in processes:
            return True
        number = parents.get(number, 0)
    return False
