"""One answer of some public options: dpselect.privacy.options_domain."""

from typing import Any

import pytest

from dpselect.errors import InvalidParameter, OutsideDomain
from dpselect.privacy.options_domain import options_domain


def test_an_answer_is_found_among_the_options_by_kind_and_value() -> None:
    domain = options_domain([0, False, "no", None])
    assert [domain.place(answer) for answer in (0, 0.0, False, "no", None)] == [0, 0, 1, 2, 3]
    domain.check("no")
    for answer in (True, "yes", 1):
        with pytest.raises(OutsideDomain, match="one of the options"):
            domain.check(answer)


@pytest.mark.parametrize("options", [[], "ab", {"a"}, ["a", "b", "a"], [1, 1.0]])
def test_options_are_a_list_with_each_once(options: Any) -> None:
    with pytest.raises(InvalidParameter, match="options must"):
        options_domain(options)


def test_options_without_a_hash_are_compared_with_all_before() -> None:
    assert options_domain([[1], "no", [2]]).place([2]) == 2
    for options in ([[1], "no", [1]], ["no", [1], [2], "no"]):
        with pytest.raises(InvalidParameter, match="must be different from each other"):
            options_domain(options)
