"""The command ``mode``: the most common value of a column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from dpselect.cli import public_lists
from dpselect.cli.declaration import command, examples
from dpselect.cli.options import (
    CANDIDATES,
    COLUMN_METAVAR,
    IGNORE_CASE,
    SPLIT,
    QuestionOptions,
    column_of_choices,
)
from dpselect.cli.question import TableQuestion, about_names, asks_a_table
from dpselect.cli.user_errors import UserError

if TYPE_CHECKING:
    from dpselect.problems.problem import Problem


@command(
    epilog=examples(
        "mode visits.csv --unit person --column town --candidates Bern,Basel,Genf "
        "--rows-per-person 3 --epsilon 1"
    )
)
@asks_a_table
@click.option(
    "--column",
    "--choice",
    "--value",
    "choice",
    metavar=COLUMN_METAVAR,
    help="The column whose values are counted.",
)
@CANDIDATES
@IGNORE_CASE
@SPLIT
@click.option(
    "--rows-per-person", type=int, default=1, show_default=True, help="How many rows of a person count."
)
def mode_command(  # noqa: PLR0913 - each is an option
    options: QuestionOptions,
    *,
    choice: str | None,
    candidates: str | None,
    ignore_case: bool,
    rows_per_person: int,
    split: str | None,
) -> TableQuestion:
    """Draw the most common value of a column."""
    column = column_of_choices(choice)
    if split is not None and options.each_row_is_a_person:
        raise UserError(
            "--split needs --unit here: which part of a cell counts is drawn for each person. Name it."
        )
    names = public_lists.names(candidates, beside=options.paths, ignore_case=ignore_case)

    def ask(listed: Sequence[Any]) -> Problem:
        from dpselect import problems

        return problems.most_common(
            column=column,
            candidates=listed,
            rows_per_person=rows_per_person,
            ignore_case=ignore_case,
            split=split,
        )

    return about_names(options, ask, names, column)
