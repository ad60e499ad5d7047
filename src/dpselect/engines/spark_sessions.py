"""Sessions of Spark: one of our own for each query, and the caller's while it reads.

The query runs where no function, view or way of parsing of the caller's changes what its words mean. Files
are read by the session that opened them. While it reads for us it skips nothing by statistics: those of
Parquet, ORC and the cache leave NaN out, so that one person's infinity would decide whether a filter of the
frame's own sees the NaN of others. And it reads a CSV row whole: whether one is broken is no matter of the
question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from functools import partial
from threading import Lock
from typing import Any

from dpselect.engines.temporary_change import TemporaryChange

PARSING: Mapping[str, str] = {
    "spark.sql.variable.substitute": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.path.enabled": "false",
}
"""How the text of our query is read."""
READING: Mapping[str, str] = {
    "spark.sql.parquet.filterPushdown": "false",
    "spark.sql.orc.filterPushdown": "false",
    "spark.sql.inMemoryColumnarStorage.partitionPruning": "false",
    "spark.sql.csv.filterPushdown.enabled": "false",
    "spark.sql.csv.parser.columnPruning.enabled": "false",
}
"""How rows are read for us: each by itself."""


def own_session(session: Any) -> Any:
    """Start a session without the caller's functions and views; the caller's settings hold but for ours."""
    own = session.newSession()
    for name, value in {**session.conf.getAll, **READING, **PARSING}.items():
        with suppress(Exception):  # what is fixed when Spark starts is the same in both
            own.conf.set(name, value)
    return own


def moved(frame: Any, session: Any) -> Any:
    """Give the frame, whose plan is complete, to another session."""
    java = session.sparkContext._jvm.org.apache.spark.sql.classic  # noqa: SLF001 - PySpark has no public way
    plan = frame._jdf.queryExecution().analyzed()  # noqa: SLF001 - no public way
    return type(frame)(java.Dataset.ofRows(session._jsparkSession, plan), session)  # noqa: SLF001 - as above


def each_row_by_itself(session: Any) -> AbstractContextManager[None]:
    """Change the settings by which the caller's session reads; others who use it meanwhile lose speed."""
    name = str(session._jsparkSession.sessionUUID())  # noqa: SLF001 - two Python objects may be one session
    with _LOCK:
        return _CHANGES.setdefault(name, TemporaryChange(partial(_set, session.conf))).lasting()


def _set(settings: Any) -> Callable[[], None]:
    before = {name: settings.getAll.get(name) for name in READING}
    for name, value in READING.items():
        settings.set(name, value)

    def put_back() -> None:
        for name, value in before.items():
            with suppress(Exception):  # of a session that is gone nothing is put back
                settings.unset(name) if value is None else settings.set(name, value)

    return put_back


_LOCK = Lock()
_CHANGES: dict[str, TemporaryChange] = {}
