"""Text without the differences that ``ignore_case`` ignores: the same on every engine, of each value alone.

ASCII letters become small, ASCII white space becomes a space, several spaces become one, and outer ones go.
Other letters stay as they are: engines differ in what the small form of one is. Values of more bytes than a
candidate may have are none: on the way text grows to twice its length, which a server might not hold.
"""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from sqlglot import exp

LONGEST_FOLDED = 1_000_000
"""Bytes of a value, or of a candidate, that is compared in this way."""

WHITE_SPACE = " \t\n\v\f\r"
"""That of ASCII: what is cut off around a part of a cell."""

MARK = "\x01"
"""Stands behind each space for a moment. In text it counts as a space, so that none is there before."""

LARGE = string.ascii_uppercase + "\t\n\v\f\r" + MARK
SMALL = string.ascii_lowercase + " " * (len(LARGE) - 26)
"""What each letter of ``LARGE`` becomes: the small one, or a space."""
_TABLE = str.maketrans(LARGE, SMALL)
_BYTES = {"duckdb": "strlen", "spark": "octet_length"}
"""What an engine calls the number of bytes of a text, if not as PostgreSQL does."""


class Parameters(Protocol):
    """What is needed of a dialect."""

    @property
    def name(self) -> str:
        """The dialect's name in sqlglot."""

    def parameter(self, value: object) -> exp.Expression:
        """Take a value and give the node that stands for it."""


def folded(text: str) -> str:
    r"""Fold a text.

    >>> folded(" Pad  THAI\t"), folded("CRÈME")
    ('pad thai', 'crÈme')
    """
    return " ".join(part for part in text.translate(_TABLE).split(" ") if part)


def folded_node(text: exp.Expression, dialect: Parameters) -> exp.Expression:
    """Fold the text of a node; NULL if it is too long to be a candidate."""
    from sqlglot import exp  # noqa: PLC0415 - problems fold their candidates without it

    large, small, space, marked, mark_first = (
        exp.cast(dialect.parameter(part), exp.DataType.build("TEXT"))
        for part in (LARGE, SMALL, " ", f" {MARK}", f"{MARK} ")
    )
    empty = exp.Literal.string("")
    small_letters = exp.Translate(this=text.copy(), from_=large, to=small)
    all_marked = exp.Replace(this=small_letters, expression=space, replacement=marked)
    one_mark_a_run = exp.Replace(this=all_marked, expression=mark_first, replacement=empty)
    one_space_a_run = exp.Replace(this=one_mark_a_run, expression=marked.copy(), replacement=space.copy())
    trimmed = exp.Trim(this=one_space_a_run, expression=exp.Literal.string(" "), position="BOTH")
    name = _BYTES.get(dialect.name, "pg_catalog.octet_length")
    size = exp.Anonymous(this=name, expressions=[text.copy()])
    short = exp.LTE(this=size, expression=exp.Literal.number(LONGEST_FOLDED))
    return exp.Case(ifs=[exp.If(this=short, true=trimmed)])
