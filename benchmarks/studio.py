"""The studio over HTTP: what the time of an answer tells, how it bears a hundred analysts, and its memory.

Run ``python -m benchmarks.studio``; it writes STUDIO.md. An answer is begun at a tick and told at the next:
the time from a question to its answer is a whole number of ticks. The figure says how well it tells one of
two tables from the other (0.5: not at all, 1: always). An attacker who asks again as soon as an answer is
seen is in step with the ticks, and is what is measured here. A machine that is busy misses ticks.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.neighbours_in_time import area
from benchmarks.patterns import hashed

PAGE = Path(__file__).parent / "STUDIO.md"
TICK = 0.05
POLL_SECONDS = 0.002
PEOPLE = 2_000
ANALYSTS = 100
EPSILON = "1/1000"


class Service:
    """A studio in a process of its own, and a connection to it for each thread."""

    def __init__(self, folder: Path) -> None:
        """Start it."""
        words = ["studio", "--demo", "--json", "--port", "0", "--tick", str(TICK), "--folder", str(folder)]
        self.process = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", "dpselect", *words], stdout=subprocess.PIPE, text=True
        )
        told = json.loads(self.process.stdout.readline() if self.process.stdout else "")
        self.host, self.curator = told["address"].partition("//")[2], told["curator_key"]
        self.analyst, self._own = told["analyst_key"], threading.local()

    def must(self, status: int, *asked: Any) -> Any:
        """Ask, and read the answer, which must have a status."""
        found, told = self.call(*asked)
        if found != status:
            raise RuntimeError(told)
        return told

    def call(self, key: str, method: str, path: str, words: Any = None) -> tuple[int, Any]:
        """Ask, and read the answer."""
        connection = getattr(self._own, "connection", None)
        if connection is None:
            connection = self._own.connection = http.client.HTTPConnection(self.host, timeout=60)
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        body = None if words is None else json.dumps(words)
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
        except (OSError, http.client.HTTPException):  # the studio closes what is idle
            connection.close()
            connection.request(method, path, body, headers)
            response = connection.getresponse()
        return response.status, json.loads(response.read() or b"null")

    def answered(self, key: str, words: dict[str, Any]) -> float:
        """Ask a question; give the seconds until its answer is seen."""
        began = time.perf_counter()
        told = self.must(202, key, "POST", "/api/releases", words)
        while self.call(key, "GET", f"/api/releases/{told['id']}")[0] == 202:
            time.sleep(POLL_SECONDS)
        return time.perf_counter() - began

    def register(self, name: str, path: Path) -> None:
        """Register a table, and give the analyst of the demonstration a share."""
        words = {"name": name, "path": str(path), "unit": "person", "epsilon": "1000"}
        self.must(201, self.curator, "POST", "/api/data", words)
        share = {"analyst": "ada", "epsilon": "1000"}
        self.must(201, self.curator, "POST", f"/api/data/{name}/shares", share)

    @property
    def memory(self) -> float:
        """The resident memory of the process, in megabytes."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@contextlib.contextmanager
def service() -> Iterator[tuple[Service, Path]]:
    """Run a studio for a while."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder).resolve()
        made = Service(place)
        try:
            yield made, place / "demo"
        finally:
            made.process.kill()
            made.process.wait()


def tables(folder: Path) -> dict[str, Path]:
    """Write neighbours (one person more), and inputs that are far apart."""
    written = {}
    for name, people, favourite in (
        ("tied", PEOPLE, False),
        ("neighbour", PEOPLE + 1, False),
        ("ahead", PEOPLE, True),
    ):
        rows = [f"p{person},{'tea' if favourite else 'abcd'[person % 4]}" for person in range(people)]
        written[name] = folder / f"{name}.csv"
        written[name].write_text("\n".join(["person,dish", *rows]) + "\n", encoding="utf-8")
    return written


def time_tells(run: Service, ours: str, theirs: str, pairs: int) -> float:
    """Say how well the time of an answer tells one table from the other."""
    words = {"column": "dish", "candidates": ["tea", "a", "b", "c", "d"], "epsilon": EPSILON}
    times: tuple[list[float], list[float]] = ([], [])
    for first in (hashed(np.arange(pairs, dtype=np.uint64)) % 2).tolist():
        for which in (first, 1 - first):
            seconds = run.answered(run.analyst, {**words, "data_set": (ours, theirs)[which]})
            times[which].append(seconds)
    found = area(np.array(times[0]), np.array(times[1]))
    return max(found, 1 - found)


def load(run: Service) -> tuple[float, float]:
    """Let a hundred analysts quote and ask at once; give a 95th percentile, and the time of all answers."""
    keys = []
    for number in range(ANALYSTS):
        _, made = run.call(run.curator, "POST", "/api/keys", {"name": f"a{number}", "role": "analyst"})
        share = {"analyst": f"a{number}", "epsilon": "1/50"}
        run.must(201, run.curator, "POST", "/api/data/mascots/shares", share)
        keys.append(made["key"])
    words = {"data_set": "mascots", "column": "name", "epsilon": EPSILON}
    quotes: list[float] = []
    together = threading.Barrier(ANALYSTS)

    def analyst(key: str) -> None:
        run.call(key, "GET", "/api/ledger")
        together.wait()
        began = time.perf_counter()
        run.must(200, key, "POST", "/api/quotes", words)
        quotes.append(time.perf_counter() - began)
        together.wait()
        run.answered(key, words)

    threads = [threading.Thread(target=analyst, args=(key,)) for key in keys]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return float(np.quantile(quotes, 0.95)), time.perf_counter() - began


def memory(run: Service, questions: int) -> tuple[float, float]:
    """Give the memory after a tenth of the quotes, and after all."""
    words = {"data_set": "mascots", "column": "name", "epsilon": "1/4"}
    early = 0.0
    for number in range(questions):
        status, _ = run.call(run.analyst, "POST", "/api/quotes", {**words, "epsilon": f"1/{number + 2}"})
        if status == 429:
            time.sleep(0.5)
        if number == questions // 10:
            early = run.memory
    return early, run.memory


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studio", description=__doc__)
    parser.add_argument("--pairs", type=int, default=10_000, metavar="N")
    parser.add_argument("--questions", type=int, default=10_000, metavar="N")
    options = parser.parse_args()
    with service() as (run, folder):
        for name, path in tables(folder).items():
            run.register(name, path)
        run.register("again", folder / "tied.csv")
        kinds = {"twice the same": "again", "neighbours": "neighbour", "far inputs": "ahead"}
        told = {}
        for kind, name in kinds.items():
            told[kind] = time_tells(run, "tied", name, options.pairs)
            print(f"  {kind}: {told[kind]:.3f}", flush=True)
    with service() as (run, _):
        quote, answers = load(run)
        print(f"  quotes {quote * 1000:.0f} ms, answers {answers:.1f} s", flush=True)
        early, late = memory(run, options.questions)
    lines = [
        "# The studio over HTTP",
        "",
        f"Written by `python -m benchmarks.studio`: a tick of {TICK * 1000:.0f} ms, {os.cpu_count()} cores.",
        "",
        f"| what the time of an answer tells, {options.pairs:,} pairs | area under the curve |",
        "| --- | --- |",
        *(f"| {kind} | {figure:.3f} |" for kind, figure in told.items()),
        "",
        f"| {ANALYSTS} analysts at once | |",
        "| --- | --- |",
        f"| a quote, 95th percentile | {quote * 1000:.0f} ms |",
        f"| all answers, one after the other | {answers:.1f} s |",
        f"| memory after a tenth of {options.questions:,} quotes, and all | {early:.0f}, {late:.0f} MB |",
    ]
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
