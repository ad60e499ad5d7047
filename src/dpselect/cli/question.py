"""One road for every question about data: price it, check the schema, pay, look, draw, show the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dpselect.cli import output, sources
from dpselect.cli.console import note, working
from dpselect.cli.options import QuestionOptions
from dpselect.cli.public_lists import Names, as_numbers
from dpselect.cli.till import Rehearsed, Till, receipt
from dpselect.cli.user_errors import BAD_TABLE, UserError, code_of

if TYPE_CHECKING:
    from dpselect.ledger import Ledger
    from dpselect.privacy.losses import WritableLoss
    from dpselect.problems.problem import Problem
    from dpselect.release.data import Data
    from dpselect.release.result import Release

Ask = Callable[[Sequence[Any]], "Problem"]
UNMETERED = (
    "no ledger was charged, so nobody adds up what has been released. Give --ledger FILE; make one with "
    "'dpselect ledger create FILE --epsilon 2'."
)


def ask_about_names(
    options: QuestionOptions, ask: Ask, names: Names, column: str, *, measured_in: str
) -> None:
    """Ask about names that are looked up in a column: as text, or as numbers if it holds numbers."""
    price = budget_of(options)
    problem = ask(names)
    with sources.open_table(options) as table:
        blank = _priced(problem, table, price, options)
        with ledger_of(options) as ledger:
            with working("opening the table"):
                schema = sources.schema_of(table)
            numbers = None if schema.column(column).kind == "text" else as_numbers(names)
            if numbers is not None:
                problem = ask(numbers)
                blank = _priced(problem, table, price, options)
            sources.must_fit(problem, schema, table.unit)
            _answer(options, problem, table, ledger, blank, measured_in)


def ask_about_numbers(options: QuestionOptions, problem: Problem, *, measured_in: str) -> None:
    """Ask about numbers that people's own numbers are compared with."""
    price = budget_of(options)
    with sources.open_table(options) as table:
        blank = _priced(problem, table, price, options)
        with ledger_of(options) as ledger:
            with working("opening the table"):
                schema = sources.schema_of(table)
            sources.must_fit(problem, schema, table.unit)
            _answer(options, problem, table, ledger, blank, measured_in)


def ask_about_scores(options: QuestionOptions, problem: Problem, data: Data, *, measured_in: str) -> None:
    """Ask about scores that somebody has computed already."""
    blank = _priced(problem, data, budget_of(options), options)
    if options.unit is not None:
        blank = replace(blank, unit=options.unit)
    with ledger_of(options) as ledger:
        _answer(options, problem, data, ledger, blank, measured_in)


def budget_of(options: QuestionOptions) -> WritableLoss:
    """Read the price that is offered."""
    from dpselect.privacy.losses import ZCDP, PureDP

    if (options.epsilon is None) == (options.rho is None):
        got = "none" if options.rho is None else "both"
        raise UserError(f"exactly one of --epsilon and --rho must be given; got {got}. Write --epsilon 1/2.")
    return PureDP(options.epsilon) if options.epsilon is not None else ZCDP(options.rho or "")


@contextmanager
def ledger_of(options: QuestionOptions) -> Iterator[Ledger | None]:
    """Open the ledger of a question, if it names one."""
    if options.ledger is None:
        if options.request_id is not None:
            raise UserError("--request-id needs a ledger, which keeps the answer. Give --ledger FILE.")
        yield None
        return
    with sources.open_ledger(options.ledger) as ledger:
        yield ledger


def _priced(problem: Problem, data: Data, price: WritableLoss, options: QuestionOptions) -> Release:
    """Say all that can be said of the release before anything is paid or looked at."""
    from dpselect.release.quote import quote_for
    from dpselect.release.result import Release

    amount = price.parts()[0]
    if not 0 < amount < float("inf"):
        name = "rho" if options.rho is not None else "epsilon"
        raise UserError(f"{name} must be above zero and finite; got {amount}.")
    k = 1 if options.k is None else options.k
    return Release.of(quote_for(problem, data, k, price, options.neighbours), ())


def _answer(  # noqa: PLR0913, PLR0917 - the options, their question, and where the answer goes
    options: QuestionOptions,
    problem: Problem,
    data: Data,
    ledger: Ledger | None,
    blank: Release,
    measured_in: str,
) -> None:
    from dpselect.release.winners import top_k

    till = Till(ledger, rehearsal=options.dry_run, neighbours=options.neighbours)
    refused: UserError | None = None
    release: Release | None = None
    try:
        with working("reading the table and drawing"):
            release = top_k(
                problem,
                data,
                k=blank.accuracy.k,
                budget=blank.price if len(problem.outputs) > 1 else budget_of(options),
                ledger=till,  # type: ignore[arg-type]  # stands for one
                neighbours=options.neighbours,
                request_id=options.request_id,
            )
    except Rehearsed:
        pass
    except Exception as error:
        if not till.paid:
            raise
        refused = _after_the_charge(error, data)
    if refused is not None:
        raise refused
    output.show(release, blank, ledger, as_json=options.as_json, measured_in=measured_in, path=options.ledger)
    if release is None:
        return
    if ledger is None:
        note(UNMETERED)
    elif not till.paid:
        note("this request was answered before: the same answer, at no price.")


def _after_the_charge(error: Exception, data: Data) -> UserError:
    """Say that it failed and is paid: of the ledger what is wrong, of the data one constant sentence.

    Where memory runs out, or what a reader trips over, depends on the data: nothing of that is told.
    """
    from dpselect import errors
    from dpselect.engines.table import Table

    of_the_data = (
        errors.TableUnreadable,
        errors.ReleaseFailed,
        errors.OutsideDomain,
        errors.InvalidParameter,
    )
    if isinstance(error, errors.DpselectError) and not isinstance(error, of_the_data):
        of_the_ledger = isinstance(error, errors.LedgerUnavailable | errors.LedgerDamaged)
        return UserError(f"{error} {receipt()}", code_of(error) if of_the_ledger else BAD_TABLE)
    unreadable = errors.TableUnreadable() if isinstance(data, Table) else errors.ScoresUnreadable()
    return UserError(f"{unreadable} {receipt()}", BAD_TABLE)
