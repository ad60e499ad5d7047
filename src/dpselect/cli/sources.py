"""From the options of a question to its table and its ledger: which file or server, read by which engine."""

from __future__ import annotations

import difflib
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
WORDS_OF_THE_COMMAND = ("table", "decimal", "separator", "encoding", "numbers_in_text", "where")
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
    from dpselect.engines.table import Table

    words = {"unit": _unit(options), "dataset": options.dataset, **_reading(options)}
    columns = _columns(options.columns)
    on_server = POSTGRES.match(options.path) is not None
    if options.engine == "postgres" and not on_server:
        raise UserError("PATH must be a URL such as postgresql://host/name with --engine postgres.")
    if on_server:
        if options.engine not in ("auto", "postgres"):
            raise UserError(f"--engine must be postgres for a PostgreSQL URL; got {options.engine}.")
        if options.table is None:
            raise UserError("--table must be given with a PostgreSQL URL. Write --table ballots.")
        yield Table(options.path, table=options.table, **words)
        return
    form = _form(options, columns)
    if options.engine == "spark":
        with _spark_frame(options.path, form, Table(options.path, **words).reading) as frame:
            yield Table(frame, **words)
        return
    yield Table(options.path, table=options.table, columns=columns, **words)


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


def _spark_frame(path: str, form: str, reading: Reading) -> AbstractContextManager[Any]:
    """Give a DataFrame of the files; what is wrong with their paths is a slip, with their content is not."""
    from dpselect.engines import spark_files

    if form not in spark_files.FORMS:
        raise UserError("--engine spark reads CSV and Parquet; take --engine duckdb for this file.")
    return entered(
        spark_files.frame_of(path, form, reading=reading, after_start=interrupts.listen_again),
        lambda error: WRONG_CALL if error.parameter == "path" else BAD_TABLE,
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


def _form(options: QuestionOptions, columns: Any) -> str:
    """Check that the file is there and of a known format, before it is opened."""
    from dpselect.engines import files

    paths = _files(options.path)
    form = files.format_of(paths, said_to_be_csv=bool(options.separator or options.encoding))
    if form is None:
        raise UserError(
            f"PATH must be files of one known format; got '{options.path[-40:]}'. "
            f"The name must end in one of: {', '.join(files.FORMATS)}; "
            "or in .txt, with --separator or --encoding."
        )
    if (form == "json") != (columns is not None):
        raise UserError("--columns must be given for JSON lines, and only for them: --columns voter:text.")
    if (form == "database") != (options.table is not None):
        raise UserError("--table must be given for a database file, and only for one.")
    return form


def _files(path: str) -> list[str]:
    """List the files, or say which one may have been meant."""
    from dpselect.engines import files
    from dpselect.errors import InvalidParameter

    try:
        return files.matching(path)
    except (InvalidParameter, OSError, ValueError):
        pass
    raise UserError(f"PATH must be a file that is there; got '{path[-40:]}'. {_meant(path)}")


def _meant(path: str) -> str:
    wanted = Path(path)
    try:
        names = [each.name for each in wanted.parent.iterdir() if each.is_file()]
    except (OSError, ValueError):
        return "Check the path and its spelling."
    near = difflib.get_close_matches(wanted.name, names, n=1)
    return f"Did you mean '{wanted.with_name(near[0])}'?" if near else "Check the path and its spelling."
