"""The verb ``ledger``: make one, show it, verify it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpselect.cli import consoles
from dpselect.cli.options import NUMBER, examples
from dpselect.cli.refusals import Refused

if TYPE_CHECKING:
    from dpselect.ledger import Ledger
    from dpselect.privacy.neighbours import Neighbours

PLACE = click.argument("path", metavar="PATH")
JSON = click.option("--json", "as_json", is_flag=True, help="Write JSON (docs/reference/json.md).")
ANCHOR = click.option("--anchor", metavar="FILE", help="Where the anchor is, best on another disk.")


@click.group()
def ledger() -> None:
    """Keep a budget that cannot be overspent.

    PATH is a file, or a PostgreSQL URL.
    """


@ledger.command(epilog=examples("ledger create town.ledger --epsilon 2 --unit voter"))
@PLACE
@click.option("--epsilon", metavar=NUMBER, help="The budget, in pure differential privacy.")
@click.option(
    "--rho", metavar=NUMBER, help="Instead of --epsilon: in zero-concentrated differential privacy."
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
def create(  # noqa: PLR0913, PLR0917 - each is an option
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
    from dpselect.ledger import Ledger
    from dpselect.privacy.losses import ZCDP, PureDP

    if (epsilon is None) == (rho is None):
        got = "none" if rho is None else "both"
        raise Refused(f"exactly one of --epsilon and --rho must be given; got {got}. Write --epsilon 2.")
    budget = PureDP(epsilon) if epsilon is not None else ZCDP(rho or "")
    with Ledger.create(
        path, budget=budget, neighbours=neighbours, dataset=dataset, unit=unit, anchor=anchor
    ) as made:
        if as_json:
            consoles.write_json(_facts(path, made))
        else:
            consoles.write_facts({"ledger": place_of(path, made), "budget": str(made.budget), **_names(made)})


@ledger.command(epilog=examples("ledger show town.ledger --json"))
@PLACE
@ANCHOR
@JSON
def show(path: str, anchor: str | None, *, as_json: bool) -> None:
    """Show what was spent, on what, and what is left."""
    from dpselect.cli.showing import amount, short

    with opened(path, anchor=anchor) as book:
        entries = list(book.entries())
        if as_json:
            written = [
                {
                    "number": entry.number,
                    "price": amount(entry.loss),
                    "total": amount(entry.total),
                    "reason": entry.reason,
                    "request_id": entry.request_id,
                    "time": _minute(entry),
                }
                for entry in entries
            ]
            consoles.write_json({**_facts(path, book), "entries": written})
            return
        currency = str(book.budget).partition(" ")[0]
        consoles.write_facts(
            {
                "ledger": place_of(path, book),
                "budget": str(book.budget),
                "spent": f"{currency} {short(book.spent.parts()[0])}",
                "left": f"{currency} {short(book.remaining.parts()[0], 'down')}",
                **_names(book),
            }
        )
        if entries:
            consoles.write_table(
                ["entry", "time", "for", "request", currency, "in all"],
                [
                    [
                        str(entry.number),
                        _minute(entry),
                        entry.reason.partition(", question ")[0],
                        entry.request_id or "",
                        short(entry.loss.parts()[0]),
                        short(entry.total.parts()[0]),
                    ]
                    for entry in entries
                ],
                right=(4, 5),
            )


@ledger.command(epilog=examples("ledger verify town.ledger"))
@PLACE
@ANCHOR
@JSON
def verify(path: str, anchor: str | None, *, as_json: bool) -> None:
    """Check everything that was ever written to it.

    A ledger that was changed, or lost its end, is refused with exit code 1.
    """
    with consoles.working("verifying"), opened(path, anchor=anchor) as book:
        entries = book.verify()
        facts = _facts(path, book)
    if as_json:
        consoles.write_json({**facts, "verified": True, "count": entries})
    else:
        plural = "entry is as it was" if entries == 1 else "entries are as they were"
        consoles.results().print(f"{entries} {plural} written; nothing is missing.", markup=False)


@contextmanager
def opened(path: str, *, anchor: str | None = None) -> Iterator[Ledger]:
    """Open a ledger that is there."""
    from dpselect.ledger import Ledger

    if "://" not in path and not Path(path).exists():
        raise Refused(
            f"a ledger must be there; there is none at '{path[-60:]}'. "
            f"Make one: dpselect ledger create {path[-60:]} --epsilon 2"
        )
    with Ledger.open(path, anchor=anchor) as ledger:
        yield ledger


def place_of(path: str, book: Ledger) -> str:
    """Name a ledger as it was named, but for a password."""
    return book.place if "://" in path else path


def _facts(path: str, book: Ledger) -> dict[str, Any]:
    from dpselect.cli.showing import amount
    from dpselect.release.result import MEASURES

    return {
        "ledger": place_of(path, book),
        "measure": MEASURES[type(book.budget)],
        "budget": amount(book.budget),
        "spent": amount(book.spent),
        "remaining": amount(book.remaining),
        "neighbours": book.neighbours,
        "dataset": book.dataset,
        "unit": book.unit,
    }


def _names(book: Ledger) -> dict[str, str]:
    named = {"neighbours": book.neighbours, "data set": book.dataset, "protects": book.unit}
    return {name: value for name, value in named.items() if value is not None}


def _minute(entry: Any) -> str:
    from dpselect.ledger.clock import written

    return written(entry.time)
