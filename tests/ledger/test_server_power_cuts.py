"""Power cuts on a server: what it wrote is replayed up to acknowledgements, in orders that a disk may choose.

The disk of the server loses its power; the user's anchor lies on another machine and is as it was. The role
asks for commits that do not wait for the disk: the ledger must not let it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest

from dpselect import Ledger, LedgerDamaged
from tests.ledger.disks import HOWS, Op, coins, kept, recorded, written
from tests.ledger.payers import PAYERS
from tests.ledger.shims import compiled
from tests.servers.postgres import SUPERUSER, Server, running

CHARGES = 6
"""Of each payer; in the middle, tables are moved out of the log."""
SETTINGS = ("fsync=on", "wal_writer_delay=10s", "autovacuum=off")
"""Nothing reaches the disk by chance."""
BEFORE = "before"
"""The disk before the first write that was recorded."""
ANCHORS = "state/dpselect/anchors"


class Said(NamedTuple):
    """An acknowledged charge: what the record held by then, and the anchor after it."""

    recorded: int
    entries: dict[int, str]
    anchor: dict[str, bytes]


class Story(NamedTuple):
    """What a server did to its disk, and what the payer of the ledger was told meanwhile."""

    server: Server
    who: str
    ops: list[Op]
    said: list[Said]


@pytest.fixture(
    scope="module", params=["account-delta", pytest.param("curator-delta", marks=pytest.mark.slow)]
)
def story(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    home = tmp_path_factory.mktemp("home")
    with running(compiled("recorder", home)) as server, pytest.MonkeyPatch.context() as environment:
        environment.setenv("XDG_STATE_HOME", str(home / "state"))
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute(f"ALTER ROLE {SUPERUSER} SET synchronous_commit = off".encode())
        server.stop()
        shutil.copytree(server.folder / "data", server.folder / BEFORE)
        server.records.mkdir()
        server.own(server.records)
        server.start(*SETTINGS)
        said = charged(server, request.param, home)
        server.kill()
        ops = list(recorded(server.records / "record", server.folder / "data"))
        shutil.rmtree(server.records)
        yield Story(server, request.param, ops, said)


def charged(server: Server, who: str, home: Path) -> list[Said]:
    """Charge, and write down after each acknowledgement how long the record was."""
    payer, said, entries = PAYERS[who], [], dict[int, str]()
    with payer.create(server.url()) as ledger:
        (anchor,) = home.glob(f"{ANCHORS}/*.anchor")
        for number in range(CHARGES):
            entry = payer.charge(ledger, "a question", f"r{number}")
            entries |= {entry.number: entry.digest}
            length = (server.records / "record").stat().st_size
            said.append(Said(length, dict(entries), {anchor.name: anchor.read_bytes()}))
            if number == CHARGES // 2:
                with psycopg.connect(server.url(), autocommit=True) as connection:
                    connection.execute("CHECKPOINT")
    return said


def cut(story: Story, said: Said, how: str, ops: list[Op], home: Path) -> None:
    """Cut the power at an acknowledgement, and look at what the disk of the server has."""
    server, dice = story.server, coins(f"{said.recorded} {how}")
    shutil.rmtree(server.folder / "data")
    shutil.copytree(server.folder / BEFORE, server.folder / "data")
    disks, gone = written([op for op in ops if op.recorded <= said.recorded], server.folder / BEFORE)
    for name in gone - disks.keys():
        (server.folder / "data" / name).unlink(missing_ok=True)
    for name, disk in disks.items():
        if not name.startswith("postmaster."):
            content = disk.after(kept(disk, how, dice, is_log=name.startswith("pg_wal/")))
            (server.folder / "data" / name).write_bytes(content)
    server.own(server.folder / "data")
    (server.folder / "data").chmod(0o700)
    (home / ANCHORS).mkdir(parents=True, exist_ok=True)
    for name, content in said.anchor.items():
        (home / ANCHORS / name).write_bytes(content)
    server.start()
    try:
        must_be_there(story, said)
    finally:
        server.kill()


def must_be_there(story: Story, said: Said) -> None:
    payer = PAYERS[story.who]
    with Ledger.open(story.server.url()) as ledger:
        digests = {entry.number: entry.digest for entry in ledger.entries()}
        assert said.entries.items() <= digests.items()
        assert ledger.verify() == len(digests)
        assert payer.spent_alone(ledger) == payer.price * (len(digests) - payer.entries_before)
        assert payer.charge(ledger, "it goes on").number == len(digests) + 1


@pytest.mark.parametrize(("which", "how"), [(-1, "nothing"), (CHARGES // 2, "some")])
def test_a_power_cut_of_a_server_loses_no_acknowledged_charge(
    story: Story, which: int, how: str, home: Path
) -> None:
    cut(story, story.said[which], how, story.ops, home)


@pytest.mark.slow
@pytest.mark.parametrize("how", HOWS)
def test_a_power_cut_of_a_server_at_every_acknowledgement_loses_none(
    story: Story, how: str, home: Path
) -> None:
    for said in story.said:
        cut(story, said, how, story.ops, home)


def test_a_server_whose_disk_forgets_what_was_synced_is_found_out(story: Story, home: Path) -> None:
    """The test bites: with the last syncs of the log taken for nothing, an acknowledged charge is lost."""
    early, last = story.said[-2:]
    lying = [
        op
        for op in story.ops
        if not (op.what == "s" and op.name.startswith("pg_wal/") and op.recorded > early.recorded)
    ]
    with pytest.raises(LedgerDamaged):
        cut(story, last, "nothing", lying, home)
