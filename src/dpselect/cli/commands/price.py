"""The command ``price``: the price that earns most."""

from __future__ import annotations

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
from dpselect.cli.question import TableQuestion, about_numbers, asks_a_table
from dpselect.cli.user_errors import UserError


@command(
    name="price",
    epilog=examples(
        "price survey.parquet --unit buyer --value wtp --prices 0.01:1.99:0.01 --epsilon 1",
        "price survey.parquet --unit buyer --value wtp --between 0.01:1.99 --step 0.001 --epsilon 1",
    ),
)
@unlisted("--counts")
@asks_a_table
@VALUE
@click.option(
    "--prices",
    "--candidates",
    "prices",
    metavar="LO:HI:STEP|FILE|TABLE:COLUMN|a,b,c",
    help="The prices to choose from, public and exact.",
)
@BETWEEN
@STEP_WIDTH
@PEOPLE_BOUND
def price_command(  # noqa: PLR0913 - each is an option
    options: QuestionOptions,
    *,
    value: str | None,
    prices: str | None,
    between: str | None,
    step: str | None,
    people: int | None,
) -> TableQuestion:
    """Draw the price that earns most, if all buy who would pay it."""
    column = column_of_numbers(value)
    from dpselect.problems import pricing

    if between is not None and prices is None:
        bounds = public_lists.pair(between, "--between")
        problem = pricing(value=column, between=bounds, step=step)
        return about_numbers(options, problem).with_people(people)
    if between is not None or step is not None:
        raise UserError("prices must be given by --prices, or by --between LO:HI. Give one of the two.")
    offered = public_lists.prices(prices, beside=options.paths, least=0)
    return about_numbers(options, pricing(value=column, prices=offered)).with_people(people)
