"""docs/threats.md, the tests, the proofs and the pages tell of the same threats."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "threats.md"
LINES = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if re.match(r"\| [A-F]\d+ \|", line)
]
ROWS = {cells[0]: cells for cells in LINES}
LIMITS = (ROOT / "docs" / "known-limits.md").read_text(encoding="utf-8")


def ids_in_test_names() -> dict[str, set[str]]:
    """Give the threats that tests are named after, and the files of those tests."""
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for threat in re.findall(r"def test_([a-z]\d+)_", path.read_text(encoding="utf-8")):
            found.setdefault(threat.upper(), set()).add(path.relative_to(ROOT).as_posix())
    return found


NAMED = ids_in_test_names()


def ids_in(text: str, *, code: bool) -> set[str]:
    """Find what a page cites, or the comments of code: there an id is in brackets or begins a comment."""
    if not code:
        return set(re.findall(r"\b[A-F]\d{1,2}\b", text))
    groups = re.findall(
        r"(?:\((?:[Tt]hreats? )?|# |[Tt]hreats? )((?:\b[A-F]\d{1,2}\b(?:, | and )?)+)[.:)]", text
    )
    return {threat for group in groups for threat in re.findall(r"[A-F]\d+", group)}


def pages() -> Iterator[tuple[Path, bool]]:
    """Give all files that may cite a threat, and whether they are code."""
    for pattern in ("*.md", "docs/**/*.md", "benchmarks/*.md", "src/**/*.proof.md"):
        yield from ((path, False) for path in sorted(ROOT.glob(pattern)) if path != PAGE)
    for pattern in ("src/**/*.py", "tests/**/*.py", "benchmarks/*.py"):
        yield from ((path, True) for path in sorted(ROOT.glob(pattern)) if path != Path(__file__))


def test_no_id_is_given_to_two_threats() -> None:
    ids = re.findall(r"^\| ([A-F]\d+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(ids) == len(set(ids)) == len(ROWS)


def test_every_threat_that_a_test_is_named_after_has_a_row() -> None:
    assert sorted(NAMED.keys() - ROWS.keys()) == []


def test_every_threat_that_a_page_a_proof_or_a_comment_cites_has_a_row() -> None:
    cited = {
        path.relative_to(ROOT).as_posix(): sorted(
            ids_in(path.read_text(encoding="utf-8"), code=code) - ROWS.keys()
        )
        for path, code in pages()
    }
    assert {path: ids for path, ids in cited.items() if ids} == {}


def test_no_id_has_two_rows() -> None:
    assert [cells[0] for cells in LINES] == list(ROWS)


def test_rows_are_in_the_order_of_their_ids() -> None:
    assert list(ROWS) == sorted(ROWS, key=lambda threat: (threat[0], int(threat[1:])))


@pytest.mark.parametrize("threat", ROWS)
def test_every_row_names_a_test_or_a_known_limit(threat: str) -> None:
    tests = re.findall(r"tests/[\w/]+\.py", ROWS[threat][-1])
    assert all((ROOT / test).is_file() for test in tests)
    if "known-limits.md" in ROWS[threat][-1]:
        assert re.search(rf"\b{threat}\b", LIMITS)
    else:
        assert tests
    if threat in NAMED:
        assert NAMED[threat] & set(tests), f"{sorted(NAMED[threat])} have tests of its name"


@pytest.mark.parametrize("threat", ROWS)
def test_every_row_says_where_the_threat_is_met(threat: str) -> None:
    places = re.findall(r"`([\w/]+(?:\.py|/))`", ROWS[threat][2])
    assert places or ROWS[threat][2] == "not met"
    assert all((ROOT / "src" / "dpselect" / place).exists() for place in places)


# Each guard, seen to fail.


@pytest.mark.parametrize(
    ("text", "code", "found"),
    [
        ("Time tells. (Threats C1, C2.)", False, {"C1", "C2"}),
        ("see E12 and F7", False, {"E12", "F7"}),
        ("U+FFFD, 0A1, A123, column B", False, set()),
        ("# B5: no seed.", True, {"B5"}),
        ('"""Off by one (B2)."""', True, {"B2"}),
        ("# threat D9: frames", True, {"D9"}),
        ("# (threats B1 and B3)", True, {"B1", "B3"}),
        ('cell = sheet["A1"]', True, set()),
    ],
)
def test_ids_are_found_where_they_are_cited(text: str, *, code: bool, found: set[str]) -> None:
    assert ids_in(text, code=code) == found
