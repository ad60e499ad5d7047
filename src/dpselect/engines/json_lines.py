"""JSON lines: each line is one object, and a value that is not of its column's type is NULL.

A line that is no JSON makes the file unreadable, whatever is asked. All else depends on its own line alone:
a value of another type, a key that is missing or there twice (the first counts), a line that is no object.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from dpselect.engines import duckdb
from dpselect.engines.number_texts import any_number
from dpselect.engines.reading import Reading
from dpselect.engines.schema import Schema
from dpselect.errors import InvalidParameter

TYPES = {"text": "VARCHAR", "integer": "BIGINT", "double": "DOUBLE"}
SPELLINGS = {"integer": "^ *[+-]?[0-9]{1,19} *$", "double": any_number()}
"""What the text of a value must look like to be a number of the type; a number too large is NULL."""


def json_rows(
    paths: Sequence[str], columns: Mapping[str, str], reading: Reading
) -> tuple[exp.Expression, Schema]:
    """Give the rows, as a node of a query, and the columns as they were asked for."""
    wrong = [kind for kind in columns.values() if not isinstance(kind, str) or kind not in TYPES]
    if wrong or not columns:
        raise InvalidParameter.must_be(
            "columns", 'names with "text", "integer" or "double" for each', got=wrong[0] if wrong else columns
        )
    if not all(isinstance(name, str) and name for name in columns):
        raise InvalidParameter("columns must have names of text, none of them empty.")
    schema = Schema(
        tuple(
            duckdb.column(name, TYPES[kind], f"c{position}")
            for position, (name, kind) in enumerate(columns.items())
        )
    ).read_with(reading.sign("json"))
    objects = duckdb.reading("read_ndjson_objects", paths, hive_partitioning=exp.false())
    pointers = exp.Array(expressions=[exp.Literal.string(_pointer(name)) for name in columns])
    texts = exp.Anonymous(this="json_extract_string", expressions=[exp.column("json"), pointers])
    lines = exp.select(exp.alias_(texts, "texts")).from_(objects)
    values = [
        exp.alias_(_value(position, kind), f"c{position}", quoted=True)
        for position, kind in enumerate(columns.values())
    ]
    return exp.select(*values).from_(lines.subquery("lines")).subquery(), schema


def _pointer(name: str) -> str:
    """Write a key as a JSON pointer (RFC 6901), in which no other sign has a meaning."""
    return "/" + name.replace("~", "~0").replace("/", "~1")


def _value(position: int, kind: str) -> exp.Expression:
    # A function and not brackets: sqlglot shifts the numbers in brackets.
    place = exp.Literal.number(position + 1)
    text = exp.Anonymous(this="list_extract", expressions=[exp.column("texts"), place])
    if kind == "text":
        return text
    spelt = exp.RegexpLike(this=text.copy(), expression=exp.Literal.string(SPELLINGS[kind]))
    number = exp.TryCast(this=text, to=exp.DataType.build(TYPES[kind], dialect="duckdb"))
    return exp.Case(ifs=[exp.If(this=spelt, true=number)])
