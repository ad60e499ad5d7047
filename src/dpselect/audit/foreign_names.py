"""Which names in a module are not ours to change: those of builtins, of other packages, of Python's hooks."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

import numpy as np

from dpselect.exact.enclosures import Ball

PACKAGES = ("dpselect", "tests", "benchmarks")
"""Where names are ours to change."""
FOREIGN_KINDS = (int, float, str, bytes, list, tuple, dict, set, Fraction, Decimal, np.ndarray, Ball)
FOREIGN_ATTRIBUTES = frozenset(name for kind in FOREIGN_KINDS for name in dir(kind))
"""What the objects of others can be asked for: no attribute of ours is renamed to one of these."""
ATTRIBUTES_BY_TEXT = frozenset({"getattr", "hasattr", "setattr", "delattr", "attrgetter", "methodcaller"})
"""Functions that are handed the name of an attribute as text."""
KEYWORDS_HANDED_ON = frozenset({"replace", "partial"})
"""Functions of others whose keywords are those of their first argument."""
FORMS_OF_OURS = frozenset({"Protocol", "NamedTuple", "Generic"})
"""Classes of others that call no method of the classes made from them."""


def foreign_names(tree: ast.AST) -> set[str]:
    """Give the names in a module that others have given, or look for."""
    return {
        *dir(builtins),
        *_imported_from_others(tree),
        *_asked_of_others(tree),
        *_overridden(tree),
        *named_in_text(tree),
    }


def is_hook(name: str) -> bool:
    """Say whether Python, a notebook or a class gives a name a meaning by its underscores."""
    return name.startswith("__") or (name.startswith("_") and name.endswith("_"))


def imported_from_us(tree: ast.AST) -> set[str]:
    """Give the names that a module imports from our packages."""
    return {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and is_of_ours(node.module)
        for alias in node.names
    }


def is_of_ours(module: str | None) -> bool:
    """Say whether a dotted name lies in a package of ours."""
    return str(module).partition(".")[0] in PACKAGES


def bound_names(tree: ast.AST) -> set[str]:
    """Give the names that a module makes itself: functions, classes, arguments, variables, fields."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                found.add(name)
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                found.add(name)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                found.add(name)
    return found


def names_seen_outside(tree: ast.Module) -> set[str]:
    """Give the names by which modules know each other's things, or ask for them.

    Definitions at the top and in classes, arguments, attributes, keywords, what is imported: all but the
    variables of functions.
    """
    found = {name for node in ast.walk(tree) for name in _names_for_others(node)}
    bodies: list[ast.Module | ast.ClassDef] = [
        tree,
        *(node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)),
    ]
    return found.union(*(bound_names(statement) for body in bodies for statement in body.body))


def _names_for_others(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.arg(arg=name) | ast.keyword(arg=str(name)) | ast.Attribute(attr=name):
            yield name
        case ast.MatchClass(kwd_attrs=names):
            yield from names
        case ast.ImportFrom(names=aliases):
            yield from (alias.name for alias in aliases)


def _imported_from_others(tree: ast.AST) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module != "__future__" and not is_of_ours(node.module):
            found |= {alias.asname or alias.name for alias in node.names}
    return found


def _asked_of_others(tree: ast.AST) -> Iterator[str]:
    """Yield the attributes of what is imported from others, and the keywords of their functions."""
    theirs, modules = _imported_from_others(tree), imported_from_us(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in theirs:
                yield name
            case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in KEYWORDS_HANDED_ON:
                called = first
            case ast.Call(func=called):
                pass
            case _:
                continue
        if isinstance(node, ast.Call) and _is_of_others(called, theirs, modules):
            yield from (keyword.arg for keyword in node.keywords if keyword.arg is not None)


def _is_of_others(function: ast.expr, theirs: set[str], modules: set[str]) -> bool:
    match function:
        case ast.Name(id=name):
            return name in theirs or hasattr(builtins, name)
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            return owner in theirs or (name in FOREIGN_ATTRIBUTES and owner not in modules)
        case ast.Attribute(attr=name):
            return name in FOREIGN_ATTRIBUTES
    return False


def _overridden(tree: ast.AST) -> Iterator[str]:
    """Yield the methods of classes that are made from a class of others, which may call them by name."""
    ours = imported_from_us(tree) | FORMS_OF_OURS
    ours |= {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef):
            continue
        bases = (base.value if isinstance(base, ast.Subscript) else base for base in node.bases)
        if all(isinstance(base, ast.Name) and base.id in ours for base in bases):
            continue
        yield from (each.name for each in node.body if isinstance(each, ast.FunctionDef))


def named_in_text(tree: ast.AST) -> Iterator[str]:
    """Give the attributes that are asked for by text, which no map of names changes."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", None))
        if name in ATTRIBUTES_BY_TEXT:
            yield from (
                each.value
                for each in node.args
                if isinstance(each, ast.Constant) and isinstance(each.value, str)
            )
