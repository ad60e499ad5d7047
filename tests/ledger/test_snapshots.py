"""A ledger that may be looked at and not written: an auditor's copy, or the live ledger of another user."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpselect import Ledger, PureDP

OTHER_USER = 65534
# All is imported by a first run, as the owner: the other user may have no right to read Python's own folders.
AUDITOR = """
import contextlib, io, json, os, sys
from dpselect import Ledger, PureDP
from dpselect.errors import DpselectError
from dpselect.cli.runner import run_command

def said(*words):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = run_command(list(words))
    return [code, out.getvalue(), err.getvalue()]

own, path, *rest = sys.argv[1:]
Ledger.create(own).close()
for verb in ("show", "verify"):
    said("ledger", verb, own), said("ledger", verb, own, "--json")
if os.getuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
"""
LOOK = """
found = {verb: said("ledger", verb, path, "--json", *rest) for verb in ("show", "verify")}
try:
    with Ledger.open(path, anchor=rest[1] if rest else None) as ledger:
        found["report"] = [str(ledger.spent), str(ledger.remaining), ledger.verify(), ledger.answer("r1")]
        found["affords"] = [ledger.affords(PureDP(amount)) for amount in ("19/20", "19/20", "20/21")]
        ledger.charge(PureDP("1/100"), reason="an auditor does not spend")
except DpselectError as error:
    found["refusal"] = type(error).__name__, str(error)
print(json.dumps(found))
"""


def audited(path: Path, *rest: str, act: str = LOOK) -> Any:
    """Look at a ledger as a user without any right to write."""
    with tempfile.TemporaryDirectory() as own:
        command = [sys.executable, "-c", AUDITOR + act, f"{own}/own.ledger", str(path), *rest]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that a user without rights may enter, unlike those of pytest."""
    made = Path(tempfile.mkdtemp(prefix="dpselect-audit-"))
    made.chmod(0o755)
    yield made
    for each in (made, *made.rglob("*")):
        if each.is_dir():
            each.chmod(0o755)
    shutil.rmtree(made)


def sealed(folder: Path) -> None:
    """Let all users read a folder, and none write."""
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)


def filled(path: Path, **more: Any) -> Ledger:
    ledger = Ledger.create(path, budget=PureDP(1), **more)
    for number in range(1, 6):
        ledger.charge(PureDP("1/100"), reason="a", request_id=f"r{number}")
    ledger.store("r1", "tea")
    return ledger


PARTS = {
    "closed": ["", ".anchor"],
    "log": ["", ".anchor", "-wal"],
    "log and index": ["", ".anchor", "-wal", "-shm"],
}


@pytest.mark.parametrize("parts", PARTS)
def test_a_copy_that_cannot_be_written_is_shown_and_verified_and_left_as_it_is(
    parts: str, folder: Path
) -> None:
    copy = folder / "copy"
    copy.mkdir()
    ledger = filled(folder / "a.ledger")
    if parts == "closed":
        ledger.close()
    for part in PARTS[parts]:
        shutil.copy(f"{folder / 'a.ledger'}{part}", f"{copy / 'a.ledger'}{part}")
    ledger.close()
    sealed(copy)
    before = {file.name: file.read_bytes() for file in copy.iterdir()}
    found = audited(copy / "a.ledger")
    assert [found[verb][0] for verb in ("show", "verify")] == [0, 0], found
    assert json.loads(found["show"][1])["spent"] == "1/20"
    assert json.loads(found["verify"][1])["count"] == 5
    assert found["report"] == ["epsilon 0.05", "epsilon 0.95", 5, "tea"]
    assert found["affords"] == [True, True, False]
    assert found["refusal"][0] == "LedgerUnavailable"
    assert {file.name: file.read_bytes() for file in copy.iterdir()} == before


def test_a_file_that_cannot_be_written_in_a_folder_that_can_is_left_alone(folder: Path) -> None:
    filled(folder / "a.ledger").close()
    sealed(folder)
    folder.chmod(0o777)
    assert audited(folder / "a.ledger")["report"][2] == 5
    assert sorted(file.name for file in folder.iterdir()) == ["a.ledger", "a.ledger.anchor"]


def test_e11_an_old_copy_that_cannot_be_written_is_found_out(folder: Path) -> None:
    with filled(folder / "a.ledger") as ledger:
        pass
    old = (folder / "a.ledger").read_bytes()
    ledger.charge(PureDP("1/100"), reason="b")
    ledger.close()
    (folder / "a.ledger").write_bytes(old)
    sealed(folder)
    found = audited(folder / "a.ledger")
    assert [found[verb][0] for verb in ("show", "verify")] == [1, 1]
    assert "entry 6 is missing" in found["verify"][2]
    assert found["refusal"][0] == "LedgerDamaged"


def test_e10_a_copy_that_cannot_be_written_and_was_changed_is_found_out(folder: Path) -> None:
    filled(folder / "a.ledger").close()
    whole = (folder / "a.ledger").read_bytes()
    for old, new in ((b"tea", b"pie"), (b"1/20", b"1/99"), (b"\x02\x02", b"\x01\x01")):
        folder.chmod(0o755)
        (folder / "a.ledger").chmod(0o644)
        at = whole.index(old)
        (folder / "a.ledger").write_bytes(whole[:at] + new + whole[at + len(new) :])
        sealed(folder)
        assert audited(folder / "a.ledger")["verify"][0] == 1, old


def test_a_snapshot_with_its_own_anchor_may_be_older_than_the_ledger_that_lives_on(folder: Path) -> None:
    copy = folder / "copy"
    copy.mkdir()
    ledger = filled(folder / "a.ledger", anchor=folder / "live.anchor")
    ledger.close()
    shutil.copy(folder / "a.ledger", copy / "a.ledger")
    shutil.copy(folder / "live.anchor", copy / "a.anchor")
    ledger.charge(PureDP("1/100"), reason="b")
    (folder / "live.anchor").chmod(0o644)
    sealed(copy)
    anchor = str(copy / "a.anchor")
    assert audited(copy / "a.ledger", "--anchor", anchor)["report"][2] == 5
    assert audited(copy / "a.ledger")["verify"][0] == 1


def test_an_anchor_that_must_not_be_read_is_not_called_gone(folder: Path) -> None:
    (folder / "safe").mkdir()
    filled(folder / "a.ledger", anchor=folder / "safe" / "anchor").close()
    sealed(folder / "safe")
    (folder / "safe").chmod(0 if os.getuid() else 0o700)
    (folder / "a.ledger").chmod(0o444)
    found = audited(folder / "a.ledger")
    assert found["verify"][0] == 1
    assert "could not be looked for: Permission denied" in found["verify"][2]


WATCH = """
seen = []
with Ledger.open(path) as ledger:
    print(json.dumps("ready"), file=sys.stderr, flush=True)
    while not seen or seen[-1] < 400:
        seen.append(ledger.verify() if len(seen) % 7 == 0 else int(ledger.spent.epsilon * 1000))
        ledger.close() if len(seen) % 50 == 0 else None
print(json.dumps(seen == sorted(seen)))
"""


def test_who_may_only_look_sees_a_living_ledger_grow_without_false_alarms(folder: Path) -> None:
    path = folder / "a.ledger"
    ledger = Ledger.create(path, budget=PureDP(1))
    for file in folder.iterdir():
        file.chmod(0o644)
    with tempfile.TemporaryDirectory() as own:
        command = [sys.executable, "-c", AUDITOR + WATCH, f"{own}/own.ledger", str(path)]
        with subprocess.Popen(command, stdout=-1, stderr=-1, text=True) as watcher:
            assert watcher.stderr is not None
            said = watcher.stderr.readline()
            for number in range(400):
                ledger.charge(PureDP("1/1000"), reason="one of many")
                if number % 20 == 0:
                    ledger.close()
            out, err = watcher.communicate(timeout=60)
    assert (said.strip(), out.strip()) == ('"ready"', "true"), said + err
