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
import itertools
import json
import math
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
from dpselect.cli import demo_data
from dpselect.studio.app import Studio
from dpselect.studio.server import address_of, bound_socket, serve_studio
from dpselect.studio.settings import Settings

PAGE = Path(__file__).parent / "STUDIO.md"
TICK = 0.05
POLL_SECONDS = 0.002
PEOPLE = 2_000
TABLES = {"tied": (PEOPLE, False), "neighbour": (PEOPLE + 1, False), "ahead": (PEOPLE, True)}
"""How many people, and whether one dish is ahead."""
ANALYSTS = 100
EPSILON = "1/1000"


class Service:
    """A studio in a process of its own, and a connection to it for each thread."""

    def __init__(self, folder: Path) -> None:
        """Start it."""
        self.process = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", "benchmarks.studio", "--serve", str(folder)],
            stdout=subprocess.PIPE,
            text=True,
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


def serve(folder: Path) -> None:
    """Run a studio whose keys may ask as often as they like: its buckets would hide what time tells."""
    tables = folder / "tables"
    tables.mkdir()
    settings = Settings(
        folder=folder / "state", port=0, tick=TICK, requests_per_second=1e6, allowed_roots=(tables,)
    )
    with contextlib.closing(bound_socket(settings)) as bound:
        studio = Studio(settings)
        told = {
            "address": address_of(settings, bound),
            "curator_key": studio.keys.create("curator", "curator"),
            "analyst_key": studio.keys.create("ada", "analyst"),
        }
        serve_studio(studio, bound, lambda: print(json.dumps(told), flush=True))


@contextlib.contextmanager
def service() -> Iterator[tuple[Service, Path]]:
    """Run a studio for a while; give the folder of its tables too."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder).resolve()
        made = Service(place)
        try:
            yield made, place / "tables"
        finally:
            made.process.kill()
            made.process.wait()


def tables(folder: Path) -> dict[str, Path]:
    """Write neighbours (one person more), and inputs that are far apart."""
    written = {}
    for name, (people, favourite) in TABLES.items():
        rows = [f"p{person},{'tea' if favourite else 'abcd'[person % 4]}" for person in range(people)]
        written[name] = folder / f"{name}.csv"
        written[name].write_text("\n".join(["person,dish", *rows]) + "\n", encoding="utf-8")
    return written


def times_of_answers(run: Service, pairs: int) -> dict[str, list[float]]:
    """Ask about each table in turn, in an order that changes; give the times of the answers."""
    words = {"column": "dish", "candidates": ["tea", "a", "b", "c", "d"], "epsilon": EPSILON}
    times: dict[str, list[float]] = {name: [] for name in TABLES}
    for chosen in (hashed(np.arange(pairs, dtype=np.uint64)) % math.factorial(len(TABLES))).tolist():
        for name in list(itertools.permutations(TABLES))[chosen]:
            times[name].append(run.answered(run.analyst, {**words, "data_set": name}))
        if len(times["tied"]) * 10 % pairs == 0:
            print(f"  {len(times['tied']):,} pairs: {told_apart(times)}", flush=True)
    return times


def told_apart(times: dict[str, list[float]]) -> dict[str, float]:
    """Say how well the time of an answer tells one table from another."""
    found = {name: np.array(each) for name, each in times.items()}
    kinds = {
        "twice the same": (found["tied"][::2], found["tied"][1::2]),
        "neighbours": (found["tied"], found["neighbour"]),
        "far inputs": (found["tied"], found["ahead"]),
    }
    areas = {kind: area(ours, theirs) for kind, (ours, theirs) in kinds.items()}
    return {kind: round(max(each, 1 - each), 4) for kind, each in areas.items()}


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
        run.must(200, run.analyst, "POST", "/api/quotes", {**words, "epsilon": f"1/{number + 2}"})
        if number == questions // 10:
            early = run.memory
    return early, run.memory


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studio", description=__doc__)
    parser.add_argument("--pairs", type=int, default=10_000, metavar="N")
    parser.add_argument("--questions", type=int, default=10_000, metavar="N")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve)
        return
    with service() as (run, folder):
        for name, path in tables(folder).items():
            run.register(name, path)
        told = told_apart(times_of_answers(run, options.pairs))
    with service() as (run, folder):
        demo_data.write_files(folder)
        run.register("mascots", folder / "ballots.csv")
        listed = {"column": "name", "candidates": [*demo_data.MASCOTS]}
        run.must(201, run.curator, "POST", "/api/data/mascots/lists", listed)
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
