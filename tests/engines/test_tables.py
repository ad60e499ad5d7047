"""Tables: what they are made of, what they refuse, and how they show themselves."""

import copy
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import narwhals
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpselect
from dpselect import Table
from dpselect.errors import InvalidParameter, MissingExtra
from tests.engines import loading
from tests.engines.asking import asked

DISH = dpselect.approval_voting(candidate="dish", candidates=["soup", "pie"])


def request(rows: Any, problem: Any = DISH, unit: str | None = "voter") -> None:
    with Table(rows, unit=unit).open() as engine:
        problem.request(engine.schema, unit=unit)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (
            {"voter": [1], "dihs": ["pie"]},
            r"^column 'dish' is not in the table; it has: voter, dihs. Did you mean 'dihs'\?$",
        ),
        ({"voter": [1], "Dish": ["pie"]}, r"Did you mean 'Dish'\?$"),
        ({"voter": [1], "x": ["pie"]}, r"^column 'dish' is not in the table; it has: voter, x.$"),
        ({"dish": ["pie"]}, r"^column 'voter' is not in the table"),
        ({"voter": [1.5], "dish": ["pie"]}, r"^unit must be a column of text, whole numbers or UUIDs"),
        (
            {"voter": [1], "dish": [5]},
            r"^candidates must be numbers, as column 'dish' holds whole numbers; got",
        ),
        (
            {"voter": [1], "dish": [True]},
            r"^candidates must be truth values, as column .dish. holds them; got",
        ),
        ({f"column {i}": [1] for i in range(50)}, r"column 11, …\."),
    ],
)
def test_a_question_that_does_not_fit_the_schema_is_refused(rows: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidParameter, match=sentence):
        request(pa.table(rows))


def test_a_column_that_holds_no_numbers_is_refused() -> None:
    dates = pa.table({"voter": [1], "x": pa.array([0], pa.date32())})
    with pytest.raises(InvalidParameter, match="column 'x' must hold numbers; it holds dates"):
        request(dates, dpselect.pricing(value="x", prices=[1]))
    with pytest.raises(InvalidParameter, match="column 'x' must hold text or numbers"):
        request(dates, dpselect.approval_voting(candidate="x", candidates=[1]))


def test_a_csv_that_names_a_column_twice_is_refused_only_if_it_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("voter,dish,x,x,DISH\n1,pie,1,2,soup\n", encoding="utf-8")
    request(path)
    assert asked(DISH, Table(path, unit="voter")) == [0, 1]
    with pytest.raises(InvalidParameter, match="column 'x' must be in the table once; it is there 2 times"):
        request(path, dpselect.pricing(value="x", prices=[1]))


def test_the_type_of_a_pandas_column_does_not_depend_on_its_values() -> None:
    for values in (["a", "b"], [1, 2], [None, None]):
        frame = pd.DataFrame({"voter": ["1", "2"], "dish": pd.Series(values, dtype=object)})
        with Table(frame, unit="voter").open() as engine:
            assert engine.schema.column("dish").kind == "text"


@pytest.mark.parametrize(
    "words",
    [
        {"unit": ""},
        {"unit": 5},
        {"unit": None, "table": 5},
        {"unit": None, "dataset": ""},
        {"unit": "a", "columns": []},
    ],
)
def test_words_that_make_no_table_are_refused(words: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        Table("rows.csv", **words)


def test_a_unit_has_no_default() -> None:
    with pytest.raises(TypeError, match="unit"):
        Table("rows.csv")  # type: ignore[call-arg]  # the point of the test


@pytest.mark.parametrize(
    "source",
    [None, 5, [{"voter": 1}], {"voter": [1]}, "s3://bucket/rows.csv", "https://example.org/rows.csv"],
)
def test_a_source_of_another_kind_is_refused(source: object) -> None:
    with pytest.raises(InvalidParameter, match=r"source must be a path or glob of CSV"):
        request(source)


@pytest.mark.parametrize("words", [{"table": "votes"}, {"columns": {"voter": "text"}}])
def test_words_that_do_not_belong_to_a_frame_are_refused(words: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter, match="must be given for"):
        Table(pl.DataFrame({"voter": [1]}), unit="voter", **words).open()


def test_categories_are_text() -> None:
    votes = {"voter": [1, 2, 2], "dish": ["pie", "pie", "soup"]}
    by_dish = dpselect.plurality(candidate="voter", candidates=[1, 2])
    for frame in (
        pd.DataFrame(votes).astype({"dish": "category"}),
        pl.DataFrame(votes).with_columns(pl.col("dish").cast(pl.Categorical)),
        pl.DataFrame(votes).with_columns(pl.col("dish").cast(pl.Enum(["soup", "pie"]))),
        pa.table(votes).set_column(1, "dish", pa.array(votes["dish"]).dictionary_encode()),
    ):
        assert asked(DISH, Table(frame, unit="voter")) == [1, 2]
        assert asked(by_dish, Table(frame, unit="dish")) == asked(
            by_dish, Table(pa.table(votes), unit="dish")
        )


def test_a_table_shows_where_its_rows_are_and_neither_rows_nor_secrets() -> None:
    shown = {
        repr(Table("rows.csv", unit="voter")): "Table('rows.csv', unit='voter')",
        repr(Table(Path("rows.csv"), unit=None)): "Table('rows.csv', unit=None)",
        repr(Table(pl.DataFrame({"x": [31337]}), unit="x")): "Table(<polars DataFrame>, unit='x')",
        repr(
            Table("postgresql://me:secret@host/db", unit="x", table="t", dataset="d")
        ): "Table(<PostgreSQL>, unit='x', table='t', dataset='d')",
    }
    assert list(shown) == list(shown.values())


def test_an_open_table_shows_nothing() -> None:
    with Table(
        loading.arrow({"voter": "integer", "dish": "text"}, [{"voter": 31337, "dish": "pie"}]), unit="voter"
    ).open() as engine:
        counts = engine.counts(DISH.request(engine.schema, unit="voter"), bytes(16))
        assert repr(counts) == "<private counts>"
        assert "31337" not in repr(engine)
        with pytest.raises(TypeError, match="not pickled"):
            copy.deepcopy(counts)


@pytest.mark.parametrize("salt", [b"", bytes(15), "0123456789abcdef", 5, None])
def test_a_salt_is_sixteen_bytes(salt: Any) -> None:
    with Table(loading.arrow({"voter": "integer", "dish": "text"}, []), unit="voter").open() as engine:
        question = DISH.request(engine.schema, unit="voter")
        with pytest.raises(InvalidParameter, match="salt must be 16 random bytes"):
            engine.counts(question, salt)


WITHOUT = """
import sys
sys.modules[{missing!r}] = None
import importlib.util
from dpselect import Table
try:
    {source}
except ImportError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize(
    ("missing", "source", "extra"),
    [
        ("psycopg", "Table('postgresql://x', table='t', unit='u').open().__enter__()", "postgres"),
        ("pyarrow", "open('x.arrow', 'w').close(); Table('x.arrow', unit='u').open().__enter__()", "arrow"),
        (
            "pyarrow",
            "import duckdb; Table(duckdb.sql('SELECT 1 AS u'), unit='u').open().__enter__()",
            "arrow",
        ),
    ],
)
def test_a_missing_extra_is_one_sentence_with_the_command(
    missing: str, source: str, extra: str, tmp_path: Path
) -> None:
    code = WITHOUT.format(missing=missing, source=source)
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert said.stdout.startswith("MissingExtra ")
    assert said.stdout.endswith(f"Run: pip install 'dpselect[{extra}]'\n")
    assert issubclass(MissingExtra, ImportError)


@pytest.mark.parametrize("wanted", ["zz", "c" * 60])
def test_d8_of_a_header_that_rows_have_run_into_little_is_shown(wanted: str, tmp_path: Path) -> None:
    cells = [f"{'c' * 45} SSN {8675309 + i}" for i in range(50)]
    (tmp_path / "a.csv").write_text(",".join(cells) + "\nx\n", encoding="utf-8")
    problem = dpselect.approval_voting(candidate=wanted, candidates=["a", "b"])
    with pytest.raises(InvalidParameter, match="is not in the table; it has: ccc") as caught:
        asked(problem, Table(tmp_path / "a.csv", unit=None))
    listed = str(caught.value).partition("it has: ")[2].partition(". Did you mean")[0]
    assert "8675" not in str(caught.value)
    names = listed.split(", ")
    assert len(names) == 13
    assert max(map(len, names)) == 40


@pytest.mark.parametrize("native", ["polars", "lazy polars", "pandas", "arrow", "duckdb"])
def test_a_narwhals_frame_is_read_as_its_native_one(native: str) -> None:
    rows = pl.DataFrame({"voter": [1, 2, 2], "dish": ["pie", "pie", "soup"]})
    connection = duckdb.connect()
    connection.register("rows", rows)
    frames: dict[str, Any] = {
        "polars": rows,
        "lazy polars": rows.lazy(),
        "pandas": rows.to_pandas(),
        "arrow": rows.to_arrow(),
        "duckdb": connection.sql("SELECT * FROM rows"),
    }
    frame = narwhals.from_native(frames[native])
    assert repr(Table(frame, unit="voter")).startswith("Table(<narwhals ")
    assert asked(DISH, Table(frame, unit="voter")) == asked(DISH, Table(frames[native], unit="voter"))


def test_what_narwhals_gives_and_we_do_not_know_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="source must be"):
        request(narwhals.from_native(pl.Series("voter", [31337]), series_only=True))
