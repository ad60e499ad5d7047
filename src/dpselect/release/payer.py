"""Who pays: a ledger, an account of it, the name of a request; and what is refused of them for free."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpselect.errors import InvalidParameter
from dpselect.exact.rounding import exact_text
from dpselect.ledger.budget import Currency
from dpselect.ledger.entries import Entry
from dpselect.ledger.fields import LONE_SURROGATE, MOST_CHARACTERS_OF_ANSWER
from dpselect.privacy.neighbours import METRIC_OF, Neighbours
from dpselect.problems.candidates import Grid
from dpselect.problems.problem import Problem
from dpselect.release.data import Data, table_of
from dpselect.release.labels import label_text, written_label
from dpselect.release.quote import Quote
from dpselect.release.result import Release

if TYPE_CHECKING:
    from dpselect.ledger import Ledger

CHARACTERS_OF_A_NUMBER = 64
"""Room for the digits of a noisy count, beside those of its grid."""
_ANOTHER_LEDGER: dict[Neighbours, str] = {
    "add_remove": 'Or keep another ledger: Ledger.create(path, neighbours="add_remove").',
    "change_one": 'Or keep another ledger: Ledger.create(path, neighbours="change_one").',
}


@dataclass(frozen=True)
class Payer:
    """Who pays: which ledger, on which account, for which request. All may be absent."""

    ledger: Ledger | None = None
    request_id: str | None = None
    account: str | None = None

    @property
    def named(self) -> dict[str, str]:
        """The account as an argument of a ledger; none for the curator."""
        return {} if self.account is None else {"account": self.account}

    def must_have_no_names(self) -> None:
        """Refuse names that mean nothing without a ledger."""
        if self.request_id is not None:
            raise InvalidParameter("a request_id needs a ledger, which keeps the answer. Give ledger=.")
        if self.account is not None:
            raise InvalidParameter("an account needs a ledger, which keeps its share. Give ledger=.")

    def is_same(self, other: Payer) -> bool:
        """Say whether it is the same request to the same ledger."""
        same = (self.request_id, self.account) == (other.request_id, other.account)
        return same and self.ledger is other.ledger

    def answer(self) -> str | None:
        """Give the stored answer to the request, if there is one."""
        if self.ledger is None or self.request_id is None:
            return None
        return self.ledger.answer(self.request_id, **self.named)

    def store(self, answer: Release) -> None:
        """Store the answer to the request, if it has a name; without one nothing is written."""
        if self.ledger is not None and self.request_id is not None:
            self.ledger.store(self.request_id, answer.to_json(), **self.named)

    def owns(self, entry: Entry) -> bool:
        """Say whether an entry is the charge of the request, or of none if there is none."""
        return (entry.request_id, entry.account) == (self.request_id, self.account)


def must_agree(problem: Problem, data: Data, quote: Quote, payer: Payer) -> None:
    """Refuse a ledger that keeps the budget of something else, or cannot keep the answer."""
    ledger, request_id = payer.ledger, payer.request_id
    if ledger is None:
        payer.must_have_no_names()
        return
    acts = all(callable(getattr(ledger, act, None)) for act in ("charge", "store", "answer"))
    if not acts or getattr(ledger, "neighbours", None) not in METRIC_OF:
        raise InvalidParameter.must_be("ledger", "a Ledger", got=ledger, way_out="Write Ledger.open(path).")
    _must_add_up(quote.neighbours, ledger.neighbours)
    if not isinstance(quote.price, Currency):
        raise InvalidParameter(
            "a ledger holds epsilon or rho, with a delta or without; got a curve. "
            'Give epsilon=, rho= or budget=ApproxDP(1, "1e-6"), or no ledger.'
        )
    ours = {"dataset": quote.dataset}
    if table_of(data) is not None:
        # Where each row is a person, a budget for the people of some column does not cover the loss.
        ours["unit"] = "row" if quote.unit is None else quote.unit
    for name, mine in ours.items():
        theirs = getattr(ledger, name)
        if None not in (mine, theirs) and mine != theirs:
            way_out = "Open the ledger of this data."
            if name == "unit" and quote.unit is None:
                way_out = (
                    'With unit=None each row is a person: name the column, or keep a ledger for unit="row".'
                )
            raise InvalidParameter.must_be(name, f"that of the ledger, {theirs!r}", got=mine, way_out=way_out)
    if request_id is not None:
        _must_be_storable(problem, quote)


def _must_add_up(ours: Neighbours, theirs: Neighbours) -> None:
    """Refuse a price between other neighbours than the ledger's: the sum would bound neither loss."""
    if ours != theirs:
        raise InvalidParameter.must_be(
            "neighbours",
            f"those of the ledger, {theirs!r}, whose losses it adds up",
            got=ours,
            way_out=f"Ask with neighbours {theirs}. {_ANOTHER_LEDGER[ours]}",
        )


def _must_be_storable(problem: Problem, quote: Quote) -> None:
    """Refuse, while it is free, an answer that no ledger could keep."""
    number = 1 if quote.groups is None else len(quote.groups.labels)
    empty = Release.of(quote, ()) if quote.groups is None else Release.of_groups(quote, ((),) * number)
    text, outputs = empty.to_json(), problem.outputs
    if LONE_SURROGATE.search(text):
        raise InvalidParameter("dataset must be text that can be stored: no lone surrogate.")
    if isinstance(outputs, Grid):
        longest = 128 + 2 * len(exact_text(outputs.first)) + 4 * len(exact_text(outputs.step))
    else:
        longest = max(
            len(json.dumps(written_label(label))) + len(json.dumps(label_text(label))) for label in outputs
        )
    longest += CHARACTERS_OF_A_NUMBER * quote.counted
    if quote.gap_grid is not None:
        longest += CHARACTERS_OF_A_NUMBER + 2 * len(exact_text(quote.gap_grid))
    if len(text) + number * quote.k * (longest + 8) > MOST_CHARACTERS_OF_ANSWER:
        raise InvalidParameter(
            f"k must be so small that a ledger can keep {number * quote.k} labels, in "
            f"{MOST_CHARACTERS_OF_ANSWER} characters; it cannot. Give no request_id, or a smaller k."
        )
