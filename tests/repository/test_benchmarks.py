"""``run.py bench``: every benchmark of the page is run, and each replaces its own section and no other."""

import sys
from pathlib import Path

import pytest

from benchmarks import __main__ as all_benchmarks
from benchmarks import neighbours_in_time, quantiles
from benchmarks.quantile_data import Error
from benchmarks.sections import replace_section

PAGE = "# Page\n\nAbove.\n\n## One\n\nold\n\n### Two\n\n## Two\n\n## One and a half\n"


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("## One", "# Page\n\nAbove.\n\n## One\n\nnew\n\n## Two\n\n## One and a half\n"),
        ("## Two", PAGE.replace("\n## Two", "\n## Two\n\nnew")),
        ("## One and a half", PAGE + "\nnew\n"),
        ("## Three", PAGE + "\n## Three\n\nnew\n"),
    ],
)
def test_a_benchmark_replaces_its_own_section(title: str, expected: str, tmp_path: Path) -> None:
    page = tmp_path / "PAGE.md"
    page.write_text(PAGE)
    for _ in range(2):
        replace_section(page, title, f"{title}\n\nnew\n")
        assert page.read_text() == expected


def test_the_benchmark_of_everything_runs_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    everything = ["ledger", "one_row", "releases", "quantiles", "groups", "studio"]
    monkeypatch.setattr(sys, "argv", ["benchmarks"])
    monkeypatch.setattr(all_benchmarks, "PINS", {})
    monkeypatch.setattr(all_benchmarks, "RESULTS", tmp_path / "RESULTS.md")
    for module in (all_benchmarks, neighbours_in_time):
        monkeypatch.setattr(module, "measured", lambda *_: [])
    monkeypatch.setattr(all_benchmarks, "page", lambda _: "# Benchmarks\n")
    for name in everything:
        monkeypatch.setattr(getattr(all_benchmarks, name), "main", lambda *_, name=name: asked.append(name))
    all_benchmarks.main()
    assert asked == everything


def test_quantiles_say_where_another_library_is_better() -> None:
    errors = [
        Error("dpselect", "tied", 1000, 19, 2.0, 100),
        Error("OpenDP tree", "tied", 1000, 19, 1.25, 90),
        Error("dpselect", "smooth", 10**6, 1, 1.0, 100),
        Error("diffprivlib", "smooth", 10**6, 1, 0.75, 2),
        Error("OpenDP tree", "smooth", 10**6, 1, float("inf"), 0),
    ]
    text = quantiles.written(errors)
    assert "| tied | 1000 | 19 | 2.00 (100) | - | **1.25** (90) | - | - |" in text
    assert "- tied, 1000 people, m = 19: OpenDP tree, 1.6 times." in text
    assert "| smooth | 1e6 | 1 | 1.00 (100) | - | fails | **0.75** (2) | - |" in text
    assert text.count("\n- ") == 1
    assert "ranks: nowhere." in quantiles.written(errors[2:])
