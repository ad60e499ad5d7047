"""Bad input: one sentence with the way out, the right exit code, never a traceback, never data."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpselect.engines.duckdb import DuckDB
from dpselect.errors import InvalidParameter, LedgerUnavailable
from dpselect.ledger import Ledger
from tests.cli.commands import MEDIAN, PRICE, VOTE, Call

EPSILON = "--epsilon 1/2"

WRONG_CALLS = {
    "no page": ("classroom", "--output must name the page"),
    "a page that is there": ("classroom --output names.txt", "--output must name a new file"),
    "votes without a number": ("classroom --output page.html --votes tea", "each with its votes"),
    "votes that are none": ("classroom --output page.html --votes tea=many", "votes must be"),
    "a lesson of no price": ("classroom --output page.html --epsilon 0", "epsilon must be from 0.001 to 20"),
    "no such command": ("vot", "Did you mean 'vote'?"),
    "a far command": ("elephant", "dpselect --help"),
    "no such option": (f"{VOTE} --epsilom 1", "Did you mean '--epsilon'?"),
    "an option of another verb": (f"{VOTE} --output x", "dpselect vote --help"),
    "a far option": (f"{VOTE} --zzz 1", "dpselect vote --help"),
    "an option without its value": ("vote ballots.csv --epsilon", "'dpselect vote --help'"),
    "no path": ("vote", "PATH must be given"),
    "two paths": (f"{VOTE} {EPSILON} more.csv", "more.csv"),
    "no ledger verb": ("ledger shw town.ledger", "Did you mean 'show'?"),
    "a comma": (f"{VOTE} --epsilon 0,5", "epsilon must be a finite number; got '0,5'"),
    "nan": (f"{VOTE} --epsilon nan", "epsilon must be"),
    "inf": (f"{VOTE} --epsilon inf", "epsilon must be"),
    "zero": (f"{VOTE} --epsilon 0", "--epsilon must be a positive number"),
    "negative": (f"{VOTE} --epsilon=-1", "epsilon must be"),
    "a ratio by zero": (f"{VOTE} --epsilon 1/0", "epsilon must be"),
    "a bad rho": (f"{VOTE} --rho x", "rho must be"),
    "both budgets": (f"{VOTE} --epsilon 1 --rho 1", "exactly one of --epsilon and --rho"),
    "no budget": (VOTE, "exactly one of --epsilon and --rho"),
    "no candidates": (
        f"vote ballots.csv --unit voter --choice candidate {EPSILON}",
        "--candidates must be given",
    ),
    "a list that is not there": (
        f"vote ballots.csv --unit voter --choice candidate --candidates nams.txt {EPSILON}",
        "a file that is there, or a list such as a,b,c",
    ),
    "a file of bytes": (
        f"vote ballots.csv --unit voter --choice candidate --candidates bytes.bin {EPSILON}",
        "a file of text in UTF-8",
    ),
    "an empty list": (
        f"vote ballots.csv --unit voter --choice candidate --candidates ,, {EPSILON}",
        "at least one",
    ),
    "a candidate twice": (
        f"vote ballots.csv --unit voter --choice candidate --candidates Bo,Bo {EPSILON}",
        "different from each other",
    ),
    "no unit": (
        f"vote ballots.csv --choice candidate --candidates names.txt {EPSILON}",
        "--each-row-is-a-person",
    ),
    "no choice": (f"vote ballots.csv --unit voter --candidates names.txt {EPSILON}", "--choice must name"),
    "k above n": (f"{VOTE} {EPSILON} --k 5", "k must be a whole number from 1 to 4; got 5"),
    "k of zero": (f"{VOTE} {EPSILON} --k 0", "k must be a whole number from 1 to 4; got 0"),
    "k of words": (f"{VOTE} {EPSILON} --k three", "'three' is not a valid integer"),
    "a wrong relation": (f"{VOTE} {EPSILON} --neighbours swap", "add_remove"),
    "a wrong kind": (f"{VOTE} {EPSILON} --kind first", "approval"),
    "a rank without borda": (f"{VOTE} {EPSILON} --rank place", "--kind borda"),
    "borda without a rank": (f"{VOTE} {EPSILON} --kind borda", "--rank"),
    "a file that is not there": (
        f"{VOTE.replace('ballots', 'balots')} {EPSILON}",
        "Did you mean 'ballots.csv'?",
    ),
    "a folder": (f"vote . --unit a --choice b --candidates c,d {EPSILON}", "PATH must be a folder of CSV"),
    "an unknown format": (f"{VOTE.replace('ballots.csv', 'songs.txt')} {EPSILON}", "The name must end in"),
    "a missing column": (f"{VOTE.replace('candidate ', 'candidat ')} {EPSILON}", "Did you mean 'candidate'?"),
    "a missing unit": (f"{VOTE.replace('--unit voter', '--unit Voter')} {EPSILON}", "Did you mean 'voter'?"),
    "a missing ledger": (f"{VOTE} {EPSILON} --ledger no.ledger", "dpselect ledger create no.ledger"),
    "a wrong engine": (f"{VOTE} {EPSILON} --engine oracle", "duckdb"),
    "a file for postgres": (f"{VOTE} {EPSILON} --engine postgres", "postgresql://"),
    "a server for duckdb": (
        f"vote postgresql://x/y --engine duckdb --unit a --choice b --candidates c,d {EPSILON}",
        "--engine must be postgres",
    ),
    "a server without a table": (
        f"vote postgresql://x/y --unit a --choice b --candidates c,d {EPSILON}",
        "--table must be given",
    ),
    "another kind of url": (
        f"vote https://x/y.csv --unit a --choice b --candidates c,d {EPSILON}",
        "PATH must be a file that is there",
    ),
    "columns of a csv": (f"{VOTE} {EPSILON} --columns voter:text", "only for them"),
    "columns without types": (f"{VOTE} {EPSILON} --columns voter", "NAME:TYPE"),
    "a table of a csv": (f"{VOTE} {EPSILON} --table x", "only for one"),
    "prices that are none": (f"{PRICE.replace('0.01:1.99:0.01', 'a,b')} {EPSILON}", "decimal numbers"),
    "prices the wrong way round": (f"{PRICE.replace('0.01:1.99:0.01', '2:1:1')} {EPSILON}", "LO <= HI"),
    "too many prices": (f"{PRICE.replace('0.01:1.99:0.01', '0:1:1e-9')} {EPSILON}", "larger step"),
    "a price of underscores": (f"{PRICE.replace('0.01:1.99:0.01', '1_0,2')} {EPSILON}", "decimal numbers"),
    "a negative price": (f"{PRICE.replace('0.01:1.99:0.01', '-1,2')} {EPSILON}", "zero or positive"),
    "no prices": (f"price survey.parquet --unit buyer --value wtp {EPSILON}", "--prices must be given"),
    "no value": (f"price survey.parquet --unit buyer --prices 1,2 {EPSILON}", "--value must name"),
    "no fraction": (f"{MEDIAN.replace('--at 0.5', '')} {EPSILON}", "--at must be"),
    "a fraction above one": (f"{MEDIAN.replace('0.5', '1.5')} {EPSILON}", "at must be a probability"),
    "a step without bounds": (f"{MEDIAN.replace('--between 0:100000', '')} {EPSILON}", "--between LO:HI"),
    "bounds that are none": (f"{MEDIAN.replace('0:100000', '7')} {EPSILON}", "LO:HI"),
    "bounds the wrong way round": (f"{MEDIAN.replace('0:100000', '7:0')} {EPSILON}", "LO <= HI"),
    "a step of zero": (f"{MEDIAN.replace('--step 500', '--step 0')} {EPSILON}", "step must be"),
    "ratings without bounds": (
        f"top stars.csv --unit guest --choice dish --candidates a,b --value stars {EPSILON}",
        "belong together",
    ),
    "no rows": (
        f"mode visits.csv --unit person --column town --candidates a,b --rows-per-person 0 {EPSILON}",
        "--rows-per-person must be",
    ),
    "no sensitivity": (f"scores totals.csv --candidates tea,soup,pie {EPSILON}", "--sensitivity"),
    "a bad sensitivity": (
        f"scores totals.csv --candidates tea,soup,pie --sensitivity -1 {EPSILON}",
        "sensitivity",
    ),
    "scores that are not there": (
        f"scores no.csv --candidates a,b --sensitivity 1 {EPSILON}",
        "a file that is there",
    ),
    "scores of another format": (
        f"scores survey.parquet --candidates a,b --sensitivity 1 {EPSILON}",
        "must end in one of",
    ),
    "scores by spark": (
        f"scores totals.csv --candidates a,b --sensitivity 1 {EPSILON} --engine spark",
        "belong to tables",
    ),
    "a plan without n": ("plan --epsilon 1", "exactly one of --n, --candidates, --prices and --at"),
    "a plan without a budget": ("plan --n 10", "exactly one of --epsilon, --rho and --within"),
    "a plan of none": ("plan --n 0 --epsilon 1", "n must be"),
    "a plan with k above n": ("plan --n 3 --k 4 --epsilon 1", "k must be a whole number from 1 to 3; got 4"),
    "a plan with a comma": ("plan --n 3 --epsilon 0,5", "epsilon must be"),
    "a sure plan": ("plan --n 3 --epsilon 1 --confidence 1", "confidence must be"),
    "a plan for nothing": ("plan --n 2 --within 5 --confidence 0.5", "blind draw"),
    "a plan of prices with a sensitivity": ("plan --prices 1,2 --sensitivity 1 --epsilon 1", "are known"),
    "a law without scores": ("law --epsilon 1", "SCORES must be given"),
    "a law without a budget": ("law 1,2", "exactly one of --epsilon and --scale"),
    "a law of words": ("law a,b --epsilon 1", "each of SCORES must be a finite number"),
    "a law with half the names": ("law a=1,2 --epsilon 1", "all have names"),
    "a law with too few names": ("law 1,2 --candidates a, --epsilon 1", "one name for each score"),
    "a law with a name twice": ("law tea=1,tea=2 --epsilon 1", "each name must be given once"),
    "a law of one lone word": ("law tea --epsilon 1", "SCORES must be"),
    "a law of laplace's two best": ("law 1,2 --epsilon 1 --k 2 --noise laplace", "one winner only"),
    "a law with a negative budget": ("law 1,2 --epsilon=-1", "epsilon must be"),
    "a ledger without a budget": ("ledger create new.ledger", "exactly one of --epsilon and --rho"),
    "a ledger with a bad budget": (
        "ledger create new.ledger --epsilon 0",
        "--epsilon must be a positive number",
    ),
    "a ledger in no folder": ("ledger create no/new.ledger --epsilon 1", "folder that is there"),
    "a ledger that is not there": ("ledger show no.ledger", "dpselect ledger create no.ledger"),
    "verifying none": ("ledger verify no.ledger", "dpselect ledger create no.ledger"),
    "a proof too deep": ("verify --deeper 99", "99"),
    "a bench of too few": ("bench --largest 1", "1"),
    "a demo on a file": ("demo --folder names.txt", "names.txt"),
}


@pytest.mark.parametrize("name", WRONG_CALLS)
def test_a_wrong_call_is_refused_with_2(name: str, call: Call) -> None:
    line, words = WRONG_CALLS[name]
    call(line).refused(2, words)


def written(folder: Path, name: str, content: bytes) -> str:
    (folder / name).write_bytes(content)
    return name


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("b.csv", b""),
        ("b.csv", b"\xff\xfe\x00voter,candidate\n"),
        ("b.csv", b"voter,\n1,2\n"),
        ("b.parquet", b"no parquet at all"),
        ("b.csv.gz", b"no gzip at all"),
    ],
    ids=["empty", "not utf-8", "a nameless column", "not parquet", "not gzip"],
)
def test_a_table_that_cannot_be_opened_is_refused_with_4(
    name: str, content: bytes, folder: Path, call: Call
) -> None:
    path = written(folder, name, content)
    call("ledger create town.ledger --epsilon 1")
    line = (
        f"vote {path} --unit voter --choice candidate --candidates names.txt --epsilon 1 --ledger town.ledger"
    )
    call(line).refused(4)
    assert call("ledger show town.ledger --json").json["spent"] == "0"


@pytest.mark.parametrize(
    "line",
    [
        "price survey.parquet --unit buyer --value day --prices 1,2",
        "price survey.parquet --unit half --value wtp --prices 1,2",
        "mode survey.parquet --unit buyer --column number --candidates a,b",
        "mode survey.parquet --unit buyer --column day --candidates 1,2",
    ],
    ids=["a date for a number", "a float for a person", "names for numbers", "numbers for a date"],
)
def test_a_column_of_the_wrong_type_is_refused_with_4(line: str, call: Call) -> None:
    call(f"{line} --epsilon 1").refused(4)
    call(f"{line} --epsilon 1 --dry-run").refused(4)


@pytest.mark.parametrize(
    "content",
    [
        b"tea,300\nsoup,x\npie,3\n",
        b"tea,300\n",
        b"tea,1\ntea,2\nsoup,1\npie,1\n",
        b"tea,nan\nsoup,1\npie,1\n",
        b"",
        b"\xff",
    ],
    ids=["a word", "too few", "twice", "nan", "empty", "not utf-8"],
)
def test_broken_scores_are_refused_with_4_and_never_quoted(content: bytes, folder: Path, call: Call) -> None:
    path = written(folder, "broken.csv", content)
    call("ledger create town.ledger --epsilon 1")
    line = f"scores {path} --candidates tea,soup,pie --sensitivity 1 --epsilon 1 --ledger town.ledger"
    outcome = call(line)
    outcome.refused(4, "The budget is spent: epsilon 1")
    assert "300" not in outcome.err
    assert call("ledger show town.ledger --json").json["spent"] == "1"


def test_a_file_that_is_no_ledger_is_refused_with_1(folder: Path, call: Call) -> None:
    written(folder, "no.ledger", b"no ledger at all")
    call(f"{VOTE} --epsilon 1 --ledger no.ledger").refused(1, "no ledger, or a damaged one")


def test_a_ledger_is_never_made_twice(call: Call) -> None:
    assert call("ledger create town.ledger --epsilon 1").code == 0
    call("ledger create town.ledger --epsilon 9").refused(2)
    assert call("ledger show town.ledger --json").json["budget"] == "1"


def test_a_missing_extra_is_one_sentence(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    import dpselect.engines.spark_files

    monkeypatch.setattr(dpselect.engines.spark_files, "find_spec", lambda _: None)
    call(f"{VOTE} --epsilon 1 --engine spark").refused(1, "pip install 'dpselect[spark]'")


def test_an_unforeseen_failure_is_a_sentence_without_its_message(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("a private row")

    monkeypatch.setattr("dpselect.cli.public_lists.names", broken)
    outcome = call(f"{VOTE} --epsilon 1")
    outcome.refused(1, "KeyError")
    assert "private" not in outcome.err


def test_the_table_itself_is_no_list_of_candidates(call: Call) -> None:
    line = "vote ballots.csv --unit voter --choice candidate --candidates ./ballots.csv --epsilon 1"
    call(line).refused(2, "got the table itself", "public")


def test_an_answer_is_not_lost_to_a_ledger_that_goes_away(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(_: object) -> None:
        raise LedgerUnavailable("it is gone.")

    call("ledger create town.ledger --epsilon 3")
    monkeypatch.setattr(Ledger, "spent", property(gone))
    answer = call(f"{VOTE} --epsilon 1 --ledger town.ledger --json")
    assert len(answer.json["winners"]) == 1
    assert answer.json["ledger"] == {"spent": None, "remaining": None}
    assert "cannot be read just now" in call(f"{VOTE} --epsilon 1 --ledger town.ledger").out


def test_what_fails_after_the_charge_is_the_table_whatever_it_was(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise InvalidParameter("a sentence of the library.")

    monkeypatch.setattr(DuckDB, "counts", broken)
    call("ledger create town.ledger --epsilon 3")
    call(f"{VOTE} --epsilon 1 --ledger town.ledger").refused(4, "The budget is spent: epsilon 1")
