"""CSV files: all columns are text, known by their position; before the charge only the header is read.

DuckDB reads UTF-8, and rows that are split as their header shows. Other files are written anew, after the
charge, in a private folder (``rewritten_csv``).
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from sqlglot import exp

from dpselect.engines import duckdb
from dpselect.engines.found_files import FoundFiles
from dpselect.engines.partitions import partitions_of, with_partitions
from dpselect.engines.reading import Reading
from dpselect.engines.rewritten_csv import BLOCK, UTF_16, Fields, RewrittenCsv, bytes_of, codec_of
from dpselect.engines.schema import Schema
from dpselect.errors import InvalidParameter
from dpselect.silence import run, run_or_none, shortage_or

DELIMITERS = ",;\t|"
"""What may stand between two fields, if the caller does not say; of equally frequent ones the first."""
LONGEST_HEADER = 1_000_000
"""Bytes of a header; a file without line breaks is not read to its end in search of one."""

_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_ALL_QUOTED = re.compile(r'"(?:(.)")?(?:\1")*')
"""A header of quoted names alone, each cut to one quote: one character stands between all of them."""
LONG_LETTERS = ("shift_jis", "euc_jp", "gbk", "gb18030", "big5", "euc_kr")
"""Encodings whose letters may end in the byte of a sign, of any but these:"""
NEVER_IN_A_LETTER = ",;\t"


def csv_rows(
    found: FoundFiles, reading: Reading, rewritten: RewrittenCsv | None = None
) -> tuple[exp.Expression, Schema]:
    """Give the rows of files with one and the same header, as a node of a query, and their columns."""
    names, shown, _ = header(found.paths, reading)
    delimiter = shown
    if rewritten is not None and rewritten.fields is not None:
        delimiter = ","
    columns = tuple(duckdb.column(name, "VARCHAR", f"c{position}") for position, name in enumerate(names))
    partitions = partitions_of(found, names)
    schema = Schema((*columns, *(each.column for each in partitions)), separator=shown).read_with(
        reading.sign("csv")
    )
    read = duckdb.reading(
        "read_csv",
        found.paths if rewritten is None else rewritten.places,
        auto_detect=exp.false(),
        header=exp.true(),
        delim=exp.Literal.string(delimiter),
        quote=exp.Literal.string('"'),
        escape=exp.Literal.string('"'),
        strict_mode=exp.true(),
        null_padding=exp.false(),
        hive_partitioning=exp.false(),
        columns=_texts([column.known_as for column in columns]),
    )
    return with_partitions(read, partitions), schema


class CsvHeader(NamedTuple):
    """The first line of a CSV file."""

    names: tuple[str, ...]
    delimiter: str
    is_shown: bool
    """Whether the line alone shows what stands between names, whatever the caller says."""


def header(paths: Sequence[str], reading: Reading) -> CsvHeader:
    """Give the names of the columns, and what stands between them; all files must agree."""
    heads = {_header(path, reading) for path in paths}
    if len(heads) != 1:
        raise InvalidParameter(
            "source must be CSV files with one and the same header; theirs differ. Name files of one header "
            "alone, or join them in a DuckDB relation."
        )
    return heads.pop()


def must_be_utf8(paths: Sequence[str]) -> None:
    """Read whole files, after the charge, and raise if they are not UTF-8.

    DuckDB decodes the columns of a query alone. Whether a file can be read must not depend on the question.
    """
    for path in paths:
        decoder = codecs.getincrementaldecoder("utf-8")()
        with bytes_of(path) as file:
            while block := file.read(BLOCK):
                decoder.decode(block)
        decoder.decode(b"", final=True)


def rewritten_csv(paths: Sequence[str], reading: Reading, folder: str) -> RewrittenCsv | None:
    """Say how files are written anew; None if DuckDB reads them as they are."""
    fields = unshown_fields(paths, reading)
    if reading.codec == "utf-8" and fields is None:
        return None
    return RewrittenCsv(tuple(paths), reading.codec, folder, fields)


def unshown_fields(paths: Sequence[str], reading: Reading) -> Fields | None:
    """Say how lines are split where the header does not show it by itself; None where it does.

    If the caller's word alone says what separates fields, values decide how many a row has.
    """
    names, delimiter, is_shown = header(paths, reading)
    in_letters = reading.codec in LONG_LETTERS and delimiter not in NEVER_IN_A_LETTER
    return Fields(delimiter, len(names)) if in_letters or not is_shown else None


def _header(path: str, reading: Reading) -> CsvHeader:
    """Read the names of the columns, and what stands between them, from the first line alone."""
    refused = partial(
        InvalidParameter,
        f"source must be a CSV file in {reading.codec.upper()} with a header; {duckdb.short(path)} is not. "
        'If it is in another encoding, name it: encoding="utf-16", or encoding="cp1252".',
    )
    line = run(partial(_first_line, path, reading.codec), shortage_or(refused))
    tabs = path.lower().removesuffix(".gz").endswith(".tsv")
    guessed = "\t" if tabs else _shown_by(line)
    delimiter = reading.separator or guessed
    names = run_or_none(partial(_names, line, delimiter))
    if names is None:
        raise InvalidParameter(
            f"source must have a header on one line: its quotes closed, no line break in a name, at most "
            f"{LONGEST_HEADER:,} bytes in all and {csv.field_size_limit():,} characters in a name; "
            f"{duckdb.short(path)} has not. Lines must end in LF or CR LF. "
            'If it is in another encoding, name it: encoding="utf-16", or encoding="cp1252".'
        )
    if not names or not all(names):
        raise InvalidParameter(
            f"source must have a header with a name for every column; {duckdb.short(path)} has not."
        )
    return CsvHeader(tuple(names), delimiter, delimiter == guessed)


def _shown_by(line: str) -> str:
    """Say what stands between the names of a header: between all of them, if all are in quotes."""
    quoted = _ALL_QUOTED.fullmatch(_QUOTED.sub('"', line))
    if quoted is not None and quoted[1] is not None:
        return str(quoted[1])
    return max(DELIMITERS, key=_QUOTED.sub("", line).count)


def _names(line: str, delimiter: str) -> list[str]:
    if len(line.encode()) > LONGEST_HEADER or "\r" in line or "\0" in line:
        raise InvalidParameter
    return next(csv.reader([line], delimiter=delimiter, strict=True), [])


def _first_line(path: str, encoding: str) -> str:
    """Give the first line, or more than a header may have; of what follows no byte is decoded."""
    codec = codec_of(path, encoding)
    with bytes_of(path) as file:
        line = _two_by_two(file, codec) if codec in UTF_16.values() else _up_to_its_end(file)
    return line.decode(codec, _cut(line)).removeprefix("\ufeff").removesuffix("\n").removesuffix("\r")


def _up_to_its_end(file: gzip.GzipFile | io.BufferedReader) -> bytes:
    """Read a line; if rows end in CR alone, up to the first one, which is then in the middle of the line."""
    line = file.readline(LONGEST_HEADER + 8)
    end = line.find(b"\r")
    return line if end < 0 or line[end:] in (b"\r\n", b"\r") else line[:end] + b"\r\r"


def _two_by_two(file: gzip.GzipFile | io.BufferedReader, codec: str) -> bytes:
    """Read a line of UTF-16, whose letters have two bytes, or four.

    Without a mark, nothing shows that the file is UTF-16: then the byte 10 ends the line, or it is none. A
    line of another encoding would go on into the rows.
    """
    line, end = bytearray(file.read(2)), "\n".encode(codec)
    marked = UTF_16.get(bytes(line))
    if marked not in (codec, None):
        raise UnicodeError
    while len(line) <= LONGEST_HEADER and (unit := file.read(2)):
        line += unit
        if unit == end:
            break
        if marked is None and b"\n" in unit:
            raise UnicodeError
    return bytes(line)


def _cut(line: bytes) -> str:
    """Forgive a letter that was cut in two, where the line is too long anyway."""
    return "ignore" if len(line) > LONGEST_HEADER else "strict"


def _texts(names: Sequence[str]) -> exp.Expression:
    return exp.Struct(
        expressions=[
            exp.PropertyEQ(this=exp.Literal.string(name), expression=exp.Literal.string("VARCHAR"))
            for name in names
        ]
    )
