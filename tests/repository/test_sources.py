"""What the repository cites can be looked up in docs/sources.md: by author and year, or by a short name."""

import calendar
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "docs" / "sources.md"
FIRST_CELLS = re.findall(r"^\| ([^|]+?) \|", SOURCES.read_text(encoding="utf-8"), flags=re.MULTILINE)
PATTERNS = ("*.md", "docs/**/*.md", "benchmarks/*.*", "src/**/*.py", "src/**/*.md", "tests/**/*.py")
FILES = [
    path
    for pattern in PATTERNS
    for path in sorted(ROOT.glob(pattern))
    if path.suffix in (".py", ".md") and path not in (SOURCES, Path(__file__))
]

AUTHOR = r"[A-ZÀ-Þ][a-zà-ÿ]+(?:[A-Z][a-z]+)?"
CITATION = re.compile(
    rf"\b({AUTHOR})(?:(?:,| &| and) {AUTHOR})*(?: et al\.)?,? \(?((?:19|20)\d\d)\b(?!-\d|\.\d|,\d\d\d)"
)
MONTHS = calendar.month_name[1:]
WITHOUT_A_TITLE = re.compile(
    r"\b[Ss]eeds? \d{3}\b|\bthe seed(?:s|'s)?\b(?! (?:of|for))"
    r"|\b(?:math|peers|design|mechanisms|ecosystem|house)\.md\b"
    r"|\bthe (?:thesis|seminar|talk|slides|sheet)\b"
)
"""Names of documents that only their authors had."""


def papers() -> set[tuple[str, str]]:
    """Give the first author and the year of each paper."""
    return {(str(found[1]), str(found[2])) for cell in FIRST_CELLS if (found := CITATION.search(cell))}


def unknown(text: str) -> list[str]:
    """List the citations that lead nowhere."""
    prose = re.sub(r"\s+", " ", text)
    cited = [(found[0], (found[1], found[2])) for found in CITATION.finditer(prose)]
    return [
        *(words for words, key in cited if key not in papers() and key[0] not in MONTHS),
        *(found[0] for found in WITHOUT_A_TITLE.finditer(prose)),
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_what_a_file_cites_can_be_looked_up(path: Path) -> None:
    assert unknown(path.read_text(encoding="utf-8")) == []


def test_the_lecture_has_a_title_and_an_author() -> None:
    (row,) = [line for line in SOURCES.read_text(encoding="utf-8").splitlines() if "| the lecture |" in line]
    assert "Adam Smith" in row
    assert "Selection Problems" in row


@pytest.mark.parametrize(
    "text",
    [
        "Proof: Miller & Jones 1999, Theorem 4.",
        "(Miller et al. 2001)",
        "as seed 003 has it",
        "what the seed says",
        "see math.md",
    ],
)
def test_a_citation_that_leads_nowhere_is_found(text: str) -> None:
    assert unknown(text)


@pytest.mark.parametrize(
    "text",
    [
        "Mironov 2017, Proposition 6",
        "Canonne, Kamath & Steinke 2020",
        "Durfee and\nRogers 2019, Lemma 4.2",
        "Ding et al. 2021",
        "the lecture's bound",
        "Keep it until May 2030.",
    ],
)
def test_a_citation_that_can_be_looked_up_is_left_alone(text: str) -> None:
    assert unknown(text) == []
