"""The command ``price``: the price that earns most."""

from __future__ import annotations

import click

from dpselect.cli import public_lists
from dpselect.cli.options import (
    VALUE,
    QuestionOptions,
    column_of_numbers,
    command,
    examples,
)
from dpselect.cli.question import TableQuestion, about_numbers, asks_a_table


@command(
    name="price",
    epilog=examples("price survey.parquet --unit buyer --value wtp --prices 0.01:1.99:0.01 --epsilon 1"),
)
@asks_a_table
@VALUE
@click.option(
    "--prices",
    "--candidates",
    "prices",
    metavar="LO:HI:STEP|FILE|TABLE:COLUMN|a,b,c",
    help="The prices to choose from, public and exact.",
)
def price_command(options: QuestionOptions, *, value: str | None, prices: str | None) -> TableQuestion:
    """Draw the price that earns most, if all buy who would pay it."""
    column, offered = column_of_numbers(value), public_lists.prices(prices, beside=options.path, least=0)
    from dpselect.problems import pricing

    return about_numbers(options, pricing(value=column, prices=offered))
