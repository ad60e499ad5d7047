"""Renaming proved code, dpselect.audit.renames: only names may change, and no two may become one."""

import json
import subprocess
from pathlib import Path

import pytest

from dpselect.audit.proofs import digest
from dpselect.audit.renames import Renames, is_renamed, record
from dpselect.errors import InvalidParameter

OLD = '''"""A module."""

from dpselect.exact import field
from dpselect.exact.field import Lead
from math import floor


def leaders(lead: Lead, size: int = 3) -> int:
    """Count."""
    left = floor(size / 2) + lead.size  # a comment
    if left > 0 and not lead.closed:
        return field.count(left, key="lead", size=left)
    return -left
'''
NEW = '''"""A module of another name."""

from math import floor

from dpselect.selection import scores
from dpselect.selection.scores import Threshold


def split(
    threshold: Threshold,
    n: int = 3,
) -> int:
    remainder = floor(n / 2) + threshold.n
    if (remainder > 0 and not threshold.closed):
        return scores.count(remainder, key="lead", n=remainder)
    return -remainder
'''
RENAMES = Renames(
    {"dpselect.exact.field": "dpselect.selection.scores"},
    {"Lead": "Threshold", "leaders": "split", "left": "remainder", "field": "scores"},
    {"dpselect.module": {"size": "n", "lead": "threshold"}},
)


def test_code_under_the_map_is_the_same_code() -> None:
    assert is_renamed(OLD, NEW, "dpselect.module", RENAMES)
    assert is_renamed(OLD, OLD, "dpselect.module", Renames())


CHANGES = [
    ("floor(n / 2)", "floor(n // 2)"),
    ("floor(n / 2)", "floor(n / 3)"),
    ("n / 2) + threshold", "n / 2) - threshold"),
    ("> 0", ">= 0"),
    ("and not", "or not"),
    ("and not threshold", "and threshold"),
    ('key="lead"', 'key="threshold"'),
    ("return -remainder", "return remainder"),
    ("n: int = 3", "n: int = 4"),
    ("threshold.closed", "threshold.open"),
    ("threshold.closed", "threshold.n"),
    ("n=remainder", "n=n"),
    ("from math import floor", "from math import ceil as floor"),
    ("import Threshold", "import Threshold, other"),
    ("    return -remainder\n", ""),
    ("floor(n / 2) + threshold.n", "floor(n / 2 + threshold.n)"),
]


@pytest.mark.parametrize(("was", "now"), CHANGES)
def test_a_changed_token_is_not_let_through(was: str, now: str) -> None:
    assert was in NEW
    assert not is_renamed(OLD, NEW.replace(was, now, 1), "dpselect.module", RENAMES)


def test_two_names_must_not_become_one() -> None:
    old, new = "def f(a, b):\n    return a - b\n", "def f(b, b_):\n    return b - b\n"
    assert not is_renamed(old, new, "m", Renames({}, {"a": "b"}))
    captured = "def f(b, c):\n    return b - c\n"
    assert is_renamed(old, captured, "m", Renames({}, {"a": "b", "b": "c"}))


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("def f(x):\n    return max(x)\n", "def f(x):\n    return min(x)\n", {"max": "min"}),
        ("import math\na = math.ceil\n", "import math\na = math.floor\n", {"ceil": "floor"}),
        ("from math import ceil\na = ceil\n", "from math import floor\na = floor\n", {"ceil": "floor"}),
        ("def f(x):\n    return x\n", "def max(x):\n    return x\n", {"f": "max"}),
        ("def f(x):\n    return x.argmax()\n", "def f(x):\n    return x.argmin()\n", {"argmax": "argmin"}),
        (
            "def f(x):\n    return x.bit_length()\n",
            "def f(x):\n    return x.bit_count()\n",
            {"bit_length": "bit_count"},
        ),
    ],
)
def test_names_of_others_are_not_ours_to_change(old: str, new: str, names: dict[str, str]) -> None:
    assert not is_renamed(old, new, "m", Renames({}, names))


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        (
            "def copy(x):\n    return x.astype(int, copy=False)\n",
            "def subok(x):\n    return x.astype(int, subok=False)\n",
            {"copy": "subok"},
        ),
        (
            "import numpy as np\ndef copy(x):\n    return np.array(x, copy=False)\n",
            "import numpy as np\ndef subok(x):\n    return np.array(x, subok=False)\n",
            {"copy": "subok"},
        ),
        (
            "from functools import partial\ndef key(x):\n    return partial(sorted, key=x)\n",
            "from functools import partial\ndef reverse(x):\n    return partial(sorted, reverse=x)\n",
            {"key": "reverse"},
        ),
    ],
)
def test_a_keyword_of_a_function_of_others_is_not_ours(old: str, new: str, names: dict[str, str]) -> None:
    assert not is_renamed(old, new, "m", Renames({}, names))


def test_a_keyword_of_a_function_of_ours_is_renamed_with_it() -> None:
    old = "from dataclasses import replace\nfrom dpselect.a import f\nx = replace(f(wide=1), wide=2)\n"
    assert is_renamed(old, old.replace("wide", "broad"), "m", Renames({}, {"wide": "broad"}))


@pytest.mark.parametrize(
    ("was", "now"),
    [("__len__", "__length_hint__"), ("_repr_html_", "_repr_page_"), ("length", "__length")],
)
def test_a_name_that_python_or_a_notebook_asks_for_is_not_renamed(was: str, now: str) -> None:
    old = f"class A:\n    def {was}(self):\n        return 0\n"
    assert not is_renamed(old, old.replace(was, now), "m", Renames({}, {was: now}))


def test_a_method_that_a_class_of_others_calls_is_not_renamed() -> None:
    old = "from ast import NodeVisitor\nclass A(NodeVisitor):\n    def visit_Name(self, node): ...\n"
    names = {"visit_Name": "visit_name"}
    assert not is_renamed(old, old.replace("visit_Name", "visit_name"), "m", Renames({}, names))
    ours = old.replace("from ast", "from dpselect.a")
    assert is_renamed(ours, ours.replace("visit_Name", "visit_name"), "m", Renames({}, names))


def test_an_attribute_that_is_asked_for_by_text_is_not_renamed() -> None:
    """The text stays as it was, and getattr then gives its default without a word."""
    old = "class A:\n    checks = True\nx = getattr(A, 'checks', False)\n"
    new = "class A:\n    tests = True\nx = getattr(A, 'checks', False)\n"
    assert not is_renamed(old, new, "m", Renames({}, {"checks": "tests"}))


def test_a_map_of_modules_changes_imports_of_ours_alone() -> None:
    old = "def f(x):\n    return low(x) - high(x)\n"
    assert not is_renamed(old, old.replace("low", "high"), "m", Renames({"low": "high"}))
    old = "import math as m\nx = m.sqrt(2)\n"
    assert not is_renamed(old, old.replace("math", "cmath"), "m", Renames({"math": "cmath"}))


def test_a_module_renames_what_is_its_own_or_all_modules_do() -> None:
    old = "from dpselect.a import up\nx = up\n"
    new = "from dpselect.a import down\nx = down\n"
    assert not is_renamed(old, new, "m", Renames({}, {}, {"m": {"up": "down"}}))
    assert is_renamed(old, new, "m", Renames({}, {"up": "down"}))


def test_definitions_of_one_module_may_move_to_several() -> None:
    old = "from dpselect.a import f, g, h\nx = f(g, h)\n"
    new = "from dpselect.a import h\nfrom dpselect.b import f\nfrom dpselect.c import g\nx = f(g, h)\n"
    moves = {"dpselect.a.f": "dpselect.b.f", "dpselect.a.g": "dpselect.c.g"}
    assert is_renamed(old, new, "m", Renames(moves))
    assert not is_renamed(old, new, "m", Renames({"dpselect.a.f": "dpselect.b.f"}))
    assert not is_renamed(old, new.replace("f(g", "g(f"), "m", Renames(moves))


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package of one proved module, committed."""
    folder = tmp_path / "dpselect"
    (folder / "exact").mkdir(parents=True)
    (folder / "exact" / "module.py").write_text(OLD, encoding="utf-8")
    other = "class Lead:\n    size = whole = 1\nx = getattr(Lead, 'whole', 2)\n"
    (folder / "exact" / "field.py").write_text(other, encoding="utf-8")
    proof = f"---\nproves: dpselect.exact.module\ndigest: {digest(OLD)}\nrelies on:\ntested by:\n---\n"
    (folder / "exact" / "module.proof.md").write_text(proof, encoding="utf-8")
    commit(tmp_path)
    return folder


def commit(folder: Path) -> None:
    """Commit all that is there, to a repository that is made if there is none."""
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "old"]):
        identity = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org"]
        subprocess.run(["git", *identity, *words], cwd=folder, check=True)  # noqa: S607 - the caller's git


def move(package: Path, source: str) -> Path:
    """Move both modules and the proof to another folder, one with other code, the other with other names."""
    (package / "selection").mkdir()
    other = (package / "exact" / "field.py").read_text(encoding="utf-8")
    other = other.replace("Lead", "Threshold").replace("size", "n").replace("leaders", "split")
    (package / "selection" / "scores.py").write_text(other, encoding="utf-8")
    proof = package / "selection" / "winner.proof.md"
    text = (package / "exact" / "module.proof.md").read_text(encoding="utf-8")
    proof.write_text(text.replace("dpselect.exact.module", "dpselect.selection.winner"), encoding="utf-8")
    (package / "selection" / "winner.py").write_text(source, encoding="utf-8")
    for name in ("module.py", "module.proof.md", "field.py"):
        (package / "exact" / name).unlink()
    return proof


MOVED = Renames(
    {**RENAMES.modules, "dpselect.exact.module": "dpselect.selection.winner"},
    {**RENAMES.names, "size": "n"},
    {"dpselect.exact.module": {"lead": "threshold"}},
)


def test_a_move_is_recorded(package: Path) -> None:
    proof = move(package, NEW)
    assert record(MOVED, package) == (["dpselect.selection.winner"], [])
    assert f"digest: {digest(NEW)}" in proof.read_text(encoding="utf-8")
    assert record(MOVED, package) == ([], [])


def test_a_move_that_changes_more_is_left_to_a_reader(package: Path) -> None:
    proof = move(package, NEW.replace("> 0", ">= 0"))
    assert record(MOVED, package) == ([], ["dpselect.selection.winner"])
    assert digest(OLD) in proof.read_text(encoding="utf-8")


def test_a_new_name_must_be_new_everywhere(package: Path) -> None:
    with pytest.raises(InvalidParameter, match="that nothing else in the package has"):
        record(Renames({}, {"leaders": "floor"}), package)


def test_a_name_that_the_package_does_not_define_is_refused(package: Path) -> None:
    """It may be an attribute of an object of others, and then the new one is another attribute."""
    with pytest.raises(InvalidParameter, match="it does not define 'closed'"):
        record(Renames({}, {"closed": "shut"}), package)


def test_a_name_that_another_module_asks_for_by_text_is_refused(package: Path) -> None:
    with pytest.raises(InvalidParameter, match="'whole' is asked for so"):
        record(Renames({}, {"whole": "complete"}), package)


@pytest.mark.parametrize(
    "move_to",
    ["dpselect.exact.module", "dpselect.exact.module.leaders"],
)
def test_nothing_moves_to_where_another_module_or_definition_is(move_to: str, package: Path) -> None:
    """What imported the one would use the other."""
    with pytest.raises(InvalidParameter, match=r"'dpselect\.exact\.field\.Lead' is not such a move"):
        record(Renames({"dpselect.exact.field.Lead": move_to}), package)
    with pytest.raises(InvalidParameter, match=r"'dpselect\.exact\.none' is not such a move"):
        record(Renames({"dpselect.exact.none": "dpselect.exact.new"}), package)


CALLER = "from dpselect.exact.module import leaders\nx = leaders(size=1, lead=2)\n"


@pytest.fixture
def with_a_caller(package: Path) -> Path:
    """The same, with a module that calls the proved one by keywords."""
    (package / "caller.py").write_text(CALLER, encoding="utf-8")
    commit(package.parent)
    return package


def exchanged(code: str) -> str:
    """Let two names change places."""
    return code.replace("size", "SIZE").replace("lead:", "size:").replace("lead.", "size.").replace(
        "lead=", "size="
    ).replace("SIZE", "lead")  # fmt: skip


BOTH_WAYS = {"size": "lead", "lead": "size"}


@pytest.mark.parametrize(
    "renames", [Renames({}, BOTH_WAYS), Renames({}, {}, {"dpselect.exact.module": BOTH_WAYS})]
)
def test_names_that_change_places_where_callers_do_not_follow_are_refused(
    renames: Renames, with_a_caller: Path
) -> None:
    """The proved module alone is the same code; but who calls it by keywords would call another function."""
    module = with_a_caller / "exact" / "module.py"
    module.write_text(exchanged(OLD), encoding="utf-8")
    assert is_renamed(OLD, exchanged(OLD), "dpselect.exact.module", renames)
    with pytest.raises(InvalidParameter, match=r"(by|in) all modules that see"):
        record(renames, with_a_caller)


def test_names_that_change_places_everywhere_are_recorded(with_a_caller: Path) -> None:
    for path in with_a_caller.rglob("*.py"):
        path.write_text(exchanged(path.read_text(encoding="utf-8")), encoding="utf-8")
    assert record(Renames({}, BOTH_WAYS), with_a_caller) == (["dpselect.exact.module"], [])


def test_a_variable_of_a_function_may_be_renamed_in_one_module(with_a_caller: Path) -> None:
    module = with_a_caller / "exact" / "module.py"
    module.write_text(OLD.replace("left", "rest"), encoding="utf-8")
    only_here = Renames({}, {}, {"dpselect.exact.module": {"left": "rest"}})
    assert record(only_here, with_a_caller) == (["dpselect.exact.module"], [])


def test_what_was_not_read_before_is_not_read_now(package: Path) -> None:
    proof = move(package, NEW)
    proof.write_text(proof.read_text(encoding="utf-8").replace(digest(OLD), "0" * 64), encoding="utf-8")
    assert record(MOVED, package) == ([], ["dpselect.selection.winner"])


def test_a_module_that_was_nowhere_is_left_to_a_reader(package: Path) -> None:
    move(package, NEW)
    assert record(Renames(), package) == ([], ["dpselect.selection.winner"])


@pytest.mark.parametrize("text", ["no json", "[]", json.dumps({"nmaes": {}})])
def test_a_map_that_is_none_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidParameter, match=r"map\.json must be a file of JSON"):
        Renames.read(path)
    with pytest.raises(InvalidParameter, match=r"missing\.json must be a file of JSON"):
        Renames.read(tmp_path / "missing.json")
    for no_map in ('{"names": ["a"]}', '{"names": {"a": 1}}', '{"in": {"dpselect.a": "b"}}', '{"in": []}'):
        path.write_text(no_map, encoding="utf-8")
        with pytest.raises(InvalidParameter, match=r"map\.json must give each name its new one, as text"):
            Renames.read(path)
    path.write_text('{"names": {"a": "b"}}', encoding="utf-8")
    assert Renames.read(path) == Renames({}, {"a": "b"})
