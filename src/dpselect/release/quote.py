"""Price: turn a budget into noise, and say all that can be said before anything is paid or looked at."""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Literal, TypeAlias

from dpselect.accounting import calibrate
from dpselect.engines.table import Table
from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import Number, whole
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
from dpselect.problems.own_scores import Scores
from dpselect.problems.problem import Problem
from dpselect.release.result import Price, Release, table_of
from dpselect.utility import Accuracy, within

CONFIDENCE = Fraction(99, 100)
Data: TypeAlias = Table | Scores


@dataclass(frozen=True)
class Asked:
    """A question with its price: everything about a release but its labels."""

    problem: Problem
    measurement: Measurement
    release: Release

    @property
    def reason(self) -> str:
        """What the ledger writes down: the question, by name and digest."""
        release, n = self.release, len(self.problem.outputs)
        words = [self.problem.name, f"{release.accuracy.k} of {n}", str(release.price), release.neighbours]
        return f"{', '.join(words)}, question {self.problem.digest}"


def priced(problem: Problem, data: Data, k: int, budget: Price, neighbours: Neighbours) -> Asked:
    """Find the noise that the budget pays for."""
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
    distance = within(mechanism, scale, n, winners, CONFIDENCE)
    blank = Release(
        labels=(),
        price=budget if points else _nothing(budget),
        neighbours=neighbours,
        unit=data.unit if isinstance(data, Table) else "person",
        mechanism=mechanism,
        scale=scale,
        accuracy=Accuracy(distance, CONFIDENCE, mechanism, problem.unit, winners, n, problem.target),
        dataset=data.dataset if isinstance(data, Table) else None,
        version=_version(),
        problem=problem.digest,
    )
    return Asked(problem, make(points), blank)


def the_budget(epsilon: Number | None, rho: Number | None, budget: Price | None) -> Price:
    """Read the one budget that is given."""
    given = [each for each in (epsilon, rho, budget) if each is not None]
    if len(given) != 1:
        raise InvalidParameter(
            f"exactly one of epsilon, rho and budget must be given; got {len(given) or 'none'}. "
            'Write epsilon="1/2".'
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


def _measure(budget: Price) -> Any:
    if isinstance(budget, PureDP):
        return max_divergence()
    if isinstance(budget, ZCDP):
        return zero_concentrated_divergence()
    return renyi_divergence() if isinstance(budget, RenyiDP) else approximate(max_divergence())


def _nothing(budget: Price) -> Price:
    """Give the price of no choice, in the currency of the budget."""
    if isinstance(budget, RenyiDP):
        return RenyiDP({order: 0 for order, _ in table_of(budget).points})
    return budget * 0


def _must_fit(problem: Problem, data: Data) -> None:
    """Refuse a question that the data cannot be asked."""
    if not isinstance(problem, Problem):
        # Its type alone is shown: if the arguments were given in another order, it is data.
        raise InvalidParameter(
            f"problem must be a selection problem; got a {type(problem).__name__}. "
            "Write approval_voting(...), pricing(...)."
        )
    if not isinstance(data, Table | Scores):
        raise InvalidParameter(
            f"table must be a Table, or Scores for custom(...); got a {type(data).__name__}. "
            'Write Table(path, unit="person").'
        )
    if problem.name == "counting":
        raise InvalidParameter("counting(...) is for planning and has no data. Name a problem of your table.")
    if isinstance(data, Table):
        if problem.question is None:
            raise InvalidParameter(f"{problem.name} reads no table. Give Scores(...).")
        return
    if problem.question is not None:
        raise InvalidParameter(f"{problem.name} needs a Table; Scores belong to custom(...).")
    n = len(problem.outputs)
    if not callable(data.source) and len(data.source) != n:
        raise InvalidParameter(f"scores must be {n} in number, one for each candidate.")


@cache
def _version() -> str:
    return importlib.metadata.version("dpselect")
