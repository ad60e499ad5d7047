"""How many charges a second a ledger takes, what accounts cost a charge, and how long it is verified.

``python -m benchmarks.ledger`` measures this alone and replaces its section of the page.
"""

from __future__ import annotations

import itertools
import multiprocessing
import sqlite3
import statistics
import tempfile
from collections.abc import Callable
from fractions import Fraction
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from time import perf_counter, process_time
from typing import Literal, NamedTuple, TypeAlias

from benchmarks.sections import replace_section
from dpselect import ApproxDP, Ledger, PureDP

PAGE = Path(__file__).parent / "RESULTS.md"
TITLE = "## The ledger"
ABOUT = (
    "The bare durable INSERT of one row: SQLite as it comes, with a write-ahead log that is synced at "
    "every commit. Charges and inserts a second, by processes that do nothing else, in turns. Charges "
    "with many accounts, and entries that are verified, lie in memory, where no disk disturbs them. Busy "
    "is the time of the processor, which other work disturbs less. Plain charges are the curator's, of "
    "one price; varied ones are on fifty accounts, each with a request id, hardly two of one price. "
    "What a charge takes beyond an INSERT is the processor's time, an INSERT is the disk's: the quicker the "
    "disk, the smaller the share. `python -m benchmarks.ledger` measures this section alone."
)
PROCESSES = (1, 8)
ROUNDS = 7
TURNS = 120
CHARGES_OF_A_TURN = 100
ACCOUNTS = 1000
ENTRIES = 100_000
VERIFICATIONS = 3
SECONDS = 1.0
LOSS = PureDP("1e-9")
ROW = ("1/1000000000", "1/1000000", "benchmark", None, "2026-05-01T12:00Z", "0" * 64)

Act: TypeAlias = Callable[[], object]


class LedgerRow(NamedTuple):
    """Medians of charges and of bare inserts a second, by ``processes`` processes together."""

    processes: int
    charges: float
    inserts: float


def measured() -> list[LedgerRow]:
    """Measure both, taking turns, so that a slow moment of the machine hits them alike."""
    rows = []
    for processes in PROCESSES:
        rates: dict[str, list[float]] = {"charge": [], "insert": []}
        for _ in range(ROUNDS):
            with tempfile.TemporaryDirectory(dir=Path(__file__).parent) as folder:
                for kind, begun in (("charge", charging), ("insert", inserting)):
                    rates[kind].append(rate(begun, str(Path(folder, kind)), processes))
        rows.append(LedgerRow(processes, *(statistics.median(each) for each in rates.values())))
    return rows


def charging_accounts(path: str, accounts: int) -> Act:
    """Give one charge, on one account after the other."""
    ledger = Ledger.create(path)
    names = [f"account {number}" for number in range(accounts)]
    for name in names:
        ledger.open_account(name, share=PureDP("1/2"))
    turns = itertools.cycle(names)
    return lambda: ledger.charge(LOSS, reason="benchmark", account=next(turns))


def with_many_accounts(accounts: int = ACCOUNTS) -> float:
    """Give what a charge takes with one account, as a share of what it takes with many.

    In memory, in short turns: a disk's syncs differ by more from moment to moment than accounts may cost.
    Of each the fastest quarter of the turns decides: other work on the machine only adds.
    """
    seconds: dict[int, list[float]] = {1: [], accounts: []}
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        acts = {number: charging_accounts(str(Path(folder, str(number))), number) for number in seconds}
        for turn in range(TURNS):
            for number in sorted(acts, reverse=turn % 2 == 0):
                started = process_time()
                for _ in range(CHARGES_OF_A_TURN):
                    acts[number]()
                seconds[number].append(process_time() - started)
    one, many = (statistics.quantiles(each, n=4)[0] for each in seconds.values())
    return one / many


class Verified(NamedTuple):
    """What it takes to open a ledger and verify it: the least of a few times, as other work only adds."""

    seconds: float
    busy: float


def verified(filled: Callable[[str], None]) -> Verified:
    """Fill a ledger in memory, and open it anew."""
    times = []
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        path = str(Path(folder, "a.ledger"))
        filled(path)
        for _ in range(VERIFICATIONS):
            started, worked = perf_counter(), process_time()
            Ledger.open(path).close()
            times.append((perf_counter() - started, process_time() - worked))
    return Verified(*map(min, zip(*times, strict=True)))


def plain_charges(path: str) -> None:
    """Write charges of the curator, all of one price."""
    with Ledger.create(path) as ledger:
        for _ in range(ENTRIES):
            ledger.charge(LOSS, reason="benchmark")


def varied_charges(path: str) -> None:
    """Write charges of both parts on fifty accounts, with request ids, hardly two of one price."""
    whole = ApproxDP(1, "1e-6")
    with Ledger.create(path, budget=whole) as ledger:
        for number in range(50):
            ledger.open_account(f"account {number}", share=whole)
        for number in range(ENTRIES):
            loss = ApproxDP(Fraction(1 + number % 977, 10**9), Fraction(number % 101, 10**14))
            account = f"account {number % 50}"
            ledger.charge(loss, reason=f"question {number}", request_id=f"r{number}", account=account)


def charging(path: str) -> Act:
    """Give one charge."""
    ledger = Ledger.open(path) if Path(path).exists() else Ledger.create(path)
    return lambda: ledger.charge(LOSS, reason="benchmark")


def inserting(path: str) -> Act:
    """Give one bare insert: the same columns, the same settings, nothing else."""
    connection = sqlite3.connect(path, timeout=30, isolation_level=None)
    for setting in ("journal_mode = WAL", "synchronous = FULL"):
        connection.execute(f"PRAGMA {setting}")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS entries (number INTEGER PRIMARY KEY, loss TEXT, total TEXT, reason TEXT, "
        "request_id TEXT, time TEXT, digest TEXT)"
    )
    statement = (
        "INSERT INTO entries (loss, total, reason, request_id, time, digest) VALUES (?, ?, ?, ?, ?, ?)"
    )
    return lambda: connection.execute(statement, ROW)


def rate(begun: Callable[[str], Act], path: str, processes: int) -> float:
    """Let processes do it all together for a while; give how often a second they did."""
    begun(path)
    context = multiprocessing.get_context("fork")
    line = context.Barrier(processes)
    counts: SimpleQueue[float] = context.SimpleQueue()

    def work() -> None:
        act = begun(path)
        act()
        line.wait()
        done, started = 0, perf_counter()
        while perf_counter() - started < SECONDS:
            act()
            done += 1
        counts.put(done / (perf_counter() - started))

    workers = [context.Process(target=work) for _ in range(processes)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(counts.get() for _ in workers)


def main() -> None:
    """Measure, and replace the section of the page."""
    rates, share = measured(), with_many_accounts()
    ways = {"plain": verified(plain_charges), "varied": verified(varied_charges)}
    least = min(row.charges / row.inserts for row in rates)
    lines = [
        TITLE,
        "",
        ABOUT,
        "",
        "| aim | measured |  |",
        "| --- | --- | --- |",
        told("charges a second, against the bare durable INSERT", 100 * least, "least", 57, " %"),
        told(f"charges with {ACCOUNTS:,} accounts, against one", 100 * share, "least", 95, " %"),
        *(
            told(f"busy time to open and verify {ENTRIES:,} {kind} charges", each.busy, "most", 3, " s")
            for kind, each in ways.items()
        ),
        "",
        "| processes | charges a second | bare inserts a second | share |",
        "| --- | --- | --- | --- |",
        *(
            f"| {row.processes} | {row.charges:,.0f} | {row.inserts:,.0f} | {row.charges / row.inserts:.0%} |"
            for row in rates
        ),
        "",
        f"| to open and verify {ENTRIES:,} | time | busy |",
        "| --- | --- | --- |",
        *(f"| {kind} charges | {each.seconds:.1f} s | {each.busy:.1f} s |" for kind, each in ways.items()),
        "",
    ]
    replace_section(PAGE, TITLE, "\n".join(lines))
    print("\n".join(lines))


def told(aim: str, figure: float, bound: Literal["least", "most"], limit: float, unit: str) -> str:
    """Write one aim, what was measured, and whether it is met."""
    met = figure >= limit if bound == "least" else figure <= limit
    written = f"{figure:.0f}" if unit == " %" else f"{figure:.1f}"
    return f"| {aim}: at {bound} {limit}{unit} | {written}{unit} | {'met' if met else '**missed**'} |"


if __name__ == "__main__":
    main()
