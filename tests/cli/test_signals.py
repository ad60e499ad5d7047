"""Signals: who asks a command to stop gets it tidied up, one sentence, and the exit code of the signal."""

from __future__ import annotations

import itertools
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from dpselect.ledger import Ledger
from dpselect.privacy.losses import ApproxDP, PureDP
from tests.cli.commands import VOTE
from tests.ledger.conftest import new_schema
from tests.ledger.payers import PAYERS, Payer
from tests.servers.postgres import postgres_server

__all__ = ["postgres_server"]

LINE = f"{VOTE} --epsilon 1 --ledger town.ledger --json"
PEOPLE = 100_000
SENTENCE = re.compile(
    r"dpselect: interrupted( by SIG\w+)?\."
    r"( The budget is spent: epsilon 1( with delta 0\.000001)? was charged before the data was read\.)?\n"
)


@dataclass
class Town:
    """A table, a ledger and a folder for temporary files."""

    folder: Path
    ledger: Ledger
    line: str = LINE

    @property
    def temporary(self) -> Path:
        return self.folder / "temporary"

    def left(self) -> list[Path]:
        """List what DuckDB may have spilled rows to."""
        return list(self.temporary.glob("dpselect-*"))

    def charges(self) -> int:
        return len(list(self.ledger.entries()))

    def start(self, line: str | None = None) -> subprocess.Popen[str]:
        """Start a command, and wait until it listens to signals."""
        process = subprocess.Popen(
            [sys.executable, "-m", "dpselect", *(line or self.line).split()],
            cwd=self.folder,
            env={**os.environ, "TMPDIR": str(self.temporary)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        until = time.monotonic() + 60
        while process.poll() is None and not listens(process.pid) and time.monotonic() < until:
            time.sleep(0.001)
        return process


def listens(process: int) -> bool:
    """Say whether a process catches SIGTERM: Python does not, until it is told to."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except OSError:
        return False
    caught = re.search(r"^SigCgt:\s*([0-9a-f]+)", status, flags=re.MULTILINE)
    return caught is not None and bool(int(caught[1], 16) >> (signal.SIGTERM - 1) & 1)


@pytest.fixture(autouse=True)
def signals_are_heard() -> Iterator[None]:
    """Ignore no signal, whatever this process was started with: children inherit it."""
    ignored = [
        number
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) == signal.SIG_IGN
    ]
    for number in ignored:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


@pytest.fixture
def town(folder: Path) -> Iterator[Town]:
    if not Path("/proc/self/status").exists():
        pytest.skip("run it on Linux: looks into /proc")
    rows = "".join(f"v{i},Rex\n" for i in range(PEOPLE))
    (folder / "ballots.csv").write_text(f"voter,candidate\n{rows}", encoding="utf-8")
    (folder / "temporary").mkdir()
    with Ledger.create(folder / "town.ledger", budget=PureDP(10_000)) as ledger:
        yield Town(folder, ledger)


def paid_by(town: Town, payer: Payer, place: str) -> Town:
    """Let a payer ask the questions of the town, from a ledger of their own."""
    more = "" if len(payer.price.parts()) == 1 else " --delta 1e-6"
    account = "" if payer.account is None else f" --account {payer.account}"
    return Town(
        town.folder, payer.create(place, 9_000), f"{VOTE} --epsilon 1{more} --ledger {place} --json{account}"
    )


def check(town: Town, process: subprocess.Popen[str], number: int, before: int) -> str:
    """Hold what a process left behind against the rules; say how it ended."""
    out, err = process.communicate(timeout=120)
    charged = town.charges() - before
    assert process.returncode in (0, 128 + number), err
    assert town.left() == []
    if process.returncode == 0:
        assert (charged, err) == (1, "")
        return "answered"
    said = SENTENCE.fullmatch(err)
    assert said, err
    assert (said[2] is not None) == (charged == 1)
    assert not out or charged
    return "stopped" if not charged else "stopped and charged"


def hits(town: Town, number: int, times: int) -> dict[str, int]:
    """Send signals at times spread over a whole run: the second at once, every third around the charge."""
    started = time.monotonic()
    process = town.start()
    listening = time.monotonic() - started
    assert process.communicate()[1] == ""
    seconds = time.monotonic() - started - listening
    ends: dict[str, int] = {}
    spread = random.Random(number)
    for hit in range(times):
        before = town.charges()
        process = town.start()
        if hit % 3:
            time.sleep(0 if hit == 1 else seconds * (hit + spread.random()) / times)
        else:
            until = time.monotonic() + 60
            while town.charges() == before and process.poll() is None and time.monotonic() < until:
                time.sleep(0.0005)
        process.send_signal(number)
        end = check(town, process, number, before)
        ends[end] = ends.get(end, 0) + 1
    return ends


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_e4_a_signal_at_any_time_leaves_no_rows_behind_and_says_what_was_charged(
    name: str, town: Town
) -> None:
    assert hits(town, getattr(signal, name), 6).keys() > {"stopped"}


ASKING = {
    name: Payer(PureDP(1) if len(each.price.parts()) == 1 else ApproxDP(1, "1e-6"), each.account)
    for name, each in PAYERS.items()
}
"""Payers of the price that is asked."""


MATRIX = itertools.product(("SIGTERM", "SIGINT", "SIGHUP"), PAYERS, ("file", "server"))


@pytest.mark.parametrize(
    ("case", "times"),
    [
        (("SIGTERM", "account-delta", "file"), 3),
        (("SIGINT", "account", "file"), 3),
        (("SIGTERM", "curator-delta", "server"), 3),
        (("SIGINT", "account-delta", "server"), 3),
        *(pytest.param(case, 30, marks=pytest.mark.slow) for case in MATRIX),
    ],
    ids=str,
)
def test_e4_a_signal_at_any_time_says_what_was_charged_to_every_payer_everywhere(
    case: tuple[str, str, str],
    times: int,
    town: Town,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name, who, kind = case
    monkeypatch.setenv("XDG_STATE_HOME", str(town.folder / "state"))
    server = kind == "server"
    place = (
        new_schema(request.getfixturevalue("postgres_server")).url if server else town.folder / "own.ledger"
    )
    payer = ASKING[who]
    asked = paid_by(town, payer, str(place))
    with asked.ledger as ledger:
        assert hits(asked, getattr(signal, name), times).keys() > {"stopped"}
        assert payer.spent_alone(ledger) == payer.price * (ledger.verify() - payer.entries_before)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_e4_hundreds_of_signals_leave_no_rows_behind_and_say_what_was_charged(name: str, town: Town) -> None:
    assert hits(town, getattr(signal, name), 200).keys() > {"stopped"}


def test_c4_what_a_sigkill_leaves_behind_is_removed_by_the_next_question(town: Town) -> None:
    for _ in range(3):
        process = town.start()
        while not town.left() and process.poll() is None:
            time.sleep(0.0005)
        process.kill()
        process.communicate()
    left = town.left()
    assert left
    before = town.charges()
    assert check(town, town.start(), signal.SIGTERM, before) == "answered"


def test_sigterm_ends_with_its_own_code_whichever_signal_comes_with_it(tmp_path: Path) -> None:
    """Signals that are sent together arrive in any order."""
    for pair in ("SIGTERM SIGINT", "SIGINT SIGTERM", "SIGTERM SIGHUP", "SIGHUP SIGTERM"):
        said = subprocess.run(
            [sys.executable, "-c", TOGETHER, *pair.split()],
            cwd=tmp_path,
            check=False,
            capture_output=True,
            text=True,
        )
        assert (said.returncode, said.stderr) == (143, "dpselect: interrupted by SIGTERM.\n"), pair


TOGETHER = """
import os, signal, sys
from dpselect.cli import interrupts, main, runner

def interrupted(words):
    signal.pthread_sigmask(signal.SIG_BLOCK, {1, 2, 15})
    for name in sys.argv[1:]:
        os.kill(os.getpid(), getattr(signal, name))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {1, 2, 15})
    return 0

runner.run_program = interrupted
main.main()
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_signal_while_libraries_are_loaded_gives_a_sentence_and_no_traceback(name: str, town: Town) -> None:
    """Within the first tenth of a second nothing else is done: every one of these falls into an import."""
    number = getattr(signal, name)
    for hit in range(12):
        before = town.charges()
        process = town.start()
        time.sleep(0.008 * hit)
        process.send_signal(number)
        assert check(town, process, number, before) == "stopped"


def test_a_second_signal_does_not_stop_the_tidying(town: Town) -> None:
    before = town.charges()
    process = town.start()
    while not town.left() and process.poll() is None:
        time.sleep(0.0005)
    for _ in range(5):
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 143
    assert SENTENCE.fullmatch(err), err
    assert town.left() == []
    assert ("budget is spent" in err) == (town.charges() > before)
    assert not out


def test_what_the_caller_ignores_stays_ignored(town: Town) -> None:
    before = town.charges()
    ignoring = (
        "import signal, subprocess, sys\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "sys.exit(subprocess.run([sys.executable, '-m', 'dpselect', *sys.argv[1:]]).returncode)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", ignoring, *LINE.split()],
        cwd=town.folder,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        while town.charges() == before and process.poll() is None:
            time.sleep(0.001)
        os.killpg(process.pid, signal.SIGHUP)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"Rex" in out or b"winners" in out


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("meanwhile", ["held", "not held"])
def test_e4_a_second_signal_during_the_charge_does_not_lose_the_receipt(
    moment: str, meanwhile: str, tmp_path: Path
) -> None:
    """Two at once are ordinary: systemd sends SIGTERM and SIGHUP, a terminal that closes likewise."""
    command = [sys.executable, "-c", TWO_SIGNALS, str(tmp_path / "two.ledger"), moment, meanwhile]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    spent = " The budget is spent: epsilon 1 was charged before the data was read."
    charged = moment == "after" or meanwhile == "held"
    assert said == f"interrupted by SIGTERM.{spent if charged else ' '}\n{int(charged)} False\n"


TWO_SIGNALS = """
import os, signal, sys
import dpselect
from dpselect.cli import interrupts, receipts

class Signalled(dpselect.Ledger):
    def charge(self, *args, **kwargs):
        if sys.argv[2] == "before":
            os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGHUP)
        entry = super().charge(*args, **kwargs)
        if sys.argv[2] == "after":
            os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGHUP)
        return entry

interrupts.listen()
own = dpselect.custom(candidates=["a", "b"], sensitivity=1)
with Signalled.create(sys.argv[1]) as ledger:
    with dpselect.prepare(own, dpselect.Scores([1, 2]), epsilon=1) as question:
        if sys.argv[3] == "held":
            question.meanwhile = interrupts.Held
        receipts.keep_receipt(question)
        try:
            question.release(ledger)
        except BaseException:
            pass
    print(interrupts.sentence(interrupts.exit_code()), receipts.receipt())
    print(len(list(ledger.entries())), question.looked)
"""
