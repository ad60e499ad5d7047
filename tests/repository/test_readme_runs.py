"""What the documents show works: every block of Python runs, every link between files leads somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
PAGES = [*sorted(CHECKOUT.glob("*.md")), *sorted(CHECKOUT.glob("docs/**/*.md"))]
PROOFS = sorted(CHECKOUT.glob("src/**/*.md"))


def in_checkout(path: Path) -> str:
    return path.relative_to(CHECKOUT).as_posix()


def python_blocks(markdown: str) -> list[str]:
    """Return the fenced blocks that are marked as Python."""
    return re.findall(r"^```python\n(.*?)^```$", markdown, flags=re.DOTALL | re.MULTILINE)


def broken_links(markdown: str, page: Path) -> list[str]:
    """List the relative links that lead to no file, or to no heading of the file."""
    prose = re.sub(r"^```.*?^```$|`[^`\n]*`", "", markdown, flags=re.DOTALL | re.MULTILINE)
    links = re.findall(r"\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)", prose, flags=re.MULTILINE)
    return [link for pair in links for link in pair if link and not leads_somewhere(link, markdown, page)]


def leads_somewhere(link: str, markdown: str, page: Path) -> bool:
    if re.match(r"[a-z]+:", link):
        return True  # another site: not ours to answer for
    file, _, heading = link.partition("#")
    target = page.parent / file
    if not heading or not target.exists():
        return target.exists()
    return heading in anchors(target.read_text(encoding="utf-8") if file else markdown)


def anchors(markdown: str) -> set[str]:
    """Return the anchors that the headings get: small letters, hyphens for spaces, no other marks."""
    headings = re.findall(r"^#+ (.+)$", markdown, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def run(block: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a block in a Python of its own, where a warning is an error."""
    command = [sys.executable, "-W", "error", "-c", block]
    return subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)


TUTORIALS = [page for page in PAGES if page.parent.name == "tutorial"]
BLOCKS = [
    pytest.param(block, id=f"{in_checkout(page)}-{number}")
    for page in PAGES
    if page not in TUTORIALS
    for number, block in enumerate(python_blocks(page.read_text(encoding="utf-8")), start=1)
]


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_of_python_runs_on_its_own(block: str, tmp_path: Path) -> None:
    outcome = run(block, tmp_path)
    assert outcome.returncode == 0, outcome.stderr


@pytest.mark.parametrize("page", TUTORIALS, ids=in_checkout)
def test_a_tutorial_runs_from_its_first_block_to_its_last(page: Path, tmp_path: Path) -> None:
    blocks = python_blocks(page.read_text(encoding="utf-8"))
    outcome = run("\n".join(blocks), tmp_path)
    assert blocks
    assert outcome.returncode == 0, outcome.stderr


@pytest.mark.parametrize("page", [*PAGES, *PROOFS], ids=in_checkout)
def test_links_lead_somewhere(page: Path) -> None:
    assert broken_links(page.read_text(encoding="utf-8"), page) == []


def test_the_readme_shows_python() -> None:
    assert python_blocks((CHECKOUT / "README.md").read_text(encoding="utf-8"))


def test_all_blocks_of_python_are_found_and_no_others() -> None:
    page = "```python\nfirst\n```\ntext\n```console\n$ second\n```\n```python\nthird\n\nfourth\n```\n"
    assert python_blocks(page) == ["first\n", "third\n\nfourth\n"]


@pytest.mark.parametrize(
    "block", ["import no_such_module", "assert False", "import warnings; warnings.warn('x')"]
)
def test_a_block_that_does_not_run_is_noticed(block: str, tmp_path: Path) -> None:
    assert run(block, tmp_path).returncode != 0


def test_a_link_that_leads_nowhere_is_found() -> None:
    page = """
# A heading, with marks

[good](run.py) [good](#a-heading-with-marks) [good](https://example.org) `[code](missing.md)`
[bad](missing.md) [bad](#missing) [bad](LICENSE#missing)

[bad]: also-missing.md
"""
    written = CHECKOUT / "page.md"
    assert broken_links(page, written) == ["missing.md", "#missing", "LICENSE#missing", "also-missing.md"]
