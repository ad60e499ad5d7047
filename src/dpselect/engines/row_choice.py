"""One row of each person: the one of least priority, found in one aggregation, without a sort.

Equal rows have equal priorities, so duplicates need not be dropped first. Different rows of one priority are
told apart by their values, in whichever form an engine compares fastest.

Proof: row_choice.proof.md
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dpselect.engines.priorities import (
    POSITIVE,
    Parameterized,
    PriorityPart,
    as_integer,
    bits_of,
    cast,
    is_word,
    placeable,
    priority,
    shifted,
    sum_of,
    times_power,
)
from dpselect.engines.protocol import AmountKey, CountsRequest, Key, Listed
from dpselect.engines.schema import Column
from dpselect.engines.text_words import with_words

PACKED_BITS = 32
"""Bits that are left beside a priority in a whole number of 64 bits."""
TEN_DIGITS = 2**31
"""What a priority is added to, so that it has ten digits, whatever it is."""


def is_one_row(request: CountsRequest) -> bool:
    """Say whether one of each person's different rows is kept, of a form that is chosen here."""
    if request.person is None or not request.distinct or request.most != 1:
        return False
    free = _free(request)
    return bool(free) and (len(free) == 1 or _widths(request, free) is not None)


def one_row(request: CountsRequest, names: Sequence[str], salt: str, dialect: Parameterized) -> exp.Select:
    """Select one row of each person, or of each person and value of the keys ``within``."""
    free = _free(request)
    part = _parts(request, names)
    given = PriorityPart(exp.column("person", quoted=True), request.person)
    (person, *hashed), rows = with_words([given, *part], "counted", dialect)
    groups = [exp.column("person", quoted=True)]
    groups += [exp.column(names[number], quoted=True) for number in request.within]
    parts = [person, *(hashed[number] for number in (*free, *request.within)), person]
    turn = priority(parts, salt, dialect)
    widths = _widths(request, free)
    if widths is None:
        (column,) = request.keys[free[0]].columns
        chosen = {names[free[0]]: _least(turn, column, part[free[0]].node, dialect)}
    else:
        chosen = _unpacked(turn, request, names, free, widths)
    kept: list[exp.Expression] = [*groups]
    kept += [
        exp.Alias(this=node, alias=exp.to_identifier(name, quoted=True)) for name, node in chosen.items()
    ]
    return exp.select(*kept).from_(rows).group_by(*groups)


def _free(request: CountsRequest) -> list[int]:
    """Give the numbers of the keys that are chosen, not grouped by."""
    return [number for number in range(len(request.keys)) if number not in request.within]


def _parts(request: CountsRequest, names: Sequence[str]) -> list[PriorityPart]:
    return [
        PriorityPart(exp.column(name, quoted=True), key.column if isinstance(key, AmountKey) else None)
        for name, key in zip(names, request.keys, strict=True)
    ]


# ---- values of few bits: packed behind the priority ------------------------------------------------------


def _lowest(key: Key) -> int:
    return key.column.lowest if isinstance(key, AmountKey) else 0


def _width(key: Key) -> int | None:
    """Give the bits that a key needs, None if that is not known or too many."""
    if isinstance(key, Listed):
        return max([*key.places, key.others or 1]).bit_length()
    if not isinstance(key, AmountKey) or key.column.kind != "integer":
        return None
    width = (key.column.highest - key.column.lowest).bit_length()
    return width if width <= PACKED_BITS else None


def _widths(request: CountsRequest, free: Sequence[int]) -> list[int] | None:
    """Give the bits of all keys that are chosen, None if they do not fit together."""
    widths = [_width(request.keys[number]) for number in free]
    known = [width for width in widths if width is not None]
    return known if len(known) == len(widths) and sum(known) <= PACKED_BITS else None


def _unpacked(
    turn: exp.Expression,
    request: CountsRequest,
    names: Sequence[str],
    free: Sequence[int],
    widths: Sequence[int],
) -> dict[str, exp.Expression]:
    """Give the values behind the least of all priorities that have values behind them."""
    packed = times_power(turn, PACKED_BITS)
    chosen: dict[str, exp.Expression] = {}
    shift = 0
    for number, width in zip(free, widths, strict=True):
        value: exp.Expression = as_integer(exp.column(names[number], quoted=True))
        lowest = _lowest(request.keys[number])
        value = sum_of(value, exp.Literal.number(-lowest)) if lowest else value
        packed = sum_of(packed, times_power(value, shift) if shift else value)
        shift += width
    least = exp.Min(this=packed)
    shift = 0
    for number, width in zip(free, widths, strict=True):
        lowest = _lowest(request.keys[number])
        moved = placeable(least) if not shift else shifted(least, shift)
        value = bits_of(moved, 2**width - 1)
        chosen[names[number]] = sum_of(value, exp.Literal.number(lowest)) if lowest else value
        shift += width
    return chosen


# ---- other values: beside the priority -------------------------------------------------------------------


def _least(
    turn: exp.Expression, column: Column, value: exp.Expression, dialect: Parameterized
) -> exp.Expression:
    """Give the value of the least pair of priority and value."""
    if dialect.name == "spark":
        names = exp.Literal.string("turn"), exp.Literal.string("value")
        pair = exp.Anonymous(this="named_struct", expressions=[names[0], turn, names[1], placeable(value)])
        return exp.Dot(this=exp.Min(this=pair), expression=exp.to_identifier("value"))
    if column.kind == "text":
        return _least_text(turn, value, dialect)
    return (_least_in_duckdb if dialect.name == "duckdb" else _least_in_postgres)(turn, column, value)


def _least_text(turn: exp.Expression, value: exp.Expression, dialect: Parameterized) -> exp.Expression:
    """Put ten digits of the priority before the text, and cut them off the least of all."""
    digits = cast(sum_of(turn, exp.Literal.number(TEN_DIGITS)), exp.DType.TEXT)
    joined = exp.Collate(
        this=exp.Paren(this=exp.DPipe(this=digits, expression=placeable(value))),
        expression=exp.to_identifier("C", quoted=True),
    )
    name = "substr" if dialect.name == "duckdb" else "pg_catalog.substr"
    return exp.Anonymous(this=name, expressions=[exp.Min(this=joined), exp.Literal.number(11)])


def _least_in_duckdb(turn: exp.Expression, column: Column, value: exp.Expression) -> exp.Expression:
    """Compare 128 bits where a value has 64; otherwise pairs, which take twice as long."""
    tail: exp.Expression
    if is_word(column):
        tail = placeable(value)
    elif column.kind in ("double", "single"):
        tail = _ordered_bits(cast(value, exp.DType.DOUBLE))
    else:
        pair = exp.Anonymous(this="row", expressions=[turn, placeable(value)])
        return exp.Anonymous(
            this="struct_extract_at", expressions=[exp.Min(this=pair), exp.Literal.number(2)]
        )
    wide = cast(turn, exp.DType.INT128)
    return exp.Anonymous(this="arg_min", expressions=[placeable(value), sum_of(times_power(wide, 64), tail)])


def _ordered_bits(value: exp.Expression) -> exp.Expression:
    """Give the bits of a float as a whole number: different ones of different floats, in their order."""
    no_minus_zero = sum_of(value, cast(exp.Literal.number(0), exp.DType.DOUBLE))
    bits = as_integer(cast(no_minus_zero, exp.DataType.build("BIT", dialect="duckdb")))
    turned = bits_of(shifted(bits, 63), POSITIVE)
    return exp.BitwiseXor(this=placeable(bits), expression=turned)


def _least_in_postgres(turn: exp.Expression, column: Column, value: exp.Expression) -> exp.Expression:
    """Compare arrays, whose elements have one type."""
    types = {"integer": exp.DType.BIGINT, "decimal": exp.DType.DECIMAL}
    pair = [cast(each, types.get(column.kind, exp.DType.DOUBLE)) for each in (turn, value)]
    least = exp.Paren(this=exp.Min(this=exp.Array(expressions=pair)))
    return exp.Bracket(this=least, expressions=[exp.Literal.number(2)], offset=1)
