"""The command ``ledger``: make one, show it, verify it, export it, copy an old one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpselect.cli import console
from dpselect.cli.budgets import amounts, given_loss
from dpselect.cli.declaration import GroupGivenOnce, examples
from dpselect.cli.ledger_accounts import (
    ANCHOR,
    JSON,
    PLACE,
    account_facts,
    account_group,
    budget_command,
    with_limit,
    write_accounts,
)
from dpselect.cli.options import EXACT_OPTION
from dpselect.cli.sources import open_ledger, place_of_ledger
from dpselect.cli.user_errors import UserError

if TYPE_CHECKING:
    from dpselect.ledger import Entry, Ledger
    from dpselect.privacy.neighbours import Neighbours

OWNER_ALONE = 0o600
"""Who may read an export, which may hold the answers of all accounts: as of the ledger, its owner."""


@click.group(name="ledger", cls=GroupGivenOnce)
def ledger_command() -> None:
    """Keep a budget that cannot be overspent.

    PATH is a file, or a PostgreSQL URL.
    """


ledger_command.add_command(account_group)
ledger_command.add_command(budget_command)


@ledger_command.command(
    name="create",
    epilog=examples(
        "ledger create town.ledger --epsilon 2 --unit voter",
        "ledger create town.ledger --rho 1/2 --delta 1e-6",
    ),
)
@PLACE
@with_limit
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
def create_ledger_command(  # noqa: PLR0913 - each is an option
    path: str,
    *,
    neighbours: Neighbours,
    dataset: str | None,
    unit: str | None,
    anchor: str | None,
    as_json: bool,
    **limit: Any,
) -> None:
    """Make a new ledger with a budget."""
    from dpselect.ledger import Ledger

    budget = given_loss(**limit, example="--epsilon 2")
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

    with open_ledger(path, anchor=anchor) as ledger:
        entries, accounts = list(ledger.entries()), ledger.accounts()
        if as_json:
            more = {"accounts": [account_facts(each) for each in accounts]} if accounts else {}
            written = [_entry_facts(entry) for entry in entries]
            console.write_json({**_facts(path, ledger), **more, "entries": written})
            return
        symbol = ledger.budget.symbol
        reserved = {"reserved": str(ledger.reserved)} if any(ledger.reserved.parts()) else {}
        console.write_facts(
            {
                "ledger": place_of_ledger(path, ledger),
                "budget": str(ledger.budget),
                "spent": str(ledger.spent),
                "left": ledger.remaining.left(),
                **reserved,
                **_names(ledger),
            }
        )
        if accounts:
            write_accounts(accounts)
        if entries:
            headings, rows = charges_table(entries, symbol)
            numbers = 2 * len(ledger.budget.parts())
            console.write_table(headings, rows, right=range(len(headings) - numbers, len(headings)))


@ledger_command.command(name="export", epilog=examples("ledger export town.ledger --output town.jsonl"))
@PLACE
@click.option("--output", metavar="FILE", required=True, help="The new file.")
@click.option("--answers", is_flag=True, help="Write the stored answers too, not only their hashes.")
@ANCHOR
def export_ledger_command(path: str, output: str, anchor: str | None, *, answers: bool) -> None:
    """Write every entry with its digests, as lines of JSON.

    docs/reference/ledger-export.md says how to check them. dpselect ledger verify FILE does.
    """
    target = Path(output)
    if target.exists() or not target.parent.is_dir():
        raise UserError(f"--output must be a new file in a folder that is there; got '{output[-60:]}'.")
    with console.working("exporting"), open_ledger(path, anchor=anchor) as ledger:
        lines = ledger.export(answers=answers)
        with target.open("x", encoding="ascii") as file:
            try:
                target.chmod(OWNER_ALONE)
                count = sum(1 for line in lines if file.write(line))
                file.flush()
            except BaseException:
                target.unlink()
                raise
    console.results().print(f"{count} lines were written to {output}.", markup=False)


@ledger_command.command(name="upgrade", epilog=examples("ledger upgrade old.ledger new.ledger"))
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option(
    "--neighbours",
    type=click.Choice(["add_remove", "change_one"]),
    help="Between which neighbours all its charges are, where they do not say it.",
)
@ANCHOR
def upgrade_ledger_command(old: str, new: str, *, neighbours: Neighbours | None, anchor: str | None) -> None:
    """Copy a ledger of an older format into a new file.

    Both are verified. From then on use the new one alone; move the old one away.
    """
    from dpselect.ledger import upgrade

    with console.working("copying"), upgrade(old, new, neighbours=neighbours, anchor=anchor) as made:
        count, left = sum(1 for _ in made.entries()), made.remaining.left()
        relation = made.neighbours
    copied = "1 entry was" if count == 1 else f"{count} entries were"
    console.results().print(
        f"{copied} copied to {new}, {relation}; {left} is left. Move {old} away.", markup=False
    )


@ledger_command.command(
    name="verify", epilog=examples("ledger verify town.ledger", "ledger verify town.jsonl")
)
@PLACE
@ANCHOR
@JSON
def verify_ledger_command(path: str, anchor: str | None, *, as_json: bool) -> None:
    """Check everything that was ever written to a ledger.

    PATH may be an export, too. What was changed, or lost its end, is refused with exit code 1.
    """
    from dpselect.ledger.export import is_export

    if is_export(path):
        _verify_export(path, anchor, as_json=as_json)
        return
    with console.working("verifying"), open_ledger(path, anchor=anchor) as ledger:
        entries = ledger.verify()
        facts = _facts(path, ledger)
    if as_json:
        console.write_json({**facts, "verified": True, "count": entries})
    else:
        plural = "entry is as it was" if entries == 1 else "entries are as they were"
        console.results().print(f"{entries} {plural} written; nothing is missing.", markup=False)


def _verify_export(path: str, anchor: str | None, *, as_json: bool) -> None:
    """Check an export with nothing else at hand, or with an anchor."""
    from dpselect.ledger import verify_export

    found = verify_export(path, anchor)
    if as_json:
        facts = {"export": path, "measure": found.budget.measure, "neighbours": found.header.neighbours}
        sums = amounts(budget=found.budget, spent=found.spent)
        checked = {"verified": True, "count": found.entries, "anchored": found.anchored}
        console.write_json({**facts, **sums, **checked})
        return
    plural = "entry fits" if found.entries == 1 else "entries fit"
    sentence = f"{found.entries} {plural} together; {found.spent} of {found.budget.readable()} is spent."
    unsure = " Without an anchor nothing shows that the whole was not written anew: give --anchor FILE."
    console.results().print(sentence + ("" if found.anchored else unsure), markup=False)


def _entry_facts(entry: Entry) -> dict[str, Any]:
    """Write an entry for JSON; what only accounts have is left out where there is none."""
    acts: dict[str, Any] = {} if entry.act == "charge" else {"act": entry.act}
    if entry.amount is not None:
        acts["amount"] = entry.amount.to_facts()
    return {
        "number": entry.number,
        **amounts(price=entry.loss, total=entry.total),
        "reason": entry.reason,
        "request_id": entry.request_id,
        "time": _minute(entry),
        **({} if entry.account is None else {"account": entry.account}),
        **acts,
    }


def _facts(path: str, ledger: Ledger) -> dict[str, Any]:
    reserved = ledger.reserved
    return {
        "ledger": place_of_ledger(path, ledger),
        "measure": ledger.budget.measure,
        **amounts(
            budget=ledger.budget,
            spent=ledger.spent,
            remaining=ledger.remaining,
            **({"reserved": reserved} if any(reserved.parts()) else {}),
        ),
        "neighbours": ledger.neighbours,
        "dataset": ledger.dataset,
        "unit": ledger.unit,
    }


def _names(ledger: Ledger) -> dict[str, str]:
    from dpselect.ledger.ledger_page import protects

    named = {"data set": ledger.dataset, "protects": protects(ledger)}
    return {name: value for name, value in named.items() if value is not None}


def _minute(entry: Entry) -> str:
    from dpselect.ledger.fields import time_text

    return time_text(entry.time)
