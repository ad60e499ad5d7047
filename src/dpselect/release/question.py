"""Price, pay, look, draw: in this order, and only here.

What can be wrong with a question is found before it is paid for, from the question, the schema and the
ledger. What fails afterwards stays paid, and says nothing of the data.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from dpselect.engines.table import Table
from dpselect.errors import InvalidParameter, OutsideDomain, RandomnessFailed, ReleaseFailed, TableUnreadable
from dpselect.exact.numbers import Number
from dpselect.privacy.losses import WritableLoss
from dpselect.privacy.measurement import Measurement
from dpselect.privacy.neighbours import Neighbours
from dpselect.problems.candidates import PUBLIC
from dpselect.problems.groups import Groups, groups_of
from dpselect.problems.problem import Problem
from dpselect.release.charge import Payment, kept_answer, must_be_affordable, pay
from dpselect.release.data import Data, Look, OpenTable, look_of
from dpselect.release.doubts import opened_with_doubts
from dpselect.release.drawing import drawn_from_runs
from dpselect.release.labels import plain_label
from dpselect.release.payer import Payer, must_agree
from dpselect.release.priced_once import Asked, priced_once
from dpselect.release.progress_line import progress_shown
from dpselect.release.quorum import QuorumWish, before_quorum, beside_quorum, runs_with_quorum, with_quorum
from dpselect.release.quote import Quote
from dpselect.release.result import Release
from dpselect.selection.cells import Cells
from dpselect.selection.noise import NoiseName
from dpselect.silence import holds_data, run, takes_data

if TYPE_CHECKING:
    from dpselect.ledger import Ledger


@takes_data
def prepare(  # noqa: PLR0913 - the question, the data and one budget
    problem: Problem,
    table: Data,
    *,
    k: int = 1,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: WritableLoss | None = None,
    neighbours: Neighbours = "add_remove",
    noise: NoiseName | None = None,
    gap: bool = False,
    gap_grid: Number | None = None,
    people: int | None = None,
    counts: bool = False,
    quorum: QuorumWish = None,
    by: str | None = None,
    groups: object = None,
    groups_per_person: int = 1,
    several: bool = False,
    progress: bool | None = None,
) -> Question:
    """Price a question; ``with`` opens the table and fits the question to its schema.

    Exactly one of ``epsilon``, ``rho`` and ``budget`` (any loss) is given. ``noise`` is the one with the best
    proved accuracy that the budget buys, by public numbers alone: exponential or Laplace noise for epsilon,
    Gumbel noise for the others; or the one that is named, where its price is proved. With ``gap`` the release
    also says by how much each winner leads the next, and the last one the runner-up, in steps of ``gap_grid``
    (the problem's unit if it is not given): free for epsilon, about a third more for rho, where each winner
    is drawn with fresh noise and leads the runner-up of its round. With ``counts`` the release has the noisy
    scores of the winners, whole numbers of the same draw: free where the question takes Laplace noise. The
    ``quorum`` is the score that "no clear winner" stands for, as one more candidate; "auto" takes the least
    that is chosen from an empty table with probability 0.99. With ``by``, a column, and public ``groups`` of
    its values, the question is asked of each group (``select_each``); with ``several`` each has a tuple of
    answers, as for k above 1. ``people``, a public upper bound on their number, makes the accuracy of one
    price and of several quantiles sharper: it holds for data sets of no more people. No row is read and
    nothing is charged until ``release`` is called. ``progress`` shows how far a query is that takes more than
    two seconds: None does on a terminal and in a notebook, False never.

    >>> from dpselect import Scores, custom
    >>> dish = custom(candidates=["tea", "soup"], sensitivity=1, monotonic=True)
    >>> with prepare(dish, Scores([31, 17]), epsilon="1/2") as question:
    ...     question.quote.price, question.quote.scale
    (PureDP('1/2'), Fraction(2, 1))
    """
    each = _asked_groups(by, groups, groups_per_person)
    several = several or k != 1 or bool(getattr(problem, "at", ()))
    asked = Asked(
        k, epsilon, rho, budget, neighbours, noise, gap, gap_grid, people, counts, quorum, each, several
    )
    quote, measurement = priced_once(problem, table, asked)
    question = Question(problem, table, quote, measurement, each)
    question.progress = progress
    return question


def _asked_groups(by: str | None, groups: object, per_person: int) -> Groups | None:
    """Read the groups, if there are any; refuse the half of what makes them."""
    if by is not None and groups is not None:
        return groups_of(by, groups, per_person)
    if by is not None:
        raise InvalidParameter(
            f"groups must be given with by: the values of column {by!r} that are asked for. {PUBLIC}",
            parameter="groups",
        )
    if groups is not None or per_person != 1:
        raise InvalidParameter('groups belong to a column: name it with by. Write by="city".', parameter="by")
    return None


@holds_data
class Question:
    """A question with its price, asked of data: made by ``prepare``, released once.

    ``meanwhile`` makes a context in which the charge happens. The command line holds signals back in it.
    ``progress`` says whether a long query shows how far it is; None: where a person looks.
    """

    meanwhile: Callable[[], AbstractContextManager[object]] = nullcontext
    progress: bool | None = None

    def __init__(
        self,
        problem: Problem,
        data: Data,
        quote: Quote,
        measurement: Measurement,
        groups: Groups | None = None,
    ) -> None:
        """Take what ``prepare`` has checked."""
        self._groups = groups
        self._problem, self._data, self._quote, self._measurement = problem, data, quote, measurement
        self._payment, self._looked = Payment(), False
        self._unanswered: Payer | None = None
        self._opened: OpenTable | None = None
        self._look: Look | None = None
        self._entered, self._released = Lock(), Lock()  # held for good by the first call

    @property
    def quote(self) -> Quote:
        """What it costs, whom it protects, and how good the answer will be."""
        return self._quote

    @property
    def charged(self) -> bool:
        """Whether a ledger was charged: True from the moment of its commit, and if that is in doubt."""
        return self._payment.charged

    @property
    def looked(self) -> bool:
        """Whether rows or scores may have been looked at, charged to a ledger or not."""
        return self._looked

    # ---- opening -----------------------------------------------------------------------------------------

    @takes_data
    def __enter__(self) -> Self:
        if not self._entered.acquire(blocking=False):
            raise InvalidParameter("a question is opened once. Call prepare(...) again.")
        try:
            data = self._data
            if isinstance(data, Table):
                self._opened = OpenTable(data)
                data = opened_with_doubts(self._opened, self._problem)
            as_runs = drawn_from_runs(self._problem, self._quote.k, self._quote.mechanism)
            self._look = look_of(self._problem, data, self._groups, as_runs=as_runs)
        except BaseException:
            self._close()
            raise
        return self

    @takes_data
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def _close(self) -> None:
        """Close the table, unless it was given open."""
        opened, self._opened, self._look = self._opened, None, None
        if opened is not None:
            opened.__exit__(None, None, None)

    # ---- asking ------------------------------------------------------------------------------------------

    @takes_data
    def dry_run(
        self, ledger: Ledger | None = None, request_id: str | None = None, *, account: str | None = None
    ) -> Quote:
        """Raise what ``release`` would refuse before the charge, or give the quote. Nothing is written."""
        self._must_be_open()
        if self._released.locked():
            raise _released_before()
        payer = Payer(ledger, request_id, account)
        if self._kept(payer) is None:
            must_be_affordable(self._problem, self._quote, payer)
        return self._quote

    @takes_data
    def kept_answer(
        self, ledger: Ledger | None = None, *, request_id: str | None = None, account: str | None = None
    ) -> Release | None:
        """Give the answer that the ledger keeps for a request; None if there is none. No table is opened."""
        return self._kept(Payer(ledger, request_id, account))

    def _kept(self, payer: Payer) -> Release | None:
        """Ask the ledger once. Whether it was answered in the meantime, the charge finds out."""
        if self._unanswered is not None and self._unanswered.is_same(payer):
            return None
        must_agree(self._problem, self._data, self._quote, payer)
        kept = kept_answer(self._quote, payer)
        if kept is None:
            self._unanswered = payer
        return kept

    @takes_data
    def release(
        self, ledger: Ledger | None = None, *, request_id: str | None = None, account: str | None = None
    ) -> Release:
        """Pay, look, draw; then keep the answer, if it has a name. Once: a second call is refused.

        The price is charged to the ledger before any row is read, and is never refunded. A ``request_id``
        that was answered before gets the same answer again, without a new charge. With an ``account`` the
        charge needs room in its share too.
        """
        look = self._must_be_open()
        if not self._released.acquire(blocking=False):
            raise _released_before()
        problem, quote, payer = self._problem, self._quote, Payer(ledger, request_id, account)
        kept = self._kept(payer)
        if kept is None:
            kept = pay(problem, quote, payer, self._payment, self.meanwhile)
        if kept is not None:
            return kept
        self._looked = True
        with progress_shown(wanted=self.progress):
            release = run(partial(_drawn, look, self._measurement, problem, quote), _refused)
        payer.store(release)
        return release

    def _must_be_open(self) -> Look:
        if self._look is None:
            raise InvalidParameter("a question must be open. Write with prepare(...) as question: ...")
        return self._look

    def __repr__(self) -> str:
        return f"<question: {self._problem!r} for {self._quote.price}>"

    def __reduce__(self) -> str:
        raise TypeError("a question is not pickled: it holds data.")


def _released_before() -> InvalidParameter:
    return InvalidParameter("a question is released once. Call prepare(...) again for another release.")


def _drawn(look: Look, measurement: Measurement, problem: Problem, quote: Quote) -> Release:
    """Look and draw."""
    scores = look()
    if quote.groups is not None:
        return _drawn_of_each(scores, measurement, problem, quote)
    at_once = isinstance(scores, list | tuple | Cells) or hasattr(scores, "__array__")
    if quote.quorum is not None and drawn_from_runs(problem, quote.k, quote.mechanism):
        with_one_more = runs_with_quorum(scores, quote.quorum, problem)
        drawn = before_quorum([measurement(with_one_more)], problem.count)
    elif quote.quorum is not None:
        together = measurement.over(with_quorum(scores, quote.quorum, problem.unit, at_once=at_once))
        drawn = before_quorum(together if isinstance(together, list) else [together], problem.count)
    else:
        drawn = measurement(scores) if at_once else measurement.over(scores)
    several = drawn if isinstance(drawn, list) else [drawn]
    plain = quote.gap_grid is None and not quote.counted
    indices, *beside = (several,) if plain else zip(*several, strict=True)
    counts = beside[0] if quote.counted else ()
    gaps = () if quote.gap_grid is None else beside[-1]
    outputs = problem.outputs
    labels = tuple(plain_label(outputs[index]) for index in indices)
    return Release.of(quote, labels, tuple(gap * problem.unit for gap in gaps), tuple(counts))


def _drawn_of_each(scores: Any, measurement: Measurement, problem: Problem, quote: Quote) -> Release:
    """Draw for each group."""
    if quote.quorum is not None:
        scores = beside_quorum(scores, quote.quorum, problem)
    outputs, count = problem.outputs, problem.count
    winners = tuple(
        tuple(plain_label(outputs[index]) for index in before_quorum(drawn, count))
        for drawn in measurement(scores)
    )
    return Release.of_groups(quote, winners)


def _refused(error: Exception) -> Exception:
    """Keep a constant sentence of ours; say another failure by one."""
    ours = (OutsideDomain, RandomnessFailed, ReleaseFailed, TableUnreadable)
    return error if isinstance(error, ours) else ReleaseFailed()
