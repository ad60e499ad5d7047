"""The documents that people rely on keep their form."""

import re
from pathlib import Path

import run

CHECKOUT = Path(__file__).parents[2]


def test_a_release_that_adds_something_first_says_what_changed_for_privacy() -> None:
    changelog = (CHECKOUT / "CHANGELOG.md").read_text(encoding="utf-8")
    _, *releases = re.split(r"^## ", changelog, flags=re.MULTILINE)
    assert releases
    for release in releases:
        headings = re.findall(r"^### (.+)$", release, flags=re.MULTILINE)
        assert headings[0] == "Privacy", release.splitlines()[0]


def test_decisions_are_numbered_without_gaps() -> None:
    names = sorted(path.name for path in (CHECKOUT / "docs/decisions").glob("*.md"))
    assert names
    assert [name[:5] for name in names] == [f"{number:04}-" for number in range(1, len(names) + 1)]


def test_each_decision_has_its_number_a_context_and_a_price() -> None:
    for path in sorted((CHECKOUT / "docs/decisions").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        assert text.startswith(f"# {int(path.name[:4])}. "), path.name
        assert "**Context." in text, path.name
        assert "price.**" in text.lower(), path.name


def test_every_verb_of_run_py_is_explained_to_contributors() -> None:
    guide = (CHECKOUT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert [verb for verb in run.VERBS if f"run.py {verb}" not in guide] == []
