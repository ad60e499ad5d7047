"""Verbs about names: ``vote``, ``top``, ``mode``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from dpselect.cli import lists
from dpselect.cli.asking import ask_about_names
from dpselect.cli.options import CANDIDATES, CHOICE, COLUMN, VALUE, Order, examples, takes_an_order
from dpselect.cli.refusals import Refused

if TYPE_CHECKING:
    from dpselect.problems.problem import Problem

TOP = 10


@click.command(
    epilog=examples(
        "vote ballots.csv --unit voter --choice candidate --candidates names.txt "
        "--epsilon 1/2 --k 3 --ledger town.ledger"
    )
)
@takes_an_order
@CHOICE
@CANDIDATES
@click.option(
    "--kind",
    type=click.Choice(["approval", "plurality", "borda"]),
    default="approval",
    show_default=True,
    help="Approval: each person may name many. Plurality: one. Borda: each ranks them.",
)
@click.option("--rank", metavar=COLUMN, help="The column with the rank, 1 for the best, for --kind borda.")
def vote(order: Order, *, choice: str | None, candidates: str | None, kind: str, rank: str | None) -> None:
    """Draw the winners of an election among public candidates.

    PATH has a row for each person and choice. A person counts once for each candidate, however many rows they
    have.
    """
    column, names = _given(choice), lists.names(candidates, beside=order.path)
    if (kind == "borda") != (rank is not None):
        raise Refused("--rank must name the column of ranks with --kind borda, and only then.")

    def ask(listed: Sequence[Any]) -> Problem:
        from dpselect import problems

        if rank is not None:
            return problems.borda(candidate=column, rank=rank, candidates=listed)
        if kind == "plurality":
            return problems.plurality(candidate=column, candidates=listed)
        return problems.approval_voting(candidate=column, candidates=listed)

    ask_about_names(order, ask, names, column, measured_in="points" if rank else "votes")


@click.command(
    epilog=examples(
        "top plays.csv --unit listener --choice song --candidates songs.txt --k 3 --epsilon 1",
        "top stars.csv --unit guest --choice dish --candidates tea,soup,pie --k 2 "
        "--value stars --between 1:5 --epsilon 1",
    )
)
@takes_an_order
@CHOICE
@CANDIDATES
@VALUE
@click.option("--between", metavar="LO:HI", help="With --value: ratings are clamped to these bounds.")
def top(
    order: Order, *, choice: str | None, candidates: str | None, value: str | None, between: str | None
) -> None:
    """Draw the k names that most people have, the best first.

    With --value and --between, those with the highest sum of ratings. Without --k there are 10 winners, or as
    many as there are candidates.
    """
    column, names = _given(choice), lists.names(candidates, beside=order.path)
    if (value is None) != (between is None):
        raise Refused("--value and --between belong together: the column of ratings, and their bounds.")
    bounds = None if between is None else lists.pair(between, "--between")

    def ask(listed: Sequence[Any]) -> Problem:
        from dpselect import problems

        if value is None or bounds is None:
            return problems.approval_voting(candidate=column, candidates=listed)
        return problems.weighted_sum(candidate=column, candidates=listed, value=value, bounds=bounds)

    ordered = replace(order, k=min(TOP, len(names)) if order.k is None else order.k)
    ask_about_names(ordered, ask, names, column, measured_in="people" if value is None else "points")


@click.command(
    epilog=examples(
        "mode visits.csv --unit person --column town --candidates Bern,Basel,Genf "
        "--rows-per-person 3 --epsilon 1"
    )
)
@takes_an_order
@click.option(
    "--column", "--choice", "--value", "choice", metavar=COLUMN, help="The column whose values are counted."
)
@CANDIDATES
@click.option(
    "--rows-per-person", type=int, default=1, show_default=True, help="So many rows of a person count."
)
def mode(order: Order, *, choice: str | None, candidates: str | None, rows_per_person: int) -> None:
    """Draw the most common value of a column."""
    column, names = _given(choice), lists.names(candidates, beside=order.path)

    def ask(listed: Sequence[Any]) -> Problem:
        from dpselect import problems

        return problems.most_common(column=column, candidates=listed, rows_per_person=rows_per_person)

    ask_about_names(order, ask, names, column, measured_in="rows")


def _given(choice: str | None) -> str:
    if not choice:
        raise Refused("--choice must name the column with what people chose. Write --choice candidate.")
    return choice
