"""What was measured, as a page to read: tables, and the targets with the number that decides each."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from benchmarks.neighbours_in_time import TimeRow, lines
from benchmarks.patterns import FLOATS, INTEGERS
from benchmarks.peers import PINS, PeerRow
from benchmarks.selections import MAXIMUM, NOISES, ONE_LINER, SCALES, WINNERS, Row, drawn, least

FIRST, SECOND = NOISES
ENOUGH = 10**5
"""With fewer scores, a share of their memory says nothing: Python's own objects are larger."""


class Results(NamedTuple):
    """All rows, and the versions of the peers that could be installed."""

    rows: list[Row]
    peer_rows: list[PeerRow]
    versions: Mapping[str, str | None]
    time_rows: list[TimeRow]


class Target(NamedTuple):
    """What was aimed at, and the worst that was measured: at most, or at least, the limit."""

    aim: str
    worst: float | None
    bound: Literal["most", "least"]
    limit: float
    unit: str = "x"

    @property
    def cells(self) -> list[str]:
        """Write a row of the table of targets."""
        if self.worst is None:
            return [self.aim, "", "not measured"]
        met = self.worst <= self.limit if self.bound == "most" else self.worst >= self.limit
        return [self.aim, f"{figures(self.worst)}{self.unit}", "met" if met else "**missed**"]


INTRODUCTION = (
    "Written by `python3 run.py bench`. Times are medians of whole calls, from the array to the winner, in "
    "one process; contestants take turns. A ratio repeats to about 0.3, a time on another machine does not."
)
ABOUT_WINNERS = "How many times as long as one winner at scale 1, on the worst of the patterns."
ABOUT_THE_LEAST = (
    "One winner, scale 1, where the least of normal floats wins. They are read twice, as plus infinity is "
    "no score; integers are read once. The last column is the peak of memory, as in the section below."
)
ABOUT_PEERS = (
    "One winner, scale 1. A peer runs in a process of its own: before it is compared with dpselect, each is "
    "divided by `scores.max()` of its own process. diffprivlib builds its mechanism from the scores, so "
    "building it is part of a draw. A dash: one draw would take more than 10 s."
)
ABOUT_MEMORY = (
    "The most that a call holds at a time beyond the scores, as a share of them, on the worst of the "
    "patterns and scales."
)

ABOUT_TIME = (
    "How often a call on one of two neighbours takes longer than a call on the other: 0.5 tells nothing, 1 "
    "everything. The worst of three pairs (all tied, or one ahead; a tie at the k-th place, or nearly; k "
    "ahead, or one of them with the rest), as integers and as floats, scale 1, in 3,000 calls each. Beside "
    "it the same scores twice. `python -m benchmarks.neighbours_in_time` measures this alone."
)


def page(results: Results) -> str:
    """Write the whole page."""
    peers = section("Other libraries", ABOUT_PEERS, others(results)) if results.versions else []
    parts = [
        "# Benchmarks",
        INTRODUCTION,
        machine(results.versions),
        *section(
            "Targets",
            "Both noises, every pattern.",
            table(["aim", "worst", ""], [target.cells for target in targets(results)]),
        ),
        *section("One winner, scale 1", "", one_winner(results.rows)),
        *section("More winners, more noise", ABOUT_WINNERS, more_winners(results.rows)),
        *section("The least wins", ABOUT_THE_LEAST, least_wins(results.rows)),
        *peers,
        *section("Memory", ABOUT_MEMORY, memory(results.rows)),
        *section("What the time of one call tells", ABOUT_TIME, told_by_time(results.time_rows)),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def section(title: str, about: str, table: str) -> list[str]:
    """Put a title and a word of explanation above a table."""
    return [f"## {title}", about, table]


def machine(versions: Mapping[str, str | None]) -> str:
    """Say what this ran on."""
    ours = [f"{name} {importlib.metadata.version(name)}" for name in ("dpselect", "numpy", "python-flint")]
    peers = [f"{name} {version or 'not installed'}" for name, version in versions.items()]
    return (
        f"{os.cpu_count()} cores ({platform.machine()}), {platform.system()}, "
        f"Python {platform.python_version()}, {', '.join(ours + peers)}."
    )


# ---- targets ---------------------------------------------------------------------------------------------


def targets(results: Results) -> list[Target]:
    """Compare the worst of what was measured with what was aimed at."""
    rows = results.rows
    return [
        Target("n >= 1e7, against `scores.max()`: at most 2x", largest(slowness(rows, 10**7)), "most", 2),
        Target("n >= 1e5, against the NumPy one-liner: at least 20x", smallest(gains(rows)), "least", 20),
        Target("n = 10: under 30 µs a call", largest(microseconds(rows, 10)), "most", 30, " µs"),
        Target("n = 1000: under 50 µs a call", largest(microseconds(rows, 1000)), "most", 50, " µs"),
        Target("every n: faster than opendp", smallest(leads(results, "opendp")), "least", 1),
        Target(
            "n = 1e6, floats, against opendp: at least 100x", at_a_million(results, FLOATS.name), "least", 100
        ),
        Target(
            "n = 1e6, integers, against opendp: at least 30x",
            at_a_million(results, INTEGERS.name),
            "least",
            30,
        ),
        Target("n = 1e6, k = 100 against k = 1: at most 5x", largest(for_a_hundred(rows)), "most", 5),
        *(
            Target(
                f"n >= 1e5, k = {k}, extra memory: at most 10 %", largest(shares(rows, k)), "most", 10, " %"
            )
            for k in WINNERS
        ),
        Target("equal n, worst pattern against best: at most 3x", largest(spreads(rows)), "most", 3),
        Target(
            "neighbours told apart by the time of one call: at most 60 %",
            largest(100 * row.area for row in results.time_rows),
            "most",
            60,
            " %",
        ),
    ]


def largest(numbers: Iterable[float]) -> float | None:
    """Give the largest, if there are any."""
    return max(numbers, default=None)


def smallest(numbers: Iterable[float]) -> float | None:
    """Give the smallest, if there are any."""
    return min(numbers, default=None)


def singles(row: Row) -> list[float]:
    """Give the times of drawing one winner, with either noise."""
    return [row.seconds[drawn(noise, 1)] for noise in NOISES]


def slowness(rows: list[Row], least: int) -> list[float]:
    """Divide times of one winner by the time of the maximum."""
    return [time / row.seconds[MAXIMUM] for row in rows if row.n >= least for time in singles(row)]


def gains(rows: list[Row]) -> list[float]:
    """Divide times of the one-liner, of the same turn or at least of the same n, by times of one winner."""
    firsts = {(row.n, row.pattern): row.seconds[ONE_LINER] for row in rows if row.scale == SCALES[0]}
    return [
        row.seconds.get(ONE_LINER, firsts[row.n, row.pattern]) / time
        for row in rows
        if row.n >= ENOUGH
        for time in singles(row)
    ]


def microseconds(rows: list[Row], n: int) -> list[float]:
    """Give times of one winner, in microseconds."""
    return [1e6 * time for row in rows if row.n == n for time in singles(row)]


def lead(results: Results, peer_row: PeerRow) -> float:
    """Say how many times as long a peer takes, with maxima of its own process and of ours for a measure."""
    row = next(
        row
        for row in results.rows
        if (row.n, row.pattern, row.scale) == (peer_row.n, peer_row.pattern, SCALES[0])
    )
    ours = row.seconds[drawn(peer_row.noise, 1)] / row.seconds[MAXIMUM]
    return peer_row.draw / peer_row.maximum / ours


def leads(results: Results, peer: str) -> list[float]:
    """Say it of all rows of a peer."""
    return [lead(results, row) for row in results.peer_rows if row.peer == peer]


def at_a_million(results: Results, pattern: str) -> float | None:
    """Give the smaller lead over opendp at n = 1e6."""
    rows = [row for row in results.peer_rows if (row.peer, row.n, row.pattern) == ("opendp", 10**6, pattern)]
    return smallest(lead(results, row) for row in rows)


def for_a_hundred(rows: list[Row]) -> list[float]:
    """Divide times of a hundred winners by times of one."""
    return [
        row.seconds[drawn(noise, 100)] / row.seconds[drawn(noise, 1)]
        for row in rows
        if row.n == 10**6
        for noise in NOISES
    ]


def shares(rows: list[Row], k: int) -> list[float]:
    """Give peaks of memory for k winners, in percent of the scores."""
    return [100 * row.extra[drawn(noise, k)] for row in rows if row.n >= ENOUGH for noise in NOISES]


def spreads(rows: list[Row]) -> list[float]:
    """Divide the time on the worst pattern by that on the best, at equal n, scale and noise."""
    return [
        max(times) / min(times)
        for n in sizes(rows)
        for scale in SCALES
        for times in zip(*(singles(row) for row in rows if (row.n, row.scale) == (n, scale)), strict=True)
    ]


# ---- tables ----------------------------------------------------------------------------------------------


def one_winner(rows: list[Row]) -> str:
    """List times of one winner beside the maximum and the one-liner."""
    head = ["n", "scores", "`max()`", FIRST, "x `max()`", SECOND, "x `max()`", "one-liner", "x slower"]
    lines = []
    for row in rows:
        if row.scale == SCALES[0]:
            maximum, one_liner, times = row.seconds[MAXIMUM], row.seconds[ONE_LINER], singles(row)
            ratios = [cell for time in times for cell in (clock(time), figures(time / maximum))]
            slower = figures(one_liner / max(times))
            lines.append([size(row.n), row.pattern, clock(maximum), *ratios, clock(one_liner), slower])
    return table(head, lines)


def least_wins(rows: list[Row]) -> str:
    """List times of one winner where the least wins, beside the maximum."""
    head = ["n", "`max()`", FIRST, "x `max()`", SECOND, "x `max()`", "memory"]
    lines = []
    for row in rows:
        if least(FIRST) in row.seconds:
            maximum, times = row.seconds[MAXIMUM], [row.seconds[least(noise)] for noise in NOISES]
            ratios = [cell for time in times for cell in (clock(time), figures(time / maximum))]
            peak = max(row.extra[least(noise)] for noise in NOISES)
            lines.append([size(row.n), clock(maximum), *ratios, f"{figures(100 * peak)} %"])
    return table(head, lines)


def more_winners(rows: list[Row]) -> str:
    """List how much longer more winners, or more noise, take."""
    cases = [(noise, k, scale) for noise in NOISES for scale in SCALES for k in WINNERS]
    cases = [case for case in cases if case[1:] != (1, SCALES[0])]
    head = ["n", *(f"{noise}, k = {k}, scale {scale}" for noise, k, scale in cases)]
    ones = {(row.n, row.pattern): row.seconds for row in rows if row.scale == SCALES[0]}
    lines = []
    for n in sizes(rows):
        cells = []
        for noise, k, scale in cases:
            ratios = [
                row.seconds[drawn(noise, k)] / ones[n, row.pattern][drawn(noise, 1)]
                for row in rows
                if (row.n, row.scale) == (n, scale) and drawn(noise, k) in row.seconds
            ]
            cells.append(figures(max(ratios)) if ratios else "-")
        lines.append([size(n), *cells])
    return table(head, lines)


def others(results: Results) -> str:
    """List the peers beside dpselect."""
    head = ["n", "scores", "noise", "dpselect", *(cell for peer in PINS for cell in (peer, "x slower"))]
    found = {(row.peer, row.n, row.pattern, row.noise): row for row in results.peer_rows}
    lines = []
    for row in results.rows:
        if row.scale == SCALES[0] and row.pattern in {FLOATS.name, INTEGERS.name}:
            for noise in NOISES:
                cells = [clock(row.seconds[drawn(noise, 1)])]
                for peer in PINS:
                    peer_row = found.get((peer, row.n, row.pattern, noise))
                    if results.versions.get(peer) is None:
                        cells += ["not installed", ""]
                    elif peer_row is None:
                        cells += ["-", ""]
                    else:
                        cells += [clock(peer_row.draw), figures(lead(results, peer_row))]
                lines.append([size(row.n), row.pattern, noise, *cells])
    return table(head, lines)


def memory(rows: list[Row]) -> str:
    """List the peaks of memory."""
    names = [drawn(noise, k) for noise in NOISES for k in WINNERS]
    lines = []
    for n in sizes(rows):
        if n >= ENOUGH:
            worst = [max(100 * row.extra[name] for row in rows if row.n == n) for name in names]
            lines.append([size(n), *(f"{figures(share)} %" for share in worst)])
    return table(["n", *names], lines)


def told_by_time(rows: list[TimeRow]) -> str:
    """List how well the time of one call tells neighbours apart."""
    head, *others = lines(rows)
    return table(head, others)


def sizes(rows: list[Row]) -> list[int]:
    """Give the numbers of scores, in order."""
    return sorted({row.n for row in rows})


def table(head: list[str], lines: list[list[str]]) -> str:
    """Write a table."""
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [head, ["---"] * len(head), *lines])


def size(n: int) -> str:
    """Write a number of scores."""
    return str(n) if n <= 1000 else f"1e{len(str(n)) - 1}"


def figures(number: float) -> str:
    """Write a number with two figures, or three where it is large."""
    return f"{number:.1f}" if number < 10 else f"{number:,.0f}"


def clock(time: float) -> str:
    """Write a time in its own unit."""
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if time * factor >= 1:
            return f"{time * factor:.3g} {unit}"
    return f"{time * 1e6:.3g} µs"
