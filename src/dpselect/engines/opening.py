"""Which engine reads a source, found by its type or by its name; nothing is imported before it is needed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from importlib import import_module
from os import PathLike, fspath
from types import TracebackType
from typing import TYPE_CHECKING, Any

from dpselect.engines.reading import Reading
from dpselect.errors import InvalidParameter, shown
from dpselect.silence import holds_data, takes_data

if TYPE_CHECKING:
    from dpselect.engines.protocol import Engine

SOURCES = (
    "a path or glob of CSV, Parquet, Arrow or JSON-lines files, a list of such, a folder of CSV or Parquet "
    "files, '-' (standard input), a DuckDB relation or database file, a Polars, pandas, Arrow or narwhals "
    "table, a Spark DataFrame or session, or a PostgreSQL URL"
)
STANDARD_INPUT = "-"
"""The path that means what is piped in."""
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_POSTGRES = re.compile(r"postgres(ql)?://", re.IGNORECASE)


@holds_data
class Opening:
    """A source that is about to be opened; ``finished`` makes of the engine what the table is."""

    def __init__(self, opening: AbstractContextManager[Engine], finished: Callable[[Engine], Engine]) -> None:
        """Keep both; ``with`` opens."""
        self._opening, self._finished = opening, finished

    @takes_data
    def __enter__(self) -> Engine:
        engine = self._opening.__enter__()
        try:
            return self._finished(engine)
        except BaseException:
            self._opening.__exit__(None, None, None)
            raise

    @takes_data
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it alike however the block has ended: an engine has no use for the frames of an error."""
        self._opening.__exit__(None, None, None)


@takes_data
def opened_source(
    source: Any, *, table: str | None, columns: Mapping[str, str] | None, reading: Reading
) -> AbstractContextManager[Engine]:
    """Find the engine of a source, and refuse words that say nothing of it."""
    paths = _paths(source)
    if paths is not None:
        return _opened_files(paths, table, columns, reading)
    home, kind = package_of(source)
    if home == "narwhals" and hasattr(source, "to_native"):
        source = source.to_native()
        home, kind = package_of(source)
    if columns is not None:
        raise InvalidParameter("columns must be given for JSON lines, and only for them.")
    if table is not None and home not in ("pyspark", "builtins"):
        raise InvalidParameter("table must be given for a database, and only for one.", parameter="table")
    in_csv = (home, kind) == ("dpselect", "FrameOfCsv")
    reading.must_be_for("csv" if in_csv else "typed")
    if in_csv:
        return _opened("spark", "opened_spark", source.frame, "DataFrame", None, reading.sign("csv"))
    if home == "pyspark":
        return _opened("spark", "opened_spark", source, kind, table)
    if isinstance(source, str):
        return _opened("postgres", "opened_postgres", source, table)
    if home in ("duckdb", "_duckdb") and kind == "DuckDBPyRelation":
        return _opened("frames", "opened_relation", source)
    if home in ("polars", "pandas", "pyarrow"):
        return _opened("frames", "opened_frame", source, home)
    raise InvalidParameter(f"source must be {SOURCES}; got something else, of type {kind}.")


def _paths(source: Any) -> str | list[str] | None:
    """Give the path of a source, or its list of paths; None if it is something else, also a URL."""
    if isinstance(source, str | PathLike):
        path = fspath(source)
        return None if _POSTGRES.match(path) else path
    if not isinstance(source, list | tuple):
        return None
    paths = [fspath(path) if isinstance(path, PathLike) else path for path in source]
    if not all(isinstance(path, str) for path in paths):
        del source, paths  # they may be data
        raise InvalidParameter(f"source must be {SOURCES}; got a list of something else.")
    if any(path == STANDARD_INPUT or _URL.match(path) for path in paths):
        raise InvalidParameter(
            "source must be a list of files and folders; '-' and URLs stand alone. Leave the others out."
        )
    return paths


def _opened_files(
    source: str | list[str], table: str | None, columns: Mapping[str, str] | None, reading: Reading
) -> AbstractContextManager[Engine]:
    if isinstance(source, str) and _URL.match(source):
        raise InvalidParameter(
            f"source must be {SOURCES}; got another kind of URL. Copy the file to this machine first."
        )
    if source == STANDARD_INPUT:
        if table is not None:
            raise InvalidParameter("table must be given for a database, and only for one.", parameter="table")
        return _opened("standard_input", "opened_standard_input", columns=columns, reading=reading)
    return _opened("files", "opened_files", source, table=table, columns=columns, reading=reading)


def _opened(engine: str, function: str, *given: Any, **options: Any) -> AbstractContextManager[Engine]:
    """Call a function of an engine's module; engines are guests, loaded when needed."""
    opening: AbstractContextManager[Engine] = getattr(import_module(f"dpselect.engines.{engine}"), function)(
        *given, **options
    )
    return opening


def package_of(source: object) -> tuple[str, str]:
    """Name the package that a source comes from, and its class, without importing anything."""
    kind = type(source)
    return kind.__module__.split(".")[0], kind.__name__


def public_name(source: object) -> str:
    """Show a path as it is, a URL without its secrets, anything else by its type."""
    if isinstance(source, list | tuple):
        return f"<{len(source)} paths>"
    if isinstance(source, PathLike):
        source = fspath(source)
    if isinstance(source, str):
        return "<PostgreSQL>" if _POSTGRES.match(source) else shown(source)
    home, kind = package_of(source)
    return f"<{home.strip('_')} {kind}>"
