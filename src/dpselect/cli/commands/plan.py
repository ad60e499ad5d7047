"""The command ``plan``: what a budget buys, before any data is touched."""

from __future__ import annotations

from typing import Any

import click

from dpselect.cli import console
from dpselect.cli.declaration import command, examples
from dpselect.cli.options import BETWEEN, EXACT_OPTION, NUMBER_METAVAR, STEP_WIDTH
from dpselect.cli.pictures import must_be_drawable, save_picture
from dpselect.cli.quantile_plans import facts_of_quantile_plan, quantile_plan, show_quantile_plan
from dpselect.cli.selection_plans import (
    SelectionPlan,
    facts_of_selection_plan,
    selection_plan,
    show_selection_plan,
)
from dpselect.cli.user_errors import UserError


@command(
    name="plan",
    epilog=examples(
        "plan --n 100 --epsilon 0.5 --neighbours change_one",
        "plan --n 100 --within 20 --plot plan.png",
        "plan --prices 0.01:1.99:0.01 --epsilon 1 --people 1000 --json",
        "plan --at 0.25,0.5,0.75 --between 0:500000 --step 500 --people 10000 --within 50",
    ),
)
@click.option("--n", type=int, metavar=NUMBER_METAVAR, help="How many candidates there are.")
@click.option(
    "--candidates", metavar="FILE|TABLE:COLUMN|a,b,c", help="Instead of --n: the candidates themselves."
)
@click.option(
    "--prices",
    metavar="LO:HI:STEP|FILE|TABLE:COLUMN|a,b,c",
    help="Instead of --n: plan for 'dpselect price'.",
)
@click.option(
    "--at",
    metavar=NUMBER_METAVAR,
    help="Instead of --n: plan for 'dpselect quantile', 0.5 or several as 0.25,0.5,0.75. With --between.",
)
@BETWEEN
@STEP_WIDTH
@click.option(
    "--sensitivity", metavar=NUMBER_METAVAR, help="How much one person can change a score.  [default: 1]"
)
@click.option(
    "--together",
    metavar=NUMBER_METAVAR,
    help="How much one person can change all scores together: 1 in a plurality.  [default: unbounded]",
)
@click.option(
    "--people",
    type=click.IntRange(0),
    metavar=NUMBER_METAVAR,
    help="At most how many people there are, publicly: sharper for --prices and several --at.",
)
@click.option("--epsilon", metavar=NUMBER_METAVAR, help="The price, exactly: 1/2, 0.5 or 1e-3.")
@click.option("--rho", metavar=NUMBER_METAVAR, help="Instead of --epsilon: zero-concentrated privacy.")
@click.option(
    "--within", metavar=NUMBER_METAVAR, help="Instead of both: how accurate it must be; gives the epsilon."
)
@click.option("--k", type=int, default=1, show_default=True, metavar=NUMBER_METAVAR, help="How many winners.")
@click.option(
    "--confidence",
    default="0.99",
    show_default=True,
    metavar=NUMBER_METAVAR,
    help="How sure the accuracy is.",
)
@click.option(
    "--neighbours",
    type=click.Choice(["add_remove", "change_one"]),
    default="add_remove",
    show_default=True,
    help="What is hidden of a person: being there at all, or what they answered.",
)
@click.option(
    "--measured-in", metavar="WORD", help="What scores are.  [default: votes, or revenue for --prices]"
)
@click.option(
    "--plot", metavar="FILE", help="Draw it too, into a .png, .svg or .pdf file (needs dpselect[plot])."
)
@click.option("--json", "as_json", is_flag=True, help="Write JSON (docs/reference/json.md).")
@EXACT_OPTION
def plan_command(**given: Any) -> None:
    """Say what a budget buys: accuracy and price, without data.

    The figures hold for every data set: the worst case, rounded up.
    """
    budgets = [name for name in ("epsilon", "rho", "within") if given[name] is not None]
    if len(budgets) != 1:
        raise UserError(
            f"exactly one of --epsilon, --rho and --within must be given; got {len(budgets) or 'none'}. "
            "Write --epsilon 1/2."
        )
    if given["at"] is not None:
        asked = quantile_plan(given)
        if given["as_json"]:
            console.write_json(facts_of_quantile_plan(asked))
        else:
            show_quantile_plan(asked)
        return
    if given["plot"] is not None:
        must_be_drawable(given["plot"])
    plan = selection_plan(given)
    if given["plot"] is not None:
        _draw(plan, given["plot"])
    if given["as_json"]:
        console.write_json(facts_of_selection_plan(plan))
    else:
        show_selection_plan(plan)


def _draw(plan: SelectionPlan, path: str) -> None:
    """Draw the plan into a file."""
    from dpselect.utility.plots import plot_plan

    save_picture(plot_plan(plan.problem, **plan.budget, **plan.question, score_unit=plan.word), path)
