"""What was written once stays readable, and the same acts write the same rows: format 2, as it was first."""

import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpselect import ZCDP, Ledger, LedgerDamaged, PureDP
from dpselect.accounting import convert
from dpselect.ledger.database import PLAIN
from tests.ledger.places import TABLES, Place
from tests.ledger.stored_format import FORMAT_2, WRITERS

CONTENTS = [f"SELECT {', '.join(PLAIN.columns(table))} FROM {table} ORDER BY digest" for table in TABLES]
SETTINGS = ["PRAGMA application_id", "PRAGMA journal_mode"]


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Copies of the ledgers that were written once, each with its anchor."""
    folder = tmp_path / "old"
    shutil.copytree(FORMAT_2, folder)
    return folder


def rows(path: Path, *queries: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection:
        return [connection.execute(query).fetchall() for query in queries]


def test_a_pure_ledger_of_the_first_code_of_format_2_is_read(old: Path) -> None:
    ledger = Ledger.open(old / "pure.ledger")
    assert (ledger.verify(), ledger.budget, ledger.neighbours) == (4, PureDP("7/3"), "add_remove")
    assert (ledger.dataset, ledger.unit) == ("orders 2026", "customer")
    assert (ledger.spent, ledger.remaining) == (PureDP("7/3"), PureDP(0))
    losses = [Fraction(1, 3), Fraction(0), Fraction(1, 10**300), 2 - Fraction(1, 10**300)]
    entries = list(ledger.entries())
    assert [entry.loss for entry in entries] == [PureDP(loss) for loss in losses]
    assert [entry.request_id for entry in entries] == ["2026-05-01/dish", None, "r·2", None]
    assert entries[2].reason == "ten songs · dix chansons · 十首歌"
    assert entries[3].time == datetime(2026, 5, 1, 12, 4, tzinfo=UTC)
    assert ledger.answer("r·2") == '["tea",\n"pie"] · 茶'
    assert ledger.answer("2026-05-01/dish") == '{"labels": ["tea"]}'


def test_a_concentrated_ledger_of_the_first_code_of_format_2_is_read_and_charged_on(old: Path) -> None:
    with Ledger.open(old / "zcdp.ledger") as ledger:
        converted = convert(PureDP("1/2"), ZCDP)
        assert (ledger.verify(), ledger.budget, ledger.neighbours) == (3, ZCDP("1/2"), "change_one")
        losses = [ZCDP("1/8"), converted, ZCDP(Fraction(1, 10**399 + 1))]
        assert [entry.loss for entry in ledger.entries()] == losses
        assert ledger.answer("r1") == ""
        assert (ledger.affords(ZCDP("1/4")), ledger.affords(ZCDP("1/2"))) == (True, False)
        ledger.charge(ZCDP("1/4"), reason="by the code of today")
    again = Ledger.open(old / "zcdp.ledger")
    assert (again.verify(), again.spent) == (4, losses[0] + converted + losses[2] + ZCDP("1/4"))


@pytest.mark.parametrize("name", WRITERS)
def test_the_same_acts_write_the_same_rows_in_every_store(place: Place, old: Path, name: str) -> None:
    WRITERS[name](place.url).close()
    written = [sorted(place.execute(query)) for query in CONTENTS]
    assert written == [sorted(each) for each in rows(old / f"{name}.ledger", *CONTENTS)]


@pytest.mark.parametrize("name", WRITERS)
def test_the_same_acts_write_the_same_settings_and_anchor(tmp_path: Path, old: Path, name: str) -> None:
    new = tmp_path / f"{name}.ledger"
    WRITERS[name](str(new)).close()
    then = old / f"{name}.ledger"
    assert rows(new, *SETTINGS) == rows(then, *SETTINGS)
    assert Path(f"{new}.anchor").read_bytes() == Path(f"{then}.anchor").read_bytes()


def test_a_changed_word_in_a_stored_ledger_is_still_found(old: Path) -> None:
    path = old / "pure.ledger"
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"favourite dish", b"favourite fish"))
    with pytest.raises(LedgerDamaged, match="entry 1 is damaged") as found:
        Ledger.open(path)
    assert found.value.entry == 1
