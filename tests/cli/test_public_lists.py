"""Lists from files: never the table itself, and of a file that is refused only line numbers are told."""

from __future__ import annotations

import gzip
import os
import shlex
from pathlib import Path

import duckdb
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
    (folder / "copy.txt").write_bytes(content.encode("utf-8", "surrogateescape"))
    line = {
        "vote": "vote ballots.csv --unit voter --choice candidate --epsilon 1 --candidates copy.txt",
        "top": "top ballots.csv --unit voter --choice candidate --epsilon 1 --candidates copy.txt",
        "scores": "scores totals.csv --sensitivity 1 --epsilon 1 --candidates copy.txt",
        "plan": "plan --epsilon 1 --candidates copy.txt",
        "law": "law 1,2 --epsilon 1 --candidates copy.txt",
    }[verb]
    tells_only_lines(call(line), words)


@pytest.mark.parametrize("verb", ["vote", "top", "mode"])
@pytest.mark.parametrize("other", [CANARY.upper(), f"{CANARY} ", f"É{CANARY}"])
@pytest.mark.parametrize("listed", ["copy.txt", "copy.csv:name"])
def test_d8_names_that_are_one_without_their_case_are_told_by_their_lines(
    verb: str, other: str, listed: str, folder: Path, call: Call
) -> None:
    first = f"é{CANARY}" if other[0] == "É" else f'"{CANARY} x"' if other[-1] == " " else CANARY
    second = f'"{CANARY}  X"' if other[-1] == " " else other
    (folder / "copy.txt").write_text(f"name\n{first}\n{second}\n", encoding="utf-8")
    (folder / "copy.csv").write_text(f"name\n{first}\n{second}\n", encoding="utf-8")
    line = f"{verb} ballots.csv --unit voter --choice candidate --epsilon 1 --candidates {listed}"
    tells_only_lines(call(f"{line} --ignore-case"), "line 3 says the same as line 2", "--ignore-case ignores")


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


COLUMNS = {
    "commas": ("p.csv", b"project_id,title\nRex,a\nBo,b\n"),
    "semicolons, and lines in quotes": ("p.csv", b'project_id;title\nRex;"two\nlines"\n\nBo;b\n'),
    "tabs": ("p.tsv", b"project_id\ttitle\nRex\ta\nBo\tb\n"),
    "a byte order mark": ("p.csv", b"\xef\xbb\xbfproject_id\nRex\nBo\n"),
    "packed": ("p.csv.gz", gzip.compress(b"title,project_id\na,Rex\nb,Bo\n")),
    "capital letters": ("P.CSV", b"title,project_id\na,Rex\nb,Bo\n"),
}


@pytest.mark.parametrize(("name", "content"), COLUMNS.values(), ids=COLUMNS)
def test_a_column_of_a_table_is_a_list(name: str, content: bytes, folder: Path, call: Call) -> None:
    (folder / name).write_bytes(content)
    line = f"vote ballots.csv --unit voter --choice candidate --epsilon 500 --candidates {name}:project_id"
    assert call(f"{line} --k 2 --json").json["winners"] == ["Rex", "Bo"]


@pytest.mark.parametrize(
    ("values", "line", "winner"),
    [
        ("('Rex'), ('Bo')", "vote ballots.csv --unit voter --choice candidate --candidates {}", "Rex"),
        ("(7), (12)", "mode survey.parquet --unit buyer --column number --candidates {}", None),
        ("(0.70::DECIMAL(9, 2)), (5)", "price survey.parquet --unit buyer --value wtp --prices {}", "0.70"),
        (
            "(40000), (50000), (70000)",
            "quantile pay.csv --unit person --value salary --at 1/2 --candidates {}",
            None,
        ),
    ],
)
def test_a_column_of_a_parquet_file_is_a_list(
    values: str, line: str, winner: str | None, folder: Path, call: Call
) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT * FROM (VALUES {values}) t(\"a:b\")) TO '{folder}/p.parquet'")
    outcome = call(*shlex.split(line.format("p.parquet:a:b")), "--epsilon", "500", "--json")
    assert outcome.code == 0, outcome.err
    assert winner in (None, outcome.json["winners"][0])


@pytest.mark.parametrize(
    "name", ["p.csv", "p.tsv", "p.parquet", "P.CSV", "p.csv.gz", "p.jsonl", "p.duckdb", "p.csv:"]
)
@pytest.mark.parametrize("option", ["--candidates", "--prices"])
def test_a_table_without_a_column_is_refused_with_the_way_out(
    name: str, option: str, folder: Path, call: Call
) -> None:
    (folder / name.removesuffix(":")).write_text("1\n2\n", encoding="utf-8")
    command = "price" if option == "--prices" else "quantile"
    at = "" if option == "--prices" else "--at 1/2"
    line = f"{command} survey.parquet --unit buyer --value wtp {at} --epsilon 1 {option} {name}"
    call(line).refused(2, f"{option} must be a text file with one on each line, or a column", ":COLUMN")


BAD_COLUMNS = {
    "no such column": ("p.csv", f"{CANARY},b\n1,2\n", "it has none called 'id'"),
    "a column twice": ("p.csv", f"id,id\n{CANARY},2\n", "it has 2 called 'id'"),
    "a name twice": ("p.csv", f"id,b\n{CANARY},1\nx,2\n{CANARY},3\n", "line 4 says the same as line 2"),
    "twice, after lines in quotes": (
        "p.csv",
        f'b,id\n"1\n1",{CANARY}\n2,{CANARY}\n',
        "line 4 says the same as line 3",
    ),
    "an empty cell": ("p.csv", f"id,b\n{CANARY},1\n,{CANARY}\n", "line 3 has not"),
    "too many fields": ("p.csv", f"id,b\nx,1\n{CANARY},1,2\n", "at line 3"),
    "too few fields": ("p.csv", f"id,b\nx,1\n{CANARY}\n", "at line 3"),
    "an open quote": ("p.csv", f'id,b\nx,1\n"{CANARY},1\n', "at line 2 or the one after it"),
    "other bytes": ("p.csv", f"id,b\nx,1\n{CANARY}\udcff,1\n", "or the one after it"),
    "a nul": ("p.csv", f"id,b\nx,1\n{CANARY}\0,1\n", "is not"),
    "no text at all": ("p.csv", "\udcff\udcfe\n", "a CSV file in UTF-8 with a header"),
    "no lines": ("p.csv", "id,b\n", "at least one"),
    "no gzip": ("p.csv.gz", CANARY, "must be a CSV file"),
    "no parquet": ("p.parquet", CANARY, "cannot be read as one"),
    "no file": ("q.csv", "id\n1\n", "a file that is there"),
}


@pytest.mark.parametrize(("name", "content", "words"), BAD_COLUMNS.values(), ids=BAD_COLUMNS)
def test_d8_a_column_is_refused_by_its_line_and_never_by_what_is_in_it(
    name: str, content: str, words: str, folder: Path, call: Call
) -> None:
    (folder / name.replace("q.csv", "another.csv")).write_bytes(content.encode("utf-8", "surrogateescape"))
    line = f"vote ballots.csv --unit voter --choice candidate --epsilon 1 --candidates {name}:id"
    tells_only_lines(call(line), words)


def test_d8_a_row_of_a_parquet_file_is_refused_by_its_number(folder: Path, call: Call) -> None:
    line = "vote ballots.csv --unit voter --choice candidate --epsilon 1 --candidates p.parquet:id"
    with duckdb.connect() as connection:
        for values, words in {
            f"('{CANARY}'), ('b'), ('{CANARY}')": "row 3 says the same as row 1",
            f"('{CANARY}'), (NULL)": "row 2 has not",
            "(DATE '2026-01-01')": "text or numbers",
            "(true)": "text or numbers",
        }.items():
            connection.execute(f"COPY (SELECT * FROM (VALUES {values}) t(id)) TO '{folder}/p.parquet'")
            tells_only_lines(call(line), words)


@pytest.mark.parametrize("link", [os.link, os.symlink], ids=["hard", "symbolic"])
def test_d1_a_column_of_the_table_itself_is_no_list(link: object, parts: Path, call: Call) -> None:
    assert callable(link)
    link(parts / "g/part2.csv", parts / "names.csv")
    for table, listed in {
        "g/part*.csv": "names.csv",
        "g": "g/part1.csv",
        "g/part2.csv": "g/part2.csv",
    }.items():
        tells_only_lines(call(VOTE.format(f"'{table}'", f"{listed}:dish")), "got the table itself")
    tells_only_lines(
        call("scores g/part1.csv --sensitivity 1 --epsilon 1 --candidates g/part1.csv:dish"),
        "got the table itself",
    )
