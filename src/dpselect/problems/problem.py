"""A selection problem: outputs, score, sensitivity. All of it is public; none of it is data."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from dpselect.engines.protocol import Counts, CountsRequest
from dpselect.engines.schema import Schema
from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import whole
from dpselect.exact.rounding import exact_text
from dpselect.privacy.neighbours import Neighbours, metric_of
from dpselect.problems.bounded_counts import BoundedCounts, ByList
from dpselect.problems.candidates import Grid, Numbers, Texts
from dpselect.problems.scoring import RunScoring, Scoring, Unbounded, WholeScores
from dpselect.problems.typed_values import TypedValues
from dpselect.selection.cells import Cells
from dpselect.selection.runs import Runs

CHUNK = 2**20
"""Candidates whose scores are held at a time; a problem with more is drawn in chunks."""


MOST_SHOWN = 10**12
"""Candidates whose number is written out."""


@dataclass(frozen=True)
class Problem:
    """Which of the ``outputs`` is best.

    ``unit`` is what one point of an engine's whole-number score is worth; ``d_range`` is stated in the units
    of the score itself, so in points it is ``d_range(neighbours) / unit``.
    """

    name: str
    candidates: Texts | Numbers | TypedValues | Grid
    unit: Fraction
    ranges: tuple[Fraction, Fraction]
    question: BoundedCounts | None
    scoring: Scoring | None
    facts: tuple[tuple[str, str], ...]
    moves: Fraction | None = None
    """How far one score moves if one person answers otherwise; half the range, if not said."""
    definition: int = 1
    """Which definition of the score it is, counted from 1: another one is another question."""
    target: str | None = None
    """The number whose rank is asked for, in words, if a score is minus a distance of ranks."""
    measured_in: str = "score"
    """What a score is a number of, in words: votes, points, revenue."""
    totals: tuple[Fraction, Fraction] | None = None
    """How far all scores together move, by one person more or fewer and by one with other answers; None
    where a person may answer about any number of candidates."""
    at: tuple[Fraction, ...] = ()
    """The fractions of people below each answer, ascending, if several quantiles are asked for at once."""

    beside_a_constant: tuple[Fraction, Fraction] | None = None
    """The ranges if one candidate more has a public constant score; None where that has no meaning."""

    @property
    def title(self) -> str:
        """What is asked, in a word or two: a quantile says which."""
        return self.name if self.target is None else self.target.removeprefix("the ")

    @property
    def outputs(self) -> Sequence[Any]:
        """What can be chosen, in the order given; what was given as a set is sorted."""
        return self.candidates if isinstance(self.candidates, Grid) else self.candidates.labels

    @property
    def count(self) -> int:
        """How many outputs there are; a grid may have more than ``len`` can say."""
        return self.candidates.length if isinstance(self.candidates, Grid) else len(self.outputs)

    @property
    def answers(self) -> int:
        """How many answers are released together: one for each quantile, otherwise one."""
        return max(1, len(self.at))

    @property
    def has_runs(self) -> bool:
        """Whether one winner is drawn from runs of a grid: with Gumbel noise, and without listing it."""
        return isinstance(self.candidates, Grid) and isinstance(self.scoring, RunScoring)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the problem reads, beside the one of the person."""
        return (
            ()
            if self.question is None
            else tuple(column for key in self.question.keys for column in key.columns)
        )

    def d_range(self, neighbours: Neighbours) -> Fraction:
        """Bound by how much more one score can rise than another, between neighbouring data sets."""
        metric_of(neighbours)
        return self.ranges[0] if neighbours == "add_remove" else self.ranges[1]

    def l1(self, neighbours: Neighbours) -> Fraction | None:
        """Bound by how much all scores move together, between neighbouring data sets; None if unbounded."""
        metric_of(neighbours)
        if self.totals is None:
            return None
        return self.totals[0] if neighbours == "add_remove" else self.totals[1]

    @property
    def d_linf(self) -> Fraction:
        """Bound by how much one score moves if one person answers otherwise, as Smith's lecture does."""
        return self.d_range("change_one") / 2 if self.moves is None else self.moves

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the question: equal for equal problems, however they were written."""
        parts = [f"problem {self.name}", f"unit {exact_text(self.unit)}"]
        parts += [f"definition {self.definition}"] if self.definition > 1 else []
        parts += [f"range {exact_text(each)}" for each in self.ranges]
        parts += [f"fact {name} {value}" for name, value in self.facts]
        hashed = hashlib.sha256()
        for part in (*parts, *self.candidates.canonical()):
            content = part.encode("utf-8", "surrogatepass")
            hashed.update(f"{len(content)}:".encode() + content)
        return hashed.hexdigest()

    def request(self, schema: Schema, *, unit: str | None) -> CountsRequest:
        """Fit the question to a table's schema, or refuse: what can be wrong is found before any charge."""
        if self.question is None:
            raise InvalidParameter(
                f"{self.name} reads no table. Give Scores(...) to custom(...); counting(...) is for planning."
            )
        split = any(isinstance(key, ByList) and key.split is not None for key in self.question.keys)
        if unit is None and split and self.question.most is not None:
            raise InvalidParameter(
                f"{self.name} with split needs unit=, the column that identifies a person: which part of a "
                "cell counts is drawn for each person. Name it, or ask approval_voting."
            )
        person = None if unit is None else schema.person(unit)
        keys = tuple(key.key(schema) for key in self.question.keys)
        asked = self.question
        return CountsRequest(person, keys, asked.distinct, asked.most, asked.within, schema.where)

    def scores(self, counts: Counts) -> WholeScores:
        """Give all scores, aligned with the outputs, in multiples of the unit."""
        return _unbounded(self._scoring(counts)(0, self.count))

    def runs(self, counts: Counts) -> tuple[Runs, ...]:
        """Give the scores of a grid as runs, in multiples of the unit; the outputs are places of the grid."""
        scoring = self._scoring
        if not isinstance(scoring, RunScoring) or not self.has_runs:
            raise InvalidParameter(f"{self.name} has no runs: its candidates are listed.")
        return scoring.runs(counts)

    def cells(self, counts: Counts) -> Cells:
        """Give the people at each number of a grid, of which several quantiles are asked."""
        place = getattr(self._scoring, "cells", None)
        if place is None:
            raise InvalidParameter(f"{self.name} asks for one answer, which has scores.")
        found: Cells = place(counts)
        return found

    def chunks(self, counts: Counts, *, size: int = CHUNK) -> Iterator[WholeScores]:
        """Give the scores in order, ``size`` at a time: for outputs too many to hold their scores."""
        width = whole(size, "size", least=1)
        between = self._scoring(counts)
        for start in range(0, self.count, width):
            yield _unbounded(between(start, min(start + width, self.count)))

    @property
    def _scoring(self) -> Scoring:
        if self.scoring is None:
            raise InvalidParameter(f"{self.name} has no scores of its own.")
        return self.scoring

    def __repr__(self) -> str:
        facts = "".join(f"{name}={value}, " for name, value in self.facts)
        return f"{self.name}({facts}{shown_count(self.count)} candidates)"


def shown_count(count: int) -> str:
    """Write how many candidates there are; a long number as a power of 2 that it does not exceed.

    >>> shown_count(121), shown_count(2**80)
    ('121', 'about 2^80')
    """
    return str(count) if count < MOST_SHOWN else f"about 2^{count.bit_length() - 1}"


def _unbounded(scores: WholeScores) -> WholeScores:
    return Unbounded(scores) if isinstance(scores, list) else scores
