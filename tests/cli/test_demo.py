"""``demo`` goes through, on data that follow their formulas."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

from dpselect.cli import demo_data
from tests.cli.commands import Call, in_a_process


def test_the_demo_shows_the_whole_job_and_is_refused_at_the_end(folder: Path) -> None:
    shown = in_a_process("demo", folder)
    assert (shown.code, shown.err) == (0, "")
    for words in (
        "43,268 approvals of 100 names",
        demo_data.APPROVAL_RULE,
        demo_data.SURVEY_RULE,
        "$ dpselect plan --n 100 --k 3 --epsilon 1",
        "27.54",
        "$ dpselect ledger create mascot.ledger --epsilon 2",
        "epsilon 1 of 2 spent, 1 left",
        "epsilon 1.5 of 2 spent, 0.5 left",
        '"remaining": "1/2"',
        "this costs epsilon 1; epsilon 0.5 of 2 is left",
        "(exit code 3)",
        "approval_voting of name, 3 of 100",
    ):
        assert words in " ".join(shown.out.split()) or words in shown.out
    winners = re.findall(r"^[123]  (.+)$", shown.out, flags=re.MULTILINE)
    assert len(winners) == 3
    assert set(winners) < set(demo_data.MASCOTS)
    assert not list(folder.glob("mascot*"))


def test_a_demo_can_be_kept(folder: Path, call: Call) -> None:
    assert call("demo --folder kept").code == 0
    assert Path.cwd() == folder
    assert {"names.txt", "ballots.csv", "survey.csv", "mascot.ledger"} <= {
        path.name for path in (folder / "kept").iterdir()
    }
    call("demo --folder kept").refused(2, "mascot.ledger")


def test_the_made_up_data_follow_their_formulas() -> None:
    votes = demo_data.votes()
    assert len(demo_data.MASCOTS) == len(set(demo_data.MASCOTS)) == 100
    assert votes[demo_data.MASCOTS[2]] == sum(7 * p * 3 % 997 < Fraction(3500, 12) for p in range(5000))
    revenues = demo_data.revenues()
    assert len(revenues) == 199
    assert max(revenues, key=lambda price: revenues[price]) < 2
