"""The winners in one call: prepare a question, and release it at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import Number
from dpselect.privacy.losses import WritableLoss
from dpselect.privacy.neighbours import Neighbours
from dpselect.problems.problem import Problem
from dpselect.release.data import Data
from dpselect.release.question import Question, prepare
from dpselect.release.quorum import QuorumWish
from dpselect.release.result import Release
from dpselect.selection.noise import NoiseName
from dpselect.silence import takes_data

if TYPE_CHECKING:
    from dpselect.ledger import Ledger


@takes_data
def select(  # noqa: PLR0913 - the question, the data, one budget, and who keeps count
    problem: Problem,
    table: Data,
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: WritableLoss | None = None,
    ledger: Ledger | None = None,
    neighbours: Neighbours = "add_remove",
    request_id: str | None = None,
    account: str | None = None,
    noise: NoiseName | None = None,
    gap: bool = False,
    gap_grid: Number | None = None,
    people: int | None = None,
    counts: bool = False,
    quorum: QuorumWish = None,
    progress: bool | None = None,
) -> Release:
    """Select the best of a problem's outputs from a table, privately.

    Exactly one of ``epsilon``, ``rho`` and ``budget`` (any loss) is given. ``noise`` names a noise; None
    takes the one with the best proved accuracy. ``gap`` asks by how much the winner leads, ``counts`` for
    noisy counts, ``quorum`` for None as the label where no candidate has clearly more (``prepare``);
    ``people`` is a public upper bound on their number, which makes the accuracy of pricing and of several
    quantiles sharper. The price is charged to the ledger before any row is read, and is never refunded. A
    ``request_id`` that was answered before gets the same answer again, without a new charge. With an
    ``account`` of the ledger the price needs room in its share too. ``progress`` shows how far a query is
    that takes more than two seconds: None does on a terminal and in a notebook, False never.

    Precondition
        the data are about people as ``table.unit`` says          claimed by the caller

    Postcondition
        ``release.price`` bounds what the label tells about any one person. No error depends on the rows,
        but that they cannot be read.
    """
    question = prepare(
        problem,
        table,
        epsilon=epsilon,
        rho=rho,
        budget=budget,
        neighbours=neighbours,
        noise=noise,
        gap=gap,
        gap_grid=gap_grid,
        people=people,
        counts=counts,
        quorum=quorum,
        progress=progress,
    )
    return at_once(question, ledger, request_id, account)


@takes_data
def top_k(  # noqa: PLR0913 - as select, and how many winners
    problem: Problem,
    table: Data,
    *,
    k: int,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: WritableLoss | None = None,
    ledger: Ledger | None = None,
    neighbours: Neighbours = "add_remove",
    request_id: str | None = None,
    account: str | None = None,
    noise: NoiseName | None = None,
    gap: bool = False,
    gap_grid: Number | None = None,
    counts: bool = False,
    quorum: QuorumWish = None,
    progress: bool | None = None,
) -> Release:
    """Select the k best of a problem's outputs, best first; otherwise as ``select``."""
    if getattr(problem, "at", ()):
        raise InvalidParameter("several quantiles have one answer each. Write select(problem, ...).")
    question = prepare(
        problem,
        table,
        k=k,
        epsilon=epsilon,
        rho=rho,
        budget=budget,
        neighbours=neighbours,
        noise=noise,
        gap=gap,
        gap_grid=gap_grid,
        counts=counts,
        quorum=quorum,
        progress=progress,
    )
    return at_once(question, ledger, request_id, account)


def at_once(
    question: Question, ledger: Ledger | None, request_id: str | None, account: str | None = None
) -> Release:
    """Give the kept answer, without opening the table, which may be gone; or release the question."""
    if ledger is not None or request_id is not None or account is not None:
        kept = question.kept_answer(ledger, request_id=request_id, account=account)
        if kept is not None:
            return kept
    with question:
        return question.release(ledger, request_id=request_id, account=account)
