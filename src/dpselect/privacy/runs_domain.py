"""The domain of runs: outputs 0, 1, 2, ... of which stretches have one score each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

from dpselect.errors import InvalidParameter, OutsideDomain, shown
from dpselect.exact.numbers import is_whole, whole
from dpselect.privacy.domains import NOT_A_SCORE, AtomDomain
from dpselect.selection.runs import MOST_POINTS, Runs, python_integers
from dpselect.silence import takes_data

NOT_RUNS = "runs must be pairs (how many outputs, their score), in the order of the outputs."


@dataclass(frozen=True)
class RunsDomain:
    """Runs of ``size`` public outputs: pairs of a number of outputs and the score that they have in common.

    Where runs end is private, as scores are. A run may be empty.
    """

    element_domain: AtomDomain
    size: int

    @takes_data
    def check(self, runs: object) -> None:
        """Refuse what is outside the domain."""
        if refusal := self._refusal(runs):
            raise OutsideDomain(refusal)

    def read(self, runs: object) -> Sequence[Runs]:
        """Read pairs as runs; runs that a problem has made are taken as they are."""
        if isinstance(runs, tuple) and runs and all(isinstance(each, Runs) for each in runs):
            return runs
        if refusal := self._refusal(runs):
            del runs
            raise OutsideDomain(refusal)
        counts, scores, bottom = self._numbers(runs)
        return [
            Runs(
                starts=python_integers(list(accumulate(counts, initial=0))[:-1]),
                counts=python_integers(counts),
                scores=python_integers(scores),
                unit=Fraction(1, bottom),
            )
        ]

    def _numbers(self, pairs: Any) -> tuple[list[int], list[int], int]:
        """Give the numbers of outputs, the scores over one denominator, and that."""
        counts = [int(count) for count, _ in pairs]
        if self.element_domain.kind is int:
            return counts, [int(score) for _, score in pairs], 1
        exact = [Fraction(score) for _, score in pairs]
        bottom = math.lcm(*(score.denominator for score in exact))
        return counts, [score.numerator * (bottom // score.denominator) for score in exact], bottom

    @property
    def wanted_size(self) -> str:
        """How many outputs there must be, as a sentence."""
        return f"runs must have {shown(self.size)} outputs together, as the domain says."

    def _refusal(self, runs: object) -> str | None:
        """Say what is wrong, in a sentence made of the domain alone."""
        if not isinstance(runs, list | tuple):
            return NOT_RUNS
        if not all(isinstance(run, list | tuple) and len(run) == 2 for run in runs):
            return NOT_RUNS
        counts, scores = [run[0] for run in runs], [run[1] for run in runs]
        if not all(is_whole(count) and int(count) >= 0 for count in counts):
            return NOT_RUNS
        if refusal := self.element_domain.refusal(scores):
            return refusal
        if any(score in (None, -math.inf) for score in scores):
            return NOT_A_SCORE
        return None if sum(map(int, counts)) == self.size else self.wanted_size


def runs_domain(atom_domain: AtomDomain, size: int) -> RunsDomain:
    """Give the domain of runs whose scores are of an atom domain, over 0, 1, ..., size - 1.

    >>> runs_domain(AtomDomain(int), 2**64).size == 2**64
    True
    """
    if not isinstance(atom_domain, AtomDomain) or atom_domain.nullable:
        raise InvalidParameter.must_be(
            "atom_domain",
            "a domain of numbers without nulls",
            got=atom_domain,
            way_out="Write atom_domain(int).",
        )
    return RunsDomain(atom_domain, whole(size, "size", least=1, most=MOST_POINTS))
