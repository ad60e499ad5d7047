"""How the text of a table is read: the options of a ``Table``, and the sources that each of them is for.

A number in text is a sign or none, digits, and at most one decimal sign with digits after it; an exponent
may follow ("7", "+3.50", ".5", "1e-3"), and spaces may stand around it. Nothing else is a number: no sign
for thousands, no currency, no word. ``decimal`` names the decimal sign; the other one is no part of a number.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Literal, TypeAlias

from dpselect.errors import InvalidParameter
from dpselect.silence import run_or_none

Form: TypeAlias = Literal["csv", "json", "typed"]
"""What a source is: text between separators, JSON lines, or columns that have types."""

POINT, COMMA = ".", ","

ENCODINGS = {
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16LE",
    "utf-16-be": "UTF-16BE",
    "iso8859-1": "ISO-8859-1",
    "iso8859-2": "ISO-8859-2",
    "iso8859-15": "ISO-8859-15",
    "cp1250": "windows-1250",
    "cp1251": "windows-1251",
    "cp1252": "windows-1252",
    "cp437": "IBM437",
    "cp850": "IBM850",
    "mac-roman": "x-MacRoman",
    "koi8-r": "KOI8-R",
    "shift_jis": "Shift_JIS",
    "euc_jp": "EUC-JP",
    "gbk": "GBK",
    "gb18030": "GB18030",
    "big5": "Big5",
    "euc_kr": "EUC-KR",
}
"""The encodings of CSV files, as Python calls them, and what Java does. A line ends at the byte 10 in all of
them but those of UTF-16."""


@dataclass(frozen=True)
class Reading:
    """What a caller says of the text in a table; None and False where nothing is said."""

    decimal: str | None = None
    separator: str | None = None
    encoding: str | None = None
    numbers_in_text: bool = False

    def __post_init__(self) -> None:
        """Refuse what means nothing for any source."""
        if self.decimal not in (None, POINT, COMMA):
            raise InvalidParameter.must_be("decimal", "'.' or ','", got=self.decimal)
        if self.separator is not None and not _is_separator(self.separator):
            raise InvalidParameter.must_be(
                "separator", "one character that is no quote, no line break and no NUL", got=self.separator
            )
        if self.encoding is not None and self.codec not in ENCODINGS:
            raise InvalidParameter.must_be(
                "encoding",
                f"one of {', '.join(ENCODINGS)}",
                got=self.encoding,
                way_out="Or save it as UTF-8.",
            )
        if not isinstance(self.numbers_in_text, bool):
            raise InvalidParameter.must_be("numbers_in_text", "True or False", got=self.numbers_in_text)

    @property
    def codec(self) -> str:
        """The name that Python has for the encoding."""
        given = "utf-8" if self.encoding is None else self.encoding
        found = run_or_none(lambda: codecs.lookup(given).name) if isinstance(given, str) else None
        return "utf-8" if found == "utf-8-sig" else str(found)

    @property
    def is_of_csv(self) -> bool:
        """Whether something was said that can be said of a CSV alone."""
        return self.separator is not None or self.encoding is not None

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """What was said, in words: part of what is asked."""
        said = {
            "decimal": self.decimal,
            "separator": self.separator,
            "encoding": self.encoding and self.codec,
        }
        facts = tuple((name, value) for name, value in said.items() if value is not None)
        return (*facts, ("numbers_in_text", "True")) if self.numbers_in_text else facts

    def must_be_for(self, form: Form) -> None:
        """Refuse an option that says nothing of this kind of source."""
        for name in ("separator", "encoding"):
            if getattr(self, name) is not None and form != "csv":
                raise InvalidParameter(
                    f"{name} must be given for CSV files, and only for them. Leave it out.", parameter=name
                )
        if self.decimal is not None and form == "typed" and not self.numbers_in_text:
            raise InvalidParameter(
                "decimal must be given for text that spells numbers: in CSV files and JSON lines, and "
                "elsewhere with numbers_in_text=True. Leave it out, or say so.",
                parameter="decimal",
            )

    def sign(self, form: Form) -> str | None:
        """Give the decimal sign of numbers in text; None where text is no number."""
        return None if form == "typed" and not self.numbers_in_text else self.decimal or POINT


def _is_separator(given: object) -> bool:
    return isinstance(given, str) and len(given) == 1 and given.isascii() and given not in '"\n\r\0'
