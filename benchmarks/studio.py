"""The studio over HTTP: what the time of an answer tells, how it bears a hundred analysts, and its memory.

Run ``python -m benchmarks.studio``; it writes STUDIO.md. An answer is begun at a tick and told at the next:
the time from a question to its answer is a whole number of ticks. The figure says how well it tells one of
two tables from the other (0.5: not at all, 1: always). An attacker who asks again as soon as an answer is
seen is in step with the ticks, and is what is measured here. A machine that is busy misses ticks. Studios
of their own are asked side by side, as each waits for ticks most of the time.
"""

from __future__ import annotations

import argparse
import itertools
import math
import multiprocessing
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from benchmarks.neighbours_in_time import area
from benchmarks.patterns import hashed
from benchmarks.studio_load import ANALYSTS, EPSILON, QUOTES_OF_EACH, Load, load, memory
from benchmarks.studio_service import TICK, Service, service
from dpselect.cli import demo_data

PAGE = Path(__file__).parent / "STUDIO.md"
PEOPLE = 2_000
TABLES = {"tied": (PEOPLE, False), "neighbour": (PEOPLE + 1, False), "ahead": (PEOPLE, True)}
"""How many people, and whether one dish is ahead."""
PAIRS, QUESTIONS = 10_000, 10_000
STUDIOS = 3
"""How many are asked side by side."""


def tables(folder: Path) -> dict[str, Path]:
    """Write neighbours (one person more), and inputs that are far apart."""
    written = {}
    for name, (people, favourite) in TABLES.items():
        rows = [f"p{person},{'tea' if favourite else 'abcd'[person % 4]}" for person in range(people)]
        written[name] = folder / f"{name}.csv"
        written[name].write_text("\n".join(["person,dish", *rows]) + "\n", encoding="utf-8")
    return written


def times_of_one(studio: int, pairs: int) -> dict[str, list[float]]:
    """Ask one of the studios that are asked side by side."""
    with service() as (run, folder):
        for name, path in tables(folder).items():
            run.register(name, path)
        return times_of_answers(run, studio * pairs, pairs)


def times_of_answers(run: Service, first: int, pairs: int) -> dict[str, list[float]]:
    """Ask about each table in turn, in an order that changes; give the times of the answers."""
    words = {"column": "dish", "candidates": ["tea", "a", "b", "c", "d"], "epsilon": EPSILON}
    times: dict[str, list[float]] = {name: [] for name in TABLES}
    numbers = np.arange(first, first + pairs, dtype=np.uint64)
    for chosen in (hashed(numbers) % math.factorial(len(TABLES))).tolist():
        for name in list(itertools.permutations(TABLES))[chosen]:
            times[name].append(run.answered(run.analyst, {**words, "data_set": name}))
        if len(times["tied"]) * 10 % pairs == 0:
            print(f"  {len(times['tied']):,} pairs: {told_apart([times])}", flush=True)
    return times


def told_apart(studios: Sequence[dict[str, list[float]]]) -> dict[str, float]:
    """Say how well the time of an answer tells one table from another."""
    found = {name: np.concatenate([times[name] for times in studios]) for name in TABLES}
    kinds = {
        "twice the same": (found["tied"][::2], found["tied"][1::2]),
        "neighbours": (found["tied"], found["neighbour"]),
        "far inputs": (found["tied"], found["ahead"]),
    }
    areas = {kind: area(ours, theirs) for kind, (ours, theirs) in kinds.items()}
    return {kind: round(max(each, 1 - each), 4) for kind, each in areas.items()}


def page(told: dict[str, float], pairs: int, seen: Load, quotes: int, megabytes: tuple[float, float]) -> str:
    """Write the page."""
    browser = "not measured" if seen.browser is None else f"{seen.browser * 1000:.0f} ms"
    lines = [
        "# The studio over HTTP",
        "",
        (
            f"Written by `python -m benchmarks.studio`: a tick of {TICK * 1000:.0f} ms, {os.cpu_count()} "
            f"cores. Answers are timed in {STUDIOS} studios side by side."
        ),
        "",
        f"| what the time of an answer tells, {pairs:,} pairs | area under the curve |",
        "| --- | --- |",
        *(f"| {kind} | {figure:.3f} |" for kind, figure in told.items()),
        "",
        f"| {ANALYSTS} analysts at once, {QUOTES_OF_EACH} quotes and a question each | |",
        "| --- | --- |",
        f"| the quote that all ask for at the same moment, 95th percentile | {seen.first * 1000:.0f} ms |",
        f"| the quotes after it, 95th percentile | {seen.following * 1000:.0f} ms |",
        f"| the slowest quote in the browser among them | {browser} |",
        f"| all answers, in the order of the questions | {seen.answers:.1f} s |",
        f"| memory after a tenth of {quotes:,} quotes, and all | {megabytes[0]:.0f}, {megabytes[1]:.0f} MB |",
    ]
    return "\n".join(lines) + "\n"


def main(given: Sequence[str] | None = None) -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studio", description=__doc__)
    parser.add_argument("--pairs", type=int, default=PAIRS, metavar="N")
    parser.add_argument("--questions", type=int, default=QUESTIONS, metavar="N")
    options = parser.parse_args(given)
    with service() as (run, folder):
        demo_data.write_files(folder)
        run.register("mascots", folder / "ballots.csv")
        listed = {"column": "name", "candidates": [*demo_data.MASCOTS]}
        run.must(201, run.curator, "POST", "/api/data/mascots/lists", listed)
        seen = load(run)
        print(f"  {seen}", flush=True)
        megabytes = memory(run, options.questions)
    each = math.ceil(options.pairs / STUDIOS)
    with ProcessPoolExecutor(STUDIOS, multiprocessing.get_context("spawn")) as processes:
        told = told_apart([*processes.map(times_of_one, range(STUDIOS), [each] * STUDIOS)])
    text = page(told, each * STUDIOS, seen, options.questions, megabytes)
    PAGE.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
