"""Every verb on data answers a good question, in words and as JSON."""

from __future__ import annotations

import json
import sqlite3
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dpselect.engines.duckdb import DuckDB
from dpselect.engines.table import Table
from dpselect.ledger import Ledger
from dpselect.problems.problem import Problem
from dpselect.release import Release
from dpselect.release.labels import label_text
from tests.cli.commands import MEDIAN, PRICE, VOTE, Call

FACTS = {
    *("winners", "price", "measure", "neighbours", "unit", "mechanism", "scale", "accuracy", "ledger"),
    *("candidates", "schema", "labels", "loss", "within_exact", "step", "target", "k"),
    *("problem", "dataset", "version", "reading", "where"),
}
SURE = "--epsilon 1000"
"""A budget at which the best candidate loses with a probability below exp(-100)."""

QUESTIONS = {
    "vote": (VOTE, ["Rex"]),
    "plurality": (
        "vote ranks.csv --unit voter --choice candidate --candidates names.txt --kind plurality",
        None,
    ),
    "borda": (
        f"{VOTE.replace('ballots', 'ranks')} --kind borda --rank place",
        ["Rex"],
    ),
    "top": ("top plays.csv --unit listener --choice song --candidates songs.txt --k 2", {"Help", "Julia"}),
    "stars": (
        "top stars.csv --unit guest --choice dish --candidates tea,soup,pie --value stars --between 1:5",
        ["tea", "soup", "pie"],
    ),
    "mode": ("mode visits.csv --unit person --column town --candidates Bern,Basel,Genf", ["Bern"]),
    "mode of numbers": ("mode survey.parquet --unit buyer --column wtp --candidates 0.70,0.80", ["0.70"]),
    "price": (PRICE, ["0.70"]),
    "price from a list": (
        "price survey.parquet --unit buyer --value wtp --candidates 0.5,0.70,1.99",
        ["0.70"],
    ),
    "quantile": (MEDIAN, ["55000"]),
    "quantile from a list": (
        "quantile pay.csv --unit person --value salary --at 1/2 --candidates 1,54950,99999",
        ["54950"],
    ),
    "scores": ("scores totals.csv --candidates pie,soup,tea --sensitivity 1 --monotonic", ["tea"]),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_is_answered_as_json(name: str, call: Call) -> None:
    line, expected = QUESTIONS[name]
    answer = call(f"{line} {SURE} --json")
    assert (answer.code, answer.err) == (0, "")
    assert set(answer.json) - {"noise_reason"} == FACTS
    if isinstance(expected, set):
        assert set(answer.json["winners"]) == expected
    elif expected is not None:
        assert answer.json["winners"] == expected
    assert answer.json["ledger"] is None
    assert answer.json["price"] == "1000"
    assert answer.json["mechanism"] == ("gumbel" if "step" in answer.json["candidates"] else "exponential")
    assert set(answer.json["accuracy"]) == {"within", "confidence", "unit"}
    assert answer.json["loss"] == {"epsilon": "1000"}
    within = Fraction(answer.json["within_exact"])
    assert within <= Fraction(answer.json["accuracy"]["within"]) <= within + Fraction(1, 100)
    assert answer.json["k"] == len(answer.json["winners"])


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_a_question_writes_as_json_is_read_as_a_release(name: str, call: Call) -> None:
    line, _ = QUESTIONS[name]
    answer = call(f"{line} {SURE} --json")
    release = Release.from_json(answer.out)
    assert json.loads(release.to_json()) == answer.json
    assert [*map(label_text, release.labels)] == answer.json["winners"]


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_is_answered_in_words(name: str, call: Call) -> None:
    line, expected = QUESTIONS[name]
    answer = call(f"{line} {SURE}")
    assert (answer.code, answer.err) == (0, "")
    for label in expected or ():
        assert label in answer.out
    assert "epsilon 1000" in answer.out
    all_win = name == "stars"
    assert ("only their order is random" if all_win else "with probability 0.99 or more") in answer.out


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_rho_buys_gumbel_noise(name: str, call: Call) -> None:
    answer = call(f"{QUESTIONS[name][0]} --rho 1/8 --json").json
    assert answer["mechanism"] == "gumbel"
    assert (answer["price"], answer["measure"]) == ("1/8", "zero_concentrated_divergence")


def test_exact_numbers_are_strings(call: Call) -> None:
    answer = call(f"{VOTE} --epsilon 0.5 --k 3 --neighbours change_one --json").json
    assert answer["price"] == "1/2"
    assert answer["scale"] == "12"  # k * d_range / epsilon = 3 * 2 * 2
    assert answer["measure"] == "max_divergence"
    assert answer["neighbours"] == "change_one"
    assert answer["unit"] == "voter"
    assert len(answer["winners"]) == 3
    assert answer["accuracy"]["unit"] == "votes"
    # scale * ln((n - k) / (1 - confidence)) = 12 ln 100 = 55.262..., rounded up
    assert answer["accuracy"]["within"] == "55.27"


def test_all_of_them_can_win(call: Call) -> None:
    answer = call(f"{VOTE} --epsilon 1 --k 4 --json").json
    assert sorted(answer["winners"]) == sorted(["Rex", "Biscuit", "Émile", "Bo"])


def test_a_single_candidate_costs_nothing(call: Call) -> None:
    answer = call("vote ballots.csv --unit voter --choice candidate --candidates Bo, --epsilon 1 --json").json
    assert (answer["winners"], answer["price"]) == (["Bo"], "0")


def test_top_takes_ten_or_all(call: Call) -> None:
    answer = call(
        "top plays.csv --unit listener --choice song --candidates songs.txt --epsilon 1 --json"
    ).json
    assert len(answer["winners"]) == 4


def test_rows_can_be_people(call: Call) -> None:
    answer = call(
        "vote ballots.csv --each-row-is-a-person --choice candidate --candidates names.txt --epsilon 1 --json"
    )
    assert answer.json["unit"] is None


def test_candidates_may_have_commas_and_quotes(folder: Path, call: Call) -> None:
    (folder / "b.csv").write_text('who,what\n1,"a, b"\n2,"a, b"\n', encoding="utf-8")
    answer = call(
        "vote",
        "b.csv",
        "--unit",
        "who",
        "--choice",
        "what",
        "--candidates",
        '"a, b",c',
        "--epsilon",
        "999",
        "--json",
    )
    assert answer.json["winners"] == ["a, b"]


def test_a_name_cannot_command_the_terminal(folder: Path, call: Call) -> None:
    (folder / "two.txt").write_text("\x1b[31mRex\nBo\n", encoding="utf-8")
    shown = call(
        "vote ballots.csv --unit voter --choice candidate --candidates two.txt --epsilon 1 --k 2"
    ).out
    assert "\x1b" not in shown
    assert "[31mRex" in shown


def test_json_lines_need_their_columns(folder: Path, call: Call) -> None:
    rows = [json.dumps({"who": f"p{i}", "dish": "tea"}) for i in range(99)]
    (folder / "b.jsonl").write_text("\n".join(rows), encoding="utf-8")
    line = "vote b.jsonl --unit who --choice dish --candidates tea,pie --epsilon 999 --json"
    assert call(f"{line} --columns who:text,dish:text").json["winners"] == ["tea"]
    call(line).refused(2, "--columns")


def test_a_database_needs_its_table(folder: Path, call: Call) -> None:
    import duckdb

    with duckdb.connect(folder / "b.duckdb") as made:
        made.execute("CREATE TABLE ballots AS SELECT i AS voter, 7 AS dish FROM range(99) t(i)")
    line = "vote b.duckdb --unit voter --choice dish --candidates 7,8 --epsilon 999 --json"
    assert call(f"{line} --table ballots").json["winners"] == ["7"]
    call(line).refused(2, "--table")
    call(f"{line} --table balots").refused(2, "There are: ballots")


# ---- the ledger ------------------------------------------------------------------------------------------


@pytest.fixture
def ledger(call: Call) -> str:
    assert call("ledger create town.ledger --epsilon 2 --unit voter").code == 0
    return "--ledger town.ledger"


def test_a_vote_is_charged_before_it_is_counted(call: Call, ledger: str) -> None:
    answer = call(f"{VOTE} --epsilon 1/2 --k 3 {ledger} --json")
    assert answer.json["ledger"] == {"spent": "1/2", "remaining": "3/2"}
    assert call("ledger show town.ledger --json").json["spent"] == "1/2"


def test_what_the_ledger_cannot_afford_is_refused_with_3(call: Call, ledger: str) -> None:
    call(f"{VOTE} --epsilon 5/2 {ledger}").refused(3, "costs epsilon 2.5", "epsilon 2 of 2 is left")
    call(f"{VOTE} --epsilon 5/2 {ledger} --dry-run").refused(3)
    assert call("ledger show town.ledger --json").json["spent"] == "0"


def test_a_request_that_is_repeated_gets_the_same_answer_at_no_price(call: Call, ledger: str) -> None:
    line = f"{VOTE} --epsilon 1/100 --k 2 {ledger} --request-id monday --json"
    first = call(line)
    for _ in range(3):
        again = call(line)
        assert again.json == {**first.json, "charged": False}
        assert Release.from_json(again.out) == Release.from_json(first.out)
    said = "nothing: this request was answered before"
    assert said in call(line.removesuffix("--json")).out
    assert said not in call(line.replace("monday --json", "tuesday")).out
    call(f"{VOTE} --epsilon 1/50 --k 2 {ledger} --request-id monday").refused(1, "another question")
    call(f"{VOTE} --epsilon 1/50 --request-id monday").refused(2, "--ledger")


def test_a_dry_run_neither_pays_nor_looks(folder: Path, call: Call, ledger: str) -> None:
    ballots = folder / "ballots.csv"
    head = ballots.read_text(encoding="utf-8").splitlines()[0]
    ballots.write_text(f"{head}\nbroken,row,with,too,many\n", encoding="utf-8")
    answer = call(f"{VOTE} --epsilon 1/2 --k 2 {ledger} --dry-run --json")
    assert (answer.code, answer.err) == (0, "")
    assert set(answer.json) - {"noise_reason"} == FACTS
    assert answer.json["winners"] is None
    assert answer.json["ledger"] == {"spent": "0", "remaining": "2"}
    assert answer.json["scale"] == "4"
    assert "dry run" in call(f"{VOTE} --epsilon 1/2 {ledger} --dry-run").out
    call(f"{VOTE.replace('candidate ', 'candidat ')} --epsilon 1 --dry-run").refused(
        2, "Did you mean 'candidate'?"
    )


def test_a_dry_run_of_an_answered_request_needs_no_budget(call: Call, ledger: str) -> None:
    line = f"{VOTE} --epsilon 3/2 {ledger} --request-id monday --json"
    first = call(line).json
    assert call(f"{line} --dry-run").json == {**first, "charged": False}


def test_a_broken_row_is_refused_with_4_and_the_budget_is_spent(
    folder: Path, call: Call, ledger: str
) -> None:
    with (folder / "ballots.csv").open("a", encoding="utf-8") as ballots:
        ballots.write("secret-name,one,two,three\n")
    outcome = call(f"{VOTE} --epsilon 1/2 {ledger}")
    outcome.refused(4, "The budget is spent: epsilon 0.5")
    assert "secret" not in outcome.err
    assert call("ledger show town.ledger --json").json["spent"] == "1/2"
    call(f"{VOTE} --epsilon 1/2").refused(4, "Count epsilon 0.5 as spent")


def test_a_ledger_of_other_people_is_refused(call: Call, ledger: str) -> None:
    call(f"{PRICE} --epsilon 1 {ledger}").refused(2, "unit must be that of the ledger, 'voter'")


def test_a_rho_cannot_be_charged_to_an_epsilon(call: Call, ledger: str) -> None:
    sentence = "this ledger holds epsilon; got rho. Ask with --epsilon"
    call(f"{VOTE} --rho 1/8 {ledger}").refused(2, sentence)
    call(f"{VOTE} --rho 1/8 {ledger} --dry-run").refused(2, sentence)


def test_a_damaged_ledger_pays_nothing(folder: Path, call: Call, ledger: str) -> None:
    assert call(f"{VOTE} --epsilon 1/2 {ledger}").code == 0
    with sqlite3.connect(folder / "town.ledger") as file:
        tables: list[Any] = file.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        assert tables
        (entries,) = [name for (name,) in tables if "entr" in name]
        for (trigger,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            file.execute(f"DROP TRIGGER {trigger}")
        file.execute(f"UPDATE {entries} SET reason = 'another'")
    file.close()
    call(f"{VOTE} --epsilon 1/2 {ledger}").refused(1, "damaged")
    call("ledger verify town.ledger").refused(1)
    call("ledger show town.ledger --json").refused(1)


@pytest.mark.parametrize("words", ["--prices 1e400,1 --epsilon 1", "--prices 1,2 --epsilon 1e-390"])
def test_figures_beyond_all_floats_are_shown(words: str, folder: Path, call: Call) -> None:
    (folder / "offers.csv").write_text("who,offer\n1,2\n", encoding="utf-8")
    line = f"price offers.csv --unit who --value offer {words}"
    assert call(f"{line} --dry-run").code == 0
    assert call(f"{line} --json").code == 0


def test_the_accuracy_of_a_quantile_is_told_in_ranks(call: Call) -> None:
    said = " ".join(call(f"{MEDIAN} --epsilon 1 --dry-run").out.split())
    assert "the rank of the answer is within 9.90 (rounded up) people of the median's, if the median" in said
    quarter = " ".join(call(f"{MEDIAN.replace('0.5', '1/4')} --epsilon 1 --dry-run").out.split())
    assert "people of the 0.25 quantile's" in quarter


def test_where_all_candidates_win_only_their_order_is_random(call: Call) -> None:
    question = "top plays.csv --unit listener --choice song --candidates Help,Julia --k 2 --epsilon 1"
    for line in (question, f"{question} --dry-run", "plan --n 2 --k 2 --epsilon 1"):
        said = " ".join(call(line).out.split())
        assert "all 2 candidates win: only their order is random" in said
        assert "0.00" not in said


@pytest.mark.parametrize("dry", ["", "--dry-run"])
@pytest.mark.parametrize("name", [name for name in QUESTIONS if "scores" not in name])
def test_a_command_opens_once_prices_once_and_fits_once(
    name: str, dry: str, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    acts: list[str] = []
    assert call("ledger create any.ledger --epsilon 2").code == 0

    def counted(place: object, act: str) -> None:
        real = getattr(place, act)

        def called(*given: Any, **named: Any) -> Any:
            acts.append(act)
            return real(*given, **named)

        monkeypatch.setattr(place, act, called)

    counted(Table, "open")
    counted(duckdb, "connect")
    counted(Problem, "request")
    counted(import_module("dpselect.release.quoting"), "calibrate")
    counted(DuckDB, "counts")
    assert call(f"{QUESTIONS[name][0]} --epsilon 1 --ledger any.ledger {dry}").code == 0
    looks = [] if dry else ["counts"]
    assert acts == ["open", "connect", "calibrate", "request", *looks]


@pytest.mark.parametrize("words", ["--epsilon 0", "--epsilon x", "--epsilon 1 --k 9", "--rho inf"])
def test_what_is_wrong_with_a_price_is_told_before_ledger_and_table_are_opened(
    words: str, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(*_: object, **__: object) -> None:
        pytest.fail("opened")

    monkeypatch.setattr(Table, "open", opened)
    monkeypatch.setattr(Ledger, "open", opened)
    call(f"{VOTE} {words} --ledger town.ledger").refused(2)


def test_case_and_spaces_may_be_ignored(call: Call) -> None:
    Path("dishes.csv").write_text(
        "who,dish\n" + "".join(f"{i}, PAD  thai \n" for i in range(50)), encoding="utf-8"
    )
    for verb, words in {
        "vote": "--choice dish",
        "mode": "--column dish",
        "top": "--choice dish --k 1",
    }.items():
        question = f"{verb} dishes.csv --unit who {words} --candidates 'Tea,Pad Thai' {SURE} --ignore-case"
        assert call(f"{question} --json").json["winners"] == ["Pad Thai"]
    call(f"vote dishes.csv --unit who --choice dish --candidates tea,TEA {SURE} --ignore-case").refused(
        2, "differ in more than ASCII letters' case", "which --ignore-case ignores", "'tea' and 'TEA'"
    )
