"""A selection problem: outputs, score, sensitivity. All of it is public; none of it is data."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dpselect.engines.protocol import NO_PLACE, AmountKey, Counts, CountsRequest, Key, Listed, Ticked
from dpselect.engines.schema import WORDS, ListedValue, Schema, comparable
from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import whole
from dpselect.exact.rounding import exact_text
from dpselect.privacy.neighbours import Neighbours, metric_of
from dpselect.problems.candidates import Grid, Numbers, Texts
from dpselect.problems.typed_values import EXAMPLES, TYPED_KINDS, TypedValues, read_as
from dpselect.selection.cells import Cells
from dpselect.selection.runs import Runs

CHUNK = 2**20
"""Candidates whose scores are held at a time; a problem with more is drawn in chunks."""


class Unbounded(list[int]):
    """Whole numbers that public numbers do not keep within 64 bits: read one by one, whatever they are."""


WholeScores: TypeAlias = NDArray[np.int64] | list[int]
"""Exact whole numbers: an array, or a list where public numbers are so large that 64 bits might not do."""

MOST_SHOWN = 10**12
"""Candidates whose number is written out."""

LARGEST_FACTOR, MOST_PEOPLE = 2**28, 2**34
"""A factor times people, of no more than these, is at most 2**62."""

Between: TypeAlias = Callable[[int, int], WholeScores]
"""Gives the scores of the candidates from one place to another, in multiples of the unit."""


class Scoring(Protocol):
    """Turns counts into scores: a small frozen callable, as everything that a problem is made of."""

    def __call__(self, counts: Counts, /) -> Between:
        """Read the counts once, and give what scores any stretch of the candidates."""


@runtime_checkable
class RunScoring(Protocol):
    """Turns counts into the scores of a grid, too: as runs, at a cost that does not depend on its points."""

    def runs(self, counts: Counts, /) -> tuple[Runs, ...]:
        """Read the counts once, and give the places of the grid in runs with scores."""


@dataclass(frozen=True)
class ByList:
    """Group by a column whose values are looked up on a public list."""

    column: str
    values: Texts | Numbers | TypedValues
    ignore_case: bool = False
    others: bool = False
    """Whether what is not on the list counts too, at the place behind it."""
    split: str | None = None
    optional: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads."""
        return (self.column,)

    def key(self, schema: Schema) -> Key:
        """Fit the list to the column's type, which must tell its values apart."""
        column = schema.column(self.column)
        values = self.values
        if self.split is not None and column.kind != "text":
            raise InvalidParameter(
                f"split is for columns of text; column {self.column!r} holds {WORDS[column.kind]}. "
                "Leave it out.",
                parameter="split",
            )
        if isinstance(values, Texts) and column.kind in TYPED_KINDS:
            if self.ignore_case:
                raise InvalidParameter(
                    f"ignore_case is for columns of text; column {self.column!r} holds {WORDS[column.kind]}. "
                    "Leave it out."
                )
            values = read_as(column, values.labels)
        if isinstance(values, TypedValues):
            held = values.held(column)
        elif isinstance(values, Texts):
            places, spellings = zip(*values.spellings(ignore_case=self.ignore_case), strict=True)
            held = _held(places, comparable(column, spellings))
            lost = len({*places} - {place for place, _ in held})
            if lost:
                raise InvalidParameter(
                    f"candidates must be text that column {self.column!r} can hold; {lost} of them have no "
                    "form in the encoding of its database. Leave them out: nobody can have chosen them."
                )
        else:
            if column.kind in TYPED_KINDS:
                held_here = WORDS[column.kind]
                raise InvalidParameter(
                    f"column {self.column!r} must hold text or numbers, as numbers are looked up in it; it "
                    f"holds {held_here}. Look up {held_here}, such as {EXAMPLES[column.kind]}, or name "
                    "another column."
                )
            held = _held(range(len(values)), comparable(column, values.values))
            if len({value for _, value in held}) != len(held):
                raise InvalidParameter(
                    f"column {self.column!r} must tell the numbers of the list apart; it holds "
                    f"{WORDS[column.kind]}, and two of the list have the same nearest one. "
                    "Leave one of them out."
                )
        first = NO_PLACE + 1 if self.optional else 0
        labels, found = tuple(value for _, value in held), tuple(first + place for place, _ in held)
        behind = len(values.labels) if self.others else None
        return Listed(
            column, labels, found, self.ignore_case, others=behind, split=self.split, optional=self.optional
        )


def _held(places: Sequence[int], values: Sequence[ListedValue | None]) -> list[tuple[int, ListedValue]]:
    """Keep the values that a column can hold, each with its place."""
    return [(place, value) for place, value in zip(places, values, strict=True) if value is not None]


@dataclass(frozen=True)
class ByAmount:
    """Group by the numbers in a column."""

    column: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads."""
        return (self.column,)

    def key(self, schema: Schema) -> Key:
        """Find the column."""
        return AmountKey(schema.numbers(self.column))


@dataclass(frozen=True)
class ByTicks:
    """Group by the columns that are ticked, each by its place."""

    columns: tuple[str, ...]

    def key(self, schema: Schema) -> Key:
        """Find the columns; each must hold something that can be ticked."""
        found = tuple(schema.column(name) for name in self.columns)
        for column in found:
            if column.kind == "other":
                raise InvalidParameter(
                    f"column {column.name!r} must hold text, numbers, truth values or dates; it holds "
                    f"{WORDS[column.kind]}. Convert it to text first."
                )
        return Ticked(found)


@dataclass(frozen=True)
class BoundedCounts:
    """What a problem asks of an engine: the counts of which keys, bounded how."""

    keys: tuple[ByList | ByAmount | ByTicks, ...]
    distinct: bool
    most: int | None
    within: tuple[int, ...] = ()


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


def in_64_bits(factor: Fraction | int, people: int) -> bool:
    """Say whether scores, a public factor times people, are computed in 64 bits or without bounds.

    The factor alone decides, because the two take different times and the caller chooses the factor. The
    number of people that would decide otherwise takes minutes to count; then scores must still be exact.
    """
    return factor <= LARGEST_FACTOR and people <= MOST_PEOPLE


def added_up(candidates: int, factor: Fraction | int, counts: Counts, points: Sequence[int]) -> Between:
    """Add up, for each candidate, the points of each group, none above the factor, times its people."""
    narrow = in_64_bits(factor, int(counts.sizes.sum()))
    kind = np.int64 if narrow else object
    scores = np.zeros(candidates, dtype=kind)
    np.add.at(scores, counts.keys[0], np.array(points, dtype=kind) * counts.sizes.astype(kind))
    return lambda start, stop: scores[start:stop] if narrow else scores[start:stop].tolist()
