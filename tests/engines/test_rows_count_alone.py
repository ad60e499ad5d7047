"""Whether a row counts depends on that row alone, on every reader and whatever type is asked for."""

import itertools
import json
import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

from dpselect import Table, approval_voting, plurality, pricing, quantile, weighted_sum
from dpselect.errors import InvalidParameter, TableUnreadable
from dpselect.problems import Problem
from tests.engines import loading, reference
from tests.engines.asking import asked
from tests.engines.cases import Kinds
from tests.engines.reference import Row
from tests.engines.test_contract import EMBEDDED, Loader

KINDS: Kinds = {"person": "integer", "dish": "text", "x": "double"}
NUMBERS = [0, 50, 100, 250, 1000]
PROBLEMS: list[tuple[Problem, Callable[[list[Row]], Sequence[Any]]]] = [
    (
        quantile(value="x", at="1/2", candidates=NUMBERS),
        lambda rows: reference.closeness(
            reference.amounts(rows, "person", "x"), Fraction(1, 2), [Fraction(n) for n in NUMBERS]
        ),
    ),
    (
        pricing(value="x", prices=NUMBERS),
        lambda rows: reference.revenue(
            reference.amounts(rows, "person", "x"), [Fraction(n) for n in NUMBERS]
        ),
    ),
    (
        weighted_sum(candidate="dish", candidates=["pie", "tea"], value="x", bounds=(-1, 1), unit=1),
        lambda rows: reference.clamped_sums(
            rows, "person", ("dish", "x"), ["pie", "tea"], (Fraction(-1), Fraction(1))
        ),
    ),
]


def half_missing(missing: float | None, *more: float | None) -> list[Row]:
    """Give a hundred numbers, as many rows without one, and a few people more."""
    values = [100.0 + i for i in range(100)] + [missing] * 100 + list(more)
    return [{"person": i, "dish": "pie" if i % 2 else "tea", "x": x} for i, x in enumerate(values)]


TABLES = {
    "NaN": half_missing(math.nan),
    "NaN, and one inf": half_missing(math.nan, math.inf),
    "NaN, and one -inf": half_missing(math.nan, -math.inf),
    "NaN, and both": half_missing(math.nan, math.inf, -math.inf),
    "NULL": half_missing(None),
    "NULL, and one NaN": half_missing(None, math.nan),
    "zeros of both signs": half_missing(-0.0, 0.0),
    "extremes": half_missing(math.nan, 1.7976931348623157e308, -5e-324, 5e-324, None),
    "nothing but NaN": half_missing(math.nan)[100:],
}


def from_arrow_data_set(kinds: Kinds, rows: Sequence[Row], unit: str | None, folder: Path) -> Table:
    return Table(pyarrow.dataset.dataset(loading.parquet(kinds, rows, folder)), unit=unit)


def from_arrow_scanner(kinds: Kinds, rows: Sequence[Row], unit: str | None, folder: Path) -> Table:
    return Table(pyarrow.dataset.dataset(loading.parquet(kinds, rows, folder)).scanner(), unit=unit)


def from_arrow_reader(kinds: Kinds, rows: Sequence[Row], unit: str | None, folder: Path) -> Table:
    del folder
    return Table(loading.arrow(kinds, rows).to_reader(), unit=unit)


def from_arrow_batch(kinds: Kinds, rows: Sequence[Row], unit: str | None, folder: Path) -> Table:
    del folder
    return Table(loading.arrow(kinds, rows).combine_chunks().to_batches()[0], unit=unit)


def from_parquet_of_polars(kinds: Kinds, rows: Sequence[Row], unit: str | None, folder: Path) -> Table:
    frame = pl.from_arrow(loading.arrow(kinds, rows))
    assert isinstance(frame, pl.DataFrame)
    frame.write_parquet(folder / "rows.parquet")
    return Table(folder / "rows.parquet", unit=unit)


def from_small_row_groups(kinds: Kinds, rows: Sequence[Row], unit: str | None, folder: Path) -> Table:
    pyarrow.parquet.write_table(loading.arrow(kinds, rows), folder / "rows.parquet", row_group_size=7)
    return Table(folder / "rows.parquet", unit=unit)


def name_of(load: Loader) -> str:
    return load.__name__


READERS: list[Loader] = [
    *EMBEDDED,
    from_arrow_data_set,
    from_arrow_scanner,
    from_arrow_reader,
    from_arrow_batch,
    from_parquet_of_polars,
    from_small_row_groups,
]


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("load", [load for load in READERS if load is not loading.from_database], ids=name_of)
def test_d13_one_person_switches_no_filter_for_the_others(
    load: Loader, every: int, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    no_filter_is_switched(load, every, tmp_path, subtests)


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_d13_one_person_switches_no_filter_for_the_others_in_a_database(
    every: int, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """It is read by a process of its own, which starts for each question."""
    no_filter_is_switched(loading.from_database, every, tmp_path, subtests)


def no_filter_is_switched(load: Loader, every: int, tmp_path: Path, subtests: pytest.Subtests) -> None:
    asked_of_all = [*itertools.product(TABLES.items(), PROBLEMS)]
    first = READERS.index(load) % every  # another part of them is asked of each reader
    for (name, rows), (problem, expected) in asked_of_all[first::every]:
        folder = tmp_path / f"{name}, {problem.name}"
        folder.mkdir()
        with subtests.test(folder.name):
            scores = asked(problem, load(KINDS, rows, "person", folder))
            assert scores == [round(score / problem.unit) for score in expected(rows)]


# ---- the question chooses a type ---------------------------------------------------------------------------

DISH = approval_voting(candidate="dish", candidates=["pie", "tea"])
ODD = [
    '"SSN 8675309"', "3.5", "true", "false", "[1]", '{"a": 1}', "null", '""', "1e999", "-1e999",
    "123456789012345678901234567890", '"7"', '" 7"', '"NaN"', '"inf"', '"\\u0000"', "1e2", '"1_000"',
    '"0x10"', "9999999999999999999",
]  # fmt: skip


@pytest.mark.parametrize("kind", ["text", "integer", "double"])
@pytest.mark.parametrize("odd", ODD)
def test_c5_a_value_of_another_type_drops_its_row_and_no_other(kind: str, odd: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    lines = ['{"voter": 1, "dish": "pie", "note": 5}', f'{{"voter": {odd}, "dish": "tea", "note": {odd}}}']
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    columns = {"voter": "text" if kind == "double" else kind, "dish": "text", "note": kind}
    pie, tea = asked(DISH, Table(path, unit="voter", columns=columns))
    assert pie == 1
    assert tea in (0, 1)
    of_notes = quantile(value="note", at="1/2", candidates=[4, 5, 6])
    alone = asked(of_notes, Table(path, unit=None, columns=columns))
    assert len(alone) == 3


@pytest.mark.parametrize(
    ("written", "kept"), [("5", 1), ('"5"', 1), ('"+5"', 1), ("5.0", 0), ("5.4", 0), ("true", 0), ('"5x"', 0)]
)
def test_a_column_of_integers_holds_what_spells_one(written: str, kept: int, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f'{{"note": {written}}}\n', encoding="utf-8")
    five = approval_voting(candidate="note", candidates=[5, 1])
    assert sum(asked(five, Table(path, unit=None, columns={"note": "integer"}))) == kept


def test_c5_a_line_of_json_with_a_key_twice_or_no_object_is_read_by_itself(tmp_path: Path) -> None:
    lines = [
        '{"voter": "1", "dish": "pie", "dish": "tea"}',
        "5",
        "null",
        "[1]",
        '{"voter": "2", "dish": "tea"}',
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert asked(DISH, Table(path, unit="voter", columns={"voter": "text", "dish": "text"})) == [1, 1]


def test_keys_of_json_may_hold_any_sign(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    keys = ['a/b~1"c', "$.dish[0]", "'", "ü {}"]
    path.write_text(json.dumps(dict.fromkeys(keys, "pie")) + "\n", encoding="utf-8")
    for key in keys:
        problem = approval_voting(candidate=key, candidates=["pie", "tea"])
        assert asked(problem, Table(path, unit=None, columns={key: "text"})) == [1, 0]


@pytest.mark.parametrize("column", ["dish", "note"])
def test_c5_a_csv_with_bytes_that_are_no_text_is_unreadable_whatever_is_asked(
    column: str, tmp_path: Path
) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b"voter,dish,note\n1,pie,\xff\n2,tea,x\n")
    problem = approval_voting(candidate=column, candidates=["pie", "tea"])
    with pytest.raises(TableUnreadable):
        asked(problem, Table(path, unit="voter"))


def test_a_csv_may_break_a_letter_across_blocks(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    rows = "".join(f"{i},pie,{'é' * 1000}\n" for i in range(1200))
    path.write_text("voter,dish,x\n" + rows, encoding="utf-8")
    assert path.stat().st_size > 2 * 2**20
    assert asked(DISH, Table(path, unit="voter")) == [1200, 0]


class Contrary(float):
    """A number that cannot be written."""

    def __repr__(self) -> str:
        raise TypeError("8675309")


# ---- pandas ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "last",
    [
        "soup",
        7,
        7.5,
        None,
        math.nan,
        pd.NaT,
        pd.NA,
        b"x",
        ("a",),
        object(),
        10**5000,
        "\ud800",
        True,
        Decimal("sNaN"),
        Contrary(),
    ],
    ids=lambda last: type(last).__name__,
)
@pytest.mark.parametrize("beside", [None, pd.array(["z"] * 10, dtype="string[pyarrow]")])
@pytest.mark.parametrize("arrow", [False, True])
def test_c5_types_of_pandas_come_from_its_dtypes_alone(
    last: object,
    beside: Any,
    *,
    arrow: bool,
) -> None:
    frame = pd.DataFrame(
        {
            "voter": pd.array(range(10), dtype="int64[pyarrow]" if arrow else "int64"),
            "dish": pd.Series(["pie"] * 9 + [last], dtype=object),
        }
    )
    if beside is not None:
        frame["beside"] = beside
    problem = approval_voting(candidate="dish", candidates=["pie", "tea"])
    with Table(frame, unit="voter").open() as engine:
        assert engine.schema.column("dish").kind == "text"
    assert asked(problem, Table(frame, unit="voter")) == [9, 0]


def test_objects_that_spell_numbers_are_the_text_of_them() -> None:
    frame = pd.DataFrame({"x": pd.Series([5, np.int64(5), 5.0, "5", None], dtype=object)})
    five = approval_voting(candidate="x", candidates=[5, 6])
    assert asked(five, Table(frame, unit=None)) == [4, 0]
    strings = approval_voting(candidate="x", candidates=["5", "6"])
    assert asked(strings, Table(frame, unit=None)) == [3, 0]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (pd.Categorical(["pie", None, "tea"]), "text"),
        (pd.Categorical([1, None, 2]), "other"),
        (pd.Categorical([1, 1, 2]), "other"),
        (pd.array(["a", None, "b"], dtype="string"), "text"),
        (pd.array([1, None, 2], dtype="Int64"), "integer"),
        (pd.array([1.5, None, 2], dtype="Float32"), "single"),
        (pd.array([True, False, True]), "boolean"),
        (pd.array([1, None, 2], dtype="int16[pyarrow]"), "integer"),
        (pd.array([None, None, None], dtype=pd.ArrowDtype(pa.string())), "text"),
        (pd.to_datetime(["2020-01-01"] * 3), "timestamp"),
        (pd.to_datetime(["2020-01-01"] * 3, utc=True), "other"),
        (pd.to_timedelta([1, 2, 3]), "other"),
        (np.array([1, 2, 3], dtype=np.uint8), "integer"),
        (np.array([1, 2, 3], dtype=np.float32), "single"),
    ],
)
def test_a_column_of_pandas_has_the_kind_of_its_type(values: Any, kind: str) -> None:
    frame = pd.DataFrame({"voter": [1, 2, 3], "x": values})
    for rows in (frame, frame.iloc[:0], frame.iloc[[1, 1]]):
        with Table(rows, unit="voter").open() as engine:
            assert engine.schema.column("x").kind == kind


def test_a_frame_may_name_a_column_twice_or_by_a_number() -> None:
    frame = pd.DataFrame([["1", "pie", "a", "b"]], columns=["voter", "dish", 3, 3])
    assert asked(DISH, Table(frame, unit="voter")) == [1, 0]


# ---- text that is not UTF-8 --------------------------------------------------------------------------------

BROKEN = [b"\xff", b"pie\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"tea?\xfe", b"\xff" * 40]


def texts(values: Sequence[bytes | None], kind: Any = None) -> Any:
    """Give a column of text that holds these bytes, whether they are text or not."""
    wide = pa.array(values, pa.large_binary() if kind == pa.large_string() else pa.binary())
    return pa.Array.from_buffers(kind or pa.string(), len(values), wide.buffers(), wide.null_count)


def some_broken(broken: bytes) -> Any:
    """Give ballots whose text is not UTF-8: of a voter, of a dish, of neither (whole), and of a note."""
    voters = [b"ann", b"ben", broken, b"cem", b"who?", b"who?", None]
    dishes = [b"pie", broken, b"pie", b"tea", b"tea", b"pie", b"tea"]
    notes = [broken, b"b", b"c", None, b"e", b"f", b"g"]
    return pa.table(
        {"voter": texts(voters), "dish": texts(dishes), "note": texts(notes), "n": list(range(len(voters)))}
    )


def written_parquet(table: Any, folder: Path) -> Any:
    pyarrow.parquet.write_table(table, folder / "rows.parquet", row_group_size=3)
    return folder / "rows.parquet"


def several_parquets(table: Any, folder: Path) -> Any:
    for number in range(table.num_rows):
        pyarrow.parquet.write_table(table.slice(number, 1), folder / f"rows{number}.parquet")
    return folder / "rows*.parquet"


def as_dictionaries(table: Any, folder: Path) -> Any:
    del folder
    columns = {}
    for name in table.column_names:
        column = table[name].combine_chunks()
        if pa.types.is_string(column.type):
            raw = column.cast(pa.binary()).dictionary_encode()
            values = texts(raw.dictionary.to_pylist())
            column = pa.DictionaryArray.from_arrays(raw.indices, values)
        columns[name] = column
    return pa.table(columns)


SOURCES: dict[str, Callable[[Any, Path], Any]] = {
    "parquet": written_parquet,
    "several parquets": several_parquets,
    "arrow table": lambda table, _: table,
    "arrow dictionaries": as_dictionaries,
    "arrow reader": lambda table, _: table.to_reader(max_chunksize=2),
    "arrow data set": lambda table, folder: pyarrow.dataset.dataset(written_parquet(table, folder)),
}


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("source", SOURCES.values(), ids=list(SOURCES))
def test_c5_text_that_is_not_utf8_drops_its_row_and_no_other(
    source: Callable[[Any, Path], Any], broken: bytes, tmp_path: Path
) -> None:
    ballots = some_broken(broken)
    pies_and_teas = [2, 2]  # of ann, cem and who?; neither of the voter nor of the dish that is broken
    assert asked(DISH, Table(source(ballots, tmp_path), unit="voter")) == pies_and_teas
    assert asked(DISH, Table(source(ballots, tmp_path), unit="n")) == [3, 3]
    assert asked(DISH, Table(source(ballots, tmp_path), unit=None)) == [3, 3]
    by_note = approval_voting(candidate="note", candidates=["b", "c", "pie"])
    assert asked(by_note, Table(source(ballots, tmp_path), unit="voter")) == [1, 0, 0]


def test_c5_two_people_whose_ids_are_not_utf8_do_not_become_one_or_a_third(tmp_path: Path) -> None:
    votes = pa.table(
        {"voter": texts([b"a\xff", b"a\xfe", b"a?", b"a"]), "dish": ["pie", "tea", "pie", "tea"]}
    )
    first = plurality(candidate="dish", candidates=["pie", "tea"])
    assert asked(first, Table(written_parquet(votes, tmp_path), unit="voter")) == [1, 1]


@pytest.mark.parametrize("name", ["file_row_number", "File_Index"])
def test_a_parquet_column_named_as_duckdb_numbers_rows_is_refused(name: str, tmp_path: Path) -> None:
    path = written_parquet(pa.table({"voter": ["a"], "dish": ["pie"], name: [7]}), tmp_path)
    with pytest.raises(InvalidParameter, match=f"without a column named {name!r}"):
        asked(DISH, Table(path, unit="voter"))


def test_c5_a_value_that_arrow_has_no_place_for_drops_its_row_and_no_other() -> None:
    """DuckDB's 24:00:00, and whole numbers of more than 38 digits."""
    connection = duckdb.connect()
    relation = connection.sql(
        f"SELECT * FROM (VALUES (1, 'pie', '{2**127 - 1}'::HUGEINT, TIME '24:00:00'), "
        "(2, 'pie', 5::HUGEINT, TIME '23:59:59.999999'), (3, 'tea', -5::HUGEINT, NULL)) t(who, dish, h, tm)"
    )
    dish = approval_voting(candidate="dish", candidates=["pie", "tea"])
    for where, scores in {
        "h > 0": [1, 0],
        "not h = 5": [0, 1],
        "h = h": [1, 1],
        "tm > TIME '12:00:00'": [1, 0],
        "tm = tm": [1, 0],
        "tm is null": [1, 1],
    }.items():
        assert asked(dish, Table(relation, unit="who", where=where)) == scores, where
    assert asked(approval_voting(candidate="h", candidates=[5, -5]), Table(relation, unit="who")) == [1, 1]


def test_c5_the_least_whole_number_of_128_bits_is_no_decimal_and_drops_its_row() -> None:
    """Arrow's own check lets it pass, DuckDB then fails on it."""
    raw = b"".join(number.to_bytes(16, "little", signed=True) for number in (-(2**127), 5))
    amounts = pa.Array.from_buffers(pa.decimal128(38, 0), 2, [None, pa.py_buffer(raw)])
    table = pa.table({"who": [0, 1], "pays": amounts})
    assert asked(pricing(value="pays", prices=[0, 5]), Table(table, unit="who")) == [0, 500]
    who = approval_voting(candidate="who", candidates=[0, 1])
    assert asked(who, Table(table, unit="who", where="not pays = 7")) == [0, 1]


def test_c5_whole_numbers_that_a_relation_would_hand_over_with_another_sign_are_refused() -> None:
    relation = duckdb.connect().sql(f"SELECT 0 AS who, '{2**128 - 1}'::UHUGEINT AS pays")
    pays, who = pricing(value="pays", prices=[1]), approval_voting(candidate="who", candidates=[0])
    for problem, table in (
        (pays, Table(relation, unit="who")),
        (who, Table(relation, unit="who", where="pays > 1")),
        (who, Table(relation, unit="pays")),
    ):
        with pytest.raises(InvalidParameter, match=r"128 bits without a sign.*Cast it"):
            asked(problem, table)
