"""Progress is shown where a person looks, and nowhere else; no answer waits for it or depends on it."""

from __future__ import annotations

import io
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import redirect_stderr, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from dpselect import Table, approval_voting, check, prepare, select
from dpselect.engines.progress import telling
from dpselect.release import progress_line
from dpselect.release.progress_line import progress_shown, progress_text
from tests.pseudo_terminal import PseudoTerminal, pseudo_terminal, screen

DISHES = [f"d{number}" for number in range(50)]
PROBLEM = approval_voting(candidate="dish", candidates=DISHES)
ROWS = "SELECT i % 500000 AS voter, 'd' || (hash(i) % 50) AS dish FROM range(1000000) t(i)"

pytestmark = pytest.mark.filterwarnings("ignore::dpselect.errors.UnmeteredRelease")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show progress from the first moment on, so that a short query is long enough."""
    monkeypatch.setattr(progress_line, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(progress_line, "REFRESH_SECONDS", 0.005)


@pytest.fixture
def terminal() -> Iterator[PseudoTerminal]:
    """A terminal, for standard error."""
    with pseudo_terminal() as made:
        yield made


@pytest.fixture(scope="module")
def votes(tmp_path_factory: pytest.TempPathFactory) -> Table:
    path = tmp_path_factory.mktemp("votes") / "votes.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({ROWS}) TO '{path}'")
    return Table(str(path), unit="voter")


@pytest.mark.usefixtures("impatient")
def test_a_terminal_shows_per_cent_and_time_left_and_is_clean_in_the_end(
    terminal: PseudoTerminal, votes: Table
) -> None:
    with redirect_stderr(terminal.stream):
        release = select(PROBLEM, votes, epsilon=1)
    assert release.label in DISHES
    written = terminal.seen()
    assert " %, about " in written
    assert " s left" in written
    assert screen(written) == [""]


def test_a_short_query_shows_nothing(terminal: PseudoTerminal, votes: Table) -> None:
    with redirect_stderr(terminal.stream):
        select(PROBLEM, votes, epsilon=1)
    assert not terminal.seen()


@pytest.mark.usefixtures("impatient")
def test_c6_it_can_be_switched_off(terminal: PseudoTerminal, votes: Table) -> None:
    with redirect_stderr(terminal.stream):
        select(PROBLEM, votes, epsilon=1, progress=False)
        with prepare(PROBLEM, votes, epsilon=1, progress=False) as question:
            question.release()
        check(PROBLEM, votes, owner=True, progress=False)
    assert not terminal.seen()


@pytest.mark.usefixtures("impatient")
def test_the_owners_check_shows_it_too(terminal: PseudoTerminal, votes: Table) -> None:
    with redirect_stderr(terminal.stream):
        check(PROBLEM, votes, owner=True)
    written = terminal.seen()
    assert " %, about " in written
    assert screen(written) == [""]


@pytest.mark.usefixtures("impatient")
def test_c6_a_pipe_shows_nothing_unless_it_is_wanted(votes: Table) -> None:
    piped = io.StringIO()
    with redirect_stderr(piped):
        select(PROBLEM, votes, epsilon=1)
        assert not piped.getvalue()
        select(PROBLEM, votes, epsilon=1, progress=True)
    assert "reading the table: " in piped.getvalue()
    with redirect_stderr(None), progress_shown(wanted=True):
        pass


@pytest.mark.usefixtures("impatient")
def test_an_engine_that_tells_nothing_shows_the_time_so_far(terminal: PseudoTerminal) -> None:
    kinds = pa.schema([("voter", pa.int64()), ("dish", pa.string())])

    def batches() -> Iterator[pa.RecordBatch]:
        for place in range(3):
            time.sleep(0.05)
            yield pa.record_batch([[place], ["d1"]], schema=kinds)

    source = pa.RecordBatchReader.from_batches(kinds, batches())
    with redirect_stderr(terminal.stream):
        select(PROBLEM, Table(source, unit="voter"), epsilon=1)
    assert "reading the table: 0 s so far" in terminal.seen()


@pytest.mark.usefixtures("impatient")
def test_a_terminal_that_goes_away_costs_no_answer(votes: Table) -> None:
    master, slave = os.openpty()
    with suppress(OSError), os.fdopen(slave, "w", encoding="utf-8") as stream:
        os.close(master)
        with redirect_stderr(stream):
            release = select(PROBLEM, votes, epsilon=1, progress=True)
        with pytest.raises(OSError, match="Input/output error"):
            stream.flush()
    assert release.label in DISHES


def closed_stream() -> io.StringIO:
    stream = io.StringIO()
    stream.close()
    return stream


@pytest.mark.parametrize("stream", [closed_stream(), SimpleNamespace(write=len)], ids=["closed", "foreign"])
def test_a_standard_error_that_cannot_be_asked_costs_no_answer(
    stream: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The charge is made before the screen is looked for."""
    monkeypatch.setattr(sys, "stderr", stream)
    for wanted in (None, True):
        with progress_shown(wanted=wanted):
            answered = True
        assert answered


def test_a_notebook_that_is_not_whole_costs_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace())
    with progress_shown(wanted=None):
        answered = True
    assert answered


def test_a_process_without_room_for_a_thread_costs_no_answer(
    terminal: PseudoTerminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", no_room)
    with redirect_stderr(terminal.stream), progress_shown(wanted=True):
        answered = True
    assert answered


@pytest.mark.usefixtures("impatient")
def test_a_narrow_terminal_gets_no_second_line() -> None:
    with pseudo_terminal(columns=20) as terminal:
        with redirect_stderr(terminal.stream), progress_shown(wanted=None), telling(lambda: 50.0):
            time.sleep(0.1)
        written = terminal.seen()
    assert written
    assert max(len(part) for part in written.split("\r")) <= 19


def test_no_thread_is_left_behind(terminal: PseudoTerminal) -> None:
    before = threading.active_count()
    with redirect_stderr(terminal.stream), pytest.raises(KeyboardInterrupt), progress_shown(wanted=None):
        raise KeyboardInterrupt
    assert threading.active_count() == before
    assert not terminal.seen()


class Handle:
    """As much of IPython's handle of a display as is used."""

    def __init__(self, shown: list[str]) -> None:
        self.shown = shown

    def update(self, data: dict[str, str], *, raw: bool) -> None:
        assert raw
        self.shown.append(data["text/plain"])


@pytest.mark.usefixtures("impatient")
def test_a_notebook_shows_it_in_an_output_that_is_empty_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """IPython is no dependency of the tests: these are its documented names, and they get what it takes."""
    shown: list[str] = []

    def display(data: dict[str, str], *, raw: bool, display_id: bool) -> Handle:
        assert raw
        assert display_id
        shown.append(data["text/plain"])
        return Handle(shown)

    shell: Any = SimpleNamespace(kernel=object())
    ipython = SimpleNamespace(get_ipython=lambda: shell, display=SimpleNamespace(display=display))
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    with progress_shown(wanted=None), telling(lambda: 50.0):
        time.sleep(0.1)
    assert "reading the table: 50 %, 0 s left" in [text.replace("about 1 s", "0 s") for text in shown]
    assert shown[-1] == ""
    shell.kernel, count = None, len(shown)
    with progress_shown(wanted=None), telling(lambda: 50.0):
        time.sleep(0.1)
    assert len(shown) == count


def test_the_line_says_how_much_is_done_and_how_long_the_rest_takes() -> None:
    assert progress_text(0.001, 9.0) == "reading the table: 0 %, 9 s so far"
    assert progress_text(0.5, 3600.0) == "reading the table: 50 %, about 1 h 0 min left"
    assert progress_text(1.0, 30.0) == "reading the table: 100 %, about 1 s left"


@pytest.mark.slow
def test_a_real_command_shows_it_from_the_third_second_on(tmp_path: Path) -> None:
    """The whole road: a process on a terminal of its own, a query of seconds, nothing sped up."""
    import subprocess

    with duckdb.connect() as connection:
        connection.execute(f"COPY ({ROWS.replace('1000000', '20000000')}) TO '{tmp_path / 'votes.csv'}'")
    words = ["vote", "votes.csv", "--unit", "voter", "--choice", "dish", "--epsilon", "1"]
    command = [sys.executable, "-m", "dpselect", *words, "--candidates", ",".join(DISHES)]
    for more, shows in (([], True), (["--quiet"], False)):
        with pseudo_terminal() as terminal:
            subprocess.run(
                [*command, *more], check=True, stdout=terminal.stream, stderr=terminal.stream, cwd=tmp_path
            )
            written = terminal.seen()
        assert (" %, about " in written) == shows
        assert ("no ledger was charged" in written) == shows
        assert "within 7.80 (rounded up) of the best score, in votes" in written
