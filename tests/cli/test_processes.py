"""What only a process of its own can show: silence, terminals, pipes that close, and how soon it answers."""

from __future__ import annotations

import io
import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from dpselect.cli import console
from dpselect.ledger import Ledger
from tests.cli.commands import VOTE, Call, Outcome, in_a_process

HEAVY = ("numpy", "flint", "duckdb", "sqlglot", "rich")


def test_a_script_hears_nothing_when_all_goes_well(folder: Path) -> None:
    answer = in_a_process(f"{VOTE} --epsilon 1/2 --json", folder)
    assert (answer.code, answer.err) == (0, "")
    assert set(answer.json["winners"]) < {"Rex", "Biscuit", "Émile", "Bo"}
    assert "\x1b" not in in_a_process(f"{VOTE} --epsilon 1/2", folder).out


def test_exit_codes_are_those_of_the_process(folder: Path) -> None:
    in_a_process("vot", folder).refused(2, "Did you mean 'vote'?")
    in_a_process(f"{VOTE} --epsilon 0,5", folder).refused(2)
    assert in_a_process("ledger create town.ledger --epsilon 1", folder).code == 0
    in_a_process(f"{VOTE} --epsilon 2 --ledger town.ledger", folder).refused(3)
    (folder / "ballots.csv").write_text("voter,candidate\n1,2,3\n", encoding="utf-8")
    in_a_process(f"{VOTE} --epsilon 1 --ledger town.ledger", folder).refused(4, "The budget is spent")


def test_letters_survive_a_terminal_that_knows_only_ascii(folder: Path) -> None:
    (folder / "two.txt").write_text("Émile\nØ\n", encoding="utf-8")
    line = "vote ballots.csv --unit voter --choice candidate --candidates two.txt --epsilon 1000"
    plain = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    answer = in_a_process(f"{line} --json", folder, env=plain)
    assert (answer.code, answer.err) == (0, "")
    assert answer.json["winners"] == ["Émile"]
    assert in_a_process(line, folder, env=plain).code == 0


def on_a_terminal(line: str, folder: Path) -> str:
    """Run a line with a terminal for all three streams; give what it showed."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    with subprocess.Popen(
        [sys.executable, "-m", "dpselect", *line.split()],
        cwd=folder,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=env,
    ) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:
                break
            if not part:
                break
            shown += part
        assert process.wait() == 0
    os.close(ours)
    return shown.decode("utf-8")


def test_on_a_terminal_there_are_colours_and_a_note_that_nothing_was_charged(folder: Path) -> None:
    shown = on_a_terminal(f"{VOTE} --epsilon 1/2", folder)
    assert "\x1b[" in shown
    assert "note: no ledger was charged" in shown


def test_a_reader_who_stops_reading_gets_no_traceback(folder: Path) -> None:
    scores = ",".join(map(str, range(200)))
    command = f"'{sys.executable}' -m dpselect law {scores} --scale 10 --noise gumbel --json | head -c 10"
    done = subprocess.run(command, shell=True, cwd=folder, check=False, capture_output=True, text=True)  # noqa: S602 - a pipe of our own
    assert done.stderr == ""


def test_e4_what_is_paid_and_cannot_be_read_is_told(folder: Path) -> None:
    command = [sys.executable, "-m", "dpselect", *f"{VOTE} --epsilon 1 --ledger town.ledger".split()]
    ours, theirs = os.pipe()
    os.close(ours)
    create = [sys.executable, "-m", "dpselect", "ledger", "create", "town.ledger", "--epsilon", "2"]
    subprocess.run(create, cwd=folder, check=True, capture_output=True)
    done = subprocess.run(command, cwd=folder, check=False, stdout=theirs, stderr=subprocess.PIPE, text=True)
    os.close(theirs)
    assert done.returncode == 1
    assert "the answer must be shown; it could not be (Broken pipe)" in done.stderr
    assert "The budget is spent: epsilon 1 was charged" in done.stderr


def test_an_interruption_after_the_charge_says_that_the_budget_is_spent(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dpselect.engines.duckdb import DuckDB

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(DuckDB, "counts", interrupted)
    call("ledger create town.ledger --epsilon 1")
    call(f"{VOTE} --epsilon 1 --ledger town.ledger").refused(
        130, "interrupted", "The budget is spent: epsilon 1"
    )


def test_a_real_interruption_is_no_broken_table(folder: Path) -> None:
    """DuckDB turns Ctrl-C into an error of its own: it must not be taken for a broken row."""
    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT 'v' || i AS voter, 'Rex' AS candidate FROM range(6000000) t(i)) "
            "TO 'ballots.csv' (HEADER)"
        )
    assert in_a_process("ledger create town.ledger --epsilon 1", folder).code == 0
    words = f"{VOTE} --epsilon 1 --ledger town.ledger".split()
    with subprocess.Popen(
        [sys.executable, "-m", "dpselect", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        until = time.monotonic() + 60
        while in_a_ledger(folder / "town.ledger") == 0 and time.monotonic() < until:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    Outcome(process.returncode, out, err).refused(130, "interrupted", "The budget is spent: epsilon 1")


def in_a_ledger(path: Path) -> int:
    with Ledger.open(path) as ledger:
        return len(list(ledger.entries()))


@pytest.mark.parametrize("line", ["--help", "version", "vote --help", "vot"])
def test_help_waits_for_no_library(line: str, folder: Path) -> None:
    question = (
        "import sys, json\nfrom dpselect.cli.runner import run_command\n"
        f"run_command({line.split()!r})\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    )
    asked = subprocess.run(
        [sys.executable, "-c", question], cwd=folder, check=True, capture_output=True, text=True
    )
    loaded = json.loads(asked.stderr.splitlines()[-1])
    assert [name for name in loaded if name in HEAVY] == []


def test_how_soon_help_answers_is_reported(
    folder: Path, record_property: Callable[[str, object], None]
) -> None:
    """Reported, not asserted: machines differ. What can be asserted is above: no library is waited for."""
    times = []
    for _ in range(3):
        started = time.monotonic()
        assert in_a_process("--help", folder).code == 0
        times.append(time.monotonic() - started)
    record_property("seconds until dpselect --help has answered", round(min(times), 3))


def test_nothing_to_do_is_help(call: Call) -> None:
    for line in ("--help", "-h"):
        assert "Usage: dpselect" in call(line).out
    assert call("--version").out == call("version").out
    assert "Usage: dpselect ledger" in call("ledger").out


class Screen(io.StringIO):
    """Something that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("seconds", "times"), [(0.0, 0), (0.9, 1)], ids=["short", "long"])
def test_what_takes_long_is_shown_and_what_does_not_is_not(
    seconds: float, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with console.working("counting sheep"):
        time.sleep(seconds)
    assert min(1, screen.getvalue().count("counting sheep")) == times


@pytest.mark.parametrize("line", ["bench --largest 1000 --json", "doctor --json", "law 1,2 --scale 1 --json"])
def test_progress_is_for_those_who_watch_and_never_among_the_results(
    line: str, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    assert call(line).json
    if line.startswith("bench"):
        assert "1,000 scores" in screen.getvalue()
