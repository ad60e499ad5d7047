"""The command ``top``: the k names that most people have, or that they rate best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from dpselect.cli import public_lists
from dpselect.cli.declaration import command, examples
from dpselect.cli.options import (
    CANDIDATES,
    CHOICE,
    IGNORE_CASE,
    SPLIT,
    VALUE,
    WIDE,
    QuestionOptions,
    column_of_choices,
)
from dpselect.cli.question import TableQuestion, about_columns, about_names, asks_a_table
from dpselect.cli.user_errors import UserError

if TYPE_CHECKING:
    from dpselect.problems.problem import Problem

WINNERS = 10
"""Winners, if --k is not given."""


@command(
    epilog=examples(
        "top plays.csv --unit listener --choice song --candidates songs.txt --k 3 --epsilon 1",
        "top stars.csv --unit guest --choice dish --candidates tea,soup,pie --k 2 "
        "--value stars --between 1:5 --epsilon 1",
    )
)
@asks_a_table
@CHOICE
@CANDIDATES
@IGNORE_CASE
@SPLIT
@WIDE
@VALUE
@click.option("--between", metavar="LO:HI", help="With --value: ratings are clamped to these bounds.")
def top_command(  # noqa: PLR0913 - each is an option
    options: QuestionOptions,
    *,
    choice: str | None,
    candidates: str | None,
    ignore_case: bool,
    value: str | None,
    between: str | None,
    split: str | None,
    wide: str | None,
) -> TableQuestion:
    """Draw the k names that most people have, the best first.

    With --value and --between, those with the highest sum of ratings. Without --k there are 10 winners, or as
    many as there are candidates.
    """
    if wide is not None:
        ticked = about_columns(options, wide, [choice, candidates, split, ignore_case, value, between])
        many = min(WINNERS, len(ticked.problem.outputs)) if options.k is None else options.k
        return replace(ticked, options=replace(options, k=many))
    column = column_of_choices(choice)
    names = public_lists.names(candidates, beside=options.paths, ignore_case=ignore_case)
    if (value is None) != (between is None):
        raise UserError("--value and --between belong together: the column of ratings, and their bounds.")
    if value is not None and split is not None:
        raise UserError("--split says nothing of ratings. Leave it out, or --value and --between.")
    bounds = None if between is None else public_lists.pair(between, "--between")

    def ask(listed: Sequence[Any]) -> Problem:
        from dpselect import problems

        if value is None or bounds is None:
            asked = problems.approval_voting(
                candidate=column, candidates=listed, ignore_case=ignore_case, split=split
            )
            return replace(asked, measured_in="people")
        return problems.weighted_sum(
            candidate=column, candidates=listed, value=value, bounds=bounds, ignore_case=ignore_case
        )

    asked = replace(options, k=min(WINNERS, len(names)) if options.k is None else options.k)
    return about_names(asked, ask, names, column)
