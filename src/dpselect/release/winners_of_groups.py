"""A winner for each group in one call, at the price of one: prepare a question, and release it at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import Number
from dpselect.privacy.losses import WritableLoss
from dpselect.privacy.neighbours import Neighbours
from dpselect.problems.problem import Problem
from dpselect.release.data import Data
from dpselect.release.question import prepare
from dpselect.release.quorum import QuorumWish
from dpselect.release.result import Release
from dpselect.release.winners import at_once
from dpselect.selection.noise import NoiseName
from dpselect.silence import takes_data

if TYPE_CHECKING:
    from dpselect.ledger import Ledger


@takes_data
def select_each(  # noqa: PLR0913 - as select, and the groups
    problem: Problem,
    table: Data,
    *,
    by: str,
    groups: object = None,
    groups_per_person: int = 1,
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
    quorum: QuorumWish = "auto",
    progress: bool | None = None,
) -> Release:
    """Select the best of a problem's outputs in each group of people, at the price of one.

    ``by`` is a column, and ``groups`` are the public values of it that are asked for, compared as candidates
    are. A row without one of them does not count. A person counts in at most ``groups_per_person`` groups,
    drawn for each person. ``release.by_group`` has a label for each group, in the order given: None where the
    ``quorum`` won. "auto" takes the least quorum that keeps all groups silent, if all of them are empty, with
    probability 0.99, and none for quantiles. Several quantiles have a tuple for each group. The rest is as in
    ``select``.

    Precondition
        the data are about people as ``table.unit`` says          claimed by the caller

    Postcondition
        ``release.price`` bounds what all labels together tell about any one person. No error depends on the
        rows, but that they cannot be read.
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
        by=by,
        groups=groups,
        groups_per_person=groups_per_person,
        progress=progress,
    )
    return at_once(question, ledger, request_id, account)


@takes_data
def top_k_each(  # noqa: PLR0913 - as top_k, and the groups
    problem: Problem,
    table: Data,
    *,
    k: int,
    by: str,
    groups: object = None,
    groups_per_person: int = 1,
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
    quorum: QuorumWish = "auto",
    progress: bool | None = None,
) -> Release:
    """Select the k best in each group, best first, as a tuple for each; otherwise as ``select_each``."""
    if getattr(problem, "at", ()):
        raise InvalidParameter("several quantiles have one answer each. Write select_each(problem, ...).")
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
        by=by,
        groups=groups,
        groups_per_person=groups_per_person,
        several=True,
        progress=progress,
    )
    return at_once(question, ledger, request_id, account)
