"""What a ledger has spent, charge by charge, and what is left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

from dpselect.errors import InvalidParameter
from dpselect.exact.rounding import to_float_up, written_number
from dpselect.ledger.reasons import shown_reason
from dpselect.privacy.losses import ZCDP, PureDP
from dpselect.utility.drawing import BLUE, GREY, ORANGE, PALE, blank, cut, finished, titled

if TYPE_CHECKING:
    from dpselect.utility.picture import Picture

MOST_CHARGES = 12
"""More charges than 12 are drawn as steps, without their names."""
LONGEST_REASON = 44
"""Characters of the name of a charge."""


class PlottedCharge(Protocol):
    """What a plot needs of an entry of a ledger."""

    @property
    def number(self) -> int:
        """Its place, from 1."""

    @property
    def total(self) -> Any:
        """What is spent with it."""

    @property
    def reason(self) -> str:
        """What it was for."""


def plot_ledger(entries: Iterable[PlottedCharge], budget: PureDP | ZCDP) -> Picture:
    """Plot what a ledger has spent, charge by charge, and what is left of the budget."""
    if not isinstance(budget, PureDP | ZCDP):
        raise InvalidParameter.must_be("budget", "PureDP(...) or ZCDP(...)", got=budget)
    limit = to_float_up(budget.amount)
    charges = list(entries)
    totals = [to_float_up(charge.total.amount) for charge in charges]
    numbers = [charge.number for charge in charges]
    spent = f"{budget.symbol} spent (they add up)"
    if len(charges) > MOST_CHARGES:
        (axes,) = blank(7, 4.2)
        axes.fill_between(numbers, totals, step="post", color=PALE, label="spent")
        axes.step(numbers, totals, where="post", color=BLUE, linewidth=1.5)
        axes.axhline(limit, color=ORANGE, linestyle="--", linewidth=2, label=f"budget, {budget}")
        axes.set(xlabel="charges, in their order", ylabel=spent, ylim=(0, limit * 1.15))
    else:
        (axes,) = blank(9, 2.1 + 0.34 * len(charges))
        before = [0.0, *totals][: len(totals)]
        own = [now - then for now, then in zip(totals, before, strict=True)]
        axes.barh(numbers, before, 0.7, color=PALE, label="spent before")
        bars = axes.barh(numbers, own, 0.7, left=before, color=BLUE, label="this charge")
        axes.bar_label(bars, _costs(charges), padding=3, fontsize=8, color=GREY)
        axes.set_yticks(numbers, charge_labels(charges, budget.symbol), fontsize=9)
        axes.invert_yaxis()
        axes.axvline(limit, color=ORANGE, linestyle="--", linewidth=2, label=f"budget, {budget}")
        axes.set(xlabel=spent, xlim=(0, limit * 1.05))
    last = charges[-1].total if charges else budget.zero()
    left = type(budget)(Fraction(budget.amount) - Fraction(last.amount))
    plural = "1 charge" if len(charges) == 1 else f"{len(charges)} charges"
    titled(axes, "What is left", f"{left.left()} is left\nof {budget}, after {plural}")
    return finished(axes, columns=3)


def _costs(charges: Sequence[PlottedCharge]) -> list[str]:
    """Write what each charge cost; a long number is rounded up."""
    totals = [Fraction(0), *(Fraction(charge.total.amount) for charge in charges)]
    own = [now - before for before, now in pairwise(totals)]
    return [written_number(each).text for each in own]


def charge_labels(charges: Sequence[PlottedCharge], symbol: str) -> list[str]:
    """Name charges so that they are told apart: what all reasons share is left out, and so are digests.

    >>> from types import SimpleNamespace as Entry
    >>> end = f"epsilon 1, add_remove, question {64 * '0'}"
    >>> first = Entry(number=1, reason=f"votes of dish, 1 of 9, {end}")
    >>> second = Entry(number=2, reason=f"votes of song, 1 of 9, {end}")
    >>> charge_labels([first, second], "epsilon")
    ['1  votes of dish', '2  votes of song']
    """
    parts = [shown_reason(charge.reason, symbol).split(", ") for charge in charges]
    shared = set.intersection(*map(set, parts)) if len(parts) > 1 else set()
    own = [", ".join(part for part in each if part not in shared) or ", ".join(each) for each in parts]
    return [
        f"{charge.number}  {cut(text, LONGEST_REASON)}" for charge, text in zip(charges, own, strict=True)
    ]
