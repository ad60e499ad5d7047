"""The same draw for each of several groups of people, at the price of the few that one person is in.

Noise:     that of the draw for one group; fresh and independent for each.
Proof:     each_group.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from dpselect.accounting.renyi_orders import RenyiProfile
from dpselect.errors import InvalidParameter, OutsideDomain
from dpselect.exact.numbers import Number, not_negative, whole
from dpselect.exact.randomness import Randomness
from dpselect.mechanisms.functions import CANNOT_DRAW, NoisyTopK, not_ours, refusal_of
from dpselect.mechanisms.privacy_maps import SelectionMap, no_bound
from dpselect.privacy.amounts import Amount, times
from dpselect.privacy.curves import RenyiCurve
from dpselect.privacy.domains import VectorDomain
from dpselect.privacy.groups_domain import NOT_THAT_MANY, GroupsDomain, groups_domain
from dpselect.privacy.losses import ApproxZCDP
from dpselect.privacy.measurement import Draw, Measurement
from dpselect.privacy.measures import (
    Approximate,
    ApproximateConcentrated,
    Distance,
    MaxDivergence,
    Measure,
    RangeDivergence,
    RenyiDivergence,
    ZeroConcentratedDivergence,
)
from dpselect.privacy.neighbours import Neighbours, metric_of
from dpselect.privacy.profiles import PrivacyProfile
from dpselect.privacy.runs_domain import RunsDomain
from dpselect.selection.draw import TopKDraw
from dpselect.selection.grouped_draw import GroupedDraw


@dataclass(frozen=True)
class DrawOfEachGroup:
    """What is drawn for each group, in the order of the groups."""

    one: Draw
    domain: GroupsDomain

    checks_domain: ClassVar = True

    def __call__(self, arg: Iterable[object], randomness: Randomness) -> list[tuple[int, ...]]:
        """Draw for all groups; of an iterator of inputs some are held at a time."""
        one, inputs = self.one, _counted(arg, self.domain.size)
        if isinstance(one, NoisyTopK) and isinstance(one.draw, TopKDraw):
            try:
                drawn = GroupedDraw(one.draw)(_read(inputs, one.domain), randomness)
            except CANNOT_DRAW as error:
                raise refusal_of(error) from None
        else:
            drawn = GroupedDraw(one)(inputs, randomness)
        return [tuple(found) if isinstance(found, list) else (found,) for found in drawn]


def _counted(inputs: Iterable[object], size: int) -> Iterator[object]:
    """Hand inputs on, unless they are more or fewer than there are groups."""
    number = 0
    for each in inputs:
        number += 1
        if number > size:
            break
        yield each
    if number != size:
        raise OutsideDomain(NOT_THAT_MANY)


def _read(inputs: Iterable[object], domain: VectorDomain) -> Iterator[Any]:
    """Read scores; arrays of whole numbers of 64 bits are what they would be read as."""
    for scores in not_ours(inputs):
        if isinstance(scores, np.ndarray) and scores.dtype == np.int64 and scores.shape == (domain.size,):
            yield scores
        else:
            yield domain.read(scores)


@dataclass(frozen=True)
class OneOrTwoDraws:
    """At each order the larger of one draw with other answers, and two with a person more or fewer."""

    changed: RenyiCurve
    added: RenyiCurve

    def __call__(self, alpha: Fraction) -> Amount:
        """Bound the divergence of one order."""
        return max(self.changed(alpha), times(2, self.added(alpha)))


@dataclass(frozen=True)
class EachGroupMap:
    """The map of all groups together, from that of one.

    ``added`` is how far the input of one group moves by a person more or fewer, ``changed`` by one with other
    answers.
    """

    one: SelectionMap
    neighbours: Neighbours
    added: Fraction
    changed: Fraction
    per_person: int

    def __call__(self, d_in: Fraction) -> Distance:
        """Bound the output distance of tables that differ in one person; nothing is claimed of more."""
        if d_in > 1:
            return self._infinite()
        added, changed = (self.one(distance * d_in) for distance in (self.added, self.changed))
        alone = self.neighbours == "add_remove"
        match self.one.measure, added, changed:
            case Approximate(), _, _:
                return self._profile(d_in)
            case RenyiDivergence(), RenyiCurve(), RenyiCurve():
                return (added if alone else RenyiCurve(OneOrTwoDraws(changed, added))) * self.per_person
            case ApproximateConcentrated(), ApproxZCDP(), ApproxZCDP():
                return ApproxZCDP(self._amount(added.rho, changed.rho), 0)
            case _:
                return self._amount(added, changed)

    def _amount(self, added: Any, changed: Any) -> Amount:
        one = added if self.neighbours == "add_remove" else max(changed, times(2, added))
        return times(self.per_person, one)

    def _profile(self, d_in: Fraction) -> PrivacyProfile:
        """Give the profile of the one draw that can differ, or that of the curve of several."""
        if self.neighbours == "add_remove" and self.per_person == 1:
            profile = self.one(self.added * d_in)
            return profile if isinstance(profile, PrivacyProfile) else PrivacyProfile(no_bound)
        curve = self._of(RenyiDivergence())(d_in)
        pure = self._of(MaxDivergence())(d_in)
        return PrivacyProfile(RenyiProfile(curve, 1, pure))  # type: ignore[arg-type]  # a curve and a number

    def _of(self, measure: Measure) -> EachGroupMap:
        return replace(self, one=replace(self.one, measure=measure))

    def _infinite(self) -> Distance:
        match self.one.measure:
            case RenyiDivergence():
                return RenyiCurve(no_bound)
            case Approximate():
                return PrivacyProfile(no_bound)
            case ApproximateConcentrated():
                return ApproxZCDP(math.inf, 0)
            case MaxDivergence() | ZeroConcentratedDivergence() | RangeDivergence():
                return math.inf


def make_draw_of_each_group(
    one: Measurement,
    groups: int,
    *,
    neighbours: Neighbours,
    moves: tuple[Number, Number],
    per_person: int = 1,
) -> Measurement:
    """Draw for each of several groups of people, independently.

    Precondition
        ``one`` selects from scores, and has a price                  checked here
        people count in at most ``per_person`` groups, which depend
        on nothing but their own answers and public randomness        claimed by the caller
        in a group a person more or fewer moves its input by at most
        the first of ``moves`` under the metric of ``one``, one with
        other answers by at most the second                           claimed by the caller

    Postcondition
        ``m(inputs)`` is what ``one`` draws from each input, given fair random bits, independently.
        ``m.map(1)`` bounds the divergence of the outputs on tables that differ in one person, as
        ``neighbours`` says: of one more or fewer, ``per_person`` draws at the first of the moves; of one with
        other answers ``per_person`` times the larger of a draw at the second and two at the first, because a
        person who changes groups leaves one and enters another. It is infinite for more people.

    Runtime
        That of ``one`` for each group.

    Utility
        That of ``one`` in each group; for all groups together its doubt is shared among them.

    >>> from dpselect.privacy import atom_domain, linf_distance, max_divergence, vector_domain
    >>> from dpselect.mechanisms import make_report_noisy_top_k
    >>> scores, votes = vector_domain(atom_domain(int), 3), linf_distance(monotonic=True)
    >>> one = make_report_noisy_top_k(scores, votes, max_divergence(), 1, "1/1000")
    >>> m = make_draw_of_each_group(one, 2, neighbours="change_one", moves=(1, 2))
    >>> m([[100, 300, 200], [300, 100, 200]]), m.map(1)
    ([(1,), (0,)], Fraction(2000, 1))
    """
    if not isinstance(one, Measurement) or not isinstance(one.privacy_map, SelectionMap):
        raise InvalidParameter.must_be("one", "a selection from scores", got=one)
    if isinstance(one.output_measure, RangeDivergence):
        raise InvalidParameter("groups have no price in range divergence, which does not add.")
    if not isinstance(one.input_domain, VectorDomain | RunsDomain):
        raise InvalidParameter.must_be("one", "a selection from scores", got=one)
    domain = groups_domain(one.input_domain, groups)
    added, changed = moves
    price = EachGroupMap(
        one.privacy_map,
        neighbours,
        not_negative(added, "added"),
        not_negative(changed, "changed"),
        whole(per_person, "per_person", least=1, most=domain.size),
    )
    draw = DrawOfEachGroup(one.function, domain)
    return Measurement(domain, metric_of(neighbours), one.output_measure, draw, price)
