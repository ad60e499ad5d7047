"""docs/threats.md and the tests tell of the same threats."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "threats.md").read_text(encoding="utf-8")
ROWS = {
    cells[0]: cells
    for line in PAGE.splitlines()
    if re.match(r"\| [A-F]\d+ \|", line)
    for cells in [[cell.strip() for cell in line.strip("|").split("|")]]
}
LIMITS = (ROOT / "docs" / "known-limits.md").read_text(encoding="utf-8")


def ids_in_test_names() -> dict[str, set[str]]:
    """Give the threats that tests are named after, and the files of those tests."""
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for threat in re.findall(r"def test_([a-f]\d+)_", path.read_text(encoding="utf-8")):
            found.setdefault(threat.upper(), set()).add(path.relative_to(ROOT).as_posix())
    return found


NAMED = ids_in_test_names()


def ids_on_pages() -> set[str]:
    """Give the threats that known limits and proofs cite."""
    texts = [LIMITS, *(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.proof.md"))]
    cited = [re.findall(r"\((?:[Tt]hreats? )?((?:[A-F]\d+(?:, | and )?)+)\.?\)", text) for text in texts]
    return {threat for group in cited for part in group for threat in re.findall(r"[A-F]\d+", part)}


def test_every_threat_that_a_test_or_a_page_names_has_a_row() -> None:
    assert sorted((set(NAMED) | ids_on_pages()) - set(ROWS)) == []


@pytest.mark.parametrize("threat", ROWS)
def test_every_row_names_a_test_or_a_known_limit(threat: str) -> None:
    proofs = re.findall(r"tests/[\w/]+\.py", ROWS[threat][-1])
    assert all((ROOT / proof).is_file() for proof in proofs)
    if "known-limits.md" in ROWS[threat][-1]:
        assert re.search(rf"\b{threat}\b", LIMITS)
    else:
        assert proofs
    if threat in NAMED:
        assert NAMED[threat] & set(proofs), f"{sorted(NAMED[threat])} have tests of its name"


@pytest.mark.parametrize("threat", ROWS)
def test_every_row_says_where_the_threat_is_met(threat: str) -> None:
    places = re.findall(r"`([\w/]+(?:\.py|/))`", ROWS[threat][2])
    assert places or ROWS[threat][2] == "not met"
    assert all((ROOT / "src" / "dpselect" / place).exists() for place in places)
