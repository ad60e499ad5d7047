"""Numbers in text, as patterns and nodes of a query: what counts as one is said in ``reading``."""

from __future__ import annotations

from sqlglot import exp

from dpselect.engines.reading import POINT
from dpselect.engines.schema import TEXT_PARTS, TEXT_WHOLES


def plain_number(decimal: str = POINT) -> str:
    """Give the pattern of a number that is looked up on a list: what DECIMAL(38, 18) spells."""
    return rf"^ *[+-]?[0-9]{{1,{TEXT_WHOLES}}}([{decimal}][0-9]{{0,{TEXT_PARTS}}})? *$"


def any_number(decimal: str = POINT) -> str:
    """Give the pattern of a number that is compared, exactly, on the driver."""
    sign = f"[{decimal}]"
    return rf"^ *[+-]?([0-9]{{1,200}}({sign}[0-9]{{0,200}})?|{sign}[0-9]{{1,200}})([eE][+-]?[0-9]{{1,3}})? *$"


def scientific_number(decimal: str = POINT) -> str:
    """Give the pattern of a number that is neither too large nor too small for a double."""
    sign = f"[{decimal}]"
    return rf"^ *[+-]?([0-9]{{1,40}}({sign}[0-9]{{0,40}})?|{sign}[0-9]{{1,40}})([eE][+-]?[0-9]{{1,2}})? *$"


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


def is_number(text: exp.Expression, pattern: str, decimal: str) -> list[exp.Expression]:
    """Say that a text is a number of a pattern."""
    return [matches(text, pattern), exp.Not(this=matches(text, no_part_of_a_number(decimal)))]


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
