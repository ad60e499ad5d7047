"""Public lists on the command line: a text file with one on each line, a column of a table, or a,b,c.

A list may be written out on the command line, and is quoted then. Of a file only numbers of lines are told:
it may be a copy of the table, handed over by mistake.
"""

from __future__ import annotations

import csv
import glob
import os
import unicodedata
from collections.abc import Hashable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Literal

from dpselect.cli.public_columns import is_file, must_be_no_table, read_column, split_column
from dpselect.cli.user_errors import UserError

MOST_STEPS = 10_000_000
"""Numbers that LO:HI:STEP may stand for."""


class Names(list[str]):
    """Names as they were written; of those from a file also the numbers of their lines (or rows)."""

    def __init__(
        self, written: Sequence[str], option: str, lines: Sequence[int] | None = None, word: str = "line"
    ) -> None:
        """Keep all."""
        super().__init__(written)
        self.option, self.lines, self.word = option, lines, word

    def shown(self, place: int) -> str:
        """Point at a name: by its line, or by the name itself where the command line holds it."""
        return f"'{self[place][:40]}'" if self.lines is None else f"{self.word} {self.lines[place]}"

    def must_differ(self, keys: Sequence[Hashable], words: str = "") -> None:
        """Refuse what means the same twice, by its key."""
        first: dict[Hashable, int] = {}
        for place, key in enumerate(keys):
            before = first.setdefault(key, place)
            if before != place:
                twice = (
                    f"got {self.shown(place)} twice"
                    if self.lines is None
                    else f"{self.shown(place)} says the same as {self.shown(before)}"
                )
                raise UserError(f"{self.option} must be different from each other{words}; {twice}.")

    def must_differ_in_more_than_case(self) -> None:
        """Refuse, by their lines, names that are one where case and spaces are ignored."""
        from dpselect.problems.candidates import Texts

        first: dict[str, int] = {}
        for place, spelling in Texts(tuple(self)).spellings(ignore_case=True):
            before = first.setdefault(spelling, place)
            if before != place:
                raise UserError(
                    f"{self.option} must differ in more than ASCII letters' case and spaces, which "
                    f"--ignore-case ignores; {self.shown(place)} says the same as {self.shown(before)}."
                )


def are_public(option: str) -> str:
    """Say that what an option lists is public."""
    what = "Groups" if option == "--groups" else "Candidates"
    return f"{what} are public and never read from the data: write them out yourself."


def names(
    text: str | None, option: str = "--candidates", *, beside: Sequence[str] = (), ignore_case: bool = False
) -> Names:
    """Read names: from a file, or from the words themselves; never from the table ``beside`` them."""
    found = parts(text, option, beside=beside)
    for place, name in enumerate(found):
        if "\0" in name or any("\ud800" <= letter <= "\udfff" for letter in name):
            raise UserError(
                f"{option} must be text that can be stored: no NUL character, no lone surrogate; "
                f"{found.shown(place)} is not."
            )
    found.must_differ(
        [unicodedata.normalize("NFC", name) for name in found], " after Unicode normalisation (NFC)"
    )
    if ignore_case and found.lines is not None:
        found.must_differ_in_more_than_case()
    return found


def parts(
    text: str | None,
    option: str,
    *,
    beside: Sequence[str] = (),
    tables: Literal["by column", "as text"] = "by column",
) -> Names:
    """Read a list as it is written, whatever its parts may mean; of a table a column, or its lines."""
    if text is None:
        raise UserError(
            f"{option} must be given: a text file with one on each line, table.csv:COLUMN, or a,b,c. "
            f"{are_public(option)}"
        )
    path = Path(text)
    if is_file(path):
        _must_not_be_among(path, beside, option)
        if tables == "by column":
            must_be_no_table(path, option)
        found = _lines(path, option)
    elif tables == "by column" and (split := split_column(text)):
        _must_not_be_among(split[0], beside, option)
        texts, lines, word = read_column(*split, option)
        found = Names(texts, option, lines, word)
    elif "," in text:
        found = Names(_between_commas(text, option), option)
    else:
        raise UserError(
            f"{option} must be a file that is there, or a list such as a,b,c; got '{text[:40]}'. "
            "Check the path; for a single one write it with a comma at the end."
        )
    if not found:
        raise UserError(f"{option} must hold at least one; got none. {are_public(option)}")
    return found


def prices(
    text: str | None, option: str = "--prices", *, beside: Sequence[str] = (), least: int | None = None
) -> list[Decimal]:
    """Read numbers: LO:HI:STEP, a file, or written out; each keeps the digits of its spelling."""
    if text is not None and text.count(":") == 2 and not is_file(Path(text)) and not split_column(text):
        return _steps(text, option)
    written = parts(text, option, beside=beside)
    read = []
    for place, word in enumerate(written):
        value = _decimal(word)
        if value is None:
            raise UserError(f"{option} must hold decimal numbers such as 0.99; got {written.shown(place)}.")
        if least is not None and not value >= least:
            raise UserError(f"{option} must be zero or positive; got {written.shown(place)}.")
        read.append(value)
    written.must_differ(read)
    return read


def pair(text: str, option: str) -> tuple[str, str]:
    """Read LO:HI, as text."""
    low, colon, high = text.partition(":")
    if not colon or not low.strip() or not high.strip() or ":" in high:
        raise UserError(f"{option} must be LO:HI; got '{text[:40]}'. Write for example {option} 0:100.")
    return low.strip(), high.strip()


def as_numbers(written: Names) -> list[int | Decimal] | None:
    """See names as the numbers that they spell; None if one of them spells none."""
    try:
        read = [Decimal(name) for name in written]
    except InvalidOperation:
        return None
    if not all(map(_is_plain, read)):
        return None
    written.must_differ(read)
    return [
        int(each) if name.lstrip("+-").isdigit() else each for name, each in zip(written, read, strict=True)
    ]


def _steps(text: str, option: str) -> list[Decimal]:
    low, high, step = (_decimal(part) for part in text.split(":"))
    if low is None or high is None or step is None or not (step > 0 and low <= high):
        raise UserError(
            f"{option} must be LO:HI:STEP with LO <= HI and a STEP above zero; got '{text[:40]}'."
        )
    count = int((Fraction(high) - Fraction(low)) / Fraction(step)) + 1
    if count > MOST_STEPS:
        raise UserError(
            f"{option} must be at most {MOST_STEPS:,} numbers; got {count:,}. Take a larger step."
        )
    return [low + step * place for place in range(count)]


def _decimal(text: str) -> Decimal | None:
    """Read a decimal number exactly, with the digits that it was written with."""
    try:
        read = Decimal(text.strip())
    except InvalidOperation:
        return None
    return read if _is_plain(read) and len(text) <= 40 and "_" not in text else None


def _is_plain(read: Decimal) -> bool:
    """Say whether a number is one that the library takes: finite, and not too long to compute with."""
    from dpselect.exact.numbers import MOST_DIGITS, MOST_EXPONENT

    digits, exponent = read.as_tuple()[1:]
    return read.is_finite() and len(digits) <= MOST_DIGITS and abs(int(exponent)) <= MOST_EXPONENT


def _between_commas(text: str, option: str) -> list[str]:
    try:
        rows = list(csv.reader([text], skipinitialspace=True))
    except csv.Error:
        rows = []
    if len(rows) != 1:
        raise UserError(f"{option} must be a list such as a,b,c, on one line; got '{text[:40]}'.")
    return [name.strip() for name in rows[0] if name.strip()]


def _lines(path: Path, option: str) -> Names:
    wrong = f"{option} must be a file of text in UTF-8, one on each line; '{path.name}' is not."
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        text = None
    except PermissionError:
        text, wrong = None, f"{option} must be a file that you may read; '{path.name}' is not."
    if text is None:
        raise UserError(wrong)
    written = [(number, line.strip()) for number, line in enumerate(text.split("\n"), start=1)]
    full = [(number, line) for number, line in written if line]
    return Names([line for _, line in full], option, [number for number, _ in full])


def _must_not_be_among(path: Path, tables: Sequence[str], option: str) -> None:
    """Refuse a file that is one of those that a table is read from, by whatever name or link."""
    found = path.stat()
    if any(os.path.samestat(found, other) for table in tables for other in _files_of(table)):
        raise UserError(f"{option} must be a list of its own; got the table itself. {are_public(option)}")


def _files_of(table: str) -> Iterator[os.stat_result]:
    """Give the identity of every file that a path, a glob, a folder or standard input means."""
    from dpselect.engines.opening import STANDARD_INPUT

    try:
        if table == STANDARD_INPUT:
            yield os.fstat(0)
            return
        places = [table] if Path(table).exists() else glob.iglob(table, recursive=True)  # noqa: PTH207 - may be absolute
        for place in places:
            if not Path(place).is_dir():
                yield from _identity(place)
                continue
            for folder, _, files in os.walk(place):
                for file in files:
                    yield from _identity(f"{folder}/{file}")
    except (OSError, ValueError):  # no path at all, such as a URL
        return


def _identity(place: str) -> Iterator[os.stat_result]:
    try:
        yield Path(place).stat()
    except OSError:
        return
