"""Faults with real processes: many at once, killed, forked, on a server that crashes."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from dpselect import Ledger, PureDP
from tests.ledger.places import Place
from tests.servers.postgres import Server

CHECKOUT = Path(__file__).parents[2]
PATIENCE = 300


def storm(*words: object) -> list[int]:
    """Let a storm rage to its end; give the numbers that it printed."""
    command = [sys.executable, "-m", "tests.ledger.storm", *map(str, words)]
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


def test_e4_two_hundred_kills_lose_nothing_and_overspend_nothing(tmp_path: Path) -> None:
    killed, ledgers, acknowledged = storm("kill", tmp_path / "{}.ledger", 200, "1/100")
    assert killed == 200
    assert ledgers >= 1
    assert acknowledged >= 50, "the processes were killed before they did anything: let them live longer"


def test_e4_kills_on_an_account_of_a_budget_with_a_delta_lose_nothing(tmp_path: Path) -> None:
    killed, _, acknowledged = storm("kill", tmp_path / "{}.ledger", 60, "1/100", "1/300", "ada")
    assert killed == 60
    assert acknowledged >= 10, "the processes were killed before they did anything: let them live longer"


def test_e4_kills_on_an_account_on_a_server_lose_nothing(server_place: Place) -> None:
    killed, ledgers, _ = storm("kill", server_place.url, 20, "1/100000", "1/1000000", "ada")
    assert (killed, ledgers) == (20, 1)


@pytest.mark.slow
def test_e4_a_thousand_kills_lose_nothing_and_overspend_nothing(tmp_path: Path) -> None:
    killed, _, acknowledged = storm("kill", tmp_path / "{}.ledger", 1000, "1/100")
    assert killed == 1000
    assert acknowledged >= 250


def test_e4_kills_of_those_who_charge_on_a_server(server_place: Place) -> None:
    # One schema holds one ledger, so its budget must outlast the kills.
    killed, ledgers, _ = storm("kill", server_place.url, 30, "1/100000")
    assert (killed, ledgers) == (30, 1)


def test_e4_a_server_that_crashes_keeps_what_it_acknowledged(
    server_place: Place, postgres_server: Server
) -> None:
    ledger = Ledger.create(server_place.url, budget=PureDP(1))
    command = [
        sys.executable,
        "-m",
        "tests.ledger.storm",
        "acknowledge",
        server_place.url,
        "1/100000",
    ]
    with subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True) as spender:
        assert spender.stdout is not None
        said = [spender.stdout.readline() for _ in range(5)]
        time.sleep(0.2)
        postgres_server.crash()
        postgres_server.start()
        time.sleep(0.5)
        spender.kill()
        said += spender.stdout.read().splitlines()
    entries = {entry.number: entry.digest for entry in ledger.entries()}
    acknowledged = [line.split() for line in said if len(line.split()) == 2 and len(line.split()[1]) == 64]
    assert len(acknowledged) > 5
    assert all(entries[int(number)] == digest for number, digest in acknowledged)
    assert ledger.verify() == len(entries) >= len(acknowledged)


def printed(script: str, place: Place) -> str:
    """Run a script on a place in a process of its own; give what it prints."""
    command = [sys.executable, "-W", "ignore", "-c", script, place.url]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return done.stdout


FORKED_BEHIND_PYTHON = """
import ctypes, os, sys
from dpselect import ApproxDP, Ledger
ledger = Ledger.create(sys.argv[1], budget=ApproxDP("3/10", "3e-6"))
ledger.open_account("ada", share=ledger.budget, reserve=True)
def charge(reason):
    ledger.charge(ApproxDP("1/10", "1e-6"), reason=reason, account="ada")
charge("before")
child = ctypes.PyDLL(None).fork()
if not child:
    charge("child")
    ledger.close()
    os._exit(0)
os.waitpid(child, 0)
charge("parent")
print(ledger.verify(), ledger.remaining.parts() == (0, 0) == ledger.account("ada").remaining.parts())
"""


def test_b6_a_fork_that_python_was_not_told_of_is_noticed(place: Place) -> None:
    assert printed(FORKED_BEHIND_PYTHON, place) == "4 True\n"


THREADS_AT_A_FORK = """
import os, sys, threading
from dpselect import Ledger, PureDP
ledger = Ledger.create(sys.argv[1])
done = []
def spend():
    for _ in range(30):
        ledger.charge(PureDP("1/1000"), reason="thread")
    done.append(True)
thread = threading.Thread(target=spend)
thread.start()
children = []
while not done:
    child = os.fork()
    if not child:
        ledger.charge(PureDP("1/1000"), reason="child")
        os._exit(0)
    children.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
thread.join()
print(ledger.verify() - len(children), set(children))
"""


def test_b6_a_fork_in_the_middle_of_anothers_charge_waits_for_it(file_place: Place) -> None:
    assert printed(THREADS_AT_A_FORK, file_place) == "30 {0}\n"


INTERRUPTED = """
import itertools, signal, sys, time
from dpselect import ApproxDP, Ledger
charging, interrupted = False, 0
def interrupt(*_):
    if charging:
        raise KeyboardInterrupt
signal.signal(signal.SIGALRM, interrupt)
ledger = Ledger.create(sys.argv[1], budget=ApproxDP(100, "1e-2"))
ledger.open_account("ada", share=ledger.budget, reserve=True)
small = ApproxDP("1/1000", "1e-6")
times = [time.perf_counter()]
for _ in range(20):
    ledger.charge(small, reason="how long it takes", account="ada")
    times.append(time.perf_counter())
shortest = min(after - before for before, after in itertools.pairwise(times))
for instant in range(1, 301):
    try:
        charging = True
        signal.setitimer(signal.ITIMER_REAL, shortest * instant / 200)
        ledger.charge(small, reason="perhaps", account="ada")
        charging = False
    except KeyboardInterrupt:
        interrupted += 1
    charging = False
    signal.setitimer(signal.ITIMER_REAL, 0)
    if instant % 10 == 0:
        with Ledger.open(sys.argv[1]) as other:
            other.charge(small, reason="another is not kept out", account="ada")
spent = ledger.account("ada").spent
print(ledger.verify() >= 50, interrupted > 50, spent == ledger.spent == small * (ledger.verify() - 1))
"""


def test_b10_an_interrupted_writer_keeps_no_other_out(file_place: Place) -> None:
    assert printed(INTERRUPTED, file_place) == "True True True\n"


INTERRUPTED_WHILE_WAITING = """
import os, signal, sqlite3, sys, threading
from dpselect import Ledger, PureDP
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
