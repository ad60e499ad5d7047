"""Verbs about numbers: ``price``, ``quantile``."""

from __future__ import annotations

import click

from dpselect.cli import lists
from dpselect.cli.asking import ask_about_numbers
from dpselect.cli.options import CANDIDATES, NUMBER, VALUE, Order, examples, takes_an_order
from dpselect.cli.refusals import Refused


@click.command(
    epilog=examples("price survey.parquet --unit buyer --value wtp --prices 0.01:1.99:0.01 --epsilon 1")
)
@takes_an_order
@VALUE
@click.option(
    "--prices",
    "--candidates",
    "prices",
    metavar="LO:HI:STEP|FILE|a,b,c",
    help="The prices to choose from, public and exact.",
)
def price(order: Order, *, value: str | None, prices: str | None) -> None:
    """Draw the price that earns most, if everybody buys who would pay it."""
    column, offered = _given(value), lists.prices(prices, beside=order.path, least=0)
    from dpselect.problems import pricing

    ask_about_numbers(order, pricing(value=column, prices=offered), measured_in="revenue")


@click.command(
    epilog=examples(
        "quantile pay.csv --unit person --value salary --at 0.5 --between 0:500000 --step 500 --epsilon 1"
    )
)
@takes_an_order
@VALUE
@click.option("--at", metavar=NUMBER, help="The fraction of people below it: 0.5 or 1/2 for the median.")
@click.option("--between", metavar="LO:HI", help="Choose between public bounds, with --step.")
@click.option("--step", metavar=NUMBER, help="The distance between neighbouring choices.")
@CANDIDATES
def quantile(  # noqa: PLR0913 - each is an option
    order: Order,
    *,
    value: str | None,
    at: str | None,
    between: str | None,
    step: str | None,
    candidates: str | None,
) -> None:
    """Draw the number that splits people as asked: a median, a quartile.

    The numbers to choose from are public: LO, LO + STEP, ... up to HI, or listed with --candidates.
    """
    column = _given(value)
    if at is None:
        raise Refused("--at must be the fraction of people below the answer. Write --at 0.5 for the median.")
    if (between is None) != (step is None) or (between is None) == (candidates is None):
        raise Refused(
            "the numbers to choose from must be given by --between LO:HI with --step, or by --candidates. "
            f"{lists.PUBLIC}"
        )
    from dpselect.problems import quantile as quantile_problem

    if between is not None and step is not None:
        bounds = lists.pair(between, "--between")
        problem = quantile_problem(value=column, at=at, between=bounds, step=step)
    else:
        problem = quantile_problem(
            value=column, at=at, candidates=lists.prices(candidates, "--candidates", beside=order.path)
        )
    ask_about_numbers(order, problem, measured_in="rank")


def _given(value: str | None) -> str:
    if not value:
        raise Refused("--value must name the column with people's numbers. Write --value salary.")
    return value
