"""``bench`` compares selections with scores.max()."""

from __future__ import annotations

import pytest

from dpselect.cli.commands import bench
from tests.cli.commands import Call


def test_a_small_benchmark_compares_with_max(call: Call) -> None:
    rows = call("bench --largest 1000 --json").json["seconds"]
    assert [row["n"] for row in rows] == [10, 1000]
    assert all(row[name] > 0 for row in rows for name in ("max", "exponential", "gumbel"))
    assert "scores.max()" in call("bench --built-in --largest 10").out


def test_in_a_checkout_the_benchmarks_are_run(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    monkeypatch.setattr(bench, "_run_the_checkout", lambda _, options: asked.append(options))
    assert call("bench --largest 1000").code == 0
    assert call("bench --full").code == 0
    assert asked == [["--quick", "--largest", "1000"], []]
