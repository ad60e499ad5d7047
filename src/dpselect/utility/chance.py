"""The chance that the best one wins, given its lead: before anything is paid, without data.

>>> from dpselect import counting
>>> from dpselect.exact.rounding import rounded_down
>>> [rounded_down(chance_of_best(counting(100), lead=lead, epsilon=1), 3) for lead in (1, 5, 9)]
['0.027', '0.729', '0.993']

Proof: chance.proof.md
"""

from __future__ import annotations

from fractions import Fraction

from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import Number, not_negative
from dpselect.privacy.neighbours import Neighbours
from dpselect.utility.noise_plan import PlannableProblem, noise_plan
from dpselect.utility.worst_case import Mechanism, failure, laplace_failure


def chance_of_best(  # noqa: PLR0913 - each is part of the question
    problem: PlannableProblem,
    *,
    lead: Number,
    epsilon: Number | None = None,
    rho: Number | None = None,
    scale: Number | None = None,
    k: int = 1,
    neighbours: Neighbours = "add_remove",
    mechanism: Mechanism | None = None,
) -> Fraction:
    """Bound from below the probability that the k best win, if they lead all others by ``lead``.

    Postcondition
        If the k-th best score exceeds the next one by ``lead`` or more, the winners are the k best with
        this probability or more. It is the exact worst case, rounded down; of several winners with Laplace
        noise, a bound.
        Budget, ``k``, ``neighbours`` and ``mechanism`` are those of ``accuracy``, but for "lecture".
    """
    ahead = not_negative(lead, "lead")
    plan = noise_plan(problem, k, neighbours, mechanism, concentrated=rho is not None)
    if plan.mechanism == "lecture":
        raise InvalidParameter.must_be("mechanism", '"exponential", "gumbel" or "laplace"', got=mechanism)
    spread = plan.scale(epsilon, rho, scale)
    if not spread:
        return Fraction(1 if ahead or plan.k == plan.n else 0)
    if plan.mechanism == "laplace":
        return 1 - laplace_failure(ahead / spread, plan.n, plan.k)
    return 1 - failure(plan.mechanism, ahead / spread, plan.n, plan.k).high
