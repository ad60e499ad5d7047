"""The owner's check is the one door that shows data: nothing else in the package leads to it."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "dpselect"
LEADS_THERE = {"__init__.py", "cli/commands/check.py"}
"""The public name, and the command that asks first."""


def users_of(word: str) -> set[str]:
    """Give the modules outside of ``owner`` whose code speaks of it, by name or import."""
    found = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        inside = path.relative_to(PACKAGE).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = [getattr(node, field, None) for field in ("attr", "id", "module", "name", "value")]
            if not inside.startswith("owner/") and any(
                isinstance(each, str) and (each == word or each.startswith(f"{word}.")) for each in named
            ):
                found.add(inside)
    return found


def test_only_the_owners_check_asks_engines_for_rows() -> None:
    engines = {f"engines/{name}.py" for name in ("protocol", "duckdb", "frames", "postgres", "spark")}
    assert users_of("rows_for_owner") == engines
    calls = [
        path.name
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "rows_for_owner"
    ]
    assert set(calls) == {"check.py", "frames.py"}


def test_only_the_public_name_and_its_command_lead_to_the_owners_check() -> None:
    assert users_of("dpselect.owner") <= LEADS_THERE
    assert "__init__.py" in users_of("dpselect.owner")
