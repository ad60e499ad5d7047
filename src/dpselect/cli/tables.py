"""From the words of an order to a table: which file or server, read by which engine."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpselect.cli.options import Order
from dpselect.cli.refusals import BAD_TABLE, WRONG, WRONG_CALL, Refused

if TYPE_CHECKING:
    from dpselect.engines.schema import Schema
    from dpselect.engines.table import Table
    from dpselect.problems.problem import Problem

POSTGRES = re.compile(r"postgres(ql)?://", re.IGNORECASE)


@contextmanager
def table_of(order: Order) -> Iterator[Table]:
    """Give the table of an order; what the command line alone gets wrong is refused."""
    from dpselect.engines.table import Table

    unit = _unit(order)
    columns = _columns(order.columns)
    on_server = POSTGRES.match(order.path) is not None
    if order.engine == "postgres" and not on_server:
        raise Refused("PATH must be a URL such as postgresql://host/name with --engine postgres.")
    if on_server:
        if order.engine not in ("auto", "postgres"):
            raise Refused(f"--engine must be postgres for a PostgreSQL URL; got {order.engine}.")
        if order.table is None:
            raise Refused("--table must be given with a PostgreSQL URL. Write --table ballots.")
        yield Table(order.path, unit=unit, table=order.table, dataset=order.dataset)
        return
    form = _form(order, columns)
    if order.engine == "spark":
        from dpselect.cli.sparks import frame_of

        with frame_of(order.path, form) as frame:
            yield Table(frame, unit=unit, dataset=order.dataset)
        return
    yield Table(order.path, unit=unit, table=order.table, dataset=order.dataset, columns=columns)


def schema_of(table: Table) -> Schema:
    """Read the public schema: the table is opened, no row is looked at."""
    from dpselect.errors import InvalidParameter

    sentence = None
    try:
        with table.open() as engine:
            return engine.schema
    except InvalidParameter as refused:
        sentence = str(refused)
    if sentence.startswith("table must be"):  # the name of a table is a word of the command line
        raise Refused(sentence, WRONG_CALL)
    on_server = isinstance(table.source, str) and POSTGRES.match(table.source) is not None
    raise Refused(sentence, WRONG if on_server else BAD_TABLE)


def must_fit(problem: Problem, schema: Schema, unit: str | None) -> None:
    """Refuse a question that the schema cannot answer: a missing column is a slip, a wrong type is not."""
    from dpselect.errors import InvalidParameter

    for column in [*([] if unit is None else [unit]), *problem.columns]:
        schema.column(column)
    sentence = None
    try:
        problem.request(schema, unit=unit)
    except InvalidParameter as refused:
        sentence = str(refused)
    if sentence is not None:
        raise Refused(sentence, BAD_TABLE)


def _unit(order: Order) -> str | None:
    if (order.unit is None) != order.each_row_is_a_person:
        raise Refused(
            "--unit must name the column that identifies a person; or else write --each-row-is-a-person."
        )
    return order.unit


def _columns(text: str | None) -> dict[str, str] | None:
    if text is None:
        return None
    pairs = [part.rpartition(":") for part in text.split(",")]
    if not all(name and kind in ("text", "integer", "double") for name, _, kind in pairs):
        raise Refused(
            "--columns must be NAME:TYPE with commas between; each TYPE is text, integer or double."
        )
    return {name: kind for name, _, kind in pairs}


def _form(order: Order, columns: Any) -> str:
    """Check that the file is there and of a known format, before it is opened."""
    from dpselect.engines import files

    paths = _files(order.path)
    suffixes = {_suffix(path) for path in paths}
    forms = {files.FORMATS.get(suffix) for suffix in suffixes}
    form = forms.pop()
    if forms or form is None:
        raise Refused(
            f"PATH must be files of one known format; got '{order.path[-40:]}'. "
            f"The name must end in one of: {', '.join(files.FORMATS)}."
        )
    if (form == "json") != (columns is not None):
        raise Refused("--columns must be given for JSON lines, and only for them: --columns voter:text.")
    if (form == "database") != (order.table is not None):
        raise Refused("--table must be given for a database file, and only for one.")
    return form


def _files(path: str) -> list[str]:
    """List the files, or say which one may have been meant."""
    from dpselect.engines import files
    from dpselect.errors import InvalidParameter

    try:
        return files.matching(path)
    except (InvalidParameter, OSError, ValueError):
        pass
    raise Refused(f"PATH must be a file that is there; got '{path[-40:]}'. {_meant(path)}")


def _meant(path: str) -> str:
    wanted = Path(path)
    try:
        names = [each.name for each in wanted.parent.iterdir() if each.is_file()]
    except (OSError, ValueError):
        return "Check the path and its spelling."
    near = difflib.get_close_matches(wanted.name, names, n=1)
    return f"Did you mean '{wanted.with_name(near[0])}'?" if near else "Check the path and its spelling."


def _suffix(path: str) -> str:
    name = path.lower()
    ending = ".gz" if name.endswith(".gz") else ""
    stem = name.removesuffix(".gz").replace("\\", "/").rpartition("/")[2]
    return f".{stem.rpartition('.')[2]}{ending}" if "." in stem else ending
