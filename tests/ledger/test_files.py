"""Faults of the files of a ledger: flipped, cut, deleted, replaced, old, full, read-only."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpselect import Ledger, LedgerDamaged, LedgerUnavailable, PureDP
from dpselect.errors import InvalidParameter
from dpselect.ledger.locations import NETWORK_FILE_SYSTEMS, file_system
from tests.ledger.payers import ADA, CURATOR, PAYERS, SMALL, Payer

PAGE = 4096
ENTRIES = 20


fill = CURATOR.fill
EXPENSIVE = [
    pytest.param(CURATOR, id="curator"),
    pytest.param(PAYERS["curator-delta"], id="curator-delta", marks=pytest.mark.slow),
    pytest.param(PAYERS["account"], id="account", marks=pytest.mark.slow),
    pytest.param(ADA, id="account-delta"),
]
"""Where thousands of damaged copies are tried, the two that differ in everything; ``slow`` tries all four."""


@pytest.fixture(params=list(PAYERS.values()), ids=list(PAYERS))
def payer(request: pytest.FixtureRequest) -> Payer:
    found: Payer = request.param
    return found


class Shelf:
    """The files of a ledger of 20 entries, to be damaged and put back."""

    def __init__(self, path: Path, payer: Payer) -> None:
        self.path, self.payer = path, payer
        with payer.create(path) as ledger:
            payer.fill(ledger, range(1, ENTRIES + 1))
            self.said = payer.report(ledger)
        self.anchor = path.with_name(f"{path.name}.anchor")
        self.files = {each.name: each.read_bytes() for each in path.parent.iterdir() if each.is_file()}

    def put_back(self, **changed: bytes) -> None:
        for leftover in self.path.parent.iterdir():
            if leftover.name not in self.files:
                leftover.unlink()
        for name, content in {**self.files, **changed}.items():
            (self.path.parent / name).write_bytes(content)

    def verdict(self) -> str:
        """Say whether damage is detected, or does no harm: the same report, and a charge that fits it."""
        try:
            with Ledger.open(self.path) as ledger:
                assert self.payer.report(ledger) == self.said
                entry = self.payer.charge(ledger, "one more")
                assert entry.number == self.payer.entries_before + ENTRIES + 1
                assert entry.total == self.payer.price * (ENTRIES + 1)
        except (LedgerDamaged, LedgerUnavailable):
            return "detected"
        return "harmless"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory, if there is one: thousands of damaged copies need not reach the disk."""
    memory = Path("/dev/shm")  # noqa: S108 - a folder of our own is made there
    made = Path(tempfile.mkdtemp(prefix="dpselect-", dir=memory if os.access(memory, os.W_OK) else tmp_path))
    yield made
    shutil.rmtree(made)


@pytest.fixture
def shelf(folder: Path, payer: Payer) -> Shelf:
    return Shelf(folder / "a.ledger", payer)


def flipped(content: bytes, offset: int, mask: int) -> bytes:
    return content[:offset] + bytes([content[offset] ^ mask]) + content[offset + 1 :]


def verdicts_of_flips(shelf: Shelf, name: str, flips: list[tuple[int, int]]) -> list[str]:
    found = []
    for offset, mask in flips:
        shelf.put_back(**{name: flipped(shelf.files[name], offset, mask)})
        found.append(shelf.verdict())
    return found


@pytest.mark.parametrize(
    ("payer", "first"),
    [(each, 8 * place) for place, each in enumerate(PAYERS.values())],
    indirect=["payer"],
    ids=PAYERS,
)
def test_e10_every_eighth_byte_flipped_is_detected_or_harmless(shelf: Shelf, first: int) -> None:
    size = len(shelf.files["a.ledger"])
    flips = [(offset, 0xFF if first % 16 else 0x01) for offset in range(first, size, 32)]
    found = verdicts_of_flips(shelf, "a.ledger", flips)
    assert set(found) == {"detected", "harmless"}
    assert found.count("detected") > len(found) // 6


@pytest.mark.slow
@pytest.mark.parametrize("mask", [0x01, 0xFF])
@pytest.mark.parametrize("first", range(8))
def test_e10_every_byte_flipped_is_detected_or_harmless(shelf: Shelf, first: int, mask: int) -> None:
    flips = [(offset, mask) for offset in range(first, len(shelf.files["a.ledger"]), 8)]
    assert set(verdicts_of_flips(shelf, "a.ledger", flips)) == {"detected", "harmless"}


@pytest.mark.parametrize("payer", EXPENSIVE, indirect=True)
def test_e10_every_byte_of_the_anchor_flipped_is_detected(shelf: Shelf) -> None:
    flips = [(offset, 0x01) for offset in range(len(shelf.files["a.ledger.anchor"]))]
    assert set(verdicts_of_flips(shelf, "a.ledger.anchor", flips)) == {"detected"}


class UnmovedShelf(Shelf):
    """The files as a crash leaves them: the newest entries are in the log only."""

    def __init__(self, path: Path, payer: Payer) -> None:
        self.path, self.payer = path, payer
        self.anchor = path.with_name(f"{path.name}.anchor")
        with payer.create(path) as ledger:
            payer.fill(ledger, range(1, ENTRIES + 1))
            self.said = payer.report(ledger)
            names = [path.name, f"{path.name}-wal", self.anchor.name]
            self.files = {name: (path.parent / name).read_bytes() for name in names}


@pytest.fixture
def crashed(folder: Path, payer: Payer) -> Shelf:
    return UnmovedShelf(folder / "a.ledger", payer)


def test_a_log_that_a_crash_left_is_read(crashed: Shelf) -> None:
    crashed.put_back()
    assert crashed.verdict() == "harmless"


@pytest.mark.parametrize("payer", EXPENSIVE, indirect=True)
def test_e10_bytes_of_the_log_flipped_are_detected_or_harmless(crashed: Shelf) -> None:
    flips = [(offset, 0xFF) for offset in range(0, len(crashed.files["a.ledger-wal"]), 1009)]
    found = verdicts_of_flips(crashed, "a.ledger-wal", flips)
    assert found.count("detected") > len(found) // 3


def test_the_log_is_written_over_before_it_is_long(folder: Path) -> None:
    with Ledger.create(folder / "a.ledger") as ledger:
        for _ in range(300):
            ledger.charge(PureDP("1/1000"), reason="one of many")
        assert (folder / "a.ledger-wal").stat().st_size < 200 * PAGE
        assert ledger.verify() == 300


def test_e11_a_deleted_log_is_detected(crashed: Shelf) -> None:
    del crashed.files["a.ledger-wal"]
    crashed.put_back()
    with pytest.raises(LedgerDamaged):
        Ledger.open(crashed.path)


@pytest.mark.parametrize("payer", EXPENSIVE, indirect=True)
def test_e11_a_log_cut_anywhere_is_detected(crashed: Shelf) -> None:
    log = crashed.files["a.ledger-wal"]
    for size in range(0, len(log) - PAGE, 3 * PAGE + 1):
        crashed.put_back(**{"a.ledger-wal": log[:size]})
        assert crashed.verdict() == "detected", size


@pytest.mark.parametrize("payer", EXPENSIVE, indirect=True)
def test_e11_a_ledger_cut_at_any_page_is_detected(shelf: Shelf) -> None:
    whole = shelf.files["a.ledger"]
    assert len(whole) % PAGE == 0
    for size in [*range(0, len(whole), PAGE), 1, 100, PAGE - 1, len(whole) - 1]:
        shelf.put_back(**{"a.ledger": whole[:size]})
        assert shelf.verdict() == "detected", size


def test_e11_an_old_copy_is_detected_and_the_first_missing_entry_named(tmp_path: Path, payer: Payer) -> None:
    path, missing = tmp_path / "a.ledger", payer.entries_before + 11
    with payer.create(path) as ledger:
        payer.fill(ledger, range(1, 11))
    shutil.copy(path, tmp_path / "old")
    with Ledger.open(path) as ledger:
        payer.fill(ledger, range(11, 21))
    shutil.copy(tmp_path / "old", path)
    with pytest.raises(
        LedgerDamaged, match=f"entry {missing} is missing: the ledger is older than its anchor"
    ) as found:
        Ledger.open(path)
    assert found.value.entry == missing


def test_e11_a_copy_from_before_an_account_was_closed_is_detected(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    ADA.create(path).close()
    shutil.copy(path, tmp_path / "old")
    with Ledger.open(path) as ledger:
        ledger.close_account("ada")
    shutil.copy(tmp_path / "old", path)
    with pytest.raises(LedgerDamaged, match="entry 2 is missing"):
        Ledger.open(path)


def test_e11_an_old_copy_is_detected_by_an_anchor_elsewhere(tmp_path: Path) -> None:
    folder = tmp_path / "ledgers"
    folder.mkdir()
    with Ledger.create(folder / "a.ledger", anchor=tmp_path / "elsewhere.anchor") as ledger:
        fill(ledger, range(1, 5))
    shutil.copytree(folder, tmp_path / "backup")
    with Ledger.open(folder / "a.ledger") as ledger:
        fill(ledger, range(5, 9))
    shutil.rmtree(folder)
    shutil.copytree(tmp_path / "backup", folder)
    with pytest.raises(LedgerDamaged) as found:
        Ledger.open(folder / "a.ledger")
    assert found.value.entry == 5


def test_e11_an_old_copy_put_in_place_of_an_open_ledger_is_noticed_by_who_has_it_open(
    tmp_path: Path, payer: Payer
) -> None:
    path = tmp_path / "a.ledger"
    with payer.create(path) as ledger:
        payer.fill(ledger, range(1, 4))
    shutil.copy(path, tmp_path / "old")
    payer.fill(ledger, range(4, 6))
    (tmp_path / "old").replace(path)
    with pytest.raises(LedgerDamaged, match="replaced while it was open"):
        payer.charge(ledger, "into nowhere")
    ledger.close()
    # The log was not replaced, and holds what the old copy lacks.
    assert payer.charge(ledger, "none is lost").number == payer.entries_before + 6 == ledger.verify()


def test_e11_a_log_deleted_under_an_open_ledger_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    ledger = Ledger.create(path)
    fill(ledger, range(1, 4))
    (tmp_path / "a.ledger-wal").unlink()
    with pytest.raises(LedgerDamaged, match="replaced while it was open"):
        ledger.charge(PureDP("1/100"), reason="into nowhere")
    ledger.close()
    detected: list[object] = []
    try:
        assert Ledger.open(path).verify() == 3
    except LedgerDamaged as found:
        detected.append(found.entry)
    assert detected in ([], [1], [None])


def test_a_ledger_that_was_moved_away_after_it_was_closed_is_not_charged(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    ledger = Ledger.create(path)
    ledger.close()
    path.rename(tmp_path / "b.ledger")
    with pytest.raises(LedgerUnavailable, match="its files could not be opened"):
        ledger.charge(PureDP("1/2"), reason="a")
    assert not path.exists()


def test_e11_two_copies_cannot_both_be_charged(tmp_path: Path) -> None:
    paths = [tmp_path / "one.ledger", tmp_path / "two.ledger"]
    with Ledger.create(paths[0], anchor=tmp_path / "anchor") as ledger:
        fill(ledger, range(1, 4))
    shutil.copy(paths[0], paths[1])
    one, two = Ledger.open(paths[0]), Ledger.open(paths[1])
    one.charge(PureDP("1/100"), reason="here")
    with pytest.raises(LedgerDamaged):
        two.charge(PureDP("1/100"), reason="there")


def test_a_ledger_ahead_of_its_anchor_is_healthy(tmp_path: Path) -> None:
    path, anchor = tmp_path / "a.ledger", tmp_path / "a.ledger.anchor"
    with Ledger.create(path) as ledger:
        fill(ledger, range(1, 4))
        old = anchor.read_bytes()
        fill(ledger, range(4, 8))
    anchor.write_bytes(old)
    again = Ledger.open(path)
    assert again.charge(PureDP("1/100"), reason="a").number == 8 == again.verify()
    assert b"entries 00000000000000000008 " in anchor.read_bytes()


def test_the_anchor_of_another_ledger_is_refused(tmp_path: Path) -> None:
    for name, budget in (("a.ledger", 1), ("b.ledger", 2)):
        Ledger.create(tmp_path / name, budget=PureDP(budget)).close()
    shutil.copy(tmp_path / "a.ledger.anchor", tmp_path / "b.ledger.anchor")
    with pytest.raises(LedgerDamaged) as found:
        Ledger.open(tmp_path / "b.ledger")
    assert found.value.entry == 0


def test_e11_without_its_anchor_a_ledger_with_entries_is_refused_until_a_user_vouches(
    tmp_path: Path,
) -> None:
    path, anchor = tmp_path / "a.ledger", tmp_path / "a.ledger.anchor"
    with Ledger.create(path) as ledger:
        fill(ledger, range(1, 4))
    anchor.unlink()
    with pytest.raises(LedgerDamaged, match=r"call Ledger\.vouch"):
        ledger.charge(PureDP("1/100"), reason="a")
    with pytest.raises(LedgerDamaged, match=r"call Ledger\.vouch"):
        Ledger.open(path)
    assert Ledger.vouch(path).verify() == 3
    assert Ledger.open(path).charge(PureDP("1/100"), reason="a").number == 4
    with pytest.raises(InvalidParameter, match="the anchor must be a new file"):
        Ledger.vouch(path)


def test_a_moved_anchor_is_found_where_open_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    with Ledger.create(path, anchor=tmp_path / "here") as ledger:
        fill(ledger, range(1, 4))
    (tmp_path / "here").rename(tmp_path / "there")
    with pytest.raises(LedgerDamaged, match="is gone"):
        Ledger.open(path)
    assert Ledger.open(path, anchor=tmp_path / "there").verify() == 3


@pytest.fixture
def put_back(tmp_path: Path) -> Path:
    """A ledger put back to its empty state, beside an anchor that knows of three entries."""
    path = tmp_path / "a.ledger"
    with Ledger.create(path):
        shutil.copy(tmp_path / "a.ledger.anchor", tmp_path / "old.anchor")
    empty = path.read_bytes()
    with Ledger.open(path) as ledger:
        fill(ledger, range(1, 4))
    path.write_bytes(empty)
    return path


@pytest.mark.parametrize("name", ["new.anchor", "old.anchor"])
def test_e11_no_other_anchor_hides_what_the_companion_knows(put_back: Path, name: str) -> None:
    other = put_back.with_name(name)
    there = other.exists()
    with pytest.raises(LedgerDamaged) as found:
        Ledger.open(put_back, anchor=other)
    assert found.value.entry == 1
    assert other.exists() == there


def test_e11_no_user_can_vouch_against_the_companion(put_back: Path) -> None:
    with pytest.raises(LedgerDamaged, match="entry 1 is missing"):
        Ledger.vouch(put_back, anchor=put_back.with_name("new.anchor"))
    assert not put_back.with_name("new.anchor").exists()


def test_e11_no_other_anchor_hides_what_the_anchor_of_the_header_knows(tmp_path: Path) -> None:
    path, safe = tmp_path / "a.ledger", tmp_path / "safe.anchor"
    with Ledger.create(path, anchor=safe):
        shutil.copy(safe, tmp_path / "old.anchor")
    empty = path.read_bytes()
    with Ledger.open(path) as ledger:
        fill(ledger, range(1, 4))
    path.write_bytes(empty)
    for name in ("old.anchor", "new.anchor", "a.ledger.anchor"):
        for way in (Ledger.open, Ledger.vouch):
            with pytest.raises((LedgerDamaged, InvalidParameter)):
                way(path, anchor=tmp_path / name)
    assert not (tmp_path / "new.anchor").exists()


def test_e11_another_ledger_with_an_anchor_of_its_own_does_not_take_the_place_of_one_that_is_known(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.ledger"
    with Ledger.create(path) as ledger:
        fill(ledger, range(1, 4))
    Ledger.create(tmp_path / "fresh", anchor=tmp_path / "fresh.chosen").close()
    shutil.copy(tmp_path / "fresh", path)
    with pytest.raises(LedgerDamaged) as found:
        Ledger.open(path)
    assert found.value.entry == 0


def test_e11_an_anchor_that_is_named_and_not_there_is_not_made(tmp_path: Path) -> None:
    Ledger.create(tmp_path / "a.ledger").close()
    with pytest.raises(LedgerDamaged, match=r"call Ledger\.vouch"):
        Ledger.open(tmp_path / "a.ledger", anchor=tmp_path / "typo.anchor")
    assert not (tmp_path / "typo.anchor").exists()


def test_an_anchor_copied_elsewhere_may_leave_an_older_one_behind(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    with Ledger.create(path) as ledger:
        fill(ledger, range(1, 4))
    shutil.copy(tmp_path / "a.ledger.anchor", tmp_path / "there")
    with Ledger.open(path, anchor=tmp_path / "there") as ledger:
        fill(ledger, range(4, 6))
    assert Ledger.open(path, anchor=tmp_path / "there").verify() == 5


def test_e8_a_lost_ledger_is_not_replaced_by_a_fresh_one(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    with Ledger.create(path) as ledger:
        fill(ledger, range(1, 4))
    path.unlink()
    with pytest.raises(LedgerDamaged, match="is gone, but its anchor is there"):
        Ledger.open(path)
    for anchor in (None, tmp_path / "other.anchor"):
        with pytest.raises(InvalidParameter, match="the anchor must be a new file"):
            Ledger.create(path, anchor=anchor)


def test_a_crash_between_the_making_of_ledger_and_anchor_is_harmless(tmp_path: Path) -> None:
    path, anchor = tmp_path / "a.ledger", tmp_path / "a.ledger.anchor"
    Ledger.create(path).close()
    anchor.unlink()
    assert Ledger.open(path).verify() == 0
    assert anchor.exists()


@pytest.mark.parametrize("content", [b"", b"no database", b"x" * 10_000])
def test_a_file_that_is_no_ledger_is_refused_and_kept(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.ledger"
    path.write_bytes(content)
    with pytest.raises(LedgerDamaged, match="is no ledger, or a damaged one"):
        Ledger.open(path)
    with pytest.raises(InvalidParameter, match=r"Open it: Ledger\.open"):
        Ledger.create(path)
    assert path.read_bytes() == content


def test_what_a_killed_creation_leaves_is_refused_with_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    path.touch()
    with pytest.raises(LedgerDamaged, match=r"It is empty: .* remove it and make it again"):
        Ledger.open(path)
    path.unlink()
    Ledger.create(path).close()
    path.write_bytes(b"")
    with pytest.raises(LedgerDamaged) as found:  # its anchor knows it: it was cut, and is not to be removed
        Ledger.open(path)
    assert "remove it" not in str(found.value)


def test_another_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE songs (title TEXT)")
    connection.close()
    with pytest.raises(LedgerDamaged, match="is no ledger, or a damaged one"):
        Ledger.open(path)


def test_the_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        ledger = Ledger.create(tmp_path / "a.ledger")
        ledger.charge(PureDP("1/2"), reason="a")
        modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir() if path.is_file()}
    finally:
        os.umask(before)
    assert set(modes) == {"a.ledger", "a.ledger-wal", "a.ledger-shm", "a.ledger.anchor"}
    assert set(modes.values()) == {0o600}


@pytest.mark.parametrize(
    "place",
    ["", ":memory:", "mysql://host/db", "sqlite:///a", "no/such/folder/a.ledger", ".", 5, b"a", "a\0b"],
)
def test_a_place_that_is_neither_path_nor_url_is_refused(place: str) -> None:
    for act in (Ledger.create, Ledger.open):
        with pytest.raises(InvalidParameter, match=r"^the ledger must be .* Write a path such as"):
            act(place)


def test_a_url_with_a_password_is_not_shown() -> None:
    with pytest.raises(InvalidParameter) as refused:
        Ledger.open("mysql://user:secret@host/db")
    assert "secret" not in str(refused.value)


def test_the_anchor_must_be_a_file_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    for name in ("taken", "a.ledger"):
        with pytest.raises(InvalidParameter, match="the anchor must be a new file"):
            Ledger.create(tmp_path / "a.ledger", anchor=tmp_path / name)
    assert not (tmp_path / "a.ledger").exists()


def test_a_network_file_system_is_recognised() -> None:
    table = "/dev/sda / ext4 rw 0 0\nserver:/x /data nfs4 rw 0 0\n/dev/sdb /data/local ext4 rw 0 0\n"
    table += "server:/y /with\\040space cifs rw 0 0\n\n"
    assert file_system(Path("/data/a.ledger"), table) == "nfs4"
    assert file_system(Path("/data/local/a.ledger"), table) == "ext4"
    assert file_system(Path("/with space/a.ledger"), table) == "cifs"
    assert file_system(Path("/database/a.ledger"), table) == "ext4"
    assert file_system(Path("/database/a.ledger"), "") not in NETWORK_FILE_SYSTEMS


def test_a_ledger_on_a_network_file_system_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpselect.ledger.locations.mounts", lambda: f"server:/x {tmp_path} nfs rw 0 0")
    with pytest.raises(InvalidParameter, match=r"must lie on a local disk; .* is on nfs"):
        Ledger.create(tmp_path / "a.ledger")


# ---- disks ----------------------------------------------------------------------------------------------


def charge_until_refused(ledger: Ledger, payer: Payer) -> int:
    """Charge as long as it goes; give the number of charges that were acknowledged."""
    for number in range(100_000):
        try:
            payer.charge(ledger, "x" * 500)
        except LedgerUnavailable:
            return number
    raise AssertionError


def a_thousand_times_as_much(ledger: Ledger, payer: Payer) -> None:
    """Let the budget and the share outlast the disk."""
    ledger.change_budget(payer.price * 1000, reason="more")
    if payer.account is not None:
        ledger.change_share(payer.account, payer.price * 1000, reason="more")


@pytest.mark.parametrize("who", SMALL)
def test_a_full_disk_refuses_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    path, payer = tmp_path / "a.ledger", SMALL[who]
    with payer.create(path) as made:
        a_thousand_times_as_much(made, payer)
        before = made.verify()
    connect: Any = sqlite3.connect

    def on_a_small_disk(*arguments: object, **options: object) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **options)
        connection.execute("PRAGMA max_page_count = 40")
        return connection

    with monkeypatch.context() as disk:
        disk.setattr(sqlite3, "connect", on_a_small_disk)
        ledger = Ledger.open(path)
        charged = charge_until_refused(ledger, payer)
        with pytest.raises(LedgerUnavailable, match="the disk is full"):
            payer.charge(ledger, "x" * 500)
        assert ledger.spent == payer.price * charged
        assert ledger.verify() - before == charged > 10
        ledger.close()
    assert payer.charge(ledger, "after").number == before + charged + 1 == ledger.verify()


IN_A_SMALL_PLACE = """
import os, resource, sys
from dpselect import Ledger
from tests.ledger.payers import SMALL
from tests.ledger.test_files import charge_until_refused
ledger = Ledger.open(sys.argv[1])
before = ledger.verify()
size = 300_000
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
print(charge_until_refused(ledger, SMALL[sys.argv[2]]), ledger.verify() - before)
"""


def run_in_checkout(script: str, *arguments: object) -> list[str]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    done = subprocess.run(
        command, cwd=Path(__file__).parents[2], check=False, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("who", SMALL)
def test_a_limit_on_the_size_of_files_refuses_and_loses_nothing(tmp_path: Path, who: str) -> None:
    payer = SMALL[who]
    ledger = payer.create(tmp_path / "a.ledger")
    a_thousand_times_as_much(ledger, payer)
    ledger.close()
    charged, verified = map(int, run_in_checkout(IN_A_SMALL_PLACE, tmp_path / "a.ledger", who))
    assert charged == verified > 10
    assert ledger.verify() >= charged
    assert payer.charge(ledger, "after").number == ledger.verify()


AS_UNPRIVILEGED_USER = """
import os, sys
from pathlib import Path
from dpselect import Ledger, PureDP
from dpselect.errors import DpselectError
path = Path(sys.argv[1])
Ledger.open(path).close()  # imports everything
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
said = []
for act in (lambda: Ledger.open(path).spent, lambda: Ledger.open(path).charge(PureDP("1/10"), reason="a")):
    try:
        said.append(str(act()).replace(" ", "_"))
    except DpselectError as problem:
        said.append(type(problem).__name__)
print(*said)
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter."""
    folder = Path(tempfile.mkdtemp(prefix="dpselect-"))
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("folder_mode", "file_mode", "anchor_mode"),
    [
        (0o555, 0o444, 0o444),
        (0o777, 0o444, 0o444),
        (0o777, 0o666, 0o444),
        (0o777, 0o444, 0o666),
        (0o777, 0, 0o666),
    ],
)
def test_a_read_only_ledger_is_not_charged(
    open_folder: Path, folder_mode: int, file_mode: int, anchor_mode: int
) -> None:
    ledger = Ledger.create(open_folder / "a.ledger")
    ledger.charge(PureDP("1/2"), reason="before")
    ledger.close()
    (open_folder / "a.ledger").chmod(file_mode)
    (open_folder / "a.ledger.anchor").chmod(anchor_mode)
    open_folder.chmod(folder_mode)
    looked, charged = run_in_checkout(AS_UNPRIVILEGED_USER, open_folder / "a.ledger")
    assert looked in {"epsilon_0.5", "LedgerUnavailable"}
    assert charged == "LedgerUnavailable"
    open_folder.chmod(0o755)
    (open_folder / "a.ledger").chmod(0o644)
    assert (ledger.verify(), ledger.spent) == (1, PureDP("1/2"))


def test_others_who_never_finish_are_waited_for_and_then_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpselect.ledger.sqlite_files.WRITER_TIMEOUT_SECONDS", 0.2)
    ledger = Ledger.create(tmp_path / "a.ledger")
    other = sqlite3.connect(tmp_path / "a.ledger", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerUnavailable, match="others kept it busy"):
        ledger.charge(PureDP("1/2"), reason="a")
    assert ledger.spent == PureDP(0)
    other.close()
    assert ledger.charge(PureDP("1/2"), reason="a").number == 1


def test_to_ask_what_a_ledger_affords_leaves_every_byte_of_its_files(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    with Ledger.create(path, budget=PureDP(1)) as ledger:
        ledger.charge(PureDP("1/2"), reason="before")

    def contents() -> dict[str, bytes]:
        return {file.name: file.read_bytes() for file in tmp_path.glob("a.ledger*")}

    closed = contents()
    assert sorted(closed) == ["a.ledger", "a.ledger.anchor"]
    with Ledger.open(path) as ledger:
        assert [ledger.affords(PureDP(amount)) for amount in ("1/2", "1/2", "2/3")] == [True, True, False]
        assert {name: contents()[name] for name in closed} == closed
        assert contents().get("a.ledger-wal", b"") == b""
    assert contents() == closed
