"""A winner for each of 10,000 groups of 1,000 candidates: against the bare GROUP BY, and a loop of draws.

Both sides take turns in one process, on one Parquet file; processor time is compared, because other work on
the machine does not enter it. ``--rows`` says how many rows there are; people are a tenth of them, and there
are as many groups as 1 row in 1,000, up to 10,000.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import dpselect
from benchmarks.one_row import compared
from dpselect import Table
from dpselect.exact.randomness import system
from dpselect.selection.draw import TopKDraw
from dpselect.selection.grouped_draw import GroupedDraw
from dpselect.selection.noise import NoiseName

ROWS, GROUPS, CANDIDATES = 10_000_000, 10_000, 1_000
AIM, DRAWS_AIM = 3.0, 1.0
MADE = (
    "COPY (SELECT (hash(i) % {people})::BIGINT AS person, 'city ' || (hash(hash(i) % {people}) % {groups}) "
    "AS city, 'dish ' || (hash(7 * i) % {candidates}) AS dish FROM range({rows}) AS t(i)) "
    "TO '{path}' (FORMAT parquet)"
)
BARE = "SELECT city, dish, COUNT(*) FROM '{path}' GROUP BY city, dish"
BARE_DISTINCT = (
    "SELECT city, dish, COUNT(*) FROM (SELECT DISTINCT person, city, dish FROM '{path}') GROUP BY city, dish"
)
WAYS: list[tuple[NoiseName, int]] = [("exponential", 1), ("gumbel", 1), ("exponential", 3), ("laplace", 1)]


def released(path: Path, groups: int) -> Callable[[], Any]:
    """Ask for the winner of each group, from the price to the labels."""
    dish = dpselect.approval_voting(candidate="dish", candidates=[f"dish {i}" for i in range(CANDIDATES)])
    cities = [f"city {i}" for i in range(groups)]
    table = Table(path, unit="person")

    def release() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dpselect.UnmeteredRelease)
            return dpselect.select_each(dish, table, by="city", groups=cities, epsilon=1, progress=False)

    return release


def bare(path: Path, query: str) -> Callable[[], Any]:
    """Ask as anybody would."""
    return lambda: duckdb.connect().execute(query.format(path=path)).fetchall()


def of_draws(groups: int) -> None:
    """Compare the draws alone with a loop."""
    cells = np.arange(groups * CANDIDATES, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(60)
    table = np.where(cells == 0, 1, 0).reshape(groups, CANDIDATES)
    print(f"\n| draws of {groups:,} groups | a loop, s | together, s | time |\n| --- | --- | --- | --- |")
    for noise, k in WAYS:
        draw = TopKDraw(Fraction(2), k, "max", noise)
        loop, together = compared(
            lambda draw=draw: [draw(scores, system()) for scores in table],  # type: ignore[misc]
            lambda draw=draw: GroupedDraw(draw)(table, system()),  # type: ignore[misc]
        )
        times = f"{loop:.2f} | {together:.2f} | {together / loop:.2f}x"
        print(f"| {noise} noise, the best {k} | {times} |", flush=True)


def main(words: Sequence[str] | None = None) -> None:
    """Measure, and print two tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.groups", description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    rows = parser.parse_args(words).rows
    groups = min(GROUPS, max(1, rows // 1000))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        made = MADE.format(people=rows // 10, groups=groups, candidates=CANDIDATES, rows=rows, path=path)
        duckdb.connect().execute(made)
        print("| query | bare, s | a winner for each group, s | time |\n| --- | --- | --- | --- |")
        for name, query in (("GROUP BY", BARE), ("DISTINCT, then GROUP BY", BARE_DISTINCT)):
            first, second = compared(bare(path, query), released(path, groups))
            print(f"| {name} | {first:.2f} | {second:.2f} | {second / first:.2f}x |", flush=True)
    of_draws(groups)


if __name__ == "__main__":
    main()
