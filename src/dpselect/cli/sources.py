"""From the options of a question to its table and its ledger: which file or server, read by which engine."""

from __future__ import annotations

import difflib
import glob
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpselect.cli import interrupts
from dpselect.cli.console import working
from dpselect.cli.options import QuestionOptions
from dpselect.cli.user_errors import BAD_TABLE, WRONG, WRONG_CALL, UserError, entered

if TYPE_CHECKING:
    from dpselect.engines.reading import Reading
    from dpselect.engines.table import Table
    from dpselect.errors import InvalidParameter
    from dpselect.ledger import Ledger
    from dpselect.release.data import OpenTable

POSTGRES = re.compile(r"postgres(ql)?://", re.IGNORECASE)
WORDS_OF_THE_COMMAND = (
    "source",
    "columns",
    "table",
    "decimal",
    "separator",
    "encoding",
    "numbers_in_text",
    "where",
)
"""What may be wrong with a table, and is a slip of who asks."""
SEPARATORS = {"tab": "\t", "\\t": "\t"}
"""Words for a character that is hard to type."""


@contextmanager
def open_table(options: QuestionOptions) -> Iterator[OpenTable]:
    """Open the table of a question and read its public schema; no row is looked at."""
    from dpselect.release.data import OpenTable

    with _named_table(options) as table, ExitStack() as stack:
        with nullcontext() if options.quiet else working("opening the table"):
            opened = stack.enter_context(
                entered(OpenTable(table), lambda error: _code_of_opening(error, table))
            )
        yield opened


def _code_of_opening(error: InvalidParameter, table: Table) -> int:
    """Tell the name of a table, which is a word of the command line, from a server and from a file."""
    if error.parameter in WORDS_OF_THE_COMMAND:
        return WRONG_CALL
    on_server = isinstance(table.source, str) and POSTGRES.match(table.source) is not None
    return WRONG if on_server else BAD_TABLE


@contextmanager
def _named_table(options: QuestionOptions) -> Iterator[Table]:
    """Give the table that the options name; what the command line alone gets wrong is refused."""
    from dpselect.engines.opening import STANDARD_INPUT
    from dpselect.engines.table import Table

    words = {"unit": _unit(options), "dataset": options.dataset, **_reading(options)}
    columns = _columns(options.columns)
    source = options.source
    if not isinstance(source, str) and any(path == STANDARD_INPUT or "://" in path for path in source):
        raise UserError(
            "PATH must be given alone where it is a URL or '-' (standard input). Leave the others out."
        )
    on_server = isinstance(source, str) and POSTGRES.match(source) is not None
    if options.engine == "postgres" and not on_server:
        raise UserError("PATH must be a URL such as postgresql://host/name with --engine postgres.")
    if on_server:
        if options.engine not in ("auto", "postgres"):
            raise UserError(f"--engine must be postgres for a PostgreSQL URL; got {options.engine}.")
        if options.table is None:
            raise UserError("--table must be given with a PostgreSQL URL. Write --table ballots.")
        yield Table(source, table=options.table, **words)
        return
    table = Table(source, table=options.table, columns=columns, **words)
    if source == STANDARD_INPUT:
        if options.engine == "spark":
            raise UserError("--engine spark reads files; take --engine duckdb for standard input.")
        yield table
        return
    for path in options.paths:
        _must_be_there(path)
    if options.engine == "spark":
        with _spark_frame(source, options, table.reading) as frame:
            yield Table(frame, **words)
        return
    yield table


def _reading(options: QuestionOptions) -> dict[str, Any]:
    """Give the options that say how text is read, as a table takes them."""
    separator = options.separator
    return {
        "decimal": options.decimal,
        "separator": None if separator is None else SEPARATORS.get(separator, separator),
        "encoding": options.encoding,
        "numbers_in_text": options.numbers_in_text,
        "where": options.where,
    }


def _spark_frame(
    source: str | list[str], options: QuestionOptions, reading: Reading
) -> AbstractContextManager[Any]:
    """Give a DataFrame of the files; what is wrong with their paths is a slip, with their content is not."""
    from dpselect.engines import spark_files

    if options.columns is not None or options.table is not None:
        raise UserError(
            "--engine spark reads CSV and Parquet files; take --engine duckdb for others, with --columns or "
            "--table."
        )
    return entered(
        spark_files.frame_of(source, reading=reading, after_start=interrupts.listen_again),
        lambda error: WRONG_CALL if error.parameter in ("path", "source") else BAD_TABLE,
    )


@contextmanager
def open_ledger(path: str, *, anchor: str | None = None) -> Iterator[Ledger]:
    """Open a ledger that is there."""
    from dpselect.ledger import Ledger

    if "://" not in path and not Path(path).exists():
        raise UserError(
            f"a ledger must be there; there is none at '{path[-60:]}'. "
            f"Make one: dpselect ledger create {path[-60:]} --epsilon 2"
        )
    with Ledger.open(path, anchor=anchor) as ledger:
        yield ledger


def place_of_ledger(path: str, ledger: Ledger) -> str:
    """Name a ledger as it was named, but for a password."""
    return ledger.place if "://" in path else path


def _unit(options: QuestionOptions) -> str | None:
    if (options.unit is None) != options.each_row_is_a_person:
        raise UserError(
            "--unit must name the column that identifies a person; or else write --each-row-is-a-person."
        )
    return options.unit


def _columns(text: str | None) -> dict[str, str] | None:
    if text is None:
        return None
    pairs = [part.rpartition(":") for part in text.split(",")]
    if not all(name and kind in ("text", "integer", "double") for name, _, kind in pairs):
        raise UserError(
            "--columns must be NAME:TYPE with commas between; each TYPE is text, integer or double."
        )
    return {name: kind for name, _, kind in pairs}


def _must_be_there(path: str) -> None:
    """Refuse a path with nothing behind it, and say which one may have been meant."""
    try:
        there = Path(path).exists() or any(glob.iglob(path, recursive=True))  # noqa: PTH207 - may be absolute
    except (OSError, ValueError):
        there = False
    if not there:
        raise UserError(f"PATH must be a file that is there; got '{path[-40:]}'. {_meant(path)}")


def _meant(path: str) -> str:
    wanted = Path(path)
    try:
        names = [each.name for each in wanted.parent.iterdir()]
    except (OSError, ValueError):
        return "Check the path and its spelling."
    near = difflib.get_close_matches(wanted.name, names, n=1)
    return f"Did you mean '{wanted.with_name(near[0])}'?" if near else "Check the path and its spelling."
