"""Ten million approval ballots in Parquet, against the bare SQL query; a hundred million streamed candidates.

Each contestant runs in a process of its own, so that its peak of memory is its own.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.timing import peak_of_this_process

ROWS, VOTERS, DISHES = 10_000_000, 2_000_000, 2_000
BARE = (
    "SELECT dish, COUNT(*) FROM (SELECT DISTINCT voter, dish FROM read_parquet($1) "
    "WHERE voter IS NOT NULL AND dish IS NOT NULL) GROUP BY dish"
)
MADE = (
    f"COPY (SELECT (hash(i) % {VOTERS})::BIGINT AS voter, 'dish ' || (hash(7 * i) % {DISHES + 20}) AS dish "
    f"FROM range({ROWS}) AS t(i)) TO 'PATH' (FORMAT parquet)"
)
PAGE = Path(__file__).parent / "TABLES.md"
ROUNDS = 5


def main() -> None:
    """Measure, and write the page."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ballots.parquet"
        run_apart("make", path)
        turns = [(run_apart("bare", path), run_apart("ours", path)) for _ in range(ROUNDS)]
        bare, ours = (median(contestant) for contestant in zip(*turns, strict=True))
    streamed = [run_apart("stream", Path(str(count))) for count in (10**6, 10**8)]
    lines = [
        "# Benchmarks of tables",
        "",
        "Written by `python3 run.py bench`: medians of whole calls, and the peak memory of a process.",
        "",
        "| aim | measured |  |",
        "| --- | --- | --- |",
        row("10 M ballots in Parquet, time against bare SQL", ours["seconds"] / bare["seconds"], 1.15),
        row("the same, peak memory", ours["peak"] / bare["peak"], 1.2),
        row(
            "1e8 streamed candidates, peak memory against 1e6", streamed[1]["peak"] / streamed[0]["peak"], 1.2
        ),
        "",
        f"{told('Bare SQL', bare)}; {told('`Table`', ours)}; {told('1e8 candidates', streamed[1])}.",
        "",
    ]
    PAGE.write_text("\n".join(lines), encoding="utf-8")
    print("\n".join(lines))


def median(measured: Sequence[dict[str, float]]) -> dict[str, float]:
    """Give the median of each figure; the contestants took turns, so a slow moment hit them alike."""
    return {name: statistics.median(each[name] for each in measured) for name in ("seconds", "peak")}


def told(name: str, measured: dict[str, float]) -> str:
    """Write what one contestant took."""
    return f"{name} {measured['seconds']:.2f} s and {measured['peak'] / 2**20:.0f} MiB"


def row(aim: str, measured: float, limit: float) -> str:
    """Write a row of the table."""
    met = "met" if measured <= limit else "**missed**"
    return f"| {aim}: at most {limit}x | {measured:.2f}x | {met} |"


def run_apart(contestant: str, argument: Path) -> dict[str, float]:
    """Run a contestant in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.tables", contestant, str(argument)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[1])  # noqa: S603 - our own file
    return dict(json.loads(done.stdout))


def make(path: str) -> Callable[[], Any]:
    """Write the ballots."""
    import duckdb

    return lambda: duckdb.connect().execute(MADE.replace("PATH", path))


def bare(path: str) -> Callable[[], Any]:
    """Run the query as anybody would."""
    import duckdb

    return lambda: duckdb.connect().execute(BARE, [path]).fetchall()


def ours(path: str) -> Callable[[], Any]:
    """Open the table, check the question, count, and score."""
    from dpselect import Table, approval_voting

    problem = approval_voting(candidate="dish", candidates=[f"dish {i}" for i in range(DISHES)])

    def scores() -> Any:
        table = Table(path, unit="voter")
        with table.open() as engine:
            return problem.scores(engine.counts(problem.request(engine.schema, unit="voter"), bytes(16)))

    return scores


def stream(count: str) -> Callable[[], Any]:
    """Choose the median from many candidates, in chunks."""
    import numpy as np

    import dpselect
    from dpselect.engines import Counts

    top = int(count) - 1
    problem = dpselect.quantile(value="x", at="1/2", between=(0, top), step=1)
    scores = dpselect.vector_domain(dpselect.atom_domain(int))
    choose = dpselect.make_report_noisy_max(
        scores, dpselect.range_distance(), dpselect.max_divergence(), scale=10
    )
    counts = Counts((np.linspace(0, top, 100_000),), np.ones(100_000, dtype=np.int64))
    return lambda: choose.over(problem.chunks(counts, size=2**18))


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        call = {"make": make, "bare": bare, "ours": ours, "stream": stream}[sys.argv[1]](sys.argv[2])
        times = []
        for _ in range(1 if sys.argv[1] in ("make", "stream") else 2):
            started = perf_counter()
            call()
            times.append(perf_counter() - started)
        print(json.dumps({"seconds": min(times), "peak": peak_of_this_process()}))
