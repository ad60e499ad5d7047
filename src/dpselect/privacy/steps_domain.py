"""The domain of steps: scores of all integers, of which there are finitely many different ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from dpselect.errors import InvalidParameter, OutsideDomain
from dpselect.exact.numbers import is_whole
from dpselect.privacy.domains import NOT_A_SCORE, AtomDomain
from dpselect.silence import takes_data

NOT_STEPS = (
    "steps must be pairs (from which integer on, the score there), in the order of the integers; the first "
    "begins at None."
)
TOO_FAR = "steps must have integers and scores of at most 2**200, above zero or below."

LARGEST_NUMBER = 2**200
"""Integers where steps begin, and scores, are at most this, above zero or below."""


class ScoreStep(NamedTuple):
    """The integers with one score: from the first to the last, None where they go on for ever."""

    first: int | None
    last: int | None
    score: Fraction


@dataclass(frozen=True)
class StepsDomain:
    """A score for every integer, as steps: pairs of the integer from which on it holds, and the score.

    Where steps begin is private, as scores are. A step that begins where the next one does is empty.
    """

    element_domain: AtomDomain

    @takes_data
    def check(self, steps: object) -> None:
        """Refuse what is outside the domain."""
        if refusal := self._refusal(steps):
            raise OutsideDomain(refusal)

    def read(self, steps: object) -> list[ScoreStep]:
        """Read pairs as steps that follow each other."""
        if refusal := self._refusal(steps):
            del steps
            raise OutsideDomain(refusal)
        pairs: Any = steps
        begins = [None, *(int(begin) for begin, _ in pairs[1:])]
        ends = [*(begin - 1 for begin in begins[1:] if begin is not None), None]
        return [ScoreStep(*each) for each in zip(begins, ends, (Fraction(s) for _, s in pairs), strict=True)]

    def _refusal(self, steps: object) -> str | None:
        """Say what is wrong, in a sentence made of the domain alone."""
        if not isinstance(steps, list | tuple) or not steps or not all(map(_is_pair, steps)):
            return NOT_STEPS
        begins, scores = [step[0] for step in steps[1:]], [step[1] for step in steps]
        if steps[0][0] is not None or not all(map(is_whole, begins)):
            return NOT_STEPS
        if any(begin > end for begin, end in pairwise(map(int, begins))):
            return NOT_STEPS
        if refusal := self.element_domain.refusal(scores):
            return refusal
        if any(score in (None, -math.inf) for score in scores):
            return NOT_A_SCORE
        return None if all(abs(number) <= LARGEST_NUMBER for number in (*begins, *scores)) else TOO_FAR


def _is_pair(step: object) -> bool:
    return isinstance(step, list | tuple) and len(step) == 2


def steps_domain(atom_domain: AtomDomain) -> StepsDomain:
    """Give the domain of steps whose scores are of an atom domain, over all integers.

    >>> steps_domain(AtomDomain(int)).read([(None, 0), (10, 3)])[0]
    ScoreStep(first=None, last=9, score=Fraction(0, 1))
    """
    if not isinstance(atom_domain, AtomDomain) or atom_domain.nullable:
        raise InvalidParameter.must_be(
            "atom_domain",
            "a domain of numbers without nulls",
            got=atom_domain,
            way_out="Write atom_domain(int).",
        )
    return StepsDomain(atom_domain)
