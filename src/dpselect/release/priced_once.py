"""A question that is asked again is not priced again: what is public decides the price, and nothing else.

The price of a question follows from the problem, the budget, what else is asked for, and the public facts of
the table. The last quotes are kept by these alone, so that whether one is found tells nothing about rows.
A question of groups is priced anew: its list of groups may be long.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple
from weakref import ref

from dpselect.exact.numbers import Number
from dpselect.privacy import Measurement
from dpselect.privacy.losses import WritableLoss
from dpselect.privacy.neighbours import Neighbours
from dpselect.problems.groups import Groups
from dpselect.problems.problem import Problem
from dpselect.release.data import Data, PublicFacts, must_be_askable
from dpselect.release.drawing import Wishes
from dpselect.release.quorum import QuorumWish
from dpselect.release.quote import Quote
from dpselect.release.quoting import priced, the_budget
from dpselect.selection.noise import NoiseName

MOST_KEPT = 64
"""Quotes that are kept."""


class Asked(NamedTuple):
    """What a caller asks for, beside the problem and the data, as it was written."""

    k: int
    epsilon: Number | None
    rho: Number | None
    budget: WritableLoss | None
    neighbours: Neighbours
    noise: NoiseName | None
    gap: bool
    gap_grid: Number | None
    people: int | None
    counts: bool
    quorum: QuorumWish
    groups: Groups | None = None
    several: bool = False


def priced_once(problem: Problem, data: Data, asked: Asked) -> tuple[Quote, Measurement]:
    """Give the quote of a question, and what draws its winners; refuse what cannot be asked."""
    must_be_askable(problem, data)
    facts = PublicFacts.of(data)
    if asked.groups is not None:
        return _priced(problem, facts, asked)
    try:
        return _kept(_OneProblem(problem), facts, *asked)
    except TypeError:  # something has no hash, and is about to be refused by name
        return _priced(problem, facts, asked)


class _OneProblem:
    """A problem as a key: the very same one, which the key does not keep alive."""

    __slots__ = ("place", "problem")

    def __init__(self, problem: Problem) -> None:
        self.problem, self.place = ref(problem), id(problem)

    def __hash__(self) -> int:
        return self.place

    def __eq__(self, other: object) -> bool:
        problem = self.problem()
        return isinstance(other, _OneProblem) and problem is not None and problem is other.problem()


# Typed: True is no k, though it equals 1.
@lru_cache(maxsize=MOST_KEPT, typed=True)
def _kept(problem: _OneProblem, facts: PublicFacts, *asked: Any) -> tuple[Quote, Measurement]:
    found: Problem = problem.problem()  # type: ignore[assignment]  # the caller holds it
    return _priced(found, facts, Asked(*asked))


def _priced(problem: Problem, facts: PublicFacts, asked: Asked) -> tuple[Quote, Measurement]:
    budget = the_budget(asked.epsilon, asked.rho, asked.budget)
    wishes = Wishes(
        asked.noise,
        asked.gap,
        asked.gap_grid,
        asked.people,
        asked.counts,
        asked.quorum,
        asked.groups,
        asked.neighbours,
        asked.several,
    )
    return priced(problem, facts, asked.k, budget, wishes)
