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
from dpselect.utility.accuracy import PlannableProblem, noise_scale
from dpselect.utility.worst_case import Noise, failure


def chance_of_best(  # noqa: PLR0913 - each is part of the question
    problem: PlannableProblem,
    *,
    lead: Number,
    epsilon: Number | None = None,
    rho: Number | None = None,
    scale: Number | None = None,
    k: int = 1,
    neighbours: Neighbours = "add_remove",
    mechanism: Noise = "exponential",
) -> Fraction:
    """Bound from below the probability that the k best win, if they lead all others by ``lead``.

    Postcondition
        If the k-th best score exceeds the next one by ``lead`` or more, the winners are the k best with
        this probability or more. It is the exact worst case, rounded down.
        Budget, ``k``, ``neighbours`` and ``mechanism`` are those of ``accuracy``.
    """
    ahead = not_negative(lead, "lead")
    if mechanism not in ("exponential", "gumbel"):
        raise InvalidParameter.must_be("mechanism", '"exponential" or "gumbel"', got=mechanism)
    spread = noise_scale(problem, k, neighbours, mechanism, epsilon=epsilon, rho=rho, scale=scale)
    if not spread:
        return Fraction(1 if ahead or k == len(problem.outputs) else 0)
    return 1 - failure(mechanism, ahead / spread, len(problem.outputs), k).high
