"""Running out of file descriptors or memory is called that; after the charge nothing is said of it."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

from dpselect.engines.duckdb import DuckDB
from dpselect.errors import InvalidParameter, Shortage, TableUnreadable, shortage_of
from dpselect.silence import run, shortage_or
from tests.cli.commands import VOTE, Call, Outcome

LIMIT = (
    "import os, resource, sys\n"
    "resource.setrlimit(getattr(resource, sys.argv[1]), (int(sys.argv[2]),) * 2)\n"
    "os.execv(sys.executable, [sys.executable, '-m', 'dpselect', *sys.argv[3:]])"
)
WRONG_WORDS = ("UTF-8", "should not", "broken rows", "Traceback")

UNREADABLE = str(TableUnreadable()).partition(" If a CSV")[0]
"""What it says in Python and on the command line alike; the way out is spelled otherwise."""


def limited(folder: Path, what: str, most: int, line: str) -> Outcome:
    """Run a command in a process that may have so much of something, and no more."""
    done = subprocess.run(
        [sys.executable, "-c", LIMIT, what, str(most), *line.split()],
        cwd=folder,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        check=False,
        capture_output=True,
        text=True,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def line(call: Call) -> str:
    assert call("ledger create town.ledger --epsilon 100").code == 0
    return f"{VOTE} --epsilon 1 --ledger town.ledger"


@pytest.mark.parametrize("most", [7, 9, 12, 16, 20])
def test_too_few_file_descriptors_are_called_that_and_cost_nothing(
    most: int, line: str, folder: Path, call: Call
) -> None:
    outcome = limited(folder, "RLIMIT_NOFILE", most, line)
    outcome.refused(1, "file descriptors")
    assert [word for word in WRONG_WORDS if word in outcome.err] == []
    assert call("ledger show town.ledger --json").json["spent"] == "0"


@pytest.mark.skipif(
    not hasattr(resource, "RLIMIT_AS") or sys.platform != "linux", reason="run it on Linux: limits of memory"
)
@pytest.mark.parametrize("megabytes", [30, 160, 250, 300])
def test_too_little_memory_is_called_that_and_costs_nothing(
    megabytes: int, line: str, folder: Path, call: Call
) -> None:
    outcome = limited(folder, "RLIMIT_AS", megabytes * 2**20, line)
    outcome.refused(1, "memory")
    assert [word for word in WRONG_WORDS if word in outcome.err] == []
    assert call("ledger show town.ledger --json").json["spent"] == "0"


@pytest.mark.parametrize("error", [MemoryError("31337"), OSError(24, "31337"), ValueError("31337")])
def test_c5_after_the_charge_a_lack_of_memory_is_told_as_any_failure_of_the_rows(
    error: Exception, line: str, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr(DuckDB, "counts", fails)
    outcome = call(line)
    outcome.refused(4, UNREADABLE, "The budget is spent: epsilon 1")
    assert "31337" not in outcome.err


def test_c5_an_engine_that_lacks_memory_for_the_rows_says_what_it_says_of_broken_ones(
    line: str, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(DuckDB, "_counts", fails)
    call(line).refused(4, UNREADABLE, "The budget is spent: epsilon 1")


def raises(error: Exception) -> None:
    raise error


@pytest.mark.parametrize(
    ("error", "word"),
    [
        (OSError(24, "a secret"), "file descriptors"),
        (OSError(23, "a secret"), "file descriptors"),
        (OSError(12, "a secret"), "memory"),
        (MemoryError("a secret"), "memory"),
        (ImportError("x.so: failed to map segment from shared object"), "memory"),
        (ImportError("x.so: cannot open shared object file: Too many open files"), "file descriptors"),
    ],
)
def test_a_shortage_before_the_charge_passes_afresh_and_one_after_it_does_not(
    error: Exception, word: str
) -> None:
    with pytest.raises(Shortage, match=word) as caught:
        run(lambda: raises(error), shortage_or(lambda: InvalidParameter("not UTF-8")))
    told = caught.value
    assert "secret" not in str(told)
    frames = [frame.f_code.co_name for frame, _ in traceback.walk_tb(told.__traceback__)]
    assert frames[1:] == ["run"]
    assert told.__context__ is None
    assert told.__cause__ is None
    with pytest.raises(TableUnreadable):
        run(lambda: raises(error), lambda _: TableUnreadable())


def test_what_is_no_shortage_is_none() -> None:
    assert shortage_of(OSError(13, "no right")) is None
    assert shortage_of(ValueError("Too many open files")) is None


def test_a_shortage_behind_other_errors_is_found_but_not_without_an_end() -> None:
    error: Exception = MemoryError()
    for depth in range(20):
        assert (shortage_of(error) is not None) == (depth < 10)
        behind, error = error, ValueError("an engine's own words")
        error.__cause__ = behind


def test_a_program_that_cannot_be_loaded_says_so_without_a_traceback() -> None:
    program = "import sys; sys.modules['click'] = None; from dpselect.cli.main import main; main()"
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    Outcome(done.returncode, done.stdout, done.stderr).refused(
        1, "dpselect must be loaded; it could not be (ModuleNotFoundError). Free memory and file descriptors"
    )
