"""A winner for each of 10,000 groups of 1,000 candidates: against the bare GROUP BY, and a loop of draws.

Both sides take turns in one process, on one Parquet file; processor time is compared, because other work on
the machine does not enter it. ``--rows`` says how many rows there are; people are a tenth of them, and there
are as many groups as 1 row in 1,000, up to 10,000. Fewer rows than usual are only shown.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import dpselect
from benchmarks.one_row import compared
from benchmarks.report import table
from benchmarks.sections import replace_section
from dpselect import Table
from dpselect.exact.randomness import system
from dpselect.problems import Problem
from dpselect.selection.draw import TopKDraw
from dpselect.selection.grouped_draw import GroupedDraw
from dpselect.selection.noise import NoiseName

PAGE = Path(__file__).parent / "RESULTS.md"
TITLE = "## A winner for each group"
ABOUT = (
    "10,000 groups of 1,000 candidates, from ten million rows in Parquet, of a million people with ten rows "
    "each, all of them in one group: from the file to the labels, with a quorum. Beside it, in DuckDB: "
    "`SELECT city, dish, COUNT(*) FROM 'rows.parquet' GROUP BY city, dish`, as NumPy arrays. Seconds of the "
    "processors, the least of three turns. `python -m benchmarks.groups` measures this section alone."
)
ROWS, GROUPS, CANDIDATES = 10_000_000, 10_000, 1_000
AIM, DRAWS_AIM = 3.0, 1.0
MADE = (
    "COPY (SELECT (hash(i) % {people})::BIGINT AS person, 'city ' || (hash(hash(i) % {people}) % {groups}) "
    "AS city, 'dish ' || (hash(7 * i) % {candidates}) AS dish FROM range({rows}) AS t(i)) "
    "TO '{path}' (FORMAT parquet)"
)
BARE = "SELECT city, dish, COUNT(*) FROM '{path}' GROUP BY city, dish"
DISHES = [f"dish {i}" for i in range(CANDIDATES)]
QUESTIONS = [
    dpselect.plurality(candidate="dish", candidates=DISHES),
    dpselect.approval_voting(candidate="dish", candidates=DISHES),
]
WAYS: list[tuple[NoiseName, int]] = [("exponential", 1), ("gumbel", 1), ("exponential", 3), ("laplace", 1)]


def released(problem: Problem, path: Path, groups: int) -> Callable[[], Any]:
    """Ask for the winner of each group, from the price to the labels."""
    cities = [f"city {i}" for i in range(groups)]
    rows = Table(path, unit="person")

    def release() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dpselect.UnmeteredRelease)
            return dpselect.select_each(problem, rows, by="city", groups=cities, epsilon=1, progress=False)

    return release


def bare(path: Path) -> Callable[[], Any]:
    """Ask as anybody would."""
    return lambda: duckdb.connect().execute(BARE.format(path=path)).fetchnumpy()


def of_releases(rows: int, groups: int) -> Iterator[list[str]]:
    """Compare releases with the bare query."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        made = MADE.format(people=rows // 10, groups=groups, candidates=CANDIDATES, rows=rows, path=path)
        duckdb.connect().execute(made)
        for problem in QUESTIONS:
            first, second = compared(bare(path), released(problem, path, groups))
            name, met = f"{problem.name}, against the bare query", second <= AIM * first
            yield _cells(name, first, second, f"{AIM:g}x", met=met)


def of_draws(groups: int) -> Iterator[list[str]]:
    """Compare the draws alone with a loop."""
    cells = np.arange(groups * CANDIDATES, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(60)
    scores = np.where(cells == 0, 1, 0).reshape(groups, CANDIDATES)
    for noise, k in WAYS:
        draw = TopKDraw(Fraction(2), k, "max", noise)
        loop, together = compared(
            lambda draw=draw: [draw(each, system()) for each in scores],  # type: ignore[misc]
            lambda draw=draw: GroupedDraw(draw)(scores, system()),  # type: ignore[misc]
        )
        name = f"draws alone, {noise} noise, the best {k}, against a loop of single draws"
        yield _cells(name, loop, together, f"{DRAWS_AIM:g} s", met=together <= DRAWS_AIM)


def _cells(name: str, first: float, second: float, aim: str, *, met: bool) -> list[str]:
    seconds = [f"{first:.2f}", f"{second:.2f}", f"{second / first:.2f}x"]
    return [name, *seconds, f"at most {aim}: {'met' if met else '**missed**'}"]


def main(words: Sequence[str] | None = None) -> None:
    """Measure, and replace the section of the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.groups", description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    rows = parser.parse_args(words).rows
    groups = min(GROUPS, max(1, rows // 1000))
    lines = [*of_releases(rows, groups), *of_draws(groups)]
    found = table(["what", "the other, s", "each group, s", "x", "aim"], lines)
    print(found)
    if rows == ROWS:
        replace_section(PAGE, TITLE, f"{TITLE}\n\n{ABOUT}\n\n{found}\n")
        print(f"Wrote {PAGE.parent.name}/{PAGE.name}.")


if __name__ == "__main__":
    main()
