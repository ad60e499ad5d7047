"""The commands ``ledger account`` and ``ledger budget``: what each analyst may spend, and all together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from dpselect.cli import console
from dpselect.cli.budgets import amounts, given_limit
from dpselect.cli.declaration import GivenOnce, GroupGivenOnce, examples
from dpselect.cli.options import EXACT_OPTION, NUMBER_METAVAR
from dpselect.cli.sources import open_ledger
from dpselect.cli.user_errors import UserError

if TYPE_CHECKING:
    from dpselect.ledger import Account, Ledger
    from dpselect.ledger.budget import Currency

PLACE = click.argument("path", metavar="PATH")
NAME = click.argument("name", metavar="NAME")
JSON = click.option("--json", "as_json", is_flag=True, help="Write JSON (docs/reference/json.md).")
ANCHOR = click.option("--anchor", metavar="FILE", help="Where the anchor is, best on another disk.")
REASON = click.option("--reason", metavar="TEXT", help="Why; it is written into the ledger.")
Command = Callable[..., Any]


@contextmanager
def opened(path: str, anchor: str | None) -> Iterator[Ledger]:
    """Open a ledger; of an account that is refused say NAME, as it is given here."""
    from dpselect.errors import InvalidParameter

    with open_ledger(path, anchor=anchor) as ledger:
        try:
            yield ledger
        except InvalidParameter as error:
            if error.parameter != "account":
                raise
            sentence = str(error)
        else:
            return
    raise UserError(sentence.replace("account must", "NAME must", 1))


def must_be_of_kind(share: Currency, ledger: Ledger) -> None:
    """Refuse a share that is not of the kind of the budget; it may lack the delta, which is 0 then."""
    kind = ledger.budget
    if share.symbol != kind.symbol or len(share.parts()) > len(kind.parts()):
        raise UserError(
            f"the share must be of the kind of the budget, {kind}; got {share}. Give the options of the "
            "budget, with other numbers."
        )


def with_limit(command: Command) -> Command:
    """Give a command the three options that say a loss."""
    words = {
        "--epsilon": "The limit, in pure differential privacy.",
        "--rho": "Instead of --epsilon: in zero-concentrated differential privacy.",
        "--delta": "Beside --epsilon or --rho, in a ledger that has a delta.",
    }
    for name, text in reversed(words.items()):
        command = click.option(name, metavar=NUMBER_METAVAR, help=text)(command)
    return command


@click.group(name="account", cls=GroupGivenOnce)
def account_group() -> None:
    """Give each analyst a share of the budget.

    A charge with --account needs room in the share and in the budget. Shares may add up to more than the
    budget; a reserved one is set aside.
    """


@account_group.command(name="open", epilog=examples("ledger account open town.ledger ada --epsilon 1/2"))
@PLACE
@NAME
@with_limit
@click.option("--reserve", is_flag=True, help="Set the share aside: no other charge can take it.")
@REASON
@ANCHOR
@JSON
@EXACT_OPTION
def open_account_command(  # noqa: PLR0913 - each is an option
    path: str,
    name: str,
    *,
    reserve: bool,
    reason: str | None,
    anchor: str | None,
    as_json: bool,
    **limit: Any,
) -> None:
    """Open an account with a share of the budget. A name is used once."""
    share = given_limit(**limit, example="--epsilon 1/2")
    with opened(path, anchor) as ledger:
        must_be_of_kind(share, ledger)
        show_account(ledger.open_account(name, share=share, reserve=reserve, reason=reason), as_json=as_json)


@account_group.command(
    name="change",
    epilog=examples("ledger account change town.ledger ada --epsilon 1 --reason 'a second study'"),
)
@PLACE
@NAME
@with_limit
@click.option("--reason", metavar="TEXT", required=True, help="Why; it is written into the ledger.")
@ANCHOR
@JSON
@EXACT_OPTION
def change_account_command(
    path: str, name: str, *, reason: str, anchor: str | None, as_json: bool, **limit: Any
) -> None:
    """Change the share of an account. Below what it has spent, its charges stop."""
    share = given_limit(**limit, example="--epsilon 1/2")
    with opened(path, anchor) as ledger:
        must_be_of_kind(share, ledger)
        show_account(ledger.change_share(name, share, reason=reason), as_json=as_json)


@account_group.command(name="close", epilog=examples("ledger account close town.ledger ada"))
@PLACE
@NAME
@REASON
@ANCHOR
@JSON
@EXACT_OPTION
def close_account_command(
    path: str, name: str, *, reason: str | None, anchor: str | None, as_json: bool
) -> None:
    """Close an account for good. What is unspent of a reserve is given back."""
    with opened(path, anchor) as ledger:
        show_account(ledger.close_account(name, reason=reason), as_json=as_json)


@account_group.command(name="show", epilog=examples("ledger account show town.ledger ada --json"))
@PLACE
@click.argument("name", metavar="[NAME]", required=False)
@ANCHOR
@JSON
@EXACT_OPTION
def show_account_command(path: str, name: str | None, *, anchor: str | None, as_json: bool) -> None:
    """Show one account, or all."""
    with opened(path, anchor) as ledger:
        if name is not None:
            show_account(ledger.account(name), as_json=as_json)
            return
        accounts = ledger.accounts()
        if as_json:
            console.write_json({"accounts": [account_facts(each) for each in accounts]})
        elif accounts:
            write_accounts(accounts)
        else:
            console.results().print("the ledger has no accounts.", markup=False)


@click.command(
    name="budget",
    cls=GivenOnce,
    epilog=examples("ledger budget town.ledger --epsilon 3 --reason 'a second year of data'"),
)
@PLACE
@with_limit
@click.option("--reason", metavar="TEXT", required=True, help="Why; it is written into the ledger.")
@ANCHOR
@JSON
@EXACT_OPTION
def budget_command(path: str, *, reason: str, anchor: str | None, as_json: bool, **limit: Any) -> None:
    """Change the budget, with a reason that every report shows.

    Below what is spent, charges stop; what is spent stays spent.
    """
    budget = given_limit(**limit, example="--epsilon 3")
    with open_ledger(path, anchor=anchor) as ledger:
        if type(budget) is not type(ledger.budget):
            raise UserError(
                f"the new budget must be of the kind of the present one, {ledger.budget}; got {budget}. "
                "Give the same options with other numbers."
            )
        ledger.change_budget(budget, reason=reason)
        now, spent, left = ledger.budget, ledger.spent, ledger.remaining
    if as_json:
        console.write_json(amounts(budget=now, spent=spent, remaining=left))
    else:
        console.write_facts({"budget": str(now), "spent": str(spent), "left": left.left()})


def account_facts(account: Account) -> dict[str, Any]:
    """Write an account for JSON."""
    return {
        "name": account.name,
        **amounts(share=account.share, spent=account.spent, remaining=account.remaining),
        "reserved": account.reserved,
        "closed": account.closed,
    }


def show_account(account: Account, *, as_json: bool) -> None:
    """Show one account."""
    if as_json:
        console.write_json(account_facts(account))
        return
    console.write_facts(
        {
            "account": account.name,
            "share": f"{account.share}{', reserved' if account.reserved else ''}",
            "spent": str(account.spent),
            "left": "closed" if account.closed else account.remaining.left(),
        }
    )


def write_accounts(accounts: list[Account]) -> None:
    """Show accounts as a table."""
    rows = [
        [
            each.name,
            each.share.readable(),
            each.spent.readable(),
            each.remaining.readable(rounded="down"),
            "closed" if each.closed else "reserved" if each.reserved else "",
        ]
        for each in accounts
    ]
    console.write_table(["account", "share", "spent", "left", ""], rows, right=(1, 2, 3))
