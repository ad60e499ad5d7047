"""Notes on the terminal: what the header of a table alone makes doubtful is said before it is paid for."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cli.commands import Call
from tests.cli.test_processes import Screen

PRICE = "price export.csv --unit buyer --value pays --prices 0.5,1,2 --epsilon 1000"
VOTE = "vote export.csv --unit buyer --choice city --candidates Bern,Genf --epsilon 1000"


@pytest.mark.parametrize(
    ("line", "separator", "said"),
    [
        (PRICE, ";", True),
        (f"{PRICE} --dry-run", ";", True),
        (f"{PRICE} --separator ';'", ";", True),
        (f"{PRICE} --decimal ,", ";", False),
        (f"{PRICE} --decimal .", ";", False),
        (f"{PRICE} --quiet", ";", False),
        (PRICE, ",", False),
        (VOTE, ";", False),
    ],
)
def test_that_numbers_may_have_a_decimal_comma_is_said_where_the_header_shows_it(  # noqa: PLR0913 - three words of a case, and three fixtures
    line: str, separator: str, *, said: bool, folder: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = ["buyer,pays,city", "1,2,Bern", "2,0.80,Genf"]
    text = "\n".join(rows).replace(",", separator)
    (folder / "export.csv").write_text(f"{text}\n", encoding="utf-8")
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    assert call(line).code == 0
    assert ("numbers in 'pays' are read with a decimal point" in " ".join(screen.getvalue().split())) == said


def test_a_script_reads_it_in_the_answer(folder: Path, call: Call) -> None:
    (folder / "export.csv").write_text("buyer;pays;city\n1;2;Bern\n2;0.80;Genf\n", encoding="utf-8")
    for line in (PRICE, f"{PRICE} --dry-run"):
        answer = call(line)
        assert answer.err == ""
        assert "numbers     those of pays are read with a decimal point (else: --decimal ,)" in answer.out
    assert "decimal" not in call(f"{PRICE} --decimal .").out
    assert "decimal" not in call(VOTE).out


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (f"{VOTE} --kind plurality", "of each person one row counts, drawn by chance if there are more"),
        (PRICE, "of each person one row counts, drawn by chance if there are more"),
        (
            VOTE.replace("vote", "mode") + " --rows-per-person 3",
            "of each person at most 3 rows count, drawn by chance if there are more",
        ),
        (VOTE, None),
        (VOTE.replace("--unit buyer", "--each-row-is-a-person --kind plurality"), None),
    ],
)
def test_that_one_row_of_a_person_counts_is_said_where_there_may_be_more(
    line: str, said: str | None, folder: Path, call: Call
) -> None:
    (folder / "export.csv").write_text("buyer,pays,city\n1,2,Bern\n1,2,Genf\n2,0.80,Genf\n", encoding="utf-8")
    for words in (line, f"{line} --dry-run"):
        answer = call(words)
        assert answer.code == 0
        assert ("rows        " in answer.out) == (said is not None)
        assert said is None or f"rows        {said}\n" in answer.out
