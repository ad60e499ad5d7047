"""A whole number of 64 bits for a text: what it spells, or bits of its hash; computed once for each row.

Only what begins with a digit, or a sign before them in ASCII, may spell a number: others are not tried.

Proof: text_words.proof.md
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from dpselect.engines.priorities import (
    DIGITS_OF_A_WORD,
    POSITIVE,
    Parameterized,
    PriorityPart,
    as_integer,
    bits_of,
    cast,
    is_word,
    placeable,
    shifted,
    sum_of,
    times_power,
)
from dpselect.engines.schema import Column

DIGITS_OF_HASH = 14
"""The last hexadecimal digits of a hash, read backwards: 56 bits, which DuckDB has without writing digits."""
HALF_BYTES = 0x0F0F0F0F0F0F0F
"""The right half of each of seven bytes."""
READ, HASH = "read as ", "hash of "
"""How columns begin that stand between a text and its word."""
WHOLE_TEXT = r"^(0|-?[1-9][0-9]{0,18})$"
WORD_COLUMN = Column("word", "integer", "BIGINT", lowest=-POSITIVE - 1, highest=POSITIVE)
"""What a word is as a column."""


def with_words(
    parts: Sequence[PriorityPart], rows: str, dialect: Parameterized
) -> tuple[list[PriorityPart], exp.Table | exp.Subquery]:
    """Give parts that are numbers in the place of those that are text, and the rows with their words."""
    texts = {
        f"word_{place}": _text_of(part, dialect)
        for place, part in enumerate(parts)
        if part.column is not None and _is_text(part.column)
    }
    if not texts:
        return [*parts], exp.to_table(rows)
    worded = [
        PriorityPart(_column(name), WORD_COLUMN) if (name := f"word_{place}") in texts else part
        for place, part in enumerate(parts)
    ]
    if dialect.name == "duckdb":
        return worded, _in_steps(texts, rows)
    once = _beside(texts, lambda _, text: _word_of_text(text, dialect), exp.to_table(rows))
    # PostgreSQL would otherwise compute a word in each place where its name stands.
    return worded, (once if dialect.name == "spark" else once.offset(0)).subquery("worded")


def _is_text(column: Column) -> bool:
    """Say whether the values of a column are numbered by their text."""
    if is_word(column) or column.kind in ("double", "single"):
        return False
    is_short = column.precision is not None and column.precision <= DIGITS_OF_A_WORD
    return not (column.kind == "decimal" and is_short)


def _text_of(part: PriorityPart, dialect: Parameterized) -> exp.Expression:
    node: exp.Expression = part.node
    if part.column is not None and part.column.kind == "decimal" and part.column.scale is None:
        node = exp.Anonymous(this="pg_catalog.trim_scale", expressions=[placeable(node)])  # 1.50 is 1.5
    text = cast(node, exp.DType.TEXT)
    if dialect.name == "spark":
        return text
    return exp.Collate(this=text, expression=exp.to_identifier("C", quoted=True))


def _column(name: str) -> exp.Column:
    return exp.column(name, quoted=True)


def _beside(
    texts: Mapping[str, exp.Expression],
    compute: Callable[[str, exp.Expression], exp.Expression],
    rows: exp.Table | exp.Subquery,
    step: str = "",
) -> exp.Select:
    """Select the rows with a column more for each text."""
    computed = [exp.alias_(compute(name, text), f"{step}{name}", quoted=True) for name, text in texts.items()]
    return exp.select("*", *computed).from_(rows)


def _in_steps(texts: Mapping[str, exp.Expression], rows: str) -> exp.Subquery:
    """Compute what is used twice in a step of its own: inside a CASE, DuckDB computes it twice."""
    read = _beside(texts, lambda _, text: _read(text), exp.to_table(rows), READ)
    hashed = _beside(texts, _hash_of_others, read.subquery("read"), HASH)
    words = _beside(texts, _number_or_hash, hashed.subquery("hashed"))
    return words.subquery("worded")


def _read(text: exp.Expression) -> exp.Expression:
    read = exp.TryCast(this=placeable(text), to=exp.DataType(this=exp.DType.BIGINT), safe=True)
    return exp.Case(ifs=[exp.If(this=_is_early(text), true=read)])


def _hash_of_others(name: str, text: exp.Expression) -> exp.Expression:
    """Give the first bits of the number of 128 bits, which has the bytes of the hash backwards."""
    whole = exp.Anonymous(this="md5_number", expressions=[placeable(text)])
    bits = as_integer(shifted(whole, 128 - 4 * DIGITS_OF_HASH))
    same = exp.EQ(this=cast(_column(READ + name), exp.DType.TEXT), expression=placeable(text))
    return exp.Case(ifs=[exp.If(this=same, true=exp.null())], default=bits)


def _number_or_hash(name: str, _: exp.Expression) -> exp.Expression:
    """Give the number, or the hash with the two digits of each byte in the other order."""
    bits = _column(HASH + name)
    left, right = bits_of(bits, HALF_BYTES), bits_of(shifted(bits, 4), HALF_BYTES)
    turned = sum_of(times_power(left, 4), right)
    is_number = exp.Is(this=_column(HASH + name), expression=exp.null())
    return exp.Case(ifs=[exp.If(this=is_number, true=_column(READ + name))], default=turned)


def _is_early(text: exp.Expression) -> exp.Expression:
    return exp.LT(this=placeable(text), expression=exp.Literal.string(":"))


def _word_of_text(text: exp.Expression, dialect: Parameterized) -> exp.Expression:
    """Give the number that text spells as engines do, and otherwise bits of its hash."""
    hashed = _bits_of_hash(text, dialect)
    spelt = _whole_of_text(text, hashed, dialect)
    return exp.Case(ifs=[exp.If(this=_is_early(text), true=spelt)], default=placeable(hashed))


def _whole_of_text(text: exp.Expression, otherwise: exp.Expression, dialect: Parameterized) -> exp.Expression:
    """Give the number of 64 bits that text spells in the one way in which engines write it."""
    if dialect.name == "spark":
        read = exp.TryCast(this=placeable(text), to=exp.DataType(this=exp.DType.BIGINT), safe=True)
        same = exp.EQ(this=cast(read, exp.DType.TEXT), expression=placeable(text))
        return exp.Case(ifs=[exp.If(this=same, true=placeable(read))], default=placeable(otherwise))
    spelt = exp.RegexpLike(this=placeable(text), expression=exp.Literal.string(WHOLE_TEXT))
    number = cast(text, exp.DType.DECIMAL)
    fits = exp.And(
        this=exp.GTE(this=placeable(number), expression=exp.Literal.number(-POSITIVE - 1)),
        expression=exp.LTE(this=placeable(number), expression=exp.Literal.number(POSITIVE)),
    )
    where_it_fits = exp.If(this=fits, true=as_integer(text))
    inside = exp.Case(ifs=[where_it_fits], default=placeable(otherwise))
    return exp.Case(ifs=[exp.If(this=spelt, true=inside)], default=placeable(otherwise))


def _bits_of_hash(text: exp.Expression, dialect: Parameterized) -> exp.Expression:
    """Read the last hexadecimal digits of the hash backwards as a number."""
    prefix = "" if dialect.name == "spark" else "pg_catalog."
    backwards = exp.Anonymous(this=f"{prefix}reverse", expressions=[exp.MD5(this=placeable(text))])
    length = exp.Literal.number(DIGITS_OF_HASH)
    last = exp.Anonymous(this=f"{prefix}substr", expressions=[backwards, exp.Literal.number(1), length])
    if dialect.name == "spark":
        bases = [exp.Literal.number(16), exp.Literal.number(10)]
        return as_integer(exp.Anonymous(this="conv", expressions=[last, *bases]))
    marked = exp.Paren(this=exp.DPipe(this=exp.Literal.string("x"), expression=last))
    return as_integer(cast(marked, exp.DataType.build(f"BIT({4 * DIGITS_OF_HASH})", dialect="postgres")))
