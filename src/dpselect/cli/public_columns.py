"""A public list that is a column of a table: ``projects.csv:project_id``.

Of such a file only the numbers of its lines are told: it may be a copy of private rows, given by mistake.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

from dpselect.cli.user_errors import UserError

COLUMN_FORMATS = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet")
OTHER_TABLES = (".arrow", ".feather", ".ipc", ".jsonl", ".ndjson", ".duckdb", ".ddb", ".db", ".json")


def split_column(text: str) -> tuple[Path, str] | None:
    """Split FILE:COLUMN where FILE is a table that is there; None if it is none.

    A column may have colons in its name, so the file ends at the first colon that makes one.
    """
    for place, letter in enumerate(text):
        if letter == ":" and text[:place].lower().endswith(COLUMN_FORMATS) and is_file(Path(text[:place])):
            return Path(text[:place]), text[place + 1 :]
    return None


def must_be_no_table(path: Path, option: str) -> None:
    """Refuse a table without the name of a column: which of its columns is the list is not guessed."""
    name = path.name.lower()
    if name.endswith((*COLUMN_FORMATS, *OTHER_TABLES)):
        example = path.name if name.endswith(COLUMN_FORMATS) else "projects.csv"
        raise UserError(
            f"{option} must be a text file with one on each line, or a column of a .csv, .tsv or .parquet "
            f"file; got '{path.name[-40:]}' without a column. Write {example[-40:]}:COLUMN."
        )


def read_column(path: Path, column: str, option: str) -> tuple[list[str], list[int], str]:
    """Read the texts of a column, where each stands, and whether that is a line or a row."""
    if not column:
        must_be_no_table(path, option)
    parquet = path.name.lower().endswith(".parquet")
    cells = _of_parquet(path, column, option) if parquet else _of_csv(path, column, option)
    word = "row" if parquet else "line"
    texts, places = [], []
    for place, cell in cells:
        if not cell:
            raise UserError(
                f"{option} must have something in every row of the column; {word} {place} has not."
            )
        texts.append(cell)
        places.append(place)
    return texts, places, word


def _of_csv(path: Path, column: str, option: str) -> Iterator[tuple[int, str]]:
    """Read lines as they stand; a line is counted where its row ends."""
    from dpselect.engines.csv_files import header
    from dpselect.engines.reading import Reading
    from dpselect.errors import InvalidParameter

    try:
        names, delimiter, _ = header([str(path)], Reading())
    except InvalidParameter:
        names, delimiter = (), ""
    if not names:
        raise UserError(f"{option} must be a CSV file in UTF-8 with a header; '{path.name[-40:]}' is not.")
    place = _place(list(names), column, path, option)
    opened: Any = gzip.open if path.name.lower().endswith(".gz") else open
    line = 1
    try:
        with opened(path, mode="rt", encoding="utf-8-sig", newline="") as file:
            for row in (rows := csv.reader(file, delimiter=delimiter, strict=True)):
                line = rows.line_num
                if row and len(row) != len(names):
                    break
                if row and line > 1:
                    yield line, row[place]
            else:
                return
    except (csv.Error, UnicodeError, OSError, EOFError):
        pass
    raise UserError(
        f"{option} must be a CSV file in UTF-8 with one field for each column; it is not, at line {line} or "
        "the one after it."
    )


def _of_parquet(path: Path, column: str, option: str) -> Iterator[tuple[int, str]]:
    from dpselect.silence import run_or_none

    found = run_or_none(lambda: _parquet_rows(path, column))
    if found is None:
        raise UserError(f"{option} must be a Parquet file; '{path.name[-40:]}' cannot be read as one.")
    names, values = found
    _place(names, column, path, option)
    for row, value in enumerate(values, start=1):
        if value is not None and (isinstance(value, bool) or not isinstance(value, _TEXTS_AND_NUMBERS)):
            raise UserError(
                f"{option} must be a column of text or numbers; column '{column[:40]}' is of another type."
            )
        yield row, "" if value is None else str(value)


_TEXTS_AND_NUMBERS = (str, int, float, Decimal, UUID)


def _parquet_rows(path: Path, column: str) -> tuple[list[str], list[Any]]:
    """Give the names of the columns, and the values of one: none if there is no such column."""
    from sqlglot import exp

    from dpselect.engines import duckdb

    place = str(path.resolve())
    with duckdb.connected(files=[place]) as connection:
        duckdb.lock(connection)
        rows = duckdb.reading("read_parquet", [place], hive_partitioning=exp.false())
        names = [each.name for each in duckdb.schema_of(connection, rows).columns]
        if names.count(column) != 1:
            return names, []
        query = exp.select(exp.column(column, quoted=True)).from_(rows).sql(dialect="duckdb")
        return names, [value for (value,) in connection.execute(query).fetchall()]


def _place(names: list[str], column: str, path: Path, option: str) -> int:
    if names.count(column) != 1:
        raise UserError(
            f"{option} must name one column of '{path.name[-40:]}'; it has {names.count(column) or 'none'} "
            f"called '{column[:40]}'. Check the spelling."
        )
    return names.index(column)


def is_file(path: Path) -> bool:
    """Say whether there is a file; what cannot be a path is none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
