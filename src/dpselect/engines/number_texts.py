"""Numbers in text, as patterns and nodes of a query: what counts as one is said in ``reading``."""

from __future__ import annotations

from sqlglot import exp

from dpselect.engines.folded_text import Parameters
from dpselect.engines.reading import POINT
from dpselect.engines.schema import TEXT_PARTS, TEXT_WHOLES

FIRST_INFINITE = str(2**1024 - 2**970)
"""From here on the nearest double is infinite."""
LAST_ZERO = f"{5**1075}e-1075"
"""Two to the -1075: up to here the nearest double is zero."""


def plain_number(decimal: str = POINT) -> str:
    """Give the pattern of a number that is looked up on a list: what DECIMAL(38, 18) spells."""
    return rf"^ *[+-]?[0-9]{{1,{TEXT_WHOLES}}}([{decimal}][0-9]{{0,{TEXT_PARTS}}})? *$"


def any_number(decimal: str = POINT) -> str:
    """Give the pattern of a number that is compared, exactly, on the driver."""
    sign = f"[{decimal}]"
    return rf"^ *[+-]?([0-9]{{1,200}}({sign}[0-9]{{0,200}})?|{sign}[0-9]{{1,200}})([eE][+-]?[0-9]{{1,3}})? *$"


def zero(decimal: str = POINT) -> str:
    """Give the pattern of a number in small letters, without spaces, that is zero."""
    sign = f"[{decimal}]"
    return rf"^[+-]?(0{{1,200}}({sign}0{{0,200}})?|{sign}0{{1,200}})(e[+-]?[0-9]{{1,3}})?$"


def no_part_of_a_number(decimal: str = POINT) -> str:
    """Give the pattern of what no number holds.

    Java lets ``$`` match before a last line break; no engine lets this pass.
    """
    return f"[^0-9eE{decimal} +-]"


def matches(text: exp.Expression, pattern: str) -> exp.Expression:
    """Say that a text matches a pattern of ours."""
    return exp.RegexpLike(this=text.copy(), expression=exp.Literal.string(pattern))


def is_number(text: exp.Expression, pattern: str, decimal: str, dialect: Parameters) -> list[exp.Expression]:
    """Say that a text is a number of a pattern, whose ``$`` is the end of the text but in Java."""
    found: list[exp.Expression] = [matches(text, pattern)]
    if dialect.name == "spark":
        found.append(exp.Not(this=matches(text, no_part_of_a_number(decimal))))
    return found


def with_a_point(text: exp.Expression, decimal: str) -> exp.Expression:
    """Write a number with a point and without spaces, as engines and the driver read it."""
    trimmed = exp.Trim(this=text.copy(), expression=exp.Literal.string(" "), position="BOTH")
    if decimal == POINT:
        return trimmed
    sign, point = exp.Literal.string(decimal), exp.Literal.string(POINT)
    return exp.Replace(this=trimmed, expression=sign, replacement=point)


def decimals() -> exp.DataType:
    """Give the type that holds every number of ``plain_number``."""
    return exp.DataType.build(f"DECIMAL({TEXT_WHOLES + TEXT_PARTS}, {TEXT_PARTS})")


def as_decimal(text: exp.Expression, decimal: str) -> exp.Expression:
    """Give a number of ``plain_number`` as a decimal; NULL for all other text, so that no cast fails."""
    number = exp.TryCast(this=with_a_point(text, decimal), to=decimals())
    return exp.Case(ifs=[exp.If(this=matches(text, plain_number(decimal)), true=number)])


def as_double(text: exp.Expression, decimal: str, dialect: Parameters) -> exp.Expression:
    """Give a number of ``any_number`` as the nearest double, which may be infinite; NULL for other text."""
    number = with_a_point(text, decimal)
    double: exp.Expression = exp.TryCast(this=number, to=exp.DataType.build("DOUBLE"))
    if dialect.name not in ("duckdb", "spark"):
        double = _in_postgres(exp.cast(number, exp.DataType.build("DECIMAL")), dialect)
    return exp.Case(ifs=[exp.If(this=matches(text, any_number(decimal)), true=double)])


def _in_postgres(number: exp.Expression, dialect: Parameters) -> exp.Expression:
    """Cast only what the server does not refuse to cast."""
    infinite, minus_infinite, zero = (
        exp.cast(exp.cast(dialect.parameter(end), exp.DataType.build("TEXT")), exp.DataType.build("DECIMAL"))
        for end in (FIRST_INFINITE, f"-{FIRST_INFINITE}", LAST_ZERO)
    )
    double = exp.DataType.build("DOUBLE")
    beyond = [
        (exp.GTE(this=number.copy(), expression=infinite), "Infinity"),
        (exp.LTE(this=number.copy(), expression=minus_infinite), "-Infinity"),
        (exp.LTE(this=exp.Abs(this=number.copy()), expression=zero), "0"),
    ]
    ends = [exp.If(this=is_so, true=exp.cast(exp.Literal.string(end), double)) for is_so, end in beyond]
    return exp.Case(ifs=ends, default=exp.cast(number, double))
