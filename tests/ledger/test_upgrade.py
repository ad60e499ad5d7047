"""dpselect.ledger.upgrade: an old ledger is copied whole, or not at all."""

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest

from dpselect import ZCDP, Ledger, LedgerDamaged, PureDP, convert
from dpselect.errors import InvalidParameter
from dpselect.ledger import upgrade
from dpselect.ledger.anchor import AnchorState, create_anchor
from dpselect.ledger.database import FORMAT_1
from dpselect.ledger.entries import Position, answer_digest, record_digest
from dpselect.ledger.sqlite import APPLICATION_ID
from dpselect.ledger.sqlite_schema import SQLITE_SCHEMAS
from dpselect.ledger.upgrade import UNFINISHED
from tests.ledger.stored_format import FORMAT_2
from tests.ledger.stored_format_1 import STORED, ask

HALF = PureDP("1/2")
TIME = "2026-05-01T12:0{}Z"
QUESTION = "approval_voting, 1 of 3, epsilon 1/4, {}, question " + "0" * 64


def format_1(path: Path, reasons: list[str], *, anchor: bool = True) -> Path:
    """Write a ledger as the code of format 1 did: a header without neighbours, and the rest as later."""
    columns = (1, "PureDP", "2", "orders", None, None, TIME.format(0))
    head = entries = answers = record_digest("header", "", columns)
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.execute("PRAGMA journal_mode = WAL")
        file.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        for statement in SQLITE_SCHEMAS[FORMAT_1]:
            file.execute(statement)
        file.execute("INSERT INTO dpselect_header VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*columns, head))
        for number, reason in enumerate(reasons, start=1):
            row = (
                number,
                "1/4",
                str(PureDP("1/4").amount * number),
                reason,
                f"r{number}",
                TIME.format(number),
            )
            entries = record_digest("entry", entries, row)
            file.execute("INSERT INTO dpselect_entries VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, entries))
        if reasons:
            answers = answer_digest((1, 1, "tea"), head, _digest(file, 1))
            file.execute("INSERT INTO dpselect_answers VALUES (?, ?, ?, ?)", (1, 1, "tea", answers))
    if anchor:
        known = Position(len(reasons), entries), Position(int(bool(reasons)), answers)
        create_anchor(Path(f"{path}.anchor"), AnchorState(head, *known))
    return path


def _digest(file: sqlite3.Connection, number: int) -> str:
    ((digest,),) = file.execute("SELECT digest FROM dpselect_entries WHERE number = ?", (number,))
    return str(digest)


def test_format_1_is_refused_and_its_copy_is_whole(tmp_path: Path) -> None:
    old = format_1(tmp_path / "old.ledger", [QUESTION.format("change_one")] * 3)
    with pytest.raises(LedgerDamaged, match=r"format 1, .* dpselect ledger upgrade OLD NEW"):
        Ledger.open(old)
    with upgrade(old, tmp_path / "new.ledger") as new:
        assert (new.neighbours, new.budget, new.spent) == ("change_one", PureDP(2), PureDP("3/4"))
        assert (new.dataset, new.verify(), new.answer("r1"), new.answer("r2")) == ("orders", 3, "tea", None)
        assert [entry.time.minute for entry in new.entries()] == [1, 2, 3]
        assert next(new.entries()).time == datetime(2026, 5, 1, 12, 1, tzinfo=UTC)
        new.open_account("ada", share=PureDP(1))
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        *("new.ledger", "new.ledger.anchor", "old.ledger", "old.ledger.anchor"),
    ]


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """Copies of ledgers that the code of format 1 wrote, each with its anchor."""
    return Path(shutil.copytree(STORED, tmp_path / "stored"))


def test_what_the_code_of_format_1_wrote_is_copied_and_answers_the_same_request(stored: Path) -> None:
    with pytest.raises(LedgerDamaged, match=r"format 1, .* dpselect ledger upgrade OLD NEW"):
        Ledger.open(stored / "asked.ledger")
    with upgrade(stored / "asked.ledger", stored / "new.ledger") as new:
        assert (new.neighbours, new.budget, new.dataset) == ("change_one", PureDP("7/3"), "orders · 茶")
        assert (new.verify(), new.spent) == (2, PureDP(Fraction(1, 4) + Fraction(1, 9)))
        assert '"labels": ["coffee"]' in ask(new, epsilon="1/4", request_id="r1")
        assert new.verify() == 2
    with closing(sqlite3.connect(stored / "asked.ledger")) as old:
        assert old.execute("SELECT version FROM dpselect_header").fetchall() == [(1,)]


def test_what_the_code_of_format_1_charged_by_hand_is_copied_once_the_neighbours_are_told(
    stored: Path,
) -> None:
    with pytest.raises(InvalidParameter, match="neighbours must be given"):
        upgrade(stored / "by_hand.ledger", stored / "new.ledger")
    with upgrade(stored / "by_hand.ledger", stored / "new.ledger", neighbours="add_remove") as new:
        assert (new.verify(), new.unit, new.answer("r·2")) == (2, "customer", '["tea",\n"pie"] · 茶')
        assert new.spent == ZCDP("1/8") + convert(PureDP("1/3"), ZCDP)


def test_what_the_entries_do_not_say_is_asked_for(tmp_path: Path) -> None:
    for reasons in (["by hand"], [QUESTION.format("add_remove"), "by hand"], []):
        old = format_1(tmp_path / f"old{len(reasons)}.ledger", reasons)
        with pytest.raises(InvalidParameter, match="neighbours must be given"):
            upgrade(old, tmp_path / "new.ledger")
        with upgrade(old, tmp_path / f"new{len(reasons)}.ledger", neighbours="add_remove") as new:
            assert (new.neighbours, new.verify()) == ("add_remove", len(reasons))


def test_e12_charges_of_two_kinds_are_not_copied(tmp_path: Path) -> None:
    old = format_1(tmp_path / "old.ledger", [QUESTION.format(each) for each in ("add_remove", "change_one")])
    for given in (None, "add_remove", "change_one"):
        with pytest.raises(InvalidParameter, match="this one has both"):
            upgrade(old, tmp_path / "new.ledger", neighbours=given)
    other = format_1(tmp_path / "other.ledger", [QUESTION.format("add_remove")])
    with pytest.raises(InvalidParameter, match="what its charges say, 'add_remove'"):
        upgrade(other, tmp_path / "new.ledger", neighbours="change_one")
    assert not (tmp_path / "new.ledger").exists()


def test_e10_a_damaged_old_ledger_is_not_copied(tmp_path: Path) -> None:
    old = format_1(tmp_path / "old.ledger", [QUESTION.format("add_remove")] * 2)
    whole = old.read_bytes()
    old.write_bytes(whole.replace(b"approval_voting, 1 of 3", b"approval_voting, 1 of 4"))
    with pytest.raises(LedgerDamaged):
        upgrade(old, tmp_path / "new.ledger")
    old.write_bytes(whole)
    lost = format_1(tmp_path / "lost.ledger", [QUESTION.format("add_remove")], anchor=False)
    said = (
        r"the anchor '.*lost\.ledger\.anchor' is gone; .* Put it back, or say where it is: anchor=\. If it is"
    )
    with pytest.raises(LedgerDamaged, match=said):
        upgrade(lost, tmp_path / "new.ledger")
    found = (tmp_path / "old.ledger.anchor").rename(tmp_path / "moved.anchor")
    with upgrade(old, tmp_path / "moved.ledger", anchor=found) as new:
        assert new.verify() == 2
    assert not (tmp_path / "new.ledger").exists()


def test_a_copy_is_a_file(tmp_path: Path) -> None:
    old = format_1(tmp_path / "old.ledger", [QUESTION.format("add_remove")])
    said = r"^the new ledger must be at a path; got .*\. Write a path such as 'food.ledger'\.$"
    for url in ("postgresql://user:secret@127.0.0.1/town", "postgres://127.0.0.1/town"):
        with pytest.raises(InvalidParameter, match=said) as refused:
            upgrade(old, url)
        assert "secret" not in str(refused.value)


def test_what_a_killed_copy_left_hinders_no_other(tmp_path: Path) -> None:
    old = format_1(tmp_path / "old.ledger", [QUESTION.format("add_remove")] * 2)
    with Ledger.create(tmp_path / f"new.ledger{UNFINISHED}") as half:
        half.charge(PureDP("1/4"), reason="copied before the kill")
    with upgrade(old, tmp_path / "new.ledger") as new:
        assert (new.verify(), new.spent) == (2, HALF)
    assert not list(tmp_path.glob(f"*{UNFINISHED}*"))


def test_a_kill_between_the_two_names_of_a_copy_is_told(tmp_path: Path) -> None:
    old = format_1(tmp_path / "old.ledger", [QUESTION.format("add_remove")])
    (tmp_path / "new.ledger.anchor").write_bytes(b"of a copy that was killed")
    with pytest.raises(InvalidParameter, match=r"must be a new file; '.*new.ledger.anchor' is there"):
        upgrade(old, tmp_path / "new.ledger")
    assert (tmp_path / "new.ledger.anchor").read_bytes() == b"of a copy that was killed"


COPIED = """
import sys
from dpselect.errors import InvalidParameter
from dpselect.ledger import upgrade
try:
    with upgrade(sys.argv[1], sys.argv[2]) as new:
        print(new.verify())
except InvalidParameter as refused:
    print(refused)
"""


def test_of_two_who_copy_into_the_same_file_one_does(tmp_path: Path) -> None:
    old = format_1(tmp_path / "old.ledger", [QUESTION.format("add_remove")] * 8)
    both = [
        subprocess.Popen(
            [sys.executable, "-c", COPIED, old, tmp_path / "new.ledger"], stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    said = sorted(each.communicate(timeout=120)[0] for each in both)
    assert said[0] == "8\n"
    assert "must be a new file" in said[1]
    with Ledger.open(tmp_path / "new.ledger") as new:
        assert (new.verify(), new.spent) == (8, PureDP(2))
    assert not list(tmp_path.glob(f"*{UNFINISHED}*"))


def test_a_ledger_without_a_place_for_accounts_gets_one(tmp_path: Path) -> None:
    shutil.copytree(FORMAT_2, tmp_path / "old")
    old = tmp_path / "old/zcdp.ledger"
    with (
        Ledger.open(old) as ledger,
        pytest.raises(InvalidParameter, match=r"made before there were accounts, .* dpselect ledger upgrade"),
    ):
        ledger.open_account("ada", share=ledger.budget)
    with upgrade(old, tmp_path / "new.ledger") as new, Ledger.open(old) as ledger:
        assert (new.neighbours, new.spent, new.verify()) == ("change_one", ledger.spent, 3)
        assert [entry.loss for entry in new.entries()] == [entry.loss for entry in ledger.entries()]
        assert new.answer("r1") == ledger.answer("r1") == ""
        new.open_account("ada", share=new.budget)
    with pytest.raises(InvalidParameter, match="of the present format"):
        upgrade(tmp_path / "new.ledger", tmp_path / "newer.ledger")
    with pytest.raises(InvalidParameter, match="must be a new file"):
        upgrade(old, tmp_path / "new.ledger")
