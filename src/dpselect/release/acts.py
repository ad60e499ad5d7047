"""Price, pay, look, draw: in this order, and only here.

What can be wrong with a question is found before it is paid for, from the question, the schema and the
ledger. What fails afterwards stays paid, and says nothing of the data.
"""

from __future__ import annotations

import importlib.metadata
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

from dpselect.accounting import calibrate
from dpselect.engines.protocol import SALT_BYTES, CountsRequest, Engine
from dpselect.engines.table import Table
from dpselect.errors import (
    AlreadyCharged,
    AnswerLost,
    DpselectError,
    InvalidParameter,
    ReleaseFailed,
    RequestChanged,
    UnmeteredRelease,
)
from dpselect.exact.numbers import Number, whole
from dpselect.exact.randomness import system
from dpselect.mechanisms import make_report_noisy_top_k
from dpselect.privacy import (
    Measurement,
    approximate,
    atom_domain,
    max_divergence,
    range_distance,
    renyi_divergence,
    vector_domain,
    zero_concentrated_divergence,
)
from dpselect.privacy.losses import ZCDP, ApproxDP, PureDP, RenyiDP
from dpselect.privacy.neighbours import Neighbours
from dpselect.problems.custom import Scores
from dpselect.problems.problem import CHUNK, Problem
from dpselect.release.value import Label, Price, Release, table_of
from dpselect.utility import Accuracy, within

CONFIDENCE = Fraction(99, 100)
Data: TypeAlias = Table | Scores


class Ledger(Protocol):
    """What a release asks of a ledger."""

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
    return top_k(
        problem,
        table,
        k=1,
        epsilon=epsilon,
        rho=rho,
        budget=budget,
        ledger=ledger,
        neighbours=neighbours,
        request_id=request_id,
    )


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
    asked = priced(problem, table, k, _the_budget(epsilon, rho, budget), neighbours)
    _must_agree(asked.release, table, ledger, request_id)
    kept = _kept_answer(asked.release, ledger, request_id)
    if kept is not None:
        return kept
    with asked.opened() as look:
        _pay(asked, ledger, request_id)
        labels, refusal = _attempt(look, asked)
        if refusal is not None:
            raise refusal
    release = replace(asked.release, labels=labels)
    if ledger is not None and request_id is not None:
        ledger.store(request_id, release.to_json())
    return release


# ---- price -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """A question with its price: everything about a release but its labels."""

    problem: Problem
    data: Data
    measurement: Measurement
    release: Release

    @property
    def reason(self) -> str:
        """What the ledger writes down: the question, by name and digest."""
        k, n = self.release.accuracy.k, len(self.problem.outputs)
        question = f"{self.release.neighbours}, question {self.problem.digest}"
        return f"{self.problem.name}, {k} of {n}, {question}"

    @contextmanager
    def opened(self) -> Iterator[Callable[[], Any]]:
        """Open the data: what is given looks at it when it is called, and not before."""
        data = self.data
        if isinstance(data, Scores):
            yield data.chunks if callable(data.source) else lambda: data.source
            return
        with data.open() as engine:
            yield _Look(self.problem, engine, self.problem.request(engine.schema, unit=data.unit))


def priced(problem: Problem, data: Data, k: int, budget: Price, neighbours: Neighbours) -> Asked:
    """Turn a budget into noise, and say all that can be said before anything is paid or looked at."""
    _must_fit(problem, data)
    n = len(problem.outputs)
    winners = whole(k, "k", least=1, most=n)
    reach = problem.d_range(neighbours) / problem.unit
    domain = vector_domain(atom_domain(float if isinstance(data, Scores) else int), size=n)
    measure = _measure(budget)

    def make(scale: Fraction) -> Measurement:
        return make_report_noisy_top_k(domain, range_distance(), measure, winners, scale)

    points = calibrate(make, budget, reach)
    mechanism: Literal["exponential", "gumbel"] = "exponential" if isinstance(budget, PureDP) else "gumbel"
    scale = points * problem.unit
    blank = Release(
        labels=(),
        price=budget * 0 if n == 1 else budget,
        neighbours=neighbours,
        unit=data.unit if isinstance(data, Table) else "person",
        mechanism=mechanism,
        scale=scale,
        accuracy=Accuracy(
            within(mechanism, scale, n, winners, CONFIDENCE), CONFIDENCE, mechanism, problem.unit, winners
        ),
        dataset=data.dataset if isinstance(data, Table) else None,
        version=importlib.metadata.version("dpselect"),
        problem=problem.digest,
    )
    return Asked(problem, data, make(points), blank)


def _the_budget(epsilon: Number | None, rho: Number | None, budget: Price | None) -> Price:
    given = [each for each in (epsilon, rho, budget) if each is not None]
    if len(given) != 1:
        raise InvalidParameter(
            f"exactly one of epsilon, rho and budget must be given; got {len(given) or 'none'}."
        )
    loss = PureDP(epsilon) if epsilon is not None else ZCDP(rho) if rho is not None else budget
    if not isinstance(loss, PureDP | ZCDP | ApproxDP | RenyiDP):
        raise InvalidParameter.must_be(
            "budget", "a loss", got=loss, way_out='Write PureDP("1/2"), ZCDP("1/8") or ApproxDP(1, "1e-6").'
        )
    if isinstance(loss, RenyiDP):
        table_of(loss)
    elif not 0 < loss.parts()[0] < float("inf"):
        name = "rho" if isinstance(loss, ZCDP) else "epsilon"
        raise InvalidParameter.must_be(name, "above zero and finite", got=loss.parts()[0])
    return loss


def _measure(budget: Price) -> Any:  # noqa: ANN401 - one of the measures
    if isinstance(budget, PureDP):
        return max_divergence()
    if isinstance(budget, ZCDP):
        return zero_concentrated_divergence()
    return renyi_divergence() if isinstance(budget, RenyiDP) else approximate(max_divergence())


def _must_fit(problem: Problem, data: Data) -> None:
    """Refuse a question that the data cannot be asked."""
    if not isinstance(problem, Problem):
        raise InvalidParameter.must_be(
            "problem", "a selection problem", got=problem, way_out="Write approval_voting(...), pricing(...)."
        )
    if isinstance(data, Scores):
        if problem.question is not None or problem.name != "custom":
            raise InvalidParameter(f"Scores belong to custom(...); {problem.name} needs a Table or no data.")
        n = len(problem.outputs)
        if not callable(data.source) and len(data.source) != n:
            raise InvalidParameter(f"scores must be {n} in number, one for each candidate.")
        return
    if not isinstance(data, Table):
        raise InvalidParameter.must_be(
            "table",
            "a Table, or Scores for custom(...)",
            got=data,
            way_out='Write Table(path, unit="person").',
        )
    if problem.question is None:
        raise InvalidParameter(
            f"{problem.name} reads no table. Give Scores(...) to custom(...); counting(...) is for planning."
        )


def _must_agree(asked: Release, data: Data, ledger: Ledger | None, request_id: str | None) -> None:
    """Refuse a ledger that keeps the budget of something else."""
    if ledger is None:
        if request_id is not None:
            raise InvalidParameter("a request_id needs a ledger, which keeps the answer. Give ledger=.")
        return
    if not all(callable(getattr(ledger, act, None)) for act in ("charge", "store", "answer")):
        raise InvalidParameter.must_be("ledger", "a Ledger", got=ledger, way_out="Write Ledger.open(path).")
    if isinstance(asked.price, ApproxDP | RenyiDP):
        raise InvalidParameter(
            "a ledger holds epsilon or rho; got a budget of another kind. "
            "Give epsilon= or rho=, or no ledger."
        )
    pairs = [("dataset", asked.dataset, ledger.dataset)]
    if isinstance(data, Table):
        pairs.append(("unit", asked.unit, ledger.unit))
    for name, ours, theirs in pairs:
        if ours is not None and theirs is not None and ours != theirs:
            raise InvalidParameter.must_be(
                name, f"that of the ledger, {theirs!r}", got=ours, way_out="Open the ledger of this data."
            )


# ---- pay -------------------------------------------------------------------------------------------------


def _kept_answer(asked: Release, ledger: Ledger | None, request_id: str | None) -> Release | None:
    """Give the stored release of a request that was answered before, if it was the same question."""
    if ledger is None or request_id is None:
        return None
    text = ledger.answer(request_id)
    if text is None:
        return None
    kept = Release.from_json(text)
    if replace(kept, labels=(), version=asked.version) != asked:
        raise RequestChanged(request_id)
    return kept


def _pay(asked: Asked, ledger: Ledger | None, request_id: str | None) -> None:
    if ledger is None:
        _warn_once()
        return
    try:
        ledger.charge(asked.release.price, reason=asked.reason, request_id=request_id)
    except AlreadyCharged as refused:
        same = getattr(refused.entry, "reason", None) == asked.reason
    else:
        return
    raise AnswerLost(str(request_id)) if same else RequestChanged(str(request_id))


_warned: list[bool] = []


def _warn_once() -> None:
    if not _warned:
        _warned.append(True)
        warnings.warn(
            UnmeteredRelease(
                "this release was not charged to a ledger: nobody adds up what has been released. "
                "Give ledger=Ledger.create(path)."
            ),
            stacklevel=5,
        )


# ---- look and draw ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Look:
    """Reads the rows, and gives the scores: at once, or in chunks if they are many."""

    problem: Problem
    engine: Engine
    request: CountsRequest

    def __call__(self) -> Any:  # noqa: ANN401 - scores, or an iterator of their chunks
        counts = self.engine.counts(self.request, system().words(SALT_BYTES // 8).tobytes())
        problem = self.problem
        return problem.chunks(counts) if len(problem.outputs) > CHUNK else problem.scores(counts)


def _attempt(look: Callable[[], Any], asked: Asked) -> tuple[tuple[Label, ...], BaseException | None]:
    """Look and draw; give the labels, or the refusal without anything that it holds."""
    try:
        scores = look()
        at_once = isinstance(scores, list | tuple) or hasattr(scores, "__array__")
        indices = asked.measurement(scores) if at_once else asked.measurement.over(scores)
        outputs = asked.problem.outputs
        return tuple(_plain(outputs[index]) for index in indices), None
    except DpselectError as error:
        error.__cause__ = error.__context__ = None
        return (), error.with_traceback(None)
    except Exception:  # noqa: BLE001 - its text, type and frames may hold data
        kind: type[BaseException] = ReleaseFailed
    except BaseException as error:  # noqa: BLE001 - Ctrl-C passes, without what it holds
        kind = type(error)
    return (), kind()


def _plain(label: Any) -> Label:  # noqa: ANN401 - a name, or a number of any kind
    """Give a number of NumPy as one of Python."""
    plain: Label = label.item() if isinstance(label, np.generic) else label
    return plain
