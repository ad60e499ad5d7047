"""Renames of proved code: a proof stays read if its code is the same under a map of names.

``python3 run.py renamed MAP.json`` compares each module whose digest has moved with its version in the last
commit. If the two syntax trees are equal, once the names of the old one are mapped, the new digest is
recorded. Everything else needs a reader: ``python3 run.py reviewed NAME``.

The map: {"modules": {"old.module": "new.module"}, "names": {"old": "new"}}; names that change in one module
alone stand under "in": {"old.module": {"old": "new"}}. What leaves a module that stays is moved by itself:
"modules": {"old.module.name": "new.module.name"}. What is renamed must be ours, and its new name must be new.
Every module by which a renamed thing is asked for must have followed the map: otherwise it asks for another.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpselect.audit.foreign_names import (
    FOREIGN_ATTRIBUTES,
    bound_names,
    foreign_names,
    imported_from_us,
    is_hook,
    is_of_ours,
    named_in_text,
    names_seen_outside,
)
from dpselect.audit.proofs import PACKAGE, digest, proofs, reviewed
from dpselect.errors import InvalidParameter, shown

IDENTIFIERS = ("id", "attr", "arg", "name", "asname", "names", "rest", "kwd_attrs")
"""The fields of Python's syntax trees that hold names."""


@dataclass(frozen=True)
class Renames:
    """A map of names: of modules, of everything in all modules, and of more in some."""

    modules: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    inside: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Renames:
        """Read a map, or refuse it."""
        try:
            given = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            given = None
        parts = ("modules", "names", "in")
        if not isinstance(given, dict) or given.keys() - {*parts}:
            raise InvalidParameter(
                f'{path.name} must be a file of JSON with "modules", "names" and "in"; it is not.'
            )
        modules, names, inside = (given.get(part, {}) for part in parts)
        inner = [*inside.values()] if isinstance(inside, dict) else [None]
        if not all(map(_maps_texts, [modules, names, *inner])):
            raise InvalidParameter(f"{path.name} must give each name its new one, as text; it does not.")
        return cls(modules, names, inside)

    def old_module(self, module: str) -> str:
        """Say what a module was called before."""
        return {new: old for old, new in self.modules.items()}.get(module, module)

    def of(self, module: str) -> Mapping[str, str]:
        """Give the names that change in one of the old modules."""
        return {**self.names, **self.inside.get(module, {})}


def _maps_texts(given: object) -> bool:
    return isinstance(given, dict) and all(isinstance(new, str) for new in given.values())


def is_renamed(old: str, new: str, module: str, renames: Renames) -> bool:
    """Say whether new code is old code under the map: the order of imports and the layout do not matter."""
    names = renames.of(module)
    before, after = (_EachImportAlone().visit(ast.parse(source)) for source in (old, new))
    used = _identifiers(before)
    changed = {name for name in used if names.get(name, name) != name}
    touched = changed | {names[name] for name in changed}
    if (foreign_names(before) | foreign_names(after)) & touched or any(map(is_hook, touched)):
        return False  # a name that is not ours: another program
    if not all(is_of_ours(module) for pair in renames.modules.items() for module in pair):
        return False  # a module that is not ours
    if FOREIGN_ATTRIBUTES & {names[name] for name in changed & _attributes(before)}:
        return False  # the object may not be ours, and then another question is asked of it
    if not changed - renames.names.keys() <= bound_names(before):
        return False  # what a single module renames must be its own
    if len({names.get(name, name) for name in used}) != len(used):
        return False  # two names would become one: another program
    return _facts(_mapped(before, names, renames.modules)) == _facts(after)


class _EachImportAlone(ast.NodeTransformer):
    """Gives each imported name a statement of its own, as names of one module may go to several."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.ImportFrom]:
        return [ast.ImportFrom(node.module, [alias], node.level) for alias in node.names]


def _identifiers(tree: ast.AST) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        for name in IDENTIFIERS:
            value = getattr(node, name, None)
            values = value if isinstance(value, list) else [value]
            found |= {each for each in values if isinstance(each, str) and "." not in each and each != "*"}
    return found


def _attributes(tree: ast.AST) -> set[str]:
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def _mapped(tree: ast.AST, names: Mapping[str, str], modules: Mapping[str, str]) -> ast.AST:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            _map_import(node, modules)
            continue
        for name in IDENTIFIERS:
            value = getattr(node, name, None)
            if isinstance(value, str):
                moved = modules.get(value, value) if isinstance(node, ast.alias) else value
                setattr(node, name, names.get(moved, moved))
            elif isinstance(value, list) and all(isinstance(each, str) for each in value):
                setattr(node, name, [names.get(each, each) for each in value])
    return tree


def _map_import(node: ast.ImportFrom, modules: Mapping[str, str]) -> None:
    """Map ``from package import module``, which names a module, or a definition, in two parts, as well."""
    package = str(node.module)
    node.module = modules.get(package, package)
    for alias in node.names:
        whole = modules.get(f"{package}.{alias.name}")
        if whole is not None:
            node.module, _, alias.name = whole.rpartition(".")


def _facts(tree: ast.AST) -> tuple[list[str], str]:
    """Give the imports of a module, each by itself and in one order, and the rest without docstrings."""
    imports: list[str] = []
    for node in ast.walk(tree):
        body: Any = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        kept = []
        for statement in body:
            if isinstance(statement, ast.Import | ast.ImportFrom):
                place = getattr(node, "name", type(node).__name__)
                home = f"{getattr(statement, 'level', 0)} {getattr(statement, 'module', '')}"
                imports += [f"{place}: {home} {alias.name} {alias.asname}" for alias in statement.names]
            elif not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
                kept.append(statement)
        body[:] = kept
    return sorted(imports), ast.dump(tree)


def record(renames: Renames, package: Path = PACKAGE) -> tuple[list[str], list[str]]:
    """Record the digests of all proved modules that were only renamed; give their names, and the others'."""
    recorded: list[str] = []
    unread: list[str] = []
    committed = dict(_committed_sources(package))
    modules = {module: ast.parse(source) for module, source in committed.items()}
    sources = list(modules.values())
    everywhere = {name for source in sources for name in _identifiers(source)}
    ours = {name for source in sources for name in bound_names(source) | imported_from_us(source)}
    not_ours = (everywhere & renames.names.keys()) - ours
    if not_ours:
        raise InvalidParameter(
            f"the map must rename what the package defines; it does not define {shown(min(not_ours))}."
        )
    if len({renames.names.get(name, name) for name in everywhere}) != len(everywhere):
        raise InvalidParameter(
            "the map must give each name a new one that nothing else in the package has; it does not."
        )
    in_text = {name for source in sources for name in named_in_text(source)} & renames.names.keys()
    if in_text:
        raise InvalidParameter(
            f"the map must rename what no code asks for by text; {shown(min(in_text))} is asked for so."
        )
    for was, now in renames.modules.items():
        if not _is_there(was, modules) or _is_there(now, modules):
            raise InvalidParameter(
                "the map must move what the last commit has, to where it has nothing of that name; "
                f"{shown(was)} is not such a move."
            )
    moved = [proof for proof in proofs(package) if proof.complaint is not None]
    to_be_judged = {renames.old_module(proof.proves) for proof in moved}
    for module in _touched(renames, modules) - to_be_judged:
        _must_have_followed(module, committed[module], renames, package)
    for proof in moved:
        module = renames.old_module(proof.proves)
        old = committed.get(module)
        same = (
            old is not None
            and digest(old) == proof.recorded
            and is_renamed(old, proof.code.read_text(encoding="utf-8"), module, renames)
        )
        if same:
            reviewed(proof.proves, package)
        (recorded if same else unread).append(proof.proves)
    return recorded, unread


def _touched(renames: Renames, modules: Mapping[str, ast.Module]) -> set[str]:
    """Give the modules that see a renamed thing; refuse a map by which two of them see it by two names."""
    seen = {module: names_seen_outside(tree) for module, tree in modules.items()}
    changed: dict[str, set[str]] = {}
    for module, names in seen.items():
        for old, new in renames.of(module).items():
            if old in names and old != new:
                changed.setdefault(old, set()).add(new)
    for module, names in seen.items():
        for name in sorted(names & changed.keys()):
            if changed[name] != {renames.of(module).get(name, name)}:
                raise InvalidParameter(
                    f"the map must give {shown(name)} one new name in all modules that see it; in {module} "
                    'it does not. Put it under "names".'
                )
    return {module for module, names in seen.items() if names & changed.keys()}


def _must_have_followed(module: str, old: str, renames: Renames, package: Path) -> None:
    """Refuse a map that a module has not followed: where two names change places, it asks for the other."""
    path = package.joinpath(*renames.modules.get(module, module).split(".")[1:])
    for place in (path / "__init__.py", path.with_suffix(".py")):
        if place.is_file() and is_renamed(old, place.read_text(encoding="utf-8"), module, renames):
            return
    raise InvalidParameter(
        f"the map must be followed, in nothing but names, by all modules that see what it renames; {module} "
        "does not follow it. Rename in one commit, change in another."
    )


def _is_there(place: str, modules: Mapping[str, ast.Module]) -> bool:
    """Say whether a module, or a definition at the top of one, was there."""
    home, _, name = place.rpartition(".")
    return place in modules or (home in modules and name in _defined(modules[home]))


def _defined(module: ast.Module) -> set[str]:
    """Give the names that a module defines at its top."""
    found: set[str] = set()
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            found |= bound_names(node)
    return found


def _committed_sources(package: Path) -> Iterator[tuple[str, str]]:
    """Give the name and the source of every module in the last commit."""
    listed = _git(["ls-tree", "-r", "--name-only", "HEAD", "."], package) or ""
    for path in listed.split():
        if path.endswith(".py"):
            parts = (package.name, *Path(path).with_suffix("").parts)
            yield ".".join(parts).removesuffix(".__init__"), _git(["show", f"HEAD:./{path}"], package) or ""


def _git(words: list[str], package: Path) -> str | None:
    answer = subprocess.run(  # noqa: S603 - names of our own modules
        ["git", *words],  # noqa: S607 - the git of the user
        cwd=package,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return None if answer.returncode else answer.stdout


if __name__ == "__main__":
    try:
        done, left = record(Renames.read(Path(sys.argv[1])))
    except InvalidParameter as refused:
        sys.exit(str(refused))
    sys.stdout.write("".join(f"recorded {name}: only names have changed\n" for name in done))
    if left:
        sys.exit("".join(f"{name} changed in more than names: read it against its proof\n" for name in left))
