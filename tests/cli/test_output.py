"""An answer, and a dry run, show what was asked: the candidates as they were read, and the schema."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.commands import MEDIAN, PRICE, VOTE, Call


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("more", ["", " --dry-run"])
def test_the_candidates_are_counted_and_the_first_three_shown(more: str, call: Call) -> None:
    assert "candidates 4: Rex, Biscuit, Émile, …" in words(call(f"{VOTE} --epsilon 1{more}").out)
    three = call(f"{VOTE.replace('names.txt', 'Rex,Bo,Max')} --epsilon 1{more}")
    assert "candidates 3: Rex, Bo, Max " in words(three.out) + " "
    assert call(f"{VOTE} --epsilon 1 --json{more}").json["candidates"] == {
        "count": 4,
        "first": ["Rex", "Biscuit", "Émile"],
    }
    assert call(f"{PRICE} --epsilon 1 --json{more}").json["candidates"] == {
        "count": 199,
        "first": ["0.01", "0.02", "0.03"],
    }
    steps = call(f"{MEDIAN} --epsilon 1 --json{more}").json["candidates"]
    assert (steps["count"], steps["first"]) == (201, ["0", "500", "1000"])
    scores = "scores totals.csv --candidates soup,tea,pie --sensitivity 1 --epsilon 1 --json"
    assert call(f"{scores}{more}").json["candidates"] == {"count": 3, "first": ["soup", "tea", "pie"]}


def test_a_header_that_was_taken_for_a_name_is_seen(folder: Path, call: Call) -> None:
    (folder / "list.txt").write_text("name\nRex\nBo\n", encoding="utf-8")
    shown = call(f"{VOTE.replace('names.txt', 'list.txt')} --epsilon 1 --dry-run").out
    assert "candidates 3: name, Rex, Bo" in words(shown)


def test_a_dry_run_shows_the_schema_and_an_answer_does_not(call: Call) -> None:
    line = "price survey.parquet --unit buyer --value wtp --prices 1,2 --epsilon 1"
    shown = words(call(f"{line} --dry-run").out)
    assert "schema buyer (text), wtp (decimal), number (integer), day (date)" in shown
    assert call(f"{line} --dry-run --json").json["schema"][:2] == [
        {"name": "buyer", "type": "text"},
        {"name": "wtp", "type": "decimal"},
    ]
    assert "schema" not in call(line).out
    assert call(f"{line} --json").json["schema"] is None
    scores = "scores totals.csv --candidates soup,tea,pie --sensitivity 1 --epsilon 1 --dry-run --json"
    assert call(scores).json["schema"] is None


def test_a_schema_of_many_columns_is_cut_for_a_person_not_for_a_script(folder: Path, call: Call) -> None:
    names = ["who", "what", *(f"c{i}" for i in range(30))]
    rows = [",".join(names), ",".join(["a"] * len(names))]
    (folder / "wide.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    line = "vote wide.csv --unit who --choice what --candidates a,b --epsilon 1 --dry-run"
    assert words(call(line).out).endswith("c17 (text), …")
    assert len(call(f"{line} --json").json["schema"]) == 32


@pytest.mark.parametrize("line", [f"{VOTE} --dry-run", "plan --n 3", f"{MEDIAN} --dry-run"])
def test_a_price_that_hides_nothing_says_so_and_is_not_left_without_a_word(line: str, call: Call) -> None:
    """A person who writes 50 for 50 % pays for odds that nothing bounds."""
    hidden = "price epsilon 50: next to nothing is hidden about one person; take a lower price"
    assert hidden in words(call(f"{line} --epsilon 50").out)
    assert "changes odds about one person by at most a factor of 2.72" in call(f"{line} --epsilon 1").out
