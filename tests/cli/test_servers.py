"""The same commands on a PostgreSQL server, and by Spark."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.cli.commands import VOTE, Call, in_a_process
from tests.servers.postgres import Server, postgres_server

__all__ = ["postgres_server"]

NO_SPARK = "Spark is not here. Run: pip install 'dpselect[spark]', and install Java 17 or newer."


def test_a_vote_and_its_ledger_can_live_on_a_server(
    postgres_server: Server, call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import psycopg

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    url = postgres_server.url()
    with psycopg.connect(url) as connection:
        connection.execute("CREATE SCHEMA cli")
        connection.execute(
            "CREATE TABLE cli.ballots AS SELECT i AS voter, 'Rex' AS dog FROM generate_series(1, 99) i"
        )
    line = f"vote {url} --table cli.ballots --unit voter --choice dog --candidates Rex,Bo --epsilon 500"
    secret = url.replace("?", "?password=8675309&") if "?" in url else f"{url}?password=8675309"
    made = call(f"ledger create {secret} --epsilon 700")
    assert made.code == 0
    for shown in (made, call(f"ledger show {secret}"), call(f"ledger show {secret} --json")):
        assert "8675309" not in shown.out + shown.err
    for engine, code in (("postgres", 0), ("auto", 3)):
        outcome = call(f"{line} --engine {engine} --ledger {url} --json")
        assert outcome.code == code
        if not code:
            assert outcome.json["winners"] == ["Rex"]
            assert outcome.json["ledger"] == {"spent": "500", "remaining": "200"}
    call(line.replace("--choice dog", "--choice dgo")).refused(2, "Did you mean 'dog'?")
    missing = call(line.replace("cli.ballots", "cli.nothing"))
    missing.refused(2, "table")
    unreachable = call(line.replace("127.0.0.1", "no.such.host.invalid"))
    unreachable.refused(1)
    assert "tester" not in unreachable.err


@pytest.mark.slow
@pytest.mark.skipif(find_spec("pyspark") is None or shutil.which("java") is None, reason=NO_SPARK)
def test_spark_reads_the_same_files_in_silence(folder: Path) -> None:
    answer = in_a_process(f"{VOTE} --epsilon 1000 --engine spark --json", folder)
    assert (answer.code, answer.err) == (0, "")
    assert answer.json["winners"] == ["Rex"]
    mistyped = VOTE.replace("--choice candidate", "--choice no")
    in_a_process(f"{mistyped} --epsilon 1 --engine spark", folder).refused(2, "column 'no'")
    with (folder / "ballots.csv").open("a", encoding="utf-8") as ballots:
        ballots.write("broken,row,too,long\n")
    in_a_process(f"{VOTE} --epsilon 1 --engine spark", folder).refused(4)


@pytest.mark.slow
@pytest.mark.skipif(find_spec("pyspark") is None or shutil.which("java") is None, reason=NO_SPARK)
@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        # A line break in quotes does not end a row: one person alone voted for Bo here.
        ("lines.csv", 'voter,dog\n1,"Bo\nx"\n2,"Bo\nx"\n3,Rex\n4,"Bo\nx"\n5,Rex\n6,Bo\n', 0),
        ("semicolons.csv", "voter;dog\n1;Rex\n2;Rex\n3;Bo\n", 0),
        ("case.csv", "DOG,voter,dog,x,x\nBo,1,Rex,,\nBo,2,Rex,,\nRex,3,Bo,,\n", 0),
        ("mark.csv", "\ufeffvoter,dog\r\n1,Rex\r\n2,Rex\r\n3,Bo\r\n", 0),
        ("empty.csv", 'voter,dog\n"",Bo\n,Bo\n"",Bo\n1,Rex\n2,Rex\n', 0),
        # A broken row is one whether or not the question reads what is broken.
        ("long.csv", "voter,dog,x\n1,Rex,1\n2,Rex,1,4\n", 4),
        ("short.csv", "voter,dog,x\n1,Rex,1\n2,Rex\n", 4),
    ],
)
def test_spark_and_duckdb_read_the_same_table(name: str, content: str, code: int, folder: Path) -> None:
    (folder / name).write_bytes(content.encode())
    line = f"vote {name} --unit voter --choice dog --candidates Rex,Bo --epsilon 1000 --json"
    for engine in ("duckdb", "spark"):
        answer = in_a_process(f"{line} --engine {engine}", folder)
        assert answer.code == code, answer.err
        if not code:
            assert (answer.json["winners"], answer.err) == (["Rex"], "")


def test_spark_does_not_pass_over_a_file_without_a_word(folder: Path, call: Call) -> None:
    for name in ("_ballots.csv", ".ballots.csv", "ballots{1}.csv"):
        (folder / name).write_text("voter,candidate\n1,Rex\n", encoding="utf-8")
        line = f"vote {name} --unit voter --choice candidate --candidates Rex,Bo --epsilon 1 --engine spark"
        call(line).refused(2, "--engine duckdb")


def test_spark_reads_no_databases(folder: Path, call: Call) -> None:
    (folder / "b.jsonl").write_text("{}\n", encoding="utf-8")
    line = "vote b.jsonl --columns a:text --unit a --choice a --candidates b,c --epsilon 1 --engine spark"
    call(line).refused(2, "--engine duckdb")
