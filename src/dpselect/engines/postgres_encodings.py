"""Which characters a database's encoding shares with Unicode: the only ones that the server can convert.

A server converts text between encodings or fails, and a database may hold bytes that stand for no character.
So rows are asked first whether they hold nothing but characters of these, and candidates likewise.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product

AS_IT_IS = ("UTF8", "SQL_ASCII")
"""The bytes are those that are compared and hashed; nothing is converted."""

CODECS = {
    **{f"LATIN{number}": f"iso8859-{number}" for number in (1, 2, 3, 4)},
    "LATIN5": "iso8859-9",
    "LATIN6": "iso8859-10",
    "LATIN7": "iso8859-13",
    "LATIN8": "iso8859-14",
    "LATIN9": "iso8859-15",
    "LATIN10": "iso8859-16",
    **{f"ISO_8859_{number}": f"iso8859-{number}" for number in (5, 6, 7, 8)},
    **{f"WIN{number}": f"cp{number}" for number in (866, 874, *range(1250, 1259))},
    "KOI8R": "koi8-r",
    "KOI8U": "koi8-u",
    "EUC_JP": "euc_jp",
    "EUC_KR": "euc_kr",
    "EUC_CN": "gb2312",
}
"""Python's name of each encoding whose characters we know; tests hold them against the server's own."""

_MORE = {
    "EUC_JP": ["ada1-adbe", "adc0-add6", "addf-adfc", "8ff3f3-8ff3fe", "8ff4a1-8ff4fe"],
    "EUC_KR": ["a2e8-a2e8", "a4d4-a4d4"],
}
_LESS = {"EUC_JP": [b"\x8f\xa2\xb7"]}
"""Where PostgreSQL's table has more than Python's, and where it has less."""

_HIGH = range(0xA1, 0xFF)


@cache
def ranges(encoding: str) -> tuple[tuple[bytes, bytes], ...]:
    """Give the first and the last of each run of characters, in the order of their codes."""
    runs: list[tuple[bytes, bytes]] = []
    for code in _codes(encoding):
        if runs and runs[-1][1][:-1] == code[:-1] and runs[-1][1][-1] + 1 == code[-1]:
            runs[-1] = (runs[-1][0], code)
        else:
            runs.append((code, code))
    return tuple(runs)


def every_character(encoding: str) -> bytes:
    """Give all of them in a row."""
    return b"".join(code for first, last in ranges(encoding) for code in _run(first, last))


def pattern(encoding: str) -> bytes:
    """Give the regular expression, in the encoding itself, of text that holds nothing else."""
    return b"^[" + b"".join(first + b"-" + last for first, last in ranges(encoding)) + b"]*$"


def _codes(encoding: str) -> list[bytes]:
    codec = CODECS[encoding]
    more = [code for run in _MORE.get(encoding, []) for code in _run(*map(bytes.fromhex, run.split("-")))]
    known = {code for code in _possible(encoding) if "\ufffd" not in code.decode(codec, "replace")}
    return sorted((known | {*more}) - {*_LESS.get(encoding, [])}, key=lambda code: (len(code), code))


def _possible(encoding: str) -> Iterator[bytes]:
    """Give every code that the encoding could have, NUL excepted."""
    wide = encoding.startswith("EUC")
    yield from (bytes([byte]) for byte in range(1, 0x80 if wide else 0x100))
    if wide:
        yield from map(bytes, product(_HIGH, _HIGH))
    if encoding == "EUC_JP":
        yield from map(bytes, product([0x8E], range(0xA1, 0xE0)))
        yield from map(bytes, product([0x8F], _HIGH, _HIGH))


def _run(first: bytes, last: bytes) -> list[bytes]:
    return [first[:-1] + bytes([byte]) for byte in range(first[-1], last[-1] + 1)]
