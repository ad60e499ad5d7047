"""Pay: charge the ledger before anything is looked at, and give the same answer to the same request."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
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
from dpselect.ledger.budget import cost
from dpselect.ledger.entries import Entry
from dpselect.ledger.reasons import is_of_question, question_name
from dpselect.problems.problem import Problem
from dpselect.release.doubts import frames_of_ours
from dpselect.release.drawing import NAMED
from dpselect.release.payer import Payer
from dpselect.release.quote import Quote
from dpselect.release.result import Release
from dpselect.silence import run_or_none

if TYPE_CHECKING:
    from dpselect.ledger import Ledger

NOT_CHARGED = (AlreadyCharged, BudgetExhausted, IncomparableLosses, InvalidParameter, LedgerDamaged)
"""By these a ledger refuses a charge; after any other failure it may be recorded."""


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
            stacklevel=frames_of_ours(),
        )
