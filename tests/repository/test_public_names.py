"""The public names of the package: each listed, each found, each known to type checkers."""

import ast
import importlib.metadata
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import dpselect

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"


def homes_told_to_type_checkers() -> dict[str, str]:
    """Read the imports that only type checkers see: which module each public name comes from."""
    tree = ast.parse(Path(dpselect.__file__).read_text(encoding="utf-8"))
    return {
        alias.name: str(node.module)
        for guard in tree.body
        if isinstance(guard, ast.If)
        for node in guard.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_python_and_type_checkers_are_told_of_the_same_names() -> None:
    assert sorted(homes_told_to_type_checkers()) == sorted(dpselect.__all__)


@pytest.mark.parametrize("name", dpselect.__all__)
def test_a_public_name_is_the_object_of_its_home_module(name: str) -> None:
    home = import_module(homes_told_to_type_checkers()[name])
    assert getattr(dpselect, name) is getattr(home, name)


def test_all_public_names_are_listed_by_dir() -> None:
    assert {*dpselect.__all__, "__version__"} == {*dir(dpselect)}


def test_a_name_that_is_not_public_is_an_attribute_error() -> None:
    unknown = "no_such_name"
    with pytest.raises(AttributeError, match=f"module 'dpselect' has no attribute '{unknown}'"):
        getattr(dpselect, unknown)


def test_the_version_is_the_same_in_the_package_and_in_its_metadata() -> None:
    declared = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["version"]
    assert dpselect.__version__ == declared == importlib.metadata.version("dpselect")


PACKAGES = sorted(path.parent for path in Path(dpselect.__file__).parent.glob("*/__init__.py"))
CONSTRUCTORS = [name for name in dpselect.__all__ if name.startswith("make_")]


@pytest.mark.parametrize(
    "folder", [each for each in PACKAGES if each.name != "cli"], ids=lambda each: each.name
)
def test_a_front_door_has_an_example(folder: Path) -> None:
    """That of the command line is ``dpselect demo``."""
    assert "\n>>> " in str(import_module(f"dpselect.{folder.name}").__doc__)


@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_a_constructor_says_how_long_it_takes_how_good_it_is_and_shows_it(name: str) -> None:
    said = str(getattr(dpselect, name).__doc__)
    for heading in ("\n    Runtime\n", "\n    Utility\n", "\n    >>> "):
        assert heading in said
