"""What a ledger has spent, charge by charge, and what is left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

from dpselect.errors import InvalidParameter
from dpselect.exact.rounding import to_float_up, written_number
from dpselect.ledger.budget import CURRENCIES, Currency
from dpselect.ledger.reasons import shown_reason
from dpselect.utility.drawing import BLUE, GREY, ORANGE, PALE, blank, cut, finished, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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


def plot_ledger(entries: Iterable[PlottedCharge], budget: Currency) -> Picture:
    """Plot what a ledger has spent, charge by charge, and what is left of the budget.

    Of a budget with a delta both parts are drawn, side by side. What became of accounts and of the budget is
    left out: it costs nothing.
    """
    if not isinstance(budget, Currency):
        raise InvalidParameter.must_be("budget", f"a loss, {' or '.join(CURRENCIES)}", got=budget)
    charges = [each for each in entries if getattr(each, "act", "charge") == "charge"]
    many, panels = len(charges) > MOST_CHARGES, len(budget.parts())
    size = (6 + panels, 4.2) if many else (5 + 4 * panels, 2.1 + 0.34 * len(charges))
    drawn_axes = blank(*size, panels=(1,) * panels)
    for part, axes in enumerate(drawn_axes):
        (_draw_steps if many else _draw_bars)(axes, charges, budget, part)
    spent = charges[-1].total.parts() if charges else budget.zero().parts()
    rest = (max(most - used, Fraction(0)) for most, used in zip(budget.parts(), spent, strict=True))
    left = type(budget)(*rest)
    plural = "1 charge" if len(charges) == 1 else f"{len(charges)} charges"
    titled(drawn_axes[0], "What is left", f"{left.left()} is left\nof {budget}, after {plural}")
    return finished(drawn_axes[0], columns=3)


def _draw_steps(axes: Axes, charges: Sequence[PlottedCharge], budget: Currency, part: int) -> None:
    totals, numbers = _totals(charges, part), [charge.number for charge in charges]
    axes.fill_between(numbers, totals, step="post", color=PALE, label=_once("spent", part))
    axes.step(numbers, totals, where="post", color=BLUE, linewidth=1.5)
    limit, end = _limit_and_end(budget, totals, part)
    axes.axhline(limit, color=ORANGE, linestyle="--", linewidth=2, label=_once(f"budget, {budget}", part))
    axes.set(xlabel="charges, in their order", ylabel=_spent(budget, part), ylim=(0, end * 1.15))


def _draw_bars(axes: Axes, charges: Sequence[PlottedCharge], budget: Currency, part: int) -> None:
    totals, numbers = _totals(charges, part), [charge.number for charge in charges]
    before = [0.0, *totals][: len(totals)]
    own = [now - then for now, then in zip(totals, before, strict=True)]
    axes.barh(numbers, before, 0.7, color=PALE, label=_once("spent before", part))
    bars = axes.barh(numbers, own, 0.7, left=before, color=BLUE, label=_once("this charge", part))
    axes.bar_label(bars, _costs(charges, part), padding=3, fontsize=8, color=GREY)
    names = [] if part else charge_labels(charges, budget.symbol)
    axes.set_yticks([] if part else numbers, names, fontsize=9)
    axes.invert_yaxis()
    limit, end = _limit_and_end(budget, totals, part)
    axes.axvline(limit, color=ORANGE, linestyle="--", linewidth=2, label=_once(f"budget, {budget}", part))
    axes.set(xlabel=_spent(budget, part), xlim=(0, end * 1.05))


def _totals(charges: Sequence[PlottedCharge], part: int) -> list[float]:
    return [to_float_up(charge.total.parts()[part]) for charge in charges]


def _limit_and_end(budget: Currency, totals: Sequence[float], part: int) -> tuple[float, float]:
    """Give the budget, and how far an axis must reach: a lowered budget may be below what is spent."""
    limit = to_float_up(budget.parts()[part])
    return limit, max(limit, *totals, 0.0) or 1.0


def _spent(budget: Currency, part: int) -> str:
    return f"{'delta' if part else budget.symbol} spent (they add up)"


def _once(label: str, part: int) -> str:
    """Name what the first panel shows; matplotlib leaves a name that begins with a line out of the legend."""
    return f"_{label}" if part else label


def _costs(charges: Sequence[PlottedCharge], part: int) -> list[str]:
    """Write what each charge cost; a long number is rounded up."""
    totals = [Fraction(0), *(charge.total.parts()[part] for charge in charges)]
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
