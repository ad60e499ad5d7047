"""Pay: charge the ledger before anything is looked at, and give the same answer to the same request."""

from __future__ import annotations

import inspect
import json
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from dpselect.errors import (
    AlreadyCharged,
    AnswerLost,
    BudgetExhausted,
    IncomparableLosses,
    InvalidParameter,
    LedgerDamaged,
    RequestChanged,
    UnmeteredRelease,
)
from dpselect.exact.rounding import exact_text
from dpselect.ledger.budget import Currency, cost
from dpselect.ledger.entries import Entry
from dpselect.ledger.fields import LONE_SURROGATE, MOST_CHARACTERS_OF_ANSWER
from dpselect.ledger.reasons import is_of_question, question_name
from dpselect.privacy.neighbours import METRIC_OF, Neighbours
from dpselect.problems.candidates import Grid
from dpselect.problems.problem import Problem
from dpselect.release.data import Data, table_of
from dpselect.release.drawing import NAMED
from dpselect.release.labels import label_text, written_label
from dpselect.release.quote import Quote
from dpselect.release.result import Release
from dpselect.silence import run_or_none

if TYPE_CHECKING:
    from dpselect.ledger import Ledger

NOT_CHARGED = (AlreadyCharged, BudgetExhausted, IncomparableLosses, InvalidParameter, LedgerDamaged)
"""By these a ledger refuses a charge; after any other failure it may be recorded."""


CHARACTERS_OF_A_NUMBER = 64
"""Room for the digits of a noisy count, beside those of its grid."""


# ---- before the charge -----------------------------------------------------------------------------------


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
            way_out=f"Ask with neighbours {theirs}, or keep another ledger for {ours}.",
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


def must_be_affordable(problem: Problem, quote: Quote, payer: Payer) -> None:
    """Refuse what the ledger would refuse to charge. Nothing is written."""
    if payer.ledger is None:
        return
    refused = payer.ledger.refusal_of(quote.price, reason=_named(problem, quote), account=payer.account)
    if payer.request_id is not None:
        for entry in payer.ledger.entries():
            if payer.owns(entry):
                raise _unanswered(payer.request_id, same=_is_same(entry, quote, payer.ledger))
    if refused is not None:
        raise refused


def kept_answer(quote: Quote, payer: Payer) -> Release | None:
    """Give the stored release of a request that was answered before, if it was the same question."""
    text = payer.answer()
    if text is None:
        return None
    try:
        kept = Release.from_json(text)
    except InvalidParameter:
        kept = None
    if kept is None or not _is_same_question(kept, quote):
        raise RequestChanged(str(payer.request_id))
    return kept


def _is_same_question(kept: Release, quote: Quote) -> bool:
    """Compare what was asked. An answer without a reason for its noise has the usual one, not named.

    Versions before had no choice: a question that names no noise is the one that was asked then.
    """
    if not kept.noise_reason and quote.noise_reason != NAMED:
        kept = replace(kept, mechanism=quote.mechanism)
    return kept.question == quote.question


# ---- the charge ------------------------------------------------------------------------------------------


class Payment:
    """The charge of one question: whether the ledger has it, also after an interrupt at any moment."""

    def __init__(self) -> None:
        """Begin with nothing paid."""
        self._state: Literal["not charged", "charging", "charged"] = "not charged"
        self._is_recorded: Callable[[], bool] = lambda: True

    @property
    def charged(self) -> bool:
        """Whether the ledger has committed the charge; while that is open, the ledger is asked."""
        return self._is_recorded() if self._state == "charging" else self._state == "charged"

    def charge(
        self,
        quote: Quote,
        ledger: Ledger,
        payer: Payer,
        meanwhile: Callable[[], AbstractContextManager[object]],
    ) -> None:
        """Charge. An exception that comes between the commit and the next line is seen through."""
        before, request_id = run_or_none(lambda: ledger.spent), payer.request_id
        self._is_recorded = lambda: _is_recorded(ledger, quote.reason, payer, since=before)
        self._state = "charging"
        try:
            with meanwhile():
                ledger.charge(quote.price, reason=quote.reason, request_id=request_id, **payer.named)
                self._state = "charged"
        except NOT_CHARGED:
            self._state = "not charged" if self._state == "charging" else self._state
            raise
        except BaseException:
            self._state = "charged" if self.charged else "not charged"
            raise
        finally:
            if self._state != "charging":
                self._is_recorded = lambda: True


def _is_recorded(ledger: Ledger, reason: str, payer: Payer, *, since: object) -> bool:
    """Say whether a charge for the reason was recorded since a sum was spent; in doubt, it was.

    Totals grow with every entry, so those above the sum are new. A charge of zero does not show in them.
    """
    try:
        return any(
            entry.reason == reason
            and payer.owns(entry)
            and not (entry.total <= since and any(entry.loss.parts()))  # type: ignore[operator]  # of one kind
            for entry in ledger.entries()
        )
    except Exception:  # noqa: BLE001 - a ledger that cannot be asked may have recorded it
        return True


def pay(
    problem: Problem,
    quote: Quote,
    payer: Payer,
    payment: Payment,
    meanwhile: Callable[[], AbstractContextManager[object]],
) -> Release | None:
    """Charge; give the answer if another process has asked, paid and answered in the meantime."""
    if payer.ledger is None:
        _warn_once()
        return None
    try:
        payment.charge(quote, payer.ledger, payer, meanwhile)
    except BudgetExhausted as refused:
        facts = refused.cost, refused.remaining, refused.budget, refused.where
        raise BudgetExhausted(_named(problem, quote), *facts) from None
    except AlreadyCharged as refused:
        same = isinstance(refused.entry, Entry) and _is_same(refused.entry, quote, payer.ledger)
    else:
        return None
    kept = kept_answer(quote, payer)
    if kept is None:
        raise _unanswered(str(payer.request_id), same=same)
    return kept


def _named(problem: Problem, quote: Quote) -> str:
    return question_name(problem.title, problem.columns, each=quote.by)


def _is_same(entry: Entry, quote: Quote, ledger: Ledger) -> bool:
    """Say whether an entry is the charge of the same question, also if an earlier version made it."""
    asked = is_of_question(
        entry.reason, k=quote.k, n=quote.accuracy.n or 0, digest=quote.problem, details=quote.details
    )
    return asked and entry.loss == cost(quote.price, type(ledger.budget))


def _unanswered(request_id: str, *, same: bool) -> AnswerLost | RequestChanged:
    """Say that a request is charged and has no answer: the same question, or another one."""
    return AnswerLost(request_id) if same else RequestChanged(request_id)


_warned: list[bool] = []


def _warn_once() -> None:
    if not _warned:
        _warned.append(True)
        warnings.warn(
            UnmeteredRelease(
                "this release was not charged to a ledger: nobody adds up what has been released. "
                "Give ledger=Ledger.create(path)."
            ),
            stacklevel=_frames_of_ours(),
        )


def _frames_of_ours() -> int:
    """Count the frames of this package above the caller: the first one that is not ours is warned."""
    frame, count = inspect.currentframe(), 0
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "dpselect":
        frame, count = frame.f_back, count + 1
    return count
