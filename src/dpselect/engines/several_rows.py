"""Several rows of each person: those whose turn comes first, by the hash of a secret salt and their number.

Proof: several_rows.proof.md
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dpselect.engines.protocol import CountsRequest


def several_rows(
    request: CountsRequest, names: list[str], most: int, salt: exp.Expression
) -> list[tuple[str, exp.Select]]:
    """Keep ``most`` rows of each person, or of each person and value of the keys ``within``."""
    return [
        ("numbered", _numbered(request, names)),
        ("ordered", _ordered(request, names, salt)),
        ("bounded", _bounded(names, most)),
    ]


def _numbered(request: CountsRequest, names: list[str]) -> exp.Select:
    """Count each person's rows up in the order of their values; rows of equal values are alike."""
    number = _row_number(request, [exp.column(name, quoted=True) for name in names])
    return exp.select("*", exp.alias_(number, "number", quoted=True)).from_("counted")


def _ordered(request: CountsRequest, names: list[str], salt: exp.Expression) -> exp.Select:
    """Give each row its turn: by the hash of salt, person, what the bound is within, and number."""
    hashed = [exp.column("person", quoted=True), *_within(request), exp.column("number", quoted=True)]
    text: exp.Expression = exp.cast(salt, exp.DataType.build("TEXT"))
    for part in hashed:
        colon = exp.DPipe(this=text, expression=exp.Literal.string(":"))
        text = exp.DPipe(this=colon, expression=exp.cast(part, exp.DataType.build("TEXT")))
    turn = _row_number(request, [exp.MD5(this=text), exp.column("number", quoted=True)])
    kept = [exp.column(name, quoted=True) for name in ("person", *names)]
    return exp.select(*kept, exp.alias_(turn, "turn", quoted=True)).from_("numbered")


def _bounded(names: list[str], most: int) -> exp.Select:
    within_bound = exp.LTE(this=exp.column("turn", quoted=True), expression=exp.Literal.number(most))
    kept = [exp.column(name, quoted=True) for name in ("person", *names)]
    return exp.select(*kept).from_("ordered").where(within_bound)


def _row_number(request: CountsRequest, by: Sequence[exp.Expression]) -> exp.Window:
    return exp.Window(
        this=exp.RowNumber(),
        partition_by=[exp.column("person", quoted=True), *_within(request)],
        order=exp.Order(expressions=[exp.Ordered(this=node, nulls_first=False) for node in by]),
    )


def _within(request: CountsRequest) -> list[exp.Expression]:
    return [exp.column(f"key_{number}", quoted=True) for number in request.within]
