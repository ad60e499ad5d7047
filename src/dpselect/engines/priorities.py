"""A number for each row of a person, the same on every engine: the row with the least of them is kept.

Whole numbers of 64 bits alone are computed, and none of them overflows: engines agree on these, whatever
else they differ in, and take a few nanoseconds for each. Every step but the first uses the step before it
once, so that an engine which copies expressions copies none.

Proof: priorities.proof.md
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlglot import exp

from dpselect.engines.schema import Column

ONE_PRIME, OTHER_PRIME = 2**31 - 1, 2**31 - 19
"""Remainders of the one are mixed by exclusive or before remainders of the other are taken."""
POSITIVE = 2**63 - 1
"""All bits but the sign of a whole number of 64 bits."""
LEAST_WHOLE = 52
"""Floats from 2**52 on are whole numbers."""
LEAST_FACTOR = 2**29
"""A factor is this or more, and less than twice of it: a remainder times a factor has 61 bits at most."""
DIGITS_OF_A_WORD = 18
"""A decimal of no more digits, without its point, is a whole number of 64 bits."""
BAND = 10
"""Powers of two in a band of floats, whose numbers times one power are whole and have 53 to 62 bits."""
BANDS = 13
"""Bands above one, and as many below: from 2**-130 to 2**130."""
BETWEEN_BANDS = 0x9E3779B97F4A7
"""What bands differ in: without it a number and its 1,024-fold would be alike."""


class Parameterized(Protocol):
    """What is needed of a dialect."""

    @property
    def name(self) -> str:
        """The dialect's name in sqlglot."""

    def parameter(self, value: object) -> exp.Expression:
        """Take a value and give the node that stands for it."""


@dataclass(frozen=True)
class PriorityPart:
    """What a priority depends on: a node and its column; None stands for a place on a list."""

    node: exp.Expression
    column: Column | None


def priority(parts: Sequence[PriorityPart], salt: str, dialect: Parameterized) -> exp.Expression:
    """Give the priority of a row, zero or more and less than 2**31, from its person, its value, and more."""
    numbers = _numbers(salt)
    words = [_word(part) for part in parts]
    state: exp.Expression = exp.Literal.number(0)
    signed = False
    for place, (word, part) in enumerate(zip(words, parts, strict=True)):
        prime = ONE_PRIME if place == 0 else OTHER_PRIME
        term = _times(_mod(_xor(word, _secret(numbers, dialect)), prime), _factor(numbers, dialect))
        state = term if place == 0 else sum_of(_mixed(state, place, signed, numbers, dialect), term)
        signed = signed or _is_signed(part)
    return _mod(_mixed(state, len(parts), signed, numbers, dialect), OTHER_PRIME)


def _mixed(
    state: exp.Expression,
    place: int,
    signed: bool,  # noqa: FBT001 - handed on
    numbers: Iterator[int],
    dialect: Parameterized,
) -> exp.Expression:
    """Mix what has been gathered; two parts are gathered before the first time."""
    if place <= 1:
        return state
    hidden = _xor(state, _secret(numbers, dialect))
    positive = bits_of(hidden, POSITIVE) if signed else hidden
    return _times(_mod(positive, ONE_PRIME), _factor(numbers, dialect))


def _numbers(salt: str) -> Iterator[int]:
    """Give secret numbers of 63 bits, as many as are asked for."""
    for number in range(10**6):
        yield int.from_bytes(hashlib.sha256(f"{salt}:{number}".encode()).digest()[:8]) >> 1


def _secret(numbers: Iterator[int], dialect: Parameterized) -> exp.Expression:
    return as_integer(dialect.parameter(next(numbers)))


def _factor(numbers: Iterator[int], dialect: Parameterized) -> exp.Expression:
    return as_integer(dialect.parameter(LEAST_FACTOR + next(numbers) % LEAST_FACTOR))


# ---- a whole number for a value --------------------------------------------------------------------------


def _is_signed(part: PriorityPart) -> bool:
    return part.column is not None and not (part.column.kind == "integer" and part.column.lowest >= 0)


def is_word(column: Column) -> bool:
    """Say whether a column holds whole numbers of 64 bits."""
    return column.kind == "integer" and column.lowest >= -POSITIVE - 1 and column.highest <= POSITIVE


def _word(part: PriorityPart) -> exp.Expression:
    """Give a whole number of 64 bits for a value: equal for equal ones, and seldom for different ones."""
    column = part.column
    if column is None or is_word(column):
        return as_integer(part.node)
    if column.kind in ("double", "single"):
        return _word_of_float(cast(part.node, exp.DType.DOUBLE))
    # A decimal of few digits: all else has become a word before (``text_words``).
    power = exp.Literal.number(10 ** (column.scale or 0))
    return as_integer(_times(part.node, power))


def _word_of_float(given: exp.Expression) -> exp.Expression:
    """Give all the digits of a float as a whole number; zero and what is beyond all bands is 0, 1 or 2.

    No product is rounded or leaves the range of floats, and what is cast is whole and has 62 bits at most.
    """
    size = exp.Abs(this=placeable(given))
    large = [
        exp.If(
            this=exp.LT(this=placeable(size), expression=_power(BAND * (band + 1))), true=_moved(given, band)
        )
        for band in range(BANDS)
    ]
    small = [
        exp.If(this=exp.GTE(this=placeable(size), expression=_power(BAND * band)), true=_moved(given, band))
        for band in range(-1, -BANDS - 1, -1)
    ]
    near_zero, very_large, very_small = (exp.Literal.number(number) for number in range(3))
    is_positive = exp.If(this=exp.GTE(this=placeable(given), expression=_power(0)), true=very_large)
    beyond = exp.Case(ifs=[is_positive], default=very_small)
    at_least_one = exp.GTE(this=placeable(size), expression=_power(0))
    return exp.Case(
        ifs=[exp.If(this=at_least_one, true=exp.Case(ifs=large, default=beyond))],
        default=exp.Case(ifs=small, default=near_zero),
    )


def _moved(given: exp.Expression, band: int) -> exp.Expression:
    """Move a float of a band to where floats are whole numbers, and mark the band."""
    digits = as_integer(_times(given, _power(LEAST_WHOLE - BAND * band)))
    return sum_of(digits, exp.Literal.number(band * BETWEEN_BANDS)) if band else digits


def _power(exponent: int) -> exp.Expression:
    return cast(exp.Literal.string(repr(2.0**exponent)), exp.DType.DOUBLE)


# ---- arithmetic, each step in parentheses ----------------------------------------------------------------


def placeable(node: exp.Expression) -> exp.Expression:
    """Give the node itself as long as no other holds it, later a copy: a node has one place in a query."""
    return node if node.parent is None else node.copy()


def cast(node: exp.Expression, to: exp.DType | exp.DataType) -> exp.Expression:
    """Cast to a type."""
    kind = to if isinstance(to, exp.DataType) else exp.DataType(this=to)
    return exp.cast(placeable(node), kind, copy=False)


def as_integer(node: exp.Expression) -> exp.Expression:
    """Cast to whole numbers of 64 bits."""
    return cast(node, exp.DType.BIGINT)


def sum_of(one: exp.Expression, other: exp.Expression) -> exp.Expression:
    """Add."""
    return exp.Paren(this=exp.Add(this=placeable(one), expression=placeable(other)))


def times_power(node: exp.Expression, exponent: int) -> exp.Expression:
    """Multiply by a power of two."""
    return _times(node, exp.Literal.number(2**exponent))


def bits_of(node: exp.Expression, mask: int) -> exp.Expression:
    """Keep the bits of a mask."""
    return exp.Paren(this=exp.BitwiseAnd(this=placeable(node), expression=exp.Literal.number(mask)))


def shifted(node: exp.Expression, by: int) -> exp.Expression:
    """Shift the bits to the right."""
    return exp.Paren(this=exp.BitwiseRightShift(this=placeable(node), expression=exp.Literal.number(by)))


def _times(one: exp.Expression, other: exp.Expression) -> exp.Expression:
    return exp.Paren(this=exp.Mul(this=placeable(one), expression=placeable(other)))


def _mod(node: exp.Expression, prime: int) -> exp.Expression:
    return exp.Paren(this=exp.Mod(this=placeable(node), expression=exp.Literal.number(prime)))


def _xor(one: exp.Expression, other: exp.Expression) -> exp.Expression:
    return exp.Paren(this=exp.BitwiseXor(this=placeable(one), expression=placeable(other)))
