"""Faults with real processes: many at once, killed, forked, on a server that crashes."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dpselect import Ledger, PureDP
from dpselect.ledger.budget import CURRENCIES
from tests.ledger.payers import PAYERS, SMALL
from tests.ledger.places import Place
from tests.servers.postgres import Server

CHECKOUT = Path(__file__).parents[2]
PATIENCE = 300


def storm(*words: object, module: str = "storm") -> list[int]:
    """Let a storm rage to its end; give the numbers that it printed."""
    command = [sys.executable, "-m", f"tests.ledger.{module}", *map(str, words)]
    done = subprocess.run(
        command, cwd=CHECKOUT, check=False, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    return [int(word) for word in done.stdout.split()]


@pytest.mark.parametrize("parts", [10, 320])
def test_e1_eight_processes_of_eight_threads_spend_exactly_the_budget(place: Place, parts: int) -> None:
    ledger = Ledger.create(place.url, budget=PureDP(1))
    ledger.close()
    paid = storm("spend", place.url, 8, 8, f"1/{parts}")
    assert len(paid) == 8
    assert sum(paid) == parts == ledger.verify()
    assert ledger.spent == PureDP(1)


TOO_EARLY = "the processes were killed before they did anything: let them live longer"
"""Why a storm that acknowledged next to nothing shows nothing."""


@pytest.mark.parametrize("who", PAYERS)
def test_e4_kills_lose_nothing_and_overspend_nothing(tmp_path: Path, who: str) -> None:
    killed, ledgers, acknowledged = storm("kill", tmp_path / "{}.ledger", 60, who)
    assert killed == 60
    assert ledgers >= 1
    assert acknowledged >= 15, TOO_EARLY


@pytest.mark.slow
@pytest.mark.parametrize("who", PAYERS)
def test_e4_a_thousand_kills_lose_nothing_and_overspend_nothing(tmp_path: Path, who: str) -> None:
    killed, _, acknowledged = storm("kill", tmp_path / "{}.ledger", 1000, who)
    assert killed == 1000
    assert acknowledged >= 250, TOO_EARLY


@pytest.mark.parametrize("who", PAYERS)
@pytest.mark.parametrize("kills", [12, pytest.param(200, marks=pytest.mark.slow)])
def test_e4_kills_of_those_who_charge_on_a_server_lose_nothing(
    server_place: Place, who: str, kills: int
) -> None:
    killed, ledgers, acknowledged = storm("kill", server_place.url, kills, who)
    assert (killed, ledgers) == (kills, 1)
    assert acknowledged >= kills // 4, TOO_EARLY


def test_e4_a_server_that_crashes_keeps_what_it_acknowledged_to_each(
    server_places: Callable[[], Place], postgres_server: Server
) -> None:
    """Four ledgers at once, one for each payer, on one server that is stopped at once."""
    ledgers, spenders = {}, []
    for who, payer in SMALL.items():
        place = server_places()
        ledgers[who] = payer.create(place.url, 100_000)
        command = [sys.executable, "-m", "tests.ledger.storm", "acknowledge", place.url, who]
        spenders.append(subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True))
    said = []
    for spender in spenders:
        assert spender.stdout is not None
        said.append([spender.stdout.readline() for _ in range(5)])
    postgres_server.crash()
    postgres_server.start()
    time.sleep(0.5)
    for spender, lines, (who, ledger) in zip(spenders, said, ledgers.items(), strict=True):
        assert spender.stdout is not None
        with spender:
            spender.kill()
            lines.extend(spender.stdout.read().splitlines())
        entries = {entry.number: entry for entry in ledger.entries()}
        words = [line.split() for line in lines]
        acknowledged = [each for each in words if len(each) == 2 and len(each[1]) == 64]
        assert len(acknowledged) > 5
        assert all(entries[int(number)].digest == digest for number, digest in acknowledged)
        charged = [each for each in entries.values() if each.act == "charge"]
        assert ledger.verify() == len(entries) >= len(acknowledged)
        assert SMALL[who].spent_alone(ledger) == SMALL[who].price * len(charged)


WHOLE = [
    pytest.param(place, measure, 8, 400, marks=pytest.mark.slow)
    for place in ("file", "server")
    for measure in CURRENCIES
]


@pytest.mark.parametrize(
    ("place", "measure", "people", "kills"),
    [
        ("file", "PureDP", 4, 6),
        ("file", "ApproxZCDP", 4, 6),
        ("server", "ZCDP", 4, 6),
        ("server", "ApproxDP", 4, 6),
        *WHOLE,
    ],
    indirect=["place"],
)
def test_e4_an_organisation_of_accounts_whose_people_are_killed_loses_nothing(
    place: Place, measure: str, people: int, kills: int
) -> None:
    killed, charges, answers, *_ = storm(place.url, measure, people, kills, module="organisation")
    assert killed == people + kills
    assert charges > 10
    assert answers > 1


def printed(script: str, place: Place, *more: str) -> str:
    """Run a script on a place in a process of its own; give what it prints."""
    command = [sys.executable, "-W", "ignore", "-c", script, place.url, *more]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=PATIENCE, cwd=CHECKOUT
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


FORKED_BEHIND_PYTHON = """
import ctypes, os, sys
from tests.ledger.payers import PAYERS
payer = PAYERS[sys.argv[2]]
ledger = payer.create(sys.argv[1], 3)
payer.charge(ledger, "before")
child = ctypes.PyDLL(None).fork()
if not child:
    payer.charge(ledger, "child")
    ledger.close()
    os._exit(0)
os.waitpid(child, 0)
payer.charge(ledger, "parent")
print(ledger.verify() - payer.entries_before, payer.spent_alone(ledger) == ledger.budget)
"""


@pytest.mark.parametrize("who", PAYERS)
def test_b6_a_fork_that_python_was_not_told_of_is_noticed(place: Place, who: str) -> None:
    assert printed(FORKED_BEHIND_PYTHON, place, who) == "3 True\n"


THREADS_AT_A_FORK = """
import os, sys, threading
from tests.ledger.payers import SMALL
payer = SMALL[sys.argv[2]]
ledger = payer.create(sys.argv[1], 100_000)
done = []
def spend():
    for _ in range(30):
        payer.charge(ledger, "thread")
    done.append(True)
thread = threading.Thread(target=spend)
thread.start()
children = []
while not (done and children):
    child = os.fork()
    if not child:
        payer.charge(ledger, "child")
        os._exit(0)
    children.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
thread.join()
charged = ledger.verify() - payer.entries_before
print(charged - len(children), set(children), payer.spent_alone(ledger) == payer.price * charged)
"""


@pytest.mark.parametrize("who", PAYERS)
def test_b6_a_fork_in_the_middle_of_anothers_charge_waits_for_it(place: Place, who: str) -> None:
    assert printed(THREADS_AT_A_FORK, place, who) == "30 {0} True\n"


INTERRUPTED = """
import itertools, signal, sys, time
from dpselect import Ledger
from tests.ledger.payers import SMALL
payer, times = SMALL[sys.argv[2]], int(sys.argv[3])
charging, interrupted = False, 0
def interrupt(*_):
    if charging:
        raise KeyboardInterrupt
signal.signal(signal.SIGALRM, interrupt)
ledger = payer.create(sys.argv[1], 100_000)
clocks = [time.perf_counter()]
for _ in range(20):
    payer.charge(ledger, "how long it takes")
    clocks.append(time.perf_counter())
shortest = min(after - before for before, after in itertools.pairwise(clocks))
for instant in range(1, times + 1):
    try:
        charging = True
        signal.setitimer(signal.ITIMER_REAL, shortest * 1.5 * instant / times)
        payer.charge(ledger, "perhaps")
        charging = False
    except KeyboardInterrupt:
        interrupted += 1
    charging = False
    signal.setitimer(signal.ITIMER_REAL, 0)
    if instant % 10 == 0:
        with Ledger.open(sys.argv[1]) as other:
            payer.charge(other, "another is not kept out")
charged = ledger.verify() - payer.entries_before
whole = payer.spent_alone(ledger) == payer.price * charged
print(charged >= 20 + times // 10, interrupted > times // 6, whole)
"""


@pytest.mark.parametrize("who", PAYERS)
@pytest.mark.parametrize("times", [60, pytest.param(600, marks=pytest.mark.slow)])
def test_b10_an_interrupted_writer_keeps_no_other_out(place: Place, who: str, times: int) -> None:
    assert printed(INTERRUPTED, place, who, str(times)) == "True True True\n"


INTERRUPTED_WHILE_WAITING = """
import os, signal, sqlite3, sys, threading
from dpselect import Ledger, PureDP
from dpselect.ledger.budget import CURRENCIES
ledger = Ledger.create(sys.argv[1])
other = sqlite3.connect(sys.argv[1], isolation_level=None, check_same_thread=False)
other.execute("BEGIN IMMEDIATE")
threading.Timer(0.6, other.execute, ("ROLLBACK",)).start()
try:
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    ledger.charge(PureDP("1/10"), reason="interrupted")
except KeyboardInterrupt:
    pass
other.execute("BEGIN IMMEDIATE")
other.execute("ROLLBACK")
print(ledger.charge(PureDP("1/10"), reason="again").number)
"""


def test_b10_a_writer_that_is_interrupted_while_waiting_has_begun_nothing(file_place: Place) -> None:
    assert printed(INTERRUPTED_WHILE_WAITING, file_place) == "1\n"


CREATED_AT_A_FORK = """
import os, sys, threading
from dpselect import Ledger
done = []
def create():
    for number in range(60):
        Ledger.create(f"{sys.argv[1]}.{number}").close()
    done.append(True)
thread = threading.Thread(target=create)
thread.start()
while thread.is_alive():
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
print(done)
"""


def test_b6_a_fork_in_the_middle_of_a_creation_waits_for_it(file_place: Place) -> None:
    assert printed(CREATED_AT_A_FORK, file_place) == "[True]\n"
