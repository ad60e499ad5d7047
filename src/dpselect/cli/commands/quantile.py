"""The command ``quantile``: the number below which a given fraction of people are."""

from __future__ import annotations

import click

from dpselect.cli import public_lists
from dpselect.cli.declaration import command, examples
from dpselect.cli.options import (
    BETWEEN,
    CANDIDATES,
    NUMBER_METAVAR,
    PEOPLE_BOUND,
    STEP_WIDTH,
    VALUE,
    QuestionOptions,
    column_of_numbers,
    unlisted,
)
from dpselect.cli.question import TableQuestion, about_numbers, asks_a_table
from dpselect.cli.user_errors import UserError


@command(
    name="quantile",
    epilog=examples(
        "quantile pay.csv --unit person --value salary --at 0.5 --between 0:500000 --step 500 --epsilon 1",
        "quantile pay.csv --unit person --value salary --at 0.25,0.5,0.75 --between 0:500000 --epsilon 1",
    ),
)
@unlisted("--counts", "--quorum")
@asks_a_table
@VALUE
@click.option(
    "--at",
    metavar=NUMBER_METAVAR,
    help="The fraction of people below it: 0.5 or 1/2 for the median; several as 0.25,0.5,0.75.",
)
@BETWEEN
@STEP_WIDTH
@CANDIDATES
@PEOPLE_BOUND
def quantile_command(  # noqa: PLR0913 - each is an option
    options: QuestionOptions,
    *,
    value: str | None,
    at: str | None,
    between: str | None,
    step: str | None,
    candidates: str | None,
    people: int | None,
) -> TableQuestion:
    """Draw a quantile: the median, or several such as quartiles.

    The numbers to choose from are public: LO, LO + STEP, ... up to HI, or listed with --candidates. There may
    be any number of them: the time depends on the values that people have.
    """
    column = column_of_numbers(value)
    if at is None:
        raise UserError(
            "--at must be the fraction of people below the answer. Write --at 0.5 for the median."
        )
    if (between is None and step is not None) or (between is None) == (candidates is None):
        raise UserError(
            "the numbers to choose from must be given by --between LO:HI, or by --candidates. "
            f"{public_lists.are_public('--candidates')}"
        )
    from dpselect.problems import quantile, quantiles

    if people is not None and "," not in at:
        raise UserError(
            "--people is for several quantiles at once. Leave it out: of one the figure holds for any number."
        )
    if between is not None:
        bounds = public_lists.pair(between, "--between")
        if "," in at:
            several = [each.strip() for each in at.split(",")]
            together = quantiles(value=column, at=several, between=bounds, step=step)
            return about_numbers(options, together).with_people(people)
        problem = quantile(value=column, at=at, between=bounds, step=step)
    elif "," in at:
        raise UserError(
            "--at must be one fraction with --candidates; several are drawn between bounds. Write --between "
            "LO:HI instead of --candidates."
        )
    else:
        problem = quantile(
            value=column,
            at=at,
            candidates=public_lists.prices(candidates, "--candidates", beside=options.paths),
        )
    return about_numbers(options, problem)
