"""Imports point one way: each part of the package may import only what lies below it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"

LAYERS = [
    {"errors"},
    {"silence", "notebook"},
    {"exact"},
    {"selection"},
    {"privacy"},
    {"accounting"},
    {"ledger", "mechanisms", "engines"},
    {"problems"},
    {"utility"},
    {"release"},
    {"tuning", "audit", "interop", "owner"},
    {"__init__"},  # the public names: everything below is offered here, so nothing below may ask for it
    {"studio"},
    {"cli"},
    {"__main__"},
]
HEIGHT = {part: height for height, layer in enumerate(LAYERS) for part in layer}
INSIDE = {
    "selection": [
        {"__init__"},
        {"scores", "runs"},
        {"array_scores", "cells", "fraction_scores", "noise", "noisy_scores", "resolution"},
        {"discrete_laplace", "envelope", "runs_envelope", "poisson_times"},
        {"permute_and_flip_race", "race"},
        {"winner", "top_k", "top_k_by_levels"},
        {"draw", "runs_draw"},
        {"gaps_draw", "grouped_draw", "recursive_medians"},
        {"counts_draw"},
    ],
    "cli": [
        {"__init__", "interrupts", "user_errors", "console", "demo_data"},
        {"declaration"},
        {"options", "pictures", "public_columns", "score_files", "receipts", "budgets"},
        {"public_lists", "sources"},
        {"groups", "output", "ledger_accounts"},
        {"question", "selection_plans"},
        {"quantile_plans"},
        {"runner"},
        {"main", "reference"},
        {"commands"},  # found by their names, so the runner imports none of them; no command imports another
    ],
}
"""The order inside a package: each module, or folder, may import only what lies below it."""
FILES = sorted(SOURCE.glob("dpselect/**/*.py"))


def part_of(module: str) -> str:
    """Name the part that a module of the package belongs to: ``exact`` for ``dpselect.exact.numbers``."""
    inner = module.split(".")[1] if "." in module else "__init__"
    # ``from dpselect import Measurement`` asks the package itself for a name.
    return inner if inner in HEIGHT or (SOURCE / "dpselect" / inner).exists() else "__init__"


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


def imported(tree: ast.AST, path: Path) -> Iterator[str]:
    """Yield every module of the package that is imported, at the top, in a function or by its name."""
    package = ".".join(path.relative_to(SOURCE).parent.parts)
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (name.name for name in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                above = package.rsplit(".", level - 1)[0] if level else ""
                base = ".".join(filter(None, [above, module]))
                yield from (f"{base}.{name.name}" for name in names)
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield name


def wrong_imports(source: str, path: Path) -> list[str]:
    """Say which imports do not point down."""
    here = part_of(module_of(path))
    wrong = []
    for name in imported(ast.parse(source), path):
        if name.split(".")[0] != "dpselect":
            continue
        there = part_of(name)
        if there != here and HEIGHT[there] >= HEIGHT[here]:
            wrong.append(f"{here} imports {there}")
    return wrong


def place_inside(module: str) -> str:
    """Name the module or folder inside a package: ``commands`` for ``dpselect.cli.commands.vote``."""
    _, package, *inner = module.split(".")
    is_there = inner and any((SOURCE / "dpselect" / package).glob(f"{inner[0]}*"))
    return inner[0] if is_there else "__init__"


def wrong_imports_inside(source: str, path: Path) -> list[str]:
    """Say which imports of a package's own modules do not point down."""
    module = module_of(path)
    package = part_of(module)
    height = {name: number for number, layer in enumerate(INSIDE[package]) for name in layer}
    here, wrong = place_inside(module), []
    for name in imported(ast.parse(source), path):
        if not name.startswith(f"dpselect.{package}."):
            continue
        there = place_inside(name)
        is_own = there == here and (there != "commands" or name.startswith(module))
        if not is_own and height[there] >= height[here]:
            wrong.append(f"{here} imports {there}")
    return wrong


INNER_FILES = [path for path in FILES if part_of(module_of(path)) in INSIDE]


@pytest.mark.parametrize("path", INNER_FILES, ids=module_of)
def test_imports_inside_a_package_point_down(path: Path) -> None:
    assert wrong_imports_inside(path.read_text(encoding="utf-8"), path) == []


@pytest.mark.parametrize("package", INSIDE)
def test_every_module_of_an_ordered_package_has_its_place(package: str) -> None:
    there = {
        path.relative_to(SOURCE / "dpselect" / package).parts[0].removesuffix(".py")
        for path in FILES
        if part_of(module_of(path)) == package
    }
    assert there == {name for layer in INSIDE[package] for name in layer}


@pytest.mark.parametrize(
    ("place", "source", "complaint"),
    [
        ("selection/scores.py", "from dpselect.selection.draw import peel", ["scores imports draw"]),
        ("selection/race.py", "from . import top_k", ["race imports top_k"]),
        ("selection/top_k.py", "import dpselect.selection.winner", ["top_k imports winner"]),
        ("selection/draw.py", "from dpselect.selection.scores import Optimize\nfrom . import race", []),
        ("cli/options.py", "from dpselect.cli.question import budget_of", ["options imports question"]),
        ("cli/options.py", "def f():\n    from dpselect.cli import output", ["options imports output"]),
        ("cli/runner.py", "from dpselect.cli.commands import vote", ["runner imports commands"]),
        ("cli/commands/top.py", "from dpselect.cli.commands import vote", ["commands imports commands"]),
        ("cli/commands/top.py", "from .vote import vote_command", ["commands imports commands"]),
        ("cli/commands/top.py", "from dpselect.cli import console\nfrom dpselect.cli.runner import run", []),
        ("cli/question.py", "from dpselect.cli.sources import open_table\nimport dpselect.errors", []),
    ],
)
def test_an_import_inside_a_package_that_points_up_or_sideways_is_found(
    place: str, source: str, complaint: list[str]
) -> None:
    assert wrong_imports_inside(source, SOURCE / "dpselect" / place) == complaint


@pytest.mark.parametrize("path", FILES, ids=module_of)
def test_imports_point_down(path: Path) -> None:
    assert wrong_imports(path.read_text(encoding="utf-8"), path) == []


def test_every_part_of_the_package_has_a_layer() -> None:
    parts = {path.relative_to(SOURCE / "dpselect").parts[0].removesuffix(".py") for path in FILES}
    assert parts <= HEIGHT.keys()


@pytest.mark.parametrize(
    ("place", "source", "complaint"),
    [
        ("exact/numbers.py", "from dpselect.privacy import PureDP", "exact imports privacy"),
        ("exact/numbers.py", "import dpselect.privacy.losses as losses", "exact imports privacy"),
        ("exact/numbers.py", "from dpselect import privacy", "exact imports privacy"),
        ("exact/numbers.py", "from ..privacy import losses", "exact imports privacy"),
        ("exact/numbers.py", "from .. import privacy", "exact imports privacy"),
        ("exact/numbers.py", "def f():\n    from dpselect.cli import demo", "exact imports cli"),
        ("exact/numbers.py", "import_module('dpselect.audit')", "exact imports audit"),
        ("exact/numbers.py", "importlib.import_module('dpselect.audit')", "exact imports audit"),
        ("exact/__init__.py", "from ..privacy import PureDP", "exact imports privacy"),
        ("errors.py", "from .exact import numbers", "errors imports exact"),
        ("errors.py", "from dpselect.silence import run", "errors imports silence"),
        ("silence.py", "from dpselect.exact import numbers", "silence imports exact"),
        ("privacy/losses.py", "from dpselect import PureDP", "privacy imports __init__"),
        ("privacy/losses.py", "import dpselect", "privacy imports __init__"),
        ("accounting/calibrate.py", "import dpselect.mechanisms", "accounting imports mechanisms"),
        ("mechanisms/quantile.py", "from dpselect.engines import duckdb", "mechanisms imports engines"),
        ("engines/duckdb.py", "from dpselect.mechanisms import quantile", "engines imports mechanisms"),
        ("audit/law.py", "import dpselect.tuning", "audit imports tuning"),
        ("__init__.py", "from dpselect.cli import demo", "__init__ imports cli"),
    ],
)
def test_an_import_that_points_up_or_sideways_is_found(place: str, source: str, complaint: str) -> None:
    assert wrong_imports(source, SOURCE / "dpselect" / place) == [complaint]


@pytest.mark.parametrize(
    ("place", "source"),
    [
        ("privacy/losses.py", "from dpselect.exact.numbers import rational\nfrom dpselect import errors"),
        ("privacy/losses.py", "from .measures import max_divergence\nfrom . import metrics"),
        ("exact/samplers.py", "import numpy\nfrom dpselect.exact import numbers"),
        ("cli/demo.py", "from dpselect import Measurement, __version__\nimport dpselect"),
        ("__init__.py", "from dpselect.audit import enumerate_law"),
    ],
)
def test_an_import_that_points_down_is_left_alone(place: str, source: str) -> None:
    assert wrong_imports(source, SOURCE / "dpselect" / place) == []


def loaded_with(tree: ast.Module, path: Path) -> set[str]:
    """Give the modules that are loaded with a module: not those of functions, nor of type checkers."""
    at_once = [
        node
        for node in tree.body
        if not isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
    ]
    there = {module_of(each) for each in FILES}
    names = imported(ast.Module(at_once, []), path)
    return {name if name in there else name.rpartition(".")[0] for name in names}


def circle(needs: dict[str, set[str]]) -> set[str]:
    """Give modules of which each needs another one first; none if they can be put in an order."""
    left = dict(needs)
    while first := [module for module, others in left.items() if not others - {module} & left.keys()]:
        for module in first:
            del left[module]
    return set(left)


def test_no_module_needs_itself_to_be_loaded_first() -> None:
    needs = {
        module_of(path): loaded_with(ast.parse(path.read_text(encoding="utf-8")), path) for path in FILES
    }
    assert circle(needs) == set()


def test_a_circle_is_found() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == {"a", "b", "c", "d"}
    assert circle({"a": {"b"}, "b": {"c"}, "c": set()}) == set()


def test_each_part_of_the_package_has_its_folder_of_tests() -> None:
    parts = {path.relative_to(SOURCE / "dpselect").parts[0] for path in FILES}
    without = [part for part in parts if "." not in part and not (SOURCE.parent / "tests" / part).is_dir()]
    assert without == []
