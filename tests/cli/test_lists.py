"""Lists from files: never the table itself, and of a file that is refused only line numbers are told."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.commands import Call, Outcome

CANARY = "canary-31337"
ROWS = f"voter,dish,stars\n{CANARY},tea,5\nbob,pie,4\n{CANARY},tea,5\n"
VOTE = "vote {} --unit voter --choice dish --epsilon 1 --candidates {}"


def tells_only_lines(outcome: Outcome, *words: str) -> None:
    outcome.refused(2, *words)
    assert CANARY not in outcome.err
    assert "31337" not in outcome.err


@pytest.fixture
def parts(folder: Path) -> Path:
    """A table of three files, two of them in a folder below."""
    (folder / "g" / "deep").mkdir(parents=True)
    for name in ("g/part1.csv", "g/part2.csv", "g/deep/part3.csv"):
        (folder / name).write_text(ROWS.replace("bob", name), encoding="utf-8")
    return folder


@pytest.mark.parametrize("more", ["", " --dry-run", " --engine spark"])
@pytest.mark.parametrize(
    ("table", "listed"),
    [
        ("g/part1.csv", "g/part1.csv"),
        ("g/part*.csv", "g/part2.csv"),
        ("g/part?.csv", "./g/../g/part2.csv"),
        ("g/**/*.csv", "g/deep/part3.csv"),
        ("{}/g/*.csv", "g/part1.csv"),
        ("g", "g/deep/part3.csv"),
        ("g/", "g/part1.csv"),
    ],
)
def test_d1_no_file_of_the_table_is_a_list_of_candidates(
    table: str, listed: str, more: str, parts: Path, call: Call
) -> None:
    outcome = call(VOTE.format(f"'{table.format(parts)}'", listed) + more)
    tells_only_lines(outcome, "got the table itself", "public")


@pytest.mark.parametrize("link", [os.link, os.symlink], ids=["hard", "symbolic"])
@pytest.mark.parametrize("table", ["g/part*.csv", "g/part2.csv", "g"])
def test_d1_a_file_is_known_by_its_identity_not_by_its_name(
    link: object, table: str, parts: Path, call: Call
) -> None:
    assert callable(link)
    link(parts / "g/part2.csv", parts / "names.of.dishes")
    tells_only_lines(call(VOTE.format(f"'{table}'", "names.of.dishes")), "got the table itself")


def test_d1_prices_and_names_of_scores_are_not_read_from_the_data_either(parts: Path, call: Call) -> None:
    (parts / "g" / "s1.csv").write_text(ROWS, encoding="utf-8")
    lines = [
        "price 'g/*.csv' --unit voter --value stars --epsilon 1 --prices g/part1.csv",
        "quantile 'g/*.csv' --unit voter --value stars --at 1/2 --epsilon 1 --candidates g/part1.csv",
        "mode 'g/*.csv' --unit voter --column dish --epsilon 1 --candidates g/part1.csv",
        "top 'g/*.csv' --unit voter --choice dish --epsilon 1 --candidates g/part1.csv",
        "scores g/s1.csv --sensitivity 1 --epsilon 1 --candidates g/s1.csv",
    ]
    for line in lines:
        tells_only_lines(call(line), "got the table itself")


WORD, NUMBER = "no decimal", "must hold decimal numbers"
REFUSED = {
    "a row twice": (f"a\n{CANARY},tea\nb\n{CANARY},tea\n", "line 4 says the same as line 2"),
    "blank lines count": (f"\n\n{CANARY}\n\n{CANARY}\n", "line 5 says the same as line 3"),
    "two normal forms": (f"{CANARY}é\n{CANARY}e\u0301\n", "line 2 says the same as line 1"),
    "a nul": (f"a\n{CANARY}\0\n", "line 2 is not"),
    "bytes": (f"a\n{CANARY}\udcff\n", "a file of text in UTF-8"),
}


@pytest.mark.parametrize("kind", REFUSED)
@pytest.mark.parametrize("verb", ["vote", "top", "scores", "plan", "law"])
def test_d8_a_refusal_of_a_list_from_a_file_names_the_line_and_never_the_line_itself(
    verb: str, kind: str, folder: Path, call: Call
) -> None:
    content, words = REFUSED[kind]
    (folder / "copy.csv").write_bytes(content.encode("utf-8", "surrogateescape"))
    line = {
        "vote": "vote ballots.csv --unit voter --choice candidate --epsilon 1 --candidates copy.csv",
        "top": "top ballots.csv --unit voter --choice candidate --epsilon 1 --candidates copy.csv",
        "scores": "scores totals.csv --sensitivity 1 --epsilon 1 --candidates copy.csv",
        "plan": "plan --epsilon 1 --candidates copy.csv",
        "law": "law 1,2 --epsilon 1 --candidates copy.csv",
    }[verb]
    tells_only_lines(call(line), words)


BAD_NUMBERS = [
    (f"1\n{CANARY}\n", "got line 2"),
    ("1\n31337e31337\n", "got line 2"),
    ("1\n2\n31337.0\n31337\n", "line 4 says the same as line 3"),
    ("1\n" + "31337" * 20 + "\n", "got line 2"),
    ("1\n31_337\n", "got line 2"),
    ("nan-31337\n", "got line 1"),
]


@pytest.mark.parametrize(("content", "words"), BAD_NUMBERS)
@pytest.mark.parametrize(
    "line",
    [
        "price survey.parquet --unit buyer --value wtp --epsilon 1 --prices list.txt",
        "quantile pay.csv --unit person --value salary --at 1/2 --epsilon 1 --candidates list.txt",
        "plan --epsilon 1 --prices list.txt",
    ],
)
def test_d8_a_number_of_a_file_is_refused_by_its_line(
    line: str, content: str, words: str, folder: Path, call: Call
) -> None:
    (folder / "list.txt").write_text(content, encoding="utf-8")
    tells_only_lines(call(line), words)


@pytest.mark.parametrize(
    "line",
    [
        "plan --epsilon 1 --prices list.txt",
        "price survey.parquet --unit buyer --value wtp --epsilon 1 --prices list.txt",
    ],
)
def test_d8_a_negative_price_of_a_file_is_refused_by_its_line(line: str, folder: Path, call: Call) -> None:
    (folder / "list.txt").write_text("3\n-31337\n", encoding="utf-8")
    tells_only_lines(call(line), "zero or positive; got line 2")


def test_d8_names_that_are_one_number_of_a_column_of_numbers_are_refused_by_their_lines(
    folder: Path, call: Call
) -> None:
    (folder / "list.txt").write_text("1\n31337\n31337.0\n", encoding="utf-8")
    line = "mode survey.parquet --unit buyer --column number --epsilon 1 --candidates list.txt"
    tells_only_lines(call(line), "line 3 says the same as line 2")


@pytest.mark.parametrize("content", ["y,1\nx,31337x\n", "a=1\nb=31337x\n", f"1\n{CANARY}\n"])
def test_d8_a_law_of_a_file_is_refused_by_the_line(content: str, folder: Path, call: Call) -> None:
    (folder / "law.txt").write_text(content, encoding="utf-8")
    tells_only_lines(call("law law.txt --epsilon 1"), "line 2 does not")


def test_what_was_written_out_on_the_command_line_is_quoted_as_before(call: Call) -> None:
    call("vote ballots.csv --unit voter --choice candidate --candidates Bo,Bo --epsilon 1").refused(
        2, "got 'Bo' twice"
    )
    call("plan --epsilon 1 --prices 1,x").refused(2, "got 'x'")
    call("plan --epsilon 1 --prices 0:1e999999999:1").refused(2, "LO:HI:STEP")


def test_a_number_with_thousands_of_digits_is_no_failure_of_ours(folder: Path, call: Call) -> None:
    (folder / "long.txt").write_text("0" * 5000 + "1\n2\n", encoding="utf-8")
    (folder / "numbers.jsonl").write_text('{"who": 1, "x": 2}\n', encoding="utf-8")
    table = "numbers.jsonl --columns who:integer,x:integer --unit who --choice x"
    asked = call(f"vote {table} --candidates long.txt --epsilon 1")
    assert asked.code in (0, 2)
