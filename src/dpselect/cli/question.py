"""One road for every question about data: prepare it, pay, look, draw, show the answer."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dpselect.cli import interrupts, output, sources
from dpselect.cli.budgets import given_loss
from dpselect.cli.console import note
from dpselect.cli.groups import asked_quorum, given_groups
from dpselect.cli.options import QuestionOptions, with_question_options
from dpselect.cli.public_lists import Names, as_numbers, names
from dpselect.cli.receipts import keep_receipt, receipt
from dpselect.cli.user_errors import BAD_TABLE, UserError, code_of, entered, in_command_words

if TYPE_CHECKING:
    from dpselect.engines.schema import Schema
    from dpselect.errors import TableUnreadable
    from dpselect.ledger import Ledger
    from dpselect.privacy.losses import WritableLoss
    from dpselect.problems.own_scores import Scores
    from dpselect.problems.problem import Problem
    from dpselect.release import Question, Release
    from dpselect.release.data import OpenTable

Ask = Callable[[Sequence[Any]], "Problem"]
UNMETERED = (
    "no ledger was charged, so nobody adds up what has been released. Give --ledger FILE; make one with "
    "'dpselect ledger create FILE --epsilon 2'."
)


@dataclass(frozen=True)
class TableQuestion:
    """A question about a table, as a command describes it."""

    options: QuestionOptions
    problem: Problem
    """The question before the schema is known."""
    fitting: Callable[[Schema], Problem]
    """Gives the question that fits a schema."""
    people: int | None = None
    """The most people for whom the accuracy is stated."""
    then: Callable[[Release], None] | None = None
    """What is done with the release after it is shown."""

    def with_people(self, people: int | None) -> TableQuestion:
        """State the accuracy for no more people."""
        return replace(self, people=people)

    def followed_by(self, then: Callable[[Release], None] | None) -> TableQuestion:
        """Do something with the release after it is shown."""
        return replace(self, then=then)


def about_names(options: QuestionOptions, ask: Ask, listed: Names, column: str) -> TableQuestion:
    """Describe a question about names in a column: as text, or as numbers if the column holds numbers."""
    by_name = ask(listed)

    def fitting(schema: Schema) -> Problem:
        numbers = None if schema.column(column).kind == "text" else as_numbers(listed)
        return by_name if numbers is None else ask(numbers)

    return TableQuestion(options, by_name, fitting)


def about_columns(options: QuestionOptions, wide: str, given: Sequence[object]) -> TableQuestion:
    """Describe an approval vote with a column for each candidate; other words about names mean nothing."""
    from dpselect.problems import approval_voting

    if any(given):
        raise UserError(
            "--wide names the candidates and their columns: --choice, --candidates, --split and "
            "--ignore-case say nothing beside it. Leave them out."
        )
    columns = names(wide, "--wide", beside=options.paths)
    return about_numbers(options, approval_voting(columns=list(columns)))


def about_numbers(options: QuestionOptions, problem: Problem) -> TableQuestion:
    """Describe a question about numbers that people's own numbers are compared with."""
    return TableQuestion(options, problem, lambda _: problem)


def asks_a_table(describe: Callable[..., TableQuestion]) -> Callable[..., None]:
    """Make a command of a function that describes a question: it takes the options, and asks.

    The attribute ``described`` gives the question without asking it.
    """
    described = with_question_options(describe)

    @functools.wraps(described)
    def asked(**given: Any) -> None:
        _ask_a_table(described(**given))

    asked.described = described  # type: ignore[attr-defined] # read by the command check
    return asked


def ask_about_scores(options: QuestionOptions, problem: Problem, scores: Scores) -> None:
    """Ask about scores that were computed before."""
    from dpselect.errors import ScoresUnreadable

    budget = _budget(options, problem)
    with ledger_of(options) as ledger, _prepared(options, problem, scores, budget) as question:
        _answer(options, question, ledger, None, ScoresUnreadable)


def _ask_a_table(asked: TableQuestion) -> None:
    """Check the price, open ledger and table, and ask the problem that fits the schema."""
    from dpselect.errors import TableUnreadable
    from dpselect.release.doubts import doubtful_decimals, said_of_decimals

    options = asked.options
    budget, groups = _budget(options, asked.problem), given_groups(options)
    with ledger_of(options) as ledger, sources.open_table(options) as table:
        problem = fitted(asked, table)
        of_each = {} if groups is None else groups.fitted(table.schema)
        with _prepared(options, problem, table, budget, people=asked.people, **of_each) as question:
            doubtful = doubtful_decimals(problem, table.schema, options.decimal)
            if doubtful is not None and not options.quiet:
                note(in_command_words(said_of_decimals(doubtful)))
            of_rows = output.facts_of_rows(problem, options, doubtful)
            release = _answer(options, question, ledger, table.schema, TableUnreadable, of_rows=of_rows)
    if release is not None and asked.then is not None:
        asked.then(release)


def fitted(asked: TableQuestion, table: OpenTable) -> Problem:
    """Give the problem that fits an open table; a missing column is a slip, one of a wrong type is not."""
    problem, unit = asked.fitting(table.schema), table.table.unit
    for column in [*([] if unit is None else [unit]), *problem.columns]:
        table.schema.column(column)
    return problem


def _budget(options: QuestionOptions, problem: Problem) -> WritableLoss:
    """Read the price that is offered, and check how many winners are asked for, before anything is opened."""
    from dpselect.exact.numbers import whole
    from dpselect.release.quoting import the_budget

    if options.as_json and options.as_csv:
        raise UserError("at most one of --json and --csv must be given; got both. Leave one out.")
    loss = given_loss(options.epsilon, options.rho, options.delta, example="--epsilon 1/2")
    whole(_winners(options), "k", least=1, most=problem.count)
    return the_budget(None, None, loss)


def _winners(options: QuestionOptions) -> int:
    return 1 if options.k is None else options.k


@contextmanager
def ledger_of(options: QuestionOptions) -> Iterator[Ledger | None]:
    """Open the ledger of a question, if it names one."""
    if options.ledger is None:
        if options.request_id is not None:
            raise UserError("--request-id needs a ledger, which keeps the answer. Give --ledger FILE.")
        if options.account is not None:
            raise UserError("--account needs a ledger, which keeps its share. Give --ledger FILE.")
        yield None
        return
    with sources.open_ledger(options.ledger) as ledger:
        yield ledger


def _prepared(
    options: QuestionOptions,
    problem: Problem,
    data: OpenTable | Scores,
    budget: WritableLoss,
    **more: Any,
) -> AbstractContextManager[Question]:
    """Price a question, to be fitted to the schema; that it does not fit is the table's fault."""
    from dpselect.release import prepare

    question = prepare(
        problem,
        data,
        k=_winners(options),
        budget=budget,
        neighbours=options.neighbours,
        noise=options.noise,
        gap=options.gap,
        gap_grid=options.gap_grid,
        quorum=asked_quorum(options, problem),
        counts=options.counts,
        progress=options.progress,
        **more,
    )
    question.meanwhile = interrupts.Held
    return entered(question, lambda _: BAD_TABLE)


def _answer(  # noqa: PLR0913 - what is asked, of what, and how it may fail
    options: QuestionOptions,
    question: Question,
    ledger: Ledger | None,
    schema: Schema | None,
    unreadable: type[TableUnreadable],
    *,
    of_rows: dict[str, str] | None = None,
) -> Release | None:
    """Release the question and show the answer; in a dry run, the quote or an answer that is kept."""
    if options.dry_run:
        question.dry_run(ledger, options.request_id, account=options.account)
        release = question.kept_answer(ledger, request_id=options.request_id, account=options.account)
    else:
        release = _released(options, question, ledger, unreadable)
    quote = question.quote
    if options.unit is not None:
        quote = replace(quote, unit=options.unit, unit_is_column=True)
    if release is not None:
        quote = replace(quote, version=release.version)  # of the program that drew the answer
    output.show(release, quote, ledger, schema, options, charged=question.charged, of_rows=of_rows or {})
    if release is not None and ledger is None and not options.quiet:
        note(UNMETERED)
    return release


def _released(
    options: QuestionOptions,
    question: Question,
    ledger: Ledger | None,
    unreadable: type[TableUnreadable],
) -> Release:
    """Pay, look and draw; what fails after the charge is told with the receipt."""
    from dpselect.errors import UnmeteredRelease

    keep_receipt(question)
    interrupts.stop_if_asked()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnmeteredRelease)  # a note says it in the words of the command
            return question.release(ledger, request_id=options.request_id, account=options.account)
    except Exception as error:
        if not receipt():
            raise
        refused = _after_the_charge(error, unreadable)
    raise refused


def _after_the_charge(error: Exception, unreadable: type[TableUnreadable]) -> UserError:
    """Say that it failed and is paid: of the ledger what is wrong, of the data one constant sentence.

    Where memory runs out, or what a reader trips over, depends on the data: nothing of that is told.
    """
    from dpselect import errors

    of_the_data = (
        errors.TableUnreadable,
        errors.ReleaseFailed,
        errors.OutsideDomain,
        errors.InvalidParameter,
    )
    if isinstance(error, errors.DpselectError) and not isinstance(error, of_the_data):
        of_the_ledger = isinstance(error, errors.LedgerUnavailable | errors.LedgerDamaged)
        return UserError(f"{error} {receipt()}", code_of(error) if of_the_ledger else BAD_TABLE)
    return UserError(f"{unreadable()} {receipt()}", BAD_TABLE)
