"""Several files, folders and standard input on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpselect.ledger import Ledger
from dpselect.privacy.losses import PureDP
from tests.cli.commands import Call, in_a_process

SURE = "--epsilon 1000"
VOTE = "vote {} --unit voter --choice dish --candidates tea,pie"
CANARY = "canary-31337"


@pytest.fixture
def town(folder: Path) -> Path:
    """Two years of votes, each a file of its own: tea wins in one of them, pie in both together."""
    for year, rows in {2020: ["tea"] * 30 + ["pie"] * 20, 2021: ["pie"] * 40}.items():
        (folder / "town" / f"year={year}").mkdir(parents=True)
        lines = "".join(f"{year}-{place},{dish}\n" for place, dish in enumerate(rows))
        (folder / "town" / f"year={year}" / "a.csv").write_text(f"voter,dish\n{lines}", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("paths", "more", "winner"),
    [
        ("town/year=2020/a.csv town/year=2021/a.csv", "", "pie"),
        ("town", "", "pie"),
        ("town/ ", "--where 'year = 2020'", "tea"),
        ("town/year=2020", "", "tea"),
        ("town/year=2020 'town/year=2021/*.csv'", "", "pie"),
    ],
)
def test_paths_and_folders_are_one_table(paths: str, more: str, winner: str, town: Path, call: Call) -> None:
    del town
    answer = call(f"{VOTE.format(paths)} {SURE} {more} --json")
    assert (answer.code, answer.json["winners"]) == (0, [winner])
    assert call(f"check {VOTE.format(paths).removeprefix('vote ')} {SURE} {more} --owner").code == 0


@pytest.mark.parametrize(
    ("paths", "words"),
    [
        ("town/year=2020/a.csv town/year=2020/a.csv", "PATH must name each file once"),
        ("town/year=2020/a.csv survey.parquet", "PATH must be files of one known format"),
        ("town ballots.csv", "PATH must be files of the same partitions"),
        (".", "PATH must be a folder of CSV files or of Parquet files alone"),
        ("town twon", "Did you mean 'town'?"),
        ("town -", "'-' (standard input)"),
        (f"town postgresql://ann:{CANARY}@host/x", "alone where it is a URL"),
        ("", "PATH must be given"),
        ("- --engine spark", "take --engine duckdb for standard input"),
        ("town/year=2020/a.csv --table votes", "--table must be given for a database file"),
    ],
)
def test_what_is_no_single_table_is_a_slip(paths: str, words: str, town: Path, call: Call) -> None:
    del town
    outcome = call(f"{VOTE.format(paths)} {SURE}")
    outcome.refused(2, words)
    assert CANARY not in outcome.err


def test_d1_no_file_of_several_is_a_list_of_candidates(town: Path, call: Call) -> None:
    del town
    for paths in ("town/year=2020/a.csv town/year=2021/a.csv", "town", "ballots.csv town/year=2021"):
        line = f"vote {paths} --unit voter --choice dish {SURE} --candidates town/year=2021/a.csv:dish"
        call(line).refused(2, "got the table itself")


def test_a_file_of_scores_stands_alone(folder: Path, call: Call) -> None:
    del folder
    call("scores totals.csv totals.csv --candidates tea,soup,pie --sensitivity 1 --epsilon 1").refused(
        2, "PATH must be one file of scores; got 2"
    )


def test_the_files_are_no_part_of_a_request_but_its_filter_is(town: Path, call: Call) -> None:
    Ledger.create(town / "town.ledger", budget=PureDP(9), dataset="town").close()
    line = f"{VOTE} --epsilon 1 --ledger town.ledger --dataset town --request-id a --json"
    first = call(line.format("town"))
    assert (first.code, first.json["dataset"]) == (0, "town")
    again = call(line.format("town/year=2020 town/year=2021"))
    assert again.json["winners"] == first.json["winners"]
    with Ledger.open(town / "town.ledger") as ledger:
        assert len(list(ledger.entries())) == 1
    call(f"{line.format('town')} --where 'year = 2020'").refused(1, "request")


@pytest.mark.parametrize(
    ("rows", "more", "code", "said"),
    [
        ("voter;dish\n1;tea\n2;tea\n", "--json", 0, '"tea"'),
        ('{"voter": 1, "dish": "tea"}\n', "--columns voter:integer,dish:text --json", 0, '"tea"'),
        ("voter,dish\n1,tea\n", "--dry-run --json", 0, '"winners": null'),
        ("", "", 4, "PATH must have a header"),
        ("voter,meal\n1,tea\n", "", 2, "column 'dish' is not in the table"),
        (f"voter,dish\n{CANARY}\n", "", 4, "the rows of the table must be readable"),
        ("voter,dish\n1,tea\n", "--candidates /dev/stdin", 2, "--candidates must be"),
    ],
)
def test_standard_input_is_a_table(rows: str, more: str, code: int, said: str, folder: Path) -> None:
    line = f"{VOTE.format('-')} {SURE} {more}"
    if "--candidates /" in more:
        line = line.replace("--candidates tea,pie ", "")
    outcome = in_a_process(line, folder, input=rows)
    assert outcome.code == code, outcome.err
    assert said in (outcome.out if code == 0 else outcome.err)
    assert CANARY not in outcome.err


def test_d1_what_is_piped_in_is_no_list_of_candidates(folder: Path) -> None:
    (folder / "t.csv").write_text(f"voter,dish\n1,{CANARY}\n", encoding="utf-8")
    line = f"vote - --unit voter --choice dish {SURE} --candidates t.csv:dish"
    with (folder / "t.csv").open(encoding="utf-8") as piped:
        outcome = in_a_process(line, folder, stdin=piped)
    outcome.refused(2, "got the table itself")
    assert CANARY not in outcome.err


@pytest.mark.slow
def test_a_folder_is_one_table_for_spark_too(town: Path) -> None:
    line = f"{VOTE.format('town')} {SURE} --where 'year = 2020' --engine spark --json"
    answer = in_a_process(line, town)
    assert (answer.code, json.loads(answer.out or "{}").get("winners")) == (0, ["tea"]), answer.err
