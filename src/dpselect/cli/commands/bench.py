"""The command ``bench``: how fast it is on this machine."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

import dpselect
from dpselect.cli import console
from dpselect.cli.declaration import command, examples
from dpselect.cli.options import NUMBER_METAVAR
from dpselect.cli.user_errors import WRONG, UserError

SIZES = [10, 1_000, 100_000, 1_000_000, 10_000_000]
"""Scores in a draw."""
DEFAULT_LARGEST, MOST_SCORES = 1_000_000, 100_000_000
"""Scores in the largest draw: if no number is given, and at most."""
ROUNDS, SECONDS = 30, 0.5
"""Each draw is measured 30 times, or for half a second, whichever is reached first."""


@command(name="bench", epilog=examples("bench --built-in --largest 1000", "bench --largest 1000 --json"))
@click.option(
    "--largest",
    type=click.IntRange(10, MOST_SCORES),
    default=DEFAULT_LARGEST,
    show_default=True,
    metavar=NUMBER_METAVAR,
    help="The most scores to select from.",
)
@click.option("--built-in", is_flag=True, help="The small comparison, also in a checkout.")
@click.option("--full", is_flag=True, help="In a checkout: everything, with other libraries; takes minutes.")
@click.option("--json", "as_json", is_flag=True, help="Write the small comparison as JSON.")
def bench_command(*, largest: int, built_in: bool, full: bool, as_json: bool) -> None:
    """Measure selections beside scores.max().

    In a checkout the benchmarks of benchmarks/ are run; elsewhere, or with --built-in, a small comparison.
    """
    checkout = Path(dpselect.__file__).parents[2]
    has_benchmarks = (checkout / "benchmarks" / "__main__.py").is_file()
    if full and not has_benchmarks:
        raise UserError("--full needs a checkout of dpselect, which has benchmarks/; leave it out.")
    if has_benchmarks and not (built_in or as_json):
        _run_the_checkout(checkout, [] if full else ["--quick", "--largest", str(largest)])
        return
    rows = _measured([n for n in SIZES if n <= largest])
    if as_json:
        console.write_json({"seconds": rows})
        return
    console.write_table(
        ["scores", "scores.max()", "exponential noise", "", "Gumbel noise", ""],
        [
            [
                f"{row['n']:,}",
                _clock(row["max"]),
                *(
                    cell
                    for noise in ("exponential", "gumbel")
                    for cell in (_clock(row[noise]), _times(row, noise))
                ),
            ]
            for row in rows
        ],
        right=range(6),
    )


def _times(row: dict[str, Any], noise: str) -> str:
    return f"x {row[noise] / row['max']:.1f}"


def _measured(sizes: list[int]) -> list[dict[str, Any]]:
    import numpy as np

    from dpselect.mechanisms import make_report_noisy_max, make_report_noisy_max_gumbel
    from dpselect.privacy import atom_domain, max_divergence, range_distance, vector_domain

    domain = vector_domain(atom_domain(int))
    exponential = make_report_noisy_max(domain, range_distance(), max_divergence(), 10)
    gumbel = make_report_noisy_max_gumbel(domain, range_distance(), 10)
    rows = []
    with console.progress() as bar:
        task = bar.add_task("", total=len(sizes)) if bar else None
        for n in sizes:
            if bar and task is not None:
                bar.update(task, description=f"{n:,} scores")
            scores = np.arange(n, dtype=np.int64) * 7919 % 10_007
            rows.append(
                {
                    "n": n,
                    "max": _timed(scores.max),
                    "exponential": _timed(partial(exponential, scores)),
                    "gumbel": _timed(partial(gumbel, scores)),
                }
            )
            if bar and task is not None:
                bar.advance(task)
    return rows


def _timed(action: Callable[[], object]) -> float:
    """Give the median time of a few runs, after one that does not count."""
    from statistics import median

    action()
    times: list[float] = []
    until = time.perf_counter() + SECONDS
    while len(times) < ROUNDS and (not times or time.perf_counter() < until):
        started = time.perf_counter()
        action()
        times.append(time.perf_counter() - started)
    return median(times)


def _clock(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def _run_the_checkout(checkout: Path, options: list[str]) -> None:
    import subprocess

    command = [sys.executable, "-m", "benchmarks", *options]
    done = subprocess.run(command, cwd=checkout, check=False)  # noqa: S603 - our own module
    if done.returncode:
        raise UserError("the benchmarks must run through; they did not. What they said is above.", WRONG)
