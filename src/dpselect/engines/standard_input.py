"""Standard input as a table: a CSV, or JSON lines where columns are given.

It can be read once, and the engine reads files. Up to the charge only the header is taken from it; then all
of it goes, byte by byte as it is, to a file in a private folder, which is removed at the end.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dpselect.engines import files
from dpselect.engines.csv_files import LONGEST_HEADER
from dpselect.engines.found_files import FoundFiles
from dpselect.engines.private_folder import PrivateFolder
from dpselect.engines.protocol import Engine
from dpselect.engines.reading import Reading
from dpselect.engines.rewritten_csv import BLOCK, UTF_16
from dpselect.errors import InvalidParameter, TableUnreadable

DESCRIPTOR = 0
"""The descriptor of the process."""
FILE_NAME = "standard input"
"""The name of the file that it goes to."""
FIRST_BLOCK = 1 << 13
"""Bytes that are taken at a time while the header is looked for."""


@contextmanager
def opened_standard_input(*, columns: Mapping[str, str] | None, reading: Reading) -> Iterator[Engine]:
    """Open what is piped into the process."""
    form = files.TEXT_FORMS["csv" if columns is None else "json"]
    reading.must_be_for(form)
    if sys.stdin is None or os.isatty(DESCRIPTOR):
        raise InvalidParameter(
            "source must be piped in where it is '-'; standard input is a terminal, or closed. Write "
            "< ballots.csv at the end, or name the file."
        )
    with PrivateFolder() as folder:
        spool = _Spool(f"{folder}/{FILE_NAME}")
        if form == "csv":
            spool.take_a_line(reading)
        else:
            Path(spool.path).touch()
        found = FoundFiles((spool.path,), form)
        with files.opened_text_or_parquet(found, columns or {}, reading, spool.take_all) as engine:
            yield engine


@dataclass
class _Spool:
    """A file that takes what comes in."""

    path: str
    has_lost: bool = False
    """Whether taking failed: a block may be lost then, and what is there is not the table."""

    def take_a_line(self, reading: Reading) -> None:
        """Take a line, and what comes with it; or more than a header may have."""
        with Path(self.path).open("wb") as file:
            taken = b""
            while len(taken) <= LONGEST_HEADER + FIRST_BLOCK and not _holds_a_line(taken, reading.codec):
                block = os.read(DESCRIPTOR, FIRST_BLOCK)
                if not block:
                    break
                taken += block
                file.write(block)

    def take_all(self) -> None:
        """Take all that is left."""
        if self.has_lost:
            raise TableUnreadable
        self.has_lost = True
        with Path(self.path).open("ab") as file:
            while block := os.read(DESCRIPTOR, BLOCK):
                file.write(block)
        self.has_lost = False


def _holds_a_line(taken: bytes, codec: str) -> bool:
    """Say whether the first line is there whole; in UTF-16 letters have two bytes."""
    codec = UTF_16.get(taken[:2], "utf-16-le") if codec == "utf-16" else codec
    if codec not in UTF_16.values():
        return b"\n" in taken
    end = "\n".encode(codec)
    return any(taken[place : place + 2] == end for place in range(0, len(taken), 2))
