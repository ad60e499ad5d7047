"""All options at once, on random tables: every engine gives the same scores, those of the reference."""

import csv
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

import dpselect
from dpselect import Table
from dpselect.engines import spark_files
from dpselect.engines.found_files import found_files
from dpselect.engines.reading import Reading
from dpselect.problems import Problem
from tests.engines import loading, reference
from tests.engines.asking import asked
from tests.engines.cases import Kinds
from tests.engines.reference import Row
from tests.servers.postgres import Server

GUESSED = "spark.sql.sources.partitionColumnTypeInference.enabled"
COLUMNS = ("who", "year", "dish", "a", "b", "c", "pays", "note")
KINDS: Kinds = dict.fromkeys(COLUMNS, "text")
OPTIONS: dict[str, Any] = {"numbers_in_text": True, "decimal": ","}
NAMES = ["Tea", "Crème brûlée", "it's 50% \\ $1"]
SAID = [
    "tea",
    " TEA ",
    "Crème  brûlée",
    "CRèME BRûLéE",
    "it's 50% \\ $1",
    "IT'S 50% \\ $1",
    "cake",
    "Te\ta",
    "é",
]
TICKS = ["x", "no", "0", "0,0", "FALSE", " ", "yes", "NaN"]
PAYS = ["1,5", "0", "-2", "1.5", "x", "3,250", " 7 ", "1e1", "1,5 "]
Truth = bool | None


def rows_of(rng: random.Random, count: int) -> list[Row]:
    def one(values: Sequence[str], nothing: float = 0.2) -> str | None:
        return None if rng.random() < nothing else rng.choice(values)

    def cell() -> str | None:
        return one(
            [rng.choice([";", " ; ", ";;"]).join(rng.choices(SAID, k=rng.randint(1, 4))), rng.choice(SAID)]
        )

    return [
        {
            "who": one([f"p{i}" for i in range(9)], 0.05),
            "year": one(["2020", "2021", "021", "a=b %/é", "12e2"]),
            "dish": cell(),
            "a": one(SAID),
            "b": one([*SAID, *TICKS]),
            "c": one(TICKS),
            "pays": one(PAYS),
            "note": one(["x", "y"], 0.5),
        }
        for _ in range(count)
    ]


def number(text: str | None) -> float | None:
    plain = (text or "").strip()
    if "." in plain or not any(map(str.isdigit, plain)):
        return None
    try:
        return float(plain.replace(",", "."))
    except ValueError:
        return None


def when(
    column: str, holds: Callable[[Any], bool], read: Callable[[Any], Any] = str
) -> Callable[[Row], Truth]:
    """Ask something of a cell; of one without a value it is unknown."""

    def truth(row: Row) -> Truth:
        value = None if row[column] is None else read(row[column])
        return None if value is None else holds(value)

    return truth


ATOMS: dict[str, Callable[[Row], Truth]] = {
    "year = 2021": when("year", lambda year: bool(year == 2021), number),
    "year between 20 and 1500": when("year", lambda year: bool(20 <= year <= 1500), number),
    "year is null": lambda row: row["year"] is None,
    "year <> '2020'": when("year", lambda year: bool(year != "2020")),
    "a < 'd'": when("a", lambda text: bool(text.encode() < b"d")),
    "pays > 1.25": when("pays", lambda pays: bool(pays > 1.25), number),
    "note in ('x', 'z')": when("note", lambda note: bool(note == "x")),
    "a = b": lambda row: None if row["a"] is None or row["b"] is None else row["a"] == row["b"],
}


def condition(rng: random.Random) -> tuple[str, Callable[[Row], Truth]]:
    """Give a filter, and what Python makes of it: with two of these sometimes unknown."""
    (first, one), (second, other) = rng.sample(sorted(ATOMS.items()), 2)
    word, decides = rng.choice([("and", False), ("or", True)])
    negated = rng.random() < 0.5

    def holds(row: Row) -> Truth:
        both = [one(row), None if other(row) is None else not other(row)]
        truth = decides if decides in both else None if None in both else not decides
        return truth if truth is None or not negated else not truth

    text = f"({first} {word} not {second})"
    return (f"not {text}" if negated else text), holds


def fold(text: str) -> str:
    """Ignore the case of ASCII letters, and all white space but one space between words."""
    return "".join(sign.lower() if sign.isascii() else sign for sign in " ".join(text.split()))


def folded(rows: Sequence[Row], *columns: str) -> list[Row]:
    cells = [
        {name: None if row[name] is None else ";".join(map(fold, row[name].split(";"))) for name in columns}
        for row in rows
    ]
    return [{**row, **own} for row, own in zip(rows, cells, strict=True)]


def questions() -> dict[str, tuple[Problem, Callable[[Sequence[Row]], Any] | None]]:
    """Give problems with all their options; the reference where a row's choice does not hang on text."""
    folded_names = [fold(name) for name in NAMES]
    common: dict[str, Any] = {"candidates": NAMES, "split": ";", "ignore_case": True}

    def split(rows: Sequence[Row]) -> Any:
        return reference.split_rows(folded(rows, "dish"), "dish", ";", folded_names, fold=False)

    def tally(most: int | None, *, distinct: bool) -> Callable[[Sequence[Row]], Any]:
        return lambda rows: reference.placed_tally(
            lambda: split(rows), "who", 3, distinct=distinct, most=most
        )

    def ballots(rows: Sequence[Row]) -> Any:
        return reference.ballots(folded(rows, "a", "b"), "who", ["a", "b"], folded_names, fold=False)

    return {
        "approval": (dpselect.approval_voting(candidate="dish", **common), tally(None, distinct=True)),
        "plurality": (dpselect.plurality(candidate="dish", **common), tally(1, distinct=True)),
        "most common": (
            dpselect.most_common(column="dish", rows_per_person=2, **common),
            tally(2, distinct=False),
        ),
        "borda": (dpselect.borda(ranking=["a", "b"], candidates=NAMES, ignore_case=True), ballots),
        "ticked": (dpselect.approval_voting(columns={"B": "b", "C": "c"}), None),
        "years": (dpselect.plurality(candidate="year", candidates=[2020, 2021, 21, 1200]), None),
        "quantile": (dpselect.quantile(value="pays", at="2/3", candidates=[-2, 0, "1.5", "3.25"]), None),
        "prices": (dpselect.pricing(value="pays", prices=[0, "1.5", 7]), None),
        "sums": (
            dpselect.weighted_sum(
                candidate="a", candidates=NAMES, value="pays", bounds=(-1, 2), unit="1/4", ignore_case=True
            ),
            None,
        ),
    }


# ---- sources -----------------------------------------------------------------------------------------------


def _folders(rows: Sequence[Row], folder: Path) -> dict[Path, list[Row]]:
    """Sort rows into folders by their year, written as Hive does."""
    found: dict[Path, list[Row]] = {}
    for row in rows:
        name = "__HIVE_DEFAULT_PARTITION__" if row["year"] is None else row["year"]
        name = name.replace("%", "%25").replace("/", "%2F").replace("=", "%3D")
        path = folder / "years" / f"year={name}"
        found.setdefault(path, []).append({key: value for key, value in row.items() if key != "year"})
    return found


def from_parquet_folder(kinds: Kinds, rows: Sequence[Row], unit: str | None, folder: Path) -> Table:
    own = {name: kind for name, kind in kinds.items() if name != "year"}
    for path, part in _folders(rows, folder).items():
        path.mkdir(parents=True)
        for place in range(2):
            pyarrow.parquet.write_table(loading.arrow(own, part[place::2]), path / f"{place}.parquet")
    return Table(folder / "years", unit=unit)


def from_csv_folder(kinds: Kinds, rows: Sequence[Row], unit: str | None, folder: Path) -> Table:
    own = [name for name in kinds if name != "year"]
    for path, part in _folders(rows, folder).items():
        path.mkdir(parents=True)
        with (path / "0.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter=";").writerows([own, *([row[name] for name in own] for row in part)])
    return Table(folder / "years", unit=unit)


SOURCES: list[loading.Loader] = [
    from_parquet_folder,
    from_csv_folder,
    loading.from_several,
    loading.from_csv,
    loading.from_pandas,
]
OTHERS: list[loading.Loader] = [
    loading.from_parquet,
    loading.from_arrow_file,
    loading.from_polars,
    loading.from_lazy_polars,
    loading.from_relation,
    loading.from_database,
]


def agree(
    load: Callable[[Sequence[Row]], Table], seed: int, subtests: pytest.Subtests, most: int = 6
) -> None:
    """Ask questions of a source, each under a filter of its own, and of an Arrow table of the rows left."""
    rng = random.Random(seed)
    rows = rows_of(rng, 60)
    table = load(rows)
    for name, (problem, expected) in rng.sample(sorted(questions().items()), most):
        where, holds = condition(rng)
        there = [row for row in rows if holds(row) is True]
        with subtests.test(name, where=where):
            scores = asked(problem, replace(table, where=where, **OPTIONS))
            assert scores == asked(problem, Table(loading.arrow(KINDS, there), unit="who", **OPTIONS))
            if expected is not None:
                assert scores == list(expected(there))


@pytest.mark.parametrize("load", SOURCES, ids=lambda load: load.__name__)
def test_every_source_gives_the_same_scores_with_all_options_at_once(
    load: loading.Loader, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    agree(lambda rows: load(KINDS, rows, "who", tmp_path), SOURCES.index(load), subtests)


@pytest.mark.slow
@pytest.mark.parametrize("load", [*SOURCES, *OTHERS], ids=lambda load: load.__name__)
def test_every_source_gives_the_same_scores_on_many_tables(
    load: loading.Loader, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for seed in range(100, 110):
        own = tmp_path / str(seed)
        own.mkdir()
        agree(lambda rows, own=own: load(KINDS, rows, "who", own), seed, subtests, 9)  # type: ignore[misc]


@pytest.mark.parametrize(
    "seeds", [range(90, 91), pytest.param(range(50, 90), marks=pytest.mark.slow)], ids=len
)
def test_postgresql_gives_the_same_scores_with_all_options_at_once(
    postgres_server: Server, seeds: range, subtests: pytest.Subtests
) -> None:
    url = postgres_server.url()

    def load(rows: Sequence[Row]) -> Table:
        loading.to_postgres(url, "options", KINDS, rows)
        return Table(url, table="options", unit="who")

    for seed in seeds:
        agree(load, seed, subtests)


@pytest.mark.parametrize("most", [2, pytest.param(9, marks=pytest.mark.slow)])
def test_spark_gives_the_same_scores_with_all_options_at_once(
    spark_session: Any, tmp_path: Path, most: int, subtests: pytest.Subtests
) -> None:
    """From a folder of partitions, as the command line reads it."""

    def load(rows: Sequence[Row]) -> Table:
        found = found_files(str(from_parquet_folder(KINDS, rows, "who", tmp_path).source), Reading())
        spark_session.conf.set(GUESSED, "false")
        frame = spark_files.frame_of_files(spark_session, found, Reading())
        spark_session.conf.unset(GUESSED)
        return Table(frame, unit="who")

    agree(load, 92, subtests, most)
