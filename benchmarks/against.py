"""This code against other code: ``python -m benchmarks.against OTHER_PYTHON``, where the other is installed.

Two processes, one of each Python, take turns with the same case. What is compared is the time that the
processors worked, which other work on the machine disturbs less than the time on the clock, and of that the
median over all turns of the ratio of two neighbouring turns.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

TURNS = 41
SECONDS = 0.05
"""What one turn takes at least: short calls are timed together."""
SIZES, WINNERS, NOISES = (10, 100, 1000, 10**4, 10**5, 10**6), (1, 3, 10, 100), ("exponential", "gumbel")
ROWS = 100_000
ALLOWED = 1.05
"""The ratio that no case may exceed."""


def main(other: str, wanted: list[str]) -> None:
    """Measure every case whose name holds a wanted word, and print the ratios."""
    with tempfile.TemporaryDirectory() as folder:
        make_files(Path(folder))
        ours, theirs = (Timed(python, folder) for python in (sys.executable, other))
        for name in cases(Path(folder)):
            if wanted and not any(word in name for word in wanted):
                continue
            calls = max(1, round(SECONDS / max(ours.seconds(name, 1), theirs.seconds(name, 1), 1e-7)))
            turns = [(ours.seconds(name, calls), theirs.seconds(name, calls)) for _ in range(TURNS)]
            ratio = statistics.median(mine / old for mine, old in turns)
            mine, old = (statistics.median(side) for side in zip(*turns, strict=True))
            verdict = "" if ratio <= ALLOWED else "  SLOWER"
            print(f"{name:44} {old * 1e6:12.1f} us {mine * 1e6:12.1f} us {ratio:7.3f}{verdict}", flush=True)


class Timed:
    """A process of some Python that runs cases and tells how long the processors worked."""

    def __init__(self, python: str, folder: str) -> None:
        command = [python, "-P", __file__, "--serve", folder]
        self._process = subprocess.Popen(  # noqa: S603 - the user's own Python
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def seconds(self, name: str, calls: int) -> float:
        """Give the seconds of one call."""
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError
        self._process.stdin.write(json.dumps([name, calls]) + "\n")
        return float(self._process.stdout.readline())


def serve(folder: Path) -> None:
    """Run what is asked for on standard input."""
    made = cases(folder)
    ready: dict[str, Callable[[], Any]] = {}
    for line in sys.stdin:
        name, calls = json.loads(line)
        if name not in ready:
            ready = {name: made[name]()}
            ready[name]()
        call, begun = ready[name], busy()
        for _ in range(calls):
            call()
        print((busy() - begun) / calls, flush=True)


def busy() -> float:
    """Give the seconds that the processors have worked for this process and those that it started."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def cases(folder: Path) -> dict[str, Callable[[], Callable[[], Any]]]:
    """Name everything that is timed, with what prepares it."""
    made: dict[str, Callable[[], Callable[[], Any]]] = {
        f"draw {noise} n={n} k={k}": partial(draw, noise, n, k)
        for noise in NOISES
        for n in SIZES
        for k in WINNERS
        if k < n
    }
    made["release tiny, no ledger"] = partial(tiny, None)
    made["release tiny, with ledger"] = partial(tiny, folder)
    for form in ("csv", "parquet", "duckdb"):
        for person in ("number", "name"):
            made[f"release {form}, {ROWS} rows, by {person}"] = partial(
                release, folder / f"votes.{form}", person
            )
    return made


def draw(noise: str, n: int, k: int) -> Callable[[], Any]:
    """Draw from scores that lie close together, in no order."""
    import numpy as np

    import dpselect

    scores = np.arange(n, dtype=float) * 7919 % 61
    domain = dpselect.vector_domain(dpselect.atom_domain(float))
    measure = dpselect.max_divergence() if noise == "exponential" else dpselect.zero_concentrated_divergence()
    draws = dpselect.make_report_noisy_top_k(domain, dpselect.linf_distance(), measure, k, 2)
    return lambda: draws(scores)


def tiny(folder: Path | None) -> Callable[[], Any]:
    """Release one of three candidates from scores in memory."""
    import dpselect

    own = dpselect.custom(candidates=["tea", "pie", "soup"], sensitivity=1)
    scores = dpselect.Scores([3, 1, 2])
    if folder is None:
        return lambda: dpselect.select(own, scores, epsilon=1)
    ledger = dpselect.Ledger.create(
        Path(tempfile.mkdtemp(dir=folder)) / "a.ledger", budget=dpselect.PureDP(10**9)
    )
    request = count()
    return lambda: dpselect.select(own, scores, epsilon=1, ledger=ledger, request_id=f"r{next(request)}")


def release(path: Path, person: str) -> Callable[[], Any]:
    """Release the dish that most people named."""
    import dpselect

    dish = dpselect.approval_voting(candidate="dish", candidates=[f"dish {i}" for i in range(100)])
    votes = dpselect.Table(path, unit=person, table="votes" if path.suffix == ".duckdb" else None)
    return lambda: dpselect.select(dish, votes, epsilon="1/2")


def make_files(folder: Path) -> None:
    """Write the same ballots in every format."""
    import duckdb

    rows = (
        "SELECT i // 3 AS number, 'voter ' || (i // 3) AS name, 'dish ' || (i * 7919 % 100) AS dish "
        f"FROM range({ROWS}) AS t(i)"
    )
    with duckdb.connect(str(folder / "votes.duckdb")) as connection:
        connection.execute(f"CREATE TABLE votes AS {rows}")
        for form in ("csv", "parquet"):
            connection.execute(f"COPY votes TO '{folder}/votes.{form}'")


if __name__ == "__main__":
    if sys.argv[1] == "--serve":
        serve(Path(sys.argv[2]))
    else:
        main(sys.argv[1], sys.argv[2:])
