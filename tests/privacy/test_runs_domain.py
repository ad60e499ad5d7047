"""Runs as a caller writes them: dpselect.privacy.runs_domain."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpselect import atom_domain, runs_domain
from dpselect.errors import InvalidParameter, OutsideDomain
from dpselect.selection.runs import Runs

WHOLE = runs_domain(atom_domain(int), 10)
REAL = runs_domain(atom_domain(float), 10)


def test_pairs_are_read_as_runs_that_follow_each_other() -> None:
    (runs,) = REAL.read([(3, 0.5), [0, 7], (7, Fraction(1, 3))])
    assert [runs.score(i) for i in range(3)] == [Fraction(1, 2), Fraction(7), Fraction(1, 3)]
    assert [(runs.output(i, 0), runs.count(i)) for i in range(3)] == [(0, 3), (3, 0), (3, 7)]
    (runs,) = WHOLE.read(((10, 4),))
    assert runs.score(0) == 4


def test_runs_of_a_problem_are_taken_as_they_are() -> None:
    made = (Runs(starts=np.array([0]), counts=10, scores=np.array([1])),)
    assert WHOLE.read(made) is made


@pytest.mark.parametrize(
    "runs",
    [
        "ten",
        7,
        [(10,)],
        [10, 4],
        [(3.5, 1), (6.5, 2)],
        [(-1, 1), (11, 2)],
        [(9, 1)],
        [],
        [(10, None)],
        [(10, float("nan"))],
        [(10, float("inf"))],
        [(10, float("-inf"))],
        [(10, "a")],
        [(10, 0.5)],
    ],
)
def test_what_is_no_run_is_refused_by_a_sentence_without_data(runs: Any) -> None:
    for act in (WHOLE.check, WHOLE.read):
        with pytest.raises(OutsideDomain) as refused:
            act(runs)
        assert not set(str(refused.value)) & set("3456789")
    if runs != [(10, 0.5)]:
        with pytest.raises(OutsideDomain):
            REAL.check(runs)


def test_a_domain_of_runs_has_numbers_and_a_size() -> None:
    WHOLE.check([(4, 1), (6, 2)])
    assert runs_domain(atom_domain(int), 2**64) == runs_domain(atom_domain(int), 2**64)
    for kind, size in [(int, 5), (atom_domain(int, nullable=True), 5), (atom_domain(int), 0)]:
        with pytest.raises(InvalidParameter):
            runs_domain(kind, size)  # type: ignore[arg-type]
