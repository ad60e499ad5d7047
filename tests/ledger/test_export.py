"""dpselect.ledger.export: an export proves itself, to us and to a checker that knows the page alone."""

import hashlib
import json
import math
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpselect import ApproxDP, Ledger, LedgerDamaged, PureDP
from dpselect.ledger import verify_export
from dpselect.ledger.entries import entry_digest, record_digest
from tests.ledger.places import Place
from tests.ledger.stored_format import FORMAT_2

CHECKER = Path(__file__).parents[2] / "docs/reference/check_export.py"
MILLIONTH = "1e-6"


@pytest.fixture
def ledger(place: Place) -> Ledger:
    """Accounts, answers, names beyond ASCII, a changed budget, two parts."""
    made = Ledger.create(place.url, budget=ApproxDP(2, MILLIONTH), dataset="Wähler · 選挙")
    made.open_account("ada", share=ApproxDP(1, MILLIONTH), reserve=True)
    made.charge(ApproxDP("1/3", MILLIONTH), reason="première", request_id="r", account="ada")
    made.store("r", "tea ☕", account="ada")
    made.charge(PureDP("1/2"), reason="second", request_id="r")
    made.change_budget(ApproxDP(3, MILLIONTH), reason="a second year")
    made.close_account("ada")
    made.charge(PureDP("1/7"), reason="third", request_id="s")
    made.store("s", "pie")
    made.store("r", "soup")
    return made


def written(ledger: Ledger, path: Path, *, answers: bool = False) -> Path:
    path.write_text("".join(ledger.export(answers=answers)), encoding="ascii")
    return path


def checked(path: Path) -> tuple[int, str]:
    """Run the checker of the page, without our package."""
    done = subprocess.run([sys.executable, "-I", CHECKER, path], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@pytest.mark.parametrize("answers", [False, True])
def test_an_export_holds_and_says_what_was_spent(ledger: Ledger, tmp_path: Path, *, answers: bool) -> None:
    path = written(ledger, tmp_path / "a.jsonl", answers=answers)
    found = verify_export(path)
    assert (found.entries, found.answers, found.anchored) == (6, 3, False)
    assert (found.budget, found.spent) == (ledger.budget, ledger.spent)
    head = list(ledger.entries())[-1].digest
    assert checked(path) == (0, f"6 entries; spent 41/42 1/1000000; head {head}\n")
    text = path.read_text(encoding="ascii")
    assert ("pie" in text) is answers
    assert hashlib.sha256(b"pie").hexdigest() in text


def test_the_checker_of_the_page_has_thirty_lines() -> None:
    (body,) = CHECKER.read_text(encoding="utf-8").split("def check")[1:]
    assert len(body.split("\n\n\n")[0].splitlines()) <= 32


def sealed(lines: list[dict[str, Any]]) -> str:
    """Write lines with a last one that fits their bytes."""
    texts = [json.dumps(line, separators=(",", ":")) + "\n" for line in lines]
    last = {**lines[-1], "sha256": hashlib.sha256("".join(texts[:-1]).encode()).hexdigest()}
    return "".join(texts[:-1]) + json.dumps(last, separators=(",", ":")) + "\n"


EDITS: dict[str, Callable[[list[dict[str, Any]]], object]] = {
    "a loss": lambda lines: lines[2].update(loss="1/4 1/1000000"),
    "a reason": lambda lines: lines[4].update(reason="other"),
    "an account": lambda lines: lines[2].update(account=None),
    "a budget": lambda lines: lines[4].update(amount="9 1/1000000"),
    "the header": lambda lines: lines[0].update(neighbours="change_one"),
    "an entry is gone": lambda lines: lines.pop(3),
    "the last entry is gone": lambda lines: lines.pop(6),
    "two entries change places": lambda lines: lines.__setitem__(slice(3, 5), [lines[4], lines[3]]),
    "the count": lambda lines: lines[-1].update(entries=7),
    "the head": lambda lines: lines[-1].update(head="0" * 64),
}


@pytest.mark.parametrize("name", EDITS)
def test_e10_an_edited_export_is_refused_by_us_and_by_the_checker(
    tmp_path: Path, name: str, ledger: Ledger
) -> None:
    path = written(ledger, tmp_path / "a.jsonl", answers=True)
    lines = [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()]
    path.write_text(sealed(lines), encoding="ascii")
    assert verify_export(path).entries == 6
    EDITS[name](lines)
    path.write_text(sealed(lines), encoding="ascii")
    with pytest.raises(LedgerDamaged):
        verify_export(path)
    assert checked(path)[0] == 1


def test_e11_a_shortened_export_is_refused(ledger: Ledger, tmp_path: Path) -> None:
    path = written(ledger, tmp_path / "a.jsonl")
    whole = path.read_bytes()
    ends_of_lines = [place + 1 for place, byte in enumerate(whole[:-1]) if byte == ord("\n")]
    for size in [0, 1, *ends_of_lines, *range(len(whole) - 700, len(whole), 41)]:
        path.write_bytes(whole[:size])
        with pytest.raises(LedgerDamaged):
            verify_export(path)
        if size in ends_of_lines:
            assert checked(path)[0] == 1
    for line in (whole, whole.splitlines(keepends=True)[-1]):
        path.write_bytes(whole + line)
        with pytest.raises(LedgerDamaged):
            verify_export(path)


def test_e10_every_fifth_byte_flipped_is_refused(ledger: Ledger, tmp_path: Path) -> None:
    path = written(ledger, tmp_path / "a.jsonl", answers=True)
    whole = path.read_bytes()
    for place in range(0, len(whole), 5):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(LedgerDamaged):
            verify_export(path)


OTHER_TEXTS: dict[str, Callable[[str], str]] = {
    "a space": lambda line: line.replace(":", ": ", 1),
    "a key twice": lambda line: line.replace('"loss":', '"loss":"0 0","loss":', 1),
    "a character by its number": lambda line: line.replace("open", "\\u006fpen", 1),
    "no line feed": lambda line: line[:-1] + " ",
    "a number that is none": lambda line: line.replace('"entry":1', '"entry":true', 1),
}


@pytest.mark.parametrize("name", OTHER_TEXTS)
def test_e10_a_line_that_another_reader_might_take_for_something_else_is_refused(
    tmp_path: Path, name: str
) -> None:
    with Ledger.create(tmp_path / "a.ledger", budget=ApproxDP(2, MILLIONTH)) as ledger:
        ledger.charge(ApproxDP(1, 0), reason="open", request_id="r")
        ledger.store("r", "tea")
        text = written(ledger, tmp_path / "a.jsonl").read_text(encoding="ascii")
    *lines, last = text.splitlines(keepends=True)
    changed = [OTHER_TEXTS[name](line) if number else line for number, line in enumerate(lines)]
    assert changed != lines
    end = {**json.loads(last), "sha256": hashlib.sha256("".join(changed).encode()).hexdigest()}
    path = tmp_path / "b.jsonl"
    path.write_text("".join(changed) + json.dumps(end, separators=(",", ":")) + "\n", encoding="ascii")
    with pytest.raises(LedgerDamaged):
        verify_export(path)


OF_OTHER_KINDS: dict[tuple[str, str], list[Any]] = {
    ("header", "version"): [2.0],
    ("header", "dataset"): [5, math.nan, {}],
    ("header", "unit"): [5, False],
    ("header", "anchor"): [math.inf, []],
    ("entry", "reason"): [None, 5, math.inf, ["a"]],
    ("entry", "request_id"): [5, False, math.nan],
    ("answer", "digest"): ["tea"],
    ("answer", "sha256"): [None, "A" * 64, 5],
    ("end", "entries"): [1.0, True],
    ("end", "answers"): [1.0],
}


@pytest.mark.parametrize(
    ("record", "key", "value"),
    [(*place, value) for place, values in OF_OTHER_KINDS.items() for value in values],
)
def test_e10_a_value_of_another_kind_is_refused_also_under_digests_that_fit(
    tmp_path: Path, record: str, key: str, value: Any
) -> None:
    with Ledger.create(tmp_path / "a.ledger", dataset="orders") as ledger:
        ledger.charge(PureDP("1/4"), reason="a", request_id="r")
        ledger.store("r", "tea")
        lines = [json.loads(line) for line in ledger.export()]
    forged = tmp_path / "b.jsonl"
    forged.write_text(rechained(lines), encoding="ascii")
    assert verify_export(forged).entries == 1
    next(line for line in lines if line["record"] == record)[key] = value
    forged.write_text(rechained(lines), encoding="ascii")
    with pytest.raises(LedgerDamaged):
        verify_export(forged)


def rechained(lines: list[dict[str, Any]]) -> str:
    """Compute all digests anew; an answer that is withheld keeps its own."""
    header, entry, answer, end = lines
    header["digest"] = record_digest("header", "", list(header.values())[1:-1])
    entry["digest"] = entry_digest(header["digest"], list(entry.values())[1:-1])
    end.update(head=entry["digest"], answers_head=answer["digest"])
    return sealed(lines)


def test_e11_an_anchor_knows_answers_that_an_export_lacks(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "a.ledger") as ledger:
        ledger.charge(PureDP("1/4"), reason="a", request_id="r")
        ledger.charge(PureDP("1/4"), reason="b", request_id="s")
        ledger.store("r", "tea")
        old = written(ledger, tmp_path / "old.jsonl")
        ledger.store("s", "pie")
        new = written(ledger, tmp_path / "new.jsonl")
    anchor = tmp_path / "a.ledger.anchor"
    assert verify_export(new, anchor).anchored
    with pytest.raises(LedgerDamaged, match="answer 2 is missing or changed, which the anchor knows"):
        verify_export(old, anchor)
    lines = [json.loads(line) for line in new.read_text(encoding="ascii").splitlines()]
    lines[4].update(digest="0" * 64)
    lines[5].update(answers_head="0" * 64)
    new.write_text(sealed(lines), encoding="ascii")
    assert verify_export(new).answers == 2  # withheld: its digest cannot be computed anew
    with pytest.raises(LedgerDamaged, match="answer 2 is missing or changed"):
        verify_export(new, anchor)


def test_e11_an_anchor_knows_an_older_export_and_another_ledger(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "a.ledger") as ledger:
        ledger.charge(PureDP("1/4"), reason="a")
        old = written(ledger, tmp_path / "old.jsonl")
        early = shutil.copy(tmp_path / "a.ledger.anchor", tmp_path / "early.anchor")
        ledger.charge(PureDP("1/4"), reason="b")
        new = written(ledger, tmp_path / "new.jsonl")
    late = tmp_path / "a.ledger.anchor"
    assert verify_export(old, early).anchored
    assert verify_export(new, early).anchored
    assert verify_export(new, late).entries == 2
    with pytest.raises(LedgerDamaged, match="entry 2 is missing, which the anchor knows"):
        verify_export(old, late)
    with Ledger.create(tmp_path / "b.ledger", dataset="other") as other:
        other.charge(PureDP("1/4"), reason="a")
        foreign = written(other, tmp_path / "foreign.jsonl")
    with pytest.raises(LedgerDamaged, match="header is not the one"):
        verify_export(foreign, late)


def test_an_anchor_that_is_not_there_is_told_as_one_of_an_export(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "a.ledger") as ledger:
        path = written(ledger, tmp_path / "a.jsonl")
    said = r"the anchor '.*b\.anchor' is not there\. Name its file, or check the export without one\.$"
    with pytest.raises(LedgerDamaged, match=said):
        verify_export(path, tmp_path / "b.anchor")


def test_a_ledger_of_the_first_code_of_format_2_is_exported_as_it_is(tmp_path: Path) -> None:
    shutil.copytree(FORMAT_2, tmp_path / "old")
    with Ledger.open(tmp_path / "old/pure.ledger") as ledger:
        path = written(ledger, tmp_path / "a.jsonl", answers=True)
    assert (verify_export(path).entries, checked(path)[0]) == (4, 0)
