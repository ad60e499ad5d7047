"""Standard input as a table: of its rows none is looked at before the charge, and none is left behind."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from dpselect import Table, approval_voting, check, quantile
from dpselect.errors import InvalidParameter, TableUnreadable
from tests.engines.asking import asked
from tests.engines.reference import SALT
from tests.privacy.leaks import leaks

DISH = approval_voting(candidate="dish", candidates=["tea", "pie"])
FEW = 100_000
"""Bytes: more than what a pipe holds, and what is taken with a header."""

Piped = Callable[[bytes], None]


@pytest.fixture
def piped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Piped]:
    """Put bytes into the standard input of this process, and temporary files into a folder of the test's."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    kept = os.dup(0)
    writers: list[Thread] = []

    def put(content: bytes) -> None:
        reading, writing = os.pipe()
        os.dup2(reading, 0)
        os.close(reading)
        writers.append(Thread(target=_write, args=(writing, content)))
        writers[-1].start()

    yield put
    os.dup2(kept, 0)
    os.close(kept)
    for writer in writers:
        writer.join()
    assert list(tmp_path.iterdir()) == []


def _write(descriptor: int, content: bytes) -> None:
    try:
        with open(descriptor, "wb", buffering=0) as pipe:
            pipe.write(content)
    except BrokenPipeError:
        return


@contextmanager
def refused(words: str) -> Iterator[None]:
    with pytest.raises(InvalidParameter, match=words) as error:
        yield
    assert leaks(error.value) == []


def test_standard_input_is_a_csv(piped: Piped) -> None:
    piped(b"who;dish\n1;tea\n2;pie\n2;tea\n")
    assert asked(DISH, Table("-", unit="who", where="who > 1")) == [1, 1]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "cp1252"])
def test_options_of_reading_hold_for_standard_input(encoding: str, piped: Piped) -> None:
    text = "who;pays\n" + "".join(f"{i};x\n" if i % 2 else f"{i};0,5\n" for i in range(20_000))
    piped(text.encode(encoding))
    median = quantile(value="pays", at="1", candidates=[0, 1, 2])
    table = Table("-", unit="who", encoding=encoding, separator=";", decimal=",")
    assert check(median, table, owner=True).counted == 10_000


def test_standard_input_is_json_lines_where_columns_are_given(piped: Piped) -> None:
    piped(b'{"who": 1, "dish": "tea"}\n{"who": 2}\n')
    assert asked(DISH, Table("-", unit="who", columns={"who": "integer", "dish": "text"})) == [1, 0]


def test_several_questions_of_one_opening_read_the_same_rows(piped: Piped) -> None:
    piped(b"who,dish\n" + b"".join(b"%d,tea\n" % i for i in range(30_000)))
    table = Table("-", unit="who")
    with table.open() as engine:
        for _ in range(2):
            counts = engine.counts(DISH.request(engine.schema, unit="who"), SALT)
            assert [int(score) for score in DISH.scores(counts)] == [30_000, 0]


def test_c4_of_standard_input_little_is_taken_before_the_charge(piped: Piped, tmp_path: Path) -> None:
    content = b"who,dish\n" + b"".join(b"%d,tea\n" % i for i in range(200_000))
    piped(content)
    table = Table("-", unit="who")
    with table.open() as engine:
        request = DISH.request(engine.schema, unit="who")
        (folder,) = [each for each in tmp_path.iterdir() if (each / "standard input").exists()]
        assert folder.stat().st_mode & 0o777 == 0o700
        assert (folder / "standard input").stat().st_size < FEW < len(content)
        engine.counts(request, SALT)
        assert (folder / "standard input").stat().st_size == len(content)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "must have a header"),
        (b"\x1f\x8b\x08\x00", "must be a CSV file in UTF-8 with a header; 'standard input' is not"),
        (b"who,,dish\n", "a name for every column; 'standard input' has not"),
        (b"x" * 3_000_000, "must have a header on one line"),
    ],
)
def test_what_is_no_table_is_refused_before_the_charge(content: bytes, words: str, piped: Piped) -> None:
    piped(content)
    with refused(words), Table("-", unit="who").open():
        pass


def test_standard_input_is_there_once(piped: Piped) -> None:
    piped(b"who,dish\n1,tea\n")
    assert asked(DISH, Table("-", unit="who")) == [1, 0]
    with refused("must have a header"):
        asked(DISH, Table("-", unit="who"))


def test_d8_what_is_said_of_a_row_of_standard_input_is_not_repeated(piped: Piped) -> None:
    piped(b"who,dish\n" + b"8675309,31337\n" * 5000 + b"31337\n")
    with pytest.raises(TableUnreadable) as caught:
        asked(DISH, Table("-", unit="who"))
    assert leaks(caught.value) == []


def test_where_some_of_it_may_be_lost_it_is_unreadable(piped: Piped, monkeypatch: pytest.MonkeyPatch) -> None:
    piped(b"who,dish\n" + b"1,tea\n" * 400_000)
    read, calls = os.read, iter(range(9))

    def interrupted(descriptor: int, size: int) -> bytes:
        block = read(descriptor, size)
        if descriptor == 0 and size > 8192 and next(calls) == 1:
            raise OSError("31337")
        return block

    with Table("-", unit="who").open() as engine:
        request = DISH.request(engine.schema, unit="who")
        monkeypatch.setattr(os, "read", interrupted)
        for _ in range(2):
            with pytest.raises(TableUnreadable):
                engine.counts(request, SALT)


ASKS = """
import dpselect
try:
    dpselect.Table("-", unit="who").open().__enter__()
except ValueError as refused:
    print(refused)
"""
CLOSED = "import os, sys; os.close(0); os.execv(sys.executable, [sys.executable, '-c', sys.argv[1]])"


def test_a_process_without_standard_input_is_told_so() -> None:
    line = [sys.executable, "-c", CLOSED, ASKS]
    said = subprocess.run(line, check=True, capture_output=True, text=True).stdout
    assert said.startswith(
        "source must be piped in where it is '-'; standard input is a terminal, or closed."
    )
