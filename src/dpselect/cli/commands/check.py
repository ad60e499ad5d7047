"""The command ``check``: how a table fits a question, for its owner. The one command that shows data."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from dpselect.cli.console import write_json
from dpselect.cli.declaration import command, examples
from dpselect.cli.groups import given_groups
from dpselect.cli.question import TableQuestion, fitted
from dpselect.cli.sources import open_table
from dpselect.cli.user_errors import BAD_TABLE, UserError

if TYPE_CHECKING:
    from dpselect.owner import TableCheck

VERBS = ("vote", "top", "mode", "price", "quantile", "summary", "window", "threshold")
QUESTION = "This shows data about people. It is not private and must not be published. Is the data yours?"
UNREADABLE = (
    "the rows of the table must be readable as its schema says; the engine failed on them. Look for broken "
    "rows (a CSV row with more or fewer fields than the header, text that is not UTF-8, a file cut short), "
    "or for a lack of memory. If a CSV is in another encoding, name it: --encoding cp1252, or --encoding "
    "utf-16. Nothing was charged."
)


@command(
    name="check",
    context_settings={"ignore_unknown_options": True},
    epilog=examples(
        "check ballots.csv --unit voter --choice candidate --candidates names.txt --owner",
        "check pay.csv --verb quantile --unit person --value salary --at 0.5 --between 0:500000 --step 500 "
        "--owner",
    ),
)
@click.argument("words", metavar="PATH OPTIONS...", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--verb", type=click.Choice(VERBS), default="vote", show_default=True, help="Whose options are given."
)
@click.option("--owner", is_flag=True, help="Say that the data is yours. Needed where there is no terminal.")
@click.pass_context
def check_command(context: click.Context, *, words: tuple[str, ...], verb: str, owner: bool) -> None:
    """Show the owner what a question makes of a table: NOT private.

    It is for the owner of the data alone.

    Give the same PATH and options as to the verb. It tells rows, people, what is matched, what is dropped and
    why, and the most frequent values that do not count. Nothing is charged and no ledger is written.
    """
    question = _described(context, verb, words)
    if question.options.ledger is not None:
        raise UserError("check takes no --ledger: it shows data, and charges nothing. Leave --ledger out.")
    if not (owner or _says_yes()):
        raise UserError(
            "check shows data, so the owner of the data must ask. Write --owner if the data is yours."
        )
    from dpselect.owner import check
    from dpselect.silence import run

    groups = given_groups(question.options)
    with open_table(question.options) as table:
        problem = fitted(question, table)
        of_each = {} if groups is None else groups.fitted(table.schema)
        progress = question.options.progress
        found = run(lambda: check(problem, table, owner=True, progress=progress, **of_each), _refusal)
    if question.options.as_json:
        write_json(_as_json(found))
    else:
        click.echo(str(found))


def _described(context: click.Context, verb: str, words: tuple[str, ...]) -> TableQuestion:
    """Read the words as the verb does, and give the question that it would ask."""
    commands: Any = context.find_root().command
    command = commands.get_command(context, verb)
    with command.make_context(verb, list(words), parent=context.parent) as inside:
        described: TableQuestion = command.callback.described(**inside.params)
        return described


def _refusal(error: Exception) -> Exception:
    """Refuse a table as the verb does, but speak of no payment: a check has none."""
    from dpselect.errors import InvalidParameter, TableUnreadable

    if isinstance(error, TableUnreadable):
        return UserError(UNREADABLE, BAD_TABLE)
    return UserError(str(error), BAD_TABLE) if isinstance(error, InvalidParameter) else error


def _says_yes() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and click.confirm(QUESTION, err=True)


def _as_json(found: TableCheck) -> dict[str, Any]:
    columns = [
        {
            **asdict(column),
            "unmatched": [{"value": value, "cells": cells} for value, cells in column.unmatched],
        }
        for column in found.columns
    ]
    return {"private": False, **asdict(found), "counted": found.counted, "columns": columns}
