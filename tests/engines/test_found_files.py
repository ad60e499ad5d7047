"""Several files, folders and partitions as one table: which files are meant, and what is refused."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from dpselect import Table, approval_voting, check, plurality, quantile
from dpselect.engines import spark_files
from dpselect.engines.found_files import found_files
from dpselect.engines.reading import Reading
from dpselect.errors import InvalidParameter, TableUnreadable
from tests.engines import row_reads
from tests.engines.asking import asked
from tests.engines.test_row_reads import FEW, on_linux, reads_of_rows
from tests.privacy.leaks import leaks

DISH = approval_voting(candidate="dish", candidates=["tea", "pie"])
YEARS = approval_voting(candidate="year", candidates=[2020, 2021, 2022])


def csv_file(path: Path, *rows: str, header: str = "who,dish") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def parquet_file(path: Path, *rows: str, header: str = "who,dish") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    cells = [row.split(",") for row in rows]
    names = header.split(",")
    columns = {name: pa.array([row[i] for row in cells], pa.string()) for i, name in enumerate(names)}
    pyarrow.parquet.write_table(pa.table(columns), path)
    return path


GUESSED = "spark.sql.sources.partitionColumnTypeInference.enabled"
WRITERS: dict[str, Callable[..., Path]] = {".csv": csv_file, ".parquet": parquet_file}
each_format = pytest.mark.parametrize("suffix", WRITERS)


def opened(source: Any, **words: Any) -> None:
    with Table(source, unit=words.pop("unit", "who"), **words).open():
        pass


@pytest.fixture
def years(tmp_path: Path, suffix: str) -> Path:
    """Give a folder of partitions, with what other programs leave beside them."""
    write, folder = WRITERS[suffix], tmp_path / "town"
    write(folder / "year=2020" / "m=1" / f"a{suffix}", "1,tea", "2,pie")
    write(folder / "year=2021" / "m=1" / f"a{suffix}", "1,tea", "3,pie")
    write(folder / "year=2021" / "m=2" / f"b{suffix}", "2,tea", "4,tea")
    write(folder / "year=__HIVE_DEFAULT_PARTITION__" / "m=2" / f"c{suffix}", "5,pie")
    for hidden in ("_SUCCESS", ".DS_Store", f"year=2020/m=1/.a{suffix}.part", f"_temporary/0/x{suffix}"):
        (folder / hidden).parent.mkdir(exist_ok=True, parents=True)
        (folder / hidden).write_text("nothing of ours", encoding="utf-8")
    return folder


@each_format
def test_a_folder_is_one_table_and_its_partitions_are_columns(years: Path) -> None:
    assert asked(DISH, Table(years, unit="who")) == [3, 3]
    assert asked(DISH, Table(f"{years}/", unit=None)) == [4, 3]
    assert asked(YEARS, Table(years, unit="who")) == [2, 4, 0]
    with Table(years, unit="who").open() as engine:
        names = [(column.name, column.kind) for column in engine.schema.columns]
    assert names == [("who", "text"), ("dish", "text"), ("year", "text"), ("m", "text")]


@each_format
@pytest.mark.parametrize(
    ("where", "scores"),
    [
        ("year = 2021", [3, 1]),
        ("year >= 2020 and m = '2'", [2, 0]),
        ("year is null", [0, 1]),
        ("not year = 2021", [1, 1]),
        ("m between 1 and 1 and dish <> 'tea'", [0, 2]),
    ],
)
def test_a_filter_may_name_partitions(where: str, scores: list[int], years: Path) -> None:
    assert asked(DISH, Table(years, unit="who", where=where)) == scores


@each_format
def test_a_partition_may_be_the_person_or_what_people_chose(years: Path) -> None:
    first = plurality(candidate="dish", candidates=["tea", "pie"])
    assert sum(asked(first, Table(years, unit="year"))) == 2
    assert asked(DISH, Table(years, unit="m")) == [2, 2]
    typed = not (years / "year=2020/m=1/a.csv").exists()
    median = quantile(value="year", at="1/2", candidates=[2020, 2021])
    assert len(asked(median, Table(years, unit="who", numbers_in_text=typed))) == 2
    found = check(YEARS, Table(years, unit="who"), owner=True)
    assert (found.rows, found.people, found.counted) == (7, 5, 6)


@each_format
def test_the_value_of_a_partition_stands_in_the_path_as_urls_write_it(suffix: str, tmp_path: Path) -> None:
    towns = ["Genève", "a/b", "100 %", "it's", "a=b", "\\x81", "\x01", "*?[{"]
    names = ["Gen%C3%A8ve", "a%2Fb", "100 %25", "it's", "a=b", "%81", "%01", "%2A%3F%5B%7B"]
    for place, name in enumerate(names):
        WRITERS[suffix](tmp_path / f"town={name}" / f"0{suffix}", f"{place},tea")
    WRITERS[suffix](tmp_path / "town=" / f"0{suffix}", "9,tea")
    town = approval_voting(candidate="town", candidates=[*towns, "nowhere"])
    assert asked(town, Table(tmp_path, unit="who")) == [1] * len(towns) + [0]
    assert asked(town, Table(tmp_path, unit="who", where="town is null")) == [0] * (len(towns) + 1)
    assert asked(DISH, Table(tmp_path, unit="who", where="town is null")) == [1, 0]


@each_format
def test_what_duckdb_writes_in_partitions_is_read_as_it_was(suffix: str, tmp_path: Path) -> None:
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE t AS SELECT i AS who, ['tea', 'pie'][1 + i % 2] AS dish, "
        "[NULL, 'a b', 'é/ü', '=', '%', 'x.y'][1 + i % 6] AS town, i % 3 AS m FROM range(90) r(i)"
    )
    connection.execute(f"COPY t TO '{tmp_path}/t' (FORMAT {suffix[1:]}, PARTITION_BY (town, m))")
    town = approval_voting(candidate="town", candidates=["a b", "é/ü", "=", "%", "x.y"])
    assert asked(town, Table(tmp_path / "t", unit="who")) == [15] * 5
    assert asked(DISH, Table(tmp_path / "t", unit="who", where="town is null and m = 0")) == [15, 0]


@each_format
def test_a_column_of_the_files_goes_before_a_partition_of_its_name(suffix: str, tmp_path: Path) -> None:
    """Polars writes both; the column has a type."""
    for dish in ("tea", "pie"):
        path = tmp_path / f"dish={dish}" / f"m={len(dish)}" / f"a{suffix}"
        WRITERS[suffix](path, f"{dish},{dish},Ann", header="who,dish,note")
    WRITERS[suffix](tmp_path / "dish=cake" / "m=9" / f"a{suffix}", "x,pie,Ben", header="who,dish,note")
    assert asked(DISH, Table(tmp_path, unit="who", where="m > 1")) == [1, 2]
    frame = pl.DataFrame({"who": range(9), "year": [2020, 2021, 2022] * 3, "dish": ["tea"] * 9})
    frame.lazy().sink_parquet(pl.PartitionBy(tmp_path / "years", key="year", include_key=True), mkdir=True)
    years = Table(tmp_path / "years", unit="who", where="year < 2022")
    assert asked(DISH, years) == [6, 0]
    with years.open() as engine:
        assert engine.schema.column("year").kind == "integer"


@each_format
def test_paths_globs_and_folders_may_be_listed(suffix: str, tmp_path: Path) -> None:
    write = WRITERS[suffix]
    files = [write(tmp_path / f"{name}{suffix}", f"{name},tea", "x,pie") for name in "abc"]
    write(tmp_path / "more" / f"d{suffix}", "d,tea")
    whole: list[Any] = [files[0], str(tmp_path / f"[bc]{suffix}"), tmp_path / "more"]
    for source in (whole, tuple(reversed(whole))):
        assert asked(DISH, Table(source, unit="who")) == [4, 1]
    assert asked(DISH, Table([str(files[1])], unit="who")) == [1, 1]
    assert repr(Table(whole, unit="who")) == "Table(<3 paths>, unit='who')"


@each_format
def test_d13_no_file_is_read_twice(suffix: str, tmp_path: Path) -> None:
    """Where each row is a person, a file that is read twice would make two people of one."""
    file = WRITERS[suffix](tmp_path / "t" / f"a{suffix}", "1,tea")
    (tmp_path / "t" / f"link{suffix}").symlink_to(file)
    os.link(file, tmp_path / "t" / f"hard{suffix}")
    assert asked(DISH, Table(tmp_path / "t", unit=None)) == [1, 0]
    for other in (
        file,
        tmp_path / "t" / f"link{suffix}",
        tmp_path / "t",
        str(tmp_path / "t" / f"h*{suffix}"),
    ):
        with pytest.raises(InvalidParameter, match=r"must name each file once; '.*' is named twice"):
            opened([file, other])


def test_options_of_reading_hold_for_every_file(tmp_path: Path) -> None:
    for name, rows in {"a": "1;1,5;é\n", "b": "2;0,5;é\n3;x;é\n"}.items():
        path = tmp_path / "t" / f"y={name}" / "x.csv"
        path.parent.mkdir(parents=True)
        path.write_bytes(f"who;pays;note\n{rows}".encode("cp1252"))
    median = quantile(value="pays", at="1", candidates=[0, 1])
    table = Table(tmp_path / "t", unit="who", encoding="cp1252", separator=";", decimal=",", where="y = 'b'")
    assert check(median, table, owner=True).counted == 1
    note = approval_voting(candidate="note", candidates=["é"])
    assert asked(note, table) == [2]
    with pytest.raises(TableUnreadable):
        asked(note, Table(tmp_path / "t", unit="who"))


def mixed(folder: Path, suffix: str) -> dict[str, tuple[Any, str]]:
    """Give sources that are no table, each with what is said of it."""
    write = WRITERS[suffix]
    one = write(folder / "one" / f"a{suffix}", "1,tea")
    write(folder / "formats" / f"a{suffix}", "1,tea")
    (folder / "formats" / "readme.txt").write_text("Ann", encoding="utf-8")
    write(folder / "ragged" / "y=1" / f"a{suffix}", "1,tea")
    write(folder / "ragged" / f"b{suffix}", "1,tea")
    write(folder / "schemas" / "y=1" / f"a{suffix}", "1,tea")
    write(folder / "schemas" / "y=2" / f"a{suffix}", "1,tea", header="who,meal")
    write(folder / "delta" / f"a{suffix}", "1,tea")
    (folder / "delta" / "_delta_log").mkdir()
    (folder / "empty" / "below").mkdir(parents=True)
    (folder / "broken").mkdir()
    (folder / "broken" / f"a{suffix}").symlink_to(folder / "nowhere")
    (folder / "linked").mkdir()
    (folder / "linked" / "round").symlink_to(folder / "linked")
    write(folder / "rude" / f"a{suffix}", "1,tea")
    (folder / "rude").rename(folder / "rude\udcff")
    kind = "CSV files with one and the same header" if suffix == ".csv" else "the same columns and types"
    return {
        "formats": (
            folder / "formats",
            rf"of CSV files or of Parquet files alone; it has .*'\{suffix}'.*'.txt'",
        ),
        "partitions": (folder / "ragged", "files of the same partitions"),
        "schemas": (folder / "schemas", f"{kind}.*; theirs differ"),
        "Delta": (folder / "delta", "this one is a Delta table"),
        "empty": (folder / "empty", "a folder with CSV or Parquet files in it; there is none"),
        "a broken link": (folder / "broken", "or to nothing"),
        "a link to a folder": (folder / "linked", "is a link to a folder or to nothing"),
        "bytes": (folder / "rude\udcff", "whose paths are UTF-8"),
        "a glob of folders": (str(folder / "o*"), "matches folders alone"),
        "no path": ([], "at least one file"),
        "no file": ([one, "nowhere.csv"], r"got path 2 of 2\."),
        "no paths": ([one, {"who": "Ann"}], "got a list of something else"),
        "a URL": ([one, "postgresql://ann:31337@host/x"], "'-' and URLs stand alone"),
        "standard input": ([one, "-"], "'-' and URLs stand alone"),
        "a word for databases": (folder / "one", "table must be given for a database file"),
    }


@each_format
def test_what_is_no_single_table_is_refused_before_the_charge(
    suffix: str, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for name, (source, sentence) in mixed(tmp_path, suffix).items():
        with subtests.test(name):
            words = {"table": "x"} if "word" in name else {}
            with pytest.raises(InvalidParameter, match=sentence) as refused:
                opened(source, **words)
            assert "Ann" not in str(refused.value)
            assert "31337" not in str(refused.value)


def test_a_folder_in_which_one_may_not_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    csv_file(tmp_path / "t" / "below" / "a.csv", "1,tea")
    listed = os.listdir

    def closed(path: Any) -> list[str]:
        if str(path).endswith("below"):
            raise PermissionError
        return listed(path)

    monkeypatch.setattr(os, "listdir", closed)
    with pytest.raises(
        InvalidParameter, match="a folder in which you may read everything; 'below' you may not"
    ):
        opened(tmp_path / "t")


def test_d8_the_values_of_partitions_are_in_no_refusal(tmp_path: Path) -> None:
    for name, number in (("id", 31337), ("who", 8675309)):
        csv_file(tmp_path / f"pay={number}" / "a.csv", f"{number},tea", header=f"{name},dish")
    with pytest.raises(InvalidParameter, match="one and the same header") as refused:
        opened(tmp_path)
    assert leaks(refused.value) == []


@each_format
def test_d8_what_is_said_of_a_row_in_a_folder_is_not_repeated(suffix: str, tmp_path: Path) -> None:
    path = WRITERS[suffix](tmp_path / "y=1" / f"a{suffix}", *["31337,8675309"] * 2000)
    content = bytearray(path.read_bytes())
    if suffix == ".csv":
        content += b"8675309,31337,31337\n"
    else:
        footer = int.from_bytes(content[-8:-4], "little") + 8
        content[4:-footer] = bytes(len(content) - footer - 4)
    path.write_bytes(content)
    with pytest.raises(TableUnreadable) as caught:
        asked(DISH, Table(tmp_path, unit="who"))
    assert leaks(caught.value) == []


@on_linux
@each_format
def test_of_a_folder_no_row_is_read_before_the_counts(suffix: str, tmp_path: Path) -> None:
    rows = [f"{i},soup {i * i}" for i in range(100_000)]
    for name in ("warm", "measured"):
        for year in ("2020", "2021"):
            WRITERS[suffix](tmp_path / name / f"year={year}" / f"a{suffix}", *rows)
        before, after = reads_of_rows(Table(tmp_path / name, unit="who"), row_reads.Files())
    assert before < FEW < after


@each_format
def test_d13_a_row_counts_by_itself_whatever_its_partition_holds(suffix: str, tmp_path: Path) -> None:
    """A value that is no number in one partition makes no text of the others, nor does an empty file."""
    for year in ("2020", "2021"):
        WRITERS[suffix](tmp_path / f"year={year}" / f"a{suffix}", "1,tea")
    before = asked(YEARS, Table(tmp_path, unit="who"))
    for name in ("year=soon", "year=", "year=1e999", "year=%00"):
        WRITERS[suffix](tmp_path / name / f"a{suffix}", "1,tea", "2,pie")
    WRITERS[suffix](tmp_path / "year=2022" / f"a{suffix}")
    assert asked(YEARS, Table(tmp_path, unit="who")) == before == [1, 1, 0]
    assert asked(DISH, Table(tmp_path, unit="who", where="year between 2021 and 2030")) == [1, 0]
    assert asked(DISH, Table(tmp_path, unit="who", where="year > 2030")) == [1, 1]  # 1e999 is a number


@each_format
def test_spark_reads_a_folder_as_duckdb_does(years: Path, spark_session: Any) -> None:
    spark_session.conf.set(GUESSED, spark_files.SESSION_SETTINGS[GUESSED])
    frame = spark_files.frame_of_files(spark_session, found_files(str(years), Reading()), Reading())
    spark_session.conf.unset(GUESSED)
    for where in (None, "year = 2021", "year is null", "m = '2' and dish = 'tea'"):
        for problem in (DISH, YEARS):
            expected = asked(problem, Table(years, unit="who", where=where))
            assert asked(problem, Table(frame, unit="who", where=where)) == expected
