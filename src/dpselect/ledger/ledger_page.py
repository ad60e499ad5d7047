"""What a notebook shows of a ledger: what is spent, what is left, and the last charges."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from fractions import Fraction
from typing import Protocol

from dpselect.errors import DpselectError
from dpselect.exact.rounding import number_column
from dpselect.ledger.budget import Currency
from dpselect.ledger.entries import Entry
from dpselect.ledger.fields import time_text
from dpselect.ledger.reasons import shown_reason
from dpselect.notebook import card, facts_table, numbers_table, share_bar, shown_text
from dpselect.privacy.neighbours import EACH_ROW, Neighbours, protection

SHOWN_CHARGES = 10
"""The last 10 charges are shown."""


class ShownLedger(Protocol):
    """What a page needs of a ledger."""

    @property
    def place(self) -> str:
        """Where it is, without a password."""

    @property
    def budget(self) -> Currency:
        """All that may be spent."""

    @property
    def neighbours(self) -> Neighbours:
        """The kind of neighbours."""

    @property
    def dataset(self) -> str | None:
        """The name of the data set."""

    @property
    def unit(self) -> str | None:
        """The column that identifies a person."""

    @property
    def spent(self) -> Currency:
        """The sum of all charges."""

    @property
    def remaining(self) -> Currency:
        """What is left of the budget."""

    def entries(self) -> Iterator[Entry]:
        """Read all charges."""


def protects(ledger: ShownLedger) -> str:
    """Say whom the budget of a ledger protects, as far as the ledger knows."""
    which = {None: "", "row": EACH_ROW}.get(ledger.unit, f"column {ledger.unit}")
    return f"{protection(ledger.neighbours, which)} ({ledger.neighbours})"


def ledger_page(ledger: ShownLedger) -> str:
    """Write a card of a ledger; one that cannot be read says why."""
    named = [("ledger", ledger.place), ("data set", ledger.dataset), ("protects", protects(ledger))]
    names = [(name, value) for name, value in named if value is not None]
    try:
        budget, spent, remaining = ledger.budget, ledger.spent, ledger.remaining
        entries = deque(ledger.entries(), SHOWN_CHARGES)
    except DpselectError as refused:
        return card(facts_table(names), f"<p><strong>{shown_text(str(refused))}</strong></p>")
    facts = [
        ("budget", str(budget)),
        ("spent", str(spent)),
        ("left", remaining.left()),
        *names,
    ]
    parts = zip(spent.parts(), budget.parts(), strict=True)
    share = max((Fraction(used, most) if most else Fraction(bool(used)) for used, most in parts), default=0)
    bar = share_bar(float(min(share, 1)), f"spent {spent} of {budget}")
    return card(bar, facts_table(facts), *_charges(entries, budget.symbol))


def _charges(entries: deque[Entry], symbol: str) -> Iterator[str]:
    """Write the last charges, the newest last."""
    if entries:
        headings, rows = charges_table(entries, symbol)
        earlier = entries[0].number - 1
        rest = f"... and {earlier} before" if earlier else ""
        yield numbers_table(headings, rows, rest=rest)


def charges_table(entries: Collection[Entry], symbol: str) -> tuple[list[str], list[list[str]]]:
    """Write charges in columns: what for, under which request if one has a name, when, and how much.

    The numbers come last: the price and the sum, and of a ledger with a delta both again for the delta.
    """
    named = any(entry.request_id for entry in entries)
    columns = [
        number_column(heading, [getattr(entry, of).parts()[part] for entry in entries])
        for part, headings in enumerate((symbol, "delta"))
        for of, heading in (("loss", headings), ("total", "in all" if not part else "delta in all"))
        if all(len(entry.loss.parts()) > part for entry in entries)
    ]
    rows = [
        [
            f"{entry.number}. {shown_act(entry, symbol)}",
            *([entry.request_id or ""] if named else []),
            time_text(entry.time).replace("T", " ").replace("Z", " UTC"),
            *numbers,
        ]
        for entry, *numbers in zip(entries, *(texts for _, texts in columns), strict=True)
    ]
    return ["charge", *(["request"] if named else []), "time", *(heading for heading, _ in columns)], rows


def shown_act(entry: Entry, symbol: str) -> str:
    """Say what an entry did, and for which account."""
    reason = shown_reason(entry.reason, symbol)
    if entry.act == "charge":
        return reason if entry.account is None else f"{entry.account}: {reason}"
    amount = "" if entry.amount is None else f" {entry.amount}"
    return f"{entry.act} {entry.account or ''}".rstrip() + f"{amount}: {reason}"
