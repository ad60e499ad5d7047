"""What the command line says where no candidate has clearly more than a quorum."""

import json
from fractions import Fraction

from tests.cli.commands import Call

VOTE = ("vote", "ballots.csv", "--unit", "voter", "--choice", "candidate", "--candidates", "names.txt")


def test_no_clear_winner_is_an_answer(call: Call) -> None:
    told = call(*VOTE, "--epsilon", "1", "--quorum", "100000")
    assert told.code == 0
    assert "no clear winner: no candidate has clearly more than" in told.out
    written = call(*VOTE, "--epsilon", "1", "--quorum", "100000", "--json")
    facts = json.loads(written.out)
    assert (written.code, facts["winners"], facts["quorum"]) == (0, [], "100000")
    lines = call(*VOTE, "--epsilon", "1", "--quorum", "100000", "--csv").out.splitlines()
    assert len(lines) == 2
    assert lines[1].startswith(",,")


def test_a_quorum_may_be_chosen_for_an_empty_table_or_left_out(call: Call) -> None:
    auto = json.loads(call(*VOTE, "--epsilon", "1", "--quorum", "auto", "--json", "--dry-run").out)
    assert int(auto["quorum"]) > 0
    without = json.loads(call(*VOTE, "--epsilon", "1", "--quorum", "none", "--json", "--dry-run").out)
    assert "quorum" not in without


def test_numbers_between_bounds_have_a_quorum_too(call: Call) -> None:
    for question in ("price", "window --width 1", "threshold --label number --yes 7"):
        words = f"{question} survey.parquet --unit buyer --value wtp --between 0:2 --step 0.1 --epsilon 1"
        assert "no clear winner" in call(f"{words} --quorum 100000").out
        assert Fraction(call(f"{words} --quorum auto --dry-run --json").json["quorum"]) > 0


def test_a_quorum_that_cannot_be_is_refused_by_the_name_of_its_option(call: Call) -> None:
    for words in (("--quorum", "1/2"), ("--quorum", "many")):
        refused = call(*VOTE, "--epsilon", "1", *words)
        assert refused.code == 2
        assert "--quorum" in refused.err
    quantile = ("quantile", "pay.csv", "--unit", "person", "--value", "salary", "--at", "0.5")
    refused = call(*quantile, "--between", "0:100000", "--step", "100", "--epsilon", "1", "--quorum", "5")
    assert refused.code == 2
