"""Plain words: no page, docstring, comment or name says vaguely what a noun of the field says exactly.

Sentences that a user reads are left alone: error messages are promises of their own.
"""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATTERNS = (
    *("*.md", "NOTICE", "run.py", "docs/**/*.md", "docs/**/*.py", "benchmarks/*.md", "benchmarks/*.py"),
    *("src/**/*.py", "src/**/*.md", "tests/**/*.py"),
)
FILES = [
    path for pattern in PATTERNS for path in sorted(ROOT.glob(pattern)) if path != Path(__file__).resolve()
]
SUPERSEDED = "**Superseded** by"
"""A decision that no longer holds is left as it was."""

PEOPLE = "Say who: the caller, the analyst, a person, a candidate, another process."
INSTEAD = {
    r"somebody|someone": PEOPLE,
    r"whoever|whomever": PEOPLE,
    r"nobody": "Say who does not, or use the passive voice.",
    r"so many": "Say the number and its unit: 32 candidates.",
    r"mend(?:s|ed|ing)?": "Write correct, repair, fix.",
    r"dear(?:er|ly|est)?": "Write expensive, slow.",
    r"kin": "Name the others.",
}
WORD = re.compile("|".join(rf"(?:\b|(?<=_)){word}(?:\b|(?=_))" for word in INSTEAD), flags=re.IGNORECASE)


def said_in(code: str) -> str:
    """Give the names, comments and docstrings of Python; no other text."""
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    words = [token.string for token in tokens if token.type in (tokenize.NAME, tokenize.COMMENT)]
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(docstring))):
                words.append(docstring)
    return "\n".join(words)


def found_in(text: str) -> list[str]:
    """List the words that have better ones."""
    return [] if SUPERSEDED in text[:200] else [found[0] for found in WORD.finditer(text)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_file_uses_plain_words(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert found_in(said_in(text) if path.suffix == ".py" else text) == []


@pytest.mark.parametrize(
    "text",
    ["Somebody asks.", "def test_whoever_asks_pays() -> None:", "NOBODY = 1", "so many rows", "a dear price"],
)
def test_a_word_with_a_better_one_is_found(text: str) -> None:
    assert len(found_in(text)) == 1


@pytest.mark.parametrize("text", ["a kind of loss", "recommended", "amended", "there are many", "skin"])
def test_other_words_are_left_alone(text: str) -> None:
    assert found_in(text) == []


def test_names_comments_and_docstrings_are_looked_at_and_sentences_are_not() -> None:
    code = '"""Nobody."""\nWHOEVER = 1\n"""Somebody."""\nerror("nobody is told")  # so many\n'
    assert sorted(found_in(said_in(code))) == ["Nobody", "Somebody", "WHOEVER", "so many"]
