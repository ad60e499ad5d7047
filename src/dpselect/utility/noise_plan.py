"""Which noise a question takes, and at which scale: from public numbers alone, before anything is paid.

In epsilon it is exponential or Laplace noise, whichever has the better proved accuracy at the same price. Two
distances of neighbours and the numbers of candidates and of winners take part in the choice, not the price:
both scales are in proportion to 1 / epsilon. In rho, and for one of the numbers between bounds, it is Gumbel
noise.

Proof: noise_plan.proof.md
"""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from dpselect.accounting.calibrate import calibrate
from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import Number, not_negative, positive, whole
from dpselect.mechanisms.report_noisy_top_k import make_report_noisy_top_k
from dpselect.privacy import (
    ZCDP,
    Measurement,
    atom_domain,
    l1_distance,
    range_distance,
    vector_domain,
    zero_concentrated_divergence,
)
from dpselect.privacy.neighbours import Neighbours, metric_of
from dpselect.selection.noise import NoiseName
from dpselect.utility.worst_case import Mechanism, distance

MECHANISMS = ("exponential", "gumbel", "laplace", "lecture")
SURE = Fraction(99, 100)
"""The confidence at which noises are compared, and that of ``within`` if none is given."""


@runtime_checkable
class PlannableProblem(Protocol):
    """What the accuracy of a selection problem depends on: how many outputs, and how far scores move apart.

    A problem may also have ``l1``, how far all scores move together, which Laplace noise needs; ``d_linf``,
    how far one score moves if one person answers otherwise: only the bound of Smith's lecture uses it; and
    ``target``, the number whose rank is asked for, in words.
    """

    @property
    def outputs(self) -> Sized:
        """The candidates."""

    @property
    def unit(self) -> Fraction:
        """The step between possible scores."""

    def d_range(self, neighbours: Any, /) -> Fraction:
        """Bound how far the scores of neighbours move apart."""


def noise_for_epsilon(n: int, k: int, reach: Fraction, together: Fraction | None) -> NoiseName:
    """Name the noise with the better proved accuracy for k of n winners, at any epsilon.

    ``reach`` is how far scores move apart, ``together`` how far all of them move; None if that is unbounded.
    Where all candidates win, their order is drawn as well as that of all but one.

    >>> one = Fraction(1)
    >>> noise_for_epsilon(2000, 100, one, one), noise_for_epsilon(2000, 1, one, one)
    ('laplace', 'exponential')
    """
    draws = min(k, n - 1)
    if together is None or draws * reach <= together:
        return "exponential"
    doubt = 1 - SURE
    exponential = draws * reach * distance("exponential", n, draws, doubt)
    return "laplace" if together * distance("laplace", n, draws, doubt) < exponential else "exponential"


@dataclass(frozen=True)
class NoisePlan:
    """A question and its noise: n candidates, k winners, and how far their scores move."""

    n: int
    k: int
    reach: Fraction
    together: Fraction | None
    mechanism: Mechanism
    unit: Fraction

    @property
    def cost(self) -> Fraction:
        """The epsilon that noise of scale 1 costs, if not all candidates win."""
        if self.mechanism != "laplace":
            return self.k * self.reach
        return bounded(self.together, "mechanism")

    def scale(self, epsilon: Number | None, rho: Number | None, scale: Number | None) -> Fraction:
        """Give the scale that the budget pays for, or the one that is given."""
        match (epsilon, rho, scale):
            case (budget, None, None) if budget is not None:
                return self.cost / positive(budget, "epsilon")
            case (None, budget, None) if budget is not None:
                return self._concentrated_scale(ZCDP(positive(budget, "rho")))
            case (None, None, given) if given is not None:
                return not_negative(given, "scale")
        number = sum(each is not None for each in (epsilon, rho, scale))
        raise InvalidParameter(f"exactly one of epsilon, rho and scale must be given; got {number}.")

    def _concentrated_scale(self, budget: ZCDP) -> Fraction:
        """Calibrate as a release does: in multiples of the unit."""
        if self.mechanism not in ("gumbel", "laplace"):
            raise InvalidParameter.must_be(
                "mechanism",
                '"gumbel" where rho is the budget',
                got=self.mechanism,
                way_out='Write mechanism="gumbel", or give epsilon.',
            )
        noise: NoiseName = "laplace" if self.mechanism == "laplace" else "gumbel"
        metric = l1_distance() if noise == "laplace" else range_distance()
        d_in = bounded(self.together, "mechanism") if noise == "laplace" else self.reach
        scores = vector_domain(atom_domain(int), self.n)

        def make(scale: Fraction) -> Measurement:
            measure = zero_concentrated_divergence()
            return make_report_noisy_top_k(scores, metric, measure, self.k, scale, noise=noise)

        return calibrate(make, budget, d_in / self.unit) * self.unit


def bounded(together: Fraction | None, parameter: str) -> Fraction:
    """Give how far all scores move together; refuse Laplace noise where one person may move any number."""
    if together is None:
        raise InvalidParameter(
            f'{parameter}="laplace" needs a bound on how far one person moves all scores together; this '
            f"problem has none. Leave {parameter} out."
        )
    return together


def noise_plan(
    problem: PlannableProblem,
    k: int,
    neighbours: Neighbours,
    mechanism: Mechanism | None,
    *,
    concentrated: bool = False,
) -> NoisePlan:
    """Read a question; without a mechanism, take the noise that a release would take."""
    if not isinstance(problem, PlannableProblem):
        raise InvalidParameter.must_be(
            "problem", "a selection problem", got=problem, way_out="Write counting(100) for 100 candidates."
        )
    must_have_scores(problem)
    metric_of(neighbours)
    n = number_of_outputs(problem)
    chosen, reach, together = winners(k, n), problem.d_range(neighbours), l1_of(problem, neighbours)
    if mechanism is None:
        from_runs = chosen == 1 and getattr(problem, "has_runs", False)
        gumbel = concentrated or from_runs
        mechanism = "gumbel" if gumbel else noise_for_epsilon(n, chosen, Fraction(reach), together)
    alone = getattr(problem, "d_linf", None)
    if mechanism == "lecture" and neighbours == "change_one" and alone is not None:
        reach = 2 * alone
    return NoisePlan(n, chosen, Fraction(reach), together, known(mechanism), Fraction(problem.unit))


def must_have_scores(problem: object) -> None:
    """Refuse several quantiles at once: their draws are a recursion, and no candidate has a score."""
    if getattr(problem, "at", ()):
        raise InvalidParameter(
            "several quantiles at once have no best candidate, and no lead: what is proved is how far ranks "
            "are off. Write accuracy(problem, epsilon=1)."
        )


def l1_of(problem: PlannableProblem, neighbours: Neighbours) -> Fraction | None:
    """Give how far all scores of a problem move together; None if it is unbounded, or not said."""
    stated = getattr(problem, "l1", None)
    found = None if stated is None else stated(neighbours)
    return None if found is None else Fraction(found)


def number_of_outputs(problem: PlannableProblem) -> int:
    """Count the candidates, of which a grid may have more than ``len`` can say."""
    count = getattr(problem, "count", None)
    return candidate_count(count if isinstance(count, int) else len(problem.outputs))


def candidate_count(n: int) -> int:
    """Read a number of candidates."""
    return whole(n, "the number of candidates", least=1)


def winners(k: int, n: int) -> int:
    """Read a number of winners."""
    return whole(k, "k", least=1, most=n)


def known(mechanism: Mechanism) -> Mechanism:
    """Refuse what is neither a noise nor the bound of Smith's lecture."""
    if mechanism not in MECHANISMS:
        raise InvalidParameter.must_be(
            "mechanism", '"exponential", "gumbel", "laplace" or "lecture"', got=mechanism
        )
    return mechanism
