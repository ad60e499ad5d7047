"""Pay: charge the ledger before anything is looked at, and give the same answer to the same request."""

from __future__ import annotations

import json
import warnings
from typing import Protocol

from dpselect.engines.table import Table
from dpselect.errors import (
    AlreadyCharged,
    AnswerLost,
    BudgetExhausted,
    InvalidParameter,
    RequestChanged,
    UnmeteredRelease,
)
from dpselect.exact.numbers import exact_text
from dpselect.privacy.losses import ApproxDP, RenyiDP
from dpselect.privacy.neighbours import METRIC_OF, Neighbours
from dpselect.problems.candidates import Grid
from dpselect.release.quote import Asked, Data
from dpselect.release.result import Release, written_label

LONGEST_ANSWER = 1_000_000
"""Characters that every ledger keeps."""

CALLERS = 6
"""How far above the warning the caller of ``select`` and ``top_k`` is."""


class Ledger(Protocol):
    """What a release asks of a ledger."""

    @property
    def neighbours(self) -> Neighbours:
        """Whose loss it adds up."""

    @property
    def dataset(self) -> str | None:
        """The name of the data set."""

    @property
    def unit(self) -> str | None:
        """The name of the privacy unit."""

    def charge(self, loss: object, *, reason: str, request_id: str | None = None) -> object:
        """Charge durably, or raise."""

    def store(self, request_id: str, answer: str) -> None:
        """Keep an answer."""

    def answer(self, request_id: str) -> str | None:
        """Give a kept answer."""


def must_agree(asked: Asked, data: Data, ledger: Ledger | None, request_id: str | None) -> None:
    """Refuse a ledger that keeps the budget of something else, or cannot keep the answer."""
    if ledger is None:
        if request_id is not None:
            raise InvalidParameter("a request_id needs a ledger, which keeps the answer. Give ledger=.")
        return
    acts = all(callable(getattr(ledger, act, None)) for act in ("charge", "store", "answer"))
    if not acts or getattr(ledger, "neighbours", None) not in METRIC_OF:
        raise InvalidParameter.must_be("ledger", "a Ledger", got=ledger, way_out="Write Ledger.open(path).")
    release = asked.release
    _must_add_up(release.neighbours, ledger.neighbours)
    if isinstance(release.price, ApproxDP | RenyiDP):
        raise InvalidParameter(
            "a ledger holds epsilon or rho; got a budget of another kind. "
            "Give epsilon= or rho=, or no ledger."
        )
    ours = {"dataset": release.dataset}
    if isinstance(data, Table):
        # Where each row is a person, a budget for the people of some column does not cover the loss.
        ours["unit"] = "row" if release.unit is None else release.unit
    for name, mine in ours.items():
        theirs = getattr(ledger, name)
        if None not in (mine, theirs) and mine != theirs:
            way_out = "Open the ledger of this data."
            if name == "unit" and release.unit is None:
                way_out = (
                    'With unit=None each row is a person: name the column, or keep a ledger for unit="row".'
                )
            raise InvalidParameter.must_be(name, f"that of the ledger, {theirs!r}", got=mine, way_out=way_out)
    if request_id is not None:
        _must_be_storable(asked)


def _must_add_up(ours: Neighbours, theirs: Neighbours) -> None:
    """Refuse a price between other neighbours than the ledger's: the sum would bound neither loss."""
    if ours != theirs:
        raise InvalidParameter.must_be(
            "neighbours",
            f"those of the ledger, {theirs!r}, whose losses it adds up",
            got=ours,
            way_out=f"Ask with neighbours {theirs}, or keep another ledger for {ours}.",
        )


def _must_be_storable(asked: Asked) -> None:
    """Refuse, while it is free, an answer that no ledger could keep."""
    text, outputs = asked.release.to_json(), asked.problem.outputs
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise InvalidParameter("dataset must be text that can be stored: no lone surrogate.")
    if isinstance(outputs, Grid):
        longest = 64 + len(exact_text(outputs.first)) + 2 * len(exact_text(outputs.step))
    else:
        longest = max(len(json.dumps(written_label(label))) for label in outputs)
    k = asked.release.accuracy.k
    if len(text) + k * (longest + 2) > LONGEST_ANSWER:
        raise InvalidParameter(
            f"k must be so small that a ledger can keep {k} labels, in {LONGEST_ANSWER} characters; "
            "it cannot. Give no request_id, or a smaller k."
        )


def kept_answer(asked: Asked, ledger: Ledger | None, request_id: str | None) -> Release | None:
    """Give the stored release of a request that was answered before, if it was the same question."""
    text = None if ledger is None or request_id is None else ledger.answer(request_id)
    if text is None:
        return None
    try:
        kept = Release.from_json(text)
    except InvalidParameter:
        kept = None
    if kept is None or kept.question != asked.release.question:
        raise RequestChanged(str(request_id))
    return kept


def pay(asked: Asked, ledger: Ledger | None, request_id: str | None) -> Release | None:
    """Charge; give the answer if somebody else has asked, paid and answered in the meantime."""
    if ledger is None:
        _warn_once()
        return None
    try:
        ledger.charge(asked.release.price, reason=asked.reason, request_id=request_id)
    except BudgetExhausted as refused:
        facts = refused.cost, refused.remaining, refused.budget
        raise BudgetExhausted(asked.problem.name, *facts) from None
    except AlreadyCharged as refused:
        same = getattr(refused.entry, "reason", None) == asked.reason
    else:
        return None
    kept = kept_answer(asked, ledger, request_id)
    if kept is None:
        raise AnswerLost(str(request_id)) if same else RequestChanged(str(request_id))
    return kept


_warned: list[bool] = []


def _warn_once() -> None:
    if not _warned:
        _warned.append(True)
        warnings.warn(
            UnmeteredRelease(
                "this release was not charged to a ledger: nobody adds up what has been released. "
                "Give ledger=Ledger.create(path)."
            ),
            stacklevel=CALLERS + 1,
        )
