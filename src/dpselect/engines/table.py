"""A table names where rows about people are, and which column identifies a person. It holds no row."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import Any

from dpselect.engines.opening import Opening, opened_source, public_name
from dpselect.engines.protocol import Engine
from dpselect.engines.reading import Reading
from dpselect.errors import InvalidParameter
from dpselect.silence import holds_data, takes_data


@holds_data
@dataclass(frozen=True, eq=False)
class Table:
    """Rows about people, wherever they are: a file, a database, a frame.

    Several files are one table: a glob, a list of paths, or a folder of CSV or Parquet files, whose own
    folders called ``key=value`` give a column of text. "-" is standard input, a CSV unless ``columns`` says
    that it is JSON lines.

    ``unit`` is the column that identifies a person; None says that each row is a person of its own.
    ``table`` names the table of a database. ``dataset`` is the name under which a ledger keeps the budget.
    ``columns`` gives the columns of JSON lines: their names, and "text", "integer" or "double" for each.

    Text is read as a number in CSV files and JSON lines, and elsewhere with ``numbers_in_text``. ``decimal``
    is the decimal sign of such numbers, "." or ",". ``separator`` and ``encoding`` are those of CSV files:
    what stands between two fields (if it is not given, the most frequent of , ; tab and | in the header), and
    how letters are written as bytes (UTF-8, if it is not given).

    ``where`` is a condition on each row, in SQL's words: ``"origin = 'JFK' and month between 1 and 3"``. Rows
    of which it is not true are not there.

    >>> Table("ballots.csv", unit="voter")
    Table('ballots.csv', unit='voter')
    """

    source: Any = field(repr=False)
    unit: str | None = field(kw_only=True)
    table: str | None = field(default=None, kw_only=True)
    dataset: str | None = field(default=None, kw_only=True)
    columns: Mapping[str, str] | None = field(default=None, kw_only=True)
    decimal: str | None = field(default=None, kw_only=True)
    separator: str | None = field(default=None, kw_only=True)
    encoding: str | None = field(default=None, kw_only=True)
    numbers_in_text: bool = field(default=False, kw_only=True)
    where: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Refuse what can be seen to be wrong without looking at the source."""
        _must_be_a_name(self.unit, "unit", "the column that identifies a person, or None if each row is one")
        _must_be_a_name(self.table, "table", "the name of a table")
        _must_be_a_name(self.dataset, "dataset", "a name for the data set")
        if not (self.columns is None or isinstance(self.columns, Mapping)):
            raise InvalidParameter.must_be(
                "columns", "a dict from names to types", got=self.columns, way_out='Write {"voter": "text"}.'
            )
        _ = self.reading
        if self.where is not None:
            _filters().parsed(self.where)

    @cached_property
    def reading(self) -> Reading:
        """How its text is read, as far as that was said."""
        return Reading(self.decimal, self.separator, self.encoding, self.numbers_in_text)

    def __repr__(self) -> str:
        named = {"unit": self.unit, "table": self.table, "dataset": self.dataset, **dict(self.reading.facts)}
        named["where"] = self.where
        words = [f"{name}={value!r}" for name, value in named.items() if value is not None or name == "unit"]
        return f"Table({public_name(self.source)}, {', '.join(words)})"

    @takes_data
    def open(self) -> AbstractContextManager[Engine]:
        """Open the table and read its schema, no row of it."""
        opening = opened_source(self.source, table=self.table, columns=self.columns, reading=self.reading)
        return Opening(opening, self._as_read)

    def _as_read(self, engine: Engine) -> Engine:
        """Give an engine whose schema says how text is read."""
        schema, sign = engine.schema, self.reading.sign("typed")
        schema = schema if sign is None else schema.read_with(sign)
        if self.where is not None:
            schema = replace(schema, where=_filters().fitted_where(self.where, schema))
        marked: Any = engine
        read: Engine = replace(marked, schema=schema)
        return read


def _filters() -> Any:
    """Give the module that reads filters, and loads sqlglot."""
    return import_module("dpselect.engines.where")


def _must_be_a_name(value: object, name: str, what: str) -> None:
    if not (value is None or (isinstance(value, str) and value)):
        raise InvalidParameter.must_be(name, what, got=value)
