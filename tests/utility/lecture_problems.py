"""The lecture's two problems."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import dpselect
from dpselect.privacy.neighbours import Neighbours
from dpselect.problems.problem import Problem


@dataclass(frozen=True)
class StandIn:
    """What a selection problem tells about itself, without being one of ours."""

    outputs: tuple[object, ...]
    unit: Fraction
    add_remove: Fraction
    change_one: Fraction

    def d_range(self, neighbours: Neighbours) -> Fraction:
        return self.add_remove if neighbours == "add_remove" else self.change_one


def approval_voting(n: int) -> Problem:
    """Give n names, one vote per person and name."""
    return dpselect.approval_voting(candidate="name", candidates=[f"name {i}" for i in range(n)])


def pricing() -> Problem:
    """Give the prices $0.01 to $1.99; the score is a price times people."""
    return dpselect.pricing(value="wtp", prices=[Fraction(cents, 100) for cents in range(1, 200)])
