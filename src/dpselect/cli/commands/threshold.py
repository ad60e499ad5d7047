"""The command ``threshold``: the number that best splits people by a label."""

from __future__ import annotations

import click

from dpselect.cli import public_lists
from dpselect.cli.declaration import command, examples
from dpselect.cli.options import (
    BETWEEN,
    COLUMN_METAVAR,
    STEP_WIDTH,
    VALUE,
    QuestionOptions,
    column_of_numbers,
    unlisted,
)
from dpselect.cli.public_lists import Names
from dpselect.cli.question import TableQuestion, about_names, asks_a_table
from dpselect.cli.user_errors import UserError


@command(
    name="threshold",
    epilog=examples(
        "threshold stars.csv --unit guest --value stars --label dish --yes pie --between 0:5 --epsilon 1"
    ),
)
@unlisted("--counts")
@asks_a_table
@VALUE
@click.option("--label", metavar=COLUMN_METAVAR, help="The column with the label that is to be split.")
@click.option("--yes", metavar="NAME", help="The label of people from the answer on; any other is no.")
@BETWEEN
@STEP_WIDTH
def threshold_command(  # noqa: PLR0913 - each is an option
    options: QuestionOptions,
    *,
    value: str | None,
    label: str | None,
    yes: str | None,
    between: str | None,
    step: str | None,
) -> TableQuestion:
    """Draw the number from which on people have a label.

    It is the best split of them: below it without the label YES, from it on with it.
    """
    column = column_of_numbers(value)
    if label is None or yes is None:
        raise UserError(
            "--label must name a column, and --yes one of its labels. Write --label passed --yes true."
        )
    if between is None:
        raise UserError("--between must give the public bounds of the answer. Write --between 0:100.")
    from dpselect.problems import threshold

    bounds, named = public_lists.pair(between, "--between"), label
    return about_names(
        options,
        lambda names: threshold(value=column, label=named, yes=names[0], between=bounds, step=step),
        Names([yes], "--yes"),
        label,
    )
