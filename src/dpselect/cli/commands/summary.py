"""The command ``summary``: five quantiles of a column with one charge, and a box plot of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dpselect.cli import public_lists
from dpselect.cli.declaration import command, examples
from dpselect.cli.options import (
    BETWEEN,
    PEOPLE_BOUND,
    STEP_WIDTH,
    VALUE,
    QuestionOptions,
    column_of_numbers,
    unlisted,
)
from dpselect.cli.pictures import must_be_drawable, save_picture
from dpselect.cli.question import TableQuestion, about_numbers, asks_a_table
from dpselect.cli.user_errors import UserError

if TYPE_CHECKING:
    from dpselect.release import Release


@command(
    name="summary",
    epilog=examples("summary pay.csv --unit person --value salary --between 0:500000 --epsilon 1"),
)
@unlisted("--noise", "--gap", "--gap-grid", "--counts", "--quorum", "--k")
@asks_a_table
@VALUE
@BETWEEN
@STEP_WIDTH
@PEOPLE_BOUND
@click.option(
    "--plot",
    metavar="FILE",
    help="Draw a box plot too, into a .png, .svg or .pdf file (needs dpselect[plot]).",
)
def summary_command(  # noqa: PLR0913 - each is an option
    options: QuestionOptions,
    *,
    value: str | None,
    between: str | None,
    step: str | None,
    people: int | None,
    plot: str | None,
) -> TableQuestion:
    """Draw five quantiles at once: 5, 25, 50, 75 and 95 %.

    These shares of the people are below them. One price pays for all five. The numbers to choose from are
    public: LO, LO + STEP, ... up to HI.
    """
    column = column_of_numbers(value)
    if between is None:
        raise UserError("--between must give the public bounds of the answers. Write --between 0:500000.")
    from dpselect.problems.quantiles import five_numbers

    bounds = public_lists.pair(between, "--between")
    question = about_numbers(options, five_numbers(value=column, between=bounds, step=step))
    if plot is not None:
        if options.each is not None:
            raise UserError("--plot draws one box, and --each asks for many. Leave one of them out.")
        must_be_drawable(plot)
    return question.with_people(people).followed_by(None if plot is None else _Box(plot, column))


class _Box:
    """Draws a release into a file."""

    def __init__(self, path: str, unit: str) -> None:
        """Name the file, and what the numbers are."""
        self.path, self.unit = path, unit

    def __call__(self, release: Release) -> None:
        """Draw it; the answer has been shown before."""
        from dpselect.utility.summary_plot import plot_summary

        save_picture(plot_summary(release, unit=self.unit), self.path)
