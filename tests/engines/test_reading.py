"""Real exports: separators, decimal commas, encodings, text that is no number, columns of odd types."""

import gzip
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import dpselect
from dpselect import Table, approval_voting, plurality, pricing, quantile, weighted_sum
from dpselect.engines import spark_files
from dpselect.engines.found_files import found_files
from dpselect.engines.reading import ENCODINGS, Reading
from dpselect.errors import InvalidParameter, RequestChanged
from dpselect.problems import Problem
from tests.engines.asking import asked

DISH = approval_voting(candidate="dish", candidates=["tea", "crème", "pie;\n2"])
PAYS = pricing(value="pays", prices=["0.5", "1.5", 1000])
ROWS = [("1", "tea", "1,50"), ("2", "crème", "1.234,50"), ("3", "pie;\n2", "$3.50"), ("4", "tea", " 2 ")]


def exported(separator: str = ";", end: str = "\r\n") -> str:
    lines = [("who", "dish", "pays"), *ROWS]
    return "".join(separator.join(f'"{cell}"' for cell in line) + end for line in lines)


@pytest.mark.parametrize("ending", [".csv", ".txt", ".tsv", ".csv.gz"])
@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252", "latin-1"]
)
def test_an_export_is_read_in_its_encoding(encoding: str, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"export{ending}"
    content = exported("\t" if ending == ".tsv" else ";").encode(encoding)
    path.write_bytes(gzip.compress(content) if ending.endswith(".gz") else content)
    table = Table(path, unit="who", encoding=encoding, decimal=",")
    assert asked(DISH, table) == [2, 1, 1]
    assert asked(PAYS, table) == [100, 300, 0]


def test_utf_16_has_its_mark_or_is_of_windows(tmp_path: Path) -> None:
    for codec, mark in [("utf-16-le", "\ufeff"), ("utf-16-be", "\ufeff"), ("utf-16-le", "")]:
        (tmp_path / "export.txt").write_bytes((mark + exported("\t")).encode(codec))
        assert asked(DISH, Table(tmp_path / "export.txt", unit="who", encoding="UTF-16")) == [2, 1, 1]


def test_another_encoding_is_refused_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "export.csv").write_bytes(exported().encode("utf-16"))
    with pytest.raises(InvalidParameter, match='If it is in another encoding, name it: encoding="utf-16"'):
        asked(DISH, Table(tmp_path / "export.csv", unit="who"))


def test_every_encoding_is_one_of_python_whose_lines_end_at_the_byte_10() -> None:
    for encoding in ENCODINGS:
        assert Reading(encoding=encoding).codec == encoding
        assert "\n".encode(encoding)[-1:] == b"\n" or encoding.startswith("utf-16")


@pytest.mark.parametrize("separator", ["|", ";", "\t", ",", "^", " ", "a"])
def test_a_separator_is_the_one_that_is_given(separator: str, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(exported(separator), encoding="utf-8")
    assert asked(DISH, Table(tmp_path / "rows.csv", unit="who", separator=separator)) == [2, 1, 1]


def test_a_header_with_other_signs_in_it_needs_the_separator(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("who;dish, if any, or none\n1;tea\n", encoding="utf-8")
    question = approval_voting(candidate="dish, if any, or none", candidates=["tea"])
    with pytest.raises(InvalidParameter, match="is not in the table"):
        asked(question, Table(tmp_path / "rows.csv", unit="who"))
    assert asked(question, Table(tmp_path / "rows.csv", unit="who", separator=";")) == [1]


WRONG: list[dict[str, Any]] = [
    {"decimal": "x"},
    {"decimal": 1},
    {"separator": ""},
    {"separator": "ab"},
    {"separator": '"'},
    {"separator": "\n"},
    {"separator": 7},
    {"encoding": "utf-7"},
    {"encoding": "rot13"},
    {"encoding": "no such"},
    {"encoding": 8},
    {"numbers_in_text": 1},
]


@pytest.mark.parametrize("options", WRONG, ids=str)
def test_an_option_that_means_nothing_is_refused_at_once(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter, match=f"^{next(iter(options))} must be") as refused:
        Table("rows.csv", unit="who", **options)
    assert refused.value.parameter == next(iter(options))


@pytest.mark.parametrize("option", [{"decimal": ","}, {"separator": ";"}, {"encoding": "utf-16"}], ids=str)
def test_an_option_is_refused_where_it_says_nothing(option: dict[str, Any], tmp_path: Path) -> None:
    rows = pa.table({"who": [1], "dish": ["tea"]})
    pyarrow.parquet.write_table(rows, tmp_path / "rows.parquet")
    (tmp_path / "rows.jsonl").write_text('{"who": 1, "dish": "tea"}\n', encoding="utf-8")
    sources: list[Any] = [tmp_path / "rows.parquet", rows, rows.to_pandas(), pl.from_arrow(rows)]
    tables = [Table(source, unit="who", **option) for source in [*sources, "postgresql://nowhere/none"]]
    if "decimal" not in option:
        kinds = {"who": "integer", "dish": "text"}
        tables.append(Table(tmp_path / "rows.jsonl", unit="who", columns=kinds, **option))
    for table in tables:
        with pytest.raises(InvalidParameter, match=f"^{next(iter(option))} must be given for"):
            asked(DISH, table)


AMOUNTS: list[Problem] = [
    quantile(value="x", at="1/2", candidates=[0, 1, 2]),
    pricing(value="x", prices=[1, 2]),
    weighted_sum(candidate="dish", candidates=["tea"], value="x", bounds=(0, 1)),
]


@pytest.mark.parametrize("problem", AMOUNTS, ids=lambda problem: problem.name)
def test_text_is_no_number_where_columns_have_types(problem: Problem, tmp_path: Path) -> None:
    rows = pa.table({"who": [1, 2], "dish": ["tea", "tea"], "x": ["1", "one"]})
    pyarrow.parquet.write_table(rows, tmp_path / "rows.parquet")
    for source in (tmp_path / "rows.parquet", rows, rows.to_pandas(), pl.from_arrow(rows)):
        with pytest.raises(InvalidParameter, match=r"'x' must hold numbers; .* numbers_in_text=True"):
            asked(problem, Table(source, unit="who"))
        assert asked(problem, Table(source, unit="who", numbers_in_text=True)) == asked(
            problem, Table(pa.table({"who": [1], "dish": ["tea"], "x": [Decimal(1)]}), unit="who")
        )


def test_text_in_json_lines_spells_numbers_as_in_csv(tmp_path: Path) -> None:
    lines = [json.dumps({"who": i, "x": x}) for i, x in enumerate(["1,5", "2", " 3 ", 4, "1.5", "one"])]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    table = Table(tmp_path / "rows.jsonl", unit="who", columns={"who": "integer", "x": "text"}, decimal=",")
    assert asked(pricing(value="x", prices=[1, 2]), table) == [400, 600]


def test_a_frame_is_not_refused_for_columns_that_the_question_does_not_use() -> None:
    rows = {"who": [1, 2, 3], "dish": ["tea", "tea", "pie"]}
    odd: dict[str, Any] = {
        "period": pd.period_range("2024-01", periods=3, freq="M"),
        "interval": pd.interval_range(0, 3),
        "complex": np.array([1j, 2j, 3j]),
        "sparse": pd.arrays.SparseArray([0, 0, 1]),
        "category": pd.Categorical(pd.interval_range(0, 3)),
        "object": [object(), [1], {"a": 1}],
    }
    half = pa.array(np.array([1, 2, 3], dtype=np.float16))
    wide = pa.array([1, 2, 3], pa.decimal256(60, 2))
    frames = [
        pd.DataFrame({**rows, **odd}),
        pa.table({**rows, "half": half, "decimal": wide}),
        pl.DataFrame({**rows, "long": pl.Series([1, 2, 3], dtype=pl.Int128)}),
        pl.LazyFrame({**rows, "long": pl.Series([1, 2, 3], dtype=pl.Int128)}),
    ]
    for frame in frames:
        assert asked(plurality(candidate="dish", candidates=["tea", "pie"]), Table(frame, unit="who")) == [
            2,
            1,
        ]
    for name in ("period", "interval", "complex", "sparse", "category"):
        with pytest.raises(InvalidParameter, match=f"column '{name}' must hold numbers"):
            asked(quantile(value=name, at="1/2", candidates=[1]), Table(frames[0], unit="who"))
        with pytest.raises(InvalidParameter, match=f"column '{name}' must hold text or numbers; it holds"):
            asked(plurality(candidate=name, candidates=["tea", "pie"]), Table(frames[0], unit="who"))
    with pytest.raises(InvalidParameter, match="column 'half' must hold numbers"):
        asked(quantile(value="half", at="1/2", candidates=[1]), Table(frames[1], unit="who"))


def test_another_reading_is_another_question(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("who;pays\n1;1,5\n", encoding="utf-8")

    def ask(ledger: dpselect.Ledger, **options: Any) -> dpselect.Release:
        table = Table(tmp_path / "rows.csv", unit="who", **options)
        return dpselect.select(PAYS, table, epsilon=1, ledger=ledger, request_id="a")

    with dpselect.Ledger.create(tmp_path / "town.ledger", budget=dpselect.PureDP(9)) as ledger:
        first = ask(ledger, decimal=",")
        assert ask(ledger, decimal=",") == first
        assert json.loads(first.to_json())["reading"] == {"decimal": ","}
        assert dpselect.Release.from_json(first.to_json()) == first
        assert next(iter(ledger.entries())).reason.endswith(", decimal ','")
        others: list[dict[str, Any]] = [{}, {"decimal": "."}, {"decimal": ",", "separator": ";"}]
        for other in [*others, {"decimal": ",", "encoding": "cp1252"}]:
            with pytest.raises(RequestChanged):
                ask(ledger, **other)


def test_spark_reads_an_export_as_duckdb_does(spark_session: Any, tmp_path: Path) -> None:
    for encoding in ("utf-8", "utf-16", "latin-1"):
        path = tmp_path / f"{encoding}.csv"
        path.write_bytes(exported().encode(encoding))
        reading = Reading(encoding=encoding, decimal=",")
        frame = spark_files.csv_frame(spark_session, found_files(str(path), reading), reading)
        table = Table(spark_files.FrameOfCsv(frame), unit="who", encoding=encoding, decimal=",")
        assert asked(DISH, table) == [2, 1, 1]
        assert asked(PAYS, table) == [100, 300, 0]
