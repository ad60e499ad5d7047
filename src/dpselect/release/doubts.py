"""What the header of a table alone makes doubtful: said before anything is paid, and no refusal."""

from __future__ import annotations

import inspect
import warnings

from dpselect.engines.schema import Schema
from dpselect.errors import SHOWN_CHARACTERS, DoubtfulDecimals
from dpselect.problems.bounded_counts import ByAmount
from dpselect.problems.problem import Problem
from dpselect.release.data import OpenTable

OFTEN_WITH_COMMAS = ";"
"""The separator of programs whose numbers have a decimal comma."""


def doubtful_decimals(problem: Problem, schema: Schema, decimal: str | None) -> str | None:
    """Name a column whose numbers may have a decimal comma, where ``;`` separates fields."""
    if decimal is not None or schema.separator != OFTEN_WITH_COMMAS or problem.question is None:
        return None
    read = [key.column for key in problem.question.keys if isinstance(key, ByAmount)]
    return next((name for name in read if schema.column(name).decimal), None)


def said_of_decimals(column: str) -> str:
    """Say how the numbers of a column are read, and what to do if they are written otherwise."""
    return (
        f"numbers in '{column[:SHOWN_CHARACTERS]}' are read with a decimal point. Where ';' separates "
        'fields, numbers often have a comma: then write decimal=",", or such rows are left out. '
        'decimal="." says that it is a point.'
    )


def opened_with_doubts(table: OpenTable, problem: Problem) -> OpenTable:
    """Open a table, and warn of what its header makes doubtful."""
    table.__enter__()
    column = doubtful_decimals(problem, table.schema, table.table.decimal)
    if column is not None:
        warnings.warn(DoubtfulDecimals(said_of_decimals(column)), stacklevel=frames_of_ours())
    return table


def frames_of_ours() -> int:
    """Count the frames of this package above the caller: the first one that is not ours is warned."""
    frame, count = inspect.currentframe(), 0
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "dpselect":
        frame, count = frame.f_back, count + 1
    return count
