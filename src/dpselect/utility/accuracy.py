"""Accuracy: what a budget buys, before it is spent. No data is needed, and none is read.

Every figure holds for all scores that a data set may have. All are bounds from above, in the units of the
score (votes, dollars), at most a relative 2**-60 above the formula that they state.

Reference: Adam Smith's lecture on selection problems (docs/sources.md), Proposition 1.4 and Theorem 2.3: the
           utility theorem of McSherry & Talwar 2007. The sharp forms are in worst_case.proof.md.
Proof:     accuracy.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Sized
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from dpselect.accounting.calibrate import calibrate
from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import Number, not_negative, positive, probability, whole
from dpselect.mechanisms.report_noisy_top_k import make_report_noisy_top_k
from dpselect.privacy import (
    ZCDP,
    Measurement,
    atom_domain,
    range_distance,
    vector_domain,
    zero_concentrated_divergence,
)
from dpselect.privacy.neighbours import Neighbours, metric_of
from dpselect.problems.pricing import Revenue
from dpselect.utility.price_lists import PriceList, price_list, revenue_lead, revenue_within
from dpselect.utility.promise import Accuracy
from dpselect.utility.worst_case import Mechanism, Noise, distance, mean_distance

MECHANISMS = ("exponential", "gumbel", "lecture")
SURE = Fraction(99, 100)
"""The confidence of ``within`` if none is given."""


@runtime_checkable
class PlannableProblem(Protocol):
    """What the accuracy of a selection problem depends on: how many outputs, and how far scores move apart.

    A problem may also have ``d_linf``, how far one score moves if one person answers otherwise: only the
    bound of Smith's lecture uses it; and ``target``, the number whose rank is asked for, in words.
    """

    @property
    def outputs(self) -> Sized:
        """The candidates."""

    @property
    def unit(self) -> Fraction:
        """The step between possible scores."""

    def d_range(self, neighbours: Any, /) -> Fraction:
        """Bound how far the scores of neighbours move apart."""


@dataclass(frozen=True)
class _Plan:
    """A question and its noise: n candidates, k winners, at a scale of ``reach`` over the budget."""

    n: int
    k: int
    reach: Fraction
    mechanism: Mechanism
    unit: Fraction

    def scale(self, epsilon: Number | None, rho: Number | None, scale: Number | None) -> Fraction:
        """Give the scale that the budget pays for, or the one that is given."""
        match (epsilon, rho, scale):
            case (budget, None, None) if budget is not None:
                return self.k * self.reach / positive(budget, "epsilon")
            case (None, budget, None) if budget is not None:
                self._refuse_all_but_gumbel()
                return self._gumbel_scale(ZCDP(positive(budget, "rho")))
            case (None, None, given) if given is not None:
                return not_negative(given, "scale")
        number = sum(each is not None for each in (epsilon, rho, scale))
        raise InvalidParameter(f"exactly one of epsilon, rho and scale must be given; got {number}.")

    def _gumbel_scale(self, budget: ZCDP) -> Fraction:
        """Calibrate as a release does: in multiples of the unit."""
        scores = vector_domain(atom_domain(int), self.n)

        def make(scale: Fraction) -> Measurement:
            return make_report_noisy_top_k(
                scores, range_distance(), zero_concentrated_divergence(), self.k, scale
            )

        return calibrate(make, budget, self.reach / self.unit) * self.unit

    def _refuse_all_but_gumbel(self) -> None:
        if self.mechanism != "gumbel":
            raise InvalidParameter.must_be(
                "mechanism",
                '"gumbel" where rho is the budget',
                got=self.mechanism,
                way_out='Write mechanism="gumbel", or give epsilon.',
            )


def _plan(problem: PlannableProblem, k: int, neighbours: Neighbours, mechanism: Mechanism) -> _Plan:
    if not isinstance(problem, PlannableProblem):
        raise InvalidParameter.must_be(
            "problem", "a selection problem", got=problem, way_out="Write counting(100) for 100 candidates."
        )
    metric_of(neighbours)
    n = _candidates(len(problem.outputs))
    reach = problem.d_range(neighbours)
    alone = getattr(problem, "d_linf", None)
    if mechanism == "lecture" and neighbours == "change_one" and alone is not None:
        reach = 2 * alone
    return _Plan(n, _winners(k, n), Fraction(reach), _known(mechanism), Fraction(problem.unit))


def _candidates(n: int) -> int:
    return whole(n, "the number of candidates", least=1)


def _winners(k: int, n: int) -> int:
    return whole(k, "k", least=1, most=n)


def _known(mechanism: Mechanism) -> Mechanism:
    if mechanism not in MECHANISMS:
        raise InvalidParameter.must_be("mechanism", '"exponential", "gumbel" or "lecture"', got=mechanism)
    return mechanism


def _doubt(confidence: Number) -> Fraction:
    """Read a confidence; give what is left to one."""
    sure = probability(confidence, "confidence")
    if not 0 < sure < 1:
        raise InvalidParameter.must_be(
            "confidence",
            "between 0 and 1, not at either end",
            got=confidence,
            way_out='Write "0.99" for one failure in a hundred.',
        )
    return 1 - sure


def within(mechanism: Mechanism, scale: Number, n: int, k: int = 1, confidence: Number = SURE) -> Fraction:
    """Bound how far below the k-th best of n scores a winner lies, at a given scale of the noise.

    Postcondition
        P(some winner's score < k-th best score - within) <= 1 - confidence, whatever the scores.
        For k = 1 and "exponential" or "gumbel" no smaller number will do, up to rounding upward.

    >>> from dpselect.exact.rounding import rounded_up
    >>> rounded_up(within("gumbel", 4, 100), 2)
    '36.77'
    """
    candidates = _candidates(n)
    spread, winners = not_negative(scale, "scale"), _winners(k, candidates)
    return spread * distance(_known(mechanism), candidates, winners, _doubt(confidence))


def accuracy(  # noqa: PLR0913 - each is part of the question
    problem: PlannableProblem,
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    scale: Number | None = None,
    k: int = 1,
    confidence: Number = "0.99",
    neighbours: Neighbours = "add_remove",
    mechanism: Mechanism = "exponential",
    people: int | None = None,
) -> Accuracy:
    """Say how far from the best the winners may be, before anything is paid or looked at.

    Postcondition
        P(some winner's score < k-th best score - within) <= 1 - confidence, on every data set.
        For one winner this is the exact worst case, rounded up; for more it is a closed bound.
        The budget is ``epsilon``, or ``rho`` (Gumbel noise); or the ``scale`` of the noise is known.
        ``mechanism`` is the noise, "exponential" or "gumbel" (the exponential mechanism of the
        literature), or "lecture" for the classical bound ln(n / (1 - confidence)) * scale of Smith's
        lecture, which holds for both noises.
        With ``people``, a public upper bound on their number, pricing is sharper: the figure holds for data
        sets of no more people, and does not grow with the length of the price list.
    """
    plan = _plan(problem, k, neighbours, mechanism)
    doubt, spread = _doubt(confidence), plan.scale(epsilon, rho, scale)
    far = spread * distance(plan.mechanism, plan.n, plan.k, doubt)
    if people is not None:
        prices, most = _prices(problem, plan), whole(people, "people", least=0)
        far = min(far, revenue_within(prices, most, spread, doubt)) if spread else far
    target, word = getattr(problem, "target", None), getattr(problem, "measured_in", "score")
    return Accuracy(far, 1 - doubt, plan.mechanism, plan.unit, plan.k, plan.n, target, word)


def _prices(problem: PlannableProblem, plan: _Plan) -> PriceList:
    """Give the prices to which a bound on people matters; refuse one where it would say nothing."""
    scoring = getattr(problem, "scoring", None)
    if not isinstance(scoring, Revenue) or plan.k > 1 or plan.mechanism == "lecture":
        raise InvalidParameter(
            "people is for one winner of pricing(...), by the sharp bounds. Leave it out: the figure holds "
            "for any number of people."
        )
    return price_list(scoring.prices)


def expected_error(  # noqa: PLR0913 - each is part of the question
    problem: PlannableProblem,
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    scale: Number | None = None,
    neighbours: Neighbours = "add_remove",
    mechanism: Mechanism = "exponential",
) -> Fraction:
    """Bound how far a single winner's score lies below the best on average.

    Postcondition
        E[best score - winner's score] is at most this, on every data set; for both noises it is the
        exact worst case, rounded up.
    """
    plan = _plan(problem, 1, neighbours, mechanism)
    return plan.scale(epsilon, rho, scale) * mean_distance(plan.mechanism, plan.n)


def epsilon_for(  # noqa: PLR0913 - each is part of the question
    problem: PlannableProblem,
    *,
    within: Number,
    k: int = 1,
    confidence: Number = "0.99",
    neighbours: Neighbours = "add_remove",
    mechanism: Mechanism = "exponential",
) -> Fraction:
    """Give the smallest epsilon, rounded up, whose accuracy is ``within``.

    Postcondition
        ``accuracy(problem, epsilon=result, ...).within <= within``. Zero where even a blind draw is as good.
    """
    plan = _plan(problem, k, neighbours, mechanism)
    wanted = positive(within, "within")
    return plan.k * plan.reach * distance(plan.mechanism, plan.n, plan.k, _doubt(confidence)) / wanted


def lead_needed(  # noqa: PLR0913 - each is part of the question
    problem: PlannableProblem,
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    scale: Number | None = None,
    k: int = 1,
    confidence: Number = "0.99",
    neighbours: Neighbours = "add_remove",
    mechanism: Mechanism = "exponential",
    people: int | None = None,
) -> Fraction:
    """Say how far the k best must lead the rest, so that they are the winners.

    Postcondition
        If the k-th best score exceeds the next one by this much, the winners are the k best with
        probability ``confidence`` or more. It is a multiple of the problem's unit. ``people`` is as for
        ``accuracy``.
    """
    found = accuracy(
        problem,
        epsilon=epsilon,
        rho=rho,
        scale=scale,
        k=k,
        confidence=confidence,
        neighbours=neighbours,
        mechanism=mechanism,
    )
    lead = math.ceil(found.within / found.unit) * found.unit
    if people is None:
        return lead
    plan, most = _plan(problem, k, neighbours, mechanism), whole(people, "people", least=0)
    prices, spread = _prices(problem, plan), plan.scale(epsilon, rho, scale)
    return min(lead, revenue_lead(prices, most, spread, 1 - found.confidence, found.unit)) if spread else lead


def noise_scale(
    problem: PlannableProblem, k: int, neighbours: Neighbours, mechanism: Noise, **budget: Number | None
) -> Fraction:
    """Give the scale of the noise that ``epsilon=`` or ``rho=`` pays for, or the ``scale=`` itself."""
    given = {"epsilon": None, "rho": None, "scale": None, **budget}
    return _plan(problem, k, neighbours, mechanism).scale(**given)
