"""One row of each person, approval over many candidates, and quantiles of text: each against a bare query.

Bare queries and ours take turns, on one file; processor time is compared, because other work on the machine
hardly enters it. ``--rows`` says how many rows there are, ``--rows-on-servers`` how many on PostgreSQL and
Spark; people are a fifth of them. A section of the page is written if neither is given.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias

import duckdb

import dpselect
from benchmarks.one_row_on_servers import SERVERS, missing, processor_seconds_of
from benchmarks.sections import replace_section
from benchmarks.timing import peak_of_this_process
from dpselect import Table
from dpselect.problems import Problem

ROWS = 10_000_000
MANY = 100_000
ROUNDS = 3
ROWS_ON_SERVERS = 3_000_000
MEMORY = 1.5
PAGE = Path(__file__).parent / "RESULTS.md"
TITLE = "## Questions about tables"
ABOUT = (
    "From the table to the scores, against the bare query `SELECT v, COUNT(*) FROM (SELECT any_value(v) AS v "
    "FROM t GROUP BY person) GROUP BY v` (approval: of the DISTINCT rows; a CSV: against a vote on the same "
    "file). {rows:,} rows in files, {fewer:,} on servers, where set-up is not counted; five rows a person. "
    "The least of three turns, in processor time, which other work disturbs less; beside it the ratio of the "
    "times on a clock. Memory is the peak of a process; its aim is 1.5x. `python -m benchmarks.one_row` "
    "measures this section alone."
)
WHY = (
    "What is missed, and what it would take: an id in text costs PostgreSQL and Spark one MD5 for each row, "
    "the one hash that all engines have; a cheaper one would have to be written for each. A plurality looks "
    "each row up on a public list, which the bare query does not; the list itself is sent, which weighs "
    "the more the fewer rows there are. A number in a CSV is looked at by a pattern, which is most of what "
    "a quantile takes beyond a vote."
)
HEAD = (
    "| question | bare, busy | ours, busy | ratio | on a clock | aim | memory |\n"
    "| --- | --- | --- | --- | --- | --- | --- |"
)
MADE = (
    "COPY (SELECT (hash(i) % {people})::BIGINT AS person, 'person ' || (hash(i) % {people}) AS name, "
    "(hash(7 * i) % {many})::BIGINT AS number, (hash(7 * i) % {many}) / 8.0 AS x, "
    "'dish ' || (hash(7 * i) % {many}) AS dish FROM range({rows}) AS t(i)) TO '{path}' ({form})"
)
Times: TypeAlias = tuple[tuple[float, float], tuple[float, float]]
"""Processor time and time of the bare query, then of ours."""
PEOPLE = "(SELECT any_value({value}) AS v FROM {rows} GROUP BY {person}) AS people"
ONE_ROW = f"SELECT v, COUNT(*) FROM {PEOPLE} GROUP BY v"
EVERY = "SELECT v, COUNT(*) FROM (SELECT DISTINCT {person}, {value} AS v FROM {rows}) GROUP BY v"
NUMBERS = dpselect.quantile(value="number", at="9/10", between=(0, MANY), step=1)
FLOATS = dpselect.quantile(value="x", at="9/10", between=(0, MANY // 8), step=1)
DISHES = [f"dish {i}" for i in range(MANY)]
PLURALITY = dpselect.plurality(candidate="dish", candidates=DISHES)
APPROVAL = dpselect.approval_voting(candidate="dish", candidates=DISHES)
QUESTIONS: dict[str, tuple[str, str, str, str, Problem, float]] = {
    "quantile of whole numbers": ("parquet", ONE_ROW, "person", "number", NUMBERS, 3),
    "quantile of floats": ("parquet", ONE_ROW, "person", "x", FLOATS, 3),
    "quantile, people named in text": ("parquet", ONE_ROW, "name", "number", NUMBERS, 3),
    "plurality of 100,000": ("parquet", ONE_ROW, "person", "dish", PLURALITY, 3),
    "approval of 100,000": ("parquet", EVERY, "person", "dish", APPROVAL, 1.2),
}


def asked(path: Path, problem: Problem, person: str) -> Callable[[], Any]:
    """Ask as a release does: open, check, count, score."""

    def scores() -> Any:
        table = Table(path, unit=person)
        with table.open() as engine:
            return problem.scores(engine.counts(problem.request(engine.schema, unit=person), bytes(16)))

    return scores


def bare(path: Path, query: str, person: str, value: str) -> Callable[[], Any]:
    """Ask as anybody would."""
    text = query.format(person=person, value=value, rows=f"'{path}'")
    return lambda: duckdb.connect().execute(text).fetchall()


def compared(one: Callable[[], Any], other: Callable[[], Any]) -> tuple[float, float]:
    """Give the least processor time of each, in turns."""
    (first, _), (second, _) = in_turns(one, other)
    return first, second


def in_turns(
    one: Callable[[], Any], other: Callable[[], Any], *, spent: Callable[[], float] | None = None
) -> Times:
    """Give the least processor time and the least time on a clock of each, in turns."""
    spent = spent or partial(processor_seconds_of, [os.getpid()])
    turns = [(_timed(one, spent), _timed(other, spent)) for _ in range(ROUNDS)]
    first, second = ([each[place] for each in turns] for place in (0, 1))
    return _least(first), _least(second)


def _least(measured: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return min(busy for busy, _ in measured), min(wall for _, wall in measured)


def _timed(call: Callable[[], Any], spent: Callable[[], float]) -> tuple[float, float]:
    before, started = spent(), perf_counter()
    call()
    return spent() - before, perf_counter() - started


def main(words: Sequence[str] | None = None) -> None:
    """Measure, print a table, and replace the section of the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.one_row", description=__doc__)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--rows-on-servers", type=int)
    parser.add_argument("--peak", nargs=3, metavar=("PATH", "QUESTION", "WHO"), help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    if options.peak:
        path, question, who = options.peak
        _, query, person, value, problem, _ = QUESTIONS[question]
        call = bare(Path(path), query, person, value) if who == "bare" else asked(Path(path), problem, person)
        call()
        print(peak_of_this_process())
        return
    rows, fewer = options.rows or ROWS, options.rows_on_servers or ROWS_ON_SERVERS
    lines = [TITLE, "", ABOUT.format(rows=rows, fewer=fewer), "", HEAD]
    print(HEAD)
    for line in (*in_files(rows), *on_servers(fewer)):
        print(line, flush=True)
        lines.append(line)
    if options.rows is None and options.rows_on_servers is None:
        replace_section(PAGE, TITLE, "\n".join([*lines, "", WHY, ""]))


def in_files(rows: int) -> Iterator[str]:
    """Measure what DuckDB reads from files, and the memory."""
    with tempfile.TemporaryDirectory() as folder:
        paths = {form: made(rows, Path(folder), form) for form in ("parquet", "csv")}
        for name, (form, query, person, value, problem, aim) in QUESTIONS.items():
            path = paths[form]
            times = in_turns(bare(path, query, person, value), asked(path, problem, person))
            memory = peak(path, name, "ours") / peak(path, name, "bare")
            yield row(f"DuckDB, {name}", times, aim, f"{memory:.2f}x, {verdict(memory, MEMORY)}")
        vote, quantile = asked(paths["csv"], APPROVAL, "person"), asked(paths["csv"], NUMBERS, "person")
        yield row(
            "CSV, quantile of whole numbers, against approval of 100,000", in_turns(vote, quantile), 1.3
        )


def on_servers(rows: int) -> Iterator[str]:
    """Measure what servers answer."""
    each = {
        name: (who, what, asks)
        for name, (_, query, who, what, asks, _) in QUESTIONS.items()
        if query == ONE_ROW
    }
    with tempfile.TemporaryDirectory() as folder:
        path = made(rows, Path(folder), "parquet")
        for server, opened in SERVERS.items():
            lack = missing(server)
            if lack:
                yield f"| {server} | - | - | {lack} |  |  |  |"
                continue
            with opened(path, ONE_ROW, each) as (contestants, processes):
                spent = partial(processor_seconds_of, processes)
                for name, pair in contestants.items():
                    yield row(f"{server}, {name}", in_turns(*pair, spent=spent), 1.5)


def made(rows: int, folder: Path, form: str) -> Path:
    """Write the rows."""
    path = folder / f"rows.{form}"
    text = MADE.format(people=rows // 5, many=MANY, rows=rows, path=path, form=f"FORMAT {form}")
    duckdb.connect().execute(text)
    return path


def row(name: str, times: Times, aim: float, memory: str = "") -> str:
    """Write a row of the table."""
    (busy, wall), (our_busy, our_wall) = times
    ratio = our_busy / busy
    return (
        f"| {name} | {busy:.2f} s | {our_busy:.2f} s | {ratio:.2f}x, {verdict(ratio, aim)} | "
        f"{our_wall / wall:.2f}x | {aim}x | {memory} |"
    )


def verdict(measured: float, aim: float) -> str:
    """Say whether an aim is met."""
    return "met" if measured <= aim else "**missed**"


def peak(path: Path, question: str, who: str) -> int:
    """Give the most memory of one call, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.one_row", "--peak", str(path), question, who]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[1])  # noqa: S603 - our own file
    return int(done.stdout)


if __name__ == "__main__":
    main()
