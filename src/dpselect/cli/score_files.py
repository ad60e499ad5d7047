"""Files of scores: read after the charge, as exact numbers, in the order of the candidates.

A file holds a number for each candidate, in the order of the list; or, with two columns, names and numbers.
What is wrong with a file is never said, because it would quote a score: one constant sentence.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from dpselect.engines.columns import Column, Schema
from dpselect.engines.silence import quietly
from dpselect.errors import TableUnreadable
from dpselect.exact.numbers import rational

FORMATS = (".csv", ".tsv", ".txt", ".json", ".npy")


@dataclass(frozen=True)
class ScoreFile:
    """A file of scores, the candidates in the order in which they were listed, and in the order wanted."""

    path: Path
    listed: tuple[str, ...]
    wanted: tuple[str, ...]
    name: str | None
    value: str | None

    def __call__(self) -> Any:  # noqa: ANN401 - an array, or a list of exact numbers
        """Read it: the one act that looks at data."""
        scores, failure = quietly(self._read, TableUnreadable)
        if scores is None:
            raise failure or TableUnreadable
        return scores

    def must_have_its_columns(self) -> None:
        """Refuse names of columns that the header does not have; only a header that is asked for is read."""
        if self.name is None and self.value is None:
            return
        header, failure = quietly(partial(self._header), TableUnreadable)
        if header is None:
            raise failure or TableUnreadable
        schema = Schema(tuple(Column(column, "text", "") for column in header))
        for column in (self.name, self.value):
            if column is not None:
                schema.column(column)

    def _header(self) -> list[str]:
        with self.path.open(encoding="utf-8-sig", newline="") as file:
            return next(csv.reader(file, delimiter=self._delimiter))

    @property
    def _delimiter(self) -> str:
        return "\t" if self.path.suffix.lower() == ".tsv" else ","

    def _read(self) -> Any:  # noqa: ANN401
        suffix = self.path.suffix.lower()
        if suffix == ".npy":
            return self._array()
        if suffix == ".json":
            content = json.loads(self.path.read_text(encoding="utf-8"), parse_float=str, parse_int=str)
            return self._aligned(content if isinstance(content, dict) else self._in_order(content))
        with self.path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file, delimiter=self._delimiter) if row]
        if self.name is None and self.value is None:
            return self._aligned(self._by_place(rows))
        header, *rest = rows
        name = header.index(self.name or header[0])
        value = header.index(self.value or header[1])
        return self._aligned(_pairs([(row[name], row[value]) for row in rest]))

    def _by_place(self, rows: list[list[str]]) -> Mapping[str, str]:
        """See one column as numbers in order, two as names and numbers; a first line of words is a header."""
        (width,) = {len(row) for row in rows}
        body = rows if _is_number(rows[0][-1]) else rows[1:]
        if width == 1:
            return self._in_order([row[0] for row in body])
        if width != 2:
            raise ValueError
        return _pairs([(row[0], row[1]) for row in body])

    def _in_order(self, values: Sequence[str]) -> Mapping[str, str]:
        return dict(zip(self.listed, values, strict=True))

    def _aligned(self, found: Mapping[str, str]) -> list[Fraction | float]:
        return [_score(found[name]) for name in self.wanted]

    def _array(self) -> Any:  # noqa: ANN401 - an array
        import numpy as np

        scores = np.load(self.path, allow_pickle=False)
        if scores.shape != (len(self.listed),):
            raise ValueError
        place = {name: i for i, name in enumerate(self.listed)}
        return scores[[place[name] for name in self.wanted]]


def _pairs(rows: list[tuple[str, str]]) -> Mapping[str, str]:
    found = {name.strip(): value for name, value in rows}
    if len(found) != len(rows):
        raise ValueError
    return found


def _is_number(text: str) -> bool:
    try:
        _score(text)
    except ValueError:
        return False
    return True


def _score(text: str) -> Fraction | float:
    """Read a score exactly; -inf is a candidate that may not win."""
    word = str(text).strip()
    return -math.inf if word.lower() == "-inf" else rational(word, "score")
