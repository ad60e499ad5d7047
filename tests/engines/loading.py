"""Putting rows into each kind of source, with the types of a case."""

import csv
import json
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
from psycopg import sql

from dpselect import Table
from dpselect.problems.typed_values import text_of
from tests.engines.cases import Kinds
from tests.engines.reference import Row

ARROW = {
    "integer": pa.int64(),
    "text": pa.string(),
    "double": pa.float64(),
    "single": pa.float32(),
    "decimal": pa.decimal128(12, 2),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "boolean": pa.bool_(),
}
POSTGRES = {
    "integer": "bigint",
    "text": "text",
    "double": "double precision",
    "single": "real",
    "decimal": "numeric(12, 2)",
    "date": "date",
    "timestamp": "timestamp",
    "boolean": "boolean",
}


def arrow(kinds: Kinds, rows: Sequence[Row]) -> Any:
    schema = pa.schema([(name, ARROW[kind]) for name, kind in kinds.items()])
    return pa.table({name: [row[name] for row in rows] for name in kinds}, schema=schema)


def parquet(kinds: Kinds, rows: Sequence[Row], folder: Path) -> Path:
    path = folder / "rows.parquet"
    pyarrow.parquet.write_table(arrow(kinds, rows), path)
    return path


Loader = Callable[[Kinds, Sequence[Row], str | None, Path], Table]


def from_parquet(kinds: Kinds, rows: Sequence[Row], unit: str | None, folder: Path) -> Table:
    return Table(parquet(kinds, rows, folder), unit=unit)


def from_several(kinds: Kinds, rows: Sequence[Row], unit: str | None, folder: Path) -> Table:
    """Write a file, some that a glob matches, and a folder."""
    (folder / "more" / "below").mkdir(parents=True)
    names = ["one.parquet", "part 1.parquet", "part 2.parquet", "more/a.parquet", "more/below/b.parquet"]
    for number, name in enumerate(names):
        pyarrow.parquet.write_table(arrow(kinds, rows[number :: len(names)]), folder / name)
    return Table([folder / names[0], str(folder / "part *.parquet"), folder / "more"], unit=unit)


def from_arrow_file(kinds: Kinds, rows: Sequence[Row], unit: str | None, folder: Path) -> Table:
    pyarrow.feather.write_feather(arrow(kinds, rows), folder / "rows.arrow")
    return Table(folder / "rows.arrow", unit=unit)


def from_arrow(kinds: Kinds, rows: Sequence[Row], unit: str | None, folder: Path) -> Table:
    del folder
    return Table(arrow(kinds, rows), unit=unit)


def from_pandas(kinds: Kinds, rows: Sequence[Row], unit: str | None, folder: Path) -> Table:
    del folder
    return Table(
        arrow(kinds, rows).to_pandas(integer_object_nulls=False, types_mapper=_pandas_type), unit=unit
    )


def _pandas_type(kind: Any) -> Any:
    import pandas as pd

    if pa.types.is_decimal(kind):
        return pd.ArrowDtype(kind)
    return {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}.get(kind)


def from_polars(kinds: Kinds, rows: Sequence[Row], unit: str | None, folder: Path) -> Table:
    del folder
    return Table(pl.from_arrow(arrow(kinds, rows)), unit=unit)


def from_lazy_polars(kinds: Kinds, rows: Sequence[Row], unit: str | None, folder: Path) -> Table:
    return Table(pl.scan_parquet(parquet(kinds, rows, folder)), unit=unit)


def from_database(kinds: Kinds, rows: Sequence[Row], unit: str | None, folder: Path) -> Table:
    path = folder / "rows.duckdb"
    with closing(duckdb.connect(str(path))) as connection:
        connection.register("given", arrow(kinds, rows))
        connection.execute('CREATE SCHEMA "a b"; CREATE TABLE "a b"."t ""1" AS SELECT * FROM given')
    return Table(path, table='a b.t "1', unit=unit)


def from_relation(kinds: Kinds, rows: Sequence[Row], unit: str | None, folder: Path) -> Table:
    return Table(duckdb.connect().read_parquet(str(parquet(kinds, rows, folder))), unit=unit)


def from_json(kinds: Kinds, rows: Sequence[Row], unit: str | None, folder: Path) -> Table:
    path = folder / "rows.jsonl"
    lines = [json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Table(path, unit=unit, columns=dict(kinds))


def from_csv(kinds: Kinds, rows: Sequence[Row], unit: str | None, folder: Path) -> Table:
    path = folder / "rows.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(list(kinds))
        writer.writerows([[_written(value) for value in row.values()] for row in rows])
    return Table(path, unit=unit)


def _written(value: Any) -> Any:
    """Write a date, a time or a truth value in ISO form."""
    return text_of(value) if isinstance(value, bool | date) else value


def to_postgres(url: str, name: str, kinds: Kinds, rows: Sequence[Row]) -> None:
    table = sql.Identifier(name)
    columns = sql.SQL(", ").join(
        sql.SQL("{} {}").format(sql.Identifier(column), sql.SQL(POSTGRES[kind]))
        for column, kind in kinds.items()
    )
    with psycopg.connect(url, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(table))
        cursor.execute(sql.SQL("CREATE TABLE {} ({})").format(table, columns))
        with cursor.copy(sql.SQL("COPY {} FROM STDIN").format(table)) as copy:
            for row in rows:
                copy.write_row(list(row.values()))
