"""The command ``vote``: the winners of an election."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from dpselect.cli import public_lists
from dpselect.cli.options import (
    CANDIDATES,
    CHOICE,
    COLUMN_METAVAR,
    IGNORE_CASE,
    QuestionOptions,
    column_of_choices,
    command,
    examples,
)
from dpselect.cli.question import TableQuestion, about_names, asks_a_table
from dpselect.cli.user_errors import UserError

if TYPE_CHECKING:
    from dpselect.problems.problem import Problem


@command(
    epilog=examples(
        "vote ballots.csv --unit voter --choice candidate --candidates names.txt "
        "--epsilon 1/2 --k 3 --ledger town.ledger"
    )
)
@asks_a_table
@CHOICE
@CANDIDATES
@IGNORE_CASE
@click.option(
    "--kind",
    type=click.Choice(["approval", "plurality", "borda"]),
    default="approval",
    show_default=True,
    help="Approval: each person may name many. Plurality: one. Borda: each ranks them.",
)
@click.option(
    "--rank", metavar=COLUMN_METAVAR, help="The column with the rank, 1 for the best, for --kind borda."
)
def vote_command(  # noqa: PLR0913 - each is an option
    options: QuestionOptions,
    *,
    choice: str | None,
    candidates: str | None,
    ignore_case: bool,
    kind: str,
    rank: str | None,
) -> TableQuestion:
    """Draw the winners of an election among public candidates.

    PATH has a row for each person and choice. A person counts once for each candidate, however many rows they
    have.
    """
    column = column_of_choices(choice)
    names = public_lists.names(candidates, beside=options.path, ignore_case=ignore_case)
    if (kind == "borda") != (rank is not None):
        raise UserError("--rank must name the column of ranks with --kind borda, and only then.")

    def ask(listed: Sequence[Any]) -> Problem:
        from dpselect import problems

        if rank is not None:
            return problems.borda(candidate=column, rank=rank, candidates=listed, ignore_case=ignore_case)
        asked = problems.plurality if kind == "plurality" else problems.approval_voting
        return asked(candidate=column, candidates=listed, ignore_case=ignore_case)

    return about_names(options, ask, names, column)
