"""One row of each person, approval over many candidates, and quantiles of text: each against a bare query.

Bare queries and ours take turns in one process, on one file; processor time is compared, because other work
on the machine does not enter it. ``--rows`` says how many rows there are; people are a fifth of them.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb

import dpselect
from benchmarks.timing import peak_of_this_process
from dpselect import Table
from dpselect.problems import Problem

ROWS = 10_000_000
MANY = 100_000
ROUNDS = 3
MADE = (
    "COPY (SELECT (hash(i) % {people})::BIGINT AS person, 'person ' || (hash(i) % {people}) AS name, "
    "(hash(7 * i) % {many})::BIGINT AS number, (hash(7 * i) % {many}) / 8.0 AS x, "
    "'dish ' || (hash(7 * i) % {many}) AS dish FROM range({rows}) AS t(i)) TO '{path}' ({form})"
)
ONE_ROW = (
    "SELECT v, COUNT(*) FROM (SELECT any_value({value}) AS v FROM {rows} GROUP BY {person}) AS people "
    "GROUP BY v"
)
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


def processor_seconds(call: Callable[[], Any]) -> float:
    """Give the time that all threads together spend in a call."""
    before = os.times()
    call()
    after = os.times()
    return after.user + after.system - before.user - before.system


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
    """Give the least time of each, in turns."""
    turns = [(processor_seconds(one), processor_seconds(other)) for _ in range(ROUNDS)]
    return min(first for first, _ in turns), min(second for _, second in turns)


def main(words: Sequence[str] | None = None) -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.one_row", description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--peak", nargs=3, metavar=("PATH", "QUESTION", "WHO"), help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    if options.peak:
        path, question, who = options.peak
        _, query, person, value, problem, _ = QUESTIONS[question]
        call = bare(Path(path), query, person, value) if who == "bare" else asked(Path(path), problem, person)
        call()
        print(peak_of_this_process())
        return
    with tempfile.TemporaryDirectory() as folder:
        paths = {form: Path(folder) / f"rows.{form}" for form in ("parquet", "csv")}
        for form, path in paths.items():
            made = MADE.format(
                people=options.rows // 5, many=MANY, rows=options.rows, path=path, form=f"FORMAT {form}"
            )
            duckdb.connect().execute(made)
        print("| question | bare, s | ours, s | time | aim | memory |\n| --- | --- | --- | --- | --- | --- |")
        for name, (form, query, person, value, problem, aim) in QUESTIONS.items():
            path = paths[form]
            first, second = compared(bare(path, query, person, value), asked(path, problem, person))
            memory = peak(path, name, "ours") / peak(path, name, "bare")
            times = f"{first:.2f} | {second:.2f} | {second / first:.2f}x"
            print(f"| {name} | {times} | {aim}x | {memory:.2f}x |", flush=True)
        vote, quantile = compared(
            asked(paths["csv"], APPROVAL, "person"), asked(paths["csv"], NUMBERS, "person")
        )
        times = f"{vote:.2f} (the vote) | {quantile:.2f} | {quantile / vote:.2f}x"
        print(f"| quantile in CSV, against approval of 100,000 | {times} | 1.3x | |")


def peak(path: Path, question: str, who: str) -> int:
    """Give the most memory of one call, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.one_row", "--peak", str(path), question, who]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[1])  # noqa: S603 - our own file
    return int(done.stdout)


if __name__ == "__main__":
    main()
