"""Runs say what their points are, exactly, and show nothing of them.

What is under test: dpselect.selection.runs.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpselect.errors import InvalidParameter
from dpselect.selection.runs import Runs, best_score

KINDS = [np.int64, np.uint64, object]


def whole(values: list[int], kind: Any = np.int64) -> Any:
    return np.array(values, dtype=kind)


@pytest.mark.parametrize("kind", KINDS)
def test_the_points_of_a_run_are_computed_in_pythons_integers(kind: Any) -> None:
    largest = 2**63 - 1
    runs = Runs(
        starts=whole([largest], kind),
        counts=whole([largest], kind),
        scores=whole([largest], kind),
        unit=Fraction(3),
        offset=Fraction(1, 7),
        falls=whole([largest], kind),
        fall=Fraction(1, 2),
    )
    assert runs.output(0, 5) == largest + 5
    assert runs.count(0) == largest
    assert runs.score(0) == 3 * largest + Fraction(1, 7)
    assert runs.drop(0) == Fraction(largest, 2)
    assert all(type(found) is int for found in (runs.output(0, 5), runs.count(0)))


def test_a_run_may_go_down_from_its_best_point() -> None:
    runs = Runs(starts=whole([10]), counts=4, scores=whole([0]), falls=whole([1]), step=-1)
    assert [runs.output(0, k) for k in range(4)] == [10, 9, 8, 7]


def test_runs_of_one_count_or_of_none_have_points() -> None:
    some = {"starts": whole([0, 5]), "scores": whole([1, 2])}
    assert Runs(**some, counts=3).has_points().all()
    assert not Runs(**some, counts=0).has_points().any()
    assert Runs(**some, counts=None, falls=whole([1, 1])).count(1) is None
    assert Runs(**some, counts=whole([0, 1])).has_points().tolist() == [False, True]


def test_a_run_without_points_is_never_the_best() -> None:
    first = Runs(starts=whole([0, 0]), counts=whole([0, 2]), scores=whole([99, 1]))
    second = Runs(starts=whole([2]), counts=whole([0]), scores=whole([77]))
    third = Runs(starts=whole([2]), counts=whole([1]), scores=whole([3]), unit=Fraction(1, 2))
    groups = [first, second, third]
    tops = [runs.top(runs.has_points()) for runs in groups]
    assert tops == [1, None, 3]
    assert best_score(groups, tops) == Fraction(3, 2)


def test_runs_show_only_how_many_they_are() -> None:
    assert repr(Runs(starts=whole([731]), counts=whole([733]), scores=whole([739]))) == (
        "<1 runs of private scores>"
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"scores": np.array([1.5])},
        {"scores": np.array([1], dtype=np.int32)},
        {"counts": np.array([True])},
        {"starts": np.array(["0"])},
        {"falls": np.array([0.5])},
        {"unit": Fraction(0)},
        {"fall": Fraction(-1)},
        {"weight": Fraction(0)},
        {"counts": None},
    ],
    ids=str,
)
def test_what_no_draw_could_read_is_refused_by_its_kind(wrong: dict[str, Any]) -> None:
    right: dict[str, Any] = {"starts": whole([7_123_457]), "counts": 1, "scores": whole([7_123_459])}
    with pytest.raises(InvalidParameter) as refused:
        Runs(**right | wrong)
    assert "7123" not in str(refused.value)
