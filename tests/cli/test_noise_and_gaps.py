"""``--noise``, ``--gap``, ``--gap-grid`` and ``--counts``: in words, as JSON, as CSV, and refused."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.cli.commands import VOTE, Call

PLURALITY = f"{VOTE} --kind plurality --epsilon 2"


def test_a_winner_says_by_how_much_it_leads(call: Call) -> None:
    said = call(f"{VOTE} --epsilon 2 --gap")
    assert said.code == 0
    assert "leads the runner-up by about" in said.out
    facts = call(f"{VOTE} --epsilon 2 --gap --gap-grid 1/2 --json").json
    assert len(facts["gaps"]) == 1
    assert Fraction(facts["gaps"][0]) % Fraction(1, 2) == 0
    assert facts["gap_grid"] == "1/2"
    assert float(facts["gap_margin"]) > 0
    dry = call(f"{VOTE} --epsilon 2 --gap --json --dry-run").json
    assert (dry["gaps"], dry["gap_grid"]) == (None, "1")
    assert call(f"{VOTE} --epsilon 2 --gap --csv").out.startswith("rank,winner,gap,")


def test_several_winners_of_a_plurality_have_laplace_noise_and_counts(call: Call) -> None:
    said = call(f"{PLURALITY} --k 3 --counts")
    assert said.code == 0
    assert "counts" in said.out
    assert "because" in said.out
    facts = call(f"{PLURALITY} --k 3 --counts --json").json
    assert facts["mechanism"] == "laplace"
    assert facts["noise_reason"]
    counts = list(map(int, facts["counts"]))
    assert counts == sorted(counts, reverse=True)
    assert len(counts) == 3
    named = call(f"{PLURALITY} --k 3 --noise exponential --json").json
    assert named["mechanism"] == "exponential"


@pytest.mark.parametrize(
    "options",
    ["--counts", "--noise laplace", "--gap --k 4", "--gap-grid 1", "--gap --gap-grid 0", "--noise cauchy"],
)
def test_what_is_not_proved_is_a_slip_with_a_way_out(options: str, call: Call) -> None:
    refused = call(f"{VOTE} --epsilon 2 {options}")
    assert refused.code == 2
    assert refused.err
