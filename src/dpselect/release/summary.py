"""The five numbers that people know: 5, 25, 50, 75 and 95 % of a column, with one charge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpselect.exact.numbers import Number
from dpselect.privacy.losses import WritableLoss
from dpselect.privacy.neighbours import Neighbours
from dpselect.problems.quantiles import five_numbers
from dpselect.release.data import Data
from dpselect.release.question import prepare
from dpselect.release.result import Release
from dpselect.release.winners import at_once
from dpselect.silence import takes_data

if TYPE_CHECKING:
    from dpselect.ledger import Ledger


@takes_data
def summary(  # noqa: PLR0913 - the question, the data, one budget, and who keeps count
    table: Data,
    *,
    value: str,
    between: tuple[Number, Number],
    step: Number | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: WritableLoss | None = None,
    ledger: Ledger | None = None,
    neighbours: Neighbours = "add_remove",
    request_id: str | None = None,
    account: str | None = None,
    people: int | None = None,
    progress: bool | None = None,
) -> Release:
    """Release the 5, 25, 50, 75 and 95 % quantiles of a column, privately; ``plot_summary`` draws them.

    ``release.labels`` has five numbers between the bounds, ascending. One price pays for all of them, charged
    before any row is read. ``people`` is a public upper bound on how many there are: the accuracy is stated
    for it; without it, for the most that a table may have. The rest is as in ``select``.
    """
    question = prepare(
        five_numbers(value=value, between=between, step=step),
        table,
        epsilon=epsilon,
        rho=rho,
        budget=budget,
        neighbours=neighbours,
        people=people,
        progress=progress,
    )
    return at_once(question, ledger, request_id, account)
