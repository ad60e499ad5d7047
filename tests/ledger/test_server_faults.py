"""Faults of a server, each for four payers at once: killed, full, damaged, put back to an old copy.

One server holds four ledgers, so a fault of the server is a fault of all. Its durability is PostgreSQL's own;
these tests hold what becomes of a ledger when the server keeps its promise, and when it breaks it.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest

from dpselect import AlreadyCharged, Ledger, LedgerDamaged, LedgerUnavailable
from tests.ledger.conftest import new_schema
from tests.ledger.payers import PAYERS, SMALL, Payer
from tests.ledger.places import TABLES, Place
from tests.ledger.shims import compiled
from tests.ledger.swallowing_proxy import SwallowingProxy
from tests.servers.postgres import Server, running

CHARGES = 12


class Office(NamedTuple):
    """A ledger, who charges it, and where it is."""

    payer: Payer
    place: Place
    ledger: Ledger


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that no other test needs, with a disk that can be full."""
    with running(compiled("full_disk", tmp_path_factory.mktemp("shim"))) as server:
        yield server


@pytest.fixture
def offices(server: Server) -> Iterator[list[Office]]:
    """Four ledgers, each with an answer and a dozen charges."""
    made = []
    for payer in SMALL.values():
        place = new_schema(server)
        ledger = payer.create(place.url, 100_000)
        payer.fill(ledger, range(1, CHARGES + 1))
        made.append(Office(payer, place, ledger))
    yield made
    for each in made:
        each.ledger.close()


def must_go_on(office: Office, charged: range) -> None:
    """Whether all is there, nothing twice, and the next charge goes through."""
    payer, _, ledger = office
    entries = ledger.verify()
    assert entries - payer.entries_before in charged
    assert payer.spent_alone(ledger) == payer.price * (entries - payer.entries_before)
    assert payer.charge(ledger, "after").number == entries + 1
    with Ledger.open(office.place.url) as again:
        assert again.verify() == entries + 1


# ---- killed ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("losing", ["the request", "the answer"])
def test_e4_a_server_killed_between_commit_and_acknowledgement_keeps_the_charge_once(
    server: Server, offices: list[Office], losing: str
) -> None:
    proxy = SwallowingProxy(server.port)
    through = [
        Ledger.open(office.place.url.replace(f":{server.port}/", f":{proxy.port}/")) for office in offices
    ]
    said: list[str] = []

    def charge(office: Office, ledger: Ledger) -> None:
        try:
            office.payer.charge(ledger, "lost", "lost")
        except LedgerUnavailable as refused:
            said.append(str(refused))

    threads = [threading.Thread(target=charge, args=pair) for pair in zip(offices, through, strict=True)]
    proxy.losing = losing
    for thread in threads:
        thread.start()
    for _ in threads:
        assert proxy.lost.acquire(timeout=30), "no commit was lost"
    server.kill()
    proxy.hang_up()
    for thread in threads:
        thread.join()
    server.start()
    assert len(said) == len(offices)
    assert all("could not be used" in sentence and "Release nothing" in sentence for sentence in said)
    for office in offices:
        if losing == "the answer":
            with pytest.raises(AlreadyCharged):
                office.payer.charge(office.ledger, "lost", "lost")
        else:
            office.payer.charge(office.ledger, "lost", "lost")
        must_go_on(office, range(CHARGES + 1, CHARGES + 2))


# ---- full ------------------------------------------------------------------------------------------------


def charged_until_refused(office: Office) -> tuple[int, str]:
    for number in range(1_000):
        try:
            office.payer.charge(office.ledger, "x" * 1_000)
        except LedgerUnavailable as refused:
            return number, str(refused)
    raise AssertionError


def test_a_full_disk_of_a_server_refuses_and_loses_nothing(server: Server, offices: list[Office]) -> None:
    flag = server.folder / "full-tables"
    flag.touch()
    try:
        found = [charged_until_refused(office) for office in offices]
    finally:
        flag.unlink()
    for office, (charged, refusal) in zip(offices, found, strict=True):
        assert "PostgreSQL says 53100. Release nothing; mend it and try again." in refusal
        must_go_on(office, range(CHARGES + charged, CHARGES + charged + 1))


def test_a_server_that_cannot_write_its_log_acknowledges_nothing(
    server: Server, offices: list[Office]
) -> None:
    """PostgreSQL stops itself then, and recovers once there is room."""
    flag = server.folder / "full-log"
    flag.touch()
    try:
        for office in offices:
            with pytest.raises(LedgerUnavailable, match="Release nothing"):
                office.payer.charge(office.ledger, "lost")
    finally:
        flag.unlink()
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            psycopg.connect(server.url()).close()
            break
        except psycopg.OperationalError:
            time.sleep(0.05)
    else:
        server.start()
    for office in offices:
        must_go_on(office, range(CHARGES, CHARGES + 2))


# ---- put back --------------------------------------------------------------------------------------------


def test_e11_an_old_copy_of_a_server_is_detected_and_the_first_missing_entry_named(
    server: Server, offices: list[Office]
) -> None:
    data, old = server.folder / "data", server.folder / "old"
    server.stop()
    shutil.copytree(data, old)
    keep_owners(data, old)
    server.start()
    for office in offices:
        office.payer.charge(office.ledger, "not in the copy")
        office.ledger.close()
    server.stop()
    shutil.rmtree(data)
    old.rename(data)
    server.start()
    for payer, place, ledger in offices:
        missing = payer.entries_before + CHARGES + 1
        for use in (lambda url=place.url: Ledger.open(url), ledger.verify, lambda each=ledger: each.spent):
            with pytest.raises(LedgerDamaged, match=f"entry {missing} is missing") as found:
                use()
            assert found.value.entry == missing
        with pytest.raises(LedgerDamaged, match=f"entry {missing} is missing"):
            payer.charge(ledger, "into nowhere")


def keep_owners(like: Path, folder: Path) -> None:
    """Give a copy to the user who owns the original."""
    owner = like.stat()
    for each in (folder, *folder.rglob("*")):
        shutil.chown(each, owner.st_uid, owner.st_gid)
    folder.chmod(0o700)


# ---- flipped ---------------------------------------------------------------------------------------------


def flips(place: Place) -> Iterator[tuple[str, str]]:
    """Give statements that flip one bit of a stored value, each with the one that puts the value back."""
    for table in TABLES:
        columns = place.execute(
            f"SELECT attname::text FROM pg_attribute WHERE attrelid = '{table}'::regclass AND attnum > 0 "
            "ORDER BY attnum"
        )
        for row in place.execute(f"SELECT * FROM {table} ORDER BY 1"):
            key = f"WHERE {columns[0][0]} = {row[0]}"
            for (column,), value in zip(columns, row, strict=True):
                if isinstance(value, str):
                    bit = 0x40 if column == "request_id" else 1  # no two requests become the same
                    for at in range(len(value)):
                        other = f"{value[:at]}{chr(ord(value[at]) ^ bit)}{value[at + 1 :]}"
                        yield (
                            f"UPDATE {table} SET {column} = {quoted(other)} {key}",
                            f"UPDATE {table} SET {column} = {quoted(value)} {key}",
                        )


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def detected(place: Place) -> bool:
    try:
        Ledger.open(place.url).close()
    except LedgerDamaged:
        return True
    return False


@pytest.mark.parametrize("every", [89, pytest.param(5, marks=pytest.mark.slow)])
def test_e10_a_bit_flipped_in_what_a_server_stores_is_detected(offices: list[Office], every: int) -> None:
    for number, (_, place, ledger) in enumerate(offices):
        ledger.close()
        tried = 0
        for flip, back in list(flips(place))[every * number // len(offices) :: every]:
            place.force(flip)
            assert detected(place), flip
            place.force(back)
            tried += 1
        assert tried > 15
        assert not detected(place)


@pytest.mark.parametrize("every", [2711, pytest.param(101, marks=pytest.mark.slow)])
def test_e10_bytes_flipped_in_the_files_of_a_server_are_detected_or_harmless(
    server: Server, offices: list[Office], every: int
) -> None:
    reports = [office.payer.report(office.ledger) for office in offices]
    paths = [file_of(office.place, table, server) for office in offices for table in TABLES]
    for office in offices:
        office.ledger.close()
    server.stop()
    whole = {path: path.read_bytes() for path in paths}
    verdicts: list[bool] = []
    # Each restart tries one byte in every table of every ledger.
    for at in range(40, 8192, every):
        for path, content in whole.items():
            place = len(content) - 8192 + at
            path.write_bytes(content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :])
        server.start()
        for office, report in zip(offices, reports, strict=True):
            try:
                with Ledger.open(office.place.url) as ledger:
                    assert office.payer.report(ledger) == report
                verdicts.append(False)
            except (LedgerDamaged, LedgerUnavailable):
                verdicts.append(True)
        server.kill()  # a damaged page may keep it from stopping
        for path, content in whole.items():
            path.write_bytes(content)
    server.start()
    assert verdicts.count(True) > len(verdicts) // 10
    for office in offices:
        must_go_on(office, range(CHARGES, CHARGES + 1))


def file_of(place: Place, table: str, server: Server) -> Path:
    ((path,),) = place.execute(f"SELECT pg_relation_filepath('{table}')")
    return server.folder / "data" / str(path)


def test_the_four_payers_differ_in_account_and_in_parts() -> None:
    kinds = {(each.account is None, len(each.price.parts())) for each in PAYERS.values()}
    assert len(kinds) == len(PAYERS) == 4
