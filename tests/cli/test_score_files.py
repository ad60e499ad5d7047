"""Files of scores: opened after the charge; what they hold is told neither by words nor by exit codes."""

from __future__ import annotations

import builtins
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.commands import Call, Outcome

CANARIES = ("31337", "17171", "50505")
LINE = "--candidates tea,soup,pie --sensitivity 1 --epsilon 1/100"
CONSTANT = "the file of scores must hold one number for each candidate"
FILES = {
    "a list": ("s.json", "[31337, 17171, 50505]\n"),
    "an object": ("s.json", '{"tea": 31337, "soup": 17171, "pie": 50505}\n'),
    "a row without header": ("s.csv", "31337,17171,50505\n"),
    "rows without header": ("s.csv", "tea,31337\nsoup,17171\npie,50505\n"),
    "text": ("s.txt", "31337\n17171\n50505\n"),
    "tabs": ("s.tsv", "tea\t31337\nsoup\t17171\npie\t50505\n"),
    "no scores at all": ("s.json", "the scores are 31337, 17171"),
}
MISFITS = ("--choice zz", "--value zz", "--choice 31337", "--value 31337", "--choice 31338 --value 31337")


def written(folder: Path, name: str, content: str) -> str:
    (folder / name).write_text(content, encoding="utf-8")
    return name


def tells_nothing(outcome: Outcome) -> None:
    assert [canary for canary in CANARIES if canary in outcome.out + outcome.err] == []


@pytest.fixture
def ledger(call: Call) -> str:
    assert call("ledger create m.ledger --epsilon 1").code == 0
    return "--ledger m.ledger"


@pytest.mark.parametrize("misfit", MISFITS)
@pytest.mark.parametrize("kind", FILES)
def test_d8_a_column_that_does_not_fit_is_told_after_the_charge_by_the_constant_sentence(
    kind: str, misfit: str, folder: Path, call: Call, ledger: str
) -> None:
    path = written(folder, *FILES[kind])
    outcome = call(f"scores {path} {LINE} {ledger} {misfit}")
    outcome.refused(4, CONSTANT, "The budget is spent: epsilon 0.01")
    assert outcome.err.replace(misfit, "").count("313") == 0
    tells_nothing(outcome)
    assert call("ledger show m.ledger --json").json["spent"] == "1/100"


@pytest.mark.parametrize("misfit", ["", *MISFITS])
@pytest.mark.parametrize("kind", FILES)
def test_c5_a_dry_run_says_the_same_whatever_the_file_holds(
    kind: str, misfit: str, folder: Path, call: Call
) -> None:
    name, content = FILES[kind]
    line = f"scores {name} {LINE} --dry-run {misfit}"
    said = []
    for each in (content, content.replace("31337", "31338"), "", "\x00", "zz,31337\n", "{"):
        written(folder, name, each)
        outcome = call(line)
        tells_nothing(outcome)
        said.append((outcome.code, outcome.out, outcome.err))
    assert set(said) == {(0, said[0][1], "")}


def test_d8_before_the_charge_a_file_of_scores_is_not_opened(
    folder: Path, call: Call, ledger: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(folder, *FILES["rows without header"])
    events: list[str] = []
    real = io.open

    def watched(file: Any, *more: Any, **named: Any) -> Any:
        if str(file).endswith(path):
            events.append(f"opened at {spent()}")
        return real(file, *more, **named)

    def spent() -> str:
        from dpselect.ledger import Ledger

        with Ledger.open(folder / "m.ledger") as book:
            return str(book.spent)

    monkeypatch.setattr(builtins, "open", watched)
    monkeypatch.setattr(io, "open", watched)
    assert call(f"scores {path} {LINE} --dry-run").code == 0
    assert events == []
    assert call(f"scores {path} {LINE} {ledger}").code == 0
    assert events == ["opened at epsilon 0.01"]


GUESSES = [
    "--candidates 31337,",
    "--candidates 31337,17171",
    "--candidates 31337, --choice total",
    "--candidates 31337, --choice total --value total",
    "--candidates 31337,17171,50505 --choice total --value total",
    "--candidates soup,pie --choice tea --value 31337",
    "--candidates soup,pie --value 31337",
    "--candidates 17171, --choice 31337 --value 31337",
]


@pytest.mark.parametrize("guess", GUESSES)
@pytest.mark.parametrize(
    "content",
    [
        "dish,total\ntea,31337\nsoup,17171\npie,50505\n",
        "tea,31337\nsoup,17171\npie,50505\n",
        "31337,17171\n",
        "31337,17171\n17171,50505\n",
        "total,dish\n31337,tea\n17171,soup\n50505,pie\n",
        "31337,17171,50505\n",
    ],
)
def test_c5_no_guess_at_a_score_is_confirmed_by_an_exit_code(
    content: str, guess: str, folder: Path, call: Call
) -> None:
    """The analyst chooses columns and candidates; the file with another score must answer alike."""
    codes = set()
    for each in (content, content.replace("31337", "31338"), content.replace("31337", "-4.5e3")):
        path = written(folder, "s.csv", each)
        codes.add(call(f"scores {path} --sensitivity 1 --epsilon 1e-9 {guess}").code)
    assert codes == {4}


def test_a_score_that_was_not_asked_for_must_be_readable_too(folder: Path, call: Call) -> None:
    path = written(folder, "s.csv", "dish,total\ntea,1\nsoup,many\npie,3\n")
    call(f"scores {path} --candidates tea,pie --sensitivity 1 --epsilon 1").refused(4, CONSTANT)


BROKEN = {
    "json twice": ("s.json", b'{"tea": 31337, "tea": 1, "soup": 2, "pie": 3}'),
    "json deep": ("s.json", b"[" * 100_000),
    "json nan": ("s.json", b"[NaN, 1, 2]"),
    "json bool": ("s.json", b"[true, 1, 2]"),
    "json null": ("s.json", b"null"),
    "json nested": ("s.json", b'{"tea": {"soup": 31337}, "soup": 1, "pie": 2}'),
    "json bytes": ("s.json", b"\xff\xfe"),
    "csv ragged": ("s.csv", b"tea,31337\nsoup\npie,1\n"),
    "csv nul": ("s.csv", b"tea,31337\n\x00\npie,1\n"),
    "csv quote": ("s.csv", b'tea,"31337\nsoup,1\npie,2\n'),
    "csv long field": ("s.csv", b"tea," + b"3" * 200_000 + b"\nsoup,1\npie,2\n"),
    "csv header twice": ("s.csv", b"a,a\ntea,31337\nsoup,1\npie,2\n"),
    "npy cut": ("s.npy", b"\x93NUMPY\x01\x00v\x00{'descr'"),
    "npy pickle": ("s.npy", b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00"),
    "npy header": ("s.npy", b"\x93NUMPY\x01\x00\x10\x00__import__('os')"),
    "npy zip": ("s.npy", b"PK\x05\x06" + b"\x00" * 18),
    "empty": ("s.json", b""),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_d8_what_is_wrong_with_a_file_of_scores_is_one_constant_sentence(
    kind: str, folder: Path, call: Call, ledger: str
) -> None:
    name, content = BROKEN[kind]
    (folder / name).write_bytes(content)
    outcome = call(
        f"scores {name} {LINE} {ledger}{' --choice a' if 'twice' in kind and 'csv' in kind else ''}"
    )
    outcome.refused(4, CONSTANT, "The budget is spent: epsilon 0.01")
    tells_nothing(outcome)


@pytest.mark.parametrize(
    "array",
    [
        np.array([31337.0, np.nan, 1]),
        np.array([31337.0, np.inf, 1]),
        np.array([True, False, True]),
        np.array([31337, 1], dtype=np.int64),
        np.array([[31337, 1, 2]]),
        np.array([31337 + 1j, 1, 2]),
        np.array(["31337", "1", "2"]),
        np.array([(31337,), (1,), (2,)], dtype=[("a", "i8")]),
        np.array(["2026-01-01"] * 3, dtype="M8[D]"),
    ],
    ids=["nan", "inf", "bool", "two", "wide", "complex", "text", "fields", "dates"],
)
def test_d8_an_array_that_is_no_row_of_scores_gets_the_same_sentence(
    array: Any,
    folder: Path,
    call: Call,
    ledger: str,
) -> None:
    np.save(folder / "s.npy", array)
    outcome = call(f"scores s.npy {LINE} {ledger}")
    outcome.refused(4, CONSTANT, "The budget is spent: epsilon 0.01")
    tells_nothing(outcome)


@pytest.mark.parametrize(
    ("name", "content", "more"),
    [
        ("s.json", "[9, 1, 2]", ""),
        ("s.json", json.dumps({"soup": "1", "tea": 9, "pie": 2.5, "more": 3}), ""),
        ("s.csv", "soup,1\ntea,9\npie,-inf\n", ""),
        ("s.csv", "dish,total\nsoup,1/3\ntea,9\npie,2\n", ""),
        ("s.csv", "n,dish,total\na,soup,1\nb,tea,9\nc,pie,2\n", "--choice dish --value total"),
        ("s.csv", "dish,total\nsoup,1\ntea,9\npie,2\n", "--value total"),
        ("s.txt", "9\n1\n2\n", ""),
    ],
)
def test_scores_that_fit_are_drawn_from(name: str, content: str, more: str, folder: Path, call: Call) -> None:
    written(folder, name, content)
    line = f"scores {name} --candidates tea,soup,pie --sensitivity 1 --epsilon 10000 --json {more}"
    assert call(line).json["winners"] == ["tea"]
