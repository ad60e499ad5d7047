"""Files as tables: what is read of them first, what their text means, and what is refused in a sentence."""

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest

from dpselect import Table, approval_voting, pricing
from dpselect.errors import InvalidParameter, TableUnreadable
from tests.engines import loading
from tests.engines.asking import asked
from tests.engines.cases import CASES, Case
from tests.engines.test_contract import check

DISH = approval_voting(candidate="dish", candidates=["a,b", "pie", 'say "x"', "soup"])


def in_text(case: Case) -> bool:
    """Say whether a case means the same in text: no draw by the order of numbers, no text that is empty."""
    amounts = {"double", "single", "decimal"} & set(case.kinds.values())
    empty = any(row.get(column) == "" for row in case.rows for column in case.problem.columns)
    broken = any("\n" in str(value) for row in case.rows for value in row.values())
    return not (amounts or empty or broken)


@pytest.mark.parametrize("case", [case for case in CASES if in_text(case)], ids=lambda case: case.name)
def test_a_csv_gives_the_scores_of_the_reference(case: Case, tmp_path: Path) -> None:
    check(case, loading.from_csv(case.kinds, case.rows, case.unit, tmp_path))


def in_json(case: Case) -> bool:
    odd = {"single", "decimal", "date", "timestamp", "boolean"} & set(case.kinds.values())
    values = [value for row in case.rows for value in row.values()]
    return not odd and not any(isinstance(value, float) and value in (value + 1, -value) for value in values)


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if in_json(case) and "NaN" not in json.dumps(list(case.rows))],
    ids=lambda case: case.name,
)
def test_json_lines_give_the_scores_of_the_reference(case: Case, tmp_path: Path) -> None:
    check(case, loading.from_json(case.kinds, case.rows, case.unit, tmp_path))


@pytest.mark.parametrize(
    "text",
    [
        "voter,dish\n1,soup\n2,pie\n2,soup\n",
        "voter,dish\r\n1,soup\r\n2,pie\r\n2,soup\r\n",
        "voter,dish\n1,soup\n2,pie\n2,soup",
        "\ufeffvoter,dish\n1,soup\n2,pie\n2,soup\n",
        "voter;dish\n1;soup\n2;pie\n2;soup\n",
        "voter\tdish\n1\tsoup\n2\tpie\n2\tsoup\n",
        "voter|dish\n1|soup\n2|pie\n2|soup\n",
        '"voter","dish"\n"1","soup"\n2,"pie"\n2,soup\n,pie\n3,\n4,""\n',
        "dish,other,voter\nsoup,,1\npie,x,2\nsoup,y,2\n",
    ],
)
def test_a_csv_is_read_in_every_usual_form(text: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(text, encoding="utf-8", newline="")
    assert asked(DISH, Table(path, unit="voter")) == [0, 1, 0, 2]
    path.with_suffix(".csv.gz").write_bytes(gzip.compress(text.encode()))
    assert asked(DISH, Table(str(path) + ".gz", unit="voter")) == [0, 1, 0, 2]


def test_a_csv_with_quotes_means_what_it_says(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('voter,dish\n1,"a,b"\n2,"say ""x"""\n3,"a,b"\n4,"a\nb"\n', encoding="utf-8")
    assert asked(DISH, Table(path, unit="voter")) == [2, 0, 1, 0]


def test_all_columns_of_a_csv_are_text_whatever_the_rows_hold(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    for rows in ("1,1\n2,2\n", "x,y\n", ""):
        path.write_text(f"voter,price\n{rows}", encoding="utf-8")
        with Table(path, unit="voter").open() as engine:
            assert [column.kind for column in engine.schema.columns] == ["text", "text"]


def test_offers_in_a_csv_are_compared_exactly(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    offers = ["0.99", "0.989999999999999999999999999999", "1e0", "99/100", "one", "NaN", "inf", "0.990"]
    path.write_text("who,offer\n" + "".join(f"{i},{x}\n" for i, x in enumerate(offers)), encoding="utf-8")
    assert asked(pricing(value="offer", prices=["0.99"]), Table(path, unit="who")) == [3 * 99]


BROKEN: dict[str, bytes] = {
    "too many fields": b"voter,dish\n1,soup\n2,pie,31337\n",
    "too few fields": b"voter,dish\n1,soup\n31337\n",
    "an open quote": b'voter,dish\n1,"31337\n2,pie\n',
    "bytes that are no text": b"voter,dish\n1,31337\xff\n",
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=list(BROKEN))
def test_a_broken_row_is_told_in_one_sentence(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    with pytest.raises(TableUnreadable, match="look for broken rows"):
        asked(DISH, Table(path, unit="voter"))


def opened(table: Table) -> None:
    with table.open():
        pass


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("missing.csv", None, r"source must be a file that is there; got '….*missing.csv'. Check the path"),
        ("missing*.csv", None, r"source must be a file that is there"),
        ("rows.xlsx", b"PK", r"source must be files of one known format.* must end in one of: \.csv"),
        ("rows.XLSX", b"PK", r"got 'rows.XLSX'\. Save it as CSV\. The name must end in one of"),
        ("rows.doc", b"PK", r"got 'rows.doc'\. The name must end in one of"),
        ("rows", b"voter", r"source must be files of one known format"),
        ("rows.parquet", b"PAR1 no", r"source must be readable by DuckDB; 'rows.parquet' is not"),
        ("rows.duckdb", b"no database", r"table must be given for a database file"),
        ("rows.jsonl", b"{}", r"columns must be given for JSON lines"),
        ("rows.csv", b"", r"source must have a header"),
        ("rows.csv", b"voter,,dish\n", r"source must have a header with a name for every column"),
        ("rows.csv", b"\xff\xfe", r"source must be a CSV file in UTF-8"),
        ("rows.arrow", b"no arrow", r"source must be readable Arrow files"),
    ],
)
def test_a_file_that_is_no_table_is_refused_in_a_sentence(
    name: str, content: bytes | None, sentence: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidParameter, match=sentence):
        opened(Table(tmp_path / name, unit="voter"))


@pytest.mark.skipif(os.name != "posix", reason="run it where files have modes: Linux, macOS")
def test_a_file_that_may_not_be_read_is_called_that(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("voter,dish\n1,pie\n", encoding="utf-8")
    (tmp_path / "other.csv").write_bytes(path.read_bytes())
    path.chmod(0)
    asks = f"""
import os
from dpselect import Table
with Table({str(tmp_path / "other.csv")!r}, unit="voter").open():
    pass  # all is loaded: who may read less may also load less
if os.getuid() == 0:
    os.setgid(65534), os.setuid(65534)
try:
    Table({str(path)!r}, unit="voter").open().__enter__()
except ValueError as refused:
    print(refused)
"""
    for folder in path.parents[:-2]:
        folder.chmod(0o755)
    said = subprocess.run([sys.executable, "-c", asks], check=True, capture_output=True, text=True).stdout
    assert said == "source must be files that you may read; 'rows.csv' is not. Ask for the right to.\n"


LONG = 1_000_000
HEADERS = {
    "a lone CR": b"voter\rx,dish\n1,pie\n",
    "lines that end in CR": b"voter,dish\r1,pie\r2,tea\r",
    "a line break in a name": b'"vo\nter",dish\n1,pie\n',
    "an open quote": b'voter,"dish\n1,pie\n',
    "a letter after a quote": b'voter,"dish"x\n1,pie\n',
    "a name beyond the limit of csv": b"voter,dish," + b"x" * 131_073 + b"\n1,pie,1\n",
    "more bytes than a header may have": b"voter,dish," + b"x," * (LONG // 2) + b"x\n1,pie\n",
    "a letter that is cut in two at the limit": b"voter,dish" + ",é".encode() * (LONG // 3) + b"\n",
    "no line break at all": b"voter,dish" * LONG,
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("content", HEADERS.values(), ids=list(HEADERS))
def test_a_header_that_cannot_be_read_is_refused_before_the_charge(
    content: bytes, tmp_path: Path, *, packed: bool
) -> None:
    path = tmp_path / ("rows.csv.gz" if packed else "rows.csv")
    path.write_bytes(gzip.compress(content) if packed else content)
    with pytest.raises(InvalidParameter, match="source must have a header on one line: its quotes closed"):
        opened(Table(path, unit="voter"))


def test_a_header_may_be_as_long_as_it_may_be(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    for names in (["voter", "dish", "x" * 131_072], ["voter", "dish", *["y" * 99_000] * 10]):
        header = ",".join(names).encode()
        assert len(header) <= LONG
        path.write_bytes(header + b"\n" + b"1,pie" + b"," * (len(names) - 2) + b"\n")
        assert sum(asked(DISH, Table(path, unit="voter"))) == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"table": "votes"}, "table must be given for a database file, and only for one"),
        ({"columns": {"voter": "text"}}, "columns must be given for JSON lines, and only for them"),
    ],
)
def test_words_that_do_not_belong_to_a_file_are_refused(
    words: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    (tmp_path / "rows.csv").write_text("voter\n", encoding="utf-8")
    with pytest.raises(InvalidParameter, match=sentence):
        opened(Table(tmp_path / "rows.csv", unit="voter", **words))


@pytest.mark.parametrize("columns", [{}, {"voter": "BIGINT"}, {"voter": int}])
def test_columns_of_json_lines_have_one_of_three_types(columns: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text("{}\n", encoding="utf-8")
    with pytest.raises(InvalidParameter, match="columns must be names"):
        opened(Table(tmp_path / "rows.jsonl", unit="voter", columns=columns))


def write(path: Path, columns: dict[str, Sequence[Any]]) -> None:
    pyarrow.parquet.write_table(pa.table(columns), path)


def test_files_of_one_glob_have_one_schema(tmp_path: Path) -> None:
    write(tmp_path / "1.parquet", {"voter": [1], "dish": ["pie"]})
    write(tmp_path / "2.parquet", {"voter": ["1"], "dish": ["pie"]})
    with pytest.raises(InvalidParameter, match="the same columns and types; theirs differ"):
        opened(Table(str(tmp_path / "*.parquet"), unit="voter"))
    (tmp_path / "1.csv").write_text("voter,dish\n", encoding="utf-8")
    (tmp_path / "2.csv").write_text("dish,voter\n", encoding="utf-8")
    with pytest.raises(InvalidParameter, match="one and the same header; theirs differ"):
        opened(Table(str(tmp_path / "*.csv"), unit="voter"))
    with pytest.raises(InvalidParameter, match="files of one known format"):
        opened(Table(str(tmp_path / "1.*"), unit="voter"))


def test_a_file_whose_name_looks_like_a_pattern_is_not_taken_for_others(tmp_path: Path) -> None:
    for name in ("it's.csv", "100 %.csv", "rows*.csv", "rows [1].csv"):
        (tmp_path / name).write_text("voter,dish\n1,soup\n", encoding="utf-8")
    for name in ("it's.csv", "100 %.csv"):
        assert asked(DISH, Table(tmp_path / name, unit="voter")) == [0, 0, 0, 1]
    for name in ("rows*.csv", "rows [1].csv"):
        with pytest.raises(InvalidParameter, match="rename them"):
            opened(Table(tmp_path / name, unit="voter"))


def test_a_database_names_its_tables(tmp_path: Path) -> None:
    path = tmp_path / "rows.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE votes (voter INT, dish TEXT COLLATE NOCASE)")
        connection.execute("INSERT INTO votes VALUES (1, 'soup'), (1, 'SOUP'), (2, 'Soup')")
    with pytest.raises(InvalidParameter, match=r"one table of the database; got 'vote'. There are: votes"):
        opened(Table(path, table="vote", unit="voter"))
    # Whatever a column's collation takes for equal, a candidate is its bytes.
    assert asked(DISH, Table(path, table="votes", unit="voter")) == [0, 0, 0, 1]
    (tmp_path / "no.duckdb").write_bytes(b"no database")
    with pytest.raises(InvalidParameter, match="a DuckDB database that can be opened"):
        opened(Table(tmp_path / "no.duckdb", table="votes", unit="voter"))
    (tmp_path / "more.db").write_bytes(path.read_bytes())
    with pytest.raises(InvalidParameter, match="must be one database file"):
        opened(Table(str(tmp_path / "*.db"), table="votes", unit="voter"))
