"""Encoding and separator are chosen with the question: neither decides whether a table can be read."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from dpselect import Table, approval_voting
from dpselect.engines.reading import ENCODINGS
from dpselect.errors import InvalidParameter, TableUnreadable
from tests.engines.asking import asked

HEADER = b"who,dish of the day\n"
OTHERS = b"ann,tea\nbob,pie\n"
LAST = [
    b"eve,\x81\n",
    b"eve,\xd1\x8f\n",
    b"eve,t;\n",
    b'eve,";""x"\n',
    b"eve,a b e d i\n",
    b"eve,\x81|\n",
    b"eve,\xff\xfe\n",
]
SIGNS = '"\n\r,;\t'
BY_BYTES = [encoding for encoding in ENCODINGS if not encoding.startswith("utf-16")]


def counts(path: Path, content: bytes, column: str, **reading: Any) -> list[int]:
    path.write_bytes(content)
    return asked(
        approval_voting(candidate=column, candidates=["tea", "pie", "ann,tea", "bob,pie"]),
        Table(path, unit=None, **reading),
    )


@pytest.mark.parametrize("encoding", [each for each in BY_BYTES if each != "utf-8"])
def test_c5_no_bytes_of_a_person_make_a_file_unreadable_in_an_encoding_that_is_asked_for(
    encoding: str, tmp_path: Path
) -> None:
    content = HEADER + b"".join(LAST) + OTHERS
    assert counts(tmp_path / "rows.csv", content, "dish of the day", encoding=encoding) == [1, 1, 0, 0]


@pytest.mark.parametrize(
    ("separator", "column"),
    [(";", "who,dish of the day"), (" ", "who,dish"), ("i", "who,d"), ("^", "who,dish of the day")],
)
@pytest.mark.parametrize("last", LAST)
def test_c5_a_row_that_a_separator_does_not_split_as_the_header_is_left_out_alone(
    separator: str, column: str, last: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "rows.csv"
    before = counts(path, HEADER + OTHERS, column, separator=separator, encoding="cp1252")
    with_one_more = counts(path, HEADER + last + OTHERS, column, separator=separator, encoding="cp1252")
    assert before == with_one_more
    assert before == ([0, 0, 1, 1] if separator in ";^" else [0, 0, 0, 0])


@pytest.mark.parametrize("encoding", ["gbk", "shift_jis", "big5", "gb18030"])
def test_c5_a_letter_that_ends_in_the_byte_of_the_separator_breaks_its_own_row_alone(
    encoding: str, tmp_path: Path
) -> None:
    content = b"who|dish\neve|\x81|\nann|tea\n"
    assert counts(tmp_path / "rows.csv", content, "dish", encoding=encoding) == [1, 0, 0, 0]


@pytest.mark.parametrize("separator", [";", " ", "i", "^"])
def test_c5_a_quote_that_is_closed_on_another_line_is_refused_by_every_separator_alike(
    separator: str, tmp_path: Path
) -> None:
    content = HEADER + b'eve,x;"y\n' + OTHERS + b'joe,x^"y\n'
    column = {" ": "who,dish", "i": "who,d"}.get(separator, "who,dish of the day")
    with pytest.raises(TableUnreadable):
        counts(tmp_path / "rows.csv", content, column, separator=separator)


def test_a_line_that_is_too_long_to_be_split_is_left_out_alone(tmp_path: Path) -> None:
    content = b"who;dish, or, none\neve;" + b"x" * 2_500_000 + b"\nann;tea\n"
    assert counts(tmp_path / "rows.csv", content, "dish, or, none", separator=";") == [1, 0, 0, 0]


@pytest.mark.parametrize("encoding", BY_BYTES)
def test_signs_that_split_rows_are_the_same_in_every_encoding(encoding: str) -> None:
    before = [
        bytes(lead)
        for length, last in ((1, range(256)), (2, (0x30, 0x39, 0x81, 0xA1, 0xFE)))
        for lead in product(range(128, 256), *[last] * (length - 1))
    ]
    before += [bytes([one, 0x30, two]) for one in range(128, 256) for two in range(128, 256)]
    for sign in SIGNS:
        written = b"".join(lead + sign.encode() + b"." for lead in before)
        assert written.decode(encoding, "backslashreplace").count(sign) == written.count(sign.encode())


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("own", ["utf-8", "utf-16-le", "utf-16-be"])
def test_c5_before_the_charge_a_header_is_never_looked_for_in_the_rows(
    own: str, encoding: str, tmp_path: Path
) -> None:
    if own == encoding or (own, encoding) == ("utf-16-le", "utf-16"):
        return
    told = set()
    for rows in ("a,b\n1,2\n", "a,b\n1,23\n", "a,b\n1,é\u0a00\n\u0a00", "a,b\n1,\ud800\n\0\0"):
        (tmp_path / "rows.csv").write_bytes(rows.encode(own, "surrogatepass"))
        with pytest.raises(InvalidParameter) as refused:
            asked(
                approval_voting(candidate="zz", candidates=["tea"]),
                Table(tmp_path / "rows.csv", unit=None, encoding=encoding),
            )
        told.add(str(refused.value))
    assert len(told) == 1


def test_c5_of_a_file_whose_lines_end_in_cr_no_row_is_decoded_before_the_charge(tmp_path: Path) -> None:
    told = set()
    for row in (b"ann,tea", b"ann,\x81", b'ann,"'):
        (tmp_path / "rows.csv").write_bytes(b"who,dish\r" + row + b"\r")
        with pytest.raises(InvalidParameter) as refused:
            asked(
                approval_voting(candidate="dish", candidates=["tea"]),
                Table(tmp_path / "rows.csv", unit=None, encoding="cp1252"),
            )
        told.add(str(refused.value))
    assert len(told) == 1


def test_a_file_of_utf_16_without_a_mark_is_not_read_as_another_encoding(tmp_path: Path) -> None:
    content = (HEADER + OTHERS).decode().encode("utf-16-le")
    for encoding in ("utf-8", "cp1252"):
        with pytest.raises(InvalidParameter, match="must have a header on one line"):
            counts(tmp_path / "rows.csv", content, "dish", encoding=encoding)
