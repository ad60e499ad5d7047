"""Whole releases, from the file to the label: beside the bare SQL query, and from 1e8 candidates.

Contestants take turns, each in a process of its own: so its peak of memory is its own, and a slow moment of
the machine hits them alike. A first release from a tiny file loads what is loaded once.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.sections import replace_section
from benchmarks.timing import peak_of_this_process

ROWS, VOTERS, DISHES = 10_000_000, 2_000_000, 2_000
MADE = (
    f"COPY (SELECT (hash(i) % {VOTERS})::BIGINT AS voter, 'dish ' || (hash(7 * i) % {DISHES + 20}) AS dish "
    f"FROM range({ROWS}) AS t(i)) TO 'PATH' (FORMAT parquet)"
)
BARE = "SELECT dish, COUNT(DISTINCT voter) FROM read_parquet($1) GROUP BY dish"
PAGE = Path(__file__).parent / "RESULTS.md"
TITLE = "## Releases"
ABOUT = (
    "From the file to the label, with a ledger on disk; ten million ballots in Parquet, two thousand "
    f"candidates. Beside it, in DuckDB: `{BARE}`. Medians of processes that take turns; a peak of memory is "
    "that of the whole process. Busy is the time of the processors, which other work on the machine disturbs "
    "less. `python -m benchmarks.releases` measures this section alone."
)
ROUNDS = 5
FEW, MANY = 10**6, 10**8


def main() -> None:
    """Measure, and replace the section of the page."""
    with tempfile.TemporaryDirectory() as folder:
        apart("make", folder)
        turns = [{name: apart(name, folder) for name in ("bare", "release")} for _ in range(ROUNDS)]
        few, many = (apart("stream", folder, count) for count in (FEW, MANY))
    bare, release = ({fact: middle(turns, name, fact) for fact in few} for name in ("bare", "release"))
    lines = [
        TITLE,
        "",
        ABOUT,
        "",
        "| aim | measured |  |",
        "| --- | --- | --- |",
        row("time of a release, against bare SQL", release["seconds"] / bare["seconds"], 1.15),
        row("busy time of a release, against bare SQL", release["busy"] / bare["busy"], 1.15),
        row("peak memory of a release, against bare SQL", release["peak"] / bare["peak"], 1.2),
        row("peak memory with 1e8 streamed candidates, against 1e6", many["peak"] / few["peak"], 1.2),
        "",
        "| contestant | time | busy | peak memory |",
        "| --- | --- | --- | --- |",
        told("bare SQL", bare),
        told("release", release),
        told("release from 1e6 candidates", few),
        told("release from 1e8 candidates", many),
        "",
    ]
    replace_section(PAGE, TITLE, "\n".join(lines))
    print("\n".join(lines))


def row(aim: str, measured: float, limit: float) -> str:
    """Write a row of the table."""
    met = "met" if measured <= limit else "**missed**"
    return f"| {aim}: at most {limit}x | {measured:.2f}x | {met} |"


def middle(turns: list[dict[str, dict[str, float]]], name: str, fact: str) -> float:
    """Give the median of one figure of one contestant."""
    return statistics.median(turn[name][fact] for turn in turns)


def told(name: str, measured: dict[str, float]) -> str:
    """Write what one contestant took."""
    seconds, busy, peak = measured["seconds"], measured["busy"], measured["peak"] / 2**20
    return f"| {name} | {seconds:.2f} s | {busy:.2f} s | {peak:.0f} MiB |"


def apart(contestant: str, folder: str, count: int = 0) -> dict[str, float]:
    """Run a contestant in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.releases", contestant, folder, str(count)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[1])  # noqa: S603 - our own file
    return dict(json.loads(done.stdout))


# ---- contestants, each in its process ----------------------------------------------------------------------


def make(folder: Path, count: int) -> Callable[[], Any]:
    """Write the ballots, and a few salaries."""
    import duckdb

    del count
    salaries = "COPY (SELECT i AS person, 1000 * i AS salary FROM range(1001) AS t(i)) TO 'PATH'"
    queries = {"ballots": MADE, "salaries": salaries}
    return lambda: [
        duckdb.connect().execute(query.replace("PATH", str(folder / f"{name}.parquet")))
        for name, query in queries.items()
    ]


def bare(folder: Path, count: int) -> Callable[[], Any]:
    """Run the query as anybody would."""
    import duckdb

    del count
    duckdb.connect().execute("SELECT COUNT(*) FROM read_parquet($1)", [str(folder / "salaries.parquet")])
    return lambda: duckdb.connect().execute(BARE, [str(folder / "ballots.parquet")]).fetchall()


def release(folder: Path, count: int) -> Callable[[], Any]:
    """Ask which dish most people named."""
    import dpselect

    del count
    dish = dpselect.approval_voting(candidate="dish", candidates=[f"dish {i}" for i in range(DISHES)])
    ballots = dpselect.Table(folder / "ballots.parquet", unit="voter")
    ledger = warmed(folder)
    return lambda: dpselect.select(dish, ballots, epsilon="1/2", ledger=ledger, request_id="dish")


def stream(folder: Path, count: int) -> Callable[[], Any]:
    """Ask for the median among ``count`` candidates."""
    import dpselect

    median = dpselect.quantile(value="salary", at="1/2", between=(0, count - 1), step=1)
    salaries = dpselect.Table(folder / "salaries.parquet", unit="person")
    ledger = warmed(folder)
    return lambda: dpselect.select(median, salaries, epsilon="1/2", ledger=ledger)


def warmed(folder: Path) -> Any:
    """Give a new ledger, after a first release from a tiny file."""
    import dpselect

    tiny = dpselect.quantile(value="salary", at="1/2", candidates=[1, 2])
    salaries = dpselect.Table(folder / "salaries.parquet", unit="person")
    ledger = dpselect.Ledger.create(
        Path(tempfile.mkdtemp(dir=folder)) / "a.ledger", budget=dpselect.PureDP(9)
    )
    dpselect.select(tiny, salaries, epsilon=1, ledger=ledger)
    return ledger


def busy() -> float:
    """Give the seconds that the processors have worked for this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        contestants = {"make": make, "bare": bare, "release": release, "stream": stream}
        call = contestants[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))
        worked, started = busy(), perf_counter()
        call()
        measured = {"seconds": perf_counter() - started, "busy": busy() - worked}
        measured["peak"] = peak_of_this_process()
        print(json.dumps(measured))
