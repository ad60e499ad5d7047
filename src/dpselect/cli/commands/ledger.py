"""The command ``ledger``: make one, show it, verify it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dpselect.cli import console
from dpselect.cli.options import EXACT_OPTION, NUMBER_METAVAR, GroupGivenOnce, examples
from dpselect.cli.sources import open_ledger, place_of_ledger
from dpselect.cli.user_errors import UserError

if TYPE_CHECKING:
    from dpselect.ledger import Ledger
    from dpselect.ledger.budget import Currency
    from dpselect.privacy.neighbours import Neighbours

PLACE = click.argument("path", metavar="PATH")
JSON = click.option("--json", "as_json", is_flag=True, help="Write JSON (docs/reference/json.md).")
ANCHOR = click.option("--anchor", metavar="FILE", help="Where the anchor is, best on another disk.")


@click.group(name="ledger", cls=GroupGivenOnce)
def ledger_command() -> None:
    """Keep a budget that cannot be overspent.

    PATH is a file, or a PostgreSQL URL.
    """


@ledger_command.command(name="create", epilog=examples("ledger create town.ledger --epsilon 2 --unit voter"))
@PLACE
@click.option("--epsilon", metavar=NUMBER_METAVAR, help="The budget, in pure differential privacy.")
@click.option(
    "--rho", metavar=NUMBER_METAVAR, help="Instead of --epsilon: in zero-concentrated differential privacy."
)
@click.option(
    "--neighbours",
    type=click.Choice(["add_remove", "change_one"]),
    default="add_remove",
    show_default=True,
    help="What is hidden of a person, by every question that it pays for.",
)
@click.option("--dataset", metavar="NAME", help="The name of the data set that the budget is for.")
@click.option("--unit", metavar="COLUMN", help="The column that identifies a person.")
@ANCHOR
@JSON
@EXACT_OPTION
def create_ledger_command(  # noqa: PLR0913, PLR0917 - each is an option
    path: str,
    epsilon: str | None,
    rho: str | None,
    neighbours: Neighbours,
    dataset: str | None,
    unit: str | None,
    anchor: str | None,
    *,
    as_json: bool,
) -> None:
    """Make a new ledger with a budget."""
    from dpselect.exact.numbers import positive
    from dpselect.ledger import Ledger
    from dpselect.privacy.losses import ZCDP, PureDP

    if (epsilon is None) == (rho is None):
        got = "none" if rho is None else "both"
        raise UserError(f"exactly one of --epsilon and --rho must be given; got {got}. Write --epsilon 2.")
    if epsilon is not None:
        budget: Currency = PureDP(positive(epsilon, "epsilon"))
    else:
        budget = ZCDP(positive(rho or "", "rho"))
    with Ledger.create(
        path, budget=budget, neighbours=neighbours, dataset=dataset, unit=unit, anchor=anchor
    ) as made:
        if as_json:
            console.write_json(_facts(path, made))
        else:
            console.write_facts(
                {"ledger": place_of_ledger(path, made), "budget": str(made.budget), **_names(made)}
            )


@ledger_command.command(name="show", epilog=examples("ledger show town.ledger --json"))
@PLACE
@ANCHOR
@JSON
@EXACT_OPTION
def show_ledger_command(path: str, anchor: str | None, *, as_json: bool) -> None:
    """Show what was spent, on what, and what is left."""
    from dpselect.ledger.ledger_page import charges_table
    from dpselect.privacy.amounts import amount_text

    with open_ledger(path, anchor=anchor) as ledger:
        entries = list(ledger.entries())
        if as_json:
            written = [
                {
                    "number": entry.number,
                    "price": amount_text(entry.loss.amount),
                    "total": amount_text(entry.total.amount),
                    "reason": entry.reason,
                    "request_id": entry.request_id,
                    "time": _minute(entry),
                }
                for entry in entries
            ]
            console.write_json({**_facts(path, ledger), "entries": written})
            return
        symbol = ledger.budget.symbol
        console.write_facts(
            {
                "ledger": place_of_ledger(path, ledger),
                "budget": str(ledger.budget),
                "spent": str(ledger.spent),
                "left": ledger.remaining.left(),
                **_names(ledger),
            }
        )
        if entries:
            headings, rows = charges_table(entries, symbol)
            console.write_table(headings, rows, right=(len(headings) - 2, len(headings) - 1))


@ledger_command.command(name="verify", epilog=examples("ledger verify town.ledger"))
@PLACE
@ANCHOR
@JSON
def verify_ledger_command(path: str, anchor: str | None, *, as_json: bool) -> None:
    """Check everything that was ever written to it.

    A ledger that was changed, or lost its end, is refused with exit code 1.
    """
    with console.working("verifying"), open_ledger(path, anchor=anchor) as ledger:
        entries = ledger.verify()
        facts = _facts(path, ledger)
    if as_json:
        console.write_json({**facts, "verified": True, "count": entries})
    else:
        plural = "entry is as it was" if entries == 1 else "entries are as they were"
        console.results().print(f"{entries} {plural} written; nothing is missing.", markup=False)


def _facts(path: str, ledger: Ledger) -> dict[str, Any]:
    from dpselect.privacy.amounts import amount_text

    return {
        "ledger": place_of_ledger(path, ledger),
        "measure": ledger.budget.measure,
        "budget": amount_text(ledger.budget.amount),
        "spent": amount_text(ledger.spent.amount),
        "remaining": amount_text(ledger.remaining.amount),
        "neighbours": ledger.neighbours,
        "dataset": ledger.dataset,
        "unit": ledger.unit,
    }


def _names(ledger: Ledger) -> dict[str, str]:
    from dpselect.ledger.ledger_page import protects

    named = {"data set": ledger.dataset, "protects": protects(ledger)}
    return {name: value for name, value in named.items() if value is not None}


def _minute(entry: Any) -> str:
    from dpselect.ledger.fields import time_text

    return time_text(entry.time)
