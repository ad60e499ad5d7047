"""Waivers of the linter are few, and each says why."""

import re
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
MOST = 150
WAIVER = re.compile(r"# noqa(?P<rules>: [A-Z]+[0-9]+(?:, [A-Z]+[0-9]+)*)?(?P<reason> - \S.*)?")


def waivers() -> dict[str, re.Match[str]]:
    """Find every waiver of src and tests, by file and line."""
    return {
        f"{path.relative_to(CHECKOUT).as_posix()}:{number}": found
        for part in ("src", "tests")
        for path in sorted((CHECKOUT / part).rglob("*.py"))
        if path != Path(__file__)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        for found in [WAIVER.search(line)]
        if found
    }


def test_waivers_are_few() -> None:
    assert len(waivers()) <= MOST


def test_every_waiver_names_its_rule_and_its_reason() -> None:
    assert [place for place, found in waivers().items() if not (found["rules"] and found["reason"])] == []
