"""Several quantiles of a table: dpselect.problems.quantiles."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dpselect
from dpselect import Release, Table
from dpselect.engines.protocol import Counts
from dpselect.errors import InvalidParameter

pytestmark = pytest.mark.filterwarnings("ignore::dpselect.UnmeteredRelease")
QUARTILES = ["1/4", "1/2", "3/4"]
AGES = dpselect.quantiles(value="x", at=QUARTILES, between=(0, 4), step=1)


def places(values: list[Any]) -> tuple[dict[int, int], int, int]:
    """Give the people at each point, before the grid and behind it."""
    distinct, sizes = np.unique(np.array(values, dtype=float), return_counts=True)
    cells = AGES.cells(Counts((distinct,), sizes.astype(np.int64)))
    inside = dict(zip(np.asarray(cells.places).tolist(), np.diff(cells.up_to).tolist(), strict=True))
    before = int(cells.up_to[0])
    return inside, before, cells.people - before - sum(inside.values())


def test_people_are_at_the_first_point_not_below_them() -> None:
    assert places([-1, -0.5, 0, 0.5, 1, 1, 3.2, 4, 4.5, 9]) == ({0: 1, 1: 3, 4: 2}, 2, 2)
    assert places([]) == ({}, 0, 0)
    assert places([9, 10]) == ({}, 0, 2)


def test_one_person_more_moves_one_place_by_one_and_another_value_two() -> None:
    """All tables of up to three people with values in, between and outside the points."""
    kinds = [-1.0, 0.0, 0.5, 2.0, 4.0, 7.0]

    def all_places(values: Any) -> Counter[Any]:
        inside, before, behind = places(list(values))
        found: dict[Any, int] = {**inside, "before": before, "behind": behind}
        return Counter(found)

    def moved(one: Counter[Any], other: Counter[Any]) -> int:
        return sum(abs(one[each] - other[each]) for each in one | other)

    for size in range(3):
        for people in combinations_with_replacement(kinds, size):
            alone = all_places(people)
            joined = [all_places([*people, person]) for person in kinds]
            assert {moved(alone, each) for each in joined} == {1}
            assert max(moved(one, other) for one in joined for other in joined) == 2
    assert (AGES.d_range("add_remove"), AGES.d_range("change_one")) == (Fraction(1), Fraction(2))


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.decimal128(21, 2)], ids=str)
@pytest.mark.parametrize("budget", [{"epsilon": 20}, {"rho": 20}], ids=str)
def test_quartiles_of_a_table_are_released_with_one_charge(
    kind: pa.DataType, budget: Any, tmp_path: Any
) -> None:
    table = Table(pa.table({"who": range(1000), "x": pa.array(range(1000)).cast(kind)}), unit="who")
    problem = dpselect.quantiles(value="x", at=QUARTILES, between=(0, 2000))
    paid = dpselect.PureDP(50) if "epsilon" in budget else dpselect.ZCDP(50)
    with dpselect.Ledger.create(tmp_path / "a.ledger", budget=paid) as ledger:
        release = dpselect.select(problem, table, ledger=ledger, request_id="q", **budget)
        assert len(list(ledger.entries())) == 1
        assert dpselect.select(problem, table, ledger=ledger, request_id="q", **budget) == release
    assert len(release.labels) == 3
    for label, wanted in zip(release.labels, (250, 500, 750), strict=True):
        assert abs(int(label) - wanted) < 30  # type: ignore[arg-type]
    assert Release.from_json(release.to_json()) == release
    assert "0.25: " in repr(release)
    assert "0.25" in release._repr_html_()
    assert (release.mechanism, release.k, release.step) == ("gumbel", 3, Fraction(1))


def test_what_is_for_one_winner_is_refused() -> None:
    table = Table(pa.table({"who": range(9), "x": range(9)}), unit="who")
    release = dpselect.select(AGES, table, epsilon=1)
    for act in (
        lambda: release.label,
        lambda: dpselect.top_k(AGES, table, k=1, epsilon=1),
        lambda: dpselect.prepare(AGES, table, k=3, epsilon=1),
        lambda: dpselect.prepare(AGES, table, epsilon=1, noise="exponential"),
        lambda: dpselect.prepare(AGES, table, epsilon=1, gap=True),
        lambda: AGES.scores(Counts((np.array([1]),), np.array([1]))),
        lambda: dpselect.quantile(value="x", at="1/2", candidates=[1]).cells(Counts((), np.array([]))),
        lambda: dpselect.quantiles(value="x", at=["1/2", "1/4"], between=(0, 1)),
        lambda: dpselect.quantiles(value="x", at="1/2", between=(0, 1)),
    ):
        with pytest.raises(InvalidParameter):
            act()


def test_digests_tell_questions_apart() -> None:
    others = [
        dpselect.quantiles(value="x", at=["1/4", "1/2"], between=(0, 4), step=1),
        dpselect.quantiles(value="y", at=QUARTILES, between=(0, 4), step=1),
        dpselect.quantiles(value="x", at=QUARTILES, between=(0, 4), step=2),
    ]
    assert len({AGES.digest, *(each.digest for each in others)}) == 4
    assert dpselect.quantiles(value="x", at=[0.25, 0.5, 0.75], between=(0, 4)).digest == AGES.digest
