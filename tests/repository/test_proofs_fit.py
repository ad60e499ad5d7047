"""Every proof fits the code beside it, rests on proofs only, and names a test that speaks of its module."""

import shutil
from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from dpselect.audit.proofs import Proof, proofs

CHECKOUT = Path(__file__).parents[2]
PACKAGE = CHECKOUT / "src/dpselect"
NEEDS_NO_PROOF = {"__init__", "numbers", "float_errors"}  # nothing in them is random


def outdated(package: Path) -> list[str]:
    """Say which code has moved since it was read together with its proof."""
    return [proof.complaint for proof in proofs(package) if proof.complaint]


def unproven(package: Path) -> list[str]:
    """Name the modules of ``exact`` without a proof."""
    proven = {proof.code for proof in proofs(package)}
    return [
        path.stem
        for part in ("exact", "selection")
        for path in sorted((package / part).glob("*.py"))
        if path.stem not in NEEDS_NO_PROOF and path not in proven
    ]


def gaps(found: Iterable[Proof]) -> list[str]:
    """Say which proofs rest on something that has none, or on each other in a circle."""
    rests_on = {proof.proves: proof.relies_on for proof in found}
    open_ends = [
        f"{proof} relies on {other}, which has no proof"
        for proof, others in rests_on.items()
        for other in others
        if other not in rests_on
    ]
    try:
        TopologicalSorter(rests_on).prepare()
    except CycleError as circle:
        return [*open_ends, f"a circle: {' -> '.join(circle.args[1])}"]
    return open_ends


def untested(found: Iterable[Proof], checkout: Path) -> list[str]:
    """Say which proofs name no test, a test that is not there, or one that does not speak of their module."""
    wrong = []
    for proof in found:
        if not proof.tested_by:
            wrong.append(f"{proof.proves} names no test")
        for test in proof.tested_by:
            path = checkout / test
            if not path.is_file():
                wrong.append(f"{test} of {proof.proves} is missing")
            elif proof.proves not in path.read_text(encoding="utf-8"):
                wrong.append(f"{test} does not mention {proof.proves}")
    return wrong


def misnamed(found: Iterable[Proof], package: Path) -> list[str]:
    """Say which proofs lie beside another module than the one they name."""
    return [
        proof.proves
        for proof in found
        if proof.proves != ".".join(proof.code.relative_to(package.parent).with_suffix("").parts)
    ]


def test_every_proof_fits_its_code() -> None:
    assert outdated(PACKAGE) == []


def test_every_sampler_is_proven() -> None:
    assert unproven(PACKAGE) == []


def test_every_proof_lies_beside_the_module_that_it_names() -> None:
    assert misnamed(proofs(), PACKAGE) == []


def test_proofs_rest_on_proofs_and_never_on_themselves() -> None:
    assert gaps(proofs()) == []


def test_every_proof_names_a_test_that_speaks_of_its_module() -> None:
    assert untested(proofs(), CHECKOUT) == []


# Each guard, seen to fail.


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Make a small package with two proofs that hold."""
    exact = tmp_path / "dpselect" / "exact"
    exact.mkdir(parents=True)
    for name in ("__init__", "numbers", "coins", "dice"):
        (exact / f"{name}.py").write_text(f"SIDES = {len(name)}\n", encoding="utf-8")
    (tmp_path / "test_games.py").write_text(
        "import dpselect.exact.coins, dpselect.exact.dice", encoding="utf-8"
    )
    for name, relies_on in (("coins", ""), ("dice", "dpselect.exact.coins")):
        write_proof(exact, name, relies_on, "test_games.py")
    return tmp_path / "dpselect"


def write_proof(folder: Path, name: str, relies_on: str, tested_by: str) -> None:
    path = folder / f"{name}.proof.md"
    digest = Proof(path, name, "", (), ()).digest
    path.write_text(
        f"---\nproves: dpselect.exact.{name}\ndigest: {digest}\nrelies on: {relies_on}\n"
        f"tested by: {tested_by}\n---\n\nIt is so.\n",
        encoding="utf-8",
    )


def complaints(package: Path) -> list[str]:
    found = list(proofs(package))
    return [
        *outdated(package),
        *unproven(package),
        *gaps(found),
        *untested(found, package.parent),
        *misnamed(found, package),
    ]


def test_a_package_whose_proofs_hold_is_accepted(package: Path) -> None:
    assert complaints(package) == []


def test_code_that_moved_after_its_review_is_found(package: Path) -> None:
    code = package / "exact/coins.py"
    code.write_text(code.read_text(encoding="utf-8") + "# a comment is no change\n", encoding="utf-8")
    assert complaints(package) == []
    code.write_text("SIDES = 3\n", encoding="utf-8")
    assert complaints(package) == [
        "dpselect.exact.coins changed: read its proof again, then record it: python3 run.py reviewed coins"
    ]


def test_a_change_of_our_own_code_is_found(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "dpselect", ignore=shutil.ignore_patterns("__pycache__"))
    for proof in list(proofs(tmp_path / "dpselect")):
        text = proof.code.read_text(encoding="utf-8")
        proof.code.write_text(text + "\nMORE = 1\n", encoding="utf-8")
        assert proof.complaint is not None
        proof.code.write_text(text + "\n# more\n", encoding="utf-8")
        assert (
            proof.digest
            == Proof(PACKAGE / proof.path.relative_to(tmp_path / "dpselect"), "", "", (), ()).digest
        )


def test_a_module_without_a_proof_is_found(package: Path) -> None:
    (package / "exact/cards.py").write_text("", encoding="utf-8")
    assert complaints(package) == ["cards"]


def test_a_proof_that_rests_on_nothing_proven_is_found(package: Path) -> None:
    write_proof(package / "exact", "dice", "dpselect.exact.cards", "test_games.py")
    assert complaints(package) == ["dpselect.exact.dice relies on dpselect.exact.cards, which has no proof"]


def test_a_circle_of_proofs_is_found(package: Path) -> None:
    write_proof(package / "exact", "coins", "dpselect.exact.dice", "test_games.py")
    (complaint,) = complaints(package)
    assert complaint.startswith("a circle: dpselect.exact.")


@pytest.mark.parametrize(
    ("tested_by", "complaint"),
    [
        ("", "dpselect.exact.dice names no test"),
        ("test_gone.py", "test_gone.py of dpselect.exact.dice is missing"),
        ("test_games.py, test_other.py", "test_other.py does not mention dpselect.exact.dice"),
    ],
)
def test_a_proof_without_a_test_of_its_module_is_found(package: Path, tested_by: str, complaint: str) -> None:
    (package.parent / "test_other.py").write_text("import dpselect.exact.coins", encoding="utf-8")
    write_proof(package / "exact", "dice", "dpselect.exact.coins", tested_by)
    assert complaints(package) == [complaint]


def test_a_proof_beside_another_module_is_found(package: Path) -> None:
    (package / "exact/dice.proof.md").rename(package / "exact/numbers.proof.md")
    assert "dpselect.exact.dice" in misnamed(proofs(package), package)
