"""CSV files: all columns are text, known by their position; before the charge only the header is read.

DuckDB reads UTF-8. A file in another encoding is written anew, after the charge, in a private folder.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sqlglot import exp

from dpselect.engines import duckdb
from dpselect.engines.reading import Reading
from dpselect.engines.schema import Schema
from dpselect.errors import InvalidParameter
from dpselect.silence import run, run_or_none, shortage_or

DELIMITERS = ",;\t|"
LONGEST_HEADER = 1_000_000
"""Bytes of a header; a file without line breaks is not read to its end in search of one."""
BLOCK = 1 << 20
"""Bytes that are decoded at a time."""

_QUOTED = re.compile(r'"(?:[^"]|"")*"')


UTF_16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
"""The marks at the beginning of a file in UTF-16, and the codec of each; without one, the first is taken."""


@dataclass(frozen=True)
class Recoded:
    """Files that are read in the place of others: the same text, in UTF-8."""

    paths: tuple[str, ...]
    encoding: str
    folder: str

    @property
    def places(self) -> tuple[str, ...]:
        """Where they are written."""
        return tuple(f"{self.folder}/{number}.csv" for number in range(len(self.paths)))

    def write(self) -> None:
        """Read whole files, after the charge, and raise if they are not in their encoding."""
        for path, place in zip(self.paths, self.places, strict=True):
            decoder = codecs.getincrementaldecoder(codec_of(path, self.encoding))()
            with _bytes_of(path) as file, Path(place).open("w", encoding="utf-8", newline="") as written:
                mark = "\ufeff"
                while block := file.read(BLOCK):
                    text = decoder.decode(block)
                    written.write(text.removeprefix(mark))
                    mark = mark if not text else ""
                written.write(decoder.decode(b"", final=True))


def csv_rows(
    paths: Sequence[str], reading: Reading, recoded: Recoded | None = None
) -> tuple[exp.Expression, Schema]:
    """Give the rows of files with one and the same header, as a node of a query, and their columns."""
    names, delimiter = header(paths, reading)
    schema = Schema(
        tuple(duckdb.column(name, "VARCHAR", f"c{position}") for position, name in enumerate(names))
    ).read_with(reading.sign("csv"))
    read = duckdb.reading(
        "read_csv",
        paths if recoded is None else recoded.places,
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


def header(paths: Sequence[str], reading: Reading) -> tuple[tuple[str, ...], str]:
    """Give the names of the columns, and what stands between them; all files must agree."""
    heads = {_header(path, reading) for path in paths}
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


def codec_of(path: str, encoding: str) -> str:
    """Give the codec of a file; in UTF-16 its first two bytes say which."""
    if encoding != "utf-16":
        return encoding
    with _bytes_of(path) as file:
        return UTF_16.get(file.read(2), "utf-16-le")


def _header(path: str, reading: Reading) -> tuple[tuple[str, ...], str]:
    """Read the names of the columns, and what stands between them, from the first line alone."""
    refused = partial(
        InvalidParameter,
        f"source must be a CSV file in {reading.codec.upper()} with a header; {duckdb.short(path)} is not. "
        'If it is in another encoding, name it: encoding="utf-16", or encoding="cp1252".',
    )
    line = run(partial(_first_line, path, reading.codec), shortage_or(refused))
    tabs = path.lower().removesuffix(".gz").endswith(".tsv")
    guessed = "\t" if tabs else max(DELIMITERS, key=_QUOTED.sub("", line).count)
    delimiter = reading.separator or guessed
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


def _first_line(path: str, encoding: str) -> str:
    """Give the first line, or more than a header may have; of what follows no byte is decoded."""
    codec = codec_of(path, encoding)
    with _bytes_of(path) as file:
        line = _two_by_two(file, codec) if codec in UTF_16.values() else file.readline(LONGEST_HEADER + 8)
    return line.decode(codec, _cut(line)).removeprefix("\ufeff").removesuffix("\n").removesuffix("\r")


def _two_by_two(file: gzip.GzipFile | io.BufferedReader, codec: str) -> bytes:
    """Read a line of UTF-16, whose letters have two bytes, or four."""
    line, end = bytearray(), "\n".encode(codec)
    while len(line) <= LONGEST_HEADER and (unit := file.read(2)):
        line += unit
        if unit == end:
            break
    return bytes(line)


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
