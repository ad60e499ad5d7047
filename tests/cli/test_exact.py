"""What people read: decimals, rounded to the safe side and marked so; --exact keeps fractions; --csv."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest

from tests.cli.commands import MEDIAN, PRICE, VOTE, Call

FRACTION = re.compile(r"(?<![\w./:-])\d+/\d+(?![\w/])")
VERBS = {
    "vote": f"{VOTE} --epsilon 1/3",
    "top": "top plays.csv --unit listener --choice song --candidates Help,Julia --k 1 --rho 1/3",
    "mode": "mode plays.csv --unit listener --choice song --candidates Help,Julia --epsilon 1/3",
    "price": f"{PRICE} --epsilon 1/3",
    "quantile": f"{MEDIAN} --epsilon 1/3",
    "summary": "summary pay.csv --unit person --value salary --between 0:100000 --step 500 --epsilon 1/3",
    "scores": "scores s.json --candidates a,b,c --sensitivity 1/3 --epsilon 1/7",
}


@pytest.mark.parametrize("verb", VERBS)
def test_every_question_speaks_in_decimals_and_keeps_fractions_if_asked(
    verb: str, folder: Path, call: Call
) -> None:
    (folder / "s.json").write_text("[1, 2, 3]", encoding="utf-8")
    for more in ("", " --dry-run"):
        plain, exact = call(VERBS[verb] + more), call(f"{VERBS[verb]} --exact{more}")
        assert (plain.code, exact.code) == (0, 0), plain.err + exact.err
        assert not FRACTION.search(plain.out)
        assert re.search(r"price +(epsilon|rho) 0\.\d{4} \(rounded up\)", plain.out)
        assert re.search(r"price +(epsilon|rho) 1/[37]\b", exact.out)
        assert "rounded" not in exact.out
    assert call(f"{VERBS[verb]} --exact --dry-run --json").out == call(f"{VERBS[verb]} --dry-run --json").out


def test_ledgers_plans_and_laws_keep_fractions_too(call: Call) -> None:
    assert "epsilon 4/3" in call("ledger create town.ledger --epsilon 4/3 --exact").out
    call(f"{VOTE} --epsilon 1/3 --ledger town.ledger")
    plain, exact = call("ledger show town.ledger"), call("ledger show town.ledger --exact")
    assert not FRACTION.search(plain.out)
    said = " ".join(plain.out.split())
    assert "budget epsilon 1.334 (rounded up) spent epsilon 0.3334 (rounded up) left epsilon 1" in said
    assert "budget epsilon 4/3 spent epsilon 1/3 left epsilon 1" in " ".join(exact.out.split())
    for line in ("plan --n 9 --epsilon 1/3", "plan --n 9 --rho 1/3 --k 2", "law 3,2,1 --scale 1/3"):
        assert not FRACTION.search(call(line).out)
        assert "1/3" in call(f"{line} --exact").out
    assert "…" not in call("plan --n 9 --epsilon 1/3 --exact").out


def test_refusals_speak_in_decimals_and_keep_fractions_if_asked(call: Call) -> None:
    call("ledger create town.ledger --epsilon 1/3")
    line = f"{VOTE} --epsilon 2/3 --ledger town.ledger"
    call(line).refused(3, "costs epsilon 0.6667 (rounded up)", "0.3333 (rounded down) of 0.3334 (rounded up)")
    call(f"{line} --exact").refused(3, "costs epsilon 2/3; epsilon 1/3 of 1/3 is left")
    call(line).refused(3, "0.6667 (rounded up)")  # the option ends with its command


def test_csv_is_read_by_a_spreadsheet(call: Call) -> None:
    call("ledger create town.ledger --epsilon 4")
    line = f"{VOTE} --epsilon 1/3 --k 2 --ledger town.ledger --request-id a"
    answer, kept = call(f"{line} --csv"), call(f"{line} --json").json
    rows = list(csv.DictReader(io.StringIO(answer.out)))
    assert [row["winner"] for row in rows] == kept["winners"]
    assert [(row["rank"], row["price"], row["symbol"], row["unit"]) for row in rows] == [
        ("1", "1/3", "epsilon", "voter"),
        ("2", "1/3", "epsilon", "voter"),
    ]
    (dry,) = csv.DictReader(io.StringIO(call(f"{VOTE} --epsilon 1/3 --csv --dry-run").out))
    assert (dry["winner"], dry["price"]) == ("", "1/3")
    call(f"{line} --csv --json").refused(2, "--json and --csv")


def test_the_person_who_is_protected_is_named_by_the_column(folder: Path, call: Call) -> None:
    (folder / "s.json").write_text("[1, 2]", encoding="utf-8")
    scores = "scores s.json --candidates a,b --sensitivity 1 --epsilon 1"
    assert "one person (column voter): one more or one fewer" in call(f"{VOTE} --epsilon 1").out
    assert "one person: one more or one fewer" in call(scores).out
    rows = VOTE.replace("--unit voter", "--each-row-is-a-person")
    assert "one person (each row is one): one" in call(f"{rows} --epsilon 1").out


@pytest.mark.parametrize("price", ["0", "-1", "-1/3", "0/5"])
@pytest.mark.parametrize("name", ["epsilon", "rho"])
def test_a_price_that_is_none_is_refused_by_one_sentence(name: str, price: str, call: Call) -> None:
    said = f"--{name} must be a positive number; got '{price}'."
    for line in (VOTE, PRICE, f"{VOTE} --dry-run", "plan --n 9", "ledger create b.ledger"):
        call(f"{line} --{name} {price}").refused(2, said)
