"""The command ``window``: where a window of fixed width begins that holds most people."""

from __future__ import annotations

import click

from dpselect.cli import public_lists
from dpselect.cli.declaration import command, examples
from dpselect.cli.options import (
    BETWEEN,
    NUMBER_METAVAR,
    STEP_WIDTH,
    VALUE,
    QuestionOptions,
    column_of_numbers,
    unlisted,
)
from dpselect.cli.question import TableQuestion, about_numbers, asks_a_table
from dpselect.cli.user_errors import UserError


@command(
    name="window",
    epilog=examples(
        "window pay.csv --unit person --value salary --width 10000 --between 0:500000 --epsilon 1"
    ),
)
@unlisted("--counts")
@asks_a_table
@VALUE
@click.option("--width", metavar=NUMBER_METAVAR, help="How wide the window is.")
@BETWEEN
@STEP_WIDTH
def window_command(
    options: QuestionOptions, *, value: str | None, width: str | None, between: str | None, step: str | None
) -> TableQuestion:
    """Draw where the window begins that holds most people.

    It holds those from the answer on, below answer + WIDTH.
    """
    column = column_of_numbers(value)
    if width is None:
        raise UserError("--width must say how wide the window is. Write --width 2.")
    if between is None:
        raise UserError("--between must give the public bounds of the answer. Write --between 0:22.")
    from dpselect.problems import window

    bounds = public_lists.pair(between, "--between")
    return about_numbers(options, window(value=column, width=width, between=bounds, step=step))
