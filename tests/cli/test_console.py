"""What a screen would obey is shown by its number: in names, headers, files, options, labels and ledgers."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from dpselect.cli import console
from dpselect.errors import InvalidParameter, visible
from tests.cli.commands import Call, Outcome

EVIL = "\x1b[31mred\x07\u202egpj\u2066\x9b2J\u200f\x7f"
SHOWN = r"\x1b[31mred\x07\u202egpj\u2066\x9b2J\u200f\x7f"
VOTE = ["vote", "ballots.csv", "--unit", "voter", "--epsilon", "1"]


def is_harmless(outcome: Outcome) -> None:
    said = outcome.out + outcome.err
    assert [letter for letter in said if not letter.isprintable() and letter != "\n"] == []


@pytest.mark.parametrize(
    "words",
    [
        [EVIL],
        ["vote", f"{EVIL}.csv"],
        ["vote", "ballots.csv", f"--{EVIL}"],
        ["vote", "ballots.csv", EVIL],
        ["ledger", EVIL],
        [*VOTE, "--choice", EVIL, "--candidates", "a,b"],
        [*VOTE, "--choice", "candidate", "--candidates", EVIL],
        [*VOTE, "--choice", "candidate", "--candidates", f"{EVIL},{EVIL}"],
        [*VOTE, "--choice", "candidate", "--candidates", "a,b", "--k", EVIL],
        [*VOTE, "--choice", "candidate", "--candidates", "a,b", "--ledger", EVIL],
        [*VOTE, "--choice", "candidate", "--candidates", "a,b", "--engine", EVIL],
        [*VOTE, "--choice", "candidate", "--candidates", "a,b", "--columns", EVIL],
        ["vote", f"{EVIL}.csv", "--unit", "a", "--choice", "b", "--candidates", "a,b", "--epsilon", "1"],
        ["vote", "ballots.csv", "--unit", EVIL, "--choice", "b", "--candidates", "a,b", "--epsilon", "1"],
        ["plan", "--prices", EVIL, "--epsilon", "1"],
        ["plan", "--n", "5", "--epsilon", EVIL],
        ["law", EVIL, "--epsilon", "1"],
        ["demo", "--folder", f"names.txt/{EVIL}"],
        ["scores", f"{EVIL}.json", "--candidates", "a,b", "--sensitivity", "1", "--epsilon", "1"],
    ],
)
def test_no_option_of_a_refused_call_does_something_to_the_screen(words: list[str], call: Call) -> None:
    outcome = call(*words, "--json") if len(words) == 1 else call(*words)
    assert outcome.code != 0
    is_harmless(outcome)


def test_a_header_does_nothing_to_the_screen(folder: Path, call: Call) -> None:
    (folder / "ballots.csv").write_text(f"voter,{EVIL}\n1,2\n", encoding="utf-8")
    outcome = call(*VOTE, "--choice", "zz", "--candidates", "a,b")
    outcome.refused(2, "it has: voter, ", SHOWN)
    is_harmless(outcome)


def test_a_file_that_was_meant_does_nothing_to_the_screen(folder: Path, call: Call) -> None:
    (folder / f"balots{EVIL}.csv").write_text("a,b\n", encoding="utf-8")
    outcome = call("vote", f"ballots{EVIL}.csv", *VOTE[2:], "--choice", "b", "--candidates", "a,b")
    outcome.refused(2, "Did you mean", r"\x1b")
    is_harmless(outcome)


def test_a_winner_does_nothing_to_the_screen_and_json_gives_it_back(folder: Path, call: Call) -> None:
    (folder / "names.txt").write_text(f"{EVIL}\nBo\n", encoding="utf-8")
    rows = "".join(f"v{i},{EVIL}\n" for i in range(99))
    (folder / "ballots.csv").write_text(f"voter,candidate\n{rows}", encoding="utf-8")
    words = [*VOTE[:-1], "999", "--choice", "candidate", "--candidates", "names.txt"]
    text, machine = call(*words), call(*words, "--json")
    assert SHOWN in text.out
    is_harmless(text)
    is_harmless(machine)
    assert json.loads(machine.out)["winners"] == [EVIL]


def test_a_ledger_does_nothing_to_the_screen(call: Call) -> None:
    for option in ("--dataset", "--unit"):
        outcome = call("ledger", "create", "town.ledger", "--epsilon", "1", option, EVIL)
        outcome.refused(2, "printable text")
        is_harmless(outcome)
    path = f"{EVIL}.ledger"
    for words in (["create", path, "--epsilon", "1"], ["show", path], ["verify", path, "--json"]):
        outcome = call("ledger", *words)
        outcome.refused(2)
        is_harmless(outcome)


def test_a_plan_does_nothing_to_the_screen(call: Call) -> None:
    for word in (EVIL, "[red]votes[/red]"):
        outcome = call("plan", "--n", "5", "--epsilon", "1", "--measured-in", word)
        assert outcome.code == 0
        is_harmless(outcome)
    assert "[red]" in outcome.out


def test_what_is_printable_is_shown_as_it_is() -> None:
    assert visible("Zoë, 東京 — ok") == "Zoë, 東京 — ok"
    assert visible(EVIL) == SHOWN
    assert visible("\ud800\n") == r"\ud800\n"


def test_the_library_shows_headers_as_harmlessly() -> None:
    from dpselect.engines.schema import Column, Schema

    with pytest.raises(InvalidParameter) as caught:
        Schema((Column(EVIL, "text", ""),)).column("zz")
    assert str(caught.value).isprintable()


def test_without_a_standard_error_there_are_no_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python has None in its place, where a process is started with the stream closed."""
    monkeypatch.setattr(sys, "stderr", None)
    with console.working("opening the table"), console.progress() as bar:
        console.note("no ledger was charged")
    assert bar is None
