"""How many charges a second a ledger takes, beside the bare durable INSERT that it cannot do without.

``python -m benchmarks.ledger`` measures this alone and prints its section of the page.
"""

from __future__ import annotations

import multiprocessing
import sqlite3
import statistics
import tempfile
from collections.abc import Callable
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from time import perf_counter, process_time
from typing import NamedTuple, TypeAlias

from dpselect import Ledger, PureDP

PROCESSES = (1, 8)
ROUNDS = 7
TURNS = 400
CHARGES_OF_A_TURN = 20
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


def with_accounts(accounts: int) -> Callable[[str], Act]:
    """Give one charge on an account among many."""

    def begun(path: str) -> Act:
        if Path(path).exists():
            ledger = Ledger.open(path)
        else:
            ledger = Ledger.create(path)
            for number in range(accounts):
                ledger.open_account(f"account {number}", share=PureDP("1/2"))
        return lambda: ledger.charge(LOSS, reason="benchmark", account="account 0")

    return begun


def cost_of_accounts(accounts: int = 1000) -> float:
    """Give how many charges a second there are with many accounts, as a share of those with one.

    In memory, in short turns: a disk's syncs differ by more from moment to moment than accounts may cost.
    """
    seconds: dict[int, list[float]] = {1: [], accounts: []}
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        acts = {number: with_accounts(number)(str(Path(folder, str(number)))) for number in seconds}
        for turn in range(TURNS):
            for number in sorted(acts, reverse=turn % 2 == 0):
                started = perf_counter()
                for _ in range(CHARGES_OF_A_TURN):
                    acts[number]()
                seconds[number].append(perf_counter() - started)
    return statistics.median(seconds[1]) / statistics.median(seconds[accounts])


def seconds_to_verify(entries: int = 100_000) -> tuple[float, float]:
    """Write entries in memory; give the seconds to open the ledger and verify them, and of processor time."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        path = str(Path(folder, "a.ledger"))
        with Ledger.create(path) as ledger:
            for _ in range(entries):
                ledger.charge(LOSS, reason="benchmark")
        started, worked = perf_counter(), process_time()
        Ledger.open(path).close()
        return perf_counter() - started, process_time() - worked


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


if __name__ == "__main__":
    from benchmarks.report import ABOUT_LEDGER, charges, section

    print("\n\n".join(section("The ledger", ABOUT_LEDGER, charges(measured()))))
    print(f"A thousand accounts: {cost_of_accounts():.1%} of the charges with one.")
    seconds, worked = seconds_to_verify()
    print(f"Opening and verifying 100,000 entries: {seconds:.1f} s, {worked:.1f} s of processor time.")
