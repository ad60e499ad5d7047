"""The command ``vote``: the winners of an election."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from dpselect.cli import public_lists
from dpselect.cli.declaration import command, examples
from dpselect.cli.options import (
    CANDIDATES,
    CHOICE,
    COLUMN_METAVAR,
    IGNORE_CASE,
    SPLIT,
    WIDE,
    QuestionOptions,
    column_of_choices,
)
from dpselect.cli.question import TableQuestion, about_columns, about_names, asks_a_table
from dpselect.cli.user_errors import UserError

if TYPE_CHECKING:
    from dpselect.problems.problem import Problem


@command(
    epilog=examples(
        "vote ballots.csv --unit voter --choice candidate --candidates names.txt "
        "--epsilon 1/2 --k 3 --ledger town.ledger",
        "vote guests.csv --unit guest --choice dish --candidates tea,soup,pie --each city --groups Rome,Oslo "
        "--epsilon 1",
    )
)
@asks_a_table
@CHOICE
@CANDIDATES
@IGNORE_CASE
@SPLIT
@WIDE
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
@click.option(
    "--ranking",
    metavar="a,b,c",
    help="Instead of --choice and --rank: the columns of the first name, the second, ...; --kind borda.",
)
def vote_command(  # noqa: PLR0913 - each is an option
    options: QuestionOptions,
    *,
    choice: str | None,
    candidates: str | None,
    ignore_case: bool,
    kind: str,
    rank: str | None,
    split: str | None,
    wide: str | None,
    ranking: str | None,
) -> TableQuestion:
    """Draw the winners of an election among public candidates.

    PATH has a row for each person and choice. A person counts once for each candidate, however many rows they
    have.
    """
    if wide is not None:
        if kind != "approval" or rank is not None or ranking is not None:
            raise UserError("--wide is for --kind approval, without --rank and --ranking.")
        return about_columns(options, wide, [choice, candidates, split, ignore_case])
    if (kind == "borda") != ((rank is None) != (ranking is None)):
        raise UserError(
            "--rank must name the column of ranks with --kind borda, and only then; or --ranking the columns."
        )
    if kind == "borda" and split is not None:
        raise UserError("--split is for --kind approval and plurality. Leave it out.")
    places = None if ranking is None else list(public_lists.parts(ranking, "--ranking"))
    if places is not None and choice is not None:
        raise UserError("--ranking names the columns with what people chose. Leave --choice out.")
    column = column_of_choices(choice) if places is None else places[0]
    if kind == "plurality" and split is not None and options.each_row_is_a_person:
        raise UserError(
            "--split needs --unit here: which part of a cell counts is drawn for each person. Name it."
        )
    names = public_lists.names(candidates, beside=options.paths, ignore_case=ignore_case)

    def ask(listed: Sequence[Any]) -> Problem:
        from dpselect import problems

        if places is not None:
            return problems.borda(ranking=places, candidates=listed, ignore_case=ignore_case)
        if rank is not None:
            return problems.borda(candidate=column, rank=rank, candidates=listed, ignore_case=ignore_case)
        asked = problems.plurality if kind == "plurality" else problems.approval_voting
        return asked(candidate=column, candidates=listed, ignore_case=ignore_case, split=split)

    return about_names(options, ask, names, column)
