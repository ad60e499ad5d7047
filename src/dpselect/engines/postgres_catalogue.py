"""What PostgreSQL's catalogue says of a table: who may read it, what it holds, and nothing of its rows.

The first question is asked by qualified names alone; then the path is ``pg_catalog``, so that no other
objects are found in the place of the server's, and what a server or a role may have set otherwise is set for
the transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, TypeAlias

from sqlglot import exp

from dpselect.engines.postgres_encodings import AS_IT_IS, CODECS, every_character
from dpselect.engines.schema import Column, Kind, Schema
from dpselect.errors import InvalidParameter

Rows: TypeAlias = Sequence[tuple[Any, ...]]

PATH = "SELECT pg_catalog.unnest(pg_catalog.current_schemas(true))"
# Listed last: a schema for temporary objects that is not listed is searched first.
SAFE_PATH = "SET LOCAL search_path = pg_catalog, pg_temp"
TRANSACTION_SETTINGS: Mapping[str, str] = {
    "standard_conforming_strings": "on",
    "backslash_quote": "off",
    "array_nulls": "on",
    "transform_null_equals": "off",
    "gin_fuzzy_search_limit": "0",
    # Policies hide rows; switched off, they would make the query fail instead, after it is paid for.
    "row_security": "on",
    # A server that gives up tells how long it took; and while the ledger is charged, we are idle.
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "transaction_timeout": "0",
    # Compiling takes longer than asking a catalogue.
    "jit": "off",
    # What a view may make text of.
    "bytea_output": "hex",
    "DateStyle": "ISO, YMD",
    "extra_float_digits": "1",
    "IntervalStyle": "postgres",
    "lc_monetary": "C",
    "lc_numeric": "C",
    "lc_time": "C",
    "TimeZone": "UTC",
    "xmlbinary": "base64",
    "client_min_messages": "error",
}
SET = """
SELECT set_config(s.name, given.setting, true)
FROM unnest($1::text[], $2::text[]) AS given (name, setting)
JOIN pg_settings AS s ON s.name = given.name
"""
TABLES = """
SELECT n.nspname, c.relname, c.oid
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND ((c.relname = $1::text AND n.nspname = ANY ($2::text[])) OR n.nspname || '.' || c.relname = $1)
  AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT')
"""
COLUMNS = """
SELECT a.attname, base.type, base.modifier, has_column_privilege(a.attrelid, a.attnum, 'SELECT')
FROM pg_attribute AS a CROSS JOIN LATERAL (
    WITH RECURSIVE domain (type, modifier) AS (
        SELECT a.atttypid, a.atttypmod
        UNION ALL
        SELECT t.typbasetype, t.typtypmod FROM domain JOIN pg_type AS t ON t.oid = type WHERE typtype = 'd'
    )
    SELECT domain.* FROM domain JOIN pg_type AS t ON t.oid = type WHERE typtype <> 'd'
) AS base
WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
"""
# Rules of views and policies of tables speak of other tables and of functions. For tables, the owner of a
# view needs the right, or the user who asks, if the view says so; for functions, always the user who asks.
BEHIND = """
WITH RECURSIVE speaking (relation, class, oid, roles) AS (
    SELECT ev_class, 'pg_rewrite'::regclass, oid, NULL FROM pg_rewrite
    UNION ALL
    SELECT polrelid, 'pg_policy'::regclass, oid, polroles FROM pg_policy WHERE polcmd IN ('*', 'r')
), needed (who, class, object, part) AS (
    SELECT oid, 'pg_class'::regclass::oid, $1::oid, 0 FROM pg_roles WHERE rolname = current_user
    UNION
    SELECT CASE
            WHEN c.relkind = 'v' AND NOT EXISTS (
                SELECT FROM pg_options_to_table(c.reloptions)
                WHERE option_name = 'security_invoker' AND option_value::boolean
            ) THEN c.relowner
            WHEN c.relkind = 'v' THEN (SELECT oid FROM pg_roles WHERE rolname = current_user)
            ELSE who
        END, d.refclassid, d.refobjid, d.refobjsubid
    FROM needed
    JOIN pg_class AS c ON needed.class = 'pg_class'::regclass AND c.oid = needed.object
    JOIN pg_roles AS r ON r.oid = needed.who
    JOIN speaking AS s ON s.relation = c.oid AND (
        c.relkind = 'v' OR c.relrowsecurity AND NOT r.rolsuper AND NOT r.rolbypassrls
        AND (c.relforcerowsecurity OR NOT pg_has_role(r.oid, c.relowner, 'USAGE'))
        AND EXISTS (
            SELECT FROM unnest(s.roles) AS one (oid)
            WHERE one.oid = 0 OR pg_has_role(r.oid, one.oid, 'USAGE')
        )
    )
    JOIN pg_depend AS d ON d.classid = s.class AND d.objid = s.oid AND d.refobjid <> c.oid
    WHERE d.refclassid IN ('pg_class'::regclass, 'pg_proc'::regclass)
)
SELECT
    count(*) FILTER (WHERE NOT CASE
        WHEN class = 'pg_proc'::regclass THEN has_function_privilege(object, 'EXECUTE')
        WHEN c.relkind NOT IN ('r', 'p', 'v', 'm', 'f') THEN true
        WHEN part > 0 THEN has_column_privilege(who, object, part::smallint, 'SELECT')
        ELSE has_any_column_privilege(who, object, 'SELECT')
    END),
    count(*) FILTER (WHERE NOT c.relispopulated)
FROM needed LEFT JOIN pg_class AS c ON class = 'pg_class'::regclass AND c.oid = object
"""
CHARACTERS = """
SELECT convert($1::bytea, getdatabaseencoding(), 'UTF8'),
       convert(convert($1::bytea, getdatabaseencoding(), 'UTF8'), 'UTF8', getdatabaseencoding())
"""

_WHOLE = {21: ("smallint", 16), 23: ("integer", 32), 20: ("bigint", 64)}
_NUMERIC = 1700
"""PostgreSQL's numbers of types (pg_type.oid): whole numbers with their bits, and decimals."""
_KINDS: Mapping[int, tuple[Kind, str]] = {
    25: ("text", "text"),
    1043: ("text", "character varying"),
    701: ("double", "double precision"),
    700: ("single", "real"),
    2950: ("uuid", "uuid"),
    1082: ("date", "date"),
    1083: ("time", "time"),
    1114: ("timestamp", "timestamp"),
    16: ("boolean", "boolean"),
}
"""The server's own types, by the numbers that they have on every server."""


@dataclass(frozen=True)
class Facts:
    """What the catalogue said: tables of this name that may be read, and of the only one, all else."""

    encoding: str
    tables: Rows
    withheld: int = 0
    unfilled: int = 0
    characters: frozenset[str] | None = None
    columns: Rows = ()


def facts(connection: Any, table: str) -> Facts:
    """Make the transaction ours, and ask the catalogue."""
    ask = partial(_asked, connection)
    schemas = [schema for (schema,) in ask(PATH)]
    ask(SAFE_PATH)
    ask(SET, [*TRANSACTION_SETTINGS], [*TRANSACTION_SETTINGS.values()])
    ((encoding,),) = ask("SELECT getdatabaseencoding()::text")
    try:
        tables = ask(TABLES, table, schemas)
    except import_module("psycopg").DataError:  # a name that has no form in this encoding names nothing
        tables = []
    if len(tables) != 1:
        return Facts(encoding, tables)
    number = tables[0][2]
    ((withheld, unfilled),) = ask(BEHIND, number)
    characters = None
    if encoding in CODECS:
        given = every_character(encoding)
        ((converted, _),) = ask(CHARACTERS, given)
        characters = frozenset(converted.decode())
    return Facts(encoding, tables, withheld, unfilled, characters, ask(COLUMNS, number))


def _asked(connection: Any, query: str, *values: object) -> Rows:
    with import_module("psycopg").RawCursor(connection) as cursor:
        cursor.execute(query, values or None)
        rows: Rows = cursor.fetchall() if cursor.description else []
    return rows


def table_and_schema(found: Facts, table: str) -> tuple[exp.Expression, Schema]:
    """Give the table's qualified name and its schema, or say why it cannot be asked."""
    if len(found.tables) != 1:
        raise InvalidParameter.must_be(
            "table",
            "the name of one table that you may read",
            got=table,
            way_out="Write schema.table if need be.",
        )
    if found.withheld:
        raise InvalidParameter.must_be(
            "table",
            "one of which you may read all that it is made of",
            got=table,
            way_out="A table or a function behind this view or its policies is withheld: ask for the right.",
        )
    if found.unfilled:
        raise InvalidParameter.must_be(
            "table", "filled", got=table, way_out="REFRESH MATERIALIZED VIEW comes first."
        )
    schema, name, _ = found.tables[0]
    columns = tuple(_column(found, *row) for row in found.columns)
    return exp.table_(name, db=schema, quoted=True), Schema(columns)


def _column(found: Facts, name: str, number: int, modifier: int, *rights: bool) -> Column:
    hindrance = "" if all(rights) else f"column {name!r} must be one that you may read. Ask for the right."
    if number in _WHOLE:
        word, bits = _WHOLE[number]
        return Column(name, "integer", word, "", -(2 ** (bits - 1)), 2 ** (bits - 1) - 1, hindrance=hindrance)
    if number == _NUMERIC:
        precision, scale = _digits(modifier)
        return Column(name, "decimal", "NUMERIC", precision=precision, scale=scale, hindrance=hindrance)
    kind, word = _KINDS.get(number, ("other", "other"))
    if kind == "text" and found.characters is None and found.encoding not in AS_IT_IS:
        hindrance = hindrance or (
            f"column {name!r} must hold text in an encoding that we know; got {found.encoding}. "
            "Copy the rows to a database in UTF8."
        )
    return Column(name, kind, word, characters=found.characters, hindrance=hindrance)


def _digits(modifier: int) -> tuple[int, int] | tuple[None, None]:
    """Read precision and scale; eleven bits are for the scale, which may be negative."""
    if modifier < 0:
        return None, None
    packed = modifier - 4
    return packed >> 16 & 0xFFFF, ((packed & 0x7FF) ^ 0x400) - 0x400
