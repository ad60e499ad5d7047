"""Intruders who know the format: they compute digests that fit, and meet the anchor."""

import os
import shutil
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from errno import ENOLCK
from fcntl import LOCK_EX, flock
from operator import methodcaller
from pathlib import Path
from typing import Any

import pytest

from dpselect import Ledger, LedgerDamaged, LedgerUnavailable, PureDP
from dpselect.errors import InvalidParameter
from dpselect.ledger import anchor as anchors
from dpselect.ledger.entries import entry_digest, header_row, new_header
from dpselect.ledger.sqlite import SqliteDatabase
from dpselect.privacy.neighbours import Neighbours
from tests.ledger.places import FileCabinet, Place

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def filled(file_place: Place) -> Ledger:
    """Five entries, the first three of them answered, still open."""
    ledger = Ledger.create(file_place.url, clock=lambda: NOON)
    for number in range(1, 6):
        ledger.charge(PureDP("1/10"), reason=f"reason {number}", request_id=f"r{number}")
    for number in range(1, 4):
        ledger.store(f"r{number}", f"answer {number}")
    ledger.close()
    return ledger


def row_of(place: Place, number: int) -> list[object]:
    return list(place.execute("SELECT * FROM dpselect_entries ORDER BY number")[number - 1])


def rewrite(place: Place, number: int, column: str, value: str) -> None:
    """Change an entry, and compute its digest anew."""
    before = str(row_of(place, number - 1)[-1])
    place.force(f"UPDATE dpselect_entries SET {column} = '{value}' WHERE number = {number}")
    fitting = entry_digest(before, row_of(place, number)[:-1])
    place.force(f"UPDATE dpselect_entries SET digest = '{fitting}' WHERE number = {number}")


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("loss", "abc"),
        ("loss", "1/0"),
        ("loss", "-1/10"),
        ("loss", "1/20"),
        ("total", "9/20"),
        ("total", "3/2"),
        ("time", "never"),
        ("time", "2020-01-01T00:00Z"),
        ("reason", "another"),
    ],
)
def test_e10_a_last_entry_with_a_fitting_digest_is_found(
    file_place: Place, filled: Ledger, column: str, value: str
) -> None:
    rewrite(file_place, 5, column, value)
    for use in (filled.verify, lambda: Ledger.open(file_place.url)):
        with pytest.raises(LedgerDamaged) as found:
            use()
        assert found.value.entry == 5
    with pytest.raises(LedgerDamaged):
        filled.charge(PureDP("1/10"), reason="a")


@pytest.mark.parametrize(("budget", "neighbours"), [(100, "add_remove"), (1, "change_one")])
def test_e10_another_header_under_a_chain_computed_anew_is_found(
    file_place: Place, filled: Ledger, budget: int, neighbours: Neighbours
) -> None:
    header = new_header(
        PureDP(budget), neighbours=neighbours, dataset=None, unit=None, anchor=None, created=NOON
    )
    before = header.digest
    place = file_place
    changed = f"budget = '{budget}', neighbours = '{neighbours}', digest = '{header_row(header)[-1]}'"
    place.force(f"UPDATE dpselect_header SET {changed}")
    for number in range(1, 6):
        before = entry_digest(before, row_of(place, number)[:-1])
        place.force(f"UPDATE dpselect_entries SET digest = '{before}' WHERE number = {number}")
    for use in (filled.verify, lambda: Ledger.open(file_place.url)):
        with pytest.raises(LedgerDamaged) as found:
            use()
        assert found.value.entry == 0


Use = Callable[[Ledger], object]
CHARGE: Use = methodcaller("charge", PureDP("1/10"), reason="a")
STORE: Use = methodcaller("store", "r4", "late")
ANSWER: Use = methodcaller("answer", "r2")
AGAIN: Use = methodcaller("charge", PureDP("1/10"), reason="a", request_id="r3")


@pytest.mark.parametrize(
    ("statement", "use"),
    [
        ("DELETE FROM dpselect_entries WHERE number = 5", CHARGE),
        ("DELETE FROM dpselect_entries WHERE number = 4", CHARGE),
        ("DELETE FROM dpselect_entries", CHARGE),
        ("DELETE FROM dpselect_entries WHERE number = 2", AGAIN),
        ("DELETE FROM dpselect_answers WHERE number = 3", ANSWER),
        ("DELETE FROM dpselect_answers WHERE number = 2", STORE),
        ("DELETE FROM dpselect_answers", STORE),
        ("UPDATE dpselect_answers SET answer = x'00ff' WHERE number = 2", ANSWER),
        ("UPDATE dpselect_answers SET entry = 'two' WHERE number = 3", STORE),
        ("UPDATE dpselect_answers SET entry = 77 WHERE number = 3", STORE),
        ("DELETE FROM dpselect_answers WHERE number = 1", ANSWER),
    ],
)
def test_e10_what_a_charge_or_an_answer_stands_on_is_checked(
    file_place: Place, filled: Ledger, statement: str, use: Use
) -> None:
    file_place.force(statement)
    with pytest.raises(LedgerDamaged):
        use(filled)
    with pytest.raises(LedgerDamaged):
        filled.verify()


def test_e11_an_old_anchor_with_another_chain_is_noticed_by_a_charge(
    file_place: Place, filled: Ledger
) -> None:
    anchor = Path(f"{file_place.url}.anchor")
    old = anchors.read_anchor(anchor)
    anchor.unlink()
    anchors.create_anchor(anchor, old._replace(entries=old.entries._replace(number=2)))
    for use in (CHARGE, STORE):
        with pytest.raises(LedgerDamaged) as found:
            use(filled)
        assert found.value.entry == 2


def test_another_ledger_in_the_place_of_an_open_one_is_noticed(tmp_path: Path, filled: Ledger) -> None:
    other = tmp_path / "other.ledger"
    Ledger.create(other, dataset="other").close()
    shutil.copy(other, tmp_path / "a.ledger")
    with pytest.raises(LedgerDamaged) as found:
        filled.verify()
    assert found.value.entry == 0


def test_another_anchor_in_the_place_of_ours_is_noticed(tmp_path: Path, filled: Ledger) -> None:
    other = tmp_path / "other.ledger"
    Ledger.create(other, dataset="other").close()
    shutil.copy(f"{other}.anchor", tmp_path / "a.ledger.anchor")
    for use in (CHARGE, STORE, lambda ledger: ledger.spent):
        with pytest.raises(LedgerDamaged) as found:
            use(filled)
        assert found.value.entry == 0


def test_an_anchor_damaged_while_the_ledger_is_open_stops_it(tmp_path: Path, filled: Ledger) -> None:
    (tmp_path / "a.ledger.anchor").write_bytes(b"dpselect anchor 1\n")
    for use in (CHARGE, STORE, ANSWER, lambda ledger: ledger.spent):
        with pytest.raises(LedgerDamaged, match=r"the anchor '.*' is damaged"):
            use(filled)


def test_an_anchor_that_cannot_be_read_stops_the_ledger(tmp_path: Path, filled: Ledger) -> None:
    (tmp_path / "a.ledger.anchor").unlink()
    (tmp_path / "a.ledger.anchor").mkdir()
    for use in (CHARGE, ANSWER):
        with pytest.raises(LedgerUnavailable, match=r"the anchor '.*' could not be"):
            use(filled)


def test_an_anchor_that_another_process_keeps_locked_is_waited_for_and_then_named(
    tmp_path: Path, filled: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(anchors, "LOCK_TIMEOUT_SECONDS", 0.1)
    with (tmp_path / "a.ledger.anchor").open() as other:
        flock(other, LOCK_EX)
        with pytest.raises(LedgerUnavailable, match="could not be locked"):
            filled.charge(PureDP("1/10"), reason="a")
        assert filled.spent == PureDP("1/2")
    assert filled.charge(PureDP("1/10"), reason="a").number == 6


def test_an_anchor_that_cannot_be_locked_is_named(filled: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(ENOLCK, "")

    monkeypatch.setattr("fcntl.flock", no_locks)
    with pytest.raises(
        LedgerUnavailable, match=r"could not be locked: No locks available\. Release nothing; mend it"
    ):
        filled.charge(PureDP("1/10"), reason="a")


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_anchor_that_is_forgotten_lets_go_of_its_lock(tmp_path: Path, filled: Ledger) -> None:
    anchors.LockedAnchor(tmp_path / "a.ledger.anchor").__enter__()
    assert filled.charge(PureDP("1/10"), reason="a").number == 6


def test_an_anchor_that_was_never_finished_is_begun_again(tmp_path: Path) -> None:
    (tmp_path / f"anchor.{os.getpid()}-{threading.get_ident()}.new").touch()
    anchors.create_anchor(tmp_path / "anchor", anchors.empty_state("1" * 64))
    assert [each.name for each in tmp_path.iterdir()] == ["anchor"]


def test_an_anchor_that_is_there_is_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "new" / "anchor"
    first, second = anchors.empty_state("1" * 64), anchors.empty_state("2" * 64)
    for state in (first, second):
        anchors.create_anchor(path, state)
    assert anchors.read_anchor(path) == first
    assert [each.name for each in path.parent.iterdir()] == ["anchor"]


def test_a_place_where_no_anchor_can_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(
        LedgerUnavailable, match=r"could not be created: .* Release nothing; mend it and try again"
    ):
        anchors.create_anchor(tmp_path / "file" / "anchor", anchors.empty_state("1" * 64))


def test_anchors_of_servers_are_kept_in_the_state_folder_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    assert anchors.state_folder() == Path("/state/dpselect/anchors")
    monkeypatch.setenv("XDG_STATE_HOME", "relative, so it does not count")
    monkeypatch.setenv("HOME", "/home/ann")
    assert anchors.state_folder() == Path("/home/ann/.local/state/dpselect/anchors")


def test_a_ledger_that_could_not_be_made_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr("dpselect.ledger.sqlite.SQLITE_SCHEMA", ["CREATE NONSENSE"])
        with pytest.raises(LedgerDamaged):
            Ledger.create(tmp_path / "a.ledger")
    assert list(tmp_path.iterdir()) == []
    Ledger.create(tmp_path / "a.ledger").close()


def test_a_new_ledger_that_is_removed_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.ledger"
    ask = SqliteDatabase.rows

    def after_removing(database: SqliteDatabase, query: str, *values: object) -> list[Any]:
        path.unlink(missing_ok=True)
        return ask(database, query, *values)

    monkeypatch.setattr(SqliteDatabase, "rows", after_removing)
    with pytest.raises(LedgerUnavailable, match="could not be opened"):
        Ledger.create(path)
    assert list(tmp_path.iterdir()) == []


def test_e11_an_entry_deleted_before_an_answer_is_stored_is_missed(
    file_place: Place, filled: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    extend = SqliteDatabase.extend

    def after_deleting(database: SqliteDatabase, *how: Any) -> None:
        file_place.force("DELETE FROM dpselect_entries WHERE number = 5")
        extend(database, *how)

    monkeypatch.setattr(SqliteDatabase, "extend", after_deleting)
    with pytest.raises(LedgerDamaged, match="entry 5 is missing"):
        STORE(filled)
    assert file_place.execute("SELECT count(*) FROM dpselect_answers") == [(3,)]


def test_a_ledger_closed_in_the_middle_of_a_charge_is_not_charged(
    filled: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as closing:
        closing.setattr("dpselect.ledger.book.number_of_request", lambda database, *_: database.close())
        with pytest.raises(LedgerUnavailable, match="it was closed meanwhile"):
            filled.charge(PureDP("1/10"), reason="a", request_id="r6")
    assert filled.charge(PureDP("1/10"), reason="a", request_id="r6").number == 6


REBUILT = (
    "CREATE TABLE loose AS SELECT * FROM {table}",
    "DROP TABLE {table}",
    "ALTER TABLE loose RENAME TO {table}",
)


def test_e10_entries_whose_numbers_are_none_are_damage(file_place: Place, filled: Ledger) -> None:
    loose = (statement.format(table="dpselect_entries") for statement in REBUILT)
    file_place.force(*loose, "UPDATE dpselect_entries SET number = 'x' || number WHERE number > 3")
    for use in (CHARGE, STORE):
        with pytest.raises(LedgerDamaged):
            use(filled)


def test_e10_after_the_last_number_that_a_database_has_there_is_no_entry(
    file_place: Place, filled: Ledger
) -> None:
    _, *columns, last = row_of(file_place, 5)
    for number in (2**63 - 2, 2**63 - 1):
        columns[3] = f"r{number}"
        last = entry_digest(str(last), (number, *columns))
        texts = ", ".join("NULL" if column is None else f"'{column}'" for column in (*columns, last))
        file_place.force(f"INSERT INTO dpselect_entries VALUES ({number}, {texts})")
    with pytest.raises(LedgerDamaged):
        CHARGE(filled)


def test_e10_an_answer_to_an_entry_that_cannot_be_is_damage(file_place: Place, filled: Ledger) -> None:
    file_place.force(f"UPDATE dpselect_answers SET entry = {-(2**63)} WHERE number = 3")
    with pytest.raises(LedgerDamaged):
        STORE(filled)


@pytest.mark.parametrize("written", ["''", "NULL", "x''"])
def test_e10_an_answer_that_is_no_text_has_no_digest(file_place: Place, filled: Ledger, written: str) -> None:
    loose = (statement.format(table="dpselect_answers") for statement in REBUILT)
    file_place.force(*loose, f"INSERT INTO dpselect_answers VALUES (4, 4, x'00', {written})")
    for use in (lambda ledger: ledger.answer("r4"), lambda ledger: ledger.store("r5", "a"), Ledger.verify):
        with pytest.raises(LedgerDamaged):
            use(filled)


def test_a_name_too_long_for_the_companions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="a file in a folder that is there"):
        Ledger.create(FileCabinet(tmp_path / ("x" * 201)).url)
