"""The options that every command on data takes, gathered into one value."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import click

from dpselect.cli.declaration import OUTPUT, OptionInSection, option
from dpselect.cli.user_errors import UserError

COLUMN_METAVAR, NUMBER_METAVAR = "COLUMN", "NUMBER"
PERSON_AND_PRICE, ANSWER, TABLE = "Person and price", "Answer", "Table"
"""Headings of a help text, above what all questions take; above ``OUTPUT``, the last."""


@dataclass(frozen=True)
class QuestionOptions:
    """Which data, at what price, charged where, and how to answer: the same for every question."""

    paths: tuple[str, ...]
    unit: str | None
    each_row_is_a_person: bool
    epsilon: str | None
    rho: str | None
    noise: Any
    gap: bool
    gap_grid: str | None
    delta: str | None
    counts: bool
    quorum: str | None
    each: str | None
    groups: str | None
    groups_per_person: int | None
    k: int | None
    neighbours: Any
    ledger: str | None
    request_id: str | None
    account: str | None
    engine: str
    table: str | None
    columns: str | None
    decimal: str | None
    separator: str | None
    encoding: str | None
    numbers_in_text: bool
    where: str | None
    dataset: str | None
    as_json: bool
    as_csv: bool
    dry_run: bool
    quiet: bool

    @property
    def source(self) -> str | list[str]:
        """Where the rows are, as a table takes it."""
        return self.paths[0] if len(self.paths) == 1 else list(self.paths)

    @property
    def progress(self) -> bool | None:
        """Whether a long query shows how far it is: on a terminal, unless --quiet is given."""
        return False if self.quiet else None


def keep_fractions_if_asked(context: click.Context, option: click.Parameter, asked: object) -> None:
    """Write every number for people exactly, in this command, if ``--exact`` is given."""
    del context, option
    if asked:
        from dpselect.exact.rounding import keep_fractions

        keep_fractions()


EXACT_FACTS: dict[str, Any] = {
    "is_flag": True,
    "is_eager": True,
    "expose_value": False,
    "callback": keep_fractions_if_asked,
    "help": "Write fractions (1/3), not decimals; nothing is rounded.",
}
EXACT_OPTION = click.option("--exact", **EXACT_FACTS)

TABLE_PATHS = click.argument("paths", metavar="PATH...", nargs=-1, required=True)
QUESTION_OPTIONS: dict[str, list[Callable[[Any], Any]]] = {
    PERSON_AND_PRICE: [
        option("--unit", metavar=COLUMN_METAVAR, help="The column that identifies a person."),
        option(
            "--each-row-is-a-person", is_flag=True, help="Instead of --unit: no person has more than one row."
        ),
        option(
            "--epsilon",
            metavar=NUMBER_METAVAR,
            help="The price, exactly: 1/2, 0.5 or 1e-3. Exponential or Laplace noise; Gumbel between bounds.",
        ),
        option(
            "--rho",
            metavar=NUMBER_METAVAR,
            help="Instead of --epsilon: zero-concentrated privacy. Gumbel noise.",
        ),
        option(
            "--delta",
            metavar=NUMBER_METAVAR,
            help="Beside --epsilon or --rho: the probability to set aside.",
        ),
        option(
            "--neighbours",
            type=click.Choice(["add_remove", "change_one"]),
            default="add_remove",
            show_default=True,
            help="What is hidden of a person: being there at all, or what they answered.",
        ),
        option(
            "--noise",
            type=click.Choice(["exponential", "gumbel", "laplace"]),
            help="The noise, where its price is proved.  [default: the most accurate]",
        ),
        option(
            "--ledger", metavar="FILE|URL", help="Charge the price to this ledger, before any row is read."
        ),
        option("--account", metavar="NAME", help="Charge it to this account of the ledger."),
        option("--dataset", metavar="NAME", help="The name of the data set, if the ledger has one."),
        option(
            "--request-id",
            metavar="NAME",
            help="Ask again under the same name: the same answer, at no price.",
        ),
    ],
    ANSWER: [
        option(
            "--k",
            type=int,
            metavar=NUMBER_METAVAR,
            help="How many winners, the best first.  [default: 1; of top: 10]",
        ),
        option("--gap", is_flag=True, help="Say also by how much each winner leads; free with --epsilon."),
        option(
            "--gap-grid",
            metavar=NUMBER_METAVAR,
            help="The step of the gaps.  [default: one point of the score]",
        ),
        option(
            "--counts", is_flag=True, help="Say also the noisy counts; free where the noise is Laplace's."
        ),
        option(
            "--quorum",
            metavar="auto|none|NUMBER",
            help="The score that no clear winner stands for; auto: the least that silences an empty table.",
        ),
        option(
            "--each",
            metavar=COLUMN_METAVAR,
            help="Answer for each group of people: those with one value in this column.",
        ),
        option(
            "--groups",
            metavar="FILE|TABLE:COLUMN|a,b,c",
            help="The groups of --each: public, and never read from the data.",
        ),
        option(
            "--groups-per-person",
            type=int,
            metavar=NUMBER_METAVAR,
            help="In how many groups one person counts; the price grows with it.  [default: 1]",
        ),
    ],
    TABLE: [
        option(
            "--where",
            metavar="CONDITION",
            help="Ask of the rows for which this is true, in SQL's words: \"origin = 'JFK' and month <= 3\".",
        ),
        option("--decimal", metavar="SIGN", help="The decimal sign of numbers in text: . or ,"),
        option(
            "--separator",
            metavar="SIGN",
            help="What separates the fields of a CSV: one sign, or tab.  [default: guessed from the header]",
        ),
        option("--encoding", metavar="NAME", help="The encoding of a CSV, such as utf-16 or cp1252."),
        option(
            "--numbers-in-text",
            is_flag=True,
            help="Read text as numbers, where columns have types: in Parquet files and databases.",
        ),
        option(
            "--columns", metavar="NAME:TYPE,...", help="The columns of JSON lines: text, integer or double."
        ),
        option("--table", metavar="NAME", help="The table, where PATH is a database."),
        option(
            "--engine",
            type=click.Choice(["auto", "duckdb", "spark", "postgres"]),
            default="auto",
            show_default=True,
            help="Who reads the table.",
        ),
    ],
    OUTPUT: [
        option("--dry-run", is_flag=True, help="Do everything but pay and look: price, accuracy, schema."),
        option("--json", "as_json", is_flag=True, help="Write JSON (docs/reference/json.md)."),
        option("--csv", "as_csv", is_flag=True, help="Write CSV, a line for each winner."),
        option("--exact", **EXACT_FACTS),
        option("--quiet", is_flag=True, help="Show no progress and no notes on the terminal."),
    ],
}


def with_question_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a question, and hand them over as its first argument."""
    names = [field.name for field in fields(QuestionOptions)]

    @functools.wraps(command)
    def with_options(**given: Any) -> Any:
        options = QuestionOptions(**{name: given.pop(name) for name in names})
        return command(options, **given)

    own = list(getattr(command, "__click_params__", []))
    decorated: Any = with_options
    decorated.__click_params__ = []
    # Click keeps the last one first. PATH... leads, then what the command alone takes, then what all take.
    for heading, options in reversed(QUESTION_OPTIONS.items()):
        for declare in reversed(options):
            declare(decorated)
            shared: OptionInSection = decorated.__click_params__[-1]
            shared.section = heading
    decorated.__click_params__ += own
    TABLE_PATHS(decorated)
    wrapped: Callable[..., Any] = decorated
    return wrapped


def unlisted(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Leave options out of a command's help; one that is given all the same is refused with the reason."""

    def hide(command: Callable[..., Any]) -> Callable[..., Any]:
        for each in command.__click_params__:  # type: ignore[attr-defined] # Click's own attribute
            if {*names} & {*each.opts}:
                each.hidden = True
        return command

    return hide


CHOICE = click.option(
    "--choice", "--column", "choice", metavar=COLUMN_METAVAR, help="The column with what people chose."
)
CANDIDATES = click.option(
    "--candidates",
    metavar="FILE|TABLE:COLUMN|a,b,c",
    help="What can be chosen: public, and never read from the data.",
)
IGNORE_CASE = click.option(
    "--ignore-case",
    is_flag=True,
    help="Compare names without the case of ASCII letters, outer spaces and repeated ones.",
)
BETWEEN = click.option("--between", metavar="LO:HI", help="Choose from the numbers between public bounds.")
STEP_WIDTH = click.option(
    "--step",
    metavar=NUMBER_METAVAR,
    help="The distance between neighbouring choices.  [default: 1, or a round one for a million choices]",
)
PEOPLE_BOUND = click.option(
    "--people",
    type=int,
    metavar=NUMBER_METAVAR,
    help="A public upper bound on the number of people, for a sharper accuracy.",
)
SPLIT = click.option(
    "--split", metavar="SIGN", help="A cell holds several names, with this between them: tea; pie."
)
WIDE = click.option(
    "--wide",
    metavar="FILE|a,b,c",
    help="Instead of --choice and --candidates: the columns of the candidates, one for each.",
)
VALUE = click.option("--value", metavar=COLUMN_METAVAR, help="The column with people's numbers.")


def column_of_choices(choice: str | None) -> str:
    """Give the name after --choice, which must be there."""
    if not choice:
        raise UserError("--choice must name the column with what people chose. Write --choice candidate.")
    return choice


def column_of_numbers(value: str | None) -> str:
    """Give the name after --value, which must be there."""
    if not value:
        raise UserError("--value must name the column with people's numbers. Write --value salary.")
    return value
