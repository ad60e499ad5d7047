"""docs/architecture.md, docs/glossary.md and their neighbours say what the code is."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpselect import Ledger, PureDP
from dpselect.selection import array_scores, draw, envelope, winner
from tests.repository.test_layers import INSIDE, LAYERS

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "dpselect"
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
PAGES = [
    ROOT / "CONTRIBUTING.md",
    *(ROOT / "docs" / name for name in ("architecture.md", "glossary.md", "style.md")),
    ROOT / "docs" / "explanation" / "how-the-fast-draw-works.md",
]


def section(heading: str) -> str:
    """Give the part of the page below a heading."""
    _, _, rest = ARCHITECTURE.partition(f"## {heading}\n")
    return rest.partition("\n## ")[0]


def rows(text: str) -> list[list[str]]:
    """Give the rows of a table, without its head."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def tables(text: str) -> list[str]:
    """Give the tables of a text."""
    return re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE)


def layers_in(table: str) -> list[set[str]]:
    """Give the names in code of each row, up to a colon."""
    return [set(re.findall(r"`(\w+)`", first.partition(":")[0])) for first, *_ in rows(table)]


def test_the_layers_of_the_page_are_those_of_the_test() -> None:
    assert layers_in(tables(section("Layers"))[0]) == LAYERS


def test_the_order_inside_a_part_is_that_of_the_test() -> None:
    _, *inner = tables(section("Layers"))
    shown = {str(re.findall(r"`(\w+)`", table)[0]): layers_in(table) for table in inner}
    expected = {
        part: [layer - {"__init__"} for layer in layers if layer != {"__init__"}]
        for part, layers in INSIDE.items()
    }
    assert shown == expected


def test_the_idea_has_about_twenty_lines() -> None:
    (block,) = re.findall(r"^```python\n(.*?)^```$", ARCHITECTURE, flags=re.DOTALL | re.MULTILINE)
    assert len(list(filter(str.strip, block.splitlines()))) <= 20


def test_the_sizes_at_which_algorithms_change_are_those_of_the_code() -> None:
    table = section("Which algorithm runs when")
    assert winner.FLIP_ALL_UP_TO == draw.FEW_CANDIDATES
    few, one_by_one = winner.FLIP_ALL_UP_TO, array_scores.NO_BLOCKS_UP_TO
    huge = array_scores.LARGE_BLOCKS_ABOVE
    for words in (
        f"| 1 to {few} | 1 | exponential |",
        f"| {few + 1} to {one_by_one:,} | 1 | exponential |",
        f"| above {one_by_one:,} | 1 | exponential, Gumbel |",
        f"| above {few} | 2 or more | exponential, Gumbel |",
        f"blocks of {array_scores.BLOCK_SIZE} ({array_scores.LARGE_BLOCK_SIZE} above {huge:,})",
        f"Up to {envelope.LISTS_UP_TO} candidates the envelope is a list",
    ):
        assert words in table


@pytest.mark.parametrize("row", rows(section("Which algorithm runs when")), ids=lambda row: " ".join(row[:3]))
def test_every_algorithm_has_code_a_proof_and_a_test(row: list[str]) -> None:
    modules = re.findall(r"`([a-z]+/\w+)`", row[4])
    assert modules
    for module in modules:
        assert (PACKAGE / f"{module}.py").is_file()
        assert (PACKAGE / f"{module}.proof.md").is_file()
    assert re.findall(r"tests/[\w/]+\.py", row[5])


FOLLOWED = """
import sys
from importlib import import_module
for name in {modules}:
    import_module(name)
calls = []
def note(frame, event, arg):
    if event == "call" and "dpselect" in frame.f_code.co_filename:
        calls.append((frame.f_code.co_filename, frame.f_code.co_qualname))
sys.argv = ["dpselect", *{words}]
from dpselect.cli.main import main
sys.setprofile(note)
try:
    main()
except SystemExit as end:
    sys.setprofile(None)
    assert not end.code
for file, function in calls:
    print("call", file.replace("\\\\", "/").rpartition("/dpselect/")[2], function)
"""
"""Run a command with all modules loaded, and tell the calls of our functions."""


def test_the_path_of_a_vote_is_the_one_on_the_page(tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("pie\nsoup\ntea\n")
    (tmp_path / "ballots.csv").write_text("voter,dish\n1,pie\n2,pie\n3,soup\n")
    Ledger.create(tmp_path / "town.ledger", budget=PureDP(1)).close()
    text = section("The path of one `dpselect vote`")
    on_page = [(file[1:-1], function[1:-1]) for file, function, _ in rows(text) if file.startswith("`")]
    (command,) = re.findall(r"^`dpselect (.+?)`,", text, flags=re.MULTILINE)
    modules = sorted({f"dpselect.{file.removesuffix('.py').replace('/', '.')}" for file, _ in on_page})
    program = FOLLOWED.format(modules=modules, words=command.split())
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    called = [tuple(line.split()[1:]) for line in ran.stdout.splitlines() if line.startswith("call ")]
    assert [call for call in called if call in on_page] == on_page


def named_paths(text: str) -> Iterator[str]:
    """Give the files and folders that a page names: with an ending, a slash at the end, or in tests/."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    yield from re.findall(r"`((?:[\w.]+/)*[\w.-]+(?:\.py|\.md|\.toml)|(?:\w+/)+)`", prose)
    yield from re.findall(r"\btests/[\w/]+\.py", prose)


PATTERNS = {"X.py", "X.proof.md", ".proof.md", "docs/decisions/NNNN-title.md"}
"""What stands for the name of a file."""


def is_there(path: str) -> bool:
    return any((root / path).exists() for root in (ROOT, PACKAGE, PACKAGE.parent)) or any(
        ROOT.glob(f"tests/**/{path}") if path.startswith("test_") else PACKAGE.glob(f"*/{path}")
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_file_that_a_page_names_is_there(page: Path) -> None:
    named = set(named_paths(page.read_text(encoding="utf-8"))) - PATTERNS
    assert sorted(path for path in named if not is_there(path)) == []


def classes_of_selection() -> list[str]:
    return [
        node.name
        for path in sorted((PACKAGE / "selection").glob("*.py"))
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]


@pytest.mark.parametrize("name", classes_of_selection())
def test_every_class_of_the_fast_draw_is_in_the_glossary(name: str) -> None:
    assert f"`{name}`" in GLOSSARY


def names_in_code() -> set[str]:
    """Give every name that is defined or used somewhere in the package."""
    return {
        name
        for path in PACKAGE.glob("**/*.py")
        for name in re.findall(r"[A-Za-z_]\w*", path.read_text(encoding="utf-8"))
    }


def test_every_name_that_the_glossary_sets_in_code_is_in_the_code() -> None:
    known = names_in_code()
    in_code = re.findall(r"`([A-Za-z_]\w*)`", GLOSSARY)
    assert in_code
    assert [name for name in in_code if name not in known] == []


# Each guard, seen to fail.


def test_a_path_that_is_not_there_is_found() -> None:
    page = "`selection/gone.py`, `gone/`, tests/gone/test_gone.py, `selection/`.\n```\n`also/gone.py`\n```\n"
    assert [path for path in named_paths(page) if not is_there(path)] == [
        "selection/gone.py",
        "gone/",
        "tests/gone/test_gone.py",
    ]
