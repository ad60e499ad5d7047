"""The command ``check`` shows data to the owner alone, who must say so, and charges nothing."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import duckdb
import pytest

from tests.cli.commands import MEDIAN, PRICE, VOTE, Call

CHECK = VOTE.replace("vote ", "check ")


def test_the_owner_is_shown_how_the_table_fits(call: Call, folder: Path) -> None:
    (folder / "names.txt").write_text("Rex\nBo\n", encoding="utf-8")
    told = call(f"{CHECK} --owner")
    assert told.code == 0
    first, _, *lines = told.out.splitlines()
    assert first.startswith("Not private")
    facts = dict(line.rsplit("  ", 1) for line in lines if "  " in line.strip())
    assert {name.strip(): number.strip() for name, number in facts.items()} == {
        "rows": "450",
        "people": "300",
        "candidate: matched": "300",
        "candidate: not on the list": "150",
        "rows that match": "300",
        "rows that count": "300",
        "150": "'Émile'",
    }


@pytest.mark.parametrize(
    ("verb", "question", "counted"),
    [
        ("price", PRICE, 300),
        ("quantile", MEDIAN, 300),
        ("summary", MEDIAN.replace("quantile", "summary").replace("--at 0.5", ""), 300),
        (
            "threshold",
            "threshold stars.csv --unit guest --value stars --label dish --yes pie --between 0:5",
            300,
        ),
        ("mode", "mode visits.csv --unit person --column town --candidates Bern,Basel", 300),
        (
            "top",
            "top stars.csv --unit guest --choice dish --candidates tea,pie --value stars --between 1:5",
            600,
        ),
        (
            "vote",
            "vote ranks.csv --unit voter --choice candidate --candidates Rex,Bo --kind borda --rank place",
            300,  # rank 4 of two candidates is on no list
        ),
    ],
)
def test_it_takes_the_options_of_another_verb(verb: str, question: str, counted: int, call: Call) -> None:
    told = call(f"check --verb {verb} {question.removeprefix(verb)} --owner --json")
    assert told.code == 0
    assert told.json["private"] is False
    assert told.json["rows"] >= 300
    assert told.json["counted"] == counted


def test_labels_that_are_not_yes_count_in_a_threshold(folder: Path, call: Call) -> None:
    (folder / "exam.csv").write_text("who,hours,result\n1,3,failed\n2,x,failed\n3,9,\n4,8,passed\n")
    options = "--unit who --value hours --label result --yes passed --between 0:10"
    told = call(f"check exam.csv --verb threshold {options} --owner")
    assert told.code == 0
    assert "result: matched   3" in told.out
    assert "result: missing   1" in told.out
    assert "'failed'" not in told.out
    assert "1  'x'" in told.out


def test_without_a_terminal_it_needs_the_word_of_the_owner(call: Call) -> None:
    call(CHECK).refused(2, "Write --owner")


def test_it_has_nothing_to_do_with_a_ledger(call: Call, folder: Path) -> None:
    assert call("ledger create town.ledger --epsilon 1").code == 0
    before = (folder / "town.ledger").read_bytes()
    call(f"{CHECK} --owner --ledger town.ledger").refused(2, "takes no --ledger")
    assert (folder / "town.ledger").read_bytes() == before


class Terminal(io.StringIO):
    """Says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("answer", ["y", "n"])
def test_on_a_terminal_it_asks_first(
    answer: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from dpselect.cli.runner import run_command

    assert folder.is_dir()
    shown = Terminal()
    monkeypatch.setattr(sys, "stdin", Terminal(f"{answer}\n"))
    monkeypatch.setattr(sys, "stdout", shown)
    code = run_command(CHECK.split())
    asked = capsys.readouterr().err
    assert "Is the data yours?" in asked
    assert (code, "rows" in shown.getvalue()) == ((0, True) if answer == "y" else (2, False))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--choice color", "column 'color' is not in the table"),
        ("--choice candidate --choice voter", "once"),
    ],
)
def test_a_wrong_question_is_refused_as_the_verb_refuses_it(words: str, said: str, call: Call) -> None:
    call(f"check ballots.csv --unit voter --candidates names.txt --owner {words}").refused(2, said)


def test_a_table_that_does_not_fit_is_refused_with_the_code_of_the_verb(call: Call, folder: Path) -> None:
    day = "SELECT 1 AS who, DATE '2026-01-31' AS day"
    duckdb.execute(f"COPY ({day}) TO '{folder / 'days.parquet'}'")
    for words, said in {
        "--choice day --candidates 1,2": "Look up dates, such as 2024-01-31",
        "--choice day --candidates 31.1.2026,": "--candidates must be dates",
        "--choice day --candidates 2026-01-31, --ignore-case": "--ignore-case is for columns of text",
    }.items():
        call(f"check days.parquet --unit who --owner {words}").refused(4, said)
        call(f"vote days.parquet --unit who --epsilon 1 {words}").refused(4, said)


def test_a_broken_table_is_refused_without_a_word_of_payment(call: Call, folder: Path) -> None:
    (folder / "broken.csv").write_text("voter,candidate\n1,Rex\n2\n", encoding="utf-8")
    told = call("check broken.csv --unit voter --choice candidate --candidates names.txt --owner")
    told.refused(4, "Look for broken rows", "Nothing was charged")
    assert "paid" not in told.err


def test_an_option_that_is_unknown_is_refused(call: Call) -> None:
    call(f"{CHECK} --owner --nonsense 3").refused(2, "--nonsense")
