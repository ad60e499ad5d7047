"""Several quantiles on the command line: ``summary``, and ``quantile --at a,b,c``."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpselect import Release, plot_summary
from tests.cli.commands import MEDIAN, PRICE, Call

SUMMARY = MEDIAN.replace("quantile", "summary").replace("--at 0.5 ", "")


def test_a_summary_has_five_numbers_that_ascend_with_one_price(call: Call) -> None:
    answer = call(f"{SUMMARY} --epsilon 100 --people 1000 --json --quiet")
    assert answer.json["at"] == ["1/20", "1/4", "1/2", "3/4", "19/20"]
    assert (answer.json["price"], answer.json["people"], answer.json["k"]) == ("100", 1000, 5)
    numbers = [int(number) for number in answer.json["winners"]]
    assert numbers == sorted(numbers)
    assert Release.from_json(answer.out).accuracy.people == 1000


def test_a_summary_is_shown_by_its_fractions_and_a_dry_run_tells_the_accuracy(call: Call) -> None:
    said = call(f"{SUMMARY} --epsilon 1 --quiet").out
    assert [line.split()[0] for line in said.splitlines()[:5]] == ["0.05", "0.25", "0.5", "0.75", "0.95"]
    planned = " ".join(call(f"{SUMMARY} --rho 1/8 --people 500 --dry-run").out.split())
    assert "on every data set of up to 500 people" in planned
    assert "typically about" in planned


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_a_summary_draws_a_box(call: Call, ending: str, tmp_path: Path) -> None:
    picture = tmp_path / f"box.{ending}"
    assert call(f"{SUMMARY} --epsilon 1 --quiet --plot {picture}").code == 0
    assert picture.stat().st_size > 1000
    picture.unlink()
    assert call(f"{SUMMARY} --epsilon 1 --quiet --dry-run --plot {picture}").code == 0
    assert not picture.exists()


def test_the_box_names_each_fraction_as_it_is(call: Call, tmp_path: Path) -> None:
    answer = call(f"{MEDIAN.replace('--at 0.5', '--at 0.025,1/4,1/2,3/4,39/40')} --epsilon 9 --json --quiet")
    picture = plot_summary(Release.from_json(answer.out))
    picture.savefig(tmp_path / "box.svg")
    assert "quantiles: 2.5 %, 25 %, 50 %, 75 %, 97.5 %" in (tmp_path / "box.svg").read_text(encoding="utf-8")


def test_several_fractions_are_asked_at_once(call: Call) -> None:
    answer = call(f"{MEDIAN.replace('--at 0.5', '--at 1/4,0.5,0.75')} --epsilon 100 --json --quiet")
    assert answer.json["at"] == ["1/4", "1/2", "3/4"]
    assert len(answer.json["winners"]) == 3
    few = call(f"{MEDIAN.replace('--at 0.5', '--at 1/4,0.5')} --epsilon 1 --people 900 --dry-run --json").json
    assert few["people"] == 900


def test_the_accuracy_of_a_price_is_told_for_so_many_people(call: Call) -> None:
    asked = "price survey.parquet --unit buyer --value wtp --epsilon 1 --dry-run --json"
    for prices in ("--prices 0.01:1.99:0.01", "--between 0.01:1.99 --step 0.0001"):
        few, any_number = call(f"{asked} {prices} --people 50").json, call(f"{asked} {prices}").json
        assert few["people"] == 50
        assert "people" not in any_number
        assert float(few["accuracy"]["within"]) < float(any_number["accuracy"]["within"])


WRONG = {
    "no bounds": (SUMMARY.replace("--between 0:100000 --step 500", "") + " --epsilon 1", "--between must"),
    "no column": (SUMMARY.replace("--value salary", "") + " --epsilon 1", "--value must"),
    "a picture of no kind": (f"{SUMMARY} --epsilon 1 --plot box.txt", "--plot must"),
    "a picture nowhere": (f"{SUMMARY} --epsilon 1 --plot /no/such/place/box.png", "--plot must"),
    "people of one quantile": (f"{MEDIAN} --epsilon 1 --people 900", "--people is for several quantiles"),
    "no people": (f"{SUMMARY} --epsilon 1 --people -1", "people must be"),
    "people of two prices": (f"{PRICE} --epsilon 1 --people 900 --k 2", "--people is for one price"),
    "people beside a quorum": (f"{PRICE} --epsilon 1 --people 900 --quorum auto", "or write --quorum none"),
    "several winners": (f"{SUMMARY} --epsilon 1 --k 2", "--k must be 1"),
    "fractions that fall": (f"{MEDIAN.replace('0.5', '0.5,0.25')} --epsilon 1", "--at must ascend"),
    "another noise": (f"{SUMMARY} --epsilon 1 --noise laplace", "Gumbel noise"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_makes_no_sense_is_refused_before_anything_is_paid(name: str, call: Call) -> None:
    line, words = WRONG[name]
    call(line).refused(2, words)


def test_windows_thresholds_and_prices_between_bounds_are_asked(call: Call) -> None:
    where = MEDIAN.replace("quantile", "window").replace("--at 0.5", "--width 5000")
    assert call(f"{where} --epsilon 1000 --json --quiet").json["accuracy"]["unit"] == "people"
    line = "price survey.parquet --unit buyer --value wtp --between 0.5:1.99 --step 0.01 --epsilon 1000"
    assert call(f"{line} --json --quiet").json["candidates"]["step"] == "1/100"
    split = (
        "threshold stars.csv --unit guest --value stars --label dish --yes pie --between 0:5 --epsilon 100"
    )
    assert call(f"{split} --json --quiet").json["mechanism"] == "gumbel"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("window pay.csv --unit person --value salary --between 0:9 --epsilon 1", "--width must"),
        ("window pay.csv --unit person --value salary --width 1 --epsilon 1", "--between must"),
        ("threshold stars.csv --unit guest --value stars --between 0:9 --epsilon 1", "--label must"),
        (
            "threshold stars.csv --unit guest --value stars --label dish --yes pie --epsilon 1",
            "--between must",
        ),
        (
            "price survey.parquet --unit buyer --value wtp --prices 1,2 --step 1 --epsilon 1",
            "--between LO:HI",
        ),
    ],
)
def test_a_question_without_its_parts_is_refused(line: str, words: str, call: Call) -> None:
    call(line).refused(2, words)
