"""Real processes that charge a ledger, and are killed. Run in a Python of its own:

python -m tests.ledger.storm spend PLACE PROCESSES THREADS LOSS
python -m tests.ledger.storm kill PLACE KILLS PAYER
python -m tests.ledger.storm acknowledge PLACE PAYER

``spend`` runs processes of threads until the budget is gone, and prints how many charges each process made.
``kill`` kills processes with signal 9 in the middle of charging and storing, makes a new ledger whenever one
is exhausted (PLACE holds a {} for its number; without one it has a budget for all kills), and prints how many
kills, ledgers and acknowledgements.
``acknowledge`` charges for ever, and prints each charge once it is made: another process does the killing.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

from dpselect import BudgetExhausted, Ledger, LedgerUnavailable, PureDP
from tests.ledger.payers import PAYERS, SMALL, Payer

AT_ONCE = 2
CHARGES_IN_A_LIFE = 6
LONGER = 1.2
"""A life becomes longer by this, if there was not one acknowledgement for two lives."""
GOLDEN = 0.618033988749895
"""Multiples of it, without their whole parts, are spread evenly: instants that repeat from run to run."""

ENOUGH = 100_000
"""Small prices that no storm spends."""


def spend(place: str, processes: int, threads: int, loss: PureDP) -> None:
    """Charge from all sides until the budget is gone; half of the threads share an object."""
    readers = []
    for _ in range(processes):
        reader, writer = os.pipe()
        if not os.fork():
            os.write(writer, str(_spent_by_threads(place, threads, loss)).encode())
            os._exit(0)
        os.close(writer)
        readers.append(reader)
    paid = [int(_all_of(reader) or b"-1") for reader in readers]
    print(*paid)


def _spent_by_threads(place: str, threads: int, loss: PureDP) -> int:
    shared = Ledger.open(place)
    paid: list[int] = []

    def run(ledger: Ledger) -> None:
        while True:
            try:
                paid.append(ledger.charge(loss, reason="storm").number)
            except BudgetExhausted:
                return

    started = [
        threading.Thread(target=run, args=[shared if number % 2 else Ledger.open(place)])
        for number in range(threads)
    ]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    return len(paid)


def kill(template: str, kills: int, who: str) -> None:
    """Kill, look at what is left, and go on with it."""
    payer, times = (PAYERS[who], 100) if "{}" in template else (SMALL[who], ENOUGH)
    ledgers = acknowledged = killed = 0
    while killed < kills:
        place = template.format(ledgers)
        ledger = payer.create(place, times)
        longest = CHARGES_IN_A_LIFE * _seconds_of_a_charge(ledger, payer)
        said: list[str] = []
        while killed < kills and ledger.affords(payer.price, account=payer.account):
            children = [_started(ledger, killed + number, payer) for number in range(AT_ONCE)]
            for number, (reader, child) in enumerate(children):
                time.sleep(longest * ((killed + number) * GOLDEN % 1))
                os.kill(child, signal.SIGKILL)
                said += _all_of(reader).decode().splitlines()
                os.waitpid(child, 0)
            killed += AT_ONCE
            if acknowledged + len(said) < killed / 2:
                longest *= LONGER  # the machine is busier than when a charge was measured
        _check(place, said, payer)
        acknowledged += len(said)
        ledgers += 1
    print(killed, ledgers, acknowledged)


def _seconds_of_a_charge(ledger: Ledger, payer: Payer) -> float:
    """Charge nothing, for the first time and again: lives are as long as a few charges on this machine."""
    ledger.close()
    started = time.monotonic()
    for _ in range(3):
        ledger.charge(PureDP(0), reason="nothing", account=payer.account)
    return (time.monotonic() - started) / 3


def _started(ledger: Ledger, name: int, payer: Payer) -> tuple[int, int]:
    """Start a process that charges and stores; the fork closes what its parent had open."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            _charge_and_store(ledger, writer, name, payer)
        finally:
            os._exit(1)
    os.close(writer)
    return reader, child


def _charge_and_store(ledger: Ledger, writer: int, name: int, payer: Payer) -> None:
    number = 0
    try:
        while True:
            request = f"{name}-{number}"
            entry = payer.charge(ledger, "storm", request)
            os.write(writer, f"charged {entry.number} {entry.digest}\n".encode())
            ledger.store(request, f"answer to {request}", account=payer.account)
            os.write(writer, f"stored {request}\n".encode())
            number += 1
    except BudgetExhausted:
        signal.pause()


def _check(place: str, said: list[str], payer: Payer) -> None:
    """Check that nothing is over budget, and that everything acknowledged is there."""
    ledger = Ledger.open(place)
    entries = {entry.number: entry for entry in ledger.entries()}
    charged = [entry for entry in entries.values() if entry.loss == payer.price]
    assert ledger.verify() == len(entries)
    assert payer.spent_alone(ledger) == payer.price * len(charged)
    assert payer.price * len(charged) <= ledger.budget  # type: ignore[operator] # of one kind
    for line in said:
        verb, *facts = line.split(" ")
        if verb == "charged":
            assert entries[int(facts[0])].digest == facts[1], line
        else:
            assert ledger.answer(facts[0], payer.account) == f"answer to {facts[0]}", line
    ledger.close()


def acknowledge(place: str, payer: Payer) -> None:
    """Charge, say so, and try again when the server is gone."""
    ledger = Ledger.open(place)
    while True:
        try:
            entry = payer.charge(ledger, "storm")
        except LedgerUnavailable:
            time.sleep(0.01)
            continue
        print(entry.number, entry.digest, flush=True)


def _all_of(reader: int) -> bytes:
    with os.fdopen(reader, "rb") as file:
        return file.read()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["spend", place, processes, threads, loss]:
            spend(place, int(processes), int(threads), PureDP(loss))
        case ["kill", place, kills, who]:
            kill(place, int(kills), who)
        case ["acknowledge", place, who]:
            acknowledge(place, SMALL[who])
