"""CSV files: all columns are text, known by their position; before the charge only the header is read."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
from collections.abc import Sequence
from functools import partial

from sqlglot import exp

from dpselect.engines import duckdb
from dpselect.engines.schema import Schema
from dpselect.errors import InvalidParameter
from dpselect.silence import run, run_or_none, shortage_or

DELIMITERS = ",;\t|"
LONGEST_HEADER = 1_000_000
"""Bytes of a header; a file without line breaks is not read to its end in search of one."""
BLOCK = 1 << 20
"""Bytes that are decoded at a time."""

_QUOTED = re.compile(r'"(?:[^"]|"")*"')


def csv_rows(paths: Sequence[str]) -> tuple[exp.Expression, Schema]:
    """Give the rows of files with one and the same header, as a node of a query, and their columns."""
    names, delimiter = header(paths)
    schema = Schema(
        tuple(duckdb.column(name, "VARCHAR", f"c{position}") for position, name in enumerate(names))
    )
    read = duckdb.reading(
        "read_csv",
        paths,
        auto_detect=exp.false(),
        header=exp.true(),
        delim=exp.Literal.string(delimiter),
        quote=exp.Literal.string('"'),
        escape=exp.Literal.string('"'),
        strict_mode=exp.true(),
        null_padding=exp.false(),
        hive_partitioning=exp.false(),
        columns=_texts([column.known_as for column in schema.columns]),
    )
    return read, schema


def header(paths: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Give the names of the columns, and what stands between them; all files must agree."""
    heads = {_header(path) for path in paths}
    if len(heads) != 1:
        raise InvalidParameter("source must be CSV files with one and the same header; theirs differ.")
    return heads.pop()


def must_be_utf8(paths: Sequence[str]) -> None:
    """Read whole files, after the charge, and raise if they are not UTF-8.

    DuckDB decodes the columns of a query alone. Whether a file can be read must not depend on the question.
    """
    for path in paths:
        decoder = codecs.getincrementaldecoder("utf-8")()
        with _bytes_of(path) as file:
            while block := file.read(BLOCK):
                decoder.decode(block)
        decoder.decode(b"", final=True)


def _header(path: str) -> tuple[tuple[str, ...], str]:
    """Read the names of the columns, and what stands between them, from the first line alone."""
    refused = partial(
        InvalidParameter, f"source must be a CSV file in UTF-8 with a header; {duckdb.short(path)} is not."
    )
    line = run(partial(_first_line, path), shortage_or(refused))
    tabs = path.lower().removesuffix(".gz").endswith(".tsv")
    delimiter = "\t" if tabs else max(DELIMITERS, key=_QUOTED.sub("", line).count)
    names = run_or_none(partial(_names, line, delimiter))
    if names is None:
        raise InvalidParameter(
            f"source must have a header on one line: its quotes closed, no line break in a name, at most "
            f"{LONGEST_HEADER:,} bytes in all and {csv.field_size_limit():,} characters in a name; "
            f"{duckdb.short(path)} has not. Lines must end in LF or CR LF."
        )
    if not names or not all(names):
        raise InvalidParameter(
            f"source must have a header with a name for every column; {duckdb.short(path)} has not."
        )
    return tuple(names), delimiter


def _names(line: str, delimiter: str) -> list[str]:
    if len(line.encode()) > LONGEST_HEADER or "\r" in line:
        raise InvalidParameter
    return next(csv.reader([line], delimiter=delimiter, strict=True), [])


def _first_line(path: str) -> str:
    """Give the first line, or more than a header may have."""
    with _bytes_of(path) as file:
        line = file.readline(LONGEST_HEADER + 8)
    return line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8-sig", _cut(line))


def _cut(line: bytes) -> str:
    """Forgive a letter that was cut in two, where the line is too long anyway."""
    return "ignore" if len(line) > LONGEST_HEADER else "strict"


def _bytes_of(path: str) -> gzip.GzipFile | io.BufferedReader:
    return gzip.GzipFile(path) if path.lower().endswith(".gz") else io.BufferedReader(io.FileIO(path))


def _texts(names: Sequence[str]) -> exp.Expression:
    return exp.Struct(
        expressions=[
            exp.PropertyEQ(this=exp.Literal.string(name), expression=exp.Literal.string("VARCHAR"))
            for name in names
        ]
    )
