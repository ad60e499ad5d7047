"""The domain of groups: one input of the same kind for each of several public groups."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dpselect.errors import InvalidParameter, OutsideDomain
from dpselect.exact.numbers import whole
from dpselect.privacy.domains import VectorDomain
from dpselect.privacy.runs_domain import RunsDomain
from dpselect.silence import takes_data

NOT_THAT_MANY = "there must be one input for each group, in the order of the groups."


@dataclass(frozen=True)
class GroupsDomain:
    """Inputs of ``one`` domain, one for each of ``size`` groups, in their order."""

    one: VectorDomain | RunsDomain
    size: int

    @takes_data
    def check(self, inputs: object) -> None:
        """Refuse what is outside the domain."""
        number = 0
        for each in inputs if isinstance(inputs, Iterable) else ():
            number += 1
            self.one.check(each)
        if number != self.size:
            raise OutsideDomain(NOT_THAT_MANY)


def groups_domain(one: VectorDomain | RunsDomain, size: int) -> GroupsDomain:
    """Give the domain of one input for each of ``size`` groups.

    >>> from dpselect.privacy import atom_domain, vector_domain
    >>> groups_domain(vector_domain(atom_domain(int), 2), 3).check([[1, 2], [3, 4], [5, 6]])
    """
    if not isinstance(one, VectorDomain | RunsDomain):
        raise InvalidParameter.must_be("one", "a domain of scores or of runs", got=one)
    return GroupsDomain(one, whole(size, "size", least=1))
