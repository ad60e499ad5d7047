"""One word, one thing: a public name is defined in one module of the package."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "dpselect"
PYTHONS_OWN = {"TYPE_CHECKING"}
"""Set by the package itself where the import of ``typing`` would take too long."""


def defined(source: str) -> Iterator[str]:
    """Yield the names that a module defines: functions, classes, constants, aliases; also in an ``if``."""
    yield from _defined_in(ast.parse(source).body)


def _defined_in(statements: list[ast.stmt]) -> Iterator[str]:
    for node in statements:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.Assign(targets=targets):
                yield from (
                    name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)
                )
            case ast.If(body=body, orelse=otherwise):
                yield from _defined_in([*body, *otherwise])
            case ast.Try(body=body, handlers=handlers, orelse=otherwise, finalbody=last):
                yield from _defined_in([*body, *otherwise, *last])
                yield from _defined_in([each for handler in handlers for each in handler.body])


def homes() -> dict[str, list[str]]:
    """Give the modules that define each public name."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for name in {*defined(path.read_text(encoding="utf-8"))}:
            if not name.startswith("_") and name not in PYTHONS_OWN:
                found[name].append(path.relative_to(PACKAGE).as_posix())
    return found


def test_no_public_name_is_defined_twice() -> None:
    assert {name: places for name, places in homes().items() if len(places) > 1} == {}


def test_every_kind_of_definition_is_seen() -> None:
    source = "A, B = 1, 2\nC: int = 3\ndef f(): pass\nclass D: pass\nx = y = 4\nasync def g(): pass\n"
    source += "if A:\n    E = 1\nelse:\n    E = F = 2\ntry:\n    G = 1\nexcept ValueError:\n    H = 2\n"
    assert {*defined(source)} == {*"ABCDEFGH", "f", "g", "x", "y"}
