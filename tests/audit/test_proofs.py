"""Proofs are bound to code: the digest moves with the code, and with nothing else."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpselect.audit.proofs import digest, proofs, reviewed
from dpselect.errors import InvalidParameter

CODE = '''"""A module with everything that is told apart.

It has more than one line.
"""

import math  # for pi


@staticmethod
def area(radius: float) -> float:  # of a circle
    """Give πr²: the docstring may hold # and 'quotes'."""

    # é, 語 and 🎲 take more bytes than characters.
    label = "語 # not a comment"; "a statement that is only text"  # 🎲
    shown = f"{label!r:>{10}} # {radius} é"
    return math.pi * radius**2 if shown else 0.0


def nothing(): "says nothing"


class Outer:
    \'\'\'Documented.\'\'\'

    class Inner:
        "Documented too."

        def method(self):
            """One."""
            def nested():
                r"""Two."""
                return (  # opened
                    1,
                    """kept # as it is""",
                )
            return nested
'''

SAME_CODE = """import math
@staticmethod
def area(radius: float) -> float:
    label = "語 # not a comment";
    shown = f"{label!r:>{10}} # {radius} é"
    return math.pi * radius**2 if shown else 0.0
def nothing(): "something else"
class Outer:
    class Inner:
        def method(self):
            def nested():
                return (
                    1,
                    \"\"\"kept # as it is\"\"\",
                )
            return nested"""


def test_comments_docstrings_blank_lines_and_trailing_space_do_not_count() -> None:
    assert digest(CODE) == digest(SAME_CODE)


def test_the_digest_is_the_same_on_every_python() -> None:
    # Computed on Python 3.11.7, 3.12.1 and 3.13.0: this test runs on whichever you have.
    assert digest(CODE) == "769e129f00d645a0dc9894f0736262b40d02109958e8411fdd26b61349f51832"
    assert digest("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"  # of nothing


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# for pi", "# for the area"),
        ("  # for pi", ""),
        ("import math  # for pi", "# for pi\nimport math"),
        ("It has more than one line.", "It has\n\nmore lines\nnow: 語."),
        ('"""Give πr²: the docstring may hold # and \'quotes\'."""', '"""Give."""  # πr²'),
        ("\n\n\n@staticmethod", "\n@staticmethod"),
        ("else 0.0\n", "else 0.0   \t\n"),
        ('"says nothing"', '"""says\nstill nothing"""'),
        ("'''Documented.'''", "# no longer documented"),
        ('r"""Two."""', "'two' 'of them'"),
        ("# opened", "# (opened"),
        ('"a statement that is only text"', '"another"'),
        ("🎲", "語é"),
    ],
)
def test_what_is_only_written_for_readers_leaves_the_digest_alone(before: str, after: str) -> None:
    assert before in CODE
    assert digest(CODE.replace(before, after, 1)) == digest(CODE)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("radius**2 if", "radius*2 if"),
        ("radius**2 if", "radius**3 if"),
        ("math.pi * radius", "math.pi / radius"),
        ("math.pi * radius", "math.pi*radius"),
        ("def area", "def surface"),
        ("@staticmethod\n", ""),
        ("label = ", "title = "),
        ('"語 # not a comment"', '"語 # not a Comment"'),
        ('"語 # not a comment"', '"語 #"'),
        ('"語 # not a comment"', '"言 # not a comment"'),
        ("} # {radius}", "} {radius}"),
        ("{10}", "{11}"),
        ("radius} é", "radius} e"),
        ('"""kept # as it is"""', '"""kept # as it was"""'),
        ("            return nested", "        return nested"),
        ("if shown else 0.0", "if shown else 0.5"),
        ("import math", "import cmath as math"),
        ("radius: float", "radius: int"),
        ('def nothing(): "says nothing"', 'def nothing(): return "says nothing"'),
        ('"""Give πr²', 'f"""Give πr²'),
    ],
)
def test_whatever_a_computer_would_read_moves_the_digest(before: str, after: str) -> None:
    assert before in CODE
    assert digest(CODE.replace(before, after, 1)) != digest(CODE)


@pytest.mark.parametrize("odd", ["\x0c\n", 'S = "\u2028"\n', 'S = "\x85"\n', "# \x0b\n"], ids=ascii)
def test_only_a_newline_ends_a_line(odd: str) -> None:
    """Python's parser counts fewer line breaks than ``str.splitlines``."""
    code = f'{odd}scale = 2\n"""documentation"""\n'
    assert digest(code) != digest(code.replace("scale = 2", "scale = 3"))
    assert digest(code) == digest(code.replace("documentation", "more\nof it"))


def test_the_order_of_lines_counts() -> None:
    assert digest("a = 1\nb = 2\n") != digest("b = 2\na = 1\n")


def test_code_before_and_after_a_docstring_on_its_line_counts() -> None:
    code = 'def f(): """one\ntwo"""; return 1\nx = 1; "text"; y = 2\n'
    same = 'def f(): """three"""; return 1  # one\nx = 1; "other # text"; y = 2\n'
    assert digest(code) == digest(same)
    for before, after in [("return 1", "return 2"), ("x = 1", "x = 2"), ("y = 2", "y = 3"), ("f()", "f(a)")]:
        assert digest(code.replace(before, after)) != digest(code)


texts = st.text(st.sampled_from("aé語🎲# '"), max_size=12)


@settings(deadline=None)
@given(texts, texts, st.integers(0, 99), st.integers(0, 99))
def test_any_comment_and_docstring_in_any_alphabet_is_cut_out_whole(
    comment: str, words: str, one: int, other: int
) -> None:
    def code(number: int, comment: str, words: str) -> str:
        return (
            f'def f():\n    """{words}\n    {words}"""; x = "{comment}"  # {comment}\n    return {number}\n'
        )

    assert digest(code(one, comment, words)) == digest(code(one, comment, "").replace(f"  # {comment}", ""))
    assert (digest(code(one, comment, words)) == digest(code(other, comment, words))) is (one == other)


# Proofs on disk.

PROOF = """---
proves: package.circles
digest: {digest}
relies on: package.numbers,  package.lines
tested by: tests/test_circles.py
---

# Circles

digest: {digest} is said again here, and stays.
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Make a package with one proof that fits, and one that does not."""
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "circles.py").write_text(CODE, encoding="utf-8")
    (tmp_path / "circles.proof.md").write_text(PROOF.format(digest="0" * 64), encoding="utf-8")
    (inner / "lines.py").write_text("x = 1\n", encoding="utf-8")
    (inner / "lines.proof.md").write_text(
        f"---\nproves: package.inner.lines\ndigest: {digest('x = 1')}\nrelies on:\ntested by:\n---\nSo.\n",
        encoding="utf-8",
    )
    return tmp_path


def test_a_proof_is_read_with_what_it_proves_and_rests_on(package: Path) -> None:
    circles, lines = proofs(package)
    assert circles.proves == "package.circles"
    assert circles.code == package / "circles.py"
    assert circles.recorded == "0" * 64
    assert circles.digest == digest(CODE)
    assert circles.relies_on == ("package.numbers", "package.lines")
    assert circles.tested_by == ("tests/test_circles.py",)
    assert (lines.relies_on, lines.tested_by) == ((), ())


def test_a_proof_complains_only_if_its_code_has_moved(package: Path) -> None:
    circles, lines = proofs(package)
    assert lines.complaint is None
    assert circles.complaint == (
        "package.circles changed: read its proof again, then record it: python3 run.py reviewed circles"
    )
    lines.code.write_text("x = 2\n", encoding="utf-8")
    assert lines.complaint is not None
    lines.code.write_text("x = 1  # one\n", encoding="utf-8")
    assert lines.complaint is None


@pytest.mark.parametrize("name", ["circles", "package.circles"])
def test_a_review_rewrites_the_digest_and_nothing_else(package: Path, name: str) -> None:
    others = {path: path.read_bytes() for path in package.rglob("*.*") if path.name != "circles.proof.md"}
    assert reviewed(name, package) == digest(CODE)
    expected = PROOF.format(digest="0" * 64).replace("0" * 64, digest(CODE), 1)
    assert (package / "circles.proof.md").read_text(encoding="utf-8") == expected
    assert {path: path.read_bytes() for path in others} == others
    assert [proof.complaint for proof in proofs(package)] == [None, None]


def test_a_review_of_what_was_reviewed_already_changes_nothing(package: Path) -> None:
    before = (package / "inner/lines.proof.md").read_bytes()
    assert reviewed("lines", package) == digest("x = 1")
    assert (package / "inner/lines.proof.md").read_bytes() == before


def test_a_first_review_fills_in_the_digest(package: Path) -> None:
    """An empty field must not take its value from the next line."""
    path = package / "circles.proof.md"
    path.write_text(PROOF.replace("digest: {digest}", "digest:", 1), encoding="utf-8")
    circles, _ = proofs(package)
    assert circles.recorded == ""
    assert circles.complaint is not None
    reviewed("circles", package)
    assert path.read_text(encoding="utf-8") == PROOF.replace("{digest}", digest(CODE), 1)
    assert [proof.complaint for proof in proofs(package)] == [None, None]


@pytest.mark.parametrize("field", ["proves", "digest", "relies on", "tested by"])
def test_a_proof_without_one_of_its_fields_is_refused_by_its_name(package: Path, field: str) -> None:
    path = package / "circles.proof.md"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for row, line in enumerate(lines) if row > 5 or not line.startswith(field)]
    path.write_text("".join(kept), encoding="utf-8")
    with pytest.raises(InvalidParameter) as caught:
        list(proofs(package))
    assert str(caught.value) == f"circles.proof.md must begin with {field}."


@pytest.mark.parametrize("name", ["circle", "", "package", "circles.py"])
def test_an_unknown_proof_is_refused_with_the_list_of_known_ones(package: Path, name: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        reviewed(name, package)
    assert str(caught.value) == (
        f"NAME must be a module with a proof; got {name!r}. There are: circles, lines."
    )
