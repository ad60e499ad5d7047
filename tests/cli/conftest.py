"""A folder with small made-up tables, and commands that are run in it."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.cli.commands import Call, Outcome, in_this_process

NAMES = ["Rex", "Biscuit", "Émile", "Bo"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Everything that the examples name: 300 people, who all love the first of the candidates."""
    monkeypatch.chdir(tmp_path)
    people = range(300)
    write = {
        "names.txt": NAMES,
        "songs.txt": ["Yesterday", "Help", "Michelle", "Julia"],
        "ballots.csv": [
            "voter,candidate",
            *(f"v{i},Rex" for i in people),
            *(f"v{i},Émile" for i in people if i % 2),
        ],
        "ranks.csv": [
            "voter,candidate,place",
            *(f"v{i},{name},{NAMES.index(name) + 1}" for i in people for name in NAMES),
        ],
        "plays.csv": [
            "listener,song",
            *(f"l{i},{song}" for i in people for song in ("Help", "Julia") if i % 3),
        ],
        "stars.csv": [
            "guest,dish,stars",
            *(f"g{i},tea,5" for i in people),
            *(f"g{i},soup,3" for i in people),
            *(f"g{i},pie,1" for i in people),
        ],
        "visits.csv": ["person,town", *(f"p{i},Bern" for i in people), *(f"p{i},Bern" for i in people)],
        "pay.csv": ["person,salary", *(f"p{i},{40_000 + 100 * i}" for i in people)],
        "guests.csv": [
            "guest,city,dish",
            *(f"g{i},{'Rome' if i % 2 else 'Oslo'},{'tea' if i % 2 else 'soup'}" for i in people),
        ],
        "totals.csv": ["dish,total", "tea,300", "soup,100", "pie,3"],
    }
    for name, lines in write.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "bytes.bin").write_bytes(b"Rex\n\xff\xfe\n")
    survey = (
        "SELECT 'b' || i AS buyer, CAST(0.70 AS DECIMAL(9, 2)) AS wtp, i AS number, DATE '2026-01-01' AS day"
    )
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY ({survey}, i / 3 AS half FROM range(300) t(i)) TO 'survey.parquet' (FORMAT parquet)"
        )
    return tmp_path


@pytest.fixture
def call(folder: Path, capsys: pytest.CaptureFixture[str]) -> Call:
    """Run a command line in the folder, in this process."""
    assert folder.is_dir()

    def called(*words: str) -> Outcome:
        return in_this_process(capsys, words)

    return called
