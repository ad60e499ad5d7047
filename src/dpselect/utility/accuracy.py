"""Accuracy: what a budget buys, before it is spent. No data is needed, and none is read.

Every figure holds for all scores that a data set may have. All are bounds from above, in the units of the
score (votes, dollars), at most a relative 2**-60 above the formula that they state.

Reference: Adam Smith's lecture on selection problems (docs/sources.md), Proposition 1.4 and Theorem 2.3: the
           utility theorem of McSherry & Talwar 2007. The sharp forms are in worst_case.proof.md.
Proof:     accuracy.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from dpselect.accounting.calibrate import SCALE_BITS
from dpselect.errors import InvalidParameter
from dpselect.exact.bisection import bisect
from dpselect.exact.numbers import Number, not_negative, positive, probability, whole
from dpselect.privacy import Measurement
from dpselect.privacy.neighbours import Neighbours
from dpselect.problems.pricing import Revenue
from dpselect.utility.mechanism_accuracy import accuracy_of_mechanism, mean_of_mechanism
from dpselect.utility.noise_plan import (
    SURE,
    PlannableProblem,
    candidate_count,
    known,
    must_have_scores,
    noise_plan,
    winners,
)
from dpselect.utility.price_lists import PriceList, price_list, revenue_lead, revenue_within
from dpselect.utility.promise import Accuracy
from dpselect.utility.quantile_accuracy import (
    accuracy_of_quantiles,
    must_be_several_quantiles,
    scale_of_quantiles,
)
from dpselect.utility.worst_case import Mechanism, distance, mean_distance

LEAST_SEARCHED = Fraction(1, 2**64)
"""A smaller epsilon is not searched for."""


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
    count = candidate_count(n)
    spread, chosen = not_negative(scale, "scale"), winners(k, count)
    return spread * distance(known(mechanism), count, chosen, _doubt(confidence))


def accuracy(  # noqa: PLR0913 - each is part of the question
    problem: PlannableProblem | Measurement,
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    scale: Number | None = None,
    k: int = 1,
    confidence: Number = "0.99",
    neighbours: Neighbours = "add_remove",
    mechanism: Mechanism | None = None,
    people: int | None = None,
    best: Number | None = None,
) -> Accuracy:
    """Say how far from the best the winners may be, before anything is paid or looked at.

    Postcondition
        P(some winner's score < k-th best score - within) <= 1 - confidence, on every data set.
        For one winner this is the exact worst case, rounded up; for more it is a closed bound.
        The budget is ``epsilon``, or ``rho``; or the ``scale`` of the noise is known.
        ``mechanism`` is the noise: None for the one that ``select`` and ``top_k`` take for this budget,
        "exponential", "gumbel" (the exponential mechanism of the literature), "laplace" (where one person
        moves all scores together by a bounded amount); or "lecture" for the classical bound
        ln(n / (1 - confidence)) * scale of Smith's lecture, which holds for the first two.
        With ``people``, a public upper bound on their number, pricing is sharper: the figure holds for data
        sets of no more people, and does not grow with the length of the price list. So it is for several
        quantiles at once: ``within`` then bounds all of them, in ranks.
        Instead of a problem with a budget, a mechanism of the lower API may be given: the figure is for its
        scale. For clipped scores of all integers, ``best`` is a public number that the best has at least.

    >>> from dpselect import absolute_distance, atom_domain, make_geometric
    >>> print(accuracy(make_geometric(atom_domain(int), absolute_distance(), 2)))
    within 9 of the best score, with probability 0.99 or more (discrete Laplace noise)
    """
    if isinstance(problem, Measurement):
        must_be_all_that_is_said(epsilon, rho, scale, mechanism, people, None if k == 1 else k)
        return accuracy_of_mechanism(problem, _doubt(confidence), best)
    if best is not None:
        raise InvalidParameter("best is for make_exponential_mechanism_on_integers. Leave it out.")
    if getattr(problem, "at", ()):
        must_be_several_quantiles(problem, k, mechanism)
        spread = scale_of_quantiles(problem, neighbours, epsilon, rho, scale)
        return accuracy_of_quantiles(problem, spread, _doubt(confidence), people)
    plan = noise_plan(problem, k, neighbours, mechanism, concentrated=rho is not None)
    doubt, spread = _doubt(confidence), plan.scale(epsilon, rho, scale)
    far, most = spread * distance(plan.mechanism, plan.n, plan.k, doubt), None
    if people is not None:
        most = whole(people, "people", least=0)
        far = min(
            far,
            within_of_people(
                problem, mechanism=plan.mechanism, scale=spread, k=plan.k, doubt=doubt, people=most
            ),
        )
    target, word = getattr(problem, "target", None), getattr(problem, "measured_in", "score")
    return Accuracy(far, 1 - doubt, plan.mechanism, plan.unit, plan.k, plan.n, target, word, people=most)


def within_of_people(  # noqa: PLR0913 - the question, and for how many people
    problem: PlannableProblem, *, mechanism: Mechanism, scale: Fraction, k: int, doubt: Fraction, people: int
) -> Fraction:
    """Bound how far below the best the one price drawn is, on data sets of no more people."""
    prices = _prices(problem, mechanism, k)
    return revenue_within(prices, people, scale, doubt) if scale else Fraction(0)


def _prices(problem: PlannableProblem, mechanism: Mechanism, k: int) -> PriceList:
    """Give the prices to which a bound on people matters; refuse one where it would say nothing."""
    scoring = getattr(problem, "scoring", None)
    if not isinstance(scoring, Revenue) or k > 1 or mechanism not in ("exponential", "gumbel"):
        raise InvalidParameter(
            "people is for one winner of pricing(...), and for several quantiles at once. Leave it out: the "
            "figure holds for any number of people."
        )
    return price_list(scoring.prices)


def must_be_all_that_is_said(*others: object) -> None:
    """Refuse what a mechanism has already: its scale, its noise, its number of winners."""
    if any(other is not None for other in others):
        raise InvalidParameter(
            "a mechanism has its scale, noise and k already: give nothing but it, confidence and best."
        )


def expected_error(  # noqa: PLR0913 - each is part of the question
    problem: PlannableProblem | Measurement,
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    scale: Number | None = None,
    neighbours: Neighbours = "add_remove",
    mechanism: Mechanism | None = None,
    best: Number | None = None,
) -> Fraction:
    """Bound how far a single winner's score lies below the best on average.

    Postcondition
        E[best score - winner's score] is at most this, on every data set; for exponential and Gumbel noise it
        is the exact worst case, rounded up. A mechanism may be given as in ``accuracy``.
    """
    if isinstance(problem, Measurement):
        must_be_all_that_is_said(epsilon, rho, scale, mechanism)
        return mean_of_mechanism(problem, best)
    if best is not None:
        raise InvalidParameter("best is for make_exponential_mechanism_on_integers. Leave it out.")
    plan = noise_plan(problem, 1, neighbours, mechanism, concentrated=rho is not None)
    return plan.scale(epsilon, rho, scale) * mean_distance(plan.mechanism, plan.n)


def epsilon_for(  # noqa: PLR0913 - each is part of the question
    problem: PlannableProblem,
    *,
    within: Number,
    k: int = 1,
    confidence: Number = "0.99",
    neighbours: Neighbours = "add_remove",
    mechanism: Mechanism | None = None,
    people: int | None = None,
) -> Fraction:
    """Give the smallest epsilon, rounded up, whose accuracy is ``within``.

    Postcondition
        ``accuracy(problem, epsilon=result, ...).within <= within``. Zero where even a blind draw is as good.
        With ``people``, and for several quantiles, it is at most a part in 2**24 above the smallest, and at
        least 2**-64 if it is not zero.

    >>> from dpselect import quantiles
    >>> quartiles = quantiles(value="salary", at=["1/4", "1/2", "3/4"], between=(0, 500_000), step=500)
    >>> round(float(epsilon_for(quartiles, within=50, people=10_000)), 3)
    1.283
    """
    wanted = positive(within, "within")
    several = getattr(problem, "at", ())
    if people is None and not several:
        plan = noise_plan(problem, k, neighbours, mechanism)
        return plan.cost * distance(plan.mechanism, plan.n, plan.k, _doubt(confidence)) / wanted

    def found(**budget: Fraction) -> Fraction:
        return accuracy(
            problem,
            k=k,
            confidence=confidence,
            neighbours=neighbours,
            mechanism=mechanism,
            people=people,
            **budget,
        ).within

    if several:
        must_be_within_reach(wanted, found(scale=Fraction(0)), people)
        if wanted >= found(scale=Fraction(2**64)):
            return Fraction(0)
    return least_epsilon(lambda epsilon: found(epsilon=epsilon) <= wanted)


def must_be_within_reach(wanted: Fraction, least: Fraction, people: int | None) -> None:
    """Refuse what no budget buys for several quantiles: ranks are shares of the people at a number."""
    if not wanted > least and least:
        way_out = "" if people is not None else " Give people=, a public upper bound on their number."
        raise InvalidParameter.must_be(
            "within", f"more than {least} people", got=wanted, way_out=f"Without noise it is that.{way_out}"
        )


def least_epsilon(enough: Callable[[Fraction], bool]) -> Fraction:
    """Find the least epsilon that is enough, to a part in 2**SCALE_BITS: one that was asked and is enough.

    Precondition
        what is enough stays enough with a larger epsilon, and some epsilon is    claimed by the caller
    """
    most = Fraction(1)
    while not enough(most):
        most *= 2
    least = most / 2
    while enough(least):
        if least <= LEAST_SEARCHED:
            return least
        most, least = least, least / 2
    return bisect(enough, fails=least, holds=most, bits=SCALE_BITS).holds


def lead_needed(  # noqa: PLR0913 - each is part of the question
    problem: PlannableProblem,
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    scale: Number | None = None,
    k: int = 1,
    confidence: Number = "0.99",
    neighbours: Neighbours = "add_remove",
    mechanism: Mechanism | None = None,
    people: int | None = None,
) -> Fraction:
    """Say how far the k best must lead the rest, so that they are the winners.

    Postcondition
        If the k-th best score exceeds the next one by this much, the winners are the k best with
        probability ``confidence`` or more. It is a multiple of the problem's unit. ``people`` is as for
        ``accuracy``.
    """
    must_have_scores(problem)
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
    plan = noise_plan(problem, k, neighbours, found.mechanism)
    most = whole(people, "people", least=0)
    prices, spread = _prices(problem, plan.mechanism, plan.k), plan.scale(epsilon, rho, scale)
    return min(lead, revenue_lead(prices, most, spread, 1 - found.confidence, found.unit)) if spread else lead
