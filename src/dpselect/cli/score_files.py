"""Files of scores: opened after the charge, as exact numbers, in the order of the candidates.

A file holds a number for each candidate, in the order of the list; or, with two columns, names and numbers.
What is wrong with a file is never said, because it would tell a score: one constant sentence. Whether there
is something wrong depends on the whole file and on the names of its columns, not on single scores.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpselect.errors import ScoresUnreadable
from dpselect.exact.numbers import rational
from dpselect.silence import run

_NUMBER = re.compile(r"[+-]?(inf|infinity|[0-9._/]*[0-9][0-9._/]*(e[+-]?[0-9]+)?)", re.IGNORECASE)
SCORE_FILE_FORMATS = (".csv", ".tsv", ".txt", ".json", ".npy")


@dataclass(frozen=True)
class ScoreFile:
    """A file of scores, the candidates in the order in which they were listed, and in the order wanted."""

    path: Path
    listed: tuple[str, ...]
    wanted: tuple[str, ...]
    name: str | None
    value: str | None

    def __call__(self) -> Any:
        """Read it: the one act that looks at data."""
        return run(self._read, lambda _: ScoresUnreadable())

    @property
    def _delimiter(self) -> str:
        return "\t" if self.path.suffix.lower() == ".tsv" else ","

    def _read(self) -> Any:
        suffix = self.path.suffix.lower()
        if suffix in (".npy", ".json"):
            if self.name is not None or self.value is not None:
                raise ValueError  # there are no columns to name
            return self._array() if suffix == ".npy" else self._aligned(self._of_json())
        with self.path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file, delimiter=self._delimiter) if row]
        if self.name is None and self.value is None:
            return self._aligned(self._by_place(rows))
        header, *rest = rows
        # A first line with a number in it is no header: which number it is would be told by naming it.
        if any(_is_number(each) or each.strip().lower() == "nan" for each in header):
            raise ValueError
        if len(set(header)) != len(header):
            raise ValueError
        name = header.index(self.name or header[0])
        value = header.index(self.value or header[1])
        return self._aligned(_named([(row[name], row[value]) for row in rest]))

    def _of_json(self) -> Mapping[str, str]:
        text = self.path.read_text(encoding="utf-8-sig")
        content = json.loads(text, parse_float=str, parse_int=str, object_pairs_hook=_pairs)
        return content if isinstance(content, dict) else self._in_order(content)

    def _by_place(self, rows: list[list[str]]) -> Mapping[str, str]:
        """See one column as numbers in order, two as names and numbers; a first line of words is a header."""
        (width,) = {len(row) for row in rows}
        body = rows if _is_number(rows[0][-1]) else rows[1:]
        if width == 1:
            return self._in_order([row[0] for row in body])
        if width != 2:
            raise ValueError
        return _named([(row[0], row[1]) for row in body])

    def _in_order(self, values: Sequence[str]) -> Mapping[str, str]:
        return dict(zip(self.listed, values, strict=True))

    def _aligned(self, found: Mapping[str, str]) -> list[Fraction | float]:
        """Read every score, also of names not asked for: the file alone decides what can be read."""
        scores = {name: _score(text) for name, text in found.items()}
        return [scores[name] for name in self.wanted]

    def _array(self) -> Any:
        import numpy as np

        scores = np.load(self.path, allow_pickle=False)
        if scores.shape != (len(self.listed),) or scores.dtype.kind not in "iuf":
            raise ValueError
        if not np.all(scores < math.inf):  # no NaN either
            raise ValueError
        place = {name: i for i, name in enumerate(self.listed)}
        return scores[[place[name] for name in self.wanted]]


def _named(rows: list[tuple[str, str]]) -> dict[str, str]:
    """Gather names and numbers by columns; who takes scores for names would ask which scores there are."""
    if any(_is_number(name) for name, _ in rows):
        raise ValueError
    return _pairs(rows)


def _pairs(rows: list[tuple[str, str]]) -> dict[str, str]:
    """Gather names and numbers; a name that is there twice has no number."""
    found = {name.strip(): value for name, value in rows}
    if len(found) != len(rows):
        raise ValueError
    return found


def _is_number(text: str) -> bool:
    """Say whether a cell looks like a number, also like one that is no score."""
    return _NUMBER.fullmatch(text.strip()) is not None


def _score(text: str) -> Fraction | float:
    """Read a score exactly; -inf is a candidate that may not win."""
    word = str(text).strip()
    return -math.inf if word.lower() == "-inf" else rational(word, "score")
