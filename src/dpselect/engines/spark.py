"""Spark: the counts are computed by the cluster, as whole numbers; everything else happens on the driver.

Tasks that are retried or run twice change nothing: a count is the same whoever takes it, and nothing random
happens on a worker. The result is collected once.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count, islice
from typing import Any

from sqlglot import exp

from dpselect.engines.columns import Column, Kind, Schema
from dpselect.engines.protocol import Counts, CountsRequest, Listed, checked_salt, counted, gathered
from dpselect.engines.queries import rendered
from dpselect.engines.silence import quietly
from dpselect.errors import InvalidParameter

BATCH = 100_000
TALKATIVE = ("DataFrameQueryContextLogger", "SQLQueryContextLogger", "py4j.clientserver", "py4j.java_gateway")
"""Where PySpark writes errors before it raises them, and Py4J all that Java says."""
_BITS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
_KINDS: Mapping[str, Kind] = {"string": "text", "double": "double", "float": "single"}
_VIEWS = count(1)


@dataclass(frozen=True, repr=False)
class Views:
    """How Spark spells things: rows and lists are temporary views, and the salt is a named parameter."""

    session: Any
    rows: exp.Expression
    made: list[str] = field(default_factory=list)
    parameters: dict[str, object] = field(default_factory=dict)
    name: str = "spark"

    def source(self) -> exp.Expression:
        """Name the rows."""
        return self.rows.copy()

    def parameter(self, value: object) -> exp.Expression:
        """Give ``:p1``, ``:p2`` ..."""
        name = f"p{len(self.parameters) + 1}"
        self.parameters[name] = value
        return exp.Placeholder(this=name)

    def listing(self, key: Listed, column_type: exp.DataType) -> exp.Expression:
        """Select from a view of the list."""
        kind = column_type.sql(dialect="spark")
        pairs = list(zip(key.labels, key.places, strict=True))
        view = self.view(self.session.createDataFrame(pairs, f"label {kind}, place bigint"))
        return exp.select("*").from_(exp.to_table(view))

    def view(self, frame: Any) -> str:  # noqa: ANN401 - a Spark DataFrame
        """Give a frame a name that a query can use."""
        name = f"dpselect_{next(_VIEWS)}"
        frame.createTempView(name)
        self.made.append(name)
        return name

    def drop(self) -> None:
        """Forget the views."""
        for name in self.made:
            self.session.catalog.dropTempView(name)


@dataclass(frozen=True, repr=False)
class Spark:
    """An open DataFrame."""

    frame: Any
    schema: Schema

    def counts(self, request: CountsRequest, salt: bytes) -> Counts:
        """Read the rows, and count."""
        return counted(partial(self._counts, request, checked_salt(salt)))

    def _counts(self, request: CountsRequest, salt: str) -> Counts:
        session = self.frame.sparkSession
        dialect = Views(session, exp.to_table("rows"))
        try:
            rows = dialect.view(self.frame)
            query = rendered(
                request, salt, Views(session, exp.to_table(rows), dialect.made, dialect.parameters)
            )
            with _silenced(session):
                result = session.sql(query, args=dialect.parameters).toLocalIterator()
                return gathered(request, iter(lambda: [tuple(row) for row in islice(result, BATCH)], []))
        finally:
            dialect.drop()


@contextmanager
def _silenced(session: Any) -> Iterator[None]:  # noqa: ANN401 - a Spark session
    """Keep the driver from writing the text of an error, which may quote a row, to its logs."""
    loggers = [logging.getLogger(name) for name in TALKATIVE]
    context = session.sparkContext
    level = str(context._jvm.org.apache.logging.log4j.LogManager.getRootLogger().getLevel())  # noqa: SLF001 - no public way to read it
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    context.setLogLevel("OFF")
    try:
        yield
    finally:
        context.setLogLevel(level)
        for logger, was in zip(loggers, before, strict=True):
            logger.disabled = was


@contextmanager
def opened(source: Any, kind: str, table: str | None) -> Iterator[Spark]:  # noqa: ANN401 - a DataFrame or a session
    """Open a DataFrame, or a table of a session; the schema comes from the catalogue."""
    if ".connect." in type(source).__module__:
        raise InvalidParameter(
            "source must belong to a classic Spark session; this one is of Spark Connect, whose logs we "
            "cannot keep silent. Start the session with .master(...)."
        )
    if kind == "SparkSession":
        if table is None:
            raise InvalidParameter("table must be given with a Spark session: write table='ballots'.")
        frame, failure = quietly(
            partial(source.table, table),
            partial(
                InvalidParameter,
                f"table must be a table or view that the Spark session knows; got {table!r}.",
            ),
        )
        if frame is None:
            raise failure or InvalidParameter
    elif kind == "DataFrame" and table is None:
        frame = source
    else:
        raise InvalidParameter("source must be a Spark DataFrame, or a Spark session with table=.")
    columns = tuple(_column(each.name, each.dataType) for each in frame.schema.fields)
    yield Spark(frame, Schema(columns))


def _column(name: str, kind: Any) -> Column:  # noqa: ANN401 - one of Spark's types
    word = kind.simpleString()
    if word in _BITS:
        return Column(
            name, "integer", word, lowest=-(2 ** (_BITS[word] - 1)), highest=2 ** (_BITS[word] - 1) - 1
        )
    if word.startswith("decimal"):
        return Column(name, "decimal", word, precision=kind.precision, scale=kind.scale)
    return Column(name, _KINDS.get(word, "other"), word)
