"""``ledger create``, ``show`` and ``verify``, and files of scores."""

from __future__ import annotations

import errno
import json
import stat
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from dpselect import Ledger
from tests.cli.commands import VOTE, Call

FACTS = {"ledger", "measure", "budget", "spent", "remaining", "neighbours", "dataset", "unit"}
ENTRY = {"number", "price", "total", "reason", "request_id", "time"}


def test_a_new_ledger_says_what_it_holds(call: Call) -> None:
    made = call("ledger create town.ledger --epsilon 2 --dataset ballots --unit voter --json")
    assert (made.code, made.err) == (0, "")
    assert set(made.json) == FACTS
    assert (made.json["budget"], made.json["spent"], made.json["remaining"]) == ("2", "0", "2")
    assert (made.json["dataset"], made.json["unit"]) == ("ballots", "voter")
    assert "epsilon 2" in call("ledger show town.ledger").out


def test_a_ledger_in_rho_takes_both_currencies(call: Call) -> None:
    assert call("ledger create town.ledger --rho 1").code == 0
    answer = call(f"{VOTE} --rho 1/8 --ledger town.ledger --json").json
    assert answer["ledger"] == {"spent": "1/8", "remaining": "7/8"}
    assert call(f"{VOTE} --epsilon 1/2 --ledger town.ledger").code == 0
    assert call("ledger show town.ledger --json").json["measure"] == "zero_concentrated_divergence"


def test_entries_are_shown_and_verified(call: Call) -> None:
    call("ledger create town.ledger --epsilon 2")
    call(f"{VOTE} --epsilon 1/2 --ledger town.ledger --request-id monday")
    call(f"{VOTE} --epsilon 1/4 --ledger town.ledger")
    shown = call("ledger show town.ledger --json").json
    assert set(shown) == {*FACTS, "entries"}
    assert [set(entry) for entry in shown["entries"]] == [ENTRY, ENTRY]
    assert [entry["price"] for entry in shown["entries"]] == ["1/2", "1/4"]
    assert [entry["total"] for entry in shown["entries"]] == ["1/2", "3/4"]
    assert [entry["request_id"] for entry in shown["entries"]] == ["monday", None]
    words = call("ledger show town.ledger").out
    assert "approval_voting of candidate, 1 of 4 " in words
    assert "monday" in words
    assert call("ledger verify town.ledger").out.startswith("2 entries are as they were written")
    verified = call("ledger verify town.ledger --json").json
    assert (verified["verified"], verified["count"]) == (True, 2)


@pytest.mark.parametrize(("theirs", "ours"), [("add_remove", "change_one"), ("change_one", "add_remove")])
def test_e12_a_question_between_other_neighbours_is_refused_with_2(
    theirs: str, ours: str, call: Call
) -> None:
    made = call(f"ledger create town.ledger --epsilon 1 --neighbours {theirs} --json")
    assert made.json["neighbours"] == theirs
    for how in ("", "--dry-run", "--request-id monday", "--json"):
        asked = call(f"{VOTE} --epsilon 1/4 --ledger town.ledger --neighbours {ours} {how}")
        asked.refused(2, f"'{theirs}'", f"got '{ours}'", f"Ask with --neighbours {theirs}. Or keep another")
    other = (
        asked.err.partition("Or keep another ledger: dpselect ")[2].strip(" .\n").replace("PATH", "b.ledger")
    )
    assert call(other).code == 0
    assert call(f"{VOTE} --epsilon 1/4 --ledger b.ledger --neighbours {ours}").code == 0
    assert call(f"{VOTE} --epsilon 1/4 --ledger town.ledger --neighbours {theirs} --dry-run").code == 0
    assert call(f"{VOTE} --epsilon 1/4 --ledger town.ledger --neighbours {theirs}").code == 0
    shown = call("ledger show town.ledger --json").json
    assert (shown["neighbours"], shown["spent"]) == (theirs, "1/4")
    assert f"({theirs})" in call("ledger show town.ledger").out


def test_e12_a_new_ledger_has_neighbours_even_if_none_are_named(call: Call) -> None:
    assert call("ledger create town.ledger --epsilon 1 --json").json["neighbours"] == "add_remove"
    call("ledger create other.ledger --epsilon 1 --neighbours both").refused(2, "neighbours")


def test_an_export_is_verified_and_a_changed_one_refused_with_1(folder: Path, call: Call) -> None:
    call("ledger create town.ledger --epsilon 2 --delta 1e-6")
    call("ledger account open town.ledger ada --epsilon 1/2")
    assert call(f"{VOTE} --epsilon 1/4 --ledger town.ledger --account ada --request-id r").code == 0
    assert call("ledger export town.ledger --output town.jsonl").code == 0
    call("ledger export town.ledger --output town.jsonl").refused(2, "--output must be a new file")
    words = call("ledger verify town.jsonl").out
    assert words.startswith("2 entries fit together")
    assert "Without an anchor" in " ".join(words.split())
    assert "Without an anchor" not in call("ledger verify town.jsonl --anchor town.ledger.anchor").out
    found = call("ledger verify town.jsonl --json").json
    assert (found["count"], found["spent"], found["anchored"]) == (2, "1/4", False)
    path = folder / "town.jsonl"
    path.write_text(
        path.read_text(encoding="ascii").replace('"loss":"1/4 0"', '"loss":"1/8 0"'), encoding="ascii"
    )
    call("ledger verify town.jsonl").refused(1, "entry 2 is damaged")


def test_shares_stop_their_account_and_budgets_everybody(call: Call) -> None:
    call("ledger create town.ledger --epsilon 1")
    call("ledger account open town.ledger ada --epsilon 1/2 --reserve")
    call(f"{VOTE} --epsilon 3/4 --ledger town.ledger").refused(3, "that is not reserved")
    call(f"{VOTE} --epsilon 3/4 --ledger town.ledger --account ada").refused(3, "in the share of 'ada'")
    planned = call(f"{VOTE} --epsilon 1/4 --ledger town.ledger --account ada --dry-run").out
    assert "account     ada: epsilon 0 of 0.5 spent, 0.5 left\n" in planned
    assert "account  " not in call(f"{VOTE} --epsilon 1/4 --ledger town.ledger --dry-run").out
    call(f"{VOTE} --epsilon 1/4 --ledger town.ledger --account eve").refused(
        2, "--account must be one that was"
    )
    call(f"{VOTE} --epsilon 1/4 --account ada").refused(2, "--account needs a ledger")
    assert call("ledger account close town.ledger ada --json").json["closed"] is True
    call(f"{VOTE} --epsilon 1/4 --ledger town.ledger --account ada").refused(2, "--account must be open")
    assert call("ledger budget town.ledger --epsilon 1/8 --reason less --json").json["budget"] == "1/8"
    call(f"{VOTE} --epsilon 1/4 --ledger town.ledger").refused(3)
    call("ledger budget town.ledger --rho 1 --reason other").refused(2, "of the kind of the present one")
    call("ledger budget town.ledger --epsilon 1").refused(2)


def test_a_budget_and_a_share_of_zero_stop_all_charges(call: Call) -> None:
    call("ledger create town.ledger --epsilon 1 --delta 1e-6")
    call("ledger account open town.ledger ada --epsilon 1/2")
    nothing = call("ledger account change town.ledger ada --epsilon 0 --reason stop --json").json
    assert (nothing["share"], nothing["remaining"]) == ("0", "0")
    call(f"{VOTE} --epsilon 1/4 --ledger town.ledger --account ada").refused(3, "in the share of 'ada'")
    assert call("ledger account open town.ledger bob --epsilon 0 --delta 1e-7").code == 0
    assert call("ledger budget town.ledger --epsilon 0 --delta 0 --reason stop --json").json["budget"] == "0"
    call(f"{VOTE} --epsilon 1/4 --ledger town.ledger").refused(3, "0 with delta 0 of 0 with delta 0 is left")
    for words in ("budget town.ledger --reason a", "account change town.ledger ada --reason a"):
        call(f"ledger {words} --epsilon -1").refused(2, "--epsilon must be zero or a positive number; got")
        call(f"ledger {words} --rho x").refused(2, "--rho must be a finite number")


def test_a_share_of_another_kind_is_refused_in_the_words_of_the_command(call: Call) -> None:
    call("ledger create pure.ledger --epsilon 1")
    call("ledger create delta.ledger --rho 1 --delta 1e-6")
    call("ledger account open pure.ledger ada --epsilon 1")
    for line, kind, got in (
        ("open pure.ledger bob --rho 1/2", "epsilon 1", "rho 0.5"),
        ("open pure.ledger bob --epsilon 1/2 --delta 1e-7", "epsilon 1", "epsilon 0.5 with delta 1e-7"),
        ("open delta.ledger bob --epsilon 1/2", "rho 1 with delta 0.000001", "epsilon 0.5"),
        ("change pure.ledger ada --rho 1/2 --reason a", "epsilon 1", "rho 0.5"),
    ):
        said = f"the share must be of the kind of the budget, {kind}; got {got}. Give the options of"
        call(f"ledger account {line}").refused(2, said)
    assert call("ledger account open delta.ledger bob --rho 1/2").code == 0


def test_an_export_is_for_its_owner_alone_and_whole_or_not_there(
    folder: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("ledger create town.ledger --epsilon 2")
    call(f"{VOTE} --epsilon 1/4 --ledger town.ledger --request-id r")
    assert call("ledger export town.ledger --output town.jsonl --answers").code == 0
    assert stat.S_IMODE((folder / "town.jsonl").stat().st_mode) == 0o600
    whole = Ledger.export

    def cut(self: Ledger, *, answers: bool) -> Iterator[str]:
        yield next(whole(self, answers=answers))
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(Ledger, "export", cut)
    call("ledger export town.ledger --output cut.jsonl").refused(1, "the system refused: No space left")
    assert not (folder / "cut.jsonl").exists()


def test_e3_what_is_left_is_rounded_down_and_what_was_spent_up(call: Call) -> None:
    call("ledger create town.ledger --epsilon 1")
    price = "333333333333333333/1000000000000000001"
    assert call(f"{VOTE} --epsilon {price} --ledger town.ledger").code == 0
    words = " ".join(call("ledger show town.ledger").out.split())
    assert "spent epsilon 0.3334 (rounded up) left epsilon 0.6666 (rounded down)" in words
    shown = call("ledger show town.ledger --json").json
    assert (shown["spent"], shown["remaining"]) == (price, "666666666666666668/1000000000000000001")
    refused = call(f"{VOTE} --epsilon 1 --ledger town.ledger")
    refused.refused(3, "this costs epsilon 1; epsilon 0.6666 (rounded down) of 1 is left")
    call(f"{VOTE} --epsilon 1 --ledger town.ledger --dry-run").refused(3, "0.6666 (rounded down)")


def test_an_anchor_can_lie_elsewhere(folder: Path, call: Call) -> None:
    (folder / "safe").mkdir()
    assert call("ledger create town.ledger --epsilon 1 --anchor safe/town.anchor").code == 0
    assert (folder / "safe" / "town.anchor").is_file()
    assert call(f"{VOTE} --epsilon 1/2 --ledger town.ledger").code == 0
    (folder / "safe" / "town.anchor").unlink()
    call(f"{VOTE} --epsilon 1/2 --ledger town.ledger").refused(1, "anchor")


SCORES = {
    "t.csv": "tea,300\nsoup,100\npie,3\n",
    "header.csv": "dish,total\npie,3\ntea,300\nsoup,100\n",
    "wide.csv": "x,dish,total\n1,pie,3\n1,tea,300\n1,soup,100\n1,other,999999\n",
    "t.tsv": "tea\t300\nsoup\t100\npie\t3\n",
    "t.txt": "300\n100\n3\n",
    "column.csv": "total\n300\n100.5\n1/3\n",
    "list.json": "[300, 100, 3.5]",
    "names.json": '{"pie": 3, "soup": 100, "tea": 300, "other": 7}',
    "never.csv": "tea,300\nsoup,-inf\npie,-inf\n",
}


@pytest.mark.parametrize("name", SCORES)
def test_scores_are_read_in_every_form(name: str, folder: Path, call: Call) -> None:
    (folder / name).write_text(SCORES[name], encoding="utf-8")
    line = f"scores {name} --candidates tea,soup,pie --sensitivity 1 --epsilon 1000 --json"
    columns = " --choice dish --value total" if name == "wide.csv" else ""
    answer = call(line + columns)
    assert (answer.code, answer.err) == (0, "")
    assert answer.json["winners"] == ["tea"]


@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.uint8])
def test_scores_can_be_an_array(dtype: type, folder: Path, call: Call) -> None:
    np.save(folder / "a.npy", np.array([3, 200, 100], dtype=dtype))
    line = "scores a.npy --candidates pie,tea,soup --range-sensitivity 1 --epsilon 1000 --k 2 --json"
    assert call(line).json["winners"] == ["tea", "soup"]
    np.save(folder / "a.npy", np.array([3, 200], dtype=dtype))
    call(line).refused(4)


def test_the_unit_of_scores_is_whom_the_claim_speaks_of(folder: Path, call: Call) -> None:
    (folder / "t.json").write_text(json.dumps([1, 2]), encoding="utf-8")
    line = "scores t.json --candidates a,b --sensitivity 1 --epsilon 1 --json"
    assert call(line).json["unit"] == "person"
    assert call(f"{line} --unit household").json["unit"] == "household"
    assert call(f"{line} --dry-run").json["winners"] is None


def test_a_price_that_a_ledger_has_no_place_for_is_refused_with_a_way_out_that_is_one(call: Call) -> None:
    call("ledger create town.ledger --epsilon 2 --delta 1e-6")
    for given, got in (("--rho 1/8", "got rho."), ("--rho 1/8 --delta 1e-7", "got rho with a delta.")):
        line = f"{VOTE} {given} --ledger town.ledger"
        call(line).refused(
            2, f"this ledger holds epsilon with a delta; {got} Ask with --epsilon and --delta."
        )
    assert call(f"{VOTE} --epsilon 1/2 --delta 1e-7 --ledger town.ledger").code == 0


def test_a_name_that_an_account_cannot_have_is_called_name(call: Call) -> None:
    call("ledger create town.ledger --epsilon 2")
    call("ledger account open town.ledger ada --epsilon 1")
    call("ledger account open town.ledger ada --epsilon 1").refused(2, "NAME must be a new name; got 'ada'")
    for verb in ("show", "close", "change --epsilon 1 --reason more"):
        word, *more = verb.split(" ", 1)
        call(f"ledger account {word} town.ledger eve {' '.join(more)}").refused(
            2, "NAME must be one that was"
        )


def test_a_shortened_export_is_told_as_one(folder: Path, call: Call) -> None:
    call("ledger create town.ledger --epsilon 2")
    call("ledger account open town.ledger ada --epsilon 1")
    call("ledger account open town.ledger bob --epsilon 1")
    call("ledger export town.ledger --output town.jsonl")
    lines = (folder / "town.jsonl").read_text(encoding="ascii").splitlines(keepends=True)
    (folder / "town.jsonl").write_text("".join([lines[0], *lines[2:]]), encoding="ascii")
    said = "entry 1 is damaged, or one before it is missing. Ask for a new export."
    call("ledger verify town.jsonl").refused(1, said)
