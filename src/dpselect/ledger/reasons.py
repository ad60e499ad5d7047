"""The reason of a charge: how a question is written down in a ledger, and what of it people are shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from dpselect.errors import visible
from dpselect.exact.rounding import short_decimal
from dpselect.privacy.losses import WritableLoss
from dpselect.privacy.neighbours import Neighbours

LONGEST_NAME = 60
"""Characters of a column or a data set that a reason shows."""
MOST_COLUMNS = 3
"""Columns that a reason names."""
LONGEST_PRICE = 24
"""Characters of a price that a reason shows; the entry has it exactly."""

REASONS_OF_ACTS = {
    "open": "an account is opened",
    "reserve": "an account is opened",
    "close": "an account is closed",
}
"""What is written of an act on an account whose reason need not be given, and is not."""
_QUESTION = re.compile(
    r"(?P<name>.+?)(?:, (?P<price>(?P<symbol>epsilon|rho) [^,]+))?, (?:add_remove|change_one), "
    r"question (?P<digest>[0-9a-f]{64})(?P<details>, .+)?"
)


def question_name(
    kind: str, columns: Sequence[str], dataset: str | None = None, *, each: str | None = None
) -> str:
    """Name a question by what it asks, of which columns, for each value of which column, in which data set.

    >>> question_name("approval_voting", ["dish"]), question_name("borda", ["dish", "rank"], "orders")
    ('approval_voting of dish', 'borda of dish and rank in orders')
    >>> question_name("plurality", ["dish"], each="city")
    'plurality of dish for each city'
    """
    more = [] if len(columns) <= MOST_COLUMNS else [f"{len(columns) - MOST_COLUMNS} more"]
    of = f" of {' and '.join([*map(_short, columns[:MOST_COLUMNS]), *more])}" if columns else ""
    groups = "" if each is None else f" for each {_short(each)}"
    return f"{kind}{of}{groups}" + ("" if dataset is None else f" in {_short(dataset)}")


def question_reason(  # noqa: PLR0913 - each is part of the question
    name: str,
    *,
    k: int,
    n: int,
    price: WritableLoss,
    neighbours: Neighbours,
    digest: str,
    details: Sequence[str] = (),
) -> str:
    """Write down a question; its digest tells it from every other one. Details follow the digest.

    >>> from dpselect.privacy.losses import PureDP
    >>> reason = question_reason(
    ...     "borda of dish", k=3, n=10, price=PureDP("1/2"), neighbours="add_remove", digest="0" * 64
    ... )
    >>> shown_reason(reason, "epsilon")
    'borda of dish, 3 of 10'
    """
    amount = getattr(price, "amount", None)
    written = short_decimal(amount) if isinstance(amount, Fraction) else ""
    paid = f", {price.symbol} {written}" if 0 < len(written) <= LONGEST_PRICE else ""
    return f"{name}, {k} of {n}{paid}, {neighbours}, question {digest}{_listed(details)}"


def shown_reason(reason: str, symbol: str) -> str:
    """Show a reason without its neighbours, its digest, and a price in the ledger's own symbol.

    A reason that a person wrote is shown as it is.
    """
    found = _QUESTION.fullmatch(reason)
    if found is None:
        return reason
    paid_otherwise = found["price"] is not None and found["symbol"] != symbol
    paid = f", {found['price']}" if paid_otherwise else ""
    return f"{found['name']}{paid}{found['details'] or ''}"


def is_of_question(reason: str, *, k: int, n: int, digest: str, details: Sequence[str] = ()) -> bool:
    """Say whether this or an earlier version wrote a reason for k winners of that question."""
    found = _QUESTION.fullmatch(reason)
    if found is None or (found["digest"], found["details"] or "") != (digest, _listed(details)):
        return False
    return found["name"].endswith(f", {k} of {n}")


def _listed(details: Sequence[str]) -> str:
    return "".join(f", {each}" for each in details)


def _short(name: str) -> str:
    """Cut a name in its middle, and make it printable, as every reason is."""
    plain = visible(name)
    half = LONGEST_NAME // 2
    return plain if len(plain) <= LONGEST_NAME else f"{plain[: half - 1]}…{plain[-half:]}"
