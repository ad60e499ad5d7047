"""Power cuts: what a process wrote is replayed up to every moment, in orders that a disk may choose.

A shim (recorder.c) writes down every write, cut and sync. What was synced before the cut is there. Of what
was not synced, a disk may have all, nothing, some, or half of a write; an anchor fits into one sector, so it
has all of a write or nothing. In each case the ledger opens, verifies, and has every charge that was
acknowledged.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pytest

from dpselect import Ledger, LedgerDamaged
from tests.ledger.shims import compiled

CHARGES = 40
"""Enough to fill the log once, so that it is moved into the file and overwritten."""
SECTOR = 512
ACT = f"""
import os, sys
from pathlib import Path
from dpselect import ApproxDP, Ledger
from dpselect.errors import LedgerUnavailable
folder = Path(sys.argv[1])
said = os.open(folder / "said", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
def say(entry):
    os.write(said, f"{{entry.number}} {{entry.digest}}\\n".encode())
ledger = Ledger.create(folder / "a.ledger", budget=ApproxDP(100, "2e-3"))
os.write(said, b"0 created\\n")
ledger.open_account("ada", share=ApproxDP(90, "1e-3"), reserve=True)
try:
    for number in range({CHARGES}):
        account = "ada" if number % 2 else None
        say(ledger.charge(ApproxDP("1/7", "1e-6"), reason="a", request_id=f"r{{number}}", account=account))
        if number % 5 == 0:
            ledger.store(f"r{{number}}", "answer", account=account)
except LedgerUnavailable as refused:
    print(refused)
"""


class Op(NamedTuple):
    """One thing that was done to a file."""

    what: str
    name: str
    offset: int
    data: bytes


@dataclass
class Disk:
    """A file as a disk has it: what is safe, and what may still be lost."""

    safe: bytearray = field(default_factory=bytearray)
    waiting: list[Op] = field(default_factory=list)

    def after(self, kept: list[Op]) -> bytes:
        found = bytearray(self.safe)
        for op in kept:
            _apply(found, op)
        return bytes(found)


def _apply(content: bytearray, op: Op) -> None:
    if op.what == "t":
        del content[op.offset :]
        content.extend(bytes(op.offset - len(content)))
        return
    content.extend(bytes(max(0, op.offset - len(content))))
    content[op.offset : op.offset + len(op.data)] = op.data


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("recorder", tmp_path_factory.mktemp("shim"))


def run(shim: Path, folder: Path, **more: str) -> str:
    folder.mkdir()
    environment = {
        "LD_PRELOAD": str(shim),
        "RECORDED_FOLDER": str(folder),
        "PYTHONPATH": ":".join(sys.path),
        **more,
    }
    command = [sys.executable, "-c", ACT, str(folder)]
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    return done.stdout


def recorded(path: Path) -> Iterator[Op]:
    data, at = path.read_bytes(), 0
    while at < len(data):
        what = chr(data[at])
        length, offset, size = struct.unpack_from("=3q", data, at + 1)
        name = data[at + 25 : at + 25 + length].decode()
        at += 25 + length + size
        yield Op(what, Path(name).name, offset, data[at - size : at])


@pytest.fixture(scope="module")
def story(shim: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Op]:
    folder = tmp_path_factory.mktemp("story")
    run(shim, folder / "town", RECORD=str(folder / "record"))
    ops = list(recorded(folder / "record"))
    assert sum(op.what == "s" and op.name == "a.ledger" for op in ops) > 1, "the log was never moved"
    return ops


def coins(name: str) -> Iterator[int]:
    """Give numbers below 256 that are the same in every run."""
    number = 0
    while True:
        yield from hashlib.sha256(f"{name} {number}".encode()).digest()
        number += 1


def kept(disk: Disk, name: str, how: str, dice: Iterator[int]) -> list[Op]:
    """Choose what a disk has of the writes that were not synced."""
    if how == "all" or (how == "log alone" and name.endswith("-wal")):
        return disk.waiting
    if how in ("nothing", "log alone"):
        return []
    some = [op for op in disk.waiting if next(dice) < 128]
    if some and not name.endswith(".anchor") and some[-1].what == "w":
        half = SECTOR * (next(dice) % (len(some[-1].data) // SECTOR + 1))
        some[-1] = some[-1]._replace(data=some[-1].data[:half])
    return some


def survives(story: list[Op], moment: int, how: str, folder: Path) -> None:
    """Cut the power after an operation, and look at what the disk has."""
    disks, said = written(story[:moment])
    acknowledged = [line.split() for line in said.decode().splitlines()]
    if not acknowledged:
        return
    look(disks, acknowledged, how, coins(f"{moment} {how}"), folder)


def written(story: list[Op]) -> tuple[dict[str, Disk], bytes]:
    """Give the disk after some operations, and what the process had said by then."""
    disks: dict[str, Disk] = {}
    said = b""
    for op in story:
        if op.name == "said":
            said += op.data
        elif op.what == "l":
            disks[op.name] = disks[Path(op.data.decode()).name]
        elif op.what == "u":
            disks.pop(op.name, None)
        elif op.name in disks or op.what != "s":
            disk = disks.setdefault(op.name, Disk())
            if op.what == "s":
                disk.safe, disk.waiting = bytearray(disk.after(disk.waiting)), []
            else:
                disk.waiting.append(op)
    return disks, said


def look(
    disks: dict[str, Disk], acknowledged: list[list[str]], how: str, dice: Iterator[int], folder: Path
) -> None:
    """Open what a disk has, and look for all that was acknowledged."""
    folder.mkdir()
    for name, disk in disks.items():
        if not name.endswith((".new", "-shm")):
            (folder / name).write_bytes(disk.after(kept(disk, name, how, dice)))
    with Ledger.open(folder / "a.ledger") as ledger:
        digests = {entry.number: entry.digest for entry in ledger.entries()}
        assert ledger.verify() == len(digests)
        for number, digest in acknowledged[1:]:
            assert digests[int(number)] == digest
        charge = ledger.charge(ledger.remaining * 0, reason="it goes on")
        assert charge.number == len(digests) + 1
    shutil.rmtree(folder)


HOWS = ("all", "nothing", "log alone", "some")


@pytest.mark.parametrize("how", HOWS)
def test_a_power_cut_loses_no_acknowledged_charge(story: list[Op], how: str, tmp_path: Path) -> None:
    for moment in range(1, len(story) + 1, 7):
        survives(story, moment, how, tmp_path / str(moment))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("how", HOWS)
def test_a_power_cut_at_every_moment_loses_no_acknowledged_charge(
    story: list[Op], how: str, seed: int, tmp_path: Path
) -> None:
    for moment in range(1 + seed, len(story) + 1, 4):
        survives(story, moment, how, tmp_path / str(moment))


def test_a_disk_that_forgets_what_was_synced_is_found_out(story: list[Op], tmp_path: Path) -> None:
    """The test bites: with the syncs of the log taken for nothing, an acknowledged charge is lost."""
    lying = [op for op in story if not (op.what == "s" and op.name.endswith("-wal"))]
    last = max(number for number, op in enumerate(lying) if op.name == "said")
    with pytest.raises((LedgerDamaged, KeyError)):
        survives(lying, last + 1, "nothing", tmp_path / "town")


@pytest.mark.parametrize("failing", [16, 24, 37])
def test_a_sync_that_fails_is_not_acknowledged_and_the_sentence_says_what_to_do(
    shim: Path, tmp_path: Path, failing: int
) -> None:
    said = run(shim, tmp_path / "town", FAIL_SYNCS_FROM=str(failing))
    assert "could not be used: the disk failed" in said
    assert "Release nothing" in said
    with Ledger.open(tmp_path / "town/a.ledger") as ledger:
        digests = {entry.number: entry.digest for entry in ledger.entries()}
        lines = (tmp_path / "town/said").read_text(encoding="ascii").splitlines()[1:]
        acknowledged = [line.split() for line in lines]
        assert acknowledged
        assert all(digests[int(number)] == digest for number, digest in acknowledged)
        assert len(digests) <= len(acknowledged) + 2  # the account, and at most the one that failed
