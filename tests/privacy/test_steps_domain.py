"""Steps as a caller writes them: dpselect.privacy.steps_domain."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from dpselect import atom_domain, steps_domain
from dpselect.errors import InvalidParameter, OutsideDomain

WHOLE, REAL = steps_domain(atom_domain(int)), steps_domain(atom_domain(float))


def test_pairs_are_read_as_steps_that_follow_each_other() -> None:
    assert REAL.read([(None, 0.5), [3, 7], (3, 1), (5, Fraction(1, 3))]) == [
        (None, 2, Fraction(1, 2)),
        (3, 2, Fraction(7)),
        (3, 4, Fraction(1)),
        (5, None, Fraction(1, 3)),
    ]
    assert WHOLE.read(((None, 4),)) == [(None, None, Fraction(4))]
    WHOLE.check([(None, 4), (-5, 4)])


@pytest.mark.parametrize(
    "steps",
    [
        "all",
        7,
        [],
        [(None,)],
        [(None, 4), 5],
        [(3, 4)],
        [(None, 4), (None, 4)],
        [(None, 4), (3.5, 4)],
        [(None, 4), (6, 4), (5, 4)],
        [(None, None)],
        [(None, float("nan"))],
        [(None, float("inf"))],
        [(None, float("-inf"))],
        [(None, "a")],
        [(None, 4), (2**200 + 1, 4)],
        [(None, -(2**200) - 1)],
    ],
)
def test_what_is_no_step_is_refused_by_a_sentence_without_data(steps: Any) -> None:
    for act in (WHOLE.check, WHOLE.read, REAL.check):
        with pytest.raises(OutsideDomain) as refused:
            act(steps)
        assert not set(str(refused.value)) & set("34567")


def test_whole_scores_are_asked_of_a_domain_of_whole_numbers() -> None:
    with pytest.raises(OutsideDomain):
        WHOLE.check([(None, 0.5)])
    REAL.check([(None, 0.5)])


def test_a_domain_of_steps_has_numbers() -> None:
    assert steps_domain(atom_domain(int)) == WHOLE
    for kind in (int, atom_domain(int, nullable=True)):
        with pytest.raises(InvalidParameter):
            steps_domain(kind)  # type: ignore[arg-type]
