"""Candidates whose scores would not fit in memory: they stream, in the memory of one chunk."""

import math
import tracemalloc
import warnings
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dpselect
from dpselect import Table
from dpselect.engines.protocol import Counts
from dpselect.errors import InvalidParameter
from dpselect.release import Release
from dpselect.release.quoting import quoted
from tests.release.elections import Watched
from tests.statistics import g_statistic, threshold

ENOUGH = 200_000_000
"""Bytes: a few chunks of 2^20 scores, and what one draw from them holds; 1e8 scores are 800 MB."""


@pytest.mark.parametrize("candidates", [3 * 10**6, pytest.param(10**8, marks=pytest.mark.slow)])
def test_two_medians_among_millions_stream_in_constant_memory(
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
    release = dpselect.top_k(problem, table, k=2, epsilon=1, ledger=ledger)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < ENOUGH
    for label in release.labels:
        assert isinstance(label, int | Decimal)
        # One person is one step, so ranks are distances: ten times the accuracy is missed by no accident.
        assert abs(Decimal(label) - middle) <= step * 10 * int(release.accuracy.within)


@pytest.mark.parametrize(
    "currency", [{"epsilon": 1}, {"rho": "1/8"}, {"budget": dpselect.ApproxDP(1, "1e-6")}]
)
def test_a_median_on_a_grid_with_more_points_than_len_can_say_is_released(currency: Any) -> None:
    people = pa.table({"who": range(2001), "x": [10**15 * i for i in range(2001)]})
    problem = dpselect.quantile(value="x", at="1/2", between=(0, 2**64), step=1)
    assert problem.count == 2**64 + 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = dpselect.select(problem, Table(people, unit="who"), **currency)
    assert (release.mechanism, release.accuracy.n, release.step) == ("gumbel", 2**64 + 1, Fraction(1))
    assert abs(int(release.label) - 10**18) < 10**15 * 5 * int(release.accuracy.within)  # type: ignore[arg-type]
    assert Release.from_json(release.to_json()) == release
    assert "step      1, from 0 on: about 2^64 candidates" in repr(release)
    with pytest.raises(InvalidParameter, match="k must be 1"):
        dpselect.prepare(problem, Table(people, unit="who"), k=2, **currency)


def test_a_median_between_bounds_follows_the_exponential_mechanism() -> None:
    """2,000 draws from eleven points, five people, against the closed law of the repaired score."""
    people = [2, 2, 3, 7, 9]
    table = Table(pa.table({"who": range(5), "x": people}), unit="who")
    problem = dpselect.quantile(value="x", at="1/2", between=(0, 10))
    _, draw = quoted(problem, table, 1, dpselect.PureDP(1))
    runs = problem.runs(Counts((np.array([2, 3, 7, 9]),), np.array([2, 1, 1, 1])))
    drawn = Counter(draw(runs) for _ in range(2000))
    ranks = [(sum(x < c for x in people), sum(x <= c for x in people)) for c in range(11)]
    weights = [math.exp(-max(0, low - 2.5, 2.5 - high)) for low, high in ranks]
    shares = [weight / sum(weights) for weight in weights]
    assert g_statistic([drawn[c] for c in range(11)], shares) < threshold(11)
    sharper = [weight**1.5 / sum(each**1.5 for each in weights) for weight in weights]
    assert g_statistic([drawn[c] for c in range(11)], sharper) > threshold(11)
