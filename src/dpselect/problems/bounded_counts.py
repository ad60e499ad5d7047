"""What a problem asks of an engine: the counts of which keys, bounded how, and how a key is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpselect.engines.protocol import NO_PLACE, AmountKey, Key, Listed, Ticked
from dpselect.engines.schema import WORDS, ListedValue, Schema, comparable
from dpselect.errors import InvalidParameter
from dpselect.problems.candidates import Numbers, Texts, must_differ_in_more_than_case
from dpselect.problems.typed_values import EXAMPLES, TYPED_KINDS, TypedValues, read_as


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
                    "form in the encoding of its database. Leave them out: nobody can have chosen them.",
                    parameter="candidates",
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


def looked_up(column: str, names: Texts | Numbers | TypedValues, *, ignore_case: bool) -> ByList:
    """Look the values of a column up among the candidates: exactly, or as ``ignore_case`` says."""
    if not isinstance(ignore_case, bool):
        raise InvalidParameter.must_be("ignore_case", "True or False", got=ignore_case)
    if ignore_case:
        must_differ_in_more_than_case(names)
    return ByList(column, names, ignore_case)


def facts_of_case(*, ignore_case: bool) -> tuple[tuple[str, str], ...]:
    """Give the fact that case is ignored, which makes another question of it."""
    return (("ignore_case", "True"),) if ignore_case else ()


def column_name(given: object, name: str) -> str:
    """Read the name of a column."""
    if not isinstance(given, str) or not given:
        raise InvalidParameter.must_be(name, "the name of a column", got=given)
    return given
