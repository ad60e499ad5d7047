"""More candidates than anybody would hold scores of: they stream, in the memory of one chunk."""

import tracemalloc
from decimal import Decimal
from pathlib import Path

import pytest

import dpselect
from dpselect import Table
from tests.release.elections import Watched

ENOUGH = 200_000_000
"""Bytes: a few chunks of 2^20 scores, and what one draw from them holds; 1e8 scores are 800 MB."""


@pytest.mark.parametrize("candidates", [3 * 10**6, pytest.param(10**8, marks=pytest.mark.slow)])
def test_a_median_among_millions_streams_in_constant_memory(
    candidates: int, tmp_path: Path, ledger: Watched
) -> None:
    step = Decimal("0.01")
    middle = candidates * step / 2
    rows = [f"{i},{middle + (i - 500) * step}" for i in range(1001)]
    (tmp_path / "salaries.csv").write_text("\n".join(["person,salary", *rows]) + "\n", encoding="utf-8")
    table = Table(tmp_path / "salaries.csv", unit="person")
    problem = dpselect.quantile(value="salary", at="1/2", between=(step, candidates * step), step=step)
    assert len(problem.outputs) == candidates
    tracemalloc.start()
    release = dpselect.select(problem, table, epsilon=1, ledger=ledger)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < ENOUGH
    assert isinstance(release.label, int | Decimal)
    # One person is one step, so ranks are distances: ten times the accuracy is missed by no accident.
    assert abs(Decimal(release.label) - middle) <= step * 10 * int(release.accuracy.within)
