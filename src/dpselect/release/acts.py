"""Price, pay, look, draw: in this order, and only here.

What can be wrong with a question is found before it is paid for, from the question, the schema and the
ledger. What fails afterwards stays paid, and says nothing of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from dpselect.engines.protocol import SALT_BYTES, CountsRequest, Engine
from dpselect.errors import OutsideDomain, RandomnessFailed, ReleaseFailed, TableUnreadable
from dpselect.exact.numbers import Number
from dpselect.exact.randomness import system
from dpselect.privacy.neighbours import Neighbours
from dpselect.problems.own_scores import Scores
from dpselect.problems.problem import CHUNK, Problem
from dpselect.release.charge import Ledger, kept_answer, must_agree, pay
from dpselect.release.quote import Asked, Data, priced, the_budget
from dpselect.release.result import Label, Price, Release
from dpselect.silence import run, takes_data


@takes_data
def select(  # noqa: PLR0913 - the question, the data, one budget, and who keeps count
    problem: Problem,
    table: Data,
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Price | None = None,
    ledger: Ledger | None = None,
    neighbours: Neighbours = "add_remove",
    request_id: str | None = None,
) -> Release:
    """Select the best of a problem's outputs from a table, privately.

    Exactly one of ``epsilon`` (exponential noise), ``rho`` (Gumbel noise) and ``budget`` (any loss) is given.
    The price is charged to the ledger before any row is read, and is never refunded. A ``request_id`` that
    was answered before gets the same answer again, without a new charge.

    Precondition
        the data are about people as ``table.unit`` says          claimed by the caller

    Postcondition
        ``release.price`` bounds what the label tells about any one person. No error depends on the rows,
        but that they cannot be read.
    """
    return _acts(table, problem, 1, (epsilon, rho, budget), neighbours, ledger, request_id)


@takes_data
def top_k(  # noqa: PLR0913 - as select, and how many winners
    problem: Problem,
    table: Data,
    *,
    k: int,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Price | None = None,
    ledger: Ledger | None = None,
    neighbours: Neighbours = "add_remove",
    request_id: str | None = None,
) -> Release:
    """Select the k best of a problem's outputs, best first; otherwise as ``select``."""
    return _acts(table, problem, k, (epsilon, rho, budget), neighbours, ledger, request_id)


def _acts(  # noqa: PLR0913, PLR0917 - all that a release is made of
    data: Data,
    problem: Problem,
    k: int,
    budgets: tuple[Number | None, Number | None, Price | None],
    neighbours: Neighbours,
    ledger: Ledger | None,
    request_id: str | None,
) -> Release:
    """Price, pay, look, draw; then keep the answer, if it has a name."""
    asked = priced(problem, data, k, the_budget(*budgets), neighbours)
    must_agree(asked, data, ledger, request_id)
    kept = kept_answer(asked, ledger, request_id)
    if kept is not None:
        return kept
    with _opened(problem, data) as look:
        kept = pay(asked, ledger, request_id)
        if kept is not None:
            return kept
        release = replace(asked.release, labels=run(partial(_drawn, look, asked), _refused))
    if ledger is not None and request_id is not None:
        ledger.store(request_id, release.to_json())
    return release


@contextmanager
def _opened(problem: Problem, data: Data) -> Iterator[Callable[[], Any]]:
    """Open the data: what is given looks at it when it is called, and not before."""
    if isinstance(data, Scores):
        yield data.chunks if callable(data.source) else lambda: data.source
        return
    with data.open() as engine:
        yield _Look(problem, engine, problem.request(engine.schema, unit=data.unit))


@dataclass(frozen=True)
class _Look:
    """Reads the rows, and gives the scores: at once, or in chunks if they are many."""

    problem: Problem
    engine: Engine
    request: CountsRequest

    def __call__(self) -> Any:
        counts = self.engine.counts(self.request, system().words(SALT_BYTES // 8).tobytes())
        problem = self.problem
        return problem.chunks(counts) if len(problem.outputs) > CHUNK else problem.scores(counts)


def _drawn(look: Callable[[], Any], asked: Asked) -> tuple[Label, ...]:
    """Look and draw."""
    scores = look()
    at_once = isinstance(scores, list | tuple) or hasattr(scores, "__array__")
    indices = asked.measurement(scores) if at_once else asked.measurement.over(scores)
    outputs = asked.problem.outputs
    return tuple(_plain(outputs[index]) for index in indices)


def _refused(error: Exception) -> Exception:
    """Keep a constant sentence of ours; say another failure by one."""
    ours = (OutsideDomain, RandomnessFailed, ReleaseFailed, TableUnreadable)
    return error if isinstance(error, ours) else ReleaseFailed()


def _plain(label: Any) -> Label:
    """Give a label as one of Python's own, of NumPy and of enumerations too."""
    plain = label.item() if isinstance(label, np.generic) else label
    for kind in (str, int, float, Decimal):
        if isinstance(plain, kind):
            return kind(plain)
    return Fraction(*plain.as_integer_ratio())
