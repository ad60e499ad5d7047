"""Power cuts: what a process wrote is replayed up to every moment, in orders that a disk may choose.

A shim (recorder.c) writes down every write, cut and sync, and disks.py replays them. An anchor fits into one
sector, so a disk has all of a write or nothing. In each case the ledger opens, verifies, and has every charge
that was acknowledged.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpselect import Ledger, LedgerDamaged
from tests.ledger.disks import HOWS, Disk, Op, coins, kept, recorded, written
from tests.ledger.shims import compiled

CHARGES = 40
"""Enough to fill the log once, so that it is moved into the file and overwritten."""
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


@pytest.fixture(scope="module")
def story(shim: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Op]:
    folder = tmp_path_factory.mktemp("story")
    run(shim, folder / "town", RECORD=str(folder / "record"))
    ops = list(recorded(folder / "record", folder / "town"))
    assert sum(op.what == "s" and op.name == "a.ledger" for op in ops) > 1, "the log was never moved"
    return ops


def survives(story: list[Op], moment: int, how: str, folder: Path) -> None:
    """Cut the power after an operation, and look at what the disk has."""
    disks, _ = written(story[:moment])
    said = disks.pop("said", Disk())
    acknowledged = [line.split() for line in said.after(said.waiting).decode().splitlines()]
    if not acknowledged:
        return
    look(disks, acknowledged, how, coins(f"{moment} {how}"), folder)


def look(
    disks: dict[str, Disk], acknowledged: list[list[str]], how: str, dice: Iterator[int], folder: Path
) -> None:
    """Open what a disk has, and look for all that was acknowledged."""
    folder.mkdir()
    for name, disk in disks.items():
        if not name.endswith((".new", "-shm")):
            (folder / name).write_bytes(
                disk.after(
                    kept(disk, how, dice, is_log=name.endswith("-wal"), torn=not name.endswith(".anchor"))
                )
            )
    with Ledger.open(folder / "a.ledger") as ledger:
        digests = {entry.number: entry.digest for entry in ledger.entries()}
        assert ledger.verify() == len(digests)
        for number, digest in acknowledged[1:]:
            assert digests[int(number)] == digest
        charge = ledger.charge(ledger.remaining * 0, reason="it goes on")
        assert charge.number == len(digests) + 1
    shutil.rmtree(folder)


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
