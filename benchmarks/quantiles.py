"""Several quantiles at epsilon 1, beside other libraries: `python -m benchmarks.quantiles`.

Mean error in ranks: how many people lie between an answer and what was asked for, on average over all
quantiles and runs. Neighbours differ by one person more or fewer.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from pathlib import Path
from time import process_time

import numpy as np
import numpy.typing as npt

from benchmarks.joint_quantiles import joint
from benchmarks.peers import CHECKOUT, PINS, PYTHON, install
from benchmarks.quantile_data import (
    HOW_MANY,
    POINTS,
    SIZES,
    Ask,
    Error,
    Numbers,
    far_numbers,
    fractions,
    measured,
)
from benchmarks.report import clock, figures, size, table
from benchmarks.sections import replace_section
from dpselect import (
    PureDP,
    atom_domain,
    calibrate,
    l1_distance,
    make_exponential_mechanism_on_runs,
    quantile,
    range_distance,
    runs_domain,
)
from dpselect.engines.protocol import Counts
from dpselect.mechanisms.recursive_quantiles import make_recursive_quantiles
from dpselect.selection.cells import Cells

PAGE = Path(__file__).parent / "RESULTS.md"
OURS, JOINT = "dpselect", "joint, in floats"
CONTESTANTS = (OURS, "OpenDP candidates", "OpenDP tree", "diffprivlib", JOINT)
MOST_FOR_JOINT = 10**4
"""People: with more, the joint mechanism takes minutes and gigabytes."""
WORST = 1.5
"""How much larger than the smallest our error may be."""
WORTH_NAMING = 0.5
"""Ranks: errors that differ by less are as good as equal."""

TITLE = "## Several quantiles at once"
ABOUT = (
    "Mean error in ranks at epsilon 1 for all m quantiles together: how many people lie between an answer "
    f"and what was asked for. Smooth data is a bell curve on {POINTS['smooth']:,} points, tied data are "
    f"ages, on {POINTS['tied']}. In brackets the number of runs: the mean of few runs of few quantiles is "
    "noisy. The least error is bold; a dash was not measured. OpenDP: noisy max over all points of the grid "
    "at epsilon / m, and its tree of noisy sums, made consistent. diffprivlib: its own exponential mechanism "
    "at epsilon / m, rounded to the grid. The joint mechanism of Gillenwater, Joseph & Kulesza 2021 is a "
    "reference in floats, with the people of a point spread over its cell; with more than "
    f"{MOST_FOR_JOINT:,} people it is not run. `python -m benchmarks.quantiles` measures this section alone."
)


ABOUT_SORTING = (
    "The time of a median of a million distinct values, each of one person, on a grid of 2^64 points: "
    "from the counts of an engine to the answer. The aim was at most 3 times that of sorting them. It is met "
    "where the people of each value are sorted with it, and missed against NumPy's vectorised sort of the "
    "values alone, as `np.argsort` alone would miss it."
)
DISTINCT, TURNS = 10**6, 9
Values = npt.NDArray[np.int64 | np.uint64]


def ours(values: Numbers, points: int, asked: int) -> Ask:
    """Draw all quantiles by recursive medians, exactly."""
    places, counts = np.unique(values, return_counts=True)
    cells = Cells(points, places, np.concatenate([[0], np.cumsum(counts)]), len(values))
    domain = runs_domain(atom_domain(int), points)
    at = fractions(asked)
    scale = calibrate(lambda s: make_recursive_quantiles(domain, l1_distance(), at, s), PureDP(1), 1)
    mechanism = make_recursive_quantiles(domain, l1_distance(), at, scale)
    return lambda: mechanism(cells)


def sorting() -> str:
    """Time a median of many distinct values on a grid of 2**64 points, beside sorting them."""
    values = far_numbers(DISTINCT)
    people = np.ones(DISTINCT, dtype=np.int64)
    counts = Counts((values,), people)
    median = quantile(value="value", at="1/2", between=(0, 2**64 - 1), step=1)
    domain = runs_domain(atom_domain(int), median.count)
    draw = make_exponential_mechanism_on_runs(domain, range_distance(), scale=2)
    contestants: dict[str, Callable[[], object]] = {
        OURS: lambda: draw(median.runs(counts)),
        "np.sort, any kind": lambda: np.sort(values),
        "np.argsort": lambda: np.argsort(values),
        "np.argsort, values and people put in that order": lambda: in_order(values, people),
        "np.sort, stable": lambda: np.sort(values, kind="stable"),
    }
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(TURNS):
        for name, contestant in contestants.items():
            started = process_time()
            contestant()
            times[name].append(process_time() - started)
    mine, *others = (statistics.median(times[name]) for name in contestants)
    rows = [[OURS, clock(mine), ""]]
    rows += [
        [name, clock(time), figures(mine / time)] for name, time in zip([*times][1:], others, strict=True)
    ]
    return "\n".join(["", ABOUT_SORTING, "", table(["contestant", "processor time", "x"], rows)])


def in_order(values: Values, people: Values) -> tuple[Values, Values]:
    """Sort values, each with its number of people."""
    order = np.argsort(values)
    return values[order], people[order]


def all_errors(data: Iterable[str], sizes: Iterable[int], *, peers: bool) -> Iterator[Error]:
    """Measure every contestant in every case."""
    for kind, people in product(data, sizes):
        for asked in HOW_MANY:
            yield measured(OURS, kind, people, asked, ours)
            if people <= MOST_FOR_JOINT:
                yield measured(JOINT, kind, people, asked, joint)
        if peers:
            command = [str(PYTHON), "-W", "ignore", "-m", "benchmarks.quantile_peers", kind, str(people)]
            with subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
                for line in process.stdout or ():
                    yield Error(*json.loads(line))


def written(errors: Iterable[Error]) -> str:
    """Write the section: the table, and where ours is not among the best."""
    by_case: dict[tuple[str, int, int], dict[str, Error]] = {}
    for error in errors:
        by_case.setdefault((error.data, error.people, error.asked), {})[error.contestant] = error
    lines, beaten = [], []
    for (data, people, asked), found in by_case.items():
        best = min(found.values(), key=lambda error: error.mean)
        cells = [_cell(found[name], best) if name in found else "-" for name in CONTESTANTS]
        lines.append([data, size(people), str(asked), *cells])
        mine = found[OURS].mean
        if mine > WORST * best.mean and mine - best.mean > WORTH_NAMING:
            ratio = f"{mine / best.mean:.1f} times" if best.mean else "which has none"
            beaten.append(f"- {data}, {size(people)} people, m = {asked}: {best.contestant}, {ratio}.")
    where = f"Where dpselect is above {WORST} times the least error, by more than {WORTH_NAMING} ranks"
    told = [f"{where}:", "", *beaten] if beaten else [f"{where}: nowhere."]
    return "\n".join([TITLE, "", ABOUT, "", table(["data", "people", "m", *CONTESTANTS], lines), "", *told])


def _cell(error: Error, best: Error) -> str:
    if error.mean == math.inf:
        return "fails"
    text = f"{error.mean:.2f}" if error.mean < 10 else f"{error.mean:,.0f}"
    return f"{f'**{text}**' if error is best else text} ({error.runs})"


def main(words: list[str] | None = None) -> None:
    """Measure, show how far it is, and replace the section of the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quantiles", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a thousand people, without peers; only shown")
    options = parser.parse_args(words)
    peers = not options.quick and None not in list(map(install, PINS))
    errors = []
    for error in all_errors(POINTS, SIZES[:1] if options.quick else SIZES, peers=peers):
        case = f"{error.data}, {size(error.people)} people, m = {error.asked}"
        print(f"  {case}: {error.contestant} {error.mean:.2f}", flush=True)
        errors.append(error)
    if options.quick:
        print(written(errors))
    else:
        replace_section(PAGE, TITLE, written(errors) + "\n" + sorting())
        print(f"Wrote {PAGE.parent.name}/{PAGE.name}.")


if __name__ == "__main__":
    main()
