"""The reference is the help; its examples run; and JSON has the keys that its page says."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from dpselect.cli.reference import page
from tests.cli.commands import VOTE, Call
from tests.ledger.stored_format import FORMAT_2

DOCS = Path(__file__).parents[2] / "docs" / "reference"
CLI, JSON = DOCS / "cli.md", DOCS / "json.md"


def examples(markdown: str) -> list[str]:
    """Find the commands after 'Example:' or 'Examples:', their lines joined."""
    found = []
    for block in re.findall(r"^  Examples?:\n(.*?)^```$", markdown, flags=re.DOTALL | re.MULTILINE):
        joined = re.sub(r" \\\n\s+", " ", block)
        found += [line.strip() for line in joined.splitlines() if line.strip()]
    return found


def keys(heading: str) -> set[str]:
    """Find the keys that a section of the page explains."""
    (section,) = re.findall(
        rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)",
        JSON.read_text(encoding="utf-8"),
        flags=re.DOTALL | re.MULTILINE,
    )
    return set(re.findall(r"^\| `(\w+)` \|", section, flags=re.MULTILINE))


EXAMPLES = examples(CLI.read_text(encoding="utf-8"))
ELSEWHERE = (
    "dpselect verify --json",
    "dpselect studio --demo",
    "dpselect studio --folder clinic --allowed-root /srv/tables --port 8350",
)
"""Examples that test_verify.py and tests/studio run: the one takes long, the others do not end."""


def test_the_page_is_made_of_the_help_texts() -> None:
    assert CLI.read_text(encoding="utf-8") == page(), (
        "run: python -m dpselect.cli.reference > docs/reference/cli.md"
    )


def test_every_command_has_an_example() -> None:
    commands = re.findall(r"^## dpselect (.+)$", CLI.read_text(encoding="utf-8"), flags=re.MULTILINE)
    shown = " ".join(EXAMPLES)
    assert len(commands) >= 16
    assert [name for name in commands if name != "ledger" and f"dpselect {name}" not in shown] == []


@pytest.mark.parametrize("example", [each for each in EXAMPLES if each not in ELSEWHERE])
def test_an_example_runs(example: str, folder: Path, call: Call) -> None:
    if "ledger create" not in example:
        assert call("ledger create town.ledger --epsilon 2 --unit voter").code == 0
    if "ledger account" in example and "account open" not in example:
        assert call("ledger account open town.ledger ada --epsilon 1/2").code == 0
    if "town.jsonl" in example and "export" not in example:
        assert call("ledger export town.ledger --output town.jsonl").code == 0
    if "ledger upgrade" in example:
        for name in ("pure.ledger", "pure.ledger.anchor"):
            shutil.copy(FORMAT_2 / name, folder / name.replace("pure", "old"))
    assert folder.is_dir()
    outcome = call(*shlex.split(example)[1:])
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out


def test_the_examples_that_run_elsewhere_are_there() -> None:
    assert [each for each in ELSEWHERE if each not in EXAMPLES] == []


@pytest.mark.parametrize(
    ("heading", "line"),
    [
        (
            "vote, top, mode, price, quantile, summary, window, threshold, scores",
            f"{VOTE} --epsilon 1 --json",
        ),
        ("plan", "plan --n 3 --epsilon 1 --json"),
        ("law", "law 1,2 --scale 1 --json"),
        ("doctor", "doctor --json"),
        ("bench", "bench --largest 10 --json"),
        ("version", "version --json"),
    ],
)
def test_json_has_the_keys_that_its_page_says(heading: str, line: str, call: Call) -> None:
    assert set(call(line).json) == keys(heading)


def test_a_ledgers_json_has_the_keys_that_its_page_says(call: Call) -> None:
    said = keys("ledger create, show, verify")
    assert set(call("ledger create town.ledger --epsilon 1 --json").json) < said
    shown, verified = (
        call("ledger show town.ledger --json").json,
        call("ledger verify town.ledger --json").json,
    )
    assert call("ledger create pair.ledger --epsilon 1 --delta 1e-6").code == 0
    assert call("ledger account open pair.ledger ada --epsilon 1/2 --reserve").code == 0
    assert {*shown, *verified, *call("ledger show pair.ledger --json").json} == said


def test_the_commands_of_the_readme_run(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    readme = (DOCS.parents[1] / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```console\n(.*?)^```$", readme, flags=re.DOTALL | re.MULTILINE)
    lines = [line.removeprefix("$ ") for line in block.splitlines()]
    assert len(lines) == 5
    for line in lines:
        program, *words = shlex.split(line)
        if program == "cd":
            monkeypatch.chdir(Path.cwd() / words[0])
        else:
            outcome = call(*words)
            assert (program, outcome.code, outcome.err) == ("dpselect", 0, "")


@pytest.mark.parametrize(
    "options",
    [
        "--dry-run",
        "--each candidate --groups Rex,Bo",
        "--each candidate --groups Rex,Bo --k 2 --quorum 5",
        "--gap --k 2",
        "--kind plurality --noise laplace --counts",
    ],
)
@pytest.mark.parametrize("form", ["--json", "--csv"])
def test_every_key_of_an_answer_is_on_its_page(options: str, form: str, call: Call) -> None:
    answer = call(f"{VOTE} --epsilon 1 {options} {form}")
    found = set(answer.json) if form == "--json" else set(answer.out.splitlines()[0].split(","))
    assert len(found) > 15
    assert found - set(re.findall(r"`(\w+)`", JSON.read_text(encoding="utf-8"))) == set()
