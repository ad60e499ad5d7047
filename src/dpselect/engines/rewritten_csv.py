r"""CSV files that are written anew before they are read, after the charge: in another encoding or separator.

Both are chosen with the question, so neither may decide whether a table can be read. Bytes that are no text
in the encoding are written as ``\x81``; they are no candidate, and ids stay apart. A separator that the
header does not show by itself is looked for line by line: a line that does not have as many fields as the
header is left out, like a value that is not on the list. Whether that works at all depends on the file alone.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from dpselect.errors import TableUnreadable

BLOCK = 1 << 20
"""Bytes that are decoded at a time."""
LONGEST_LINE = 1_000_000
"""Characters of a line that is split by itself; DuckDB reads lines of twice as many bytes."""

UTF_16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
"""The marks at the beginning of a file in UTF-16, and the codec of each; without one, the first is taken."""


@dataclass(frozen=True)
class Fields:
    """How a line is split: what stands between fields, and how many there are."""

    delimiter: str
    count: int


@dataclass(frozen=True)
class RewrittenCsv:
    """Files that are read in the place of others: the same text in UTF-8, or the same fields with commas."""

    paths: tuple[str, ...]
    encoding: str
    folder: str
    fields: Fields | None
    """None where the rows are copied as they are."""

    @property
    def places(self) -> tuple[str, ...]:
        """Where they are written."""
        return tuple(f"{self.folder}/{number}.csv" for number in range(len(self.paths)))

    def write(self) -> None:
        """Read whole files, after the charge."""
        for path, place in zip(self.paths, self.places, strict=True):
            codec = codec_of(path, self.encoding)
            # That a file is UTF-8 is asked of it where nothing is said: the same for every question.
            errors = "strict" if codec == "utf-8" else "backslashreplace"
            with (
                bytes_of(path) as file,
                io.TextIOWrapper(file, codec, errors, newline="\n") as text,
                Path(place).open("w", encoding="utf-8", newline="") as written,
            ):
                if self.fields is None:
                    _copy(text, written)
                else:
                    _copy_fields(text, written, self.fields)


def _copy(text: TextIO, written: TextIO) -> None:
    written.write(text.read(1).removeprefix("\ufeff"))
    while block := text.read(BLOCK):
        written.write(block)


def _copy_fields(text: TextIO, written: TextIO, fields: Fields) -> None:
    writer = csv.writer(written, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(range(fields.count))
    for number, line in enumerate(_lines(text)):
        found = _split(line, fields) if number else []
        if len(found) == fields.count:
            writer.writerow(found)


def _lines(text: TextIO) -> Iterator[str]:
    """Give each line without its end, an empty one for one that is too long.

    A quote that is closed on another line would join lines, by one separator and not by another.
    """
    while line := text.readline(LONGEST_LINE):
        quotes, long = line.count('"'), False
        while len(line) == LONGEST_LINE and not line.endswith("\n"):
            line, long = text.readline(LONGEST_LINE), True
            quotes += line.count('"')
        if quotes % 2:
            raise TableUnreadable
        yield "" if long else line.removesuffix("\n").removesuffix("\r")


def _split(line: str, fields: Fields) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=fields.delimiter, strict=True), [])
    except csv.Error:
        return []


def codec_of(path: str, encoding: str) -> str:
    """Give the codec of a file; in UTF-16 its first two bytes say which."""
    if encoding != "utf-16":
        return encoding
    with bytes_of(path) as file:
        return UTF_16.get(file.read(2), "utf-16-le")


def bytes_of(path: str) -> gzip.GzipFile | io.BufferedReader:
    """Open a file, unpacked."""
    return gzip.GzipFile(path) if path.lower().endswith(".gz") else io.BufferedReader(io.FileIO(path))
