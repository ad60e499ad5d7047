"""One input for each group: dpselect.privacy.groups_domain."""

from typing import Any

import pytest

from dpselect.errors import InvalidParameter, OutsideDomain
from dpselect.privacy.domains import atom_domain, vector_domain
from dpselect.privacy.groups_domain import groups_domain

PAIRS = vector_domain(atom_domain(int), 2)


@pytest.mark.parametrize("inputs", [[], [[1, 2]], [[1, 2]] * 3, 7, None])
def test_there_is_one_input_for_each_group(inputs: Any) -> None:
    with pytest.raises(OutsideDomain, match="one input for each group"):
        groups_domain(PAIRS, 2).check(inputs)


def test_every_input_lies_in_the_domain_of_one_group() -> None:
    domain = groups_domain(PAIRS, 2)
    domain.check([[1, 2], [3, 4]])
    with pytest.raises(OutsideDomain):
        domain.check([[1, 2], [3, 4, 5]])


@pytest.mark.parametrize(
    ("one", "size", "sentence"), [("scores", 2, "one must be"), (PAIRS, 0, "size must be")]
)
def test_groups_are_of_scores_or_runs_and_at_least_one(one: Any, size: int, sentence: str) -> None:
    with pytest.raises(InvalidParameter, match=sentence):
        groups_domain(one, size)
