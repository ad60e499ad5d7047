"""A help text can be taken in: it fits 80 columns, has headings, and lists nothing that is always refused."""

from __future__ import annotations

import re
from typing import Any

import click
import pytest

from dpselect.cli.declaration import OUTPUT, QUESTION_ALONE, OptionInSection
from dpselect.cli.options import ANSWER, PERSON_AND_PRICE, TABLE
from dpselect.cli.runner import dpselect
from tests.cli.commands import MEDIAN, PRICE, Call
from tests.cli.test_options import commands

NARROW = 80
"""Columns of a terminal that was not made wider."""
EVERY = [((), dpselect), *commands(dpselect)]
TOTALS = "scores totals.csv --candidates tea,soup,pie --sensitivity 1 --monotonic"
WINDOW = MEDIAN.replace("quantile", "window").replace("--at 0.5", "--width 500")
THRESHOLD = MEDIAN.replace("quantile", "threshold").replace("--at 0.5", "--label person --yes 1")
REFUSED = {
    "price": (PRICE, ["--counts"]),
    "quantile": (MEDIAN, ["--counts", "--quorum 5"]),
    "summary": (
        MEDIAN.replace("quantile", "summary").replace("--at 0.5", ""),
        ["--counts", "--quorum 5", "--k 2", "--gap", "--gap-grid 2", "--noise laplace"],
    ),
    "window": (WINDOW, ["--counts"]),
    "threshold": (THRESHOLD, ["--counts"]),
    "scores": (
        TOTALS,
        [
            "--counts",
            "--each town",
            "--groups a,b",
            "--groups-per-person 2",
            "--where 'a = 1'",
            "--decimal ,",
            "--separator ;",
            "--encoding cp1252",
            "--numbers-in-text",
            "--columns a:text",
            "--table a",
            "--engine spark",
        ],
    ),
}
"""Of each verb a question, and the options that its help leaves out."""


def help_of(path: tuple[str, ...], command: click.Command, width: int = NARROW) -> str:
    """Write a help text as a terminal of some width shows it."""
    context = click.Context(
        command,
        info_name=" ".join(("dpselect", *path)),
        terminal_width=width - 2,
        help_option_names=["-h", "--help"],
    )
    return command.get_help(context)


@pytest.mark.parametrize(("path", "command"), EVERY, ids=[" ".join(("dpselect", *path)) for path, _ in EVERY])
def test_a_help_text_fits_eighty_columns_and_cuts_no_sentence(path: Any, command: click.Command) -> None:
    lines = help_of(path, command).splitlines()
    assert [line for line in lines if len(line) > NARROW] == []
    listed = lines[lines.index("Commands:") :] if "Commands:" in lines else []
    assert [line for line in listed if line.endswith("...")] == []
    assert (not isinstance(command, click.Group)) or listed


@pytest.mark.parametrize("verb", ["vote", "top", "mode", "price", "quantile", "window", "threshold"])
def test_the_options_of_a_question_stand_below_headings(verb: str, call: Call) -> None:
    said = call(f"{verb} --help").out
    found = re.findall(r"^(\w[\w ]*):$", said, flags=re.MULTILINE)
    assert [each for each in found if not each.startswith("Example")] == [
        QUESTION_ALONE,
        PERSON_AND_PRICE,
        ANSWER,
        TABLE,
        OUTPUT,
    ]
    of_price = said[said.index(f"\n{PERSON_AND_PRICE}:") : said.index(f"\n{ANSWER}:")]
    assert all(f"  {option} " in of_price for option in ("--unit", "--epsilon", "--ledger", "--account"))
    assert "--help" in said[said.index(f"\n{OUTPUT}:") :]


@pytest.mark.parametrize("verb", ["plan", "law", "doctor"])
def test_what_is_no_question_has_one_list_of_options(verb: str, call: Call) -> None:
    assert "\nOptions:\n" in call(f"{verb} --help").out


@pytest.mark.parametrize("verb", REFUSED)
def test_a_help_text_lists_nothing_that_is_always_refused(verb: str, call: Call) -> None:
    question, options = REFUSED[verb]
    said = call(f"{verb} --help").out
    command = dict(commands(dpselect))[verb,]
    hidden = [each.opts[0] for each in command.params if isinstance(each, OptionInSection) and each.hidden]
    assert sorted(hidden) == sorted(option.split()[0] for option in options)
    assert call(f"{question} --epsilon 1 --dry-run").code == 0
    for option in options:
        assert f"  {option.split()[0]} " not in said
        call(f"{question} --epsilon 1 --dry-run {option}").refused(2)
