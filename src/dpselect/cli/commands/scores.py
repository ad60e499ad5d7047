"""The command ``scores``: select from scores that were computed before."""

from __future__ import annotations

from pathlib import Path

import click

from dpselect.cli import public_lists
from dpselect.cli.declaration import command, examples
from dpselect.cli.groups import given_groups
from dpselect.cli.options import CANDIDATES, NUMBER_METAVAR, QuestionOptions, unlisted, with_question_options
from dpselect.cli.public_columns import is_file
from dpselect.cli.question import ask_about_scores
from dpselect.cli.user_errors import UserError


@command(
    name="scores",
    epilog=examples(
        "scores totals.csv --candidates tea,soup,pie --sensitivity 1 --monotonic --epsilon 1/2",
        "scores totals.csv --candidates tea,soup,pie --range-sensitivity 1 --rho 1/8 --k 2 --json",
    ),
)
@unlisted("--counts", "--each", "--groups", "--groups-per-person", "--where", "--decimal", "--separator")
@unlisted("--encoding", "--numbers-in-text", "--columns", "--table", "--engine")
@with_question_options
@CANDIDATES
@click.option(
    "--sensitivity", metavar=NUMBER_METAVAR, help="How much one person can change any one score: your claim."
)
@click.option("--monotonic", is_flag=True, help="With --sensitivity: who is added lowers no score.")
@click.option(
    "--range-sensitivity",
    metavar=NUMBER_METAVAR,
    help="Instead: how much further one score moves than another.",
)
@click.option("--choice", "--column", "choice", metavar="COLUMN", help="The column of names, by its header.")
@click.option("--value", metavar="COLUMN", help="The column of scores, by its header.")
def scores_command(  # noqa: PLR0913 - each is an option
    options: QuestionOptions,
    *,
    candidates: str | None,
    sensitivity: str | None,
    monotonic: bool,
    range_sensitivity: str | None,
    choice: str | None,
    value: str | None,
) -> None:
    """Draw the best of a file of scores; you state the sensitivity.

    PATH is .csv or .tsv (names and scores, or scores alone), .txt (a score on each line), .json or .npy.
    Scores alone are in the order of --candidates. The sensitivity is your claim: nothing can check it.
    The file is opened after the charge, and nothing is ever said of what it holds.
    """
    from dpselect.cli.score_files import SCORE_FILE_FORMATS, ScoreFile
    from dpselect.problems import Scores, custom

    if given_groups(options) is not None:
        raise UserError("--each is for tables: a file of scores has no groups. Ask for each file by itself.")
    names = public_lists.names(candidates, beside=options.paths)
    if (sensitivity is None) == (range_sensitivity is None):
        raise UserError(
            "exactly one of --sensitivity and --range-sensitivity must be given. Write --sensitivity 1."
        )
    of_tables = (
        options.table,
        options.columns,
        options.decimal,
        options.separator,
        options.encoding,
        options.where,
    )
    if options.engine not in ("auto", "duckdb") or any(of_tables) or options.numbers_in_text:
        raise UserError(
            "--engine, --table, --columns, --decimal, --separator, --encoding, --numbers-in-text "
            "and --where belong to tables; a file of scores is read as it is."
        )
    if len(options.paths) != 1:
        raise UserError(f"PATH must be one file of scores; got {len(options.paths)}. Put them into one.")
    path = Path(options.paths[0])
    if not is_file(path):
        raise UserError(f"PATH must be a file that is there; got '{str(path)[-40:]}'. Check its spelling.")
    if path.suffix.lower() not in SCORE_FILE_FORMATS:
        raise UserError(f"PATH must end in one of: {', '.join(SCORE_FILE_FORMATS)}; got '{str(path)[-40:]}'.")
    problem = custom(
        candidates=names, sensitivity=sensitivity, monotonic=monotonic, range_sensitivity=range_sensitivity
    )
    file = ScoreFile(path, tuple(names), tuple(problem.outputs), choice, value)
    ask_about_scores(options, problem, Scores(file))
