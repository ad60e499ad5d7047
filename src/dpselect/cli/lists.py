"""Public lists on the command line: a file with one on each line, or written out with commas between."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path

from dpselect.cli.refusals import Refused

PUBLIC = "Candidates are public and never read from the data: write them out yourself."
MOST = 10_000_000


def names(text: str | None, option: str = "--candidates", *, beside: str = "") -> list[str]:
    """Read names: from a file, or from the words themselves; never from the table ``beside`` them."""
    if text is None:
        raise Refused(f"{option} must be given: a file with one on each line, or a,b,c. {PUBLIC}")
    path = Path(text)
    if is_file(path):
        if is_file(Path(beside)) and path.samefile(beside):
            raise Refused(f"{option} must be a list of its own; got the table itself. {PUBLIC}")
        found = _lines(path, option)
    elif "," in text:
        (row,) = csv.reader([text], skipinitialspace=True)
        found = [name.strip() for name in row if name.strip()]
    else:
        raise Refused(
            f"{option} must be a file that is there, or a list such as a,b,c; got '{text[:40]}'. "
            "Check the path; for a single one write it with a comma at the end."
        )
    if not found:
        raise Refused(f"{option} must hold at least one; got none. {PUBLIC}")
    return found


def prices(text: str | None, option: str = "--prices", *, beside: str = "") -> list[Decimal]:
    """Read numbers: LO:HI:STEP, a file, or written out; each keeps the digits of its spelling."""
    if text is not None and text.count(":") == 2 and not is_file(Path(text)):
        low, high, step = (number(part, option) for part in text.split(":"))
        if not (step > 0 and low <= high):
            raise Refused(
                f"{option} must be LO:HI:STEP with LO <= HI and a STEP above zero; got '{text[:40]}'."
            )
        count = int((Fraction(high) - Fraction(low)) / Fraction(step)) + 1
        if count > MOST:
            raise Refused(f"{option} must be at most {MOST:,} numbers; got {count:,}. Take a larger step.")
        return [low + step * place for place in range(count)]
    return [number(each, option) for each in names(text, option, beside=beside)]


def pair(text: str, option: str) -> tuple[str, str]:
    """Read LO:HI; the numbers are read by whoever needs them."""
    low, colon, high = text.partition(":")
    if not colon or not low.strip() or not high.strip() or ":" in high:
        raise Refused(f"{option} must be LO:HI; got '{text[:40]}'. Write for example {option} 0:100.")
    return low.strip(), high.strip()


def number(text: str, option: str) -> Decimal:
    """Read a decimal number exactly, with the digits that it was written with."""
    try:
        read = Decimal(text.strip())
    except InvalidOperation:
        read = Decimal("NaN")
    if not read.is_finite() or len(text) > 40 or "_" in text:
        raise Refused(f"{option} must hold decimal numbers such as 0.99; got '{text[:40]}'.")
    return read


def as_numbers(written: Sequence[str]) -> list[int | Decimal] | None:
    """See names as the numbers that they spell; None if one of them spells none."""
    try:
        read = [Decimal(name) for name in written]
    except InvalidOperation:
        return None
    if not all(each.is_finite() for each in read):
        return None
    return [
        int(name) if name.lstrip("+-").isdigit() else each for name, each in zip(written, read, strict=True)
    ]


def is_file(path: Path) -> bool:
    """Say whether there is a file; what cannot be a path is none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _lines(path: Path, option: str) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        text = None
    if text is None:
        raise Refused(f"{option} must be a file of text in UTF-8, one on each line; '{path.name}' is not.")
    return [line.strip() for line in text.split("\n") if line.strip()]
