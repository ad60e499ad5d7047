"""Spark: the counts are computed by the cluster, as whole numbers; everything else happens on the driver.

Tasks that are retried or run twice change nothing: a count is the same on every worker, and nothing random
happens on a worker. The result is collected once. Columns go by their position, so that no name enters the
text of the query.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any
from uuid import uuid4

from sqlglot import exp

from dpselect.engines.protocol import (
    BATCH_ROWS,
    Counts,
    CountsRequest,
    Listed,
    answered,
    checked_salt,
    counted,
    gathered,
)
from dpselect.engines.queries import Dialect, rendered
from dpselect.engines.schema import Column, Kind, Schema
from dpselect.engines.spark_logs import can_be_silenced, silenced
from dpselect.engines.spark_sessions import each_row_by_itself, moved, own_session
from dpselect.errors import InvalidParameter, shown
from dpselect.silence import Result, run, shortage_or

_BITS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
_KINDS: Mapping[str, Kind] = {
    "string": "text",
    "double": "double",
    "float": "single",
    "date": "date",
    "timestamp_ntz": "timestamp",
    "boolean": "boolean",
}


@dataclass(frozen=True, repr=False)
class Views:
    """How Spark spells things: rows and lists are temporary views, and the salt is a named parameter."""

    session: Any
    frame: Any
    parameters: dict[str, object] = field(default_factory=dict)
    name: str = "spark"

    def source(self) -> exp.Expression:
        """Name the rows."""
        return self._view(self.frame)

    def parameter(self, value: object) -> exp.Expression:
        """Give ``:p1``, ``:p2`` ..."""
        name = f"p{len(self.parameters) + 1}"
        self.parameters[name] = value
        return exp.Placeholder(this=name)

    def listing(self, key: Listed, column_type: exp.DataType) -> exp.Expression:
        """Select from a view of the list."""
        kind = column_type.sql(dialect="spark")
        pairs = list(zip(key.labels, key.places, strict=True))
        # Made by the caller's session: the one that makes a frame becomes the active one.
        made = self.frame.sparkSession.createDataFrame(pairs, f"label {kind}, place bigint")
        return exp.select("*").from_(self._view(made))

    def _view(self, frame: Any) -> exp.Table:
        """Give a frame a name in the session that the query runs in, and in no other."""
        name = f"dpselect_{uuid4().hex}"
        moved(frame, self.session).createTempView(name)
        return exp.to_table(name)


@dataclass(frozen=True, repr=False)
class Spark:
    """An open DataFrame, its columns renamed by their position."""

    frame: Any
    schema: Schema

    def counts(self, request: CountsRequest, salt: bytes) -> Counts:
        """Read the rows, and count."""
        return counted(partial(self._counts, request, checked_salt(salt)))

    def _counts(self, request: CountsRequest, salt: str) -> Counts:
        callers = self.frame.sparkSession
        with silenced(callers), each_row_by_itself(callers):
            session = own_session(callers)
            dialect = Views(session, self.frame)
            query = rendered(request, salt, dialect)
            result = session.sql(query, args=dialect.parameters).toLocalIterator()
            return gathered(request, iter(lambda: [tuple(row) for row in islice(result, BATCH_ROWS)], []))

    def rows_for_owner(
        self, columns: Sequence[Column], query: Callable[[Dialect], exp.Expression]
    ) -> list[tuple[Any, ...]]:
        """Answer a query of the owner's check."""
        del columns
        return answered(partial(self._rows_for_owner, query))

    def _rows_for_owner(self, query: Callable[[Dialect], exp.Expression]) -> list[tuple[Any, ...]]:
        callers = self.frame.sparkSession
        with silenced(callers), each_row_by_itself(callers):
            session = own_session(callers)
            dialect = Views(session, self.frame)
            text = query(dialect).sql(dialect="spark")
            return [tuple(row) for row in session.sql(text, args=dialect.parameters).collect()]


@contextmanager
def opened_spark(
    source: Any, kind: str, table: str | None, decimal_sign: str | None = None
) -> Iterator[Spark]:
    """Open a DataFrame, or a table of a session; the schema comes from the catalogue."""
    if ".connect." in type(source).__module__:
        raise InvalidParameter(
            "source must belong to a classic Spark session; this one is of Spark Connect, whose logs we "
            "cannot keep silent. Start the session with .master(...)."
        )
    if kind == "SparkSession":
        frame = _named(source, table)
    elif kind == "DataFrame" and table is None:
        frame = source
    else:
        raise InvalidParameter("source must be a Spark DataFrame, or a Spark session with table=.")
    streaming, silent = _or_refused(
        partial(_facts, frame),
        "source must belong to a Spark session that is running; this one is not. Start it anew.",
    )
    if streaming:
        raise InvalidParameter(
            "source must be a table with an end; this frame is a stream. Write it to a table."
        )
    if not silent:
        raise InvalidParameter(
            "source must belong to a Spark that logs through Log4j 2; this one does not, and we cannot keep "
            "its logs silent. Take Log4j's binding of SLF4J, as Spark ships it."
        )
    yield _or_refused(
        partial(_spark, frame, decimal_sign),
        "source must be a frame whose columns can be renamed; Spark refuses. Select them anew.",
    )


def _facts(frame: Any) -> tuple[bool, bool]:
    """Say whether a frame is a stream, and whether its logs can be silenced; fail where nothing runs."""
    context = frame.sparkSession.sparkContext
    if context._jsc.sc().isStopped():  # noqa: SLF001 - there is no other way to ask
        raise InvalidParameter
    return bool(frame.isStreaming), can_be_silenced(frame.sparkSession)


def _named(session: Any, table: str | None) -> Any:
    if table is None:
        raise InvalidParameter(
            "table must be given with a Spark session: write table='ballots'.", parameter="table"
        )
    if "${" in table:
        raise InvalidParameter.must_be(
            "table",
            "a name without '${', where Spark puts in a setting",
            got=table,
            way_out="Hand over the frame.",
        )
    return _or_refused(
        partial(session.table, table),
        f"table must be a table or view that the Spark session knows; got {shown(table)}.",
    )


def _or_refused(action: Callable[[], Result], sentence: str) -> Result:
    """Act on what is public; what Spark says of a failure is withheld all the same."""
    return run(action, shortage_or(partial(InvalidParameter, sentence)))


def _spark(frame: Any, decimal_sign: str | None) -> Spark:
    columns = tuple(
        _column(each.name, f"c{position}", each.dataType) for position, each in enumerate(frame.schema.fields)
    )
    schema = Schema(columns).read_with(decimal_sign)
    return Spark(frame.toDF(*[column.known_as for column in columns]), schema)


def _column(name: str, reference: str, kind: Any) -> Column:
    word = kind.simpleString()
    if word in _BITS:
        most = 2 ** (_BITS[word] - 1)
        return Column(name, "integer", word, reference, lowest=-most, highest=most - 1)
    if word.startswith("decimal"):
        return Column(name, "decimal", word, reference, precision=kind.precision, scale=kind.scale)
    return Column(name, _KINDS.get(word, "other"), word, reference)
